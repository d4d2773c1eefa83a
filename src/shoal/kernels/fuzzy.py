"""Fuzzy clustering: classes that others have a share in, and what fuzzy c-means minimises."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .grid import distances_to

GRADES = 1024.0  # memberships are multiples of 1 / GRADES, so that they are the same on every machine
HALF = 0.5  # a record of which less is left belongs to no class of its own choice


class Shares(NamedTuple):
    """What is left of every record; `state` holds the number of classes made so far."""

    points: NDArray[np.float64]  # [d, n]
    left: NDArray[np.float64]  # [n] from 1 down to 0
    labels: NDArray[np.int32]  # [n] -1 while a record has no class
    prototype: NDArray[np.float64]  # [d] of the last class
    prototypes: NDArray[np.float64]  # [classes, d]
    state: NDArray[np.int64]  # [1]


@njit(cache=True)
def _seed(work: Shares, distance: NDArray[np.float64]) -> int:
    """Return the available record farthest from the last prototype."""
    n = len(work.labels)
    distances_to(work.points, 0, n, work.prototype, distance)
    best, most = -1, -1.0
    for i in range(n):
        if work.labels[i] < 0 and work.left[i] > HALF and distance[i] > most:
            best, most = i, distance[i]
    return best


@njit(cache=True)
def _grow(
    work: Shares, members: NDArray[np.int64], distance: NDArray[np.float64], total: NDArray[np.float64]
) -> None:
    """Fill in the members after the first: the record nearest to those before, by what is left of it."""
    n = len(work.labels)
    total[:] = 0.0
    query = np.empty(len(work.points))
    for at in range(len(members)):
        work.labels[members[at]] = work.state[0]
        if at + 1 == len(members):
            break
        for j in range(len(query)):
            query[j] = work.points[j, members[at]]
        distances_to(work.points, 0, n, query, distance)
        best, least = -1, np.inf
        for i in range(n):
            total[i] += distance[i]
            if work.labels[i] < 0 and work.left[i] > HALF:
                cost = total[i] / work.left[i]
                if cost < least:
                    best, least = i, cost
        members[at + 1] = best


@njit(cache=True)
def fuzzy_rounds(work: Shares, k: int, fuzziness: float, scale: float, rounds: int) -> int:
    """Make up to `rounds` classes; return how many records are available, 0 when fewer than k are.

    After each, a record at a squared distance x from its prototype has lost the share
    ``exp(-fuzziness * x / scale)`` of what was left of it.
    """
    n = len(work.labels)
    distance, total = np.empty(n), np.empty(n)
    members = np.empty(k, np.int64)
    available = 0
    for i in range(n):
        available += work.labels[i] < 0 and work.left[i] > HALF
    for _ in range(rounds):
        if available < k:
            return 0
        members[0] = _seed(work, distance)
        _grow(work, members, distance, total)
        weight = 0.0
        work.prototype[:] = 0.0
        for record in members:
            weight += work.left[record]
            for j in range(len(work.points)):
                work.prototype[j] += work.left[record] * work.points[j, record]
        for j in range(len(work.points)):
            work.prototype[j] = np.rint(work.prototype[j] / weight)
        work.prototypes[work.state[0]] = work.prototype
        distances_to(work.points, 0, n, work.prototype, distance)
        available = 0
        for i in range(n):
            if work.labels[i] < 0:
                work.left[i] *= 1.0 - np.rint(GRADES * np.exp(-fuzziness * distance[i] / scale)) / GRADES
                available += work.left[i] > HALF
        work.state[0] += 1
    return available


@njit(cache=True)
def spread_over(
    points: NDArray[np.float64], centres: NDArray[np.float64], nearest: NDArray[np.int32]
) -> tuple[float, float]:
    """Fill in the nearest centre of every record; return what fuzzy c-means (m = 2) and k-means minimise.

    With memberships in proportion to 1 / x, where x is the squared distance of a centre, the sum over centres
    of membership squared times x is 1 / sum(1 / x).
    """
    n = points.shape[1]
    inverse, least = np.zeros(n), np.full(n, np.inf)
    distance = np.empty(n)
    for c in range(len(centres)):
        distances_to(points, 0, n, centres[c], distance)
        for i in range(n):
            inverse[i] += 1.0 / distance[i] if distance[i] > 0 else np.inf
            if distance[i] < least[i]:
                least[i] = distance[i]
                nearest[i] = c
    fuzzy, crisp = 0.0, 0.0
    for i in range(n):
        fuzzy += 1.0 / inverse[i]
        crisp += least[i]
    return fuzzy, crisp


@njit(cache=True)
def move_fuzzy_centres(points: NDArray[np.float64], centres: NDArray[np.float64]) -> None:
    """Move every centre to the mean of all records, weighted by membership squared; one step of m = 2.

    A record on a centre belongs to the first such centre alone.
    """
    d, n = points.shape
    inverse, distance = np.zeros(n), np.empty(n)
    on = np.full(n, -1)
    for c in range(len(centres)):
        distances_to(points, 0, n, centres[c], distance)
        for i in range(n):
            if distance[i] > 0:
                inverse[i] += 1.0 / distance[i]
            elif on[i] < 0:
                on[i] = c
    moved = np.empty_like(centres)
    for c in range(len(centres)):
        distances_to(points, 0, n, centres[c], distance)
        for i in range(n):
            if on[i] >= 0:
                distance[i] = 1.0 if on[i] == c else 0.0
            else:
                share = 1.0 / distance[i] / inverse[i]
                distance[i] = share * share
        weight = 0.0
        for i in range(n):
            weight += distance[i]
        for j in range(d):
            total = 0.0
            for i in range(n):
                total += distance[i] * points[j, i]
            moved[c, j] = np.rint(total / weight) if weight > 0 else centres[c, j]
    centres[:] = moved


@njit(cache=True)
def dissolve_small(
    points: NDArray[np.float64], centres: NDArray[np.float64], labels: NDArray[np.int32], k: int
) -> None:
    """Close the smallest class of fewer than k records, the first of equals, and again, until none is left.

    Its records go to the nearest centre that is open.
    """
    count = len(centres)
    sizes = np.zeros(count, np.int64)
    for i in range(len(labels)):
        sizes[labels[i]] += 1
    left = int((sizes > 0).sum())
    while left > 1:
        small = -1
        for c in range(count):
            if sizes[c] > 0 and (small < 0 or sizes[c] < sizes[small]):
                small = c
        if sizes[small] >= k:
            return
        sizes[small] = 0
        left -= 1
        for i in range(len(labels)):
            if labels[i] != small:
                continue
            best, least = -1, np.inf
            for c in range(count):
                if sizes[c] == 0:
                    continue
                away = 0.0
                for j in range(len(points)):
                    away += (points[j, i] - centres[c, j]) ** 2
                if away < least:
                    best, least = c, away
            labels[i] = best
            sizes[best] += 1
