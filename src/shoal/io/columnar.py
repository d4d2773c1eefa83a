"""Parquet and Arrow files."""

from __future__ import annotations

import hashlib
import os
import sys
from typing import Any

import pyarrow as pa

from ..errors import DataError, WriteError
from .source import STANDARD, Source

_NAMES = {"parquet": "Parquet", "arrow": "Arrow"}


def read_columnar(source: Source, format: str) -> pa.Table:
    """Return the table in a Parquet or Arrow file."""
    try:
        return _read_parquet(source) if format == "parquet" else _read_arrow(source)
    except (pa.ArrowException, OSError, ValueError):
        pass  # their messages may quote the file
    raise unreadable(source, format)


def unreadable(source: Source, format: str) -> DataError:
    """Return the error of a file that is not what its name or its first bytes say."""
    return DataError(
        f"{source.label} cannot be read as {_NAMES[format]}: it is damaged, cut off or something else",
        hint="Write it once more, or give it the name of what it is.",
    )


def _read_parquet(source: Source) -> pa.Table:
    import pyarrow.parquet as pq

    with source.arrow() as stream:
        return pq.ParquetFile(stream).read()


def _read_arrow(source: Source) -> pa.Table:
    file = source.head(6) == b"ARROW1"
    with source.arrow() as stream:
        reader = pa.ipc.open_file(stream) if file else pa.ipc.open_stream(stream)
        return reader.read_all()


def write_columnar(data: pa.Table, target: str | os.PathLike[str], format: str) -> None:
    """Write a table as Parquet or as an Arrow file (Feather version 2)."""
    reason = ""
    try:
        if os.fspath(target) == STANDARD:
            with pa.BufferOutputStream() as buffer:
                _write(data, buffer, format)
            sys.stdout.buffer.write(buffer.getvalue())
            sys.stdout.buffer.flush()
        else:
            with pa.OSFile(os.fspath(target), "wb") as stream:
                _write(data, stream, format)
        return
    except OSError as error:
        reason = os.strerror(error.errno) if error.errno else "the file cannot be written"
    except pa.ArrowException:
        reason = f"a column has a type that {_NAMES[format]} cannot hold"
    raise WriteError(f"cannot write {os.fspath(target)!r}: {reason}", hint="Check the folder and the types.")


def _write(data: pa.Table, stream: Any, format: str) -> None:
    if format == "parquet":
        import pyarrow.parquet as pq

        pq.write_table(data, stream)
        return
    with pa.ipc.new_file(stream, data.schema) as writer:
        writer.write_table(data)


def hash_table(data: pa.Table) -> str:
    """Return the SHA-256 of a table's content as an Arrow stream.

    Examples
    --------
    >>> import pyarrow as pa
    >>> hash_table(pa.table({"a": [1, 2]})) == hash_table(pa.table({"a": [1, 3]}))
    False
    """
    digest = hashlib.sha256()
    table = data.replace_schema_metadata(None).combine_chunks()
    with pa.PythonFile(_Digesting(digest), mode="w") as sink, pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    return digest.hexdigest()


class _Digesting:
    """A file that keeps nothing but the digest of what is written to it."""

    closed = False

    def __init__(self, digest: Any) -> None:
        self.digest = digest

    def write(self, content: Any) -> int:
        self.digest.update(content)
        return len(content)

    def flush(self) -> None:
        """Do nothing: a digest has no buffer."""

    def close(self) -> None:
        self.closed = True
