"""Whole classes that join others until every one keeps its promises."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .bottleneck import Scene
from .closeness import distance_to_table
from .grid import insert_nearest, rounded_mean
from .rules import Rules
from .stats import add_record, clear_stats, stats_ok


class Heaps(NamedTuple):
    """Classes of records; those that joined another one are empty."""

    sums: NDArray[np.float64]  # [classes, d] of coordinates
    means: NDArray[np.float64]  # [classes, d]
    size: NDArray[np.int64]  # [classes]
    first: NDArray[np.int64]  # [classes] their members are a chain from here over `next` to `last`
    last: NDArray[np.int64]
    next: NDArray[np.int64]  # [n]


@njit(cache=True)
def make_heaps(points: NDArray[np.float64], labels: NDArray[np.int64], count: int) -> Heaps:
    """Return the classes with these labels; none is empty."""
    d, n = points.shape
    heaps = Heaps(
        np.zeros((count, d)),
        np.zeros((count, d)),
        np.zeros(count, np.int64),
        np.full(count, -1),
        np.full(count, -1),
        np.full(n, -1),
    )
    for record in range(n):
        c = labels[record]
        if heaps.size[c] == 0:
            heaps.first[c] = record
        else:
            heaps.next[heaps.last[c]] = record
        heaps.last[c] = record
        heaps.size[c] += 1
        for j in range(d):
            heaps.sums[c, j] += points[j, record]
    for c in range(count):
        rounded_mean(heaps.sums[c], heaps.size[c], heaps.means[c])
    return heaps


@njit(cache=True)
def _count(heaps: Heaps, scene: Scene, c: int) -> None:
    """Add the members of a class to ``scene.stats``."""
    member = heaps.first[c]
    while member >= 0:
        add_record(scene.stats, scene.rules, scene.sensitive, member)
        member = heaps.next[member]


@njit(cache=True)
def _keeps(heaps: Heaps, scene: Scene, rules: Rules, c: int) -> bool:
    clear_stats(scene.stats, scene.rules)
    _count(heaps, scene, c)
    return stats_ok(scene.stats, rules)


@njit(cache=True)
def _partner(heaps: Heaps, scene: Scene, c: int, found: NDArray[np.float64], near: NDArray[np.int64]) -> int:
    """Return, of the classes nearest to `c`, the one with which it comes nearest to the table.

    There are as many as `near` has room for. Ties: the one with the nearer mean, then the first.
    """
    kept = 0
    for y in range(len(heaps.size)):
        if y == c or heaps.size[y] == 0:
            continue
        away = 0.0
        for j in range(heaps.means.shape[1]):
            away += (heaps.means[c, j] - heaps.means[y, j]) ** 2
        kept = insert_nearest(away, y, kept, found, near)
    best, least = near[0], np.inf
    for at in range(kept):
        clear_stats(scene.stats, scene.rules)
        _count(heaps, scene, c)
        _count(heaps, scene, near[at])
        distance = distance_to_table(scene.stats, scene.rules, scene.grounds)
        if distance < least:
            best, least = near[at], distance
    return best


@njit(cache=True)
def merge_failing(heaps: Heaps, scene: Scene, rules: Rules, among: int) -> None:
    """Let the first class that breaks a promise join another one, until none does or one class is left.

    It joins, of the `among` classes with the nearest means, the one with which it comes nearest to the table.
    """
    good = np.empty(len(heaps.size), np.bool_)
    for c in range(len(good)):
        good[c] = heaps.size[c] == 0 or _keeps(heaps, scene, rules, c)
    left = int((heaps.size > 0).sum())
    found, near = np.empty(among), np.empty(among, np.int64)
    while left > 1:
        failing = np.flatnonzero(~good)
        if len(failing) == 0:
            return
        c = failing[0]
        y = _partner(heaps, scene, c, found, near)
        heaps.next[heaps.last[y]] = heaps.first[c]
        heaps.last[y] = heaps.last[c]
        heaps.size[y] += heaps.size[c]
        heaps.sums[y] += heaps.sums[c]
        heaps.size[c] = 0
        heaps.first[c] = -1
        rounded_mean(heaps.sums[y], heaps.size[y], heaps.means[y])
        good[c], good[y] = True, _keeps(heaps, scene, rules, y)
        left -= 1


@njit(cache=True)
def heap_labels(heaps: Heaps) -> NDArray[np.int64]:
    """Return the class of every record."""
    labels = np.empty(len(heaps.next), np.int64)
    for c in range(len(heaps.size)):
        member = heaps.first[c]
        while member >= 0:
            labels[member] = c
            member = heaps.next[member]
    return labels
