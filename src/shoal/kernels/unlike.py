"""Classes of near records with unlike sensitive values, made from the outside of the table inwards."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .grid import distances_to, rounded_mean


class Unlike(NamedTuple):
    """What is left to be grouped; `state` holds the number of classes made so far."""

    points: NDArray[np.float64]  # [d, n]
    sums: NDArray[np.float64]  # [d] of the records that are left
    values: NDArray[np.int32]  # [s, n] sensitive values, numbered through over all columns
    wanted: NDArray[np.int64]  # [s] different values a class must have
    seen: NDArray[np.int64]  # [values] the last class that has it, -1 for none
    labels: NDArray[np.int32]  # [n] -1 while a record has no class
    state: NDArray[np.int64]  # [1]


@njit(cache=True)
def make_unlike(
    points: NDArray[np.float64], values: NDArray[np.int32], wanted: NDArray[np.int64], count: int
) -> Unlike:
    """Return the start: every record is left; there are `count` sensitive values."""
    d, n = points.shape
    sums = np.empty(d)
    for j in range(d):
        sums[j] = points[j].sum()
    seen, labels = np.full(count, -1), np.full(n, -1, np.int32)
    return Unlike(points, sums, values, wanted, seen, labels, np.zeros(1, np.int64))


@njit(cache=True)
def _adds(work: Unlike, distinct: NDArray[np.int64], record: int, label: int) -> bool:
    """Return whether a record brings a value that the class still wants."""
    for j in range(len(distinct)):
        if distinct[j] < work.wanted[j] and work.seen[work.values[j, record]] != label:
            return True
    return False


@njit(cache=True)
def _note(work: Unlike, distinct: NDArray[np.int64], record: int, label: int) -> None:
    for j in range(len(distinct)):
        value = work.values[j, record]
        distinct[j] += work.seen[value] != label
        work.seen[value] = label


@njit(cache=True)
def _next_class(
    work: Unlike, k: int, left: NDArray[np.int64], distance: NDArray[np.float64]
) -> NDArray[np.int64]:
    """Return the members of one more class, none if it cannot have what it wants; `distance` is room."""
    n = len(work.labels)
    label = work.state[0]
    centre = np.empty(len(work.points))
    rounded_mean(work.sums, len(left), centre)
    distances_to(work.points, 0, n, centre, distance)
    seed = left[np.argmax(distance[left])]
    for j in range(len(centre)):
        centre[j] = work.points[j, seed]
    distances_to(work.points, 0, n, centre, distance)
    distance[seed] = -1.0  # before its duplicates
    order = left[np.argsort(distance[left], kind="mergesort")]
    distinct = np.zeros(len(work.wanted), np.int64)
    taken = np.zeros(len(order), np.bool_)
    members = np.empty(len(order), np.int64)
    members[0], taken[0], count = seed, True, 1
    _note(work, distinct, seed, label)
    for at in range(1, len(order)):
        if (distinct >= work.wanted).all():
            break
        if _adds(work, distinct, order[at], label):
            _note(work, distinct, order[at], label)
            members[count], taken[at] = order[at], True
            count += 1
    if not (distinct >= work.wanted).all():
        return members[:0]
    at = 1
    while count < k:
        if not taken[at]:
            members[count] = order[at]
            count += 1
        at += 1
    return members[:count]


@njit(cache=True)
def unlike_rounds(work: Unlike, k: int, rounds: int) -> int:
    """Make up to `rounds` classes; return how many records are left, 0 when no further class can be made."""
    distance = np.empty(len(work.labels))
    left = np.flatnonzero(work.labels < 0)
    for _ in range(rounds):
        if len(left) < k:
            return 0
        members = _next_class(work, k, left, distance)
        if len(members) == 0:
            return 0
        for record in members:
            work.labels[record] = work.state[0]
            for j in range(len(work.sums)):
                work.sums[j] -= work.points[j, record]
        work.state[0] += 1
        left = left[work.labels[left] < 0]
    return len(left)
