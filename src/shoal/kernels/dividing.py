"""Large classes cut into small ones that keep every promise, in blocks of neighbouring records."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .k_member_index import Columns
from .nearness import pair_cost
from .pool import NOWHERE, Pool, load, make_pool
from .rebuilding import grow_classes, place_rest
from .rules import Rules
from .stats import Stats, add_record, clear_stats, make_stats, stats_ok
from .target import Target

BLOCK = 512  # records that are grouped at once, and at least four times k
CANDIDATES = 1000  # classes that a record without a place is compared with
_FAR = np.int64(1) << 62


@njit(cache=True)
def divide(
    order: NDArray[np.int32],
    offsets: NDArray[np.int64],
    values: NDArray[np.int32],
    columns: Columns,
    rules: Rules,
    sensitive: NDArray[np.int32],
    target: Target,
) -> tuple[NDArray[np.int32], int]:
    """Return (labels, how many): every class of 2k records or more is cut, where its parts keep the promises.

    A part never costs more than the whole. `order` lists the records class by class, near ones together.
    """
    labels = np.full(len(values), NOWHERE, np.int32)
    following = np.full(len(values), NOWHERE, np.int32)
    room = max(BLOCK, 4 * rules.k)
    pool, stats = make_pool(columns, rules, target, room, room // rules.k + 1), make_stats(rules)
    random = np.zeros(1, np.uint64)
    first = np.full(len(order) // rules.k + len(offsets), NOWHERE, np.int32)
    made = np.int64(0)  # a literal would compile what is called with it a second time
    for c in range(len(offsets) - 1):
        records = order[offsets[c] : offsets[c + 1]]
        parts = 0
        if len(records) >= 2 * rules.k:
            found = labels, following, first[made:]
            parts = _blocks(records, pool, values, found, made, rules, sensitive, stats, random)
            if parts > 0 and not _place_waiting(
                records, values, columns, found, made, parts, rules, sensitive, stats
            ):
                parts = 0
        if parts == 0:
            for i in records:
                labels[i] = made
            parts = 1
        made += parts
    return labels, made


@njit(cache=True, inline="always")
def _blocks(
    records: NDArray[np.int64],
    pool: Pool,
    values: NDArray[np.int32],
    found: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    label: int,
    rules: Rules,
    sensitive: NDArray[np.int32],
    stats: Stats,
    random: NDArray[np.uint64],
) -> int:
    """Group one class block by block, who finds no place waiting for the next; return how many classes."""
    labels, following, first = found
    at, waiting, made = 0, 0, 0
    while at < len(records):
        waiting = min(waiting, len(pool.record) // 4)  # the others are seen to at the end
        more = min(len(pool.record) - waiting, len(records) - at)
        if 0 < len(records) - at - more < rules.k:  # no block of too few records at the end
            more = (more + 1) // 2
        for f in range(waiting, waiting + more):
            pool.record[f] = records[at]
            at += 1
        free = waiting + more
        load(pool, values, free)
        pool.group[:free] = NOWHERE
        furthest = free > 0  # a literal would compile what is called with it a second time
        groups = grow_classes(pool, free, furthest, rules, sensitive, stats, random)
        place_rest(pool, free, groups, rules, sensitive, stats)
        waiting = 0
        first[made : made + groups] = NOWHERE
        for f in range(free):
            i, c = pool.record[f], pool.group[f]
            if c == NOWHERE:
                labels[i] = NOWHERE
                pool.record[waiting] = i
                waiting += 1
                continue
            labels[i] = label + made + c
            following[i] = first[made + c]
            first[made + c] = i
        made += groups
    return made


@njit(cache=True, inline="always")
def _place_waiting(
    records: NDArray[np.int64],
    values: NDArray[np.int32],
    columns: Columns,
    found: tuple[NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]],
    label: int,
    made: int,
    rules: Rules,
    sensitive: NDArray[np.int32],
    stats: Stats,
) -> bool:
    """Put who is still without a class into a near one that stays good; return whether all found one."""
    labels, following, first = found
    step = max(made // CANDIDATES, 1)
    for at in range(len(records)):
        i = records[at]
        if labels[i] != NOWHERE:
            continue
        best, least = NOWHERE, _FAR
        for c in range(at % step, made, step):
            cost = pair_cost(columns, values[i], values[first[c]])
            if cost >= least:
                continue
            clear_stats(stats, rules)
            add_record(stats, rules, sensitive, i)
            member = first[c]
            while member >= 0:
                add_record(stats, rules, sensitive, member)
                member = following[member]
            if stats_ok(stats, rules):
                best, least = c, cost
        if best == NOWHERE:
            return False
        labels[i] = label + best
        following[i] = first[best]
        first[best] = i
    return True
