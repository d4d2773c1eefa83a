"""Regrouping a pool of points so that the squared error becomes small: greedily, then by single moves."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .drawing import draw
from .rebuilding import FAILED, shuffle
from .refining import (
    Classes,
    Graph,
    Plan,
    Points,
    Sets,
    bearable,
    choose_sets,
    close_sets,
    put_together,
    seed_set,
    take_apart,
)
from .rules import Rules
from .stats import Stats, add_record, clear_stats, make_stats, stats_ok

NOWHERE = -1
SWEEPS = 8  # over all records of the pool, for single moves


class Sums(NamedTuple):
    """The points of a pool, and what its classes add up to."""

    at: NDArray[np.float64]  # [room, d] relative to the mean of the pool
    total: NDArray[np.float64]  # [groups, d]
    distance: NDArray[np.float64]  # [room]


@njit(cache=True)
def make_sums(points: Points, room: int, groups: int) -> Sums:
    """Return scratch space for pools of `room` records in at most `groups` classes."""
    d = points.at.shape[1]
    return Sums(np.empty((room, d)), np.empty((groups, d)), np.empty(room))


@njit(cache=True)
def class_squares(points: Points, order: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the squared error of every class in whole units."""
    d = points.at.shape[1]
    found = np.zeros(len(offsets) - 1, np.int64)
    for c in range(len(found)):
        records = order[offsets[c] : offsets[c + 1]]
        squares = 0.0
        for j in range(d):
            mean = 0.0
            for i in records:
                mean += points.at[i, j]
            mean /= len(records)
            for i in records:
                squares += (points.at[i, j] - mean) ** 2
        found[c] = np.int64(np.rint(squares * points.scale))
    return found


@njit(cache=True)
def load_points(sums: Sums, points: Points, record: NDArray[np.int64], free: int) -> None:
    """Copy the points of the first `free` records, relative to their mean."""
    at, source = sums.at, points.at
    for j in range(at.shape[1]):
        mean = 0.0
        for f in range(free):
            mean += source[record[f], j]
        mean /= free
        for f in range(free):
            at[f, j] = source[record[f], j] - mean


@njit(cache=True)
def _grow_squares(
    sums: Sums,
    group: NDArray[np.int32],
    size: NDArray[np.int64],
    free: int,
    k: int,
    groups: int,
    random: NDArray[np.uint64],
) -> None:
    """Fill classes of k records from seeds that are random or far out; the others join the nearest."""
    at, total, distance = sums.at, sums.total, sums.distance
    d = at.shape[1]
    group[:free] = NOWHERE
    running, far = draw(random, 2) == 0, draw(random, 2) == 0
    for c in range(groups):
        seed = draw(random, free)
        while group[seed] != NOWHERE:
            seed = seed + 1 if seed + 1 < free else 0
        if far:
            most = -1.0
            for f in range(free):
                if group[f] == NOWHERE:
                    away = 0.0
                    for j in range(d):
                        away += at[f, j] ** 2
                    if away > most:
                        seed, most = f, away
        group[seed], size[c] = c, 1
        for j in range(d):
            total[c, j] = at[seed, j]
        fresh = True
        for _more in range(k - 1):
            best = NOWHERE
            for f in range(free):
                if group[f] != NOWHERE:
                    continue
                if fresh or running:
                    away = 0.0
                    for j in range(d):
                        away += (at[f, j] - total[c, j] / size[c]) ** 2
                    distance[f] = away
                if best == NOWHERE or distance[f] < distance[best]:
                    best = f
            fresh = False
            group[best] = c
            size[c] += 1
            for j in range(d):
                total[c, j] += at[best, j]
    for f in range(free):
        if group[f] == NOWHERE:
            best, least = 0, np.inf
            for c in range(groups):
                away = 0.0
                for j in range(d):
                    away += (at[f, j] - total[c, j] / size[c]) ** 2
                away *= size[c] / (size[c] + 1.0)
                if away < least:
                    best, least = c, away
            group[f] = best
            size[best] += 1
            for j in range(d):
                total[best, j] += at[f, j]


@njit(cache=True)
def _move(sums: Sums, group: NDArray[np.int32], size: NDArray[np.int64], f: int, c: int) -> None:
    """Put a record into another class."""
    a = group[f]
    for j in range(sums.at.shape[1]):
        sums.total[a, j] -= sums.at[f, j]
        sums.total[c, j] += sums.at[f, j]
    size[a] -= 1
    size[c] += 1
    group[f] = c


