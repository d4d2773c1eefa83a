"""Statistics of one class, kept up to date record by record, and the test of all privacy models on them.

Everything that is accumulated is a whole number, so the order in which records come and go leaves no trace,
and merging two classes gives exactly the statistics of their union.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .rules import Rules

LOG_UNIT = float(1 << 24)  # c * ln(c) is counted in units of 2**-24
NEAR = 1e-6  # entropies nearer to their threshold than this are computed again without rounding to units
MARGIN = 1e-12  # and must then pass it by this much, ties between equally frequent values apart


class Stats(NamedTuple):
    """Statistics of one class. With `Rules.plain` only `size` is kept."""

    size: NDArray[np.int64]  # [1]
    counts: NDArray[np.int64]  # [v] records of each sensitive value
    distinct: NDArray[np.int64]  # [s] number of different values
    largest: NDArray[np.int64]  # [s] count of the most frequent value
    clogc: NDArray[np.int64]  # [s] sum of c * ln(c) in units; kept where an entropy is asked for
    present: NDArray[np.int32]  # [v] the values that occur: those of column j from `Rules.start[j]` on
    place: NDArray[np.int32]  # [v] where a value that occurs stands in `present`


@njit(cache=True)
def make_stats(rules: Rules) -> Stats:
    """Return the statistics of an empty class."""
    values, columns = len(rules.overall), len(rules.min_distinct)
    return Stats(
        np.zeros(1, dtype=np.int64),
        np.zeros(values, dtype=np.int64),
        np.zeros(columns, dtype=np.int64),
        np.zeros(columns, dtype=np.int64),
        np.zeros(columns, dtype=np.int64),
        np.zeros(values, dtype=np.int32),
        np.zeros(values, dtype=np.int32),
    )


@njit(cache=True)
def _log_units(count: int) -> int:
    """Return c * ln(c) in whole units; a function of the count alone, so differences of it telescope."""
    if count < 2:
        return 0
    return int(count * math.log(count) * LOG_UNIT)


@njit(cache=True)
def _change(stats: Stats, rules: Rules, j: int, value: int, by: int) -> None:
    """Count `by` more records (fewer when negative) of a value of column `j`."""
    before = stats.counts[value]
    after = before + by
    stats.counts[value] = after
    if before == 0:
        at = rules.start[j] + stats.distinct[j]
        stats.present[at] = value
        stats.place[value] = at
        stats.distinct[j] += 1
    elif after == 0:
        stats.distinct[j] -= 1
        last = stats.present[rules.start[j] + stats.distinct[j]]
        stats.present[stats.place[value]] = last
        stats.place[last] = stats.place[value]
    if after > stats.largest[j]:
        stats.largest[j] = after
    elif by < 0 and before == stats.largest[j]:
        stats.largest[j] = _find_largest(stats, rules, j)
    if rules.min_entropy[j] > 0.0:
        stats.clogc[j] += _log_units(after) - _log_units(before)


@njit(cache=True)
def _find_largest(stats: Stats, rules: Rules, j: int) -> int:
    largest = 0
    for at in range(rules.start[j], rules.start[j] + stats.distinct[j]):
        largest = max(largest, int(stats.counts[stats.present[at]]))
    return largest


@njit(cache=True)
def add_record(stats: Stats, rules: Rules, sensitive: NDArray[np.int32], i: int) -> None:
    """Add record `i`; `sensitive` is int32[s, n] as `Encoded.flat_sensitive` makes it."""
    stats.size[0] += 1
    if not rules.plain:
        for j in range(len(stats.distinct)):
            _change(stats, rules, j, sensitive[j, i], 1)


@njit(cache=True)
def remove_record(stats: Stats, rules: Rules, sensitive: NDArray[np.int32], i: int) -> None:
    """Remove record `i`, which must have been added."""
    stats.size[0] -= 1
    if not rules.plain:
        for j in range(len(stats.distinct)):
            _change(stats, rules, j, sensitive[j, i], -1)


@njit(cache=True)
def merge_stats(into: Stats, other: Stats, rules: Rules) -> None:
    """Add all records of another class; `other` stays as it is and must not be `into` itself."""
    into.size[0] += other.size[0]
    if not rules.plain:
        for j in range(len(into.distinct)):
            for at in range(rules.start[j], rules.start[j] + other.distinct[j]):
                value = other.present[at]
                _change(into, rules, j, value, other.counts[value])


@njit(cache=True)
def clear_stats(stats: Stats, rules: Rules) -> None:
    """Empty the class, in time of the values that occur in it."""
    stats.size[0] = 0
    for j in range(len(stats.distinct)):
        for at in range(rules.start[j], rules.start[j] + stats.distinct[j]):
            stats.counts[stats.present[at]] = 0
        stats.distinct[j] = 0
        stats.largest[j] = 0
        stats.clogc[j] = 0


@njit(cache=True)
def stats_ok(stats: Stats, rules: Rules) -> bool:
    """Return whether a class with these statistics keeps every promise, the cheap tests first.

    Near a threshold the answer may be no where exact arithmetic says yes, never the other way round.
    """
    if stats.size[0] < rules.k:
        return False
    if rules.plain:
        return True
    for j in range(len(stats.distinct)):
        if stats.distinct[j] < rules.min_distinct[j]:
            return False
    for j in range(len(stats.distinct)):
        if rules.min_entropy[j] > 0.0 and not _entropy_ok(stats, rules, j):
            return False
        if rules.recursive_l[j] > 0 and not _recursive_ok(stats, rules, j):
            return False
        if rules.bounded[j] and not _bounds_ok(stats, rules, j):
            return False
    for j in range(len(stats.distinct)):
        if rules.t_equal[j] < np.inf and not _equal_ok(stats, rules, j):
            return False
        if rules.t_ordered[j] < np.inf and not _ordered_ok(stats, rules, j):
            return False
        if rules.t_tree[j] < np.inf and not _tree_ok(stats, rules, j):
            return False
    return True


@njit(cache=True)
def class_ok(rules: Rules, sensitive: NDArray[np.int32], records: NDArray[np.int64], stats: Stats) -> bool:
    """Return whether a class of these records keeps every promise; `stats` is overwritten."""
    clear_stats(stats, rules)
    for i in records:
        add_record(stats, rules, sensitive, i)
    return stats_ok(stats, rules)


@njit(cache=True)
def _entropy_ok(stats: Stats, rules: Rules, j: int) -> bool:
    n = stats.size[0]
    surplus = math.log(n) - stats.clogc[j] / LOG_UNIT / n - rules.min_entropy[j]
    if abs(surplus) > NEAR:
        return bool(surplus > 0.0)
    if stats.largest[j] * stats.distinct[j] == n:
        return True  # all equally frequent, and `min_distinct` has seen that there are enough of them
    entropy = 0.0
    for at in range(rules.start[j], rules.start[j] + stats.distinct[j]):
        share = stats.counts[stats.present[at]] / n
        entropy -= share * math.log(share)
    return bool(entropy >= rules.min_entropy[j] * (1.0 + MARGIN))


@njit(cache=True)
def _recursive_ok(stats: Stats, rules: Rules, j: int) -> bool:
    l = rules.recursive_l[j]  # noqa: E741  (the literature's own letter)
    if stats.distinct[j] < l:
        return False
    tail = stats.size[0]
    if l == 2:
        tail -= stats.largest[j]
    elif l > 2:
        found = np.empty(stats.distinct[j], dtype=np.int64)
        for i in range(len(found)):
            found[i] = stats.counts[stats.present[rules.start[j] + i]]
        found.sort()
        tail = found[: len(found) - l + 1].sum()
    return bool(stats.largest[j] < rules.recursive_c[j] * tail)


@njit(cache=True)
def _bounds_ok(stats: Stats, rules: Rules, j: int) -> bool:
    n = stats.size[0]
    for at in range(rules.start[j], rules.start[j] + stats.distinct[j]):
        value = stats.present[at]
        count = stats.counts[value]
        if count > rules.cap[value] * n or count < rules.floor[value] * n:
            return False
    return True


@njit(cache=True)
def _equal_ok(stats: Stats, rules: Rules, j: int) -> bool:
    n = float(stats.size[0])
    limit = rules.t_equal[j] * n
    moved = 0.0
    for at in range(rules.start[j], rules.start[j] + stats.distinct[j]):
        value = stats.present[at]
        moved += max(stats.counts[value] * rules.total - rules.overall[value] * n, 0.0)
    return bool(moved <= limit)


@njit(cache=True)
def _ordered_ok(stats: Stats, rules: Rules, j: int) -> bool:
    n = float(stats.size[0])
    limit = rules.t_ordered[j] * n
    moved, surplus = 0.0, 0.0
    for value in range(rules.start[j], rules.start[j + 1]):
        if rules.overall[value] > 0.0:  # a value of suppressed records alone has no rank
            surplus += stats.counts[value] * rules.total - rules.overall[value] * n
            moved += abs(surplus)
            if moved > limit:
                return False
    return True


@njit(cache=True)
def _tree_ok(stats: Stats, rules: Rules, j: int) -> bool:
    """Test the mass moved in a tree: each edge carries the surplus of the leaves under it."""
    n = float(stats.size[0])
    limit = rules.t_tree[j] * n
    first = rules.start[j]
    size = rules.start[j + 1] - first
    moved = 0.0
    for level in range(rules.tree_levels[j] - 1):
        at = rules.tree_start[j] + level * size
        surplus = 0.0
        for leaf in range(size):
            surplus += stats.counts[first + leaf] * rules.total - rules.overall[first + leaf] * n
            if leaf + 1 == size or rules.tree_node[at + leaf + 1] != rules.tree_node[at + leaf]:
                moved += abs(surplus) * rules.tree_step[at + leaf]
                surplus = 0.0
        if moved > limit:
            return False
    return True
