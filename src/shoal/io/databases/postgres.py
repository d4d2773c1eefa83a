"""PostgreSQL through ADBC: COPY in both directions, Arrow on this side."""

from __future__ import annotations

import contextlib
from collections.abc import Generator
from types import TracebackType

import pyarrow as pa
import pyarrow.compute as pc

from .address import Address
from .sessions import Window, listed, rows

_STORED = ("r", "p", "m")  # tables, partitioned ones, materialized views
_IN_PLACE = (  # one scan from the first page to the last
    "synchronize_seqscans = off",
    "max_parallel_workers_per_gather = 0",
    "enable_indexscan = off",
    "enable_indexonlyscan = off",
    "enable_bitmapscan = off",
)
_SYSTEM = "('pg_catalog', 'information_schema')"


class PostgresSession:
    """One transaction on a PostgreSQL database."""

    def __init__(self, address: Address, *, write: bool) -> None:
        from adbc_driver_postgresql import dbapi

        self._connection = dbapi.connect(address.where)
        if not write:
            self.execute("set transaction isolation level repeatable read read only")

    def __enter__(self) -> PostgresSession:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(Exception):  # a lost connection has rolled back already
            self._connection.rollback()
        with contextlib.suppress(Exception):
            self._connection.close()

    def tables(self) -> list[str]:
        """Return the names of all tables that can be read."""
        with self._connection.cursor() as cursor:
            cursor.execute(
                "select case when table_schema = current_schema() then table_name "
                "else table_schema || '.' || table_name end from information_schema.tables "
                f"where table_schema not in {_SYSTEM} order by 1"
            )
            return [str(name) for (name,) in rows(cursor)]

    def exists(self, table: Address) -> bool:
        """Return whether there is such a table."""
        with self._connection.cursor() as cursor:
            cursor.execute("select to_regclass($1) is not null", parameters=[table.quoted])
            return bool(rows(cursor)[0][0])

    def read(self, table: Address) -> pa.Table:
        """Return a table's rows in the order they stand in."""
        with self._connection.cursor() as cursor:
            cursor.execute("set local synchronize_seqscans = off")
            cursor.execute(f"select * from {table.quoted}")
            reader = cursor.fetch_record_batch()
            schema = pa.schema([_plain_field(field) for field in reader.schema])
            return pa.Table.from_batches((_plain(batch, schema) for batch in reader), schema)

    def count(self, table: Address) -> int:
        """Return the number of a table's rows."""
        with self._connection.cursor() as cursor:
            cursor.execute(f"select count(*) from {table.quoted}")
            return int(rows(cursor)[0][0])

    def size(self, table: Address) -> int:
        """Return about how many bytes a table takes where it stands."""
        with self._connection.cursor() as cursor:
            cursor.execute("select pg_total_relation_size(to_regclass($1))", parameters=[table.quoted])
            return int(rows(cursor)[0][0] or 0)

    def schema(self, table: Address) -> pa.Schema:
        """Return the columns of a table and the types that `stream` gives them."""
        with self._connection.cursor() as cursor:
            cursor.execute(f"select * from {table.quoted} limit 0")
            found: pa.Schema = cursor.fetch_record_batch().schema
            return pa.schema([_plain_field(field) for field in found])

    def stream(self, table: Address, schema: pa.Schema, window: Window) -> Generator[pa.RecordBatch]:
        """Yield some columns batch by batch, every time in the same order; `schema` names them.

        A table is read from its first page to its last; its rows stay where they are while a transaction can
        see them. A view is sorted by all its columns.
        """
        with self._connection.cursor() as cursor:
            for setting in _IN_PLACE:
                cursor.execute(f"set local {setting}")
            order = "" if self._kind(table) in _STORED else f" order by {listed(self.schema(table).names)}"
            query = f"select {listed(schema.names)} from {table.quoted}{order}{window.clause}"
            cursor.execute(query)
            for batch in cursor.fetch_record_batch():
                yield _plain(batch, schema)

    def _kind(self, table: Address) -> str:
        with self._connection.cursor() as cursor:
            cursor.execute(
                "select relkind::text from pg_class where oid = to_regclass($1)", parameters=[table.quoted]
            )
            return str(rows(cursor)[0][0])

    def create(self, table: Address, content: pa.Table | pa.RecordBatchReader) -> None:
        """Make a table with this content."""
        with self._connection.cursor() as cursor:
            cursor.adbc_ingest(table.table, content, mode="create", db_schema_name=table.schema or None)

    def same_columns(self, one: Address, other: Address) -> bool:
        """Return whether two tables have the same columns of the same types in the same order."""
        with self._connection.cursor() as cursor:
            found = []
            for table in (one, other):
                cursor.execute(
                    "select attname, format_type(atttypid, atttypmod) from pg_attribute "
                    "where attrelid = to_regclass($1) and attnum > 0 and not attisdropped order by attnum",
                    parameters=[table.quoted],
                )
                found.append(rows(cursor))
        return found[0] == found[1]

    def keep_writers_out(self, table: Address) -> None:
        """Let nobody else write to a table until this transaction ends; readers go on."""
        self.execute(f"lock table {table.quoted} in share row exclusive mode")

    def execute(self, statement: str) -> None:
        """Run a statement."""
        with self._connection.cursor() as cursor:
            cursor.execute(statement)

    def commit(self) -> None:
        """Make everything since the connection was opened visible at once."""
        self._connection.commit()


def _plain_field(field: pa.Field) -> pa.Field:
    """Return the field as shoal sees it: NUMERIC, which ADBC hands over as text, is a number."""
    if _numeric(field):
        return pa.field(field.name, pa.float64())
    if isinstance(field.type, pa.BaseExtensionType):
        return pa.field(field.name, field.type.storage_type)
    return field.with_metadata(None)


def _numeric(field: pa.Field) -> bool:
    if getattr(field.type, "type_name", "") == "numeric":
        return True
    metadata = field.metadata or {}
    return metadata.get(b"ADBC:postgresql:typname") == b"numeric"


def _plain(batch: pa.RecordBatch, schema: pa.Schema) -> pa.RecordBatch:
    columns = []
    for field, column in zip(schema, batch.columns, strict=True):
        stored = column.storage if isinstance(column, pa.ExtensionArray) else column
        columns.append(stored if stored.type == field.type else pc.cast(stored, field.type))
    return pa.RecordBatch.from_arrays(columns, schema=schema)
