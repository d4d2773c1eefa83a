"""Write CSV: quotes only where needed, null as an empty field, the empty text as quotes."""

from __future__ import annotations

import os
import sys
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import DataError, ParameterError, WriteError
from .source import STANDARD

_BATCH = 1 << 16


def write_csv(data: pa.Table, target: str | os.PathLike[str], delimiter: str) -> None:
    """Write a table as CSV in UTF-8; gzipped when the name ends in .gz."""
    name = os.fspath(target)
    reason = ""
    _refuse_unwritable(data.schema, delimiter)
    _refuse_nul(data)
    try:
        if name == STANDARD:
            _write_header(data.schema, sys.stdout.buffer, delimiter)
            _write(data, sys.stdout.buffer, delimiter)
            sys.stdout.buffer.flush()
            return
        writer = CsvWriter(target, data.schema, delimiter)
        with writer.stream:
            _write(data, writer.stream, delimiter)
        return
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the file cannot be written"
    raise WriteError(f"cannot write {name!r}: {reason}", hint="Check the folder and its permissions.")


class CsvWriter:
    """A CSV file that is written part by part.

    Parameters
    ----------
    target : path
        Gzipped when the name ends in .gz.
    schema : pyarrow.Schema
        The columns of every part.
    delimiter : str
    """

    def __init__(self, target: str | os.PathLike[str], schema: pa.Schema, delimiter: str) -> None:
        _refuse_unwritable(schema, delimiter)
        self.delimiter = delimiter
        name = os.fspath(target)
        zipped = "gzip" if name.lower().endswith(".gz") else None
        self.stream: Any = pa.output_stream(name, compression=zipped)
        _write_header(schema, self.stream, delimiter)

    def write(self, part: pa.Table) -> None:
        """Write some records."""
        _refuse_nul(part)
        _write(part, self.stream, self.delimiter)

    def close(self) -> None:
        """Finish the file."""
        self.stream.close()


def _refuse_unwritable(schema: pa.Schema, delimiter: str) -> None:
    if len(delimiter.encode()) != 1 or delimiter in '"\r\n':
        raise ParameterError("'delimiter' must be a single character such as ',' or ';'")
    if not len(schema):
        raise DataError("a CSV file cannot hold a table without columns")
    for field in schema:
        kind = field.type.value_type if pa.types.is_dictionary(field.type) else field.type
        if pa.types.is_nested(kind) or _is_binary(kind) or pa.types.is_duration(kind):
            raise DataError(
                f"a CSV file cannot hold column {field.name!r} ({field.type})",
                hint="Leave the column out, or write a .parquet file.",
            )


def _refuse_nul(data: pa.Table) -> None:
    """Raise where a text holds the NUL character: readers take such a file for a binary one."""
    for name in data.column_names:
        column = data.column(name)
        texts = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
        if pa.types.is_string(texts.type) or pa.types.is_large_string(texts.type):
            found = int(pc.sum(pc.match_substring(texts, "\0")).as_py() or 0)
            if found:
                raise DataError(
                    f"a CSV file cannot hold the NUL characters in {found} cells of column {name!r}",
                    hint="Write a .parquet file instead.",
                )


def _is_binary(kind: pa.DataType) -> bool:
    return bool(
        pa.types.is_binary(kind) or pa.types.is_large_binary(kind) or pa.types.is_fixed_size_binary(kind)
    )


def _write_header(schema: pa.Schema, stream: Any, delimiter: str) -> None:
    _write(pa.table({str(j): [name] for j, name in enumerate(schema.names)}), stream, delimiter)


def _write(data: pa.Table, stream: Any, delimiter: str) -> None:
    for batch in data.to_batches(max_chunksize=_BATCH):
        stream.write(_lines(batch, delimiter))


def _lines(batch: pa.RecordBatch, delimiter: str) -> pa.Buffer:
    """Return a batch as the bytes of its lines: the data of one text column that holds them."""
    fields = [_fields(column, delimiter) for column in batch.columns]
    records = pc.binary_join_element_wise(
        *fields, _text(delimiter), null_handling="replace", null_replacement=""
    )
    lines = pc.binary_join_element_wise(records, _text("\n"), _text(""))
    return lines.buffers()[2]


def _text(value: str) -> pa.Scalar:
    return pa.scalar(value, pa.large_string())


def _fields(column: pa.Array, delimiter: str) -> pa.Array:
    kind = column.type
    if pa.types.is_dictionary(kind):
        return _fields(column.dictionary, delimiter).take(column.indices)
    texts = column.cast(pa.large_string())
    if pa.types.is_floating(kind):
        # A float that is whole stays recognisable as a float: 3 -> 3.0
        whole = pc.match_substring_regex(texts, "^-?[0-9]+$")
        return pc.if_else(whole, pc.binary_join_element_wise(texts, _text(".0"), _text("")), texts)
    if not (pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view()):
        return texts
    # A blank at either end survives unquoted here, but spreadsheets would trim it.
    special = pc.match_substring_regex(texts, f'^$|^\\s|\\s$|[\\x{ord(delimiter):02x}"\\r\\n]')
    if not pc.any(special).as_py():
        return texts
    quote = _text('"')
    quoted = pc.binary_join_element_wise(quote, pc.replace_substring(texts, '"', '""'), quote, _text(""))
    return pc.if_else(special, quoted, texts)
