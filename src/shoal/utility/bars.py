"""Bars: the few groups of values a column is shown in, none of which points at fewer than k records.

Edges are round numbers from the middle of the column, the outermost bars are open, and values that few
records have are merged with others: neither a rare category nor an extreme number is in a picture.
"""

from __future__ import annotations

import datetime
import itertools
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..schema import Kind
from .lines import Line
from .spreads import Spread

MOST = 12  # bars of categories; of numbers up to twice as many
_TAIL = 0.01  # share of the records that each open bar holds at least, before merging
_LONGEST = 40  # characters of a label
_DAY = 86_400_000_000  # microseconds
_EPOCH = datetime.date(1970, 1, 1)


@dataclass(frozen=True, slots=True, eq=False)
class Bars:
    """The groups of values one column is shown in.

    Attributes
    ----------
    labels : tuple of str
        Null has the last one, "missing", where at least k records have it; otherwise it has none.
    group : int64[codes + 1]
        The bar of each code of the original, null included; -1 for nulls that have none.
    edges : float64[bars + 1], optional
        Of numbers and dates; the outermost are infinite.
    """

    labels: tuple[str, ...]
    group: NDArray[np.int64]
    edges: NDArray[np.float64] | None

    @property
    def missing(self) -> bool:
        """Whether null has a bar."""
        return bool(self.group[-1] >= 0)

    def before(self, line: Line) -> NDArray[np.float64]:
        """Return the records of the original in each bar."""
        held = self.group >= 0
        weights = line.counts[held].astype(np.float64)
        found = np.bincount(self.group[held], weights=weights, minlength=len(self.labels))
        return found.astype(np.float64)

    def shares(self, spread: Spread) -> NDArray[np.float64]:
        """Return float64[cells, bars]: the part of each published cell that lies in each bar."""
        found = np.zeros((spread.cells, len(self.labels)))
        values = len(self.labels) - self.missing
        if self.edges is not None:
            found[:, :values] = spread.within(self.edges)
        else:
            for bar in range(values):
                members = np.flatnonzero(self.group[:-1] == bar)
                starts = members[np.diff(members, prepend=-2) > 1]
                ends = members[np.diff(members, append=len(self.group) + 1) > 1]
                if len(starts) <= MOST:
                    parts = [
                        spread.parts(e + 0.5) - spread.parts(s - 0.5)
                        for s, e in zip(starts, ends, strict=True)
                    ]
                    found[:, bar] = spread.sums(spread.share * np.sum(parts, axis=0))
                else:  # many runs of codes, as among "other values": all that is in no other bar
                    found[:, bar] = np.nan
            rest = np.isnan(found).any(axis=0)
            found[:, rest] = 0.0
            if rest.any():
                found[:, rest] = (~spread.null - found.sum(axis=1))[:, None]
        if self.missing:
            found[:, -1] = spread.null
        return found


def bars_of(line: Line, k: int) -> Bars:
    """Return the bars of a column, each of at least `k` records of the original unless there is just one.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> from shoal.utility.lines import lines_of
    >>> table = pa.table({"job": ["nurse"] * 6 + ["clerk"] * 7 + ["king", "queen"] + ["cook"] * 5})
    >>> (line,) = lines_of(shoal.encode(table, shoal.Policy(quasi=["job"])))
    >>> bars_of(line, k=5).labels
    ('clerk', 'nurse', '3 other values')
    """
    if line.measured:
        return _number_bars(line, k)
    return _category_bars(line, k)


def _category_bars(line: Line, k: int) -> Bars:
    counts = line.counts
    known = np.flatnonzero(counts[:-1])
    ranked = known[np.argsort(-counts[known], kind="stable")]
    shown = [int(code) for code in ranked[:MOST] if counts[code] >= k]
    if len(shown) < len(known):
        shown = shown[: MOST - 1]
    while shown and 0 < counts[:-1].sum() - counts[shown].sum() < k:
        shown.pop()
    if line.ordered:
        shown.sort()
    texts = line.texts()
    labels = [_shortened(texts[code]) for code in shown]
    group = np.full(len(counts), len(shown), dtype=np.int64)
    group[shown] = np.arange(len(shown))
    others = len(line.values) - len(shown)
    if others or not shown:
        labels.append(f"{others:,} other values" if shown else "all values")
    return _with_missing(labels, group, int(counts[-1]), k, None)


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 1] + "…"


def _with_missing(
    labels: list[str], group: NDArray[np.int64], nulls: int, k: int, edges: NDArray[np.float64] | None
) -> Bars:
    group[-1] = -1
    if nulls >= k:
        group[-1] = len(labels)
        labels = [*labels, "missing"]
    return Bars(tuple(labels), group, edges)


