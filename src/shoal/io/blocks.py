"""Tables that are read block by block, as often as needed, and never held as a whole."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

import pyarrow as pa

from ..errors import DataError, ParameterError
from ..table import Table, refuse_repeated
from . import databases
from .csv_blocks import CsvBlocks
from .csv_read import CsvOptions
from .databases import Address
from .source import STANDARD, Source

BLOCK = 1 << 19  # records

# A table of a million records and 20 columns is a Parquet file of 24 MB or a CSV file of 140 MB, and takes
# about 1 GB of memory as a table on its way to publication.
_BIG = 256 << 20
_BIG_PACKED = 48 << 20
_PACKED = (".parquet", ".pq", ".gz")


class Blocks(Protocol):
    """A table that can be read block by block, again and again."""

    @property
    def label(self) -> str:
        """How messages call it."""

    @property
    def schema(self) -> pa.Schema:
        """Its columns in plain types, as `shoal.table.Table` has them."""

    @property
    def records(self) -> int:
        """Number of records."""

    @property
    def one_pass(self) -> bool:
        """Whether one column costs as much as all, so that columns are better read together."""

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield these columns, block after block; a column of texts may come as a dictionary of texts."""

    def digest(self) -> str:
        """Return what changes whenever the table's content does."""


@dataclass(frozen=True, slots=True)
class Stamp:
    """What a file's system says of it; two equal stamps are one content, unless somebody forges them."""

    size: int
    modified: int
    changed: int
    node: int

    @classmethod
    def of(cls, path: str) -> Stamp:
        """Return the stamp of a file."""
        found = os.stat(path)
        return cls(found.st_size, found.st_mtime_ns, found.st_ctime_ns, found.st_ino)


def is_big(source: str | Address) -> bool:
    """Return whether a table would take so much memory that it is better read block by block."""
    if isinstance(source, Address):
        return databases.size_of(source) >= _BIG
    path = source
    try:
        size = os.stat(path).st_size
    except OSError:
        return False
    packed = _extension(path) in _PACKED
    return size >= (_BIG_PACKED if packed else _BIG)


def _extension(path: str) -> str:
    return os.path.splitext(path.lower())[1]


def open_blocks(
    source: str | os.PathLike[str] | Address | pa.Table,
    *,
    format: str | None = None,
    csv: CsvOptions | None = None,
) -> Blocks:
    """Return a table that is read block by block.

    Parameters
    ----------
    source : path, address of a database or pyarrow.Table
        A Parquet, Arrow or CSV file, or a table in a database, read in one transaction, which ends when the
        blocks are closed. Standard input can be read only once and is refused.
    format : "csv", "parquet" or "arrow", optional
        What the file is, whatever its name.
    csv : CsvOptions, optional
        How to read a CSV file.

    Examples
    --------
    >>> import pyarrow as pa
    >>> blocks = open_blocks(pa.table({"age": [30, 41]}))
    >>> blocks.records, [block.num_rows for block in blocks.read(["age"])]
    (2, [2])
    """
    from . import _by_extension, _checked_format

    if isinstance(source, pa.Table):
        return TableBlocks.of(source)
    said = _checked_format(format)
    address = source if isinstance(source, Address) else databases.parse(source) if said is None else None
    if address is not None:
        return databases.open_database(address)
    assert not isinstance(source, Address)
    if os.fspath(source) == STANDARD:
        raise ParameterError(
            "standard input can be read only once, so it cannot be streamed", hint="Name a file."
        )
    opened = Source.open(source)
    chosen = said or _by_extension(opened.name) or opened.magic() or "csv"
    if chosen == "csv":
        from .csv_blocks import open_csv_blocks

        return _Watched.over(open_csv_blocks(opened, csv or CsvOptions(None, "utf-8", ("",), None)), opened)
    return _Watched.over(open_columnar(opened, chosen), opened)


