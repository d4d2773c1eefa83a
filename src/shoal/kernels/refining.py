"""Refinement: small sets of neighbouring classes are taken apart and put together again, side by side.

A round chooses sets that have no class in common, one after another, and then works on them in any order:
what becomes of a set depends on its own records and its own random numbers, so any number of threads makes
the same partition.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .drawing import chance, draw
from .k_member_index import FLAT, NULL, Columns
from .pool import NOWHERE, load, make_pool
from .rebuilding import FAILED, class_loss, grow_classes, place_rest, shuffle
from .rules import Rules
from .space import LINE, SET
from .stats import make_stats
from .target import Target

MOST = 8  # classes of a set
_FAR = np.int64(1) << 62
WALK = 12  # steps from a record to a neighbour's neighbour before another class must have been met


class Classes(NamedTuple):
    """The partition while it is refined: chains of records, one a class."""

    label: NDArray[np.int32]  # [n] -1 for suppressed records
    first: NDArray[np.int32]  # [room] a record of the class, -1 where there is none
    next: NDArray[np.int32]  # [n] the next record of the class, -1 behind the last
    size: NDArray[np.int64]  # [room]
    cost: NDArray[np.int64]  # [room] of all records of the class together
    used: NDArray[np.int64]  # [room] the last round that chose the class
    vacant: NDArray[np.int32]  # [room] labels without a class, the first `count[0]`
    count: NDArray[np.int64]  # [2] vacant labels; rounds so far


class Graph(NamedTuple):
    """Which records are near each other; records with the same values share a row."""

    values: NDArray[np.int32]  # [n, q] as `Pool.value` before numbering
    row: NDArray[np.int32]  # [n]
    near: NDArray[np.int32]  # [rows, neighbours]
    offsets: NDArray[np.int64]  # [rows + 1] the records of a row
    records: NDArray[np.int32]  # [n] row by row
    costly: NDArray[np.int32]  # records of classes with a loss; sets grow around them
    points: NDArray[np.float64]  # [n, d] where the loss is a squared error, else [0, 0]
    scale: float  # whole units of loss for a squared distance of 1


class Points(NamedTuple):
    """The records as points; none where the loss is not a squared error."""

    at: NDArray[np.float64]  # [n, d], or [0, 0]
    scale: float  # whole units of loss for a squared distance of 1


class Plan(NamedTuple):
    """How a round works."""

    sets: int  # at most, a round
    room: int  # records of a set, at most
    most: int  # classes of a set, at most
    tries: int  # groupings of each set
    temperature: float  # a loss this much greater is accepted one time in e
    seed: int


class Sets(NamedTuple):
    """The sets of one round."""

    members: NDArray[np.int32]  # [sets, labels] their classes, then vacant labels
    classes: NDArray[np.int64]  # [sets]
    labels: NDArray[np.int64]  # [sets] classes and vacant labels together
    after: NDArray[np.int64]  # [sets] classes when done
    change: NDArray[np.int64]  # [sets] of the loss


@njit(cache=True)
def class_losses(
    values: NDArray[np.int32], columns: Columns, order: NDArray[np.int32], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the loss of every class, all its records together."""
    kind, full, start = columns.kind, columns.full, columns.start
    node, node_cost = columns.node, columns.node_cost
    seen = np.full(start[len(kind)], -1, np.int64)
    found = np.zeros(len(offsets) - 1, np.int64)
    for c in range(len(found)):
        records = order[offsets[c] : offsets[c + 1]]
        for j in range(len(kind)):
            low, high, nulls, distinct = _FAR, -1, 0, 0
            for i in records:
                value = np.int64(values[i, j])
                if value == NULL:
                    nulls += 1
                    continue
                low, high = min(low, value), max(high, value)
                if kind[j] == SET and seen[start[j] + value] != c:
                    seen[start[j] + value] = c
                    distinct += 1
            if nulls == len(records):
                continue
            if nulls > 0:
                cost = full[j]
            elif kind[j] == LINE:
                cost = high - low
            elif kind[j] == FLAT:
                cost = full[j] if low < high else 0
            elif kind[j] == SET:
                cost = (distinct - 1) * full[j] // max(columns.size[j] - 1, 1)
            else:
                at = columns.tree_start[j]
                while node[at + low] != node[at + high]:
                    at += columns.size[j]
                cost = node_cost[at + low]
            found[c] += cost * len(records)
    return found


