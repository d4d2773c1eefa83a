"""DuckDB files through DuckDB itself, which speaks Arrow."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from types import TracebackType

import pyarrow as pa

from ...errors import DataError
from .address import Address
from .sessions import Window, listed

_BATCH = 1 << 16  # rows
_PACKED = 5  # a table unpacked, as a multiple of what it takes in the file
_CONTENT = "shoal_content"  # the name under which DuckDB sees an Arrow table while it is copied


class DuckSession:
    """One transaction on a DuckDB file."""

    def __init__(self, address: Address, *, write: bool) -> None:
        import duckdb

        if not write and not os.path.exists(address.where):
            raise DataError(f"there is no file {address.where!r}", hint="Check the path.")
        self._where = address.where
        self._connection = duckdb.connect(address.where, read_only=not write)
        self._connection.execute("begin transaction")

    def __enter__(self) -> DuckSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(Exception):  # nothing to roll back after a commit
            self._connection.execute("rollback")
        self._connection.close()

    def tables(self) -> list[str]:
        """Return the names of all tables and views."""
        found = self._connection.execute(
            "select case when table_schema = current_schema() then table_name "
            "else table_schema || '.' || table_name end from information_schema.tables "
            "where table_catalog = current_database() order by 1"
        ).fetchall()
        return [str(name) for (name,) in found]

    def exists(self, table: Address) -> bool:
        """Return whether there is such a table."""
        return table.qualified.lower() in (name.lower() for name in self.tables())

    def read(self, table: Address) -> pa.Table:
        """Return a table's rows in the order they stand in."""
        return self._connection.sql(f"select * from {table.quoted}").to_arrow_table()

    def count(self, table: Address) -> int:
        """Return the number of a table's rows."""
        found = self._connection.execute(f"select count(*) from {table.quoted}").fetchall()
        return int(found[0][0])

    def size(self, table: Address) -> int:
        """Return about how many bytes a table takes where it stands: at most those of the file, unpacked."""
        return _PACKED * os.stat(self._where).st_size

    def schema(self, table: Address) -> pa.Schema:
        """Return the columns of a table and the types that `stream` gives them."""
        return self._connection.sql(f"select * from {table.quoted} limit 0").to_arrow_table().schema

    def stream(self, table: Address, schema: pa.Schema, window: Window) -> Generator[pa.RecordBatch]:
        """Yield some columns batch by batch, every time in the same order; `schema` names them.

        A table is read in the order it was filled in. A view is sorted by all its columns.
        """
        order = "" if self._is_table(table) else f" order by {listed(self.schema(table).names)}"
        query = f"select {listed(schema.names)} from {table.quoted}{order}{window.clause}"
        yield from self._connection.sql(query).to_arrow_reader(_BATCH)

    def _is_table(self, table: Address) -> bool:
        found = self._connection.execute(
            "select count(*) from duckdb_tables() where database_name = current_database() "
            "and lower(schema_name) = lower(coalesce(nullif(?, ''), current_schema())) "
            "and lower(table_name) = lower(?)",
            [table.schema, table.table],
        ).fetchall()
        return bool(found[0][0])

    def create(self, table: Address, content: pa.Table | pa.RecordBatchReader) -> None:
        """Make a table with this content."""
        self._connection.register(_CONTENT, content)
        try:
            self._connection.execute(f"create table {table.quoted} as select * from {_CONTENT}")
        finally:
            self._connection.unregister(_CONTENT)

    def same_columns(self, one: Address, other: Address) -> bool:
        """Return whether two tables have the same columns of the same types in the same order."""
        first, second = (
            self._connection.execute(f"describe select * from {table.quoted}").fetchall()
            for table in (one, other)
        )
        return [row[:2] for row in first] == [row[:2] for row in second]

    def keep_writers_out(self, table: Address) -> None:
        """Do nothing: a DuckDB file is opened for writing by one program at a time anyway."""

    def execute(self, statement: str) -> None:
        """Run a statement."""
        self._connection.execute(statement)

    def commit(self) -> None:
        """Make everything since the connection was opened visible at once."""
        self._connection.execute("commit")