@njit(cache=True)
def _improve(
    sums: Sums, group: NDArray[np.int32], size: NDArray[np.int64], free: int, k: int, groups: int
) -> None:
    """Relocate and swap single records as long as that lowers the squared error."""
    at, total = sums.at, sums.total
    d = at.shape[1]
    for _sweep in range(SWEEPS):
        changed = False
        for f in range(free):
            a = group[f]
            if size[a] > k:
                leave = 0.0
                for j in range(d):
                    leave += (at[f, j] - total[a, j] / size[a]) ** 2
                leave *= size[a] / (size[a] - 1.0)
                for c in range(groups):
                    if c == a:
                        continue
                    join = 0.0
                    for j in range(d):
                        join += (at[f, j] - total[c, j] / size[c]) ** 2
                    if join * size[c] / (size[c] + 1.0) < leave * (1 - 1e-9):
                        _move(sums, group, size, f, c)
                        changed = True
                        break
            for g in range(f + 1, free):
                a, b = group[f], group[g]
                if a == b:
                    continue
                one, two, both = 0.0, 0.0, 0.0
                for j in range(d):
                    v = at[g, j] - at[f, j]
                    one += total[a, j] * v
                    two += total[b, j] * v
                    both += v * v
                gain = (2 * one + both) / size[a] + (both - 2 * two) / size[b]
                if gain > 1e-9 * both:
                    for j in range(d):
                        v = at[g, j] - at[f, j]
                        total[a, j] += v
                        total[b, j] -= v
                    group[f], group[g] = b, a
                    changed = True
        if not changed:
            return


@njit(cache=True)
def regroup_squares(
    sums: Sums,
    points: Points,
    record: NDArray[np.int64],
    group: NDArray[np.int32],
    size: NDArray[np.int64],
    losses: NDArray[np.int64],
    free: int,
    rules: Rules,
    sensitive: NDArray[np.int32],
    stats: Stats,
    random: NDArray[np.uint64],
) -> tuple[int, int]:
    """Group the pool into as many classes as it has records for, or one less; return (loss, classes).

    The loss is `FAILED` where a class does not keep every promise. `losses` are those of the classes.
    """
    groups = min(free // rules.k, len(size))
    if groups > 1 and draw(random, 4) == 0:
        groups -= 1
    _grow_squares(sums, group, size, free, rules.k, groups, random)
    _improve(sums, group, size, free, rules.k, groups)
    whole = np.int64(0)
    for c in range(groups):
        clear_stats(stats, rules)
        squares = 0.0
        for f in range(free):
            if group[f] != c:
                continue
            add_record(stats, rules, sensitive, record[f])
            for j in range(sums.at.shape[1]):
                squares += (sums.at[f, j] - sums.total[c, j] / size[c]) ** 2
        if not stats_ok(stats, rules):
            return FAILED, groups
        losses[c] = np.int64(np.rint(squares * points.scale))
        whole += losses[c]
    return whole, groups


@njit(cache=True, nogil=True)
def refine_squares(
    classes: Classes,
    graph: Graph,
    rules: Rules,
    sensitive: NDArray[np.int32],
    plan: Plan,
    sets: Sets,
    rounds: int,
    begin: int,
    end: int,
) -> tuple[int, int]:
    """Do what `refine` does, for squared errors."""
    done, change = 0, np.int64(0)
    points, most = Points(graph.points, graph.scale), sets.members.shape[1]
    sums, stats, state = make_sums(points, plan.room, most), make_stats(rules), np.empty(1, np.uint64)
    taken, size = np.empty(plan.room, np.int64), np.zeros(most, np.int64)
    group, best = np.empty(plan.room, np.int32), np.empty(plan.room, np.int32)
    tried, losses = np.zeros(most, np.int64), np.zeros(most, np.int64)
    for _round in range(max(rounds, 1)):
        if rounds > 0:
            begin, end = 0, choose_sets(classes, graph, plan, rules.k, sets)
        for s in range(begin, end):
            seed_set(plan, classes.count[1], s, state)
            free, before = take_apart(classes, sets, s, taken)
            shuffle(taken, free, state)
            load_points(sums, points, taken, free)
            least, groups = FAILED, np.int64(0)
            for _try in range(plan.tries):
                loss, made = regroup_squares(
                    sums, points, taken, group, size, tried, free, rules, sensitive, stats, state
                )
                if loss < least and made <= sets.labels[s]:
                    least, groups = loss, made
                    for f in range(free):
                        best[f] = group[f]
                    for c in range(made):
                        losses[c] = tried[c]
            sets.after[s], sets.change[s] = sets.classes[s], 0
            if least < FAILED and least - before <= bearable(plan, state):
                sets.change[s] = least - before
                put_together(classes, sets, s, taken[:free], best, losses, groups)
        if rounds > 0:
            change += close_sets(classes, sets, end)
            done += end
    return done, change
