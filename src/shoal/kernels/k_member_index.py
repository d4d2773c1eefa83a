"""A tree of boxes over the distinct quasi-identifier rows that still have records, for exact searches.

A record is named by its priority, so the head of a row's queue is both its next record and its tie-breaker.
Boxes shrink as rows run out of records: what is left is always covered as tightly as possible.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .space import LINE, SET, TREE

FLAT = 3  # values without order: a class of several costs everything, however many they are
NULL = -1
NO_RECORD = np.int64(1 << 40)  # priority of what holds no record

_LEAF = 12  # rows of a leaf at most


class Columns(NamedTuple):
    """Geometry of the columns: `Space`, with flat trees told apart from deep ones."""

    kind: NDArray[np.int8]  # [q] LINE, SET, TREE or FLAT
    size: NDArray[np.int64]  # [q] codes without null
    full: NDArray[np.int64]  # [q]
    step: NDArray[np.int64]  # [q] cost of two different values of a SET or FLAT column
    start: NDArray[np.int64]  # [q + 1] where the codes of a column begin in `ClassState.member`
    tree_start: NDArray[np.int64]  # [q]
    node: NDArray[np.int32]
    node_cost: NDArray[np.int32]


class Index(NamedTuple):
    """Rows in the order of the tree, and its nodes; node 0 is the root, children follow their parents."""

    values: NDArray[np.int32]  # [rows, q] position of a LINE column, else the code; NULL
    head: NDArray[np.int64]  # [rows] where the row's next record stands in `queue`
    stop: NDArray[np.int64]  # [rows] where its records end
    leaf: NDArray[np.int32]  # [rows] the node that holds the slot
    queue: NDArray[np.int64]  # [n] records row by row, ascending
    begin: NDArray[np.int32]  # [nodes] first slot
    end: NDArray[np.int32]  # [nodes] behind the last slot that still has records; kept for leaves only
    left: NDArray[np.int32]  # [nodes] first child, -1 for a leaf
    right: NDArray[np.int32]  # [nodes]
    parent: NDArray[np.int32]  # [nodes] -1 for the root
    low: NDArray[np.int64]  # [nodes, q] least value; for SET and FLAT a bit for every code modulo 64
    high: NDArray[np.int64]  # [nodes, q] greatest value; below `low` where there is none
    nulls: NDArray[np.int8]  # [nodes, q] 0 none, 1 some, 2 nothing else
    least: NDArray[np.int64]  # [nodes] least record


@njit(cache=True)
def _spread(columns: Columns, j: int, low: int, high: int) -> int:
    """Return how much loss of the column a cut between these values could avoid; null is the least value."""
    if low == high:
        return 0
    if low == NULL:
        return columns.full[j]
    kind = columns.kind[j]
    if kind == LINE:
        return high - low
    if kind != TREE:
        return columns.step[j]
    at = columns.tree_start[j]
    while columns.node[at + low] != columns.node[at + high]:
        at += columns.size[j]
    return columns.node_cost[at + low]


@njit(cache=True)
def _middle_boundary(keys: NDArray[np.int64]) -> int:
    """Return the change of value nearest to the middle, 0 when there is none in the inner three quarters."""
    m = len(keys)
    for away in range(m // 2 - m // 8):
        for at in (m // 2 - away, m // 2 + away):
            if 0 < at < m and keys[at] >> 32 != keys[at - 1] >> 32:
                return at
    return 0


@njit(cache=True)
def _split(values: NDArray[np.int32], order: NDArray[np.int64], columns: Columns) -> int:
    """Sort the rows of a node along its widest column that can be cut near the middle; return the cut."""
    m, q = len(order), values.shape[1]
    spread = np.empty(q, np.int64)
    for j in range(q):
        low = values[order[0], j]
        high = low
        for i in range(1, m):
            low = min(low, values[order[i], j])
            high = max(high, values[order[i], j])
        spread[j] = _spread(columns, j, low, high)
    keys = np.empty(m, np.int64)
    for _attempt in range(q):
        j = np.argmax(spread)
        if spread[j] == 0:
            break
        spread[j] = 0
        for i in range(m):
            keys[i] = (np.int64(values[order[i], j]) + 1) << 32 | order[i]
        keys.sort()
        at = _middle_boundary(keys)
        if at > 0:
            for i in range(m):
                order[i] = keys[i] & 0xFFFFFFFF
            return at
    return m // 2


@njit(cache=True)
def build_tree(
    values: NDArray[np.int32], columns: Columns
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Return the order of the rows, and per node (begin, end, left, right, parent) and per slot its leaf."""
    rows = len(values)
    order = np.arange(rows)
    nodes = np.full((5, rows + 1), -1, np.int32)
    begin, end, left, right, parent = nodes
    leaf = np.empty(rows, np.int32)
    begin[0], end[0] = 0, rows
    made = 1
    node = 0
    while node < made:
        first, last = begin[node], end[node]
        if last - first <= _LEAF:
            for slot in range(first, last):
                leaf[slot] = node
        else:
            at = first + _split(values, order[first:last], columns)
            left[node], right[node] = made, made + 1
            begin[made], end[made] = first, at
            begin[made + 1], end[made + 1] = at, last
            parent[made] = node
            parent[made + 1] = node
            made += 2
        node += 1
    return order, nodes[:, :made].copy(), leaf


