"""CSV files read block by block: first for the types and the number of records, then as often as needed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.csv as pa_csv

from .csv_faults import explained
from .csv_read import CsvLayout, CsvOptions, csv_layout
from .csv_types import Guess, as_type
from .source import Source
from .spellings import Spelling

_BLOCK = 32 << 20  # bytes
_LARGEST = 1 << 30


@dataclass(frozen=True, slots=True, eq=False)
class CsvBlocks:
    """A CSV file whose layout, types and number of records are known."""

    source: Source
    layout: CsvLayout
    schema: pa.Schema
    records: int
    block: int
    ways: Mapping[str, Spelling]
    one_pass: bool = True

    @property
    def label(self) -> str:
        """How messages call it."""
        return self.source.label

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield these columns, block after block, texts as dictionaries."""
        kinds = [self.schema.field(name).type for name in columns]
        for batch in _batches(self.source, self.layout, self.block, columns):
            found = [
                _as_kind(name, column, kind, self.ways.get(name))
                for name, column, kind in zip(columns, batch.columns, kinds, strict=True)
            ]
            yield pa.table(found, names=list(columns))

    def digest(self) -> str:
        """Return the SHA-256 of the file."""
        from .blocks import file_digest

        return file_digest(self.source.name)


def open_csv_blocks(source: Source, options: CsvOptions) -> CsvBlocks:
    """Return the blocks of a CSV file, after one pass for its types and the number of its records."""
    layout = csv_layout(source, options)
    names = layout.header.names
    known = {field.name: field.type for field in options.schema or () if field.name in names}
    block = _BLOCK
    while True:
        guesses = {name: Guess(commas=layout.commas) for name in names if name not in known}
        records = 0
        try:
            for batch in _batches(source, layout, block, names):
                records += batch.num_rows
                for name, guess in guesses.items():
                    guess.see(batch.column(name).dictionary)
            break
        except _TooLong:
            block *= 8
    types = {name: known.get(name) or guesses[name].kind() for name in names}
    ways = {name: way for name, guess in guesses.items() if (way := guess.way()) is not None}
    return CsvBlocks(source, layout, pa.schema(types.items()), records, block, ways)


class _TooLong(Exception):  # noqa: N818  (it never leaves this module)
    """A record is longer than a block."""


def _batches(
    source: Source, layout: CsvLayout, block: int, columns: Sequence[str]
) -> Iterator[pa.RecordBatch]:
    """Yield columns as dictionaries of texts, null where an unquoted field is a null spelling."""
    if not layout.header.followed:
        return
    message = ""
    try:
        with source.arrow() as stream:
            reader = pa_csv.open_csv(
                stream,
                read_options=layout.read_options(block),
                parse_options=layout.parse_options(),
                convert_options=layout.convert_options(pa.dictionary(pa.int32(), pa.string()), columns),
            )
            yield from reader
            return
    except (pa.ArrowException, OSError, ValueError) as error:
        message = str(error)
    if "straddling" in message and block < _LARGEST:
        raise _TooLong
    raise explained(source, layout.options.encoding, layout.delimiter, len(layout.header.names))


def _as_kind(
    name: str, column: pa.DictionaryArray, kind: pa.DataType, way: Spelling | None = None
) -> pa.Array:
    """Return texts, written in some way, as values of the type that the whole column has."""
    if pa.types.is_string(kind):
        return column
    texts = pa.chunked_array([column.dictionary])
    texts = pc.if_else(pc.equal(texts, ""), pa.scalar(None, pa.string()), texts)
    plain = None if way is None else way.plain(texts)
    values = as_type(name, texts if plain is None else plain, kind)
    if pa.types.is_floating(values.type):
        values = pc.if_else(pc.is_nan(values), pa.scalar(None, values.type), values)
    return values.combine_chunks().take(column.indices)
