"""Tables in PostgreSQL, SQLite and DuckDB, in and out through Arrow."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from ...errors import DataError, WriteError
from .address import Address, parse
from .blocks import DatabaseBlocks
from .sessions import Session, explained, open_session

if TYPE_CHECKING:
    from ..blocks import Blocks

_SHOWN = 8
_BATCH = 1 << 16  # rows

__all__ = [
    "Address",
    "DatabaseBlocks",
    "manifest_table",
    "open_database",
    "open_session",
    "parse",
    "put",
    "put_blocks",
    "read_database",
    "size_of",
    "storable",
    "target",
]


def read_database(address: Address) -> pa.Table:
    """Return the table at an address; where the database holds only one, it need not be named."""

    def work() -> pa.Table:
        with open_session(address) as session:
            return session.read(_found(session, address))

    return explained(address, work, write=False)


def open_database(address: Address) -> DatabaseBlocks:
    """Return the table at an address, to be read block by block; `close` it afterwards."""

    def work() -> DatabaseBlocks:
        session = open_session(address)
        try:
            return DatabaseBlocks(session, _found(session, address))
        except BaseException:
            session.__exit__(None, None, None)
            raise

    return explained(address, work, write=False)


def size_of(address: Address) -> int:
    """Return about how many bytes a table takes where it stands."""

    def work() -> int:
        with open_session(address) as session:
            return session.size(_found(session, address))

    return explained(address, work, write=False)


def _found(session: Session, address: Address) -> Address:
    if address.table:
        if not session.exists(address):
            raise DataError(f"{address.label}: there is no such table", hint=_known(session))
        return address
    names = session.tables()
    if len(names) == 1:
        return address.named(names[0])
    problem = "no table is named" if names else "the database holds no table"
    raise DataError(f"{address.label}: {problem}", hint=_known(session))


def _known(session: Session) -> str:
    names = session.tables()
    more = ", ..." if len(names) > _SHOWN else ""
    listed = ", ".join(names[:_SHOWN])
    return f"Tables there: {listed}{more}. Name one with --table." if names else "Check the database."


def target(text: str | os.PathLike[str], *, replace: bool) -> Address | None:
    """Return the address of a table to be written, None for a file; refuse what cannot be written.

    Parameters
    ----------
    text : path or address
    replace : bool
        Whether a table that is there may be replaced.
    """
    address = parse(text)
    if address is None:
        return None
    if not address.table:
        raise WriteError(
            f"{address.label} names no table to write", hint="Add it to the address: .../database/table."
        )
    if address.engine == "postgresql" or os.path.exists(address.where):
        exists = explained(address, lambda: _exists(address), write=True)
        if exists and not replace:
            raise WriteError(f"the table {address.label} exists", hint="Give another name, or --force.")
    return address


def _exists(address: Address) -> bool:
    with open_session(address) as session:
        return session.exists(address)


def manifest_table(table: str) -> str:
    """Return where the manifest of a table stands.

    Examples
    --------
    >>> manifest_table("release")
    'release_manifest'
    """
    return f"{table}_manifest"


def storable(content: pa.Table) -> pa.Table:
    """Return a table of types that every database has: categories as texts, nothing but nulls as texts."""
    columns = {}
    for field in content.schema:
        column = content.column(field.name)
        if pa.types.is_dictionary(field.type):
            column = column.cast(field.type.value_type)
        if pa.types.is_null(column.type):
            column = column.cast(pa.string())
        columns[field.name] = column
    return pa.table(columns)


def put(address: Address, tables: dict[str, pa.Table], check: Callable[[pa.Table], object]) -> None:
    """Write tables in one transaction: whoever reads them sees all the old ones or all the new ones.

    Parameters
    ----------
    address : Address
        Where; its table is the first of `tables`.
    tables : dict of name to table
        One that is there already keeps its indexes, views and rights when its columns stay the same, and is
        dropped and made anew when they do not.
    check : function
        Told what the first table holds before others can see it; what it raises leaves everything as it was.
    """

    def work() -> None:
        with open_session(address, write=True) as session:
            for name, content in tables.items():
                _put_in_place(session, address.beside(name), content)
            check(session.read(address))
            session.commit()

    explained(address, work, write=True)


def put_blocks(
    address: Address, content: Blocks, manifest: dict[str, Any], check: Callable[[Blocks], object]
) -> None:
    """Write a table block by block, and its manifest, in one transaction, as `put` does.

    Parameters
    ----------
    address : Address
    content : Blocks
    manifest : dict
        Stands beside the table, in one of one cell; the table's name and size are added.
    check : function
        Told what the table holds before others can see it.
    """
    described = {**manifest, "table": {"name": address.qualified, "records": content.records}}
    text = pa.table({"manifest": [json.dumps(described, allow_nan=False)]})

    def work() -> None:
        with open_session(address, write=True) as session:
            _put_in_place(session, address, _reader(content))
            _put_in_place(session, address.beside(manifest_table(address.table)), text)
            check(DatabaseBlocks(session, address, write=True))
            session.commit()

    explained(address, work, write=True)


def _reader(content: Blocks) -> pa.RecordBatchReader:
    """Return blocks as batches of types that every database has."""
    schema = storable(content.schema.empty_table()).schema

    def batches() -> Iterator[pa.RecordBatch]:
        for block in content.read(content.schema.names):
            yield from storable(block).cast(schema).to_batches(max_chunksize=_BATCH)

    return pa.RecordBatchReader.from_batches(schema, batches())


def _put_in_place(session: Session, final: Address, content: pa.Table | pa.RecordBatchReader) -> None:
    if not session.exists(final):
        session.create(final, content)
        return
    session.keep_writers_out(final)
    staged = final.beside(f"shoal_staging_{secrets.token_hex(8)}")
    session.create(staged, content)
    if session.same_columns(staged, final):
        session.execute(f"delete from {final.quoted}")
        session.execute(f"insert into {final.quoted} select * from {staged.quoted}")
        session.execute(f"drop table {staged.quoted}")
        return
    session.execute(f"drop table {final.quoted}")
    session.execute(f"alter table {staged.quoted} rename to {final.quoted_name}")
