"""MDAV and V-MDAV on a k-d tree that shrinks as classes are taken out of it.

The kernels work in batches, so that a run can report how far it is and be interrupted between them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .grid import rounded_mean
from .kd_tree import KdTree, farthest, make_tree, nearest, remove
from .rim import Rim, farthest_from_mean, make_rim


class Grouping(NamedTuple):
    """What is left to be grouped, and what is done; `state` holds the number of classes made so far."""

    tree: KdTree
    rim: Rim
    points: NDArray[np.float64]  # [d, n]
    sums: NDArray[np.float64]  # [d] of the remaining records
    labels: NDArray[np.int32]  # [n] class of each record, -1 while it has none
    state: NDArray[np.int64]  # [1]
    query: NDArray[np.float64]  # [d] scratch
    best: NDArray[np.float64]  # [k] scratch
    near: NDArray[np.int64]  # [k] scratch


@njit(cache=True)
def make_grouping(points: NDArray[np.float64], k: int) -> Grouping:
    """Return the start: every record remains."""
    d, n = points.shape
    sums = np.empty(d)
    for j in range(d):
        sums[j] = points[j].sum()
    return Grouping(
        make_tree(points, np.arange(n)),
        make_rim(points),
        points,
        sums,
        np.full(n, -1, np.int32),
        np.zeros(1, np.int64),
        np.empty(d),
        np.empty(k),
        np.empty(k, np.int64),
    )


@njit(cache=True)
def _take(work: Grouping, record: int, label: int) -> None:
    """Move one remaining record into a class."""
    remove(work.tree, record)
    work.labels[record] = label
    for j in range(len(work.sums)):
        work.sums[j] -= work.points[j, record]


@njit(cache=True)
def _aim(work: Grouping, record: int) -> None:
    for j in range(len(work.query)):
        work.query[j] = work.points[j, record]


@njit(cache=True)
def _group_around(work: Grouping, record: int) -> None:
    """Make a class of a remaining record and the k - 1 remaining records nearest to it."""
    _aim(work, record)
    label = work.state[0]
    _take(work, record, label)
    found = nearest(work.tree, work.query, work.best[1:], work.near[1:])
    for i in range(1, found + 1):
        _take(work, work.near[i], label)
    work.state[0] += 1


@njit(cache=True)
def _group_rest(work: Grouping) -> None:
    """Make one class of all remaining records."""
    for i in range(len(work.labels)):
        if work.labels[i] < 0:
            work.labels[i] = work.state[0]
    work.tree.size[0] = 0
    work.state[0] += 1


@njit(cache=True)
def mdav_rounds(work: Grouping, k: int, rounds: int) -> int:
    """Make up to two classes in each of `rounds` rounds; return the number of records that remain."""
    size = work.tree.size
    for _ in range(rounds):
        if size[0] == 0:
            break
        if size[0] < 2 * k:
            _group_rest(work)
            break
        rounded_mean(work.sums, size[0], work.query)
        first = farthest_from_mean(work.rim, work.points, work.labels, work.query)
        if size[0] < 3 * k:
            _group_around(work, first)
            _group_rest(work)
            break
        _aim(work, first)
        second = farthest(work.tree, work.query)
        _group_around(work, first)
        if work.labels[second] < 0:
            _group_around(work, second)
        else:  # all remaining records lie as near as `second`, which the first class took
            _group_around(work, work.tree.least[0])
    return size[0]


@njit(cache=True)
def _nearest_to_class(work: Grouping, members: NDArray[np.int64], count: int) -> tuple[float, int]:
    """Return the remaining record nearest to any member of a class, with its squared distance."""
    least, found = np.inf, -1
    for m in range(count):
        _aim(work, members[m])
        if nearest(work.tree, work.query, work.best[:1], work.near[:1]) == 0:
            return least, -1
        if work.best[0] < least or (work.best[0] == least and work.near[0] < found):
            least, found = work.best[0], work.near[0]
    return least, found


@njit(cache=True)
def _extend(work: Grouping, label: int, k: int, gamma: float, members: NDArray[np.int64]) -> None:
    """Let the nearest remaining record join the class while it is nearer to it than to the others."""
    count = 0
    for record in members[:k]:
        _take(work, record, label)
    count = k
    while count < 2 * k - 1:
        inside, record = _nearest_to_class(work, members, count)
        if record < 0:
            break
        _aim(work, record)
        outside = np.inf
        if nearest(work.tree, work.query, work.best[:2], work.near[:2]) == 2:
            outside = work.best[0] if work.near[0] != record else work.best[1]
        # gamma 0 never extends, not even where no other record is left
        if gamma == 0.0 or not inside < gamma * gamma * outside:
            break
        _take(work, record, label)
        members[count] = record
        count += 1


@njit(cache=True)
def v_mdav_rounds(
    work: Grouping, order: NDArray[np.int64], at: int, k: int, gamma: float, rounds: int
) -> int:
    """Make up to `rounds` classes, seeds in the given order of records; return where to go on in `order`."""
    size = work.tree.size
    members = np.empty(2 * k, np.int64)
    made = 0
    while made < rounds and size[0] >= k:
        seed = order[at]
        at += 1
        if work.labels[seed] >= 0:
            continue
        _aim(work, seed)
        nearest(work.tree, work.query, work.best, work.near)
        # Duplicates of the seed with lower numbers may come before it; it belongs to its class all the same.
        members[0] = seed
        count = 1
        for i in range(k):
            if work.near[i] != seed and count < k:
                members[count] = work.near[i]
                count += 1
        _extend(work, work.state[0], k, gamma, members)
        work.state[0] += 1
        made += 1
    return at


@njit(cache=True)
def class_means(points: NDArray[np.float64], labels: NDArray[np.int32], classes: int) -> NDArray[np.float64]:
    """Return float64[classes, d]: the mean of every class, rounded to the grid."""
    d = len(points)
    sums = np.zeros((classes, d))
    counts = np.zeros(classes, np.int64)
    for i in range(len(labels)):
        if labels[i] >= 0:
            counts[labels[i]] += 1
            for j in range(d):
                sums[labels[i], j] += points[j, i]
    for c in range(classes):
        rounded_mean(sums[c], counts[c], sums[c])
    return sums


@njit(cache=True)
def join_nearest(points: NDArray[np.float64], labels: NDArray[np.int32], classes: int) -> None:
    """Let every record without a class join the one with the nearest mean, the means staying as they were."""
    means = class_means(points, labels, classes)
    for i in range(len(labels)):
        if labels[i] >= 0:
            continue
        least = np.inf
        for c in range(classes):
            distance = 0.0
            for j in range(len(points)):
                difference = points[j, i] - means[c, j]
                distance += difference * difference
            if distance < least:
                least = distance
                labels[i] = c
