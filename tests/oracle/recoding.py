"""How a class is published, cell by cell, from the raw values of its records: slow and plain."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

NOTHING = object()  # null is mixed with values


def summary(values: Sequence[Any]) -> Any:
    """Return None for a class of nulls, NOTHING where nulls are mixed with values, else the set of values."""
    present = {value for value in values if value is not None}
    if not present:
        return None
    return NOTHING if None in values else present


def text(value: Any) -> str:
    """Return a value as text; whole floats without decimals."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def alone(value: Any) -> str:
    """Return a single value: quoted where it would read as another kind of cell."""
    shown = text(value)
    strange = isinstance(value, str) and (shown == "*" or shown[:1] in ('"', "{", "["))
    return json.dumps(shown, ensure_ascii=False) if strange else shown


def listed(value: Any) -> str:
    """Return a value inside a list: quoted where it would break the list."""
    shown = text(value)
    strange = isinstance(value, str) and (
        any(mark in shown for mark in ',{}[]"') or shown in ("", "*") or shown != shown.strip()
    )
    return json.dumps(shown, ensure_ascii=False) if strange else shown


def general(values: Sequence[Any], order: Callable[[Any], Any], *, interval: bool) -> str | None:
    """Return the interval or value set of a class."""
    held = summary(values)
    if held is None:
        return None
    if held is NOTHING:
        return "*"
    ranked = sorted(held, key=order)
    if len(ranked) == 1:
        return alone(ranked[0])
    if interval:
        return f"[{listed(ranked[0])}, {listed(ranked[-1])}]"
    return "{" + ", ".join(map(listed, ranked)) + "}"


def mode(values: Sequence[Any], everything: Sequence[Any], order: Callable[[Any], Any]) -> Any:
    """Return the most frequent value; ties go to the one more frequent in the table, then to the first."""
    own, table = Counter(values), Counter(everything)
    return min(own, key=lambda value: (-own[value], -table[value], order(value)))
