"""One connection to a database and one transaction on it, the same for every engine."""

from __future__ import annotations

from collections.abc import Callable, Generator
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Protocol, TypeVar

import pyarrow as pa

from ...errors import DataError, MissingExtra, ShoalError, WriteError
from .address import Address

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Window:
    """Which rows of a table: all after `skip`, or `most` of them."""

    skip: int = 0
    most: int | None = None

    @property
    def clause(self) -> str:
        """The window in SQL."""
        most = "" if self.most is None else f" limit {self.most}"
        return f"{most} offset {self.skip}" if self.skip else most


class Session(Protocol):
    """A connection with one open transaction, undone when its ``with`` block ends without `commit`."""

    def __enter__(self) -> Session: ...

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None: ...

    def tables(self) -> list[str]:
        """Return the names of all tables that can be read."""

    def exists(self, table: Address) -> bool:
        """Return whether there is such a table."""

    def read(self, table: Address) -> pa.Table:
        """Return a table's rows in the order they stand in."""

    def count(self, table: Address) -> int:
        """Return the number of a table's rows."""

    def size(self, table: Address) -> int:
        """Return about how many bytes a table takes where it stands."""

    def schema(self, table: Address) -> pa.Schema:
        """Return the columns of a table and the types that `stream` gives them."""

    def stream(self, table: Address, schema: pa.Schema, window: Window) -> Generator[pa.RecordBatch]:
        """Yield some columns batch by batch, every time in the same order; `schema` names them."""

    def create(self, table: Address, content: pa.Table | pa.RecordBatchReader) -> None:
        """Make a table with this content."""

    def same_columns(self, one: Address, other: Address) -> bool:
        """Return whether two tables have the same columns of the same types in the same order."""

    def keep_writers_out(self, table: Address) -> None:
        """Let nobody else write to a table until this transaction ends; readers go on."""

    def execute(self, statement: str) -> None:
        """Run a statement."""

    def commit(self) -> None:
        """Make everything since the connection was opened visible at once."""


def open_session(address: Address, *, write: bool = False) -> Session:
    """Return a session on a database; reading ones change nothing, and see one state of it all the time."""
    if address.engine == "postgresql":
        from .postgres import PostgresSession

        return PostgresSession(address, write=write)
    if address.engine == "sqlite":
        from .sqlite import SqliteSession

        return SqliteSession(address, write=write)
    from .duck import DuckSession

    return DuckSession(address, write=write)


_BY_STATE = {  # the first two or all five characters of an SQLSTATE
    "08": ("the connection failed or was lost", "Check that the server runs, and try again."),
    "28": ("the user is not admitted", "Give user and password, or PGPASSWORD, or a password file."),
    "3D": ("there is no such database", "Check its name."),
    "42501": ("permission is denied", "Ask for the rights to read or to create tables there."),
    "42P01": ("there is no such table", "Check its name, and its schema: schema.table."),
    "3F000": ("there is no such schema", "Check its name."),
    "2BP01": (
        "other objects depend on the table and its columns changed",
        "Drop them, or name another table.",
    ),
    "53": ("the server is out of room or connections", "Try again when there is more."),
    "55P03": ("the table is locked", "Try again later."),
    "57": ("the connection failed or was lost", "Check that the server runs, and try again."),
}


def explained(address: Address, work: Callable[[], T], *, write: bool) -> T:
    """Return what `work` returns; what a driver says becomes one line without it.

    Drivers quote cells, users and passwords. The line is raised when the driver's exception is gone, so that
    it does not travel along as its context.
    """
    reason, hint = "", ""
    try:
        return work()
    except (ShoalError, KeyboardInterrupt, MemoryError):
        raise
    except ModuleNotFoundError as error:
        if (error.name or "").split(".")[0] not in ("adbc_driver_postgresql", "adbc_driver_sqlite", "duckdb"):
            raise
        missing = True
    except Exception as error:
        if not _from_driver(error):
            raise
        missing = False
        reason, hint = _reason(error)
    if missing:
        raise MissingExtra.of(f"a {address.engine} database", "db")
    message = f"{address.label}: {reason}"
    if write:
        raise WriteError(message, hint=f"Nothing was changed. {hint}")
    raise DataError(message, hint=hint)


def _from_driver(error: Exception) -> bool:
    module = type(error).__module__.split(".")[0]
    return module in ("adbc_driver_manager", "_duckdb", "duckdb", "pyarrow") or isinstance(error, OSError)


def _reason(error: Exception) -> tuple[str, str]:
    state = str(getattr(error, "sqlstate", None) or "")
    for known, said in _BY_STATE.items():
        if state.startswith(known):
            return said
    name = type(error).__name__
    if name in ("CatalogException", "BinderException"):
        return _BY_STATE["42P01"]
    if state:
        return f"the database refused (SQLSTATE {state})", "Its own log says more."
    text = str(error)
    if "could not connect" in text or "onnection refused" in text or "could not translate" in text:
        return _BY_STATE["08"]
    if "connection" in text and ("closed" in text or "lost" in text or "terminat" in text):
        return _BY_STATE["08"]
    if "locked" in text or "lock on file" in text:
        return "the database is locked by another program", "Close it there, and try again."
    if "not a database" in text or "not a valid DuckDB" in text:
        return "that is no such database, or it is damaged", "Check the file."
    if "full" in text and "disk" in text:
        return "the disk is full", "Make room."
    return f"the database could not do it ({name})", "Check that it is there and whole."


def listed(names: list[str]) -> str:
    """Return columns as SQL lists them."""
    return ", ".join('"' + name.replace('"', '""') + '"' for name in names)


def rows(cursor: Any) -> list[tuple[Any, ...]]:
    """Return all rows of a query about tables, never of cells."""
    found: list[tuple[Any, ...]] = cursor.fetchall()
    return found
