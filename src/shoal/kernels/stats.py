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
def add_record(stats: Stats, rules: Rules, sensitive: NDArray[np.int32], i: int) -> None:
    """Add record `i`; `sensitive` is int32[s, n] as `Encoded.flat_sensitive` makes it."""
    stats.size[0] += 1
    if rules.plain:
        return
    for j in range(len(stats.distinct)):
        value = sensitive[j, i]
        after = stats.counts[value] + 1
        stats.counts[value] = after
        if after == 1:
            at = rules.start[j] + stats.distinct[j]
            stats.present[at] = value
            stats.place[value] = at
            stats.distinct[j] += 1
        if after > stats.largest[j]:
            stats.largest[j] = after
        if rules.min_entropy[j] > 0.0:
            stats.clogc[j] += _log_units(after) - _log_units(after - 1)


@njit(cache=True)
def remove_record(stats: Stats, rules: Rules, sensitive: NDArray[np.int32], i: int) -> None:
    """Remove record `i`, which must have been added."""
    stats.size[0] -= 1
    if rules.plain:
        return
    for j in range(len(stats.distinct)):
        value = sensitive[j, i]
        after = stats.counts[value] - 1
        stats.counts[value] = after
        if after == 0:
            stats.distinct[j] -= 1
            last = stats.present[rules.start[j] + stats.distinct[j]]
            stats.present[stats.place[value]] = last
            stats.place[last] = stats.place[value]
        if after + 1 == stats.largest[j]:
            largest = 0
            for at in range(rules.start[j], rules.start[j] + stats.distinct[j]):
                largest = max(largest, stats.counts[stats.present[at]])
            stats.largest[j] = largest
        if rules.min_entropy[j] > 0.0:
            stats.clogc[j] += _log_units(after) - _log_units(after + 1)


@njit(cache=True)
def add_count(stats: Stats, rules: Rules, j: int, value: int, count: int) -> None:
    """Add `count` occurrences of a value of sensitive column `j`, the number of records left as it is."""
    before = stats.counts[value]
    after = before + count
    stats.counts[value] = after
    if before == 0:
        end = rules.start[j] + stats.distinct[j]
        stats.present[end] = value
        stats.place[value] = end
        stats.distinct[j] += 1
    stats.largest[j] = max(stats.largest[j], after)
    if rules.min_entropy[j] > 0.0:
        stats.clogc[j] += _log_units(after) - _log_units(before)


@njit(cache=True)
def merge_stats(into: Stats, other: Stats, rules: Rules) -> None:
    """Add all records of another class; `other` stays as it is and must not be `into` itself."""
    into.size[0] += other.size[0]
    if rules.plain:
        return
    for j in range(len(into.distinct)):
        for at in range(rules.start[j], rules.start[j] + other.distinct[j]):
            value = other.present[at]
            add_count(into, rules, j, value, other.counts[value])


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
    columns = len(stats.distinct)
    for j in range(columns):
        if stats.distinct[j] < rules.min_distinct[j]:
            return False
    return _mixed_ok(stats, rules, 0, columns) and _close_ok(stats, rules, 0, columns)


@njit(cache=True)
def column_ok(stats: Stats, rules: Rules, j: int) -> bool:
    """Return whether a class keeps all promises about one sensitive column, whatever its size."""
    if stats.distinct[j] < rules.min_distinct[j]:
        return False
    return _mixed_ok(stats, rules, j, j + 1) and _close_ok(stats, rules, j, j + 1)


@njit(cache=True)
def class_ok(rules: Rules, sensitive: NDArray[np.int32], records: NDArray[np.integer], stats: Stats) -> bool:
    """Return whether a class of these records keeps every promise; `stats` is overwritten."""
    clear_stats(stats, rules)
    for i in records:
        add_record(stats, rules, sensitive, i)
    return stats_ok(stats, rules)


@njit(cache=True)
def counts_ok(rules: Rules, size: int, counts: NDArray[np.int64]) -> bool:
    """Return whether a class of `size` records with these counts of all values keeps every promise."""
    stats = make_stats(rules)
    stats.size[0] = size
    for j in range(len(stats.distinct)):
        for value in range(rules.start[j], rules.start[j + 1]):
            if counts[value] > 0:
                add_count(stats, rules, j, value, counts[value])
    return stats_ok(stats, rules)


# The tests below take the few arrays they read, not the named tuples: handing over a tuple to a function that
# is not inlined counts references to each of its arrays, which costs more than the tests do.


