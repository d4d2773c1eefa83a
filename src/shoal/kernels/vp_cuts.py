"""How large the ball of a node of a vantage-point tree is, and around which record it lies.

A node is a run of `ids`. It is cut by rank: its records are ordered by (distance from the vantage point,
record), and the first so many are the ball.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .gower import Points, Sweep, running_costs
from .rules import Rules
from .stats import Stats, add_record, class_ok, clear_stats, stats_ok
from .vantage import (
    CHEAPEST,
    HALF,
    MULTIPLE,
    SAMPLE,
    SHIFT,
    SPREAD,
    Plan,
    Scratch,
    distance_spread,
    drawn,
    rank,
    take_sample,
    vantage_point,
)

_FAR = np.int64(1) << 61  # above every cost; the sum of two still fits


@njit(cache=True)
def _fixed_cut(plan: Plan, keys: NDArray[np.int64], m: int) -> int:
    """Return the size of a ball that is no matter of cost; `keys` are those of all `m` records."""
    if plan.radius == HALF:
        return (m + 1) // 2
    if plan.radius == MULTIPLE:
        return (m + plan.k) // (2 * plan.k) * plan.k
    middle = keys[(m + 1) // 2 - 1] >> SHIFT
    cut = (m + 1) // 2
    while cut < m and keys[cut] >> SHIFT == middle:
        cut += 1
    return cut if cut < m else 0


@njit(cache=True)
def _accept(
    rules: Rules,
    sensitive: NDArray[np.int32],
    stats: Stats,
    order: NDArray[np.int64],
    step: int,
    first: int,
    costs: NDArray[np.int64],
    backward: bool,
) -> None:
    """Put _FAR for the cost of every side that breaks a rule, for balls of first, first + step ..."""
    m = len(order)
    clear_stats(stats, rules)
    for i in range(m):
        add_record(stats, rules, sensitive, order[m - 1 - i] if backward else order[i])
        size = m - 1 - i if backward else i + 1
        if size >= first and (size - first) % step == 0 and not stats_ok(stats, rules):
            costs[i] = _FAR


@njit(cache=True)
def _best_cut(
    plan: Plan,
    points: Points,
    rules: Rules,
    sensitive: NDArray[np.int32],
    scratch: Scratch,
    keys: NDArray[np.int64],
    order: NDArray[np.int64],
    forward: NDArray[np.int64],
    backward: NDArray[np.int64],
) -> tuple[int, int]:
    """Return (cost, ball) of the cheapest cut that keeps the rules on both sides; ball 0 if there is none."""
    m = len(order)
    first, last, step = plan.k, m - plan.k, plan.k
    if plan.radius != CHEAPEST:
        first = _fixed_cut(plan, keys, m)
        last = first
        if first == 0:
            return _FAR, 0
    running_costs(points, scratch.sweep, order, False, forward)
    running_costs(points, scratch.sweep, order, True, backward)
    if not rules.plain:
        _accept(rules, sensitive, scratch.stats, order, step, first, forward, False)
        _accept(rules, sensitive, scratch.stats, order, step, first, backward, True)
    best, best_cut = _FAR, 0
    for cut in range(first, last + 1, step):
        cost = forward[cut - 1] + backward[m - cut - 1]
        if cost < best:
            best, best_cut = cost, cut
    return best, best_cut


@njit(cache=True)
def _guess_cut(
    plan: Plan,
    points: Points,
    sweep: Sweep,
    m: int,
    order: NDArray[np.int64],
    forward: NDArray[np.int64],
    backward: NDArray[np.int64],
) -> tuple[int, int]:
    """Return (cost, size of the ball) for a node of `m` records from the sample in `order`."""
    size = len(order)
    running_costs(points, sweep, order, False, forward)
    running_costs(points, sweep, order, True, backward)
    if plan.radius != CHEAPEST:
        return forward[size // 2 - 1] + backward[size // 2 - 1], 0
    best, best_at = _FAR, size // 2
    for at in range(size // 8, size - size // 8 + 1):
        cost = forward[at - 1] + backward[size - at - 1]
        if cost < best:
            best, best_at = cost, at
    cut = (best_at * m // size + plan.k // 2) // plan.k * plan.k
    return best, min(max(cut, plan.k), m - plan.k)


@njit(cache=True)
def _compare(
    plan: Plan,
    points: Points,
    rules: Rules,
    sensitive: NDArray[np.int32],
    ids: NDArray[np.int64],
    begin: int,
    end: int,
    scratch: Scratch,
) -> int:
    """Fill `scratch.tried` with vantage points of a node and return how many; the least score is the best."""
    size = take_sample(plan, ids, begin, end, scratch.sample)
    sample = scratch.sample[:size]
    keys, order = scratch.lists[0, :size], scratch.lists[1, :size]
    forward, backward = scratch.lists[2, :size], scratch.lists[3, :size]
    vantages, scores, cuts = scratch.tried
    turns = plan.candidates if plan.vantage >= SPREAD else 1
    for turn in range(turns):
        vantages[turn] = vantage_point(plan, points, sample, turn, drawn(plan.seed, begin, end, turn, size))
        scores[turn], cuts[turn] = 0, 0
        if plan.vantage < SPREAD:
            continue
        rank(points, vantages[turn], sample, keys, order)
        if plan.vantage == SPREAD:
            scores[turn] = -distance_spread(points, keys)
        elif size == end - begin:
            scores[turn], cuts[turn] = _best_cut(
                plan, points, rules, sensitive, scratch, keys, order, forward, backward
            )
        else:
            scores[turn], cuts[turn] = _guess_cut(
                plan, points, scratch.sweep, end - begin, order, forward, backward
            )
    return turns


@njit(cache=True)
def _settle(
    plan: Plan,
    points: Points,
    rules: Rules,
    sensitive: NDArray[np.int32],
    scratch: Scratch,
    keys: NDArray[np.int64],
    order: NDArray[np.int64],
    guess: int,
) -> int:
    """Return the size of the ball for a ranked node, 0 when no cut keeps the rules."""
    m = len(order)
    cut = guess if plan.radius == CHEAPEST else _fixed_cut(plan, keys, m)
    if cut > 0 and (
        rules.plain
        or (
            class_ok(rules, sensitive, order[:cut], scratch.stats)
            and class_ok(rules, sensitive, order[cut:], scratch.stats)
        )
    ):
        return cut
    if plan.radius != CHEAPEST:
        return 0
    costs = np.empty((2, m), np.int64)
    return _best_cut(plan, points, rules, sensitive, scratch, keys, order, costs[0], costs[1])[1]


@njit(cache=True)
def split_node(
    plan: Plan,
    points: Points,
    rules: Rules,
    sensitive: NDArray[np.int32],
    ids: NDArray[np.int64],
    begin: int,
    end: int,
    scratch: Scratch,
) -> int:
    """Move the ball of a node to its front and return its size; 0, and nothing moved, when it stays whole."""
    m = end - begin
    if m < max(plan.stop, 2 * plan.k):
        return 0
    turns = _compare(plan, points, rules, sensitive, ids, begin, end, scratch)
    vantages, scores, cuts = scratch.tried
    keys, order = scratch.lists[0, : min(m, SAMPLE)], scratch.lists[1, : min(m, SAMPLE)]
    if m > SAMPLE:
        keys, order = np.empty(m, np.int64), np.empty(m, np.int64)
    for _attempt in range(turns):
        best = np.argmin(scores[:turns])
        if scores[best] >= _FAR:
            return 0
        rank(points, vantages[best], ids[begin:end], keys, order)
        cut = _settle(plan, points, rules, sensitive, scratch, keys, order, cuts[best])
        if cut > 0:
            ids[begin:end] = order
            return cut
        scores[best] = _FAR
    return 0
