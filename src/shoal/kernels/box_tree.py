"""A tree of boxes over the distinct rows of a mixed table, and the rows that lie nearest to one of them.

Every inner node is cut at a value of one column, numbers and codes alike. A search visits the most promising
box first, so that it may stop early: what no box still waiting undercuts is a lower bound all the same.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .gauge import Gauge, box_cost, costs_to, pair_cost

LEAF = 16  # rows in a leaf, unless they cannot be told apart
_LOOK = 64  # rows looked at to choose a cut


class BoxTree(NamedTuple):
    """The tree; rows are in the order of the tree, a node holds those from `begin` to `end`."""

    values: NDArray[np.float64]  # [q, rows]
    weight: NDArray[np.int64]  # [rows] records with these values
    row: NDArray[np.int64]  # [rows] the caller's number of each
    begin: NDArray[np.int64]  # [nodes]
    end: NDArray[np.int64]
    child: NDArray[np.int64]  # [nodes] the first of two children, which follow one another; 0 for a leaf
    low: NDArray[np.float64]  # [nodes, q] box around the rows
    high: NDArray[np.float64]


@njit(cache=True)
def _cut(
    gauge: Gauge, values: NDArray[np.float64], rows: NDArray[np.int64], begin: int, end: int
) -> tuple[int, float]:
    """Return the column and the least value of its upper part that cut these rows best, -1 for none."""
    count = min(end - begin, _LOOK)
    seen = np.empty(count)
    best, column, value = 0.0, -1, 0.0
    for j in range(len(values)):
        for i in range(count):
            seen[i] = values[j, rows[begin + i * (end - begin) // count]]
        seen.sort()
        spread = pair_cost(gauge, j, seen[0], seen[count - 1])
        if spread <= best or seen[0] == seen[count - 1]:
            continue
        at = count // 2
        above = at
        while above < count and seen[above] == seen[at]:
            above += 1
        while at > 0 and seen[at - 1] == seen[at]:
            at -= 1
        if at == 0 or (above < count and above - count // 2 < count // 2 - at):
            at = above
        gain = spread * min(at, count - at) / count
        if gain > best:
            best, column, value = gain, j, seen[at]
    return column, value


@njit(cache=True)
def _divide(row: NDArray[np.float64], rows: NDArray[np.int64], begin: int, end: int, value: float) -> int:
    """Permute the rows so that those below `value` come first; return where the others begin."""
    left, right = begin, end - 1
    while left <= right:
        if row[rows[left]] < value:
            left += 1
        else:
            rows[left], rows[right] = rows[right], rows[left]
            right -= 1
    return left


@njit(cache=True)
def make_boxes(gauge: Gauge, values: NDArray[np.float64], weight: NDArray[np.int64]) -> BoxTree:
    """Return the tree over these rows."""
    q, n = values.shape
    rows = np.arange(n)
    room = max(2 * n, 1)
    begin, end = np.zeros(room, np.int64), np.zeros(room, np.int64)
    child = np.zeros(room, np.int64)
    end[0] = n
    nodes, node = 1, 0
    while node < nodes:
        first, last = begin[node], end[node]
        if last - first > LEAF:
            column, value = _cut(gauge, values, rows, first, last)
            if column >= 0:
                middle = _divide(values[column], rows, first, last, value)
                child[node] = nodes
                begin[nodes], end[nodes] = first, middle
                begin[nodes + 1], end[nodes + 1] = middle, last
                nodes += 2
        node += 1
    ordered, heavy = np.empty((q, n)), np.empty(n, np.int64)
    for i in range(n):
        heavy[i] = weight[rows[i]]
    for j in range(q):
        for i in range(n):
            ordered[j, i] = values[j, rows[i]]
    low, high = np.empty((nodes, q)), np.empty((nodes, q))
    for at in range(nodes - 1, -1, -1):
        for j in range(q):
            if child[at] > 0:
                low[at, j] = min(low[child[at], j], low[child[at] + 1, j])
                high[at, j] = max(high[child[at], j], high[child[at] + 1, j])
            else:
                low[at, j] = ordered[j, begin[at] : end[at]].min()
                high[at, j] = ordered[j, begin[at] : end[at]].max()
    return BoxTree(
        ordered, heavy, rows, begin[:nodes].copy(), end[:nodes].copy(), child[:nodes].copy(), low, high
    )


@njit(cache=True)
def _push(heap: NDArray[np.float64], nodes: NDArray[np.int64], size: int, cost: float, node: int) -> None:
    """Put a node into a heap of `size` nodes, the cheapest on top."""
    at = size
    while at > 0 and heap[(at - 1) // 2] > cost:
        above = (at - 1) // 2
        heap[at], nodes[at] = heap[above], nodes[above]
        at = above
    heap[at], nodes[at] = cost, node


@njit(cache=True)
def _pop(heap: NDArray[np.float64], nodes: NDArray[np.int64], size: int) -> None:
    """Take the cheapest node out of a heap of `size` nodes."""
    cost, node = heap[size - 1], nodes[size - 1]
    at = 0
    while True:
        below = 2 * at + 1
        if below >= size - 1:
            break
        if below + 1 < size - 1 and heap[below + 1] < heap[below]:
            below += 1
        if heap[below] >= cost:
            break
        heap[at], nodes[at] = heap[below], nodes[below]
        at = below
    heap[at], nodes[at] = cost, node


class Walk(NamedTuple):
    """Room for one search at a time; `rows` and `costs` hold what it has seen, in no order."""

    rows: NDArray[np.int64]
    costs: NDArray[np.float64]
    heap: NDArray[np.float64]  # what each box that waits costs at least, the cheapest first
    nodes: NDArray[np.int64]  # which box that is
    scan: NDArray[np.float64]
    query: NDArray[np.float64]


@njit(cache=True)
def make_walk(tree: BoxTree, patience: int) -> Walk:
    """Return room for searches that visit at most `patience` boxes each."""
    n, longest = len(tree.weight), LEAF
    for node in range(len(tree.child)):
        if tree.child[node] == 0:
            longest = max(longest, tree.end[node] - tree.begin[node])
    room = min(n, patience * LEAF + longest)
    boxes = min(len(tree.child), 2 * patience) + 4
    return Walk(
        np.empty(room, np.int64),
        np.empty(room),
        np.empty(boxes),
        np.empty(boxes, np.int64),
        np.empty(longest),
        np.empty(len(tree.values)),
    )


@njit(cache=True)
def begin_walk(gauge: Gauge, tree: BoxTree, i: int, walk: Walk) -> None:
    """Prepare a search for the neighbours of row `i`: only the box of all rows waits."""
    for j in range(len(tree.values)):
        walk.query[j] = tree.values[j, i]
    walk.heap[0], walk.nodes[0] = 0.0, 0


@njit(cache=True)
def visit(gauge: Gauge, tree: BoxTree, walk: Walk, seen: int, waiting: int, radius: float) -> tuple[int, int]:
    """Open the most promising box; return how many rows were seen and how many boxes wait now.

    Rows that cost `radius` or more are left out, and boxes as well.
    """
    node = walk.nodes[0]
    _pop(walk.heap, walk.nodes, waiting)
    waiting -= 1
    if tree.child[node] > 0:
        for below in range(tree.child[node], tree.child[node] + 2):
            cost = box_cost(gauge, walk.query, tree.low[below], tree.high[below])
            if cost < radius:
                _push(walk.heap, walk.nodes, waiting, cost, below)
                waiting += 1
        return seen, waiting
    first, last = tree.begin[node], tree.end[node]
    costs_to(gauge, tree.values, first, last, walk.query, walk.scan)
    for at in range(first, last):
        if walk.scan[at - first] < radius:
            walk.rows[seen], walk.costs[seen] = at, walk.scan[at - first]
            seen += 1
    return seen, waiting
