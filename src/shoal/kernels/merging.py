"""What it would cost to merge a class with every other: the scan behind `enforce`."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .space import LINE, SET, Space, tree_cost

WORD = 64


class Hull(NamedTuple):
    """Extent of every class, kept up to date while classes merge. Row c is class c."""

    size: NDArray[np.int64]  # [g] records; 0 once merged away
    cost: NDArray[np.int64]  # [g] cost per record, summed over columns
    low: NDArray[np.int32]  # [g, q] extreme codes of the records that are not null
    high: NDArray[np.int32]
    nulls: NDArray[np.int64]  # [g, q]
    bits: NDArray[np.uint64]  # [g, words] which values of the SET columns occur
    word: NDArray[np.int64]  # [q + 1] where column j's words begin


@njit(cache=True)
def _count_bits(word: int) -> int:
    count = 0
    while word != 0:
        word &= word - np.uint64(1)
        count += 1
    return count


@njit(cache=True)
def _union_spread(space: Space, hull: Hull, j: int, a: int, b: int) -> int:
    """Return the cost per record of column `j` in the union of classes `a` and `b`."""
    nulls = hull.nulls[a, j] + hull.nulls[b, j]
    if nulls == hull.size[a] + hull.size[b]:
        return 0
    if nulls > 0:
        return space.full[j]
    low = min(hull.low[a, j], hull.low[b, j])
    high = max(hull.high[a, j], hull.high[b, j])
    if space.geometry[j] == LINE:
        return space.position[space.start[j] + high] - space.position[space.start[j] + low]
    if space.geometry[j] == SET:
        distinct = 0
        for w in range(hull.word[j], hull.word[j + 1]):
            distinct += _count_bits(hull.bits[a, w] | hull.bits[b, w])
        return (distinct - 1) * np.int64(space.full[j]) // max(space.size[j] - 1, 1)
    return tree_cost(space, j, low, high)


@njit(cache=True)
def union_cost(space: Space, hull: Hull, a: int, b: int) -> int:
    """Return the cost per record of the union of two classes."""
    cost = 0
    for j in range(len(space.size)):
        cost += _union_spread(space, hull, j, a, b)
    return cost


@njit(cache=True)
def cheapest_unions(
    space: Space, hull: Hull, a: int, few: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the `few` classes that class `a` could join at least cost, cheapest first, and the costs.

    The cost is how much the total grows. Ties go to the lower class; fewer come back when fewer are left.
    Most classes are given up after a column or two, as soon as they cannot be among the cheapest any more.
    """
    found = np.full(few, -1, dtype=np.int64)
    increases = np.full(few, np.iinfo(np.int64).max, dtype=np.int64)
    own = hull.size[a] * hull.cost[a]
    for b in range(len(hull.size)):
        if b == a or hull.size[b] == 0:
            continue
        before = own + hull.size[b] * hull.cost[b]
        together = hull.size[a] + hull.size[b]
        increase = -before
        for j in range(len(space.size)):
            increase += together * _union_spread(space, hull, j, a, b)
            if increase >= increases[few - 1]:
                break
        if increase < increases[few - 1]:
            _insert(found, increases, b, increase)
    left = int((found >= 0).sum())
    return found[:left], increases[:left]


@njit(cache=True)
def _insert(found: NDArray[np.int64], increases: NDArray[np.int64], b: int, increase: int) -> None:
    """Put a class into the list of the cheapest, whose last one it displaces."""
    at = len(found) - 1
    while at > 0 and increases[at - 1] > increase:
        found[at], increases[at] = found[at - 1], increases[at - 1]
        at -= 1
    found[at], increases[at] = b, increase


@njit(cache=True)
def absorb(space: Space, hull: Hull, a: int, b: int) -> None:
    """Merge class `b` into class `a`."""
    hull.cost[a] = union_cost(space, hull, a, b)
    for j in range(len(space.size)):
        # A class of nulls alone carries the neutral extremes (size, -1), which min and max pass over.
        hull.low[a, j] = min(hull.low[a, j], hull.low[b, j])
        hull.high[a, j] = max(hull.high[a, j], hull.high[b, j])
        hull.nulls[a, j] += hull.nulls[b, j]
    hull.bits[a] |= hull.bits[b]
    hull.size[a] += hull.size[b]
    hull.size[b] = 0


@njit(cache=True)
def make_hull(
    space: Space, codes: NDArray[np.int32], order: NDArray[np.int64], offsets: NDArray[np.int64]
) -> Hull:
    """Return the extents of all classes; `codes` is int32[q, n]."""
    columns, classes = len(codes), len(offsets) - 1
    word = np.zeros(columns + 1, dtype=np.int64)
    for j in range(columns):
        words = (space.size[j] + WORD - 1) // WORD if space.geometry[j] == SET else 0
        word[j + 1] = word[j] + words
    hull = Hull(
        offsets[1:] - offsets[:-1],
        np.zeros(classes, dtype=np.int64),
        np.zeros((classes, columns), dtype=np.int32),
        np.full((classes, columns), -1, dtype=np.int32),
        np.zeros((classes, columns), dtype=np.int64),
        np.zeros((classes, word[columns]), dtype=np.uint64),
        word,
    )
    for c in range(classes):
        hull.low[c] = space.size
        for at in range(offsets[c], offsets[c + 1]):
            _extend(space, hull, codes, order[at], c)
        hull.cost[c] = union_cost(space, hull, c, c)
    return hull


@njit(cache=True)
def _extend(space: Space, hull: Hull, codes: NDArray[np.int32], record: int, c: int) -> None:
    for j in range(len(codes)):
        code = codes[j, record]
        if code == space.size[j]:
            hull.nulls[c, j] += 1
            continue
        hull.low[c, j] = min(hull.low[c, j], code)
        hull.high[c, j] = max(hull.high[c, j], code)
        if space.geometry[j] == SET:
            hull.bits[c, hull.word[j] + code // WORD] |= np.uint64(1) << np.uint64(code % WORD)
