"""Files and databases in and out, with errors that name files, tables and lines, and never cells."""

from __future__ import annotations

import os
from collections.abc import Sequence

import pyarrow as pa

from ..errors import ParameterError
from ..table import refuse_repeated
from . import databases
from .source import STANDARD, Source

FORMATS = ("csv", "parquet", "arrow")
_EXTENSIONS = {
    ".csv": "csv",
    ".tsv": "csv",
    ".txt": "csv",
    ".parquet": "parquet",
    ".pq": "parquet",
    ".arrow": "arrow",
    ".feather": "arrow",
    ".ipc": "arrow",
}
_HINT = "Use .csv, .tsv or .txt (also with .gz), .parquet, .feather or .arrow."


def format_of(path: str | os.PathLike[str]) -> str:
    """Return the format a file name stands for: "csv", "parquet" or "arrow".

    Examples
    --------
    >>> format_of("patients.csv.gz"), format_of("patients.feather")
    ('csv', 'arrow')
    """
    found = _by_extension(path)
    if found is None:
        raise ParameterError(f"the name {os.fspath(path)!r} says no format that shoal knows", hint=_HINT)
    return found


def _by_extension(path: str | os.PathLike[str]) -> str | None:
    root, extension = os.path.splitext(os.fspath(path).lower())
    if extension == ".gz":
        extension = os.path.splitext(root)[1]
        return "csv" if _EXTENSIONS.get(extension) == "csv" else None
    return _EXTENSIONS.get(extension)


def read(
    source: str | os.PathLike[str],
    *,
    format: str | None = None,
    delimiter: str | None = None,
    encoding: str = "utf-8",
    nulls: Sequence[str] = ("",),
    schema: pa.Schema | None = None,
    table: str | None = None,
) -> pa.Table:
    """Return the table in a file or a database.

    The format follows from the file's name, or from its first bytes where the name says nothing. Columns of a
    CSV file become whole numbers, numbers, dates, times, truth values or texts; a column with a value that a
    number would not keep as it is (a leading zero, a plus sign, more digits than a number holds) stays text.

    Parameters
    ----------
    source : path, "-" or address of a database
        "-" is standard input. Databases are ``postgresql://host/database``, SQLite files (.sqlite, .db) and
        DuckDB files (.duckdb), followed by ``/table`` if you like.
    format : "csv", "parquet" or "arrow", optional
        What the file is, whatever its name.
    delimiter : str, optional
        Of a CSV file; found among comma, semicolon, tab and bar when not given.
    encoding : str
        Of a CSV file.
    nulls : sequence of str
        The unquoted fields of a CSV file that mean null. A quoted field is never null.
    schema : pyarrow.Schema, optional
        Types for the columns of a CSV file that it names, instead of what their values look like.
    table : str, optional
        Of a database: which table, ``schema.table`` or ``table``.

    Raises
    ------
    DataError
        When there is no such table: one line saying what is wrong, in which line, and what to do.

    Examples
    --------
    >>> import tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "people.csv"
    >>> _ = path.write_text("zip;age\\n01234;30\\n;41\\n")
    >>> read(path).to_pydict()
    {'zip': ['01234', None], 'age': [30, 41]}
    """
    said = _checked_format(format)
    address = databases.parse(source) if said is None else None
    if address is not None:
        found = databases.read_database(address if table is None else address.named(table))
        refuse_repeated(found.column_names, address.label)
        return found
    if table is not None:
        raise ParameterError("only databases hold tables by name", hint="Leave the name of the table out.")
    opened = Source.open(source)
    chosen = said or _by_extension(opened.name) or opened.magic() or "csv"
    if chosen == "csv":
        from .csv_read import CsvOptions, read_csv

        return read_csv(opened, CsvOptions(delimiter, encoding, tuple(nulls), schema))
    from .columnar import read_columnar

    found = read_columnar(opened, chosen)
    refuse_repeated(found.column_names, opened.label)
    return found


def write(
    data: pa.Table,
    target: str | os.PathLike[str],
    *,
    format: str | None = None,
    delimiter: str = ",",
) -> None:
    """Write a table to a file, or to standard output for "-".

    In a CSV file a null is an empty field and an empty text is ``""``, so that both come back as they were.

    Parameters
    ----------
    data : pyarrow.Table
        The table.
    target : path, or "-"
        "-" is standard output.
    format : "csv", "parquet" or "arrow", optional
        What to write; follows from the name when not given, and is CSV for standard output.
    delimiter : str
        Of a CSV file.

    Raises
    ------
    WriteError
        When the target cannot be written.
    DataError
        When the format cannot hold a column.
    """
    standard = os.fspath(target) == STANDARD
    chosen = _checked_format(format) or ("csv" if standard else format_of(target))
    if chosen == "csv":
        from .csv_write import write_csv

        write_csv(data, target, delimiter)
        return
    from .columnar import write_columnar

    write_columnar(data, target, chosen)


def _checked_format(format: str | None) -> str | None:
    if format is not None and format not in FORMATS:
        raise ParameterError(f"'format' must be one of {', '.join(map(repr, FORMATS))}")
    return format


__all__ = ["FORMATS", "format_of", "read", "write"]
