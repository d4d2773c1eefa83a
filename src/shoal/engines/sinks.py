"""Published tables written part by part: Parquet, Arrow or CSV, the same bytes of meaning as in one go."""

from __future__ import annotations

import base64
from pathlib import Path
from typing import Any, Protocol

import pyarrow as pa
import pyarrow.compute as pc

from ..io import format_of
from ..io.csv_write import CsvWriter

_LOOK = 1 << 16  # values that tell whether a column repeats itself
_DICTIONARY_PAGE = 16 << 20  # bytes of texts up to which a column of intervals stays a dictionary


class Sink(Protocol):
    """Where parts of a published table go."""

    def write(self, part: pa.Table) -> None:
        """Write some records; columns of texts may come as dictionaries."""

    def close(self) -> None:
        """Finish the file."""


def open_sink(path: Path, schema: pa.Schema) -> Sink:
    """Return the sink for a file by its name; `schema` is what a reader of the file will see."""
    kind = format_of(path)
    if kind == "parquet":
        return ParquetSink(path, schema)
    return CsvSink(path, schema) if kind == "csv" else ArrowSink(path, schema)


def plain(part: pa.Table, schema: pa.Schema) -> pa.Table:
    """Return a part in the types of a schema."""
    return pa.table(
        [column.cast(field.type) for field, column in zip(schema, part.columns, strict=True)], schema=schema
    )


class ParquetSink:
    """A Parquet file, one row group per part.

    Dictionaries of texts are written as they are, without making every text. A reader sees plain texts all
    the same: the schema kept in the file says so.
    """

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.path, self.schema = path, schema
        self.writer: Any = None

    def write(self, part: pa.Table) -> None:
        """Write some records."""
        import pyarrow.parquet as pq

        if self.writer is None:
            self.writer = pq.ParquetWriter(
                self.path,
                part.schema,
                store_schema=False,
                dictionary_pagesize_limit=_DICTIONARY_PAGE,
                use_dictionary=[name for name in part.column_names if _repeats(part.column(name))],
                write_statistics=[f.name for f in part.schema if not pa.types.is_dictionary(f.type)],
            )
        self.writer.write_table(part.cast(self.writer.schema), row_group_size=max(part.num_rows, 1))

    def close(self) -> None:
        """Finish the file."""
        if self.writer is None:
            self.write(self.schema.empty_table())
        seen = base64.b64encode(self.schema.serialize().to_pybytes()).decode()
        self.writer.add_key_value_metadata({"ARROW:schema": seen})
        self.writer.close()


class ArrowSink:
    """An Arrow file, one record batch per part; every column as plain values."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.schema = pa.schema([pa.field(field.name, _plain_type(field.type)) for field in schema])
        self.stream = pa.OSFile(str(path), "wb")
        self.writer = pa.ipc.new_file(self.stream, self.schema)

    def write(self, part: pa.Table) -> None:
        """Write some records."""
        self.writer.write_table(plain(part, self.schema))

    def close(self) -> None:
        """Finish the file."""
        self.writer.close()
        self.stream.close()


class CsvSink:
    """A CSV file."""

    def __init__(self, path: Path, schema: pa.Schema) -> None:
        self.writer = CsvWriter(path, schema, ",")

    def write(self, part: pa.Table) -> None:
        """Write some records."""
        self.writer.write(part)

    def close(self) -> None:
        """Finish the file."""
        self.writer.close()


def _repeats(column: pa.ChunkedArray) -> bool:
    """Return whether values repeat so often that numbering them pays."""
    if pa.types.is_dictionary(column.type):
        return True
    some = column.slice(0, _LOOK)
    return bool(2 * pc.count_distinct(some).as_py() <= len(some))


def _plain_type(kind: pa.DataType) -> pa.DataType:
    return kind.value_type if pa.types.is_dictionary(kind) else kind
