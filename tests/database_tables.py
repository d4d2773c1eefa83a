"""Statements and tables put into databases under test."""

from __future__ import annotations

import pyarrow as pa

from shoal.io import databases
from shoal.io.databases import open_session, parse


def execute(address: str, *statements: str) -> None:
    """Run statements in one transaction."""
    found = parse(address)
    assert found is not None
    with open_session(found, write=True) as session:
        for statement in statements:
            session.execute(statement)
        session.commit()


def fill(address: str, content: pa.Table) -> None:
    """Make a table with this content."""
    found = parse(address)
    assert found is not None
    databases.put(found, {found.table: content}, lambda _: None)