@njit(cache=True)
def make_classes(labels: NDArray[np.int32], losses: NDArray[np.int64], room: int) -> Classes:
    """Return the classes with these labels and losses, and labels for up to `room` of them."""
    n, made = len(labels), len(losses)
    classes = Classes(
        labels.copy(),
        np.full(room, -1, np.int32),
        np.full(n, -1, np.int32),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int64),
        np.zeros(room, np.int32),
        np.zeros(2, np.int64),
    )
    for record in range(n - 1, -1, -1):
        c = labels[record]
        if c >= 0:
            classes.next[record] = classes.first[c]
            classes.first[c] = record
            classes.size[c] += 1
    for c in range(made):
        classes.cost[c] = losses[c]
    for c in range(room - 1, made - 1, -1):
        classes.vacant[classes.count[0]] = c
        classes.count[0] += 1
    return classes


@njit(cache=True)
def make_sets(plan: Plan) -> Sets:
    """Return room for the sets of a round."""
    return Sets(
        np.empty((plan.sets, 4 * MOST), np.int32),
        np.zeros(plan.sets, np.int64),
        np.zeros(plan.sets, np.int64),
        np.zeros(plan.sets, np.int64),
        np.zeros(plan.sets, np.int64),
    )


@njit(cache=True)
def _neighbour(classes: Classes, graph: Graph, record: int, c: int, state: NDArray[np.uint64]) -> int:
    """Return the class that a random walk from a record of class `c` meets first, -1 if it meets none."""
    for _step in range(WALK):
        row = graph.near[graph.row[record], draw(state, graph.near.shape[1])]
        begin = graph.offsets[row]
        record = graph.records[begin + draw(state, graph.offsets[row + 1] - begin)]
        if classes.label[record] >= 0 and classes.label[record] != c:
            return classes.label[record]
    return -1


