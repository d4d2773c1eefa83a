"""Greedy groupings of a pool of records, and which one to keep."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .drawing import draw
from .k_member_index import FLAT, NULL
from .pool import (
    COST,
    DISTINCT,
    FULL,
    HIGH,
    HOLDS,
    KIND,
    LOW,
    MIXED,
    NOWHERE,
    NULLS,
    SIZE,
    SLOT,
    TAKEN,
    TREE_START,
    VALUES,
    Pool,
    extras,
    include,
)
from .rules import Rules
from .space import LINE, SET, TREE
from .stats import Stats, add_record, clear_stats, remove_record, stats_ok
from .target import label_growth, label_loss

_FAR = np.int64(1) << 62
FAILED = _FAR
TRIED = np.int64(1) << 56
TRIES = 16  # different sensitive values that are tried for the next record of a class


@njit(cache=True)
def shuffle(record: NDArray[np.int64], free: int, state: NDArray[np.uint64]) -> None:
    """Bring the first `free` records into a random order, which decides ties."""
    for f in range(free - 1, 0, -1):
        g = draw(state, f + 1)
        record[f], record[g] = record[g], record[f]


@njit(cache=True)
def _cheapest(increase: NDArray[np.int64], free: int) -> int:
    best, least = 0, increase[0]
    for f in range(1, free):
        if increase[f] < least:
            best, least = f, increase[f]
    return best


@njit(cache=True)
def _next_seed(
    group: NDArray[np.int32],
    away: NDArray[np.int64],
    free: int,
    furthest: bool,
    random: NDArray[np.uint64],
) -> int:
    """Return a record that is free: the one furthest from the last seed, or any."""
    if not furthest:
        f = draw(random, free)
        while group[f] != NOWHERE:
            f = f + 1 if f + 1 < free else 0
        return f
    best, most = NOWHERE, np.int64(-1)
    for f in range(free):
        if group[f] == NOWHERE and away[f] > most:
            best, most = f, away[f]
    return best


@njit(cache=True)
def _promising_record(
    record: NDArray[np.int64],
    increase: NDArray[np.int64],
    limit: NDArray[np.float64],
    free: int,
    rules: Rules,
    sensitive: NDArray[np.int32],
    stats: Stats,
) -> int:
    """Return the cheapest record that a class which has to keep promises can do with.

    As soon as the class is large enough with it, one with which it keeps every promise; else one whose
    sensitive values are not too frequent then; else the cheapest. Records with the same values are one try.
    """
    size = stats.size[0] + 1
    found, second = NOWHERE, NOWHERE
    for _try in range(TRIES):
        f = _cheapest(increase, free)
        if increase[f] >= TRIED:
            break
        if second == NOWHERE and _bearable(record[f], limit, max(size, rules.k), sensitive, stats):
            second = f
            if size < rules.k:
                found = f
                break
        if size >= rules.k:
            add_record(stats, rules, sensitive, record[f])
            good = stats_ok(stats, rules)
            remove_record(stats, rules, sensitive, record[f])
            if good:
                found = f
                break
        for g in range(free):
            if increase[g] < TRIED and _same(sensitive, record[f], record[g]):
                increase[g] += TRIED
    for g in range(free):
        if TRIED <= increase[g] < TAKEN:
            increase[g] -= TRIED
    if found == NOWHERE:
        found = second if second != NOWHERE else _cheapest(increase, free)
    return found


@njit(cache=True)
def _bearable(
    i: int, limit: NDArray[np.float64], size: int, sensitive: NDArray[np.int32], stats: Stats
) -> bool:
    """Return whether a class of `size` records may hold the sensitive values of a record once more."""
    for j in range(len(sensitive)):
        value = sensitive[j, i]
        if stats.counts[value] + 1 > limit[value] * size:
            return False
    return True


@njit(cache=True)
def _same(sensitive: NDArray[np.int32], a: int, b: int) -> bool:
    for j in range(len(sensitive)):  # noqa: SIM110  (Numba compiles no generator)
        if sensitive[j, a] != sensitive[j, b]:
            return False
    return True


@njit(cache=True)
def _still_ok(
    record: NDArray[np.int64],
    group: NDArray[np.int32],
    c: int,
    f: int,
    free: int,
    rules: Rules,
    sensitive: NDArray[np.int32],
    stats: Stats,
) -> bool:
    """Return whether class `c` keeps every promise with one more record."""
    clear_stats(stats, rules)
    for g in range(free):
        if group[g] == c or g == f:
            add_record(stats, rules, sensitive, record[g])
    return stats_ok(stats, rules)


@njit(cache=True)
def place_rest(
    pool: Pool, free: int, groups: int, rules: Rules, sensitive: NDArray[np.int32], stats: Stats
) -> bool:
    """Put who is left over where the loss grows least; return whether every record found a class.

    Those that did not stay where they are, in none.
    """
    group, size, state, q = pool.group, pool.size, pool.state, len(pool.shape)
    more = np.empty(q, np.int64)
    whole = True
    for f in range(free):
        if group[f] != NOWHERE:
            continue
        floor = np.int64(-1)
        while True:
            best, least = np.int64(NOWHERE), _FAR
            for c in range(groups):
                grown = (size[c] + 1) * extras(pool, c, f, more)
                for j in range(q):
                    grown += state[c, j, COST]
                if pool.target.labels > 0:
                    label_growth(pool.target, pool.held[c], size[c], pool.growth)
                    grown += pool.growth[pool.label[f]]
                grown = grown * groups + c
                if floor < grown < least:
                    best, least = c, grown
            if (
                best == NOWHERE
                or rules.plain
                or _still_ok(pool.record, group, best, f, free, rules, sensitive, stats)
            ):
                break
            floor = least
        if best == NOWHERE:
            whole = False
            continue
        extras(pool, best, f, more)
        include(pool, best, f, more)
    return whole


@njit(cache=True)
def grow_classes(
    pool: Pool,
    free: int,
    furthest: bool,
    rules: Rules,
    sensitive: NDArray[np.int32],
    stats: Stats,
    random: NDArray[np.uint64],
) -> int:
    """Grow classes from seeds until too few records are left; return how many classes.

    One loop over everything: what a seed does to its class is what any record does to it, in all columns.
    """
    record, value, extra, increase, group = pool.record, pool.value, pool.extra, pool.increase, pool.group
    away, size, state, present, shape = pool.away, pool.size, pool.state, pool.present, pool.shape
    node, node_cost, limit = pool.node, pool.node_cost, pool.limit
    target, label, held, growth = pool.target, pool.label, pool.held, pool.growth
    plain, k, q = rules.plain, rules.k, len(shape)
    c, left = 0, free
    size[0] = 0
    while True:
        if size[c] == 0:
            if left < k:
                return c
            f = _next_seed(group, away, free, furthest and c > 0, random)
            if not plain:
                clear_stats(stats, rules)
            for g in range(free):
                increase[g] = 0 if group[g] == NOWHERE else TAKEN
        elif size[c] == left:  # what is left cannot be a class of its own
            for g in range(free):
                if group[g] == c:
                    group[g] = NOWHERE
            return c
        elif plain:
            f, least = 0, increase[0]
            for g in range(1, free):
                if increase[g] < least:
                    f, least = g, increase[g]
        else:
            f = _promising_record(record, increase, limit, free, rules, sensitive, stats)
        group[f] = c
        size[c] += 1
        first = size[c] == 1
        for j in range(q):
            v, kind, full = np.int64(value[j, f]), shape[j, KIND], shape[j, FULL]
            if first:
                state[c, j, HOLDS] = NULLS if v == NULL else VALUES
                state[c, j, LOW] = v
                state[c, j, HIGH] = v
                state[c, j, DISTINCT] = 0 if v == NULL else 1
                state[c, j, COST] = 0
                if kind == TREE and v != NULL:
                    state[c, j, COST] = node_cost[shape[j, TREE_START] + v]
                elif kind == SET:
                    for g in range(free):
                        present[c, shape[j, SLOT], g] = g == v
                for g in range(free):
                    extra[j, g] = 0
            else:
                state[c, j, COST] += extra[j, f]
                holds = state[c, j, HOLDS]
                if holds == MIXED or (v == NULL and holds == NULLS):
                    continue
                if v == NULL or holds == NULLS:
                    state[c, j, HOLDS] = MIXED
                elif kind == SET:
                    if present[c, shape[j, SLOT], v]:
                        continue
                    present[c, shape[j, SLOT], v] = True
                    state[c, j, DISTINCT] += 1
                elif state[c, j, LOW] <= v <= state[c, j, HIGH]:
                    continue
                else:
                    state[c, j, LOW] = min(v, state[c, j, LOW])
                    state[c, j, HIGH] = max(v, state[c, j, HIGH])
            holds, cost = state[c, j, HOLDS], state[c, j, COST]
            low, high = state[c, j, LOW], state[c, j, HIGH]
            if holds == MIXED or (kind == FLAT and low != high):
                for g in range(free):
                    increase[g] -= extra[j, g]
                    extra[j, g] = 0
            elif holds == NULLS:
                for g in range(free):
                    more = 0 if value[j, g] == NULL else full
                    increase[g] += more - extra[j, g]
                    extra[j, g] = more
            elif kind == FLAT:
                for g in range(free):
                    more = 0 if value[j, g] == low else full
                    increase[g] += more - extra[j, g]
                    extra[j, g] = more
            elif kind == LINE:
                for g in range(free):
                    w = np.int64(value[j, g])
                    more = (max(high, w) - min(low, w) if w != NULL else full) - cost
                    increase[g] += more - extra[j, g]
                    extra[j, g] = more
            elif kind == SET:
                at = shape[j, SLOT]
                step = state[c, j, DISTINCT] * full // max(shape[j, SIZE] - 1, 1) - cost
                for g in range(free):
                    w = value[j, g]
                    more = full - cost if w == NULL else 0 if present[c, at, w] else step
                    increase[g] += more - extra[j, g]
                    extra[j, g] = more
            else:
                for g in range(free):
                    w = np.int64(value[j, g])
                    more = full - cost
                    if w != NULL:
                        one, two, at = min(low, w), max(high, w), shape[j, TREE_START]
                        while node[at + one] != node[at + two]:
                            at += shape[j, SIZE]
                        more = node_cost[at + one] - cost
                    increase[g] += more - extra[j, g]
                    extra[j, g] = more
        if first:
            for g in range(free):
                away[g] = increase[g]
        if target.labels > 0:
            if first:
                held[c] = 0
                extra[q, :free] = 0
            held[c, label[f]] += 1
            label_growth(target, held[c], size[c], growth)
            for g in range(free):
                if group[g] == NOWHERE:
                    more = growth[label[g]] // k  # of the whole class: a record's share of it
                    increase[g] += more - extra[q, g]
                    extra[q, g] = more
        increase[f] = TAKEN
        if not plain:
            add_record(stats, rules, sensitive, record[f])
        if size[c] >= k and (plain or stats_ok(stats, rules)):
            left -= size[c]
            c += 1
            if c == len(size):
                return c
            size[c] = 0


@njit(cache=True)
def class_loss(pool: Pool, c: int) -> int:
    """Return the loss of one class of the pool."""
    loss = pool.size[c] * pool.state[c, :, COST].sum()
    if pool.target.labels > 0:
        loss += label_loss(pool.target, pool.held[c], pool.size[c])
    return loss
