"""Hierarchies of numbers: intervals of equal width, and groups of equally many values."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from decimal import Decimal
from itertools import pairwise
from numbers import Real
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import HierarchyError
from .base import Hierarchy
from .levels import TEXT, Level, leaf_level, root_level, run_starts
from .texts import numbers, plain_number, texts

_CLOSE = 1e-9  # relative distance at which one width counts as a multiple of another: 0.3 of 0.1


@dataclass(frozen=True, slots=True, repr=False)
class IntervalHierarchy(Hierarchy):
    """Intervals of one width a level, the lower bound included; see `Hierarchy.intervals`.

    Labels are ``[20, 24]`` where values, widths and ends are whole numbers, else ``[20, 25)``.
    """

    widths: tuple[float, ...]
    start: float
    bottom: float | None = None
    top: float | None = None

    _misfit = "not finite numbers"
    _remedy = "Clean the column, or make them null"

    @classmethod
    def of(
        cls, widths: Sequence[float], start: float, bottom: float | None, top: float | None
    ) -> IntervalHierarchy:
        """Return the hierarchy, or refuse widths that do not nest."""
        if not _is_list(widths) or not all(is_number(width) and width > 0 for width in widths):
            raise HierarchyError(
                "'widths' of an interval hierarchy must be a list of numbers above 0", hint="Such as [5, 10]."
            )
        if not is_number(start):
            raise HierarchyError("'start' of an interval hierarchy must be a number")
        if not all(end is None or is_number(end) for end in (bottom, top)):
            raise HierarchyError("'bottom' and 'top' of an interval hierarchy must be numbers")
        if bottom is not None and top is not None and bottom >= top:
            raise HierarchyError("'bottom' of an interval hierarchy must be below 'top'")
        for below, width in pairwise(widths):
            if round(width / below) < 2 or not _whole(width / below):
                raise HierarchyError(
                    f"interval width {width:g} is no multiple of {below:g}, the one before",
                    hint="Every interval must lie inside one of the next level: such as [5, 10, 20].",
                )
        ends = [None if end is None else plain_number(end) for end in (bottom, top)]
        return cls(tuple(plain_number(width) for width in widths), plain_number(start), *ends)

    def _levels(self, values: pa.Array) -> tuple[list[Level], NDArray[np.int64]]:
        found, known = numbers(values)
        order, leaf_of = ascending_leaves(found, known)
        ascending = found[order]
        levels = [leaf_level(texts(values).take(pa.array(order)))]
        ends = [end for end in (self.start, self.bottom, self.top) if end is not None]
        whole = all_whole(ascending) and all(isinstance(x, int) for x in (*self.widths, *ends))
        zone = self._zones(ascending)
        index = self._index(ascending)
        for width, below in zip(self.widths, (None, *self.widths), strict=False):
            if below is not None:
                index = index // round(width / below)  # from the finer index, so that levels nest exactly
            starts = np.union1d(run_starts(np.where(zone == 0, index, 0)), run_starts(zone))
            levels.append(Level(starts, self._labels(index[starts], zone[starts], width, whole)))
        return [*levels, root_level()], leaf_of

    def _zones(self, ascending: NDArray[Any]) -> NDArray[np.int64]:
        """Return -1 for what is coded as below the bottom, 1 for what is at the top or above, else 0."""
        zone = np.zeros(len(ascending), dtype=np.int64)
        if self.bottom is not None:
            zone[ascending < self.bottom] = -1
        if self.top is not None:
            zone[ascending >= self.top] = 1
        return zone

    def _index(self, ascending: NDArray[Any]) -> NDArray[Any]:
        """Return the number of the finest interval that each value lies in."""
        width, start = self.widths[0], self.start
        if ascending.dtype == np.int64 and isinstance(width, int) and isinstance(start, int):
            return np.asarray(_shifted(ascending, start) // width)
        quotient = (ascending - float(start)) / width
        nearest = np.rint(quotient)
        # 0.3 / 0.1 is a hair below 3, yet 0.3 belongs to the interval that is labelled as beginning at 0.3.
        rounding = 8 * np.finfo(float).eps * (np.abs(ascending) + abs(start)) / width
        on_bound = np.abs(quotient - nearest) <= rounding
        return np.asarray(np.where(on_bound, nearest, np.floor(quotient)))

    def _labels(self, index: NDArray[Any], zone: NDArray[np.int64], width: float, whole: bool) -> pa.Array:
        # In decimals, as the widths were written: 0.3 - 3 * 0.1 is 0, and no tail of digits is published.
        step, origin = Decimal(repr(width)), Decimal(repr(self.start))
        labels = []
        for i, side in zip(index.tolist(), zone.tolist(), strict=True):
            if side:
                labels.append(f"< {bound_text(self.bottom)}" if side < 0 else f">= {bound_text(self.top)}")
                continue
            low, high = origin + int(i) * step, origin + (int(i) + 1) * step
            # Where values beyond are coded, an interval does not reach there.
            low = low if self.bottom is None else max(low, Decimal(repr(self.bottom)))
            high = high if self.top is None else min(high, Decimal(repr(self.top)))
            labels.append(_interval(low, high, whole))
        return pa.array(labels, type=TEXT)

    def _spec(self, base_path: Path | None) -> dict[str, Any]:
        spec: dict[str, Any] = {"type": "intervals", "widths": list(self.widths), "start": self.start}
        ends = {"bottom": self.bottom, "top": self.top}
        return {**spec, **{name: end for name, end in ends.items() if end is not None}}

    def __repr__(self) -> str:
        given = {
            key: value for key, value in self._spec(None).items() if key not in ("type", "widths") and value
        }
        rest = "".join(f", {name}={value}" for name, value in given.items())
        return f"Hierarchy.intervals(widths={list(self.widths)}{rest})"


@dataclass(frozen=True, slots=True, repr=False)
class QuantileHierarchy(Hierarchy):
    """Groups of equally many distinct values, one number of groups a level; see `Hierarchy.quantiles`.

    A group is labelled by its least and greatest value, ``[21, 34]``.
    """

    groups: tuple[int, ...]

    _misfit = "neither numbers nor of a date type"
    _remedy = "Clean the column, or make them null"

    @classmethod
    def of(cls, groups: Sequence[int]) -> QuantileHierarchy:
        """Return the hierarchy, or refuse numbers of groups that do not nest."""
        good = _is_list(groups) and all(is_number(n) and n > 0 and n == int(n) for n in groups)
        if not good:
            raise HierarchyError(
                "'groups' of a quantile hierarchy must be a list of whole numbers above 0",
                hint="Such as [16, 8, 4].",
            )
        for finer, coarser in pairwise(groups):
            if coarser >= finer or finer % coarser:
                raise HierarchyError(
                    f"{coarser:g} quantile groups do not nest in {finer:g}",
                    hint="Each number of groups must divide the one before: such as [16, 8, 4].",
                )
        return cls(tuple(int(n) for n in groups))

    def _levels(self, values: pa.Array) -> tuple[list[Level], NDArray[np.int64]]:
        if pa.types.is_temporal(values.type):
            ticks = values.cast(pa.int32() if values.type.bit_width == 32 else pa.int64())
            found, known = numbers(ticks)
        else:
            found, known = numbers(values)
        order, leaf_of = ascending_leaves(found, known)
        leaves = texts(values).take(pa.array(order))
        index = np.arange(len(order)) * self.groups[0] // max(len(order), 1)
        levels = [leaf_level(leaves)]
        for count in self.groups:
            starts = run_starts(index * count // self.groups[0])
            levels.append(Level(starts, _range_labels(leaves, starts)))
        return [*levels, root_level()], leaf_of

    def _spec(self, base_path: Path | None) -> dict[str, Any]:
        return {"type": "quantiles", "groups": list(self.groups)}

    def __repr__(self) -> str:
        return f"Hierarchy.quantiles(groups={list(self.groups)})"


def _range_labels(leaves: pa.Array, starts: NDArray[np.int64]) -> pa.Array:
    ends = np.append(starts[1:], len(leaves))[: len(starts)] - 1
    low, high = leaves.take(pa.array(starts)), leaves.take(pa.array(ends))
    joined = pc.binary_join_element_wise(low, high, pa.scalar(", ", TEXT))
    ranges = pc.binary_join_element_wise(
        pa.scalar("[", TEXT), joined, pa.scalar("]", TEXT), pa.scalar("", TEXT)
    )
    return pc.if_else(pa.array(starts == ends), low, ranges)


def ascending_leaves(
    found: NDArray[Any], known: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (indices of the known values, ascending; the leaf of each value, -1 where it is unknown)."""
    candidates = np.flatnonzero(known)
    order = candidates[np.argsort(found[candidates], kind="stable")]
    leaf_of = np.full(len(known), -1, dtype=np.int64)
    leaf_of[order] = np.arange(len(order))
    return order, leaf_of


