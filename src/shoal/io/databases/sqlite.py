"""SQLite through ADBC. Its columns have no types of their own: declared ones say what texts mean."""

from __future__ import annotations

import contextlib
import os
from types import TracebackType
from urllib.parse import quote

import pyarrow as pa

from ...errors import DataError
from ..csv_types import typed
from .address import Address
from .sessions import rows


class SqliteSession:
    """One transaction on an SQLite file."""

    def __init__(self, address: Address, *, write: bool) -> None:
        from adbc_driver_sqlite import dbapi

        if not write and not os.path.exists(address.where):
            raise DataError(f"there is no file {address.where!r}", hint="Check the path.")
        mode = "rwc" if write else "ro"
        self._connection = dbapi.connect(f"file:{quote(os.path.abspath(address.where))}?mode={mode}")

    def __enter__(self) -> SqliteSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(Exception):
            self._connection.rollback()
        self._connection.close()

    def tables(self) -> list[str]:
        """Return the names of all tables and views."""
        with self._connection.cursor() as cursor:
            cursor.execute(
                "select name from sqlite_master where type in ('table', 'view') "
                "and name not like 'sqlite_%' order by 1"
            )
            return [str(name) for (name,) in rows(cursor)]

    def exists(self, table: Address) -> bool:
        """Return whether there is such a table."""
        return table.table.lower() in (name.lower() for name in self.tables())

    def read(self, table: Address) -> pa.Table:
        """Return a table's rows in the order they stand in."""
        with self._connection.cursor() as cursor:
            cursor.execute(f"select count(*) from {table.quoted}")
            # Types are guessed from the first batch, so there is only one.
            every = {"adbc.sqlite.query.batch_rows": rows(cursor)[0][0] + 1}
            cursor.adbc_statement.set_options(**every)
            cursor.execute(f"select * from {table.quoted}")
            found = cursor.fetch_arrow_table()
        declared = self._declared(table)
        columns = {name: _meant(found.column(name), declared.get(name, "")) for name in found.column_names}
        return pa.table(columns)

    def _declared(self, table: Address) -> dict[str, str]:
        with self._connection.cursor() as cursor:
            cursor.execute(
                f"select name, type from pragma_table_info('{table.table.replace(chr(39), 2 * chr(39))}')"
            )
            return {str(name): str(kind).upper() for name, kind in rows(cursor)}

    def create(self, table: Address, content: pa.Table) -> None:
        """Make a table with this content; what SQLite has no type for becomes text."""
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest(table.table, _storable(content), mode="create")

    def same_columns(self, one: Address, other: Address) -> bool:
        """Return whether two tables have the same columns of the same declared types in the same order."""
        return list(self._declared(one).items()) == list(self._declared(other).items())

    def keep_writers_out(self, table: Address) -> None:
        """Do nothing: an SQLite file has one writer at a time anyway."""

    def execute(self, statement: str) -> None:
        """Run a statement."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    def commit(self) -> None:
        """Make everything since the connection was opened visible at once."""
        self._connection.commit()


def _meant(column: pa.ChunkedArray, declared: str) -> pa.ChunkedArray:
    """Return texts declared to be dates or times as such, and 0 and 1 declared to be truth values."""
    if column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column))])
    if pa.types.is_string(column.type) and ("DATE" in declared or "TIME" in declared):
        found = typed(column)
        return found if pa.types.is_temporal(found.type) else column
    if pa.types.is_integer(column.type) and declared.startswith("BOOL"):
        with contextlib.suppress(pa.ArrowException):
            return column.cast(pa.bool_())
    return column


def _storable(content: pa.Table) -> pa.Table:
    kept = (pa.types.is_integer, pa.types.is_floating, pa.types.is_string, pa.types.is_large_string)
    other = (pa.types.is_binary, pa.types.is_boolean, pa.types.is_date, pa.types.is_timestamp)
    columns = {}
    for field in content.schema:
        column = content.column(field.name)
        known = any(test(field.type) for test in (*kept, *other))
        columns[field.name] = column if known else column.cast(pa.string())
    return pa.table(columns)
