"""SQLite through ADBC. Its columns have no types of their own: declared ones say what texts mean."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Generator
from types import TracebackType
from urllib.parse import quote

import pyarrow as pa

from ...errors import DataError
from ..csv_types import typed
from .address import Address
from .sessions import Window, listed, rows

_BATCH = 1 << 16  # rows
_KINDS = ("integer", "real", "text", "blob")
_EXAMPLES = {"int64": "0", "double": "0.5", "string": "''", "binary": "x''", "null": "null"}


class SqliteSession:
    """One transaction on an SQLite file."""

    def __init__(self, address: Address, *, write: bool) -> None:
        from adbc_driver_sqlite import dbapi

        if not write and not os.path.exists(address.where):
            raise DataError(f"there is no file {address.where!r}", hint="Check the path.")
        self._where = address.where
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

    def count(self, table: Address) -> int:
        """Return the number of a table's rows."""
        with self._connection.cursor() as cursor:
            cursor.execute(f"select count(*) from {table.quoted}")
            return int(rows(cursor)[0][0])

    def size(self, table: Address) -> int:
        """Return about how many bytes a table takes where it stands: at most those of the file."""
        return os.stat(self._where).st_size

    def schema(self, table: Address) -> pa.Schema:
        """Return the columns of a table and the types that `stream` gives them.

        Every cell of SQLite has a type of its own, so all of them are looked at.
        """
        with self._connection.cursor() as cursor:
            names = self._names(table)
            tests = [f"max(typeof({listed([name])}) = '{kind}')" for name in names for kind in _KINDS]
            cursor.execute(f"select {', '.join(tests)} from {table.quoted}")
            (found,) = rows(cursor)
        stored = [_widest(found[i : i + len(_KINDS)]) for i in range(0, len(found), len(_KINDS))]
        declared = self._declared(table)
        fields = []
        for name, kind in zip(names, stored, strict=True):
            said = declared.get(name, "")
            if pa.types.is_integer(kind) and said.startswith("BOOL"):
                kind = pa.bool_()
            elif pa.types.is_string(kind) and ("DATE" in said or "TIME" in said):
                kind = self._moment(table, pa.schema([pa.field(name, kind)]))
            fields.append(pa.field(name, kind))
        return pa.schema(fields)

    def _moment(self, table: Address, column: pa.Schema) -> pa.DataType:
        """Return which type of date or time all texts of a column have; text where they do not agree."""
        kinds = set()
        for batch in self.stream(table, column, Window()):
            if batch.column(0).null_count < batch.num_rows:
                kinds.add(typed(pa.chunked_array(batch.columns)).type)
        return kinds.pop() if len(kinds) == 1 and pa.types.is_temporal(next(iter(kinds))) else pa.string()

    def stream(self, table: Address, schema: pa.Schema, window: Window) -> Generator[pa.RecordBatch]:
        """Yield some columns batch by batch, every time in the same order; `schema` names them.

        The driver guesses types from the first rows. So the first row is one of ours, whose types are those
        of the whole column; it is taken off again.
        """
        stored = pa.schema([pa.field(field.name, _stored(field.type)) for field in schema])
        typing = ", ".join(f"{_EXAMPLES[str(field.type)]} as {listed([field.name])}" for field in stored)
        inner = f"select {listed(schema.names)} from {table.quoted}"
        if table.table.lower() in self._views():
            inner += f" order by {listed(self._names(table))}"
        else:
            inner += " not indexed"  # an index that holds all columns asked for has an order of its own
        limit = window.clause if window.most is not None or not window.skip else f" limit -1{window.clause}"
        with self._connection.cursor() as cursor:
            cursor.adbc_statement.set_options(**{"adbc.sqlite.query.batch_rows": _BATCH})
            cursor.execute(f"select {typing} union all select * from ({inner}{limit})")
            first = True
            for batch in cursor.fetch_record_batch():
                own = batch.slice(1) if first else batch
                first = False
                if own.num_rows:
                    columns = [_as(c, field.type) for c, field in zip(own.columns, schema, strict=True)]
                    yield pa.RecordBatch.from_arrays(columns, schema=schema)

    def _views(self) -> set[str]:
        with self._connection.cursor() as cursor:
            cursor.execute("select name from sqlite_master where type = 'view'")
            return {str(name).lower() for (name,) in rows(cursor)}

    def _names(self, table: Address) -> list[str]:
        with self._connection.cursor() as cursor:
            cursor.execute(f"select * from {table.quoted} limit 0")
            found: list[str] = cursor.fetch_arrow_table().column_names
            return found

    def create(self, table: Address, content: pa.Table | pa.RecordBatchReader) -> None:
        """Make a table with this content; what SQLite has no type for becomes text."""
        if isinstance(content, pa.Table):
            content = content.to_reader()
        schema = pa.schema([pa.field(field.name, _kept(field.type)) for field in content.schema])
        batches = (
            pa.RecordBatch.from_arrays(
                [c.cast(field.type) for c, field in zip(batch.columns, schema, strict=True)], schema=schema
            )
            for batch in content
        )
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest(table.table, pa.RecordBatchReader.from_batches(schema, batches), mode="create")

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


def _widest(kinds: tuple[int | None, ...]) -> pa.DataType:
    """Return the type of a column in which these kinds of cells occur."""
    has = {kind for kind, occurs in zip(_KINDS, kinds, strict=True) if occurs}
    if not has:
        return pa.null()
    if has == {"blob"}:
        return pa.binary()
    if has & {"text", "blob"}:
        return pa.string()
    return pa.float64() if "real" in has else pa.int64()


def _stored(kind: pa.DataType) -> pa.DataType:
    """Return the type in which SQLite hands over a column."""
    if pa.types.is_temporal(kind):
        return pa.string()
    return pa.int64() if pa.types.is_boolean(kind) else kind


def _as(column: pa.Array, kind: pa.DataType) -> pa.Array:
    if pa.types.is_null(kind):
        return pa.nulls(len(column))
    if pa.types.is_temporal(kind):
        found = typed(pa.chunked_array([column]))
        return pa.nulls(len(column), kind) if column.null_count == len(column) else found.combine_chunks()
    return column.cast(kind)


def _kept(kind: pa.DataType) -> pa.DataType:
    """Return the type in which SQLite keeps a column."""
    numbers = (pa.types.is_integer, pa.types.is_floating, pa.types.is_boolean)
    other = (pa.types.is_string, pa.types.is_large_string, pa.types.is_binary)
    moments = (pa.types.is_date, pa.types.is_timestamp)
    return kind if any(test(kind) for test in (*numbers, *other, *moments)) else pa.string()
