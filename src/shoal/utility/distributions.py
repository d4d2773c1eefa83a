"""Distributions: how often the values of a column occur in the original, and as the published cells say."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bars import Bars
from .lines import Line
from .spreads import Spread

_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Distribution:
    """One column before and after.

    Attributes
    ----------
    column : str
    total_variation : float
        Half the sum of the differences between shares: of single values where the column holds categories,
        of the bars shown where it holds numbers. 0: the same; 1: nothing in common.
    mover : float or None
        Earth mover's distance as a share of the column's range, for columns with an order.
    bars : tuple of (label, share before, share after)
        Shares of the records of the original and of the published records.
    """

    column: str
    total_variation: float
    mover: float | None
    bars: tuple[tuple[str, float, float], ...]

    def to_dict(self) -> dict[str, Any]:
        """Return the distribution as plain values."""
        return {
            "column": self.column,
            "total_variation": self.total_variation,
            "earth_mover": self.mover,
            "bars": [{"label": name, "before": was, "after": now} for name, was, now in self.bars],
        }


def distribution(line: Line, spread: Spread, bars: Bars) -> Distribution:
    """Return how often the values of one column occur before and after.

    Shares are rounded, so that the difference of two bars does not count single records.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> from shoal.utility.bars import bars_of
    >>> from shoal.utility.lines import lines_of
    >>> from shoal.utility.spreads import spread_of
    >>> policy = shoal.Policy(quasi={"age": "numeric"})
    >>> (line,) = lines_of(shoal.encode(pa.table({"age": [10, 10, 20, 30]}), policy))
    >>> spread = spread_of(line, pa.table({"age": ["10", "10", "[20, 30]", "[20, 30]"]}))
    >>> found = distribution(line, spread, bars_of(line, k=1))
    >>> round(found.mover, 4), found.bars
    (0.0563, (('under 11', 0.5, 0.5), ('11 to 20', 0.25, 0.0455), ('21 or more', 0.25, 0.4545)))
    """
    before = _normalised(bars.before(line))
    after = _normalised(spread.counts @ bars.shares(spread))
    if line.measured:
        variation = _variation(before, after)
    else:
        variation = _variation(
            _normalised(line.counts.astype(np.float64)), _normalised(code_counts(line, spread))
        )
    rows = zip(bars.labels, before.tolist(), after.tolist(), strict=True)
    return Distribution(
        line.name,
        variation,
        earth_mover(line, spread) if line.ordered else None,
        tuple((name, round(was, _DIGITS), round(now, _DIGITS)) for name, was, now in rows),
    )


def _normalised(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    total = counts.sum()
    return counts / total if total else counts


def _variation(before: NDArray[np.float64], after: NDArray[np.float64]) -> float:
    return float(np.abs(before - after).sum() / 2)


def code_counts(line: Line, spread: Spread) -> NDArray[np.float64]:
    """Return the published records of each code, null last, cells shared out over the codes they cover."""
    first = np.rint(spread.low + line.half).astype(np.int64)
    last = np.rint(spread.high - line.half).astype(np.int64)
    each = spread.counts[spread.cell] * spread.share / (last - first + 1)
    size = len(line.values)
    steps = np.bincount(first, weights=each, minlength=size + 1)
    steps -= np.bincount(last + 1, weights=each, minlength=size + 1)
    return np.append(np.maximum(np.cumsum(steps)[:size], 0.0), float(spread.counts[spread.null].sum()))


def earth_mover(line: Line, spread: Spread) -> float | None:
    """Return the area between the two cumulative distributions, over the column's range; nulls are left out.

    Both are taken as the published cells are: whole values one wide, intervals evenly filled.
    """
    counts = line.counts[:-1]
    held = counts > 0
    held[held] = ~np.isnan(line.places[held])
    places = line.places[held]
    low, high = line.ends
    some = float(spread.counts[~spread.null].sum())
    if not len(places) or some == 0:
        return None
    if high == low:
        return 0.0
    weights = counts[held] / counts[held].sum()
    taken = -spread.counts[spread.cell] * spread.share / some
    starts = np.concatenate([places - line.half, spread.low])
    ends = np.concatenate([places + line.half, spread.high])
    return _area(starts, ends, np.concatenate([weights, taken])) / (high - low)


def _area(starts: NDArray[np.float64], ends: NDArray[np.float64], weights: NDArray[np.float64]) -> float:
    """Return the integral of |H| where H sums ramps that rise by their weight from start to end."""
    points, place = np.unique(np.concatenate([starts, ends]), return_inverse=True)
    at_start, at_end = place.reshape(2, -1)
    width = ends - starts
    wide = width > 0
    slope = np.divide(weights, width, out=np.zeros(len(width)), where=wide)
    m = len(points)
    slopes = np.cumsum(
        np.bincount(at_start, weights=slope, minlength=m) - np.bincount(at_end, weights=slope, minlength=m)
    )[:-1]
    jumps = np.bincount(at_start[~wide], weights=weights[~wide], minlength=m)
    gaps = np.diff(points)
    rise = slopes * gaps
    begin = np.cumsum(jumps)[:-1] + np.concatenate([[0.0], np.cumsum(rise)[:-1]])
    end = begin + rise
    same = begin * end >= 0
    steep = np.where(same, 1.0, np.abs(begin) + np.abs(end))
    trapezoid = (np.abs(begin) + np.abs(end)) / 2
    crossing = (begin**2 + end**2) / (2 * steep)
    return float((np.where(same, trapezoid, crossing) * gaps).sum())
