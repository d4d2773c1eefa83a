"""What it would cost to merge a class with every other: the scan behind `enforce`.

The scan runs column by column over one contiguous row of extents, and its inner loops take plain arrays:
passing named tuples into a function per class would cost more than the work itself.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .space import LINE, SET, Space, tree_cost

Array = NDArray[Any]
WORD = 64


class Hull(NamedTuple):
    """Extent of every class, kept up to date while classes merge. Column c is class c."""

    size: NDArray[np.int64]  # [g] records; 0 once merged away
    cost: NDArray[np.int64]  # [g] cost per record, summed over columns
    low: NDArray[np.int32]  # [q, g] extreme codes of the records that are not null; (size, -1) without any
    high: NDArray[np.int32]
    nulls: NDArray[np.int64]  # [q, g]
    bits: NDArray[np.uint64]  # [words, g] which values of the SET columns occur
    word: NDArray[np.int64]  # [q + 1] where column j's words begin


@njit(cache=True)
def _count_bits(word: int) -> int:
    """Return the number of ones, by adding up ever wider fields of the word."""
    word -= (word >> np.uint64(1)) & np.uint64(0x5555555555555555)
    pairs = np.uint64(0x3333333333333333)
    word = (word & pairs) + ((word >> np.uint64(2)) & pairs)
    word = (word + (word >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((word * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def _add_lines(total: Array, low: Array, high: Array, a: int, position: Array) -> None:
    """Add the range of every union; one that is null throughout has none."""
    for b in range(len(total)):
        first, last = min(low[a], low[b]), max(high[a], high[b])
        if last >= 0:
            total[b] += position[last] - position[first]


@njit(cache=True)
def _add_sets(total: Array, bits: Array, a: int, full: int, others: int) -> None:
    """Add the cost of the value set of every union."""
    for b in range(len(total)):
        distinct = 0
        for w in range(len(bits)):
            distinct += _count_bits(bits[w, a] | bits[w, b])
        if distinct > 1:
            total[b] += (distinct - 1) * full // others


@njit(cache=True)
def _add_trees(total: Array, low: Array, high: Array, a: int, node: Array, cost: Array) -> None:
    """Add the cost of the lowest common ancestor of every union; `node` is [level, code], as is `cost`."""
    for b in range(len(total)):
        first, last = min(low[a], low[b]), max(high[a], high[b])
        if last < 0:
            continue
        for level in range(len(node)):
            if node[level, first] == node[level, last]:
                total[b] += cost[level, first]
                break


@njit(cache=True)
def _settle_nulls(total: Array, before: Array, nulls: Array, size: Array, a: int, full: int) -> None:
    """Charge the whole cell where the union mixes null with values, nothing where it is null throughout."""
    for b in range(len(total)):
        together = nulls[a] + nulls[b]
        if together > 0:
            total[b] = before[b] if together == size[a] + size[b] else before[b] + full


@njit(cache=True)
def union_costs(space: Space, hull: Hull, a: int) -> NDArray[np.int64]:
    """Return the cost per record of the union of class `a` with every class."""
    classes = len(hull.size)
    total = np.zeros(classes, dtype=np.int64)
    for j in range(len(space.size)):
        size, full, start = space.size[j], np.int64(space.full[j]), space.start[j]
        before = total.copy()
        if space.geometry[j] == LINE:
            position = space.position[start : start + size + 1]
            _add_lines(total, hull.low[j], hull.high[j], a, position)
        elif space.geometry[j] == SET:
            words = hull.bits[hull.word[j] : hull.word[j + 1]]
            _add_sets(total, words, a, full, max(size - 1, 1))
        else:
            cells = slice(space.tree_start[j], space.tree_start[j] + space.levels[j] * size)
            node = space.node[cells].reshape((space.levels[j], size))
            cost = space.node_cost[cells].reshape((space.levels[j], size))
            _add_trees(total, hull.low[j], hull.high[j], a, node, cost)
        _settle_nulls(total, before, hull.nulls[j], hull.size, a, full)
    return total


@njit(cache=True)
def cheapest_unions(
    space: Space, hull: Hull, a: int, few: int
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the `few` classes that class `a` could join at least cost, cheapest first, and the costs.

    The cost is how much the total grows. Ties go to the lower class; fewer come back when fewer are left.
    """
    found = np.full(few, -1, dtype=np.int64)
    increases = np.full(few, np.iinfo(np.int64).max, dtype=np.int64)
    costs = union_costs(space, hull, a)
    size, cost = hull.size, hull.cost
    for b in range(len(size)):
        if b != a and size[b] > 0:
            increase = (size[a] + size[b]) * costs[b] - size[a] * cost[a] - size[b] * cost[b]
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
def class_cost(space: Space, hull: Hull, c: int) -> int:
    """Return the cost per record of one class."""
    cost = 0
    for j in range(len(space.size)):
        if hull.nulls[j, c] == hull.size[c]:
            continue
        if hull.nulls[j, c] > 0:
            cost += space.full[j]
        elif space.geometry[j] == LINE:
            at = space.start[j]
            cost += space.position[at + hull.high[j, c]] - space.position[at + hull.low[j, c]]
        elif space.geometry[j] == SET:
            distinct = 0
            for w in range(hull.word[j], hull.word[j + 1]):
                distinct += _count_bits(hull.bits[w, c])
            cost += (distinct - 1) * np.int64(space.full[j]) // max(space.size[j] - 1, 1)
        else:
            cost += tree_cost(space, j, hull.low[j, c], hull.high[j, c])
    return cost


@njit(cache=True)
def absorb(space: Space, hull: Hull, a: int, b: int) -> None:
    """Merge class `b` into class `a`."""
    for j in range(len(space.size)):
        hull.low[j, a] = min(hull.low[j, a], hull.low[j, b])
        hull.high[j, a] = max(hull.high[j, a], hull.high[j, b])
        hull.nulls[j, a] += hull.nulls[j, b]
    hull.bits[:, a] |= hull.bits[:, b]
    hull.size[a] += hull.size[b]
    hull.size[b] = 0
    hull.cost[a] = class_cost(space, hull, a)


@njit(cache=True)
def make_hull(
    space: Space, codes: NDArray[np.int32], order: NDArray[np.int32], offsets: NDArray[np.int64]
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
        np.zeros((columns, classes), dtype=np.int32),
        np.full((columns, classes), -1, dtype=np.int32),
        np.zeros((columns, classes), dtype=np.int64),
        np.zeros((word[columns], classes), dtype=np.uint64),
        word,
    )
    for j in range(columns):
        hull.low[j] = space.size[j]
        for c in range(classes):
            for at in range(offsets[c], offsets[c + 1]):
                _extend(space, hull, j, c, codes[j, order[at]])
    for c in range(classes):
        hull.cost[c] = class_cost(space, hull, c)
    return hull


@njit(cache=True)
def _extend(space: Space, hull: Hull, j: int, c: int, code: int) -> None:
    """Add one cell to a class."""
    if code == space.size[j]:
        hull.nulls[j, c] += 1
        return
    hull.low[j, c] = min(hull.low[j, c], code)
    hull.high[j, c] = max(hull.high[j, c], code)
    if space.geometry[j] == SET:
        hull.bits[hull.word[j] + code // WORD, c] |= np.uint64(1) << np.uint64(code % WORD)