# --- numbers and dates ---


def _number_bars(line: Line, k: int) -> Bars:
    counts = line.counts
    held = (counts[:-1] > 0) & ~np.isnan(line.places)
    order = np.argsort(line.places[held], kind="stable")
    places, records = line.places[held][order], counts[:-1][held][order]
    inner = _inner_edges(line, places, records, k)
    edges = np.array([-np.inf, *inner, np.inf])
    group = np.full(len(counts), -1, dtype=np.int64)
    group[:-1] = np.searchsorted(edges, np.nan_to_num(line.places), side="right") - 1
    return _with_missing(_number_labels(line, inner), group, int(counts[-1]), k, edges)


def _inner_edges(line: Line, places: NDArray[np.float64], records: NDArray[np.int64], k: int) -> list[float]:
    """Return round edges with at least k records between any two, below the first and above the last."""
    if not len(places):
        return []
    running = np.cumsum(records)
    tail = max(k, math.ceil(_TAIL * running[-1]))
    low = places[np.searchsorted(running, tail)] if running[-1] > tail else places[0]
    high = places[min(np.searchsorted(running, running[-1] - tail, side="right"), len(places) - 1)]
    kept: list[float] = []
    below = 0
    for edge in _round_edges(line, float(low), float(high)):
        until = int(records[places < edge].sum())
        if until - below >= k and running[-1] - until >= k:
            kept.append(edge)
            below = until
    return kept


def _round_edges(line: Line, low: float, high: float) -> Iterator[float]:
    """Return round places from `low` to `high`, halfway between values where these are whole."""
    if line.spec.kind is Kind.DATE:
        yield from (edge - line.half for edge in _date_edges(line, low, high))
        return
    step = _round_step((high - low) / (2 * MOST))
    if line.half:
        step = max(1.0, step)
    first = math.ceil(low / step)
    for i in range(2 * MOST + 2):
        edge = (first + i) * step
        if edge > high:
            return
        yield edge - line.half


def _round_step(least: float) -> float:
    """Return the least of 1, 2, 5 times a power of ten that is at least so large."""
    if least <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(least))
    return next(factor * power for factor in (1, 2, 5, 10, 20) if factor * power >= least * (1 - 1e-9))


def _date_edges(line: Line, low: float, high: float) -> Iterator[float]:
    """Return the first days of months or years, or days where the column covers few."""
    day = 1.0 if pa.types.is_date32(line.values.type) else float(_DAY)
    start, end = low / day, high / day
    months = next(
        (m for m in (1, 2, 3, 6, 12, 24, 60, 120, 600) if (end - start) / 30.4 / m <= 2 * MOST), 1200
    )
    if end - start < 90:
        step = _round_step(max(1.0, (end - start) / (2 * MOST)))
        yield from (number * step * day for number in range(math.ceil(start / step), int(end // step) + 1))
        return
    first = _EPOCH + datetime.timedelta(days=math.floor(start))
    number = (first.year * 12 + first.month - 1) // months * months
    while number // 12 <= 9999:
        number += months
        edge = (datetime.date(number // 12, number % 12 + 1, 1) - _EPOCH).days
        if edge > end:
            return
        yield edge * day


def _number_labels(line: Line, inner: list[float]) -> list[str]:
    if not inner:
        return ["all values"]
    if line.spec.kind is Kind.DATE:
        return _date_labels(line, inner)
    first = [_spelled(line, edge + line.half) for edge in inner]
    last = [_spelled(line, edge - line.half) for edge in inner]
    if not line.half:
        middle = [f"{a} to under {b}" for a, b in itertools.pairwise(first)]
    else:
        pairs = zip(first, last[1:], strict=False)
        middle = [a if a == b else f"{a} to {b}" for a, b in pairs]
    return [f"under {first[0]}", *middle, f"{first[-1]} or more"]


def _date_labels(line: Line, inner: list[float]) -> list[str]:
    """Return labels by day, or by month or year where every edge is the first day of one."""
    day = 1 if pa.types.is_date32(line.values.type) else _DAY
    starts = [_EPOCH + datetime.timedelta(days=math.floor((edge + line.half) / day)) for edge in inner]
    length = 10
    if all(start.day == 1 for start in starts):
        length = 4 if all(start.month == 1 for start in starts) else 7
    first = [start.isoformat()[:length] for start in starts]
    last = [(start - datetime.timedelta(days=1)).isoformat()[:length] for start in starts]
    middle = [a if a == b else f"{a} to {b}" for a, b in zip(first, last[1:], strict=False)]
    return [f"before {first[0]}", *middle, f"{first[-1]} or later"]


def _spelled(line: Line, place: float) -> str:
    return f"{int(place):,}" if line.half else f"{place:,.10g}"