@njit(cache=True)
def _mixed_ok(stats: Stats, rules: Rules, begin: int, stop: int) -> bool:
    """Test how frequent the values of the class are."""
    size = stats.size[0]
    for j in range(begin, stop):
        first = rules.start[j]
        found = stats.present[first : first + stats.distinct[j]]
        entropy = rules.min_entropy[j]
        if entropy > 0.0:
            surplus = math.log(size) - stats.clogc[j] / LOG_UNIT / size - entropy
            if surplus < NEAR and (
                surplus < -NEAR or not _entropy_ok(stats.counts, found, size, stats.largest[j], entropy)
            ):
                return False
        l = rules.recursive_l[j]  # noqa: E741  (the literature's own letter)
        if l > 0:
            tail = _tail(stats.counts, found, size, stats.largest[j], l)
            if stats.largest[j] >= rules.recursive_c[j] * tail:
                return False
        if rules.bounded[j] and not _bounds_ok(stats.counts, found, size, rules.floor, rules.cap):
            return False
    return True


@njit(cache=True)
def _close_ok(stats: Stats, rules: Rules, begin: int, stop: int) -> bool:
    """Test how far the class is from the whole table."""
    size = float(stats.size[0])
    for j in range(begin, stop):
        first, end = rules.start[j], rules.start[j + 1]
        counts, overall = stats.counts[first:end], rules.overall[first:end]
        if rules.t_equal[j] < np.inf:
            found = stats.present[first : first + stats.distinct[j]]
            moved = moved_equal(stats.counts, found, size, rules.overall, rules.total)
            if moved > rules.t_equal[j] * size:
                return False
        if rules.t_ordered[j] < np.inf:
            moved = moved_ordered(counts, size, overall, rules.total)
            if moved > rules.t_ordered[j] * size:
                return False
        if rules.t_tree[j] < np.inf:
            moved = 0.0
            for level in range(rules.tree_levels[j] - 1):
                at = rules.tree_start[j] + level * (end - first)
                node = rules.tree_node[at : at + end - first]
                step = rules.tree_step[at : at + end - first]
                moved += moved_level(counts, size, overall, rules.total, node, step)
            if moved > rules.t_tree[j] * size:
                return False
    return True


@njit(cache=True)
def _entropy_ok(
    counts: NDArray[np.int64], found: NDArray[np.int32], size: int, largest: int, least: float
) -> bool:
    """Test the entropy of a class that is near the threshold, from its counts."""
    if largest * len(found) == size:
        return True  # all equally frequent, and `min_distinct` has seen that there are enough of them
    entropy = 0.0
    for value in found:
        share = counts[value] / size
        entropy -= share * math.log(share)
    return entropy >= least * (1.0 + MARGIN)


@njit(cache=True)
def _tail(counts: NDArray[np.int64], found: NDArray[np.int32], size: int, largest: int, l: int) -> int:  # noqa: E741
    """Return how many records have a value that is not among the l - 1 most frequent."""
    if l == 1:
        return size
    if l == 2:
        return size - largest
    ordered = np.empty(len(found), dtype=np.int64)
    for i in range(len(found)):
        ordered[i] = counts[found[i]]
    ordered.sort()
    tail = 0
    for i in range(len(found) - l + 1):
        tail += ordered[i]
    return tail


@njit(cache=True)
def _bounds_ok(
    counts: NDArray[np.int64],
    found: NDArray[np.int32],
    size: int,
    floor: NDArray[np.float64],
    cap: NDArray[np.float64],
) -> bool:
    for value in found:
        if counts[value] > cap[value] * size or counts[value] < floor[value] * size:
            return False
    return True


@njit(cache=True)
def moved_equal(
    counts: NDArray[np.int64],
    found: NDArray[np.int32],
    size: float,
    overall: NDArray[np.float64],
    total: float,
) -> float:
    """Return the mass a class has too much of."""
    moved = 0.0
    for value in found:
        moved += max(counts[value] * total - overall[value] * size, 0.0)
    return moved


@njit(cache=True)
def moved_ordered(
    counts: NDArray[np.int64], size: float, overall: NDArray[np.float64], total: float
) -> float:
    """Return the mass moved times the ranks it is moved over."""
    moved, surplus = 0.0, 0.0
    for value in range(len(counts)):
        if overall[value] > 0.0:  # a value of suppressed records alone has no rank
            surplus += counts[value] * total - overall[value] * size
            moved += abs(surplus)
    return moved


@njit(cache=True)
def moved_level(
    counts: NDArray[np.int64],
    size: float,
    overall: NDArray[np.float64],
    total: float,
    node: NDArray[np.int32],
    step: NDArray[np.float64],
) -> float:
    """Return the mass that passes the edges above one level: the surplus of the leaves under each."""
    moved, surplus = 0.0, 0.0
    for leaf in range(len(counts)):
        surplus += counts[leaf] * total - overall[leaf] * size
        if leaf + 1 == len(counts) or node[leaf + 1] != node[leaf]:
            moved += abs(surplus) * step[leaf]
            surplus = 0.0
    return moved
