"""Which distinct rows are nearest to each other: a bounded search on the tree of boxes."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .k_member_index import NULL, Columns, Index
from .space import LINE, TREE

_FAR = np.int64(1) << 62


@njit(cache=True)
def pair_cost(columns: Columns, a: NDArray[np.int32], b: NDArray[np.int32]) -> int:
    """Return the cost of a class of two rows."""
    total = np.int64(0)
    for j in range(len(a)):
        one, two = a[j], b[j]
        if one == two and columns.kind[j] != TREE:
            continue
        if one == NULL or two == NULL:
            total += columns.full[j] if one != two else 0
        elif columns.kind[j] == LINE:
            total += abs(np.int64(one) - two)
        elif columns.kind[j] == TREE:
            low, high = min(one, two), max(one, two)
            at = columns.tree_start[j]
            while columns.node[at + low] != columns.node[at + high]:
                at += columns.size[j]
            total += columns.node_cost[at + low]
        else:
            total += columns.step[j]
    return total


@njit(cache=True)
def _bound(index: Index, columns: Columns, node: int, row: NDArray[np.int32]) -> int:
    """Return what a class of this row and any of a box costs at least."""
    total = np.int64(0)
    for j in range(len(row)):
        value = np.int64(row[j])
        if value == NULL:
            total += columns.full[j] if index.nulls[node, j] == 0 else 0
            continue
        if index.nulls[node, j] == 2:
            total += columns.full[j]
            continue
        kind = columns.kind[j]
        low, high = index.low[node, j], index.high[node, j]
        if kind != LINE and kind != TREE:
            total += 0 if low & (np.int64(1) << (value & 63)) else columns.step[j]
        elif kind == LINE:
            total += max(low - value, value - high, 0)
        else:
            one, two = min(value, high), max(value, low)
            at = columns.tree_start[j]
            while columns.node[at + one] != columns.node[at + two]:
                at += columns.size[j]
            total += columns.node_cost[at + one]
    return total


@njit(cache=True)
def _search(
    index: Index, columns: Columns, slot: int, found: NDArray[np.int32], best: NDArray[np.int64], leaves: int
) -> None:
    """Fill `found` with the slots nearest to one, itself first; at most so many leaves are looked at."""
    row = index.values[slot]
    wanted, have = len(found), 0
    stack = np.empty(256, np.int32)
    bound = np.empty(256, np.int64)
    stack[0], bound[0] = 0, 0
    waiting = 1
    while waiting > 0 and leaves > 0:
        waiting -= 1
        node = stack[waiting]
        if have == wanted and bound[waiting] >= best[have - 1]:
            continue
        if index.left[node] >= 0:
            one, two = index.left[node], index.right[node]
            a, b = _bound(index, columns, one, row), _bound(index, columns, two, row)
            if a < b or (a == b and index.begin[one] <= slot < index.end[one]):
                one, two, a, b = two, one, b, a
            if waiting < 254:
                stack[waiting], bound[waiting] = one, a
                stack[waiting + 1], bound[waiting + 1] = two, b
                waiting += 2
            continue
        leaves -= 1
        for other in range(index.begin[node], index.end[node]):
            cost = np.int64(-1) if other == slot else pair_cost(columns, row, index.values[other])
            if have == wanted and cost >= best[have - 1]:
                continue
            at = min(have, wanted - 1)
            while at > 0 and best[at - 1] > cost:
                best[at], found[at] = best[at - 1], found[at - 1]
                at -= 1
            best[at], found[at] = cost, other
            have = min(have + 1, wanted)
    for at in range(have, wanted):
        found[at] = slot


@njit(cache=True)
def nearest_rows(index: Index, columns: Columns, wanted: int, leaves: int) -> NDArray[np.int32]:
    """Return, for every slot, the slots nearest to it, itself first and repeated where there are too few."""
    found = np.empty((len(index.values), wanted), np.int32)
    best = np.empty(wanted, np.int64)
    for slot in range(len(found)):
        _search(index, columns, slot, found[slot], best, leaves)
    return found


@njit(cache=True, parallel=True)
def nearest_rows_parallel(index: Index, columns: Columns, wanted: int, leaves: int) -> NDArray[np.int32]:
    """Do what `nearest_rows` does, in several threads."""
    found = np.empty((len(index.values), wanted), np.int32)
    for slot in prange(len(found)):
        _search(index, columns, slot, found[slot], np.empty(wanted, np.int64), leaves)
    return found
