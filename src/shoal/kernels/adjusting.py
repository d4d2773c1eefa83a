"""Classes that give and take single records until they are large enough and keep every promise.

What a class loses is the number of entries of the binary table that change when it is published as its
centre: the most frequent feature of a group of which every record has one; of other groups, every feature
that more than half of the records have.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .bottleneck import Scene
from .closeness import distance_to_table
from .sparse import Rows, add_to_row
from .stats import add_record, clear_stats, stats_ok

NOWHERE = -1
_FAR = np.int64(1) << 62


class Features(NamedTuple):
    """The binary table, and room to look at one class."""

    offsets: NDArray[np.int64]  # [n + 1]
    feature: NDArray[np.int32]
    once: NDArray[np.int32]  # as many ones as any record has features
    group: NDArray[np.int32]  # [features]
    weight: NDArray[np.int32]  # [groups]
    several: NDArray[np.bool_]
    change: NDArray[np.int32]  # [features] what is added to a class; all 0 between calls
    mark: NDArray[np.int64]  # [features] the last class looked at that has the feature
    looks: NDArray[np.int64]  # [1]
    most: NDArray[np.int64]  # [groups]


class Classes(NamedTuple):
    """The classes; a record that is in none has the label NOWHERE."""

    labels: NDArray[np.int64]  # [n]
    first: NDArray[np.int64]  # [classes] their members are chains over `next`, ending in -1
    next: NDArray[np.int64]  # [n]
    size: NDArray[np.int64]
    distance: NDArray[np.float64]  # from the table
    good: NDArray[np.bool_]  # keeps every promise
    changed: NDArray[np.int64]  # entries that its centre changes, by their weights


@njit(cache=True)
def changed_entries(features: Features, rows: Rows, c: int, size: int, added: NDArray[np.int32]) -> int:
    """Return the entries that the centre of class `c` would change after its rows took ``features.change``.

    `added` lists the features with a change, and `size` is the number of records after it.
    """
    group, weight, several, most = features.group, features.weight, features.several, features.most
    change, mark = features.change, features.mark
    features.looks[0] += 1
    look = features.looks[0]
    most[:] = 0
    total = np.int64(0)
    for entry in range(rows.begin[c], rows.end[c]):
        f = rows.feature[entry]
        mark[f] = look
        count = rows.amount[entry] + change[f]
        if several[group[f]]:
            total += weight[group[f]] * min(count, size - count)
        else:
            most[group[f]] = max(most[group[f]], count)
    for f in added:
        if mark[f] != look:
            count = change[f]
            if several[group[f]]:
                total += weight[group[f]] * min(count, size - count)
            else:
                most[group[f]] = max(most[group[f]], count)
    for g in range(len(most)):
        if not several[g]:
            total += 2 * weight[g] * (size - most[g])
    return total


@njit(cache=True)
def _own(features: Features, record: int) -> NDArray[np.int32]:
    return features.feature[features.offsets[record] : features.offsets[record + 1]]


@njit(cache=True)
def _change(features: Features, record: int, by: int) -> None:
    for f in _own(features, record):
        features.change[f] += by


@njit(cache=True)
def count_class(classes: Classes, scene: Scene, c: int) -> None:
    """Count the members of a class in ``scene.stats``."""
    clear_stats(scene.stats, scene.rules)
    member = classes.first[c]
    while member >= 0:
        add_record(scene.stats, scene.rules, scene.sensitive, member)
        member = classes.next[member]


@njit(cache=True)
def _judge(classes: Classes, scene: Scene, c: int, features: Features, rows: Rows) -> None:
    """Write down what a class that has changed is like."""
    count_class(classes, scene, c)
    if classes.size[c] == 0:
        classes.distance[c], classes.good[c], classes.changed[c] = 0.0, False, 0
        return
    classes.distance[c] = distance_to_table(scene.stats, scene.rules, scene.grounds)
    classes.good[c] = stats_ok(scene.stats, scene.rules)
    classes.changed[c] = changed_entries(features, rows, c, classes.size[c], features.feature[:0])


@njit(cache=True)
def take_out(classes: Classes, features: Features, rows: Rows, scene: Scene, record: int) -> None:
    """Take a record out of its class."""
    c = classes.labels[record]
    at = classes.first[c]
    if at == record:
        classes.first[c] = classes.next[record]
    else:
        while classes.next[at] != record:
            at = classes.next[at]
        classes.next[at] = classes.next[record]
    classes.next[record] = -1
    classes.labels[record] = NOWHERE
    classes.size[c] -= 1
    own = _own(features, record)
    add_to_row(rows, c, own, features.once[: len(own)], -1)
    _judge(classes, scene, c, features, rows)


@njit(cache=True)
def put_in(classes: Classes, features: Features, rows: Rows, scene: Scene, record: int, c: int) -> None:
    """Put a record that is nowhere into a class."""
    classes.next[record] = classes.first[c]
    classes.first[c] = record
    classes.labels[record] = c
    classes.size[c] += 1
    own = _own(features, record)
    add_to_row(rows, c, own, features.once[: len(own)], 1)
    _judge(classes, scene, c, features, rows)


@njit(cache=True)
def make_classes(
    labels: NDArray[np.int64], count: int, features: Features, rows: Rows, scene: Scene
) -> Classes:
    """Return the classes with these labels; `rows` are as many and empty."""
    n = len(labels)
    classes = Classes(
        np.full(n, NOWHERE),
        np.full(count, -1),
        np.full(n, -1),
        np.zeros(count, np.int64),
        np.zeros(count),
        np.zeros(count, np.bool_),
        np.zeros(count, np.int64),
    )
    for record in range(n):
        c = labels[record]
        classes.next[record] = classes.first[c]
        classes.first[c] = record
        classes.labels[record] = c
        classes.size[c] += 1
        own = _own(features, record)
        add_to_row(rows, c, own, features.once[: len(own)], 1)
    for c in range(count):
        _judge(classes, scene, c, features, rows)
    return classes


@njit(cache=True)
def best_class(
    classes: Classes, features: Features, rows: Rows, scene: Scene, record: int, by_distance: bool
) -> int:
    """Return the class that should take a record which is nowhere; NOWHERE if none may.

    Of the classes of k records or more, one that keeps every promise must keep them, and another must not
    move away from the table. The one whose centre then changes fewest entries more takes the record; ties:
    the one then nearer to the table, then the first. With `by_distance`, as Algorithm 3 of the paper: the
    class farthest from the table among those that the record brings nearer, whatever its size.
    """
    _change(features, record, 1)
    own = _own(features, record)
    best, least, nearest = NOWHERE, _FAR, np.inf
    for c in range(len(classes.size)):
        if classes.size[c] == 0:
            continue
        if by_distance:
            if best >= 0 and classes.distance[c] <= classes.distance[best]:
                continue
            if _with_record(classes, scene, c, record) < classes.distance[c]:
                best = c
            continue
        if classes.size[c] < scene.rules.k:
            continue
        more = changed_entries(features, rows, c, classes.size[c] + 1, own) - classes.changed[c]
        if more > least:
            continue
        found = _with_record(classes, scene, c, record)
        allowed = stats_ok(scene.stats, scene.rules) if classes.good[c] else found <= classes.distance[c]
        if allowed and (more < least or found < nearest):
            best, least, nearest = c, more, found
    _change(features, record, -1)
    return best


@njit(cache=True)
def _with_record(classes: Classes, scene: Scene, c: int, record: int) -> float:
    """Return how far a class with one more record is from the table; ``scene.stats`` are those of it."""
    count_class(classes, scene, c)
    add_record(scene.stats, scene.rules, scene.sensitive, record)
    return distance_to_table(scene.stats, scene.rules, scene.grounds)


@njit(cache=True)
def best_small_class(classes: Classes, features: Features, rows: Rows, scene: Scene, record: int) -> int:
    """Return the class of fewer than k records whose centre changes fewest entries more; NOWHERE if none."""
    _change(features, record, 1)
    own = _own(features, record)
    best, least = NOWHERE, _FAR
    for c in range(len(classes.size)):
        if 0 < classes.size[c] < scene.rules.k:
            more = changed_entries(features, rows, c, classes.size[c] + 1, own) - classes.changed[c]
            if more < least:
                best, least = c, more
    _change(features, record, -1)
    return best
