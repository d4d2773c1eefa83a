"""The CSV format of ARX for hierarchies: ``leaf;level1;...;*``, one row per leaf, no header.

Reference: F. Prasser, J. Eicher, H. Spengler, R. Bild, K. A. Kuhn, *Flexible data anonymization using ARX*,
Software: Practice and Experience 50, 2020.
"""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path

from ..errors import HierarchyError
from .explicit import ExplicitHierarchy, explicit_from_rows

DELIMITERS = (";", "\t", "|", ",")  # a comma last: it also occurs inside of labels such as [0, 5[
_SAMPLE = 100  # rows that are looked at to find the delimiter,
_LINE = 10_000  # and characters of each: csv refuses endless fields


def read_explicit(path: Path, delimiter: str | None) -> ExplicitHierarchy:
    """Return the hierarchy in a file; see `Hierarchy.read`."""
    source = f"hierarchy file {path.name!r}"
    if delimiter is not None and len(delimiter) != 1:
        raise HierarchyError("the delimiter of a hierarchy file must be one character")
    text = _text(path, source)
    rows = _parse(text, delimiter, source)
    while rows and not rows[-1]:  # blank lines at the end
        rows.pop()
    hierarchy = explicit_from_rows(rows, source)
    return replace(hierarchy, path=path.absolute(), delimiter=delimiter)


def write_rows(path: str | Path, rows: Iterable[Sequence[str]]) -> None:
    """Write rows in the format of ARX."""
    with open(path, "w", encoding="utf-8", newline="") as file:
        csv.writer(file, delimiter=";", lineterminator="\n").writerows(rows)


def _text(path: Path, source: str) -> str:
    reason = ""
    try:
        content = path.read_bytes()
    except OSError as error:
        reason = (error.strerror or "error").lower()
    if reason:
        raise HierarchyError(f"{source} cannot be read: {reason}", hint="Check the path.")
    row = 0
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        row = content.count(b"\n", 0, error.start) + 1
    # Outside of the handler: the decoder's error holds the whole file and would stay attached.
    raise HierarchyError(f"{source}: row {row} is not UTF-8", hint="Save the file as UTF-8.")


def _parse(text: str, delimiter: str | None, source: str) -> list[list[str]]:
    rows: list[list[str]] = []
    failed = False
    try:
        rows.extend(csv.reader(io.StringIO(text, newline=""), delimiter=delimiter or _sniff(text)))
    except csv.Error:
        failed = True
    if failed:
        raise HierarchyError(f"{source}: row {len(rows) + 1} cannot be parsed", hint="Check its quotes.")
    return rows


def _sniff(text: str) -> str:
    """Return the first delimiter that every row of a sample has; else the one that most rows have."""
    lines = [line[:_LINE] for line in text[: 1 << 20].splitlines()[:_SAMPLE] if line.strip()]
    shares = {
        delimiter: sum(len(row) > 1 for row in csv.reader(lines, delimiter=delimiter))
        for delimiter in DELIMITERS
    }
    return max(DELIMITERS, key=lambda delimiter: shares[delimiter])