def _shifted(ascending: NDArray[np.int64], start: int) -> NDArray[Any]:
    """Return the numbers minus `start`, without wrapping around."""
    limits = np.iinfo(np.int64)
    low, high = (int(ascending[0]), int(ascending[-1])) if len(ascending) else (0, 0)
    fits = limits.min <= low - start and high - start <= limits.max and limits.min <= start <= limits.max
    return ascending - start if fits else ascending.astype(object) - start


def all_whole(ascending: NDArray[Any]) -> bool:
    return ascending.dtype == np.int64 or bool((np.floor(ascending) == ascending).all())


def _whole(number: float) -> bool:
    return abs(number - round(number)) <= _CLOSE * max(1.0, abs(number))


def _interval(low: Decimal, high: Decimal, whole: bool) -> str:
    if not whole:
        return f"[{_decimal_text(low)}, {_decimal_text(high)})"
    return str(int(low)) if high == low + 1 else f"[{int(low)}, {int(high) - 1}]"


def bound_text(number: float | None) -> str:
    """Return a bound as it is written in labels: without decimals where it is whole.

    Examples
    --------
    >>> bound_text(18), bound_text(0.1)
    ('18', '0.1')
    """
    return _decimal_text(Decimal(repr(number)))


def _decimal_text(number: Decimal) -> str:
    text = format(number, "f")
    return text.rstrip("0").rstrip(".") if "." in text else text


def _is_list(given: Any) -> bool:
    return isinstance(given, list | tuple | np.ndarray) and len(given) > 0


def is_number(given: Any) -> bool:
    return isinstance(given, Real) and not isinstance(given, bool) and math.isfinite(given)
