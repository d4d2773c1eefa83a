"""The remaining record farthest from a mean that moves slowly, without looking at all of them.

Records are kept in descending order of their distance from a pivot, an earlier mean. By the triangle
inequality no record is farther from the mean than from the pivot plus the way the mean has moved,
so a walk down that order may stop early. When the walks have cost as much as sorting again, the present mean
becomes the pivot.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

_WORTH_SORTING = 8  # steps of the walks per remaining record
_SAFE = 1 + 1e-9  # rounding of the square roots must not end a walk too early

_HEAD, _LENGTH, _SPENT = range(3)


class Rim(NamedTuple):
    """The order, and how it was used since."""

    record: NDArray[np.int64]  # [n] farthest from the pivot first
    reach: NDArray[np.float64]  # [n] their distances
    points: NDArray[np.float64]  # [n, d] their coordinates
    pivot: NDArray[np.float64]  # [d]
    state: NDArray[np.int64]  # [3] first record that may remain, length of the order, steps walked


@njit(cache=True)
def make_rim(points: NDArray[np.float64]) -> Rim:
    """Return an order that is to be sorted at its first use."""
    d, n = points.shape
    state = np.zeros(3, np.int64)
    return Rim(np.empty(n, np.int64), np.empty(n), np.empty((n, d)), np.zeros(d), state)


@njit(cache=True)
def _sort(
    rim: Rim, points: NDArray[np.float64], labels: NDArray[np.int32], mean: NDArray[np.float64]
) -> None:
    records = np.flatnonzero(labels < 0)
    distances = np.zeros(len(records))
    for j in range(len(mean)):
        for i in range(len(records)):
            difference = points[j, records[i]] - mean[j]
            distances[i] += difference * difference
        rim.pivot[j] = mean[j]
    order = np.argsort(-distances)
    for at in range(len(records)):
        i = order[at]
        rim.record[at] = records[i]
        rim.reach[at] = np.sqrt(distances[i])
        for j in range(len(mean)):
            rim.points[at, j] = points[j, records[i]]
    rim.state[_HEAD], rim.state[_LENGTH], rim.state[_SPENT] = 0, len(records), 0


@njit(cache=True)
def farthest_from_mean(
    rim: Rim, points: NDArray[np.float64], labels: NDArray[np.int32], mean: NDArray[np.float64]
) -> int:
    """Return the record without a label that is farthest from the mean, the lowest of equals."""
    state = rim.state
    if state[_SPENT] >= _WORTH_SORTING * (state[_LENGTH] - state[_HEAD]):
        _sort(rim, points, labels, mean)
    moved = 0.0
    for j in range(len(mean)):
        moved += (mean[j] - rim.pivot[j]) ** 2
    moved = np.sqrt(moved)
    while labels[rim.record[state[_HEAD]]] >= 0:
        state[_HEAD] += 1
    best, found, enough = -1.0, -1, -1.0
    at = state[_HEAD]
    while at < state[_LENGTH] and (rim.reach[at] + moved) * _SAFE >= enough:
        record = rim.record[at]
        if labels[record] < 0:
            distance = 0.0
            for j in range(len(mean)):
                difference = rim.points[at, j] - mean[j]
                distance += difference * difference
            if distance > best or (distance == best and record < found):
                best, found, enough = distance, record, np.sqrt(distance)
        at += 1
    state[_SPENT] += at - state[_HEAD]
    return found
