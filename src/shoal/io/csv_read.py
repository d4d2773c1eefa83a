"""CSV files: read as texts in parallel, then typed column by column where nothing is lost by it."""

from __future__ import annotations

import codecs
import contextlib
import csv
import io
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.csv as pa_csv

from ..errors import DataError, ParameterError
from ..table import refuse_repeated
from .csv_faults import explained, refuse_unclosed, refuse_undecodable
from .csv_types import as_type, typed
from .source import Source

DELIMITERS = (",", ";", "\t", "|")
_SAMPLE = 1 << 20
_BLOCK = 4 << 20
_LARGEST_BLOCK = 1 << 30
_WIDE = ("utf-16", "utf-32")  # encodings in which a NUL byte is nothing unusual


@dataclass(frozen=True, slots=True)
class CsvOptions:
    """How to read a CSV file; see `shoal.io.read`."""

    delimiter: str | None
    encoding: str
    nulls: tuple[str, ...]
    schema: pa.Schema | None

    def __post_init__(self) -> None:
        try:
            codecs.lookup(self.encoding)
        except LookupError:
            raise ParameterError(
                f"there is no encoding {self.encoding!r}", hint="Common ones are utf-8, latin-1 and utf-16."
            ) from None
        if self.delimiter is not None and (len(self.delimiter.encode()) != 1 or self.delimiter in '"\r\n'):
            raise ParameterError("'delimiter' must be a single character such as ',' or ';'")


@dataclass(frozen=True, slots=True)
class _Header:
    """The column names, how many empty lines stand before them, and whether records follow."""

    names: list[str]
    skipped: int
    followed: bool

    @property
    def alone(self) -> bool:
        """Whether there is one column only: an empty line is a record with an empty field then."""
        return len(self.names) == 1


@dataclass(frozen=True, slots=True)
class CsvLayout:
    """How a CSV file is cut into fields."""

    options: CsvOptions
    delimiter: str
    header: _Header
    quoted: bool

    @property
    def commas(self) -> bool:
        """Whether a comma in a number can be a decimal comma: where it separates fields, it is a list."""
        return self.delimiter != ","

    def parse_options(self) -> pa_csv.ParseOptions:
        """Return how Arrow is to find fields; a file without quotes can be cut at every line end."""
        return pa_csv.ParseOptions(
            delimiter=self.delimiter,
            newlines_in_values=self.quoted,
            ignore_empty_lines=not self.header.alone,
        )

    def convert_options(
        self, kind: pa.DataType, columns: Sequence[str] | None = None
    ) -> pa_csv.ConvertOptions:
        """Return how Arrow makes some columns of one type, null where a field is a null spelling."""
        return pa_csv.ConvertOptions(
            column_types=dict.fromkeys(self.header.names, kind),
            null_values=list(self.options.nulls),
            strings_can_be_null=True,
            quoted_strings_can_be_null=False,
            include_columns=list(self.header.names if columns is None else columns),
        )

    def read_options(self, block: int) -> pa_csv.ReadOptions:
        """Return where Arrow finds the records, and how many bytes it takes at a time."""
        return pa_csv.ReadOptions(
            column_names=self.header.names,
            skip_rows_after_names=1 + self.header.skipped,
            block_size=block,
            encoding=self.options.encoding,
        )


def csv_layout(source: Source, options: CsvOptions) -> CsvLayout:
    """Return how a CSV file is cut into fields, after a look at its first lines and a count of its quotes."""
    sample, whole = _sample(source, options)
    delimiter = options.delimiter or _sniffed(sample, source)
    header = _header(sample, whole, delimiter, source)
    if any("\ufffd" in name for name in header.names):
        refuse_undecodable(source, options.encoding)
    refuse_repeated(header.names, source.label)
    quotes = _quotes(source) if header.followed else 0
    if quotes % 2:
        refuse_unclosed(source, options.encoding, delimiter)
    return CsvLayout(options, delimiter, header, quotes > 0)


