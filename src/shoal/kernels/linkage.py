"""Which original record lies nearest to a published one: linkage by distance."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .grid import distances_to
from .kd_tree import KdTree, nearest_bound

_BLOCKS = 64  # of records, each with its own scratch
_STACK = 128


@njit(cache=True)
def _credit(
    tree: KdTree,
    query: NDArray[np.float64],
    own: float,
    ranks: int,
    stack: NDArray[np.int64],
    found: NDArray[np.float64],
) -> float:
    """Return the chance that the record at squared distance `own` is among the `ranks` nearest.

    With c records strictly nearer and e at the same distance, itself included: 0 if c >= ranks, else
    min(1, (ranks - c) / e).
    """
    low, high, size, nodes = tree.low, tree.high, tree.size, len(tree.size)
    closer, equal = 0, 0
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        bound = nearest_bound(low, high, node, query)
        if bound > own:
            continue
        if bound == own and _is_point(low, high, node):
            equal += size[node]
            continue
        left, right = 2 * node + 1, 2 * node + 2
        if right >= nodes:
            first = tree.begin[node]
            distances_to(tree.points, first, first + size[node], query, found)
            for i in range(size[node]):
                closer += found[i] < own
                equal += found[i] == own
            if closer >= ranks:
                return 0.0
            continue
        if nearest_bound(low, high, left, query) < nearest_bound(low, high, right, query):
            left, right = right, left
        stack[waiting], stack[waiting + 1] = left, right
        waiting += 2
    return min(1.0, (ranks - closer) / equal)


@njit(cache=True)
def _is_point(low: NDArray[np.float64], high: NDArray[np.float64], node: int) -> bool:
    return bool(np.all(low[node] == high[node]))


@njit(cache=True)
def _credit_block(
    tree: KdTree,
    original: NDArray[np.float64],
    published: NDArray[np.float64],
    ranks: int,
    span: tuple[int, int],
    credits: NDArray[np.float64],
) -> None:
    d = len(original)
    query, stack, found = np.empty(d), np.empty(_STACK, np.int64), np.empty(len(tree.scan))
    for i in range(span[0], span[1]):
        own = 0.0
        for j in range(d):
            query[j] = published[j, i]
            own += (original[j, i] - query[j]) ** 2
        credits[i] = _credit(tree, query, own, ranks, stack, found)


@njit(cache=True)
def link_credits(
    tree: KdTree,
    original: NDArray[np.float64],
    published: NDArray[np.float64],
    ranks: int,
    credits: NDArray[np.float64],
) -> None:
    """Fill in each record's chance that its original is among the `ranks` nearest to its published point."""
    _credit_block(tree, original, published, ranks, (0, len(credits)), credits)


@njit(cache=True, parallel=True)
def link_credits_parallel(
    tree: KdTree,
    original: NDArray[np.float64],
    published: NDArray[np.float64],
    ranks: int,
    credits: NDArray[np.float64],
) -> None:
    """Fill in what `link_credits` fills in, with threads; not to be entered from several Python threads."""
    n = len(credits)
    for block in prange(_BLOCKS):
        span = (block * n // _BLOCKS, (block + 1) * n // _BLOCKS)
        _credit_block(tree, original, published, ranks, span, credits)
