"""Names of tables in databases: ``postgresql://host/clinic/visits``, ``clinic.sqlite/visits``."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass, replace
from pathlib import Path
from urllib.parse import unquote, urlsplit

from ...errors import ParameterError

_SCHEMES = {
    "postgresql": "postgresql",
    "postgres": "postgresql",
    "sqlite": "sqlite",
    "duckdb": "duckdb",
}
_ENDINGS = {
    ".sqlite": "sqlite",
    ".sqlite3": "sqlite",
    ".db": "sqlite",
    ".duckdb": "duckdb",
    ".ddb": "duckdb",
}
_SCHEME = re.compile(r"^([a-z]+):")
_HINT = "Such as postgresql://host/database/table, clinic.sqlite/visits or clinic.duckdb/visits."


@dataclass(frozen=True, slots=True)
class Address:
    """A database, and perhaps a table in it.

    Attributes
    ----------
    engine : str
        "postgresql", "sqlite" or "duckdb".
    where : str
        What the driver connects to: an address without the table, or a path. It may hold a password.
    table : str
        Empty where none is named.
    schema : str
        Of the table; empty for the default one.
    """

    engine: str
    where: str
    table: str = ""
    schema: str = ""

    def __repr__(self) -> str:
        return f"Address({self.label})"

    @property
    def label(self) -> str:
        """How messages call it: no user, no password."""
        place = self.place if self.engine == "postgresql" else os.path.basename(self.where)
        return f"{place}/{self.qualified}" if self.table else place

    @property
    def place(self) -> str:
        """The database alone, without user and password."""
        if self.engine != "postgresql":
            return self.where
        parts = urlsplit(self.where)
        port = f":{parts.port}" if parts.port else ""
        return f"postgresql://{parts.hostname or ''}{port}{parts.path}"

    @property
    def qualified(self) -> str:
        """The table with its schema, as people write it."""
        return f"{self.schema}.{self.table}" if self.schema else self.table

    @property
    def quoted(self) -> str:
        """The table as SQL names it."""
        return ".".join(_quoted(part) for part in (self.schema, self.table) if part)

    @property
    def quoted_name(self) -> str:
        """The table as SQL names it within its schema."""
        return _quoted(self.table)

    def named(self, table: str) -> Address:
        """Return the same database with a table, ``schema.table`` or ``table``."""
        if self.table and table != self.qualified:
            raise ParameterError(
                f"two tables are named: {self.qualified!r} and {table!r}", hint="Name the table once."
            )
        schema, _, name = table.rpartition(".")
        if not name or "\0" in table:
            raise ParameterError(f"{table!r} is no name of a table", hint=_HINT)
        return replace(self, table=name, schema=schema)

    def beside(self, name: str) -> Address:
        """Return another table in the same schema."""
        return replace(self, table=name)


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def parse(text: str | os.PathLike[str]) -> Address | None:
    """Return the database that a text names; None where it names a file of another kind.

    Examples
    --------
    >>> parse("postgresql://ann:secret@db.example/clinic/visits").label
    'postgresql://db.example/clinic/visits'
    >>> parse("data/clinic.sqlite/visits").label, parse("patients.csv")
    ('clinic.sqlite/visits', None)
    """
    given = os.fspath(text)
    scheme = _SCHEME.match(given)
    engine = _SCHEMES.get(scheme[1]) if scheme else None
    if engine == "postgresql":
        return _server(given)
    if engine is not None:
        assert scheme is not None
        given = unquote(re.sub(r"^//(?=/)", "", given[scheme.end() :]))
        return _file(given, engine) or Address(engine, given)
    return _file(given, None)


def _server(given: str) -> Address:
    problem = ""
    try:
        parts = urlsplit(given)
        _ = parts.port
    except ValueError:
        problem = "that is no address of a database"
    if problem:  # raised here, so that what was given (perhaps a password) is not in its context
        raise ParameterError(problem, hint=_HINT)
    pieces = [unquote(piece) for piece in parts.path.split("/") if piece]
    if len(pieces) > 2:
        raise ParameterError("the address names more than a database and a table", hint=_HINT)
    path = "/" + "/".join(parts.path.split("/")[1:2])
    query = f"?{parts.query}" if parts.query else ""
    where = f"postgresql://{parts.netloc}{path}{query}"
    found = Address("postgresql", where)
    return found.named(pieces[1]) if len(pieces) == 2 else found


def _file(given: str, engine: str | None) -> Address | None:
    """Return the database in a file whose ending says so, whole or followed by a table."""
    path = Path(given)
    for file, table in ((path, ""), (path.parent, path.name)):
        known = _ENDINGS.get(file.suffix.lower())
        if known is not None and not file.is_dir() and (not table or not path.exists()):
            found = Address(engine or known, str(file))
            return found.named(table) if table else found
    return None