def read_csv(source: Source, options: CsvOptions) -> pa.Table:
    """Return the table in a CSV file."""
    layout = csv_layout(source, options)
    texts = _texts(source, layout)
    known = {field.name: field.type for field in options.schema or ()}
    names = layout.header.names
    columns = [
        as_type(name, column, known[name]) if name in known else typed(column, commas=layout.commas)
        for name, column in zip(names, texts.columns, strict=True)
    ]
    return pa.table(columns, names=names)


def _sample(source: Source, options: CsvOptions) -> tuple[str, bool]:
    """Return the first complete lines of the file, decoded, and whether they are all of it."""
    start = source.head(_SAMPLE)
    if not options.encoding.lower().replace("_", "-").startswith(_WIDE):
        if start.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
            raise DataError(f"{source.label} is not UTF-8", hint="Try --encoding utf-16.")
        if b"\0" in start or start.startswith(b"PAR1"):
            raise DataError(
                f"{source.label} is not a CSV file: it holds binary data",
                hint="Give it the name of what it is (.parquet, .feather), or export it as CSV.",
            )
    sample = codecs.getincrementaldecoder(options.encoding)(errors="replace").decode(start)
    if len(start) == _SAMPLE:
        sample = sample[: max(sample.rfind("\n"), sample.rfind("\r")) + 1] or sample
    sample = sample.removeprefix("\ufeff")
    if not sample.strip():
        raise DataError(f"{source.label} is empty", hint="Give it a header line and at least one record.")
    return sample, len(start) < _SAMPLE


def _sniffed(sample: str, source: Source) -> str:
    """Return the delimiter whose fields are most evenly spread over the first records."""
    if source.name.lower().removesuffix(".gz").endswith(".tsv"):
        return "\t"

    def fitness(delimiter: str) -> tuple[bool, float, int]:
        widths = [
            len(record) for record, _ in zip(_records(sample, delimiter), range(200), strict=False) if record
        ]
        even = sum(width == widths[0] for width in widths) / len(widths) if widths else 0.0
        return (bool(widths) and widths[0] > 1, even, widths[0] if widths else 0)

    return max(DELIMITERS, key=fitness)


def _records(sample: str, delimiter: str) -> Iterator[list[str]]:
    # An enormous field ends the sample early: the records before it are enough.
    with contextlib.suppress(csv.Error):
        yield from csv.reader(io.StringIO(sample, newline=""), delimiter=delimiter)


def _header(sample: str, whole: bool, delimiter: str, source: Source) -> _Header:
    lines = io.StringIO(sample, newline="")
    with contextlib.suppress(csv.Error):
        for skipped, record in enumerate(csv.reader(lines, delimiter=delimiter)):
            if record:
                rest = lines.read()
                rest = rest if len(record) == 1 else rest.strip("\r\n")
                return _Header(record, skipped, not whole or rest != "")
    raise DataError(f"{source.label} has no header line", hint="The first line must name the columns.")


def _texts(source: Source, layout: CsvLayout) -> pa.Table:
    """Return all columns as texts, null where an unquoted field is one of the null spellings."""
    names = layout.header.names
    if not layout.header.followed:
        return pa.schema(dict.fromkeys(names, pa.string()).items()).empty_table()
    block = _BLOCK
    while True:
        message = ""
        try:
            with source.arrow() as stream:
                return pa_csv.read_csv(
                    stream,
                    read_options=layout.read_options(block),
                    parse_options=layout.parse_options(),
                    convert_options=layout.convert_options(pa.string()),
                )
        except (pa.ArrowException, OSError, ValueError) as error:
            message = str(error)
        if "straddling" not in message or block >= _LARGEST_BLOCK:
            raise explained(source, layout.options.encoding, layout.delimiter, len(names))
        block *= 8  # a record longer than a block


def _quotes(source: Source) -> int:
    """Return the number of quotes; a file without any can be cut at every line end."""
    found = 0
    with source.stream() as stream:
        while chunk := stream.read(_BLOCK):
            found += chunk.count(b'"')
    return found