@dataclass(frozen=True, slots=True, eq=False)
class TableBlocks:
    """A table in memory, read like one that is not."""

    data: pa.Table
    label: str
    one_pass: bool = False

    @classmethod
    def of(cls, data: pa.Table) -> TableBlocks:
        """Return the blocks of a table."""
        return cls(Table.from_any(data).data, "the table")

    @property
    def schema(self) -> pa.Schema:
        """The columns and their types."""
        return self.data.schema

    @property
    def records(self) -> int:
        """Number of records."""
        return int(self.data.num_rows)

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield these columns, block after block."""
        for begin in range(0, self.records, BLOCK):
            yield self.data.select(list(columns)).slice(begin, BLOCK)

    def digest(self) -> str:
        """Return the SHA-256 of its content as an Arrow stream."""
        from .columnar import hash_table

        return hash_table(self.data)


@dataclass(frozen=True, slots=True, eq=False)
class ColumnarBlocks:
    """A Parquet or Arrow file."""

    source: Source
    format: str
    schema: pa.Schema
    records: int
    one_pass: bool

    @property
    def label(self) -> str:
        """How messages call it."""
        return self.source.label

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield these columns, block after block."""
        batches = self._parquet(columns) if self.format == "parquet" else self._arrow()
        while True:
            batch = None
            try:
                batch = next(batches, None)
            except (pa.ArrowException, OSError, ValueError):
                pass  # their messages may quote the file
            else:
                if batch is None:
                    return
            if batch is None:
                raise _unreadable(self.source, self.format)
            yield Table.from_any(pa.Table.from_batches([batch]).select(list(columns))).data

    def _parquet(self, columns: Sequence[str]) -> Iterator[pa.RecordBatch]:
        import pyarrow.parquet as pq

        texts = [name for name in columns if pa.types.is_string(self.schema.field(name).type)]
        with self.source.arrow() as stream:
            file = pq.ParquetFile(stream, read_dictionary=texts)
            yield from file.iter_batches(batch_size=BLOCK, columns=list(columns))

    def _arrow(self) -> Iterator[pa.RecordBatch]:
        with self.source.arrow() as stream:
            if self.source.head(6) != b"ARROW1":
                yield from pa.ipc.open_stream(stream)
                return
            file = pa.ipc.open_file(stream)
            for i in range(file.num_record_batches):
                yield file.get_batch(i)

    def digest(self) -> str:
        """Return the SHA-256 of the file."""
        return file_digest(self.source.name)


def open_columnar(source: Source, format: str) -> ColumnarBlocks:
    """Return the blocks of a Parquet or Arrow file."""
    import pyarrow.parquet as pq

    try:
        with source.arrow() as stream:
            if format == "parquet":
                file = pq.ParquetFile(stream)
                schema, records = file.schema_arrow, file.metadata.num_rows
            else:
                is_file = source.head(6) == b"ARROW1"
                reader = pa.ipc.open_file(stream) if is_file else pa.ipc.open_stream(stream)
                batches = (
                    (reader.get_batch(i) for i in range(reader.num_record_batches)) if is_file else reader
                )
                schema, records = reader.schema, sum(batch.num_rows for batch in batches)
    except (pa.ArrowException, OSError, ValueError):
        raise _unreadable(source, format) from None
    refuse_repeated(schema.names, source.label)
    plain = Table.from_any(schema.remove_metadata().empty_table()).data.schema
    return ColumnarBlocks(source, format, plain, records, one_pass=format != "parquet")


def _unreadable(source: Source, format: str) -> DataError:
    from .columnar import unreadable

    return unreadable(source, format)


def file_digest(path: str | Path) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()


@dataclass(frozen=True, slots=True, eq=False)
class _Watched:
    """A file whose content must stay what it was when it was opened."""

    inner: ColumnarBlocks | CsvBlocks
    path: str
    stamp: Stamp

    @classmethod
    def over(cls, inner: ColumnarBlocks | CsvBlocks, source: Source) -> _Watched:
        return cls(inner, source.name, Stamp.of(source.name))

    @property
    def label(self) -> str:
        return self.inner.label

    @property
    def schema(self) -> pa.Schema:
        return self.inner.schema

    @property
    def records(self) -> int:
        return self.inner.records

    @property
    def one_pass(self) -> bool:
        return self.inner.one_pass

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield these columns, block after block, as long as the file stays as it was."""
        self._check()
        records = 0
        for block in self.inner.read(columns):
            records += block.num_rows
            yield block
            self._check()
        if records != self.records:
            raise changed_under_the_run(self.label)

    def digest(self) -> str:
        """Return the SHA-256 of the file."""
        self._check()
        return file_digest(self.path)

    def _check(self) -> None:
        try:
            same = Stamp.of(self.path) == self.stamp
        except OSError:
            same = False
        if not same:
            raise changed_under_the_run(self.label)


def changed_under_the_run(label: str) -> DataError:
    """Return the error of a table that is not any more what it was when reading it began."""
    return DataError(
        f"{label} changed while it was being read",
        hint="Nothing was published; run again when nobody writes to it.",
    )
