"""The best of all cuts, node after node: each boundary of every column is a candidate.

Among equally good cuts the more even one wins, then the earlier column, then the lower boundary. Promises are
tested last: the best cut by score alone mostly keeps them, and only where it does not are they looked at
boundary by boundary, and then only at boundaries that would be an improvement.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .rules import Rules
from .space import Space
from .stats import Stats, make_stats, stats_ok
from .sweeps import (
    NOTHING,
    Goal,
    Rows,
    Side,
    better,
    fill_stats,
    forget,
    make_side,
    sweep_down,
    sweep_down_testing,
    sweep_up,
)

WAITING = 128  # nodes that come to wait at most: the smaller side is always cut first


@njit(cache=True)
def _varies(rows: Rows, j: int, begin: int, end: int) -> bool:
    return rows.codes[rows.order[j, begin], j] != rows.codes[rows.order[j, end - 1], j]


@njit(cache=True)
def _keeps(
    rows: Rows,
    best: NDArray[np.int64],
    begin: int,
    end: int,
    rules: Rules,
    sensitive: NDArray[np.int32],
    stats: Stats,
) -> bool:
    """Return whether both sides of the best cut keep every promise."""
    if rules.plain:
        return True
    j, at = best[2], best[3] + 1
    fill_stats(rows, j, begin, at, stats, rules, sensitive)
    if not stats_ok(stats, rules):
        return False
    fill_stats(rows, j, at, end, stats, rules, sensitive)
    return stats_ok(stats, rules)


@njit(cache=True)
def _weigh(rows: Rows, begin: int, end: int) -> int:
    """Return the number of records of a node."""
    total = np.int64(0)
    for i in range(begin, end):
        row = rows.order[0, i]
        total += rows.first[row + 1] - rows.first[row]
    return total


@njit(cache=True)
def _part(rows: Rows, j: int, begin: int, end: int, buffer: NDArray[np.int32]) -> None:
    """Bring the rows of the lower side to the front of a node, in the order of column j, keeping that."""
    order = rows.order[j]
    front, back = begin, 0
    for i in range(begin, end):
        row = order[i]
        if rows.side[row]:
            order[front] = row
            front += 1
        else:
            buffer[back] = row
            back += 1
    for i in range(back):
        order[front + i] = buffer[i]


@njit(cache=True)
def _mark(rows: Rows, best: NDArray[np.int64], begin: int, end: int) -> int:
    """Mark which rows go to the lower side of a cut, and return where the upper side begins."""
    order = rows.order[best[2]]
    for i in range(begin, end):
        rows.side[order[i]] = i <= best[3]
    return best[3] + 1


@njit(cache=True)
def cut_node(
    rows: Rows,
    space: Space,
    rules: Rules,
    sensitive: NDArray[np.int32],
    goal: Goal,
    span: tuple[int, int],
    side: Side,
    scratch: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    pair: tuple[Stats, Stats],
    marks: NDArray[np.int64],
) -> int:
    """Cut a node at its best boundary and return where the upper side begins, -1 when there is none."""
    begin, end = span
    lower, buffer, best = scratch
    total = _weigh(rows, begin, end)
    if total < 2 * rules.k:
        return -1
    node = (begin, end, total)
    for testing in (False, True):
        forget(best)
        for j in range(len(space.size)):
            if not _varies(rows, j, begin, end):
                continue
            marks[0] += 1
            sweep_up(rows, space, goal, side, node, (j, rules.k, marks[0]), lower)
            marks[0] += 1
            down = (j, rules.k, marks[0])
            if testing:
                sweep_down_testing(rows, space, goal, side, node, down, lower, best, rules, sensitive, pair)
            else:
                sweep_down(rows, space, goal, side, node, down, lower, best)
        if best[0] == NOTHING:
            return -1
        if testing or _keeps(rows, best, begin, end, rules, sensitive, pair[0]):
            break
    at = _mark(rows, best, begin, end)
    for j in range(len(space.size)):
        if j != best[2]:
            _part(rows, j, begin, end, buffer)
    return at


@njit(cache=True)
def cut_nodes(
    rows: Rows,
    space: Space,
    rules: Rules,
    sensitive: NDArray[np.int32],
    goal: Goal,
    waiting: NDArray[np.int64],
    count: int,
    budget: int,
    labels: NDArray[np.int64],
) -> int:
    """Cut waiting nodes down to classes until that has been so many rows' work; return how many then wait.

    The nodes are ``waiting[:count, 0]:waiting[:count, 1]``, the last one first; there must be room for
    `WAITING` more. A class is labelled by where it begins.
    """
    longest = 0
    for i in range(count):
        longest = max(longest, waiting[i, 1] - waiting[i, 0])
    side = make_side(space, goal)
    scratch = (np.empty(longest, np.int64), np.empty(longest, np.int32), np.empty(4, np.int64))
    pair = (make_stats(rules), make_stats(rules))
    marks = np.zeros(1, np.int64)
    while count > 0 and budget > 0:
        count -= 1
        begin, end = waiting[count, 0], waiting[count, 1]
        budget -= end - begin
        at = cut_node(rows, space, rules, sensitive, goal, (begin, end), side, scratch, pair, marks)
        if at < 0:
            for i in range(begin, end):
                labels[rows.order[0, i]] = begin
            continue
        larger_first = at - begin >= end - at
        waiting[count, 0], waiting[count, 1] = (begin, at) if larger_first else (at, end)
        waiting[count + 1, 0], waiting[count + 1, 1] = (at, end) if larger_first else (begin, at)
        count += 2
    return count


@njit(cache=True, parallel=True)
def cut_nodes_parallel(
    rows: Rows,
    space: Space,
    rules: Rules,
    sensitive: NDArray[np.int32],
    goal: Goal,
    nodes: NDArray[np.int64],
    labels: NDArray[np.int64],
) -> None:
    """Do what `cut_nodes` does to the end, by threads; not to be entered from several Python threads."""
    for i in prange(len(nodes)):
        waiting = np.empty((WAITING + 1, 2), np.int64)
        waiting[0] = nodes[i]
        cut_nodes(rows, space, rules, sensitive, goal, waiting, 1, NOTHING, labels)


@njit(cache=True)
def _column_best(
    rows: Rows,
    space: Space,
    rules: Rules,
    sensitive: NDArray[np.int32],
    goal: Goal,
    node: tuple[int, int, int],
    j: int,
    testing: bool,
    best: NDArray[np.int64],
) -> None:
    """Fill in the best cut of one column of a node."""
    forget(best)
    if not _varies(rows, j, node[0], node[1]):
        return
    side = make_side(space, goal)
    lower = np.empty(node[1] - node[0], np.int64)
    sweep_up(rows, space, goal, side, node, (j, rules.k, 1), lower)
    if testing:
        pair = (make_stats(rules), make_stats(rules))
        sweep_down_testing(
            rows, space, goal, side, node, (j, rules.k, 2), lower, best, rules, sensitive, pair
        )
    else:
        sweep_down(rows, space, goal, side, node, (j, rules.k, 2), lower, best)


@njit(cache=True, parallel=True)
def cut_large_node(
    rows: Rows,
    space: Space,
    rules: Rules,
    sensitive: NDArray[np.int32],
    goal: Goal,
    begin: int,
    end: int,
) -> int:
    """Do what `cut_node` does, a thread a column; not to be entered from several Python threads."""
    q = len(space.size)
    total = _weigh(rows, begin, end)
    if total < 2 * rules.k:
        return -1
    bests = np.empty((q, 4), np.int64)
    best = np.empty(4, np.int64)
    node = (begin, end, total)
    for testing in (False, True):
        for j in prange(q):
            _column_best(rows, space, rules, sensitive, goal, node, j, testing, bests[j])
        forget(best)
        for j in range(q):
            if better(bests[j, 0], bests[j, 1], bests[j, 2], bests[j, 3], best):
                best[:] = bests[j]
        if best[0] == NOTHING:
            return -1
        if testing or _keeps(rows, best, begin, end, rules, sensitive, make_stats(rules)):
            break
    at = _mark(rows, best, begin, end)
    for j in prange(q):
        if j != best[2]:
            _part(rows, j, begin, end, np.empty(end - begin, np.int32))
    return at
