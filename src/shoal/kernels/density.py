"""DBSCAN on distinct rows with weights, exact, on a tree of boxes.

Coordinates and squared distances are whole numbers, so "within reach" is decided exactly. A row is dense when
enough records, its own included, lie within reach; counting stops as soon as there are enough, and a box that
lies within reach as a whole is counted at once. Dense rows within reach of each other belong together: a box
all of whose dense rows are known to belong together already is not searched again. Both keep the search quick
where everything is near everything else.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

MIXED = -1  # dense rows of several clusters
EMPTY = -2  # no dense row
_FAR = np.int64(1) << 62
_DEPTH = 128  # boxes waiting to be searched


class Points(NamedTuple):
    """Rows in the order of the tree, and its boxes; box 0 is the root, children follow their parents."""

    at: NDArray[np.int32]  # [m, q] coordinates
    weight: NDArray[np.int64]  # [m] records
    begin: NDArray[np.int32]  # [boxes] first slot
    end: NDArray[np.int32]  # [boxes]
    left: NDArray[np.int32]  # [boxes] -1 for a leaf
    right: NDArray[np.int32]  # [boxes]
    low: NDArray[np.int32]  # [boxes, q]
    high: NDArray[np.int32]  # [boxes, q]
    total: NDArray[np.int64]  # [boxes] records


@njit(cache=True)
def measure_boxes(points: Points) -> None:
    """Fill in the extents and weights of all boxes, children before parents."""
    for box in range(len(points.left) - 1, -1, -1):
        one, two = points.left[box], points.right[box]
        points.total[box] = 0
        if one < 0:
            first = points.begin[box]
            points.low[box] = points.at[first]
            points.high[box] = points.at[first]
            for slot in range(first, points.end[box]):
                points.total[box] += points.weight[slot]
                for j in range(points.at.shape[1]):
                    points.low[box, j] = min(points.low[box, j], points.at[slot, j])
                    points.high[box, j] = max(points.high[box, j], points.at[slot, j])
        else:
            points.total[box] = points.total[one] + points.total[two]
            for j in range(points.at.shape[1]):
                points.low[box, j] = min(points.low[one, j], points.low[two, j])
                points.high[box, j] = max(points.high[one, j], points.high[two, j])


@njit(cache=True)
def _apart(a: NDArray[np.int32], b: NDArray[np.int32]) -> int:
    total = np.int64(0)
    for j in range(len(a)):
        step = np.int64(a[j]) - b[j]
        total += step * step
    return total


@njit(cache=True)
def _least(low: NDArray[np.int32], high: NDArray[np.int32], x: NDArray[np.int32]) -> int:
    """Return the squared distance to the nearest corner or side of a box."""
    total = np.int64(0)
    for j in range(len(x)):
        step = np.int64(max(low[j] - x[j], x[j] - high[j], 0))
        total += step * step
    return total


@njit(cache=True)
def _most(low: NDArray[np.int32], high: NDArray[np.int32], x: NDArray[np.int32]) -> int:
    """Return the squared distance to the furthest corner of a box."""
    total = np.int64(0)
    for j in range(len(x)):
        step = np.int64(max(x[j] - low[j], high[j] - x[j]))
        total += step * step
    return total


@njit(cache=True)
def _is_dense(points: Points, x: NDArray[np.int32], reach: int, enough: int) -> bool:
    """Return whether `enough` records lie within the squared distance `reach`."""
    at, weight, low, high, total = points.at, points.weight, points.low, points.high, points.total
    begin, end, left, right = points.begin, points.end, points.left, points.right
    stack = np.empty(_DEPTH, np.int32)
    stack[0] = 0
    waiting, found = 1, np.int64(0)
    while waiting > 0:
        waiting -= 1
        box = stack[waiting]
        if _most(low[box], high[box], x) <= reach:
            found += total[box]
        elif left[box] < 0:
            for slot in range(begin[box], end[box]):
                if _apart(at[slot], x) <= reach:
                    found += weight[slot]
        else:
            one, two = left[box], right[box]
            to_one, to_two = _least(low[one], high[one], x), _least(low[two], high[two], x)
            if to_one < to_two:
                one, two, to_one, to_two = two, one, to_two, to_one
            if to_one <= reach:
                stack[waiting] = one
                waiting += 1
            if to_two <= reach:
                stack[waiting] = two
                waiting += 1
        if found >= enough:
            return True
    return False


@njit(cache=True)
def dense_rows(points: Points, reach: int, enough: int, begin: int, end: int) -> NDArray[np.bool_]:
    """Return which of the slots ``begin:end`` are dense."""
    dense = np.empty(end - begin, np.bool_)
    for slot in range(begin, end):
        dense[slot - begin] = _is_dense(points, points.at[slot], reach, enough)
    return dense


@njit(cache=True, parallel=True)
def dense_rows_parallel(points: Points, reach: int, enough: int, begin: int, end: int) -> NDArray[np.bool_]:
    """Return what `dense_rows` returns, with threads; not to be entered from several Python threads."""
    dense = np.empty(end - begin, np.bool_)
    for slot in prange(begin, end):
        dense[slot - begin] = _is_dense(points, points.at[slot], reach, enough)
    return dense


@njit(cache=True)
def _reach_of(points: Points, x: NDArray[np.int32], enough: int) -> int:
    """Return the least squared distance within which `enough` records lie; there must be as many."""
    at, weight, low, high = points.at, points.weight, points.low, points.high
    begin, end, left, right = points.begin, points.end, points.left, points.right
    near = np.empty(enough + 1, np.int64)  # the nearest rows found, ascending
    held = np.empty(enough + 1, np.int64)  # and their records
    known, records = 0, np.int64(0)
    limit = _FAR
    stack = np.empty(_DEPTH, np.int32)
    stack[0] = 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        box = stack[waiting]
        if _least(low[box], high[box], x) >= limit:
            continue
        if left[box] >= 0:
            one, two = left[box], right[box]
            if _least(low[one], high[one], x) < _least(low[two], high[two], x):
                one, two = two, one
            stack[waiting] = one
            stack[waiting + 1] = two
            waiting += 2
            continue
        for slot in range(begin[box], end[box]):
            away = _apart(at[slot], x)
            if away >= limit:
                continue
            place = known
            while place > 0 and near[place - 1] > away:
                near[place] = near[place - 1]
                held[place] = held[place - 1]
                place -= 1
            near[place] = away
            held[place] = weight[slot]
            records += weight[slot]
            known += 1
            while records - held[known - 1] >= enough:
                known -= 1
                records -= held[known]
            if records >= enough:
                limit = near[known - 1]
    return limit


@njit(cache=True)
def reaches(points: Points, slots: NDArray[np.int64], enough: int) -> NDArray[np.int64]:
    """Return, for each of the slots, the least squared distance within which `enough` records lie."""
    found = np.empty(len(slots), np.int64)
    for i in range(len(slots)):
        found[i] = _reach_of(points, points.at[slots[i]], enough)
    return found


@njit(cache=True)
def _root(leader: NDArray[np.int32], slot: int) -> int:
    """Return the representative of a cluster, halving the way to it."""
    while leader[slot] != slot:
        leader[slot] = leader[leader[slot]]
        slot = leader[slot]
    return slot


@njit(cache=True)
def _unite(leader: NDArray[np.int32], a: int, b: int) -> None:
    """Make one cluster of two; the lower slot stands for it."""
    a, b = _root(leader, a), _root(leader, b)
    if a < b:
        leader[b] = a
    else:
        leader[a] = b


@njit(cache=True)
def settle_boxes(
    points: Points, dense: NDArray[np.bool_], reach: int, leader: NDArray[np.int32], holds: NDArray[np.int32]
) -> None:
    """Fill in for every box a slot of the one cluster its dense rows belong to, MIXED or EMPTY.

    The dense rows of a box no longer than the reach belong together.
    """
    for box in range(len(points.left) - 1, -1, -1):
        together = _apart(points.low[box], points.high[box]) <= reach
        holds[box] = EMPTY
        if points.left[box] < 0:
            for slot in range(points.begin[box], points.end[box]):
                if not dense[slot]:
                    continue
                if holds[box] >= 0 and together:
                    _unite(leader, holds[box], slot)
                if holds[box] == EMPTY:
                    holds[box] = slot
                elif holds[box] >= 0 and _root(leader, holds[box]) != _root(leader, slot):
                    holds[box] = MIXED
            continue
        one, two = holds[points.left[box]], holds[points.right[box]]
        if one == EMPTY:
            holds[box] = two
        elif two == EMPTY:
            holds[box] = one
        elif one == MIXED or two == MIXED:
            holds[box] = MIXED
        else:
            if together:
                _unite(leader, one, two)
            holds[box] = one if _root(leader, one) == _root(leader, two) else MIXED


@njit(cache=True)
def connect(
    points: Points,
    dense: NDArray[np.bool_],
    reach: int,
    leader: NDArray[np.int32],
    holds: NDArray[np.int32],
    first: int,
    last: int,
) -> None:
    """Unite the dense rows among the slots ``first:last`` with all dense rows within reach behind them."""
    at, low, high = points.at, points.low, points.high
    begin, end, left, right = points.begin, points.end, points.left, points.right
    stack = np.empty(_DEPTH, np.int32)
    for own in range(first, last):
        if not dense[own]:
            continue
        x = at[own]
        stack[0] = 0
        waiting = 1
        while waiting > 0:
            waiting -= 1
            box = stack[waiting]
            if end[box] <= own or holds[box] == EMPTY or _least(low[box], high[box], x) > reach:
                continue
            if holds[box] >= 0 and _root(leader, holds[box]) == _root(leader, own):
                continue
            if holds[box] >= 0 and _most(low[box], high[box], x) <= reach:
                _unite(leader, holds[box], own)
            elif left[box] < 0:
                for slot in range(begin[box], end[box]):
                    if dense[slot] and _apart(at[slot], x) <= reach:
                        _unite(leader, slot, own)
            else:
                stack[waiting] = left[box]
                stack[waiting + 1] = right[box]
                waiting += 2


@njit(cache=True)
def _nearest(
    points: Points, known: NDArray[np.bool_], cluster: NDArray[np.int32], x: NDArray[np.int32], reach: int
) -> int:
    """Return the cluster of the nearest known row within reach, the first among equals; else -1."""
    at, low, high = points.at, points.low, points.high
    begin, end, left, right = points.begin, points.end, points.left, points.right
    stack = np.empty(_DEPTH, np.int32)
    stack[0] = 0
    waiting, best, nearest = 1, np.int64(-1), reach
    while waiting > 0:
        waiting -= 1
        box = stack[waiting]
        if _least(low[box], high[box], x) > nearest:
            continue
        if left[box] >= 0:
            one, two = left[box], right[box]
            if _least(low[one], high[one], x) < _least(low[two], high[two], x):
                one, two = two, one
            stack[waiting] = one
            stack[waiting + 1] = two
            waiting += 2
            continue
        for slot in range(begin[box], end[box]):
            if not known[slot]:
                continue
            away = _apart(at[slot], x)
            if away < nearest or (away == nearest and (best < 0 or cluster[slot] < best)):
                nearest, best = away, cluster[slot]
    return best


@njit(cache=True)
def nearest_clusters(
    points: Points, known: NDArray[np.bool_], cluster: NDArray[np.int32], reach: int, slots: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return, for each of the slots, the cluster of the nearest known row within reach, else -1."""
    found = np.empty(len(slots), np.int32)
    for i in range(len(slots)):
        found[i] = _nearest(points, known, cluster, points.at[slots[i]], reach)
    return found


@njit(cache=True, parallel=True)
def nearest_clusters_parallel(
    points: Points, known: NDArray[np.bool_], cluster: NDArray[np.int32], reach: int, slots: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return what `nearest_clusters` returns, with threads; not to be entered from several Python threads."""
    found = np.empty(len(slots), np.int32)
    for i in prange(len(slots)):
        found[i] = _nearest(points, known, cluster, points.at[slots[i]], reach)
    return found
