"""Why a CSV file could not be read: found again slowly, because the fast reader's messages quote records."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator

from ..errors import DataError
from .source import Source


def explained(source: Source, encoding: str, delimiter: str, width: int) -> DataError:
    """Return the error that says which line of a CSV file is wrong, and how."""
    try:
        return (
            _undecodable(source, encoding)
            or _ragged(source, encoding, delimiter, width)
            or DataError(f"{source.label} cannot be read as CSV", hint="Check its quotes and line ends.")
        )
    except (OSError, EOFError):
        return DataError(f"{source.label} is damaged: it cannot be unzipped", hint="Fetch it once more.")


def refuse_undecodable(source: Source, encoding: str) -> None:
    """Raise when a file is not in its encoding."""
    found = _undecodable(source, encoding)
    if found is not None:
        raise found


def refuse_unclosed(source: Source, encoding: str, delimiter: str) -> None:
    """Raise when a quote is opened and never closed: it would swallow every record after it."""
    refuse_undecodable(source, encoding)
    line = None
    with source.stream() as stream:
        text = io.TextIOWrapper(stream, encoding=encoding, newline="")
        records = csv.reader(text, delimiter=delimiter, strict=True)
        begins = 1
        try:
            for _ in records:
                begins = records.line_num + 1
        except csv.Error as error:
            line = None if "expected after" in str(error) else begins
    if line is not None:
        raise DataError(
            f"{source.label}, line {line}: a quote is opened and never closed",
            hint="Close it, or double the quotes inside a field.",
        )


def _undecodable(source: Source, encoding: str) -> DataError | None:
    hint = "Try --encoding latin-1." if encoding.lower() in ("utf-8", "utf8") else "Try another --encoding."
    name = "UTF-8" if encoding.lower() in ("utf-8", "utf8") else encoding
    with source.stream() as stream:
        if not name.lower().startswith(("utf-16", "utf-32")):
            for number, line in enumerate(stream, 1):
                if not _decodes(line, encoding):
                    return DataError(
                        f"{source.label} is not {name}: line {number} does not decode", hint=hint
                    )
        elif not _decodes(stream.read(), encoding):
            return DataError(f"{source.label} is not {name}", hint=hint)
    return None


def _decodes(content: bytes, encoding: str) -> bool:
    try:
        content.decode(encoding)
    except UnicodeError:
        return False
    return True


def _ragged(source: Source, encoding: str, delimiter: str, width: int) -> DataError | None:
    with source.stream() as stream:
        text = io.TextIOWrapper(stream, encoding=encoding, newline="")
        for line, fields in _widths(text, delimiter):
            if fields != width and fields:
                found = "1 field" if fields == 1 else f"{fields} fields"
                return DataError(
                    f"{source.label}, line {line}: {found} where the header has {width}",
                    hint=f"Quote fields that hold {delimiter!r}, or complete the line.",
                )
    return None


def _widths(text: io.TextIOWrapper, delimiter: str) -> Iterator[tuple[int, int]]:
    """Yield, for every record, the line it begins in and how many fields it has."""
    records = csv.reader(text, delimiter=delimiter)
    begins = 1
    try:
        for record in records:
            yield begins, len(record)
            begins = records.line_num + 1
    except csv.Error:
        return
