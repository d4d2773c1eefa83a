"""A table in a database, read block by block inside one transaction: it cannot change meanwhile."""

from __future__ import annotations

import contextlib
import hashlib
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Any, TypeVar

import pyarrow as pa

from ...table import Table, refuse_repeated
from .address import Address
from .sessions import Session, Window, explained

BLOCK = 1 << 18  # records
T = TypeVar("T")


class DatabaseBlocks:
    """A table of a database as `shoal.io.blocks.Blocks`.

    Parameters
    ----------
    session : Session
        With its transaction; `close` ends it.
    address : Address
        Of the table.
    write : bool
        Whether errors are those of a transaction that writes.
    """

    def __init__(self, session: Session, address: Address, *, write: bool = False) -> None:
        self._session, self._address, self._write = session, address, write
        self._stored = self._explained(lambda: session.schema(address))
        refuse_repeated(self._stored.names, address.label)
        self.schema: pa.Schema = Table.from_any(self._stored.empty_table()).data.schema
        self.records = self._explained(lambda: session.count(address))
        self._digest = ""
        self._running: list[Generator[pa.RecordBatch]] = []

    @property
    def label(self) -> str:
        """How messages call it."""
        return self._address.label

    @property
    def one_pass(self) -> bool:
        """Whether one column costs as much as all: where rows are stored whole."""
        return self._address.engine != "duckdb"

    def read(self, columns: Sequence[str]) -> Iterator[pa.Table]:
        """Yield these columns, block after block, as often as asked in the same order; texts as dictionaries.

        The first block is a query of its own, so that whoever looks at no more does not wait for the rest.
        """
        schema = pa.schema([self._stored.field(name) for name in columns])
        windows = [Window(0, BLOCK)] + ([Window(BLOCK)] if self.records > BLOCK else [])
        for window in windows:
            yield from self._blocks(schema, window)

    def _blocks(self, schema: pa.Schema, window: Window) -> Iterator[pa.Table]:
        batches = self._session.stream(self._address, schema, window)
        self._running.append(batches)
        held: list[pa.RecordBatch] = []
        records = 0
        try:
            while True:
                batch = self._explained(lambda: next(batches, None))
                if batch is not None:
                    held.append(batch)
                    records += batch.num_rows
                if records and (batch is None or records >= BLOCK):
                    yield _with_dictionaries(Table.from_any(pa.Table.from_batches(held, schema)).data)
                    held, records = [], 0
                if batch is None:
                    return
        finally:
            self._stop(batches)

    def _stop(self, batches: Generator[pa.RecordBatch]) -> None:
        with contextlib.suppress(Exception):  # of a connection that is gone
            batches.close()
        self._running = [other for other in self._running if other is not batches]

    def digest(self) -> str:
        """Return the SHA-256 of the content; the transaction sees no other, so it is computed once."""
        if not self._digest:
            found = hashlib.sha256()
            for field in self._stored:
                found.update(f"{field.name}:{field.type};".encode())
            for block in self.read(self._stored.names):
                for column in block.columns:
                    _update(found, column)
            self._digest = found.hexdigest()
        return self._digest

    def close(self) -> None:
        """End the transaction, and what is still being read in it."""
        for batches in self._running:
            self._stop(batches)
        self._session.__exit__(None, None, None)

    def _explained(self, work: Callable[[], T]) -> T:
        return explained(self._address, work, write=self._write)


def _with_dictionaries(block: pa.Table) -> pa.Table:
    """Return a block whose texts are dictionaries: they repeat, and numbers take less room."""
    for at, field in enumerate(block.schema):
        if pa.types.is_string(field.type):
            block = block.set_column(at, field.name, block.column(at).combine_chunks().dictionary_encode())
    return block


def _update(digest: Any, column: pa.ChunkedArray) -> None:
    """Add the cells of a block's column, however they lie in memory."""
    plain = column.cast(column.type.value_type) if pa.types.is_dictionary(column.type) else column
    table = pa.table({"": plain.combine_chunks()})
    sink = pa.BufferOutputStream()
    with pa.ipc.new_stream(sink, table.schema) as stream:
        stream.write_table(table)
    digest.update(sink.getvalue())
