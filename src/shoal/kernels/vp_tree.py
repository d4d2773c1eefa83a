"""A vantage-point tree as a partition: every node is cut into a ball around one of its records and the rest.

A node is a run of `ids`. It is cut by rank: its records are ordered by (distance from the vantage point,
record), and the first so many are the ball. Whatever is random about a node is drawn from the seed and the
node's place in `ids`, so nodes may be cut in any order, by any number of threads.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .gower import Points, Sweep, distances, make_sweep, running_costs
from .rules import Rules
from .stats import Stats, add_record, class_ok, clear_stats, make_stats, stats_ok

RANDOM, FARTHEST, SPREAD, TIGHTEST = range(4)  # how the vantage point is chosen
HALF, MULTIPLE, CHEAPEST, VALUE = range(4)  # how large the ball is

SAMPLE = 1024  # records that stand for a larger node when vantage points are compared
CHUNKS = 16  # shares of a batch of nodes, each with scratch space of its own
_SHIFT = np.int64(31)  # bits of a key that name the record; the distance stands above them
_RECORD = np.int64((1 << 31) - 1)
_FAR = np.int64(1) << 61  # above every key and cost; the sum of two still fits


class Plan(NamedTuple):
    """How nodes are cut."""

    k: int  # least size of a class
    stop: int  # nodes of fewer records are parts
    vantage: int  # RANDOM, FARTHEST, SPREAD or TIGHTEST
    radius: int  # HALF, MULTIPLE, CHEAPEST or VALUE
    candidates: int  # vantage points that SPREAD and TIGHTEST choose from
    seed: np.uint64


class Scratch(NamedTuple):
    """Space for looking at one node; one a chunk, so that chunks do not meet."""

    sweep: Sweep
    stats: Stats
    sample: NDArray[np.int64]  # [SAMPLE]
    lists: NDArray[np.int64]  # [4, SAMPLE] keys, order, and the costs of both sides
    tried: NDArray[np.int64]  # [3, candidates] vantage points, their scores, the sizes of their balls


@njit(cache=True)
def _make_scratch(plan: Plan, points: Points, rules: Rules) -> Scratch:
    return Scratch(
        make_sweep(points),
        make_stats(rules),
        np.empty(SAMPLE, np.int64),
        np.empty((4, SAMPLE), np.int64),
        np.empty((3, plan.candidates), np.int64),
    )


@njit(cache=True)
def drawn(seed: int, begin: int, end: int, turn: int, below: int) -> int:
    """Return a number in [0, below) that depends on nothing but the arguments (splitmix64)."""
    mixed = np.uint64(seed)
    for word in (begin, end, turn):
        mixed += np.uint64(0x9E3779B97F4A7C15) * (np.uint64(word) + np.uint64(1))
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return np.int64((mixed >> np.uint64(32)) % np.uint64(below))


@njit(cache=True)
def _rank(
    points: Points,
    vantage: int,
    records: NDArray[np.int64],
    keys: NDArray[np.int64],
    order: NDArray[np.int64],
) -> None:
    """Fill `order` with the records by (distance from `vantage`, record), and `keys` with both in one."""
    distances(points, vantage, records, keys)
    for i in range(len(records)):
        keys[i] = keys[i] << _SHIFT | records[i]
    keys.sort()
    for i in range(len(records)):
        order[i] = keys[i] & _RECORD


@njit(cache=True)
def _fixed_cut(plan: Plan, keys: NDArray[np.int64], m: int) -> int:
    """Return the size of a ball that is no matter of cost; `keys` are those of all `m` records."""
    if plan.radius == HALF:
        return (m + 1) // 2
    if plan.radius == MULTIPLE:
        return (m + plan.k) // (2 * plan.k) * plan.k
    middle = keys[(m + 1) // 2 - 1] >> _SHIFT
    cut = (m + 1) // 2
    while cut < m and keys[cut] >> _SHIFT == middle:
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
def _take_sample(plan: Plan, ids: NDArray[np.int64], begin: int, end: int, sample: NDArray[np.int64]) -> int:
    """Fill `sample` with all records of a small node, or with one drawn from each stretch of a large one."""
    m = end - begin
    if m <= SAMPLE:
        sample[:m] = ids[begin:end]
        return m
    for i in range(SAMPLE):
        sample[i] = ids[begin + i * m // SAMPLE + drawn(plan.seed, begin, end, -1 - i, m // SAMPLE)]
    return SAMPLE


@njit(cache=True)
def _vantage(plan: Plan, points: Points, sample: NDArray[np.int64], turn: int, choice: int) -> int:
    """Return a vantage point: the record drawn, or the record of the sample that is farthest from it."""
    if plan.vantage != FARTHEST and not (plan.vantage == TIGHTEST and turn % 2 == 1):
        return sample[choice]
    away = np.empty(len(sample), np.int64)
    distances(points, sample[choice], sample, away)
    best = 0
    for i in range(1, len(sample)):
        if away[i] > away[best] or (away[i] == away[best] and sample[i] < sample[best]):
            best = i
    return sample[best]


@njit(cache=True)
def _greatest(points: Points) -> int:
    """Return the greatest distance there can be."""
    return np.int64(math.sqrt(points.most)) if points.euclidean else points.most


@njit(cache=True)
def _spread(keys: NDArray[np.int64], most: int) -> int:
    """Return the variance of the distances in `keys` times their number squared, in coarser units."""
    shift = _SHIFT
    while most >> (shift - _SHIFT) >= 1 << 20:  # so that the squares fit
        shift += 1
    total, squares = np.int64(0), np.int64(0)
    for key in keys:
        total += key >> shift
        squares += (key >> shift) * (key >> shift)
    return len(keys) * squares - total * total


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
    size = _take_sample(plan, ids, begin, end, scratch.sample)
    sample = scratch.sample[:size]
    keys, order = scratch.lists[0, :size], scratch.lists[1, :size]
    forward, backward = scratch.lists[2, :size], scratch.lists[3, :size]
    vantages, scores, cuts = scratch.tried
    turns = plan.candidates if plan.vantage >= SPREAD else 1
    for turn in range(turns):
        vantages[turn] = _vantage(plan, points, sample, turn, drawn(plan.seed, begin, end, turn, size))
        scores[turn], cuts[turn] = 0, 0
        if plan.vantage < SPREAD:
            continue
        _rank(points, vantages[turn], sample, keys, order)
        if plan.vantage == SPREAD:
            scores[turn] = -_spread(keys, _greatest(points))
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
def _split(
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
        _rank(points, vantages[best], ids[begin:end], keys, order)
        cut = _settle(plan, points, rules, sensitive, scratch, keys, order, cuts[best])
        if cut > 0:
            ids[begin:end] = order
            return cut
        scores[best] = _FAR
    return 0


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
    scratch = _make_scratch(plan, points, rules)
    stack = np.empty((SAMPLE + 1, 2), np.int64)
    for node in range(len(nodes)):
        begin, end = nodes[node]
        cuts[node] = 0
        if end - begin > SAMPLE:
            cuts[node] = _split(plan, points, rules, sensitive, ids, begin, end, scratch)
            first[begin] = True
            continue
        stack[0, 0], stack[0, 1] = begin, end
        waiting = 1
        while waiting > 0:
            waiting -= 1
            begin, end = stack[waiting]
            first[begin] = True
            cut = _split(plan, points, rules, sensitive, ids, begin, end, scratch)
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
            key = away[i] << _SHIFT | ids[i]
            if part[i] != own and key < best:
                best, nearest = key, part[i]
    return nearest
