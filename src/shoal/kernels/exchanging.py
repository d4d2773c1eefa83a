"""Classes that break a promise: which two records to swap, and what joining another class would cost."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .adjusting import NOWHERE, Classes, Features, changed_entries, count_class
from .bottleneck import Scene
from .closeness import distance_to_table
from .sparse import Rows
from .stats import add_record, make_stats, remove_record, stats_ok

_FAR = np.int64(1) << 62


@njit(cache=True)
def best_swap(classes: Classes, features: Features, rows: Rows, scene: Scene, c: int) -> tuple[int, int, int]:
    """Return (member, other, change): the swap that brings `c` nearer to the table for the least change.

    The member has a sensitive value that `c` holds too often; the other record is in a class that keeps every
    promise, and still keeps it with the member instead. Change is in the entries that centres change. Ties:
    the swap after which `c` is nearer, then the first. (NOWHERE, NOWHERE, 0) where no swap helps.
    """
    rules, sensitive = scene.rules, scene.sensitive
    best, second, least, nearest = NOWHERE, NOWHERE, _FAR, np.inf
    without = make_stats(rules)
    columns = len(sensitive)
    member = classes.first[c]
    while member >= 0:
        add_record(without, rules, sensitive, member)
        member = classes.next[member]
    known = np.empty(len(rules.overall))
    for member in np.sort(_members(classes, c)):
        if not _too_often(without.counts, sensitive[:, member], rules.overall, rules.total, classes.size[c]):
            continue
        remove_record(without, rules, sensitive, member)
        known[:] = np.nan
        for other in range(len(classes.labels)):
            y = classes.labels[other]
            if y in (NOWHERE, c) or not classes.good[y]:
                continue
            found = known[sensitive[0, other]] if columns == 1 else np.nan
            if np.isnan(found):
                add_record(without, rules, sensitive, other)
                found = distance_to_table(without, rules, scene.grounds)
                remove_record(without, rules, sensitive, other)
                known[sensitive[0, other]] = found
            if found >= classes.distance[c]:
                continue
            change = _swap_change(classes, features, rows, member, other)
            if change > least or (change == least and found >= nearest):
                continue
            if _stays_good(classes, scene, y, other, member):
                best, second, least, nearest = member, other, change, found
        add_record(without, rules, sensitive, member)
    return (best, second, least) if best != NOWHERE else (best, second, np.int64(0))


@njit(cache=True)
def _members(classes: Classes, c: int) -> NDArray[np.int64]:
    found = np.empty(classes.size[c], np.int64)
    member = classes.first[c]
    for at in range(len(found)):
        found[at] = member
        member = classes.next[member]
    return found


@njit(cache=True)
def _too_often(
    counts: NDArray[np.int64],
    values: NDArray[np.int32],
    overall: NDArray[np.float64],
    total: float,
    size: int,
) -> bool:
    """Return whether any of these values is more frequent in a class of `size` records than in the table."""
    for value in values:  # noqa: SIM110  (Numba compiles no generator)
        if counts[value] * total > overall[value] * size:
            return True
    return False


@njit(cache=True)
def _swap_change(classes: Classes, features: Features, rows: Rows, a: int, b: int) -> int:
    """Return how many entries more the centres of two classes change when records a and b swap places."""
    change = features.change
    own = features.feature[features.offsets[a] : features.offsets[a + 1]]
    other = features.feature[features.offsets[b] : features.offsets[b + 1]]
    x, y = classes.labels[a], classes.labels[b]
    for f in own:
        change[f] -= 1
    for f in other:
        change[f] += 1
    found = changed_entries(features, rows, x, classes.size[x], other) - classes.changed[x]
    for f in own:
        change[f] = 0
    for f in other:
        change[f] = 0
    for f in own:
        change[f] += 1
    for f in other:
        change[f] -= 1
    found += changed_entries(features, rows, y, classes.size[y], own) - classes.changed[y]
    for f in own:
        change[f] = 0
    for f in other:
        change[f] = 0
    return found


@njit(cache=True)
def _stays_good(classes: Classes, scene: Scene, c: int, leaves: int, joins: int) -> bool:
    """Return whether a class keeps every promise with one record instead of another."""
    count_class(classes, scene, c)
    remove_record(scene.stats, scene.rules, scene.sensitive, leaves)
    add_record(scene.stats, scene.rules, scene.sensitive, joins)
    return stats_ok(scene.stats, scene.rules)


@njit(cache=True)
def cheapest_union(
    classes: Classes, features: Features, rows: Rows, scene: Scene, c: int
) -> tuple[int, int, bool]:
    """Return (class, change, good): what `c` should join, and whether the union keeps every promise.

    Of those with which it does, the one whose centres change fewest entries more; of others, the one with
    which it is nearest to the table. Ties: fewest entries, then the first. (NOWHERE, 0, False) if there is no
    other.
    """
    change = features.change
    begin, end = rows.begin[c], rows.end[c]
    for entry in range(begin, end):
        change[rows.feature[entry]] = rows.amount[entry]
    best, least, nearest, holds = NOWHERE, np.int64(0), np.inf, False
    for y in range(len(classes.size)):
        if y == c or classes.size[y] == 0:
            continue
        size = classes.size[c] + classes.size[y]
        more = changed_entries(features, rows, y, size, rows.feature[begin:end])
        more -= classes.changed[c] + classes.changed[y]
        if holds and more >= least:
            continue
        good, found = _together(classes, scene, c, y)
        if holds or good:
            better = good and (not holds or more < least)
        else:
            better = found < nearest or (found == nearest and more < least)
        if better:
            best, least, nearest, holds = y, more, found, good
    for entry in range(begin, end):
        change[rows.feature[entry]] = 0
    return best, least, holds


@njit(cache=True)
def _together(classes: Classes, scene: Scene, a: int, b: int) -> tuple[bool, float]:
    """Return whether the union of two classes keeps every promise, and how far it is from the table."""
    count_class(classes, scene, a)
    member = classes.first[b]
    while member >= 0:
        add_record(scene.stats, scene.rules, scene.sensitive, member)
        member = classes.next[member]
    found = distance_to_table(scene.stats, scene.rules, scene.grounds)
    return stats_ok(scene.stats, scene.rules), found