@njit(cache=True)
def choose_sets(classes: Classes, graph: Graph, plan: Plan, k: int, sets: Sets) -> int:
    """Choose the sets of a round; return how many."""
    label, size, used, vacant = classes.label, classes.size, classes.used, classes.vacant
    classes.count[1] += 1
    stamp = classes.count[1]
    state = np.array([plan.seed * 0x5851F42D4C957F2D + stamp * 0x14057B7EF767814F], np.uint64)
    chosen = 0
    for _attempt in range(2 * plan.sets if len(graph.costly) else 0):
        record = graph.costly[draw(state, len(graph.costly))]
        c = label[record]
        if used[c] == stamp or classes.cost[c] == 0 or size[c] > plan.room:
            continue
        used[c] = stamp
        sets.members[chosen, 0] = c
        found, free = 1, size[c]
        wanted = 2 + draw(state, plan.most - 1)
        for _try in range(2 * wanted):
            other = _neighbour(classes, graph, record, c, state)
            if other < 0 or used[other] == stamp or free + size[other] > plan.room:
                continue
            used[other] = stamp
            sets.members[chosen, found] = other
            found += 1
            free += size[other]
            if found == wanted:
                break
        sets.classes[chosen] = found
        labels = found
        while labels < min(free // k, sets.members.shape[1]) and classes.count[0] > 0:
            classes.count[0] -= 1
            sets.members[chosen, labels] = vacant[classes.count[0]]
            labels += 1
        sets.labels[chosen] = labels
        chosen += 1
        if chosen == plan.sets:
            break
    return chosen


@njit(cache=True)
def close_sets(classes: Classes, sets: Sets, chosen: int) -> int:
    """Give back the labels that no class has taken; return the change of the loss."""
    change = np.int64(0)
    for s in range(chosen):
        change += sets.change[s]
        for at in range(sets.labels[s] - 1, sets.after[s] - 1, -1):
            classes.vacant[classes.count[0]] = sets.members[s, at]
            classes.count[0] += 1
    return change


@njit(cache=True)
def take_apart(classes: Classes, sets: Sets, s: int, taken: NDArray[np.int64]) -> tuple[int, int]:
    """Collect the records of a set; return (how many, their loss)."""
    free, loss = 0, np.int64(0)
    for at in range(sets.classes[s]):
        c = sets.members[s, at]
        loss += classes.cost[c]
        record = classes.first[c]
        while record >= 0:
            taken[free] = record
            free += 1
            record = classes.next[record]
    return free, loss


@njit(cache=True)
def put_together(
    classes: Classes,
    sets: Sets,
    s: int,
    taken: NDArray[np.int64],
    group: NDArray[np.int32],
    losses: NDArray[np.int64],
    groups: int,
) -> None:
    """Make a grouping of the records taken from a set the classes of the set."""
    for at in range(max(sets.classes[s], groups)):
        c = sets.members[s, at]
        classes.first[c] = -1
        classes.size[c] = 0
        classes.cost[c] = losses[at] if at < groups else 0
    for f in range(len(taken)):
        c = sets.members[s, group[f]]
        record = taken[f]
        classes.next[record] = classes.first[c]
        classes.first[c] = record
        classes.label[record] = c
        classes.size[c] += 1
    sets.after[s] = groups


@njit(cache=True)
def bearable(plan: Plan, state: NDArray[np.uint64]) -> float:
    """Return by how much the loss may grow this time."""
    return -plan.temperature * math.log(chance(state)) if plan.temperature > 0 else 0.0


@njit(cache=True, inline="always")
def seed_set(plan: Plan, stamp: int, s: int, state: NDArray[np.uint64]) -> None:
    """Let the random numbers of a set depend on the round and its number alone."""
    state[0] = np.uint64(
        plan.seed * 0x2545F4914F6CDD1D + stamp * 0x369DEA0F31A53F85 + s * 0x27BB2EE687B0B0FD + 1
    )


@njit(cache=True, nogil=True)
def refine(
    classes: Classes,
    graph: Graph,
    columns: Columns,
    rules: Rules,
    sensitive: NDArray[np.int32],
    target: Target,
    plan: Plan,
    sets: Sets,
    rounds: int,
    begin: int,
    end: int,
) -> tuple[int, int]:
    """Work through some rounds; return (sets, change of the loss).

    Without rounds, on the sets of a round from `begin` to `end`, which have been chosen.
    """
    done, change = 0, np.int64(0)
    pool = make_pool(columns, rules, target, plan.room, sets.members.shape[1])
    stats, state = make_stats(rules), np.empty(1, np.uint64)
    losses = np.zeros(sets.members.shape[1], np.int64)
    for _round in range(max(rounds, 1)):
        if rounds > 0:
            begin, end = 0, choose_sets(classes, graph, plan, rules.k, sets)
        for s in range(begin, end):
            seed_set(plan, classes.count[1], s, state)
            free, before = take_apart(classes, sets, s, pool.record)
            shuffle(pool.record, free, state)
            load(pool, graph.values, free)
            least, groups = FAILED, np.int64(0)
            for _try in range(plan.tries):
                pool.group[:free] = NOWHERE
                made = grow_classes(pool, free, draw(state, 2) == 0, rules, sensitive, stats, state)
                if made == 0 or made > sets.labels[s]:
                    continue
                if not place_rest(pool, free, made, rules, sensitive, stats):
                    continue
                loss = np.int64(0)
                for c in range(made):
                    loss += class_loss(pool, c)
                if loss < least:
                    least, groups = loss, made
                    for f in range(free):
                        pool.best[f] = pool.group[f]
                    for c in range(made):
                        losses[c] = class_loss(pool, c)
            sets.after[s], sets.change[s] = sets.classes[s], 0
            if least < FAILED and least - before <= bearable(plan, state):
                sets.change[s] = least - before
                put_together(classes, sets, s, pool.record[:free], pool.best, losses, groups)
        if rounds > 0:
            change += close_sets(classes, sets, end)
            done += end
    return done, change
