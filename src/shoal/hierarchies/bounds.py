"""Intervals by hand: bounds for each level, coded or repeated beyond their ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import HierarchyError
from .base import Hierarchy
from .levels import TEXT, Level, leaf_level, root_level, run_starts
from .numeric import all_whole, ascending_leaves, bound_text, is_number
from .texts import numbers, plain_number, texts


@dataclass(frozen=True, slots=True, repr=False)
class BoundsHierarchy(Hierarchy):
    """Intervals between given bounds, the lower one included; see `Hierarchy.bounds`."""

    levels: tuple[tuple[float, ...], ...]
    repeat: bool

    _misfit = "not finite numbers"
    _remedy = "Clean the column, or make them null"

    @classmethod
    def of(cls, levels: Sequence[Any], repeat: bool) -> BoundsHierarchy:
        """Return the hierarchy, or refuse bounds that do not ascend or do not nest."""
        given = levels if isinstance(levels, list | tuple) else []
        lists = [given] if given and all(map(is_number, given)) else list(given)
        if not lists or not all(isinstance(row, list | tuple) and _ascends(row, 1 + repeat) for row in lists):
            raise HierarchyError(
                "'levels' of a bounds hierarchy must be ascending numbers, or a list of such lists",
                hint="Such as [18, 30, 45, 65], or [[18, 30, 45, 65], [18, 65]].",
            )
        for finer, coarser in pairwise(lists):
            if not set(coarser) < set(finer) or (
                repeat and (coarser[0], coarser[-1]) != (finer[0], finer[-1])
            ):
                raise HierarchyError(
                    "the bounds of a level must be some of those of the level before"
                    + (", its first and last among them" if repeat else ""),
                    hint="Such as [[0, 10, 20, 40], [0, 20, 40]].",
                )
        if not isinstance(repeat, bool):
            raise HierarchyError("'repeat' of a bounds hierarchy must be true or false")
        return cls(tuple(tuple(map(plain_number, row)) for row in lists), repeat)

    def _levels(self, values: pa.Array) -> tuple[list[Level], NDArray[np.int64]]:
        found, known = numbers(values)
        order, leaf_of = ascending_leaves(found, known)
        ascending = found[order]
        levels = [leaf_level(texts(values).take(pa.array(order)))]
        whole = all_whole(ascending) and all(isinstance(bound, int) for bound in self.levels[0])
        for bounds in self.levels:
            turn, place = self._places(ascending, bounds)
            starts = run_starts(turn * (len(bounds) + 1) + place)
            labels = [
                _label(bounds, int(turn[i]) * plain_number(bounds[-1] - bounds[0]), int(place[i]), whole)
                for i in starts
            ]
            levels.append(Level(starts, pa.array(labels, type=TEXT)))
        return [*levels, root_level()], leaf_of

    def _places(
        self, ascending: NDArray[Any], bounds: tuple[float, ...]
    ) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (how often the bounds were repeated to reach each number, the interval it lies in then)."""
        turn = np.zeros(len(ascending), dtype=np.int64)
        if self.repeat:
            turn = np.floor_divide(ascending - bounds[0], bounds[-1] - bounds[0]).astype(np.int64)
            ascending = ascending - turn * (bounds[-1] - bounds[0])
        return turn, np.searchsorted(np.array(bounds), ascending, side="right").astype(np.int64)

    def _spec(self, base_path: Path | None) -> dict[str, Any]:
        spec: dict[str, Any] = {"type": "bounds", "levels": [list(bounds) for bounds in self.levels]}
        return {**spec, "repeat": True} if self.repeat else spec

    def __repr__(self) -> str:
        repeat = ", repeat=True" if self.repeat else ""
        return f"Hierarchy.bounds({[list(bounds) for bounds in self.levels]}{repeat})"


def _ascends(row: Sequence[Any], least: int) -> bool:
    return len(row) >= least and all(map(is_number, row)) and all(a < b for a, b in pairwise(row))


def _label(bounds: tuple[float, ...], shift: float, place: int, whole: bool) -> str:
    if place == 0:
        return f"< {bound_text(bounds[0])}"
    if place == len(bounds):
        return f">= {bound_text(bounds[-1])}"
    low, high = plain_number(bounds[place - 1] + shift), plain_number(bounds[place] + shift)
    if not whole:
        return f"[{bound_text(low)}, {bound_text(high)})"
    return str(low) if high == low + 1 else f"[{low}, {high - 1}]"
