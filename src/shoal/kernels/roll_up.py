"""Groups of records at one node of a lattice, rolled up from the groups of a finer node.

A group is known by one of its records: where that record lies at the level of a column, the whole group does.
So the groups of a coarser node come from those of a finer one, and the table is never grouped again.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .rules import Rules
from .stats import Stats, add_count, clear_stats, make_stats, stats_ok

_SPREAD = np.uint64(0x9E3779B97F4A7C15)  # 2**64 over the golden ratio: neighbouring keys land far apart


class Levels(NamedTuple):
    """How the codes of every column climb: level l of column j begins at ``at[j] + l * width[j]``."""

    codes: NDArray[np.int32]  # [n, q], null being the last code of its column
    at: NDArray[np.int64]  # [q]
    width: NDArray[np.int64]  # [q] codes of the column, null included
    node: NDArray[np.int32]  # number of each code's node among those of its level
    told: NDArray[np.int64]  # what a cell still tells at that level, in units of `space.UNIT`


class Keys(NamedTuple):
    """How the nodes of a record become one number: the sum of factor times number over the columns."""

    at: NDArray[np.int64]  # [q] where the level of each column begins in the flat arrays
    factor: NDArray[np.uint64]  # [q]
    room: int  # keys are below this, and none stands for two groups; 0 where keys are hashes


@njit(cache=True)
def _same(levels: Levels, keys: Keys, a: int, b: int) -> bool:
    for j in range(len(keys.at)):
        at = keys.at[j]
        if levels.node[at + levels.codes[a, j]] != levels.node[at + levels.codes[b, j]]:
            return False
    return True


@njit(cache=True)
def roll_up(
    levels: Levels, keys: Keys, members: NDArray[np.int32], counts: NDArray[np.int32], most: int
) -> tuple[int, NDArray[np.int32], NDArray[np.int32], NDArray[np.int32]]:
    """Return (groups, group of each finer group, one record of each group, records of each group).

    `members` has one record of each finer group and `counts` its size. As soon as there are more than `most`
    groups, -1 stands for their number and the rest is left as it is.
    """
    m = len(members)
    direct = 0 < keys.room <= 4 * m + 1024
    bits = 1
    while not direct and (1 << bits) < 2 * min(m, most + 1):
        bits += 1
    slots = np.full(keys.room if direct else 1 << bits, -1, dtype=np.int32)
    mask, shift = np.uint64(len(slots) - 1), np.uint64(64 - bits)
    capacity = min(m, most)
    parent = np.empty(m, dtype=np.int32)
    member = np.empty(capacity, dtype=np.int32)
    count = np.zeros(capacity, dtype=np.int32)
    key_of = np.empty(0 if direct else capacity, dtype=np.uint64)
    groups = 0
    for i in range(m):
        record = members[i]
        key = np.uint64(0)
        for j in range(len(keys.at)):
            key += np.uint64(levels.node[keys.at[j] + levels.codes[record, j]]) * keys.factor[j]
        slot = key
        if not direct:
            slot = (key * _SPREAD) >> shift
            while slots[slot] >= 0:
                group = slots[slot]
                if key_of[group] == key and (keys.room > 0 or _same(levels, keys, member[group], record)):
                    break
                slot = (slot + np.uint64(1)) & mask
        group = slots[slot]
        if group < 0:
            if groups == capacity:
                return -1, parent, member, count
            group = groups
            slots[slot] = group
            member[group] = record
            if not direct:
                key_of[group] = key
            groups += 1
        parent[i] = group
        count[group] += counts[i]
    return groups, parent, member[:groups].copy(), count[:groups].copy()


class Values(NamedTuple):
    """How often each sensitive value, numbered as in `Rules.start`, occurs in each group; no zeros."""

    starts: NDArray[np.int64]  # [groups + 1]
    value: NDArray[np.int32]
    count: NDArray[np.int32]


@njit(cache=True)
def record_values(sensitive: NDArray[np.int32]) -> Values:
    """Return the sensitive values of every record by itself; `sensitive` is int32[s, n]."""
    s, n = sensitive.shape
    value = np.ascontiguousarray(sensitive.T).reshape(n * s)
    return Values(np.arange(n + 1) * s, value, np.ones(n * s, dtype=np.int32))


@njit(cache=True)
def roll_up_values(finer: Values, parent: NDArray[np.int32], groups: int, values: int) -> Values:
    """Return the values of the groups that finer groups became part of; `values` is how many there can be."""
    begins = np.zeros(groups + 1, dtype=np.int64)
    for p in parent:
        begins[p + 1] += 1
    begins = np.cumsum(begins)
    children = np.empty(len(parent), dtype=np.int32)
    filled = begins[:-1].copy()
    for i in range(len(parent)):
        children[filled[parent[i]]] = i
        filled[parent[i]] += 1
    total = np.zeros(values, dtype=np.int32)
    starts = np.zeros(groups + 1, dtype=np.int64)
    value = np.empty(len(finer.value), dtype=np.int32)
    count = np.empty(len(finer.value), dtype=np.int32)
    end = 0
    for group in range(groups):
        begin = end
        for child in children[begins[group] : begins[group + 1]]:
            for at in range(finer.starts[child], finer.starts[child + 1]):
                found = finer.value[at]
                if total[found] == 0:
                    value[end] = found
                    end += 1
                total[found] += finer.count[at]
        for at in range(begin, end):
            count[at] = total[value[at]]
            total[value[at]] = 0
        starts[group + 1] = end
    return Values(starts, value[:end].copy(), count[:end].copy())


@njit(cache=True)
def _fill(stats: Stats, rules: Rules, values: Values, group: int, size: int) -> None:
    clear_stats(stats, rules)
    stats.size[0] = size
    for at in range(values.starts[group], values.starts[group + 1]):
        value = values.value[at]
        j = 0
        while rules.start[j + 1] <= value:
            j += 1
        add_count(stats, rules, j, value, values.count[at])


@njit(cache=True)
def groups_ok(rules: Rules, values: Values, counts: NDArray[np.int32]) -> NDArray[np.bool_]:
    """Return whether each group of `counts` records keeps every promise."""
    stats = make_stats(rules)
    found = np.empty(len(counts), dtype=np.bool_)
    for group in range(len(counts)):
        found[group] = counts[group] >= rules.k
        if found[group] and not rules.plain:
            _fill(stats, rules, values, group, counts[group])
            found[group] = stats_ok(stats, rules)
    return found


@njit(cache=True)
def told_by(
    levels: Levels,
    at: NDArray[np.int64],
    members: NDArray[np.int32],
    counts: NDArray[np.int32],
    kept: NDArray[np.bool_],
) -> tuple[int, int]:
    """Return (records, what their cells tell) of the groups that are not kept; `at` as in `Keys`."""
    records, told = 0, 0
    for group in range(len(members)):
        if kept[group]:
            continue
        records += counts[group]
        for j in range(len(at)):
            told += counts[group] * levels.told[at[j] + levels.codes[members[group], j]]
    return records, told
