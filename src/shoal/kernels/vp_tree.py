"""A vantage-point tree as a partition: every node is cut into a ball around one of its records and the rest.

Nodes are cut independently of each other, so in any order and by any number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .gower import Points, distances
from .rules import Rules
from .vantage import SAMPLE, SHIFT, Plan, make_scratch
from .vp_cuts import split_node

CHUNKS = 16  # shares of a batch of nodes, each with scratch space of its own
_FAR = np.int64(1) << 61  # above every key


@njit(cache=True)
def _grow_inner(
    plan: Plan,
    points: Points,
    rules: Rules,
    sensitive: NDArray[np.int32],
    ids: NDArray[np.int64],
    nodes: NDArray[np.int64],
    cuts: NDArray[np.int64],
    first: NDArray[np.bool_],
) -> None:
    """Cut large nodes once and small ones to the end; touch nothing outside of them."""
    scratch = make_scratch(plan, points, rules)
    stack = np.empty((SAMPLE + 1, 2), np.int64)
    for node in range(len(nodes)):
        begin, end = nodes[node]
        cuts[node] = 0
        if end - begin > SAMPLE:
            cuts[node] = split_node(plan, points, rules, sensitive, ids, begin, end, scratch)
            first[begin] = True
            continue
        stack[0, 0], stack[0, 1] = begin, end
        waiting = 1
        while waiting > 0:
            waiting -= 1
            begin, end = stack[waiting]
            first[begin] = True
            cut = split_node(plan, points, rules, sensitive, ids, begin, end, scratch)
            if cut > 0:
                stack[waiting, 0], stack[waiting, 1] = begin, begin + cut
                stack[waiting + 1, 0], stack[waiting + 1, 1] = begin + cut, end
                waiting += 2


@njit(cache=True)
def grow_tree(
    plan: Plan,
    points: Points,
    rules: Rules,
    sensitive: NDArray[np.int32],
    ids: NDArray[np.int64],
    nodes: NDArray[np.int64],
    first: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Cut nodes ``ids[begin:end]``: those of up to SAMPLE records to the end, larger ones once.

    Returns the size of each large node's ball, 0 where it stays whole. Afterwards ``first[i]`` is true where
    a part, or a large node still to be cut, begins.
    """
    cuts = np.empty(len(nodes), np.int64)
    _grow_inner(plan, points, rules, sensitive, ids, nodes, cuts, first)
    return cuts


@njit(cache=True, parallel=True)
def grow_tree_parallel(
    plan: Plan,
    points: Points,
    rules: Rules,
    sensitive: NDArray[np.int32],
    ids: NDArray[np.int64],
    nodes: NDArray[np.int64],
    first: NDArray[np.bool_],
) -> NDArray[np.int64]:
    """Do what `grow_tree` does, with threads; not to be entered from several Python threads."""
    cuts = np.empty(len(nodes), np.int64)
    reach = np.cumsum(nodes[:, 1] - nodes[:, 0])
    share = np.searchsorted(reach, np.arange(CHUNKS + 1) * reach[-1] // CHUNKS)
    share[CHUNKS] = len(nodes)
    for chunk in prange(CHUNKS):
        a, b = share[chunk], share[chunk + 1]
        _grow_inner(plan, points, rules, sensitive, ids, nodes[a:b], cuts[a:b], first)
    return cuts


@njit(cache=True)
def nearest_outside(
    points: Points, ids: NDArray[np.int64], part: NDArray[np.int64], members: NDArray[np.int64]
) -> int:
    """Return the part of the record nearest to any of `members`, which are one part; ties: the least record.

    ``part[i]`` is the part of ``ids[i]``. Returns -1 when there is no other part.
    """
    own = np.int64(-1)
    for i in range(len(ids)):
        if ids[i] == members[0]:
            own = part[i]
    best, nearest = _FAR, np.int64(-1)
    away = np.empty(len(ids), np.int64)
    for member in members:
        distances(points, member, ids, away)
        for i in range(len(ids)):
            key = away[i] << SHIFT | ids[i]
            if part[i] != own and key < best:
                best, nearest = key, part[i]
    return nearest
