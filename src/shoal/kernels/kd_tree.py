"""A k-d tree over points that shrinks as records are taken out: nearest and farthest remaining record.

The tree is balanced and implicit: the children of node i are 2i + 1 and 2i + 2. Every node knows the box
around its remaining records and the lowest of them, so that a branch is passed over exactly when nothing in
it could win, ties included: the answers are those of a scan over all remaining records in order. Memory is
linear.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .grid import distances_to, insert_nearest

LEAF = 32  # records in a leaf, at most: one vectorised scan
_STACK = 128  # more than twice the levels of any tree that fits into memory


class KdTree(NamedTuple):
    """The tree; `points`, `record` and `place` are permuted as records are removed."""

    points: NDArray[np.float64]  # [d, n] in the order of the tree
    record: NDArray[np.int64]  # [n] record at each place
    place: NDArray[np.int64]  # [n] place of each record
    begin: NDArray[np.int64]  # [nodes] first place of the node
    size: NDArray[np.int64]  # [nodes] remaining records
    least: NDArray[np.int64]  # [nodes] lowest remaining record
    low: NDArray[np.float64]  # [nodes, d] box around the remaining records
    high: NDArray[np.float64]
    leaf: NDArray[np.int64]  # [n] leaf of each place
    stack: NDArray[np.int64]  # scratch of a walk
    bound: NDArray[np.float64]  # scratch: the distance that the box of each waiting node allows
    scan: NDArray[np.float64]  # scratch: distances in one leaf


@njit(cache=True)
def _select(keys: NDArray[np.float64], ids: NDArray[np.int64], middle: int) -> None:
    """Permute keys, and ids with them, so that no key before `middle` exceeds one after it."""
    left, right = 0, len(keys) - 1
    while left < right:
        pivot = keys[(left + right) // 2]
        i, j = left, right
        while i <= j:
            while keys[i] < pivot:
                i += 1
            while keys[j] > pivot:
                j -= 1
            if i <= j:
                keys[i], keys[j] = keys[j], keys[i]
                ids[i], ids[j] = ids[j], ids[i]
                i += 1
                j -= 1
        if middle <= j:
            right = j
        elif middle >= i:
            left = i
        else:
            return


@njit(cache=True)
def _widest(points: NDArray[np.float64], ids: NDArray[np.int64]) -> int:
    """Return the coordinate in which these records spread most."""
    best, width = 0, -1.0
    for j in range(len(points)):
        row = points[j]
        low, high = row[ids[0]], row[ids[0]]
        for i in ids:
            low = min(low, row[i])
            high = max(high, row[i])
        if high - low > width:
            best, width = j, high - low
    return best


@njit(cache=True)
def make_tree(points: NDArray[np.float64], records: NDArray[np.int64]) -> KdTree:
    """Return the tree over these records of float64[d, n] points."""
    n = len(records)
    levels = 0
    while n > LEAF << levels:
        levels += 1
    nodes = (2 << levels) - 1
    inner = (1 << levels) - 1
    begin = np.zeros(nodes, np.int64)
    size = np.zeros(nodes, np.int64)
    size[0] = n
    ids = records.copy()
    keys = np.empty(n, np.float64)
    for node in range(inner):
        first, last = begin[node], begin[node] + size[node]
        middle = (first + last) // 2
        row = points[_widest(points, ids[first:last])]
        for i in range(first, last):
            keys[i] = row[ids[i]]
        _select(keys[first:last], ids[first:last], middle - first)
        begin[2 * node + 1], size[2 * node + 1] = first, middle - first
        begin[2 * node + 2], size[2 * node + 2] = middle, last - middle
    place = np.full(points.shape[1], -1, np.int64)
    leaf = np.empty(n, np.int64)
    for node in range(inner, nodes):
        leaf[begin[node] : begin[node] + size[node]] = node
    ordered = np.empty((len(points), n), np.float64)
    for i in range(n):
        place[ids[i]] = i
    for j in range(len(points)):
        row = points[j]
        for i in range(n):
            ordered[j, i] = row[ids[i]]
    low, high = np.empty((nodes, len(points))), np.empty((nodes, len(points)))
    least = np.empty(nodes, np.int64)
    stack, bound, scan = np.empty(_STACK, np.int64), np.empty(_STACK), np.empty(LEAF)
    tree = KdTree(ordered, ids, place, begin, size, least, low, high, leaf, stack, bound, scan)
    for node in range(nodes - 1, -1, -1):
        _fit(tree, node)
    return tree


@njit(cache=True)
def _fit(tree: KdTree, node: int) -> None:
    """Recompute the box and the lowest record of a node from its children, or of a leaf from its records."""
    low, high = tree.low, tree.high
    left, right = 2 * node + 1, 2 * node + 2
    if right >= len(tree.size):
        first, last = tree.begin[node], tree.begin[node] + tree.size[node]
        least = len(tree.place)
        for i in range(first, last):
            least = min(least, tree.record[i])
        tree.least[node] = least
        for j in range(len(tree.points)):
            smallest, greatest = np.inf, -np.inf
            for i in range(first, last):
                smallest = min(smallest, tree.points[j, i])
                greatest = max(greatest, tree.points[j, i])
            low[node, j] = smallest
            high[node, j] = greatest
        return
    tree.least[node] = min(tree.least[left], tree.least[right])
    for j in range(len(tree.points)):
        low[node, j] = min(low[left, j], low[right, j])
        high[node, j] = max(high[left, j], high[right, j])


@njit(cache=True)
def _shapes(tree: KdTree, node: int, at: int) -> bool:
    """Return whether the box or the lowest record of a node may change with the record at a place gone.

    Where they do not, they do not change in any node above either.
    """
    if tree.size[node] == 0 or tree.record[at] == tree.least[node]:
        return True
    for j in range(len(tree.points)):
        value, low, high = tree.points[j, at], tree.low[node, j], tree.high[node, j]
        if low < high and not low < value < high:
            return True
    return False


@njit(cache=True)
def remove(tree: KdTree, record: int) -> None:
    """Take a record out of the tree."""
    at = tree.place[record]
    node = tree.leaf[at]
    last = tree.begin[node] + tree.size[node] - 1
    other = tree.record[last]
    for j in range(len(tree.points)):
        tree.points[j, at], tree.points[j, last] = tree.points[j, last], tree.points[j, at]
    tree.record[at], tree.record[last] = other, record
    tree.place[other], tree.place[record] = at, last
    shaped = True
    while True:
        tree.size[node] -= 1
        shaped = shaped and _shapes(tree, node, last)
        if shaped:
            _fit(tree, node)
        if node == 0:
            return
        node = (node - 1) // 2


@njit(cache=True)
def _farthest_bound(
    low: NDArray[np.float64], high: NDArray[np.float64], node: int, query: NDArray[np.float64]
) -> float:
    total = 0.0
    for j in range(len(query)):
        reach = max(query[j] - low[node, j], high[node, j] - query[j])
        total += reach * reach
    return total


@njit(cache=True)
def nearest_bound(
    low: NDArray[np.float64], high: NDArray[np.float64], node: int, query: NDArray[np.float64]
) -> float:
    """Return the squared distance of a query from the box of a node, 0 inside."""
    total = 0.0
    for j in range(len(query)):
        gap = max(low[node, j] - query[j], query[j] - high[node, j], 0.0)
        total += gap * gap
    return total


@njit(cache=True)
def farthest(tree: KdTree, query: NDArray[np.float64]) -> int:
    """Return the remaining record farthest from a query, -1 when none is left."""
    size, least, stack, bound = tree.size, tree.least, tree.stack, tree.bound
    low, high, nodes = tree.low, tree.high, len(tree.size)
    best, found = -1.0, -1
    waiting = 1 if size[0] > 0 else 0
    stack[0], bound[0] = 0, np.inf
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if bound[waiting] < best or (bound[waiting] == best and least[node] > found):
            continue
        left, right = 2 * node + 1, 2 * node + 2
        if right >= nodes:
            first = tree.begin[node]
            distances_to(tree.points, first, first + size[node], query, tree.scan)
            for i in range(size[node]):
                if tree.scan[i] >= best:
                    record = tree.record[first + i]
                    if tree.scan[i] > best or record < found:
                        best, found = tree.scan[i], record
            continue
        one = _farthest_bound(low, high, left, query) if size[left] > 0 else -1.0
        two = _farthest_bound(low, high, right, query) if size[right] > 0 else -1.0
        if one > two:
            left, right, one, two = right, left, two, one
        if one >= best and size[left] > 0:
            stack[waiting], bound[waiting] = left, one
            waiting += 1
        if two >= best and size[right] > 0:
            stack[waiting], bound[waiting] = right, two
            waiting += 1
    return found


@njit(cache=True)
def nearest(
    tree: KdTree, query: NDArray[np.float64], best: NDArray[np.float64], records: NDArray[np.int64]
) -> int:
    """Fill `best` and `records` with the nearest remaining records, ascending; return how many there are."""
    size, least, stack, bound = tree.size, tree.least, tree.stack, tree.bound
    low, high, nodes = tree.low, tree.high, len(tree.size)
    most = len(best)
    kept = 0
    waiting = 1 if size[0] > 0 and most > 0 else 0
    stack[0], bound[0] = 0, 0.0
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if kept == most:
            worst = best[most - 1]
            if bound[waiting] > worst or (bound[waiting] == worst and least[node] > records[most - 1]):
                continue
        left, right = 2 * node + 1, 2 * node + 2
        if right >= nodes:
            first = tree.begin[node]
            distances_to(tree.points, first, first + size[node], query, tree.scan)
            for i in range(size[node]):
                if kept < most or tree.scan[i] <= best[most - 1]:
                    kept = insert_nearest(tree.scan[i], tree.record[first + i], kept, best, records)
            continue
        one = nearest_bound(low, high, left, query) if size[left] > 0 else np.inf
        two = nearest_bound(low, high, right, query) if size[right] > 0 else np.inf
        if one < two:
            left, right, one, two = right, left, two, one
        if size[left] > 0:
            stack[waiting], bound[waiting] = left, one
            waiting += 1
        if size[right] > 0:
            stack[waiting], bound[waiting] = right, two
            waiting += 1
    return kept
