"""Distances between points whose coordinates are whole numbers held in floats (`shoal.embedding`).

Points are float64[d, n], one contiguous row per coordinate, so that scans over records are vectorised. All
squared distances are exact; ties always go to the lower record.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def distances_to(
    points: NDArray[np.float64], begin: int, end: int, query: NDArray[np.float64], found: NDArray[np.float64]
) -> None:
    """Fill ``found[:end - begin]`` with the squared distance of each of these points from `query`."""
    count = end - begin
    for i in range(count):
        found[i] = 0.0
    for j in range(len(query)):
        row = points[j, begin:end]
        at = query[j]
        for i in range(count):
            difference = row[i] - at
            found[i] += difference * difference


@njit(cache=True)
def rounded_mean(sums: NDArray[np.float64], count: int, mean: NDArray[np.float64]) -> None:
    """Fill `mean` with the mean of `count` points that have these sums, rounded to the grid."""
    for j in range(len(sums)):
        mean[j] = np.rint(sums[j] / count)


@njit(cache=True)
def insert_nearest(
    distance: float, record: int, kept: int, best: NDArray[np.float64], records: NDArray[np.int64]
) -> int:
    """Put a record into the ascending list of the nearest ones if it belongs there; return its new length."""
    most = len(best)
    if kept == most:
        if distance > best[most - 1] or (distance == best[most - 1] and record > records[most - 1]):
            return kept
        kept -= 1
    at = kept
    while at > 0 and (best[at - 1] > distance or (best[at - 1] == distance and records[at - 1] > record)):
        best[at] = best[at - 1]
        records[at] = records[at - 1]
        at -= 1
    best[at] = distance
    records[at] = record
    return kept + 1