@njit(cache=True)
def _measure_leaf(index: Index, columns: Columns, node: int) -> None:
    """Recompute the box of a leaf from its rows."""
    begin, end = index.begin[node], index.end[node]
    index.least[node] = NO_RECORD
    for slot in range(begin, end):
        index.least[node] = min(index.least[node], index.queue[index.head[slot]])
    for j in range(len(columns.kind)):
        nulls = 0
        low, high = np.int64(1) << 40, np.int64(-1)
        mask = np.int64(0)
        for slot in range(begin, end):
            value = np.int64(index.values[slot, j])
            if value == NULL:
                nulls += 1
            else:
                low = min(low, value)
                high = max(high, value)
                mask |= np.int64(1) << (value & 63)
        flat = columns.kind[j] == SET or columns.kind[j] == FLAT
        index.low[node, j] = mask if flat else low
        index.high[node, j] = high
        index.nulls[node, j] = 0 if nulls == 0 else 2 if nulls == end - begin else 1


@njit(cache=True)
def _measure_parent(index: Index, columns: Columns, node: int) -> bool:
    """Recompute the box of an inner node from its children; return whether it changed."""
    one, two = index.left[node], index.right[node]
    if index.least[one] == NO_RECORD:
        one = two
    elif index.least[two] == NO_RECORD:
        two = one
    changed = False
    least = min(index.least[one], index.least[two])
    if least != index.least[node]:
        index.least[node] = least
        changed = True
    for j in range(len(columns.kind)):
        if columns.kind[j] == SET or columns.kind[j] == FLAT:
            low = index.low[one, j] | index.low[two, j]
        else:
            low = np.int64(min(index.low[one, j], index.low[two, j]))
        high = max(index.high[one, j], index.high[two, j])
        nulls = index.nulls[one, j] if index.nulls[one, j] == index.nulls[two, j] else np.int8(1)
        if low != index.low[node, j] or high != index.high[node, j] or nulls != index.nulls[node, j]:
            index.low[node, j] = low
            index.high[node, j] = high
            index.nulls[node, j] = nulls
            changed = True
    return changed


@njit(cache=True)
def measure_all(index: Index, columns: Columns) -> None:
    """Compute all boxes, children before parents."""
    for node in range(len(index.left) - 1, -1, -1):
        if index.left[node] < 0:
            _measure_leaf(index, columns, node)
        else:
            _measure_parent(index, columns, node)


@njit(cache=True)
def take(index: Index, columns: Columns, slot: int) -> int:
    """Take the next record of a row out of the tree and return it."""
    node = index.leaf[slot]
    record = index.queue[index.head[slot]]
    index.head[slot] += 1
    if index.head[slot] == index.stop[slot]:
        index.end[node] -= 1
        last = index.end[node]
        for j in range(len(columns.kind)):
            index.values[slot, j] = index.values[last, j]
        index.head[slot] = index.head[last]
        index.stop[slot] = index.stop[last]
    elif record != index.least[node]:
        return record
    _measure_leaf(index, columns, node)
    node = index.parent[node]
    while node >= 0 and _measure_parent(index, columns, node):
        node = index.parent[node]
    return record
