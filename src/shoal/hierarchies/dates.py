"""Calendar hierarchies: day, month, quarter, year, decade."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import HierarchyError, UnknownName
from .base import Hierarchy
from .levels import TEXT, Level, leaf_level, root_level, run_starts
from .texts import is_text, texts

CALENDAR = ("day", "month", "quarter", "year", "decade")

_ISO = (
    r"^(?P<year>\d{4})-(?P<month>\d{2})-(?P<day>\d{2})"
    r"(?:[T ]\d{2}:\d{2}(?::\d{2}(?:[.,]\d+)?)?\s?(?:Z|[+-]\d{2}(?::?\d{2})?)?)?$"
)


@dataclass(frozen=True, slots=True, repr=False)
class DateHierarchy(Hierarchy):
    """Levels of the calendar; see `Hierarchy.dates`. Timestamps with a zone count by their local date."""

    levels: tuple[str, ...]

    _misfit = "not dates (ISO texts such as 2024-03-05 count as dates)"
    _remedy = "Convert the column to dates"

    @classmethod
    def of(cls, levels: Sequence[str]) -> DateHierarchy:
        """Return the hierarchy, or refuse levels that do not exist or do not get coarser."""
        if not isinstance(levels, list | tuple) or not levels:
            raise HierarchyError(
                "'levels' of a date hierarchy must be a list", hint=f"Some of {', '.join(CALENDAR)}."
            )
        for level in levels:
            if level not in CALENDAR:
                raise UnknownName.nearest("calendar level", str(level), list(CALENDAR))
        ranks = [CALENDAR.index(level) for level in levels]
        if any(high <= low for low, high in pairwise(ranks)):
            raise HierarchyError(
                "the levels of a date hierarchy must go from fine to coarse",
                hint=f"Order: {', '.join(CALENDAR)}.",
            )
        return cls(tuple(levels))

    def _levels(self, values: pa.Array) -> tuple[list[Level], NDArray[np.int64]]:
        days, moments, known = _days(values)
        candidates = np.flatnonzero(known)
        order = candidates[np.lexsort((moments[candidates], days[candidates]))]
        leaf_of = np.full(len(known), -1, dtype=np.int64)
        leaf_of[order] = np.arange(len(order))
        ascending = days[order].astype("datetime64[D]")
        levels = [leaf_level(texts(values).take(pa.array(order)))]
        for name in self.levels:
            index = _index(ascending, name)
            starts = run_starts(index)
            levels.append(Level(starts, pa.array(_labels(index[starts], name), type=TEXT)))
        return [*levels, root_level()], leaf_of

    def _spec(self, base_path: Path | None) -> dict[str, Any]:
        return {"type": "dates", "levels": list(self.levels)}

    def __repr__(self) -> str:
        return "Hierarchy.dates()" if self.levels == CALENDAR else f"Hierarchy.dates({list(self.levels)})"


def _days(values: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    """Return (day since 1970, order within the day, whether the value is a date at all)."""
    kind = values.type
    if is_text(kind):
        return _text_days(values.cast(TEXT))
    if not (pa.types.is_date(kind) or pa.types.is_timestamp(kind)):
        zero = np.zeros(len(values), dtype=np.int64)
        return zero, zero, zero.astype(bool)
    # Arrow's day of a moment with a time zone is the local one; its ticks are in UTC, and so in order.
    days = values.cast(pa.date32(), safe=False).cast(pa.int32()).to_numpy(zero_copy_only=False)
    ticks = values.cast(pa.int32() if pa.types.is_date32(kind) else pa.int64())
    moments = ticks.to_numpy(zero_copy_only=False).astype(np.int64)
    return days.astype(np.int64), moments, np.ones(len(values), dtype=bool)


def _text_days(text: pa.Array) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.bool_]]:
    parts = pc.extract_regex(text, _ISO)
    known = parts.is_valid().to_numpy(zero_copy_only=False)

    def part(name: str) -> NDArray[np.int64]:
        digits = pc.fill_null(pc.if_else(pa.array(known), pc.struct_field(parts, name), "01"), "01")
        return np.asarray(digits.cast(pa.int64()).to_numpy(zero_copy_only=False))

    month = part("month")
    first = ((part("year") - 1970) * 12 + month - 1).astype("datetime64[M]")
    days = first.astype("datetime64[D]") + (part("day") - 1)
    # The 30th of February would run on into March.
    exists = (month >= 1) & (month <= 12) & (part("day") >= 1) & (days.astype("datetime64[M]") == first)
    ranks = pc.rank(text, tiebreaker="first").to_numpy(zero_copy_only=False).astype(np.int64)
    return days.astype(np.int64), ranks, known & exists


def _index(days: NDArray[np.datetime64], level: str) -> NDArray[np.int64]:
    """Return the number of the day, month, ... that each day lies in."""
    if level == "day":
        return days.astype(np.int64)
    months = days.astype("datetime64[M]").astype(np.int64)
    if level == "month":
        return months
    if level == "quarter":
        return months // 3
    years = months // 12 + 1970
    return years if level == "year" else years // 10


def _labels(index: NDArray[np.int64], level: str) -> list[str]:
    if level in ("day", "month"):
        return [str(text) for text in np.datetime_as_string(index.astype(f"datetime64[{level[0].upper()}]"))]
    if level == "quarter":
        return [f"{1970 + i // 4:04d}-Q{i % 4 + 1}" for i in index.tolist()]
    return [f"{i:04d}" if level == "year" else f"{i * 10:04d}s" for i in index.tolist()]
