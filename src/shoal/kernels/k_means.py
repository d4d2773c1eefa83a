"""k-means++ on grid points: the cut of a table into parts that are worked on one by one.

Sums of coordinates are whole numbers, so the parts do not depend on the number of threads.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .grid import distances_to, rounded_mean

_BLOCK = 512  # records that are compared with all centres at a time


@njit(cache=True)
def seed_centres(
    points: NDArray[np.float64], draws: NDArray[np.float64], squared: bool
) -> NDArray[np.float64]:
    """Return float64[c, d]: records drawn as centres, each by its distance from the centres before it.

    The first is drawn evenly. `draws` are numbers in [0, 1), one per centre; fewer centres come back when all
    records coincide with one. By `squared`, weights are squared distances (Arthur and Vassilvitskii 2007)
    rather than distances.
    """
    d, n = points.shape
    centres = np.empty((len(draws), d))
    least = np.full(n, np.inf)
    found = np.empty(n)
    record = int(draws[0] * n)
    for made in range(len(draws)):
        if made > 0:
            total = 0.0
            for i in range(n):
                total += least[i] if squared else np.sqrt(least[i])
            if total == 0.0:
                return centres[:made]
            target = draws[made] * total
            reached = 0.0
            for i in range(n):
                weight = least[i] if squared else np.sqrt(least[i])
                reached += weight
                if weight > 0:
                    record = i
                    if reached > target:
                        break
        for j in range(d):
            centres[made, j] = points[j, record]
        distances_to(points, 0, n, centres[made], found)
        for i in range(n):
            least[i] = min(least[i], found[i])
    return centres


@njit(cache=True)
def _assign_block(
    points: NDArray[np.float64], centres: NDArray[np.float64], begin: int, end: int, parts: NDArray[np.int32]
) -> None:
    """Give each record of a block the part of its nearest centre, the first of equals."""
    count = end - begin
    least = np.full(count, np.inf)
    found = np.empty(count)
    for c in range(len(centres)):
        distances_to(points, begin, end, centres[c], found)
        for i in range(count):
            if found[i] < least[i]:
                least[i] = found[i]
                parts[begin + i] = c


@njit(cache=True)
def assign(points: NDArray[np.float64], centres: NDArray[np.float64], parts: NDArray[np.int32]) -> None:
    """Fill in the part of every record."""
    n = points.shape[1]
    for begin in range(0, n, _BLOCK):
        _assign_block(points, centres, begin, min(begin + _BLOCK, n), parts)


@njit(cache=True, parallel=True)
def assign_parallel(
    points: NDArray[np.float64], centres: NDArray[np.float64], parts: NDArray[np.int32]
) -> None:
    """Fill in what `assign` fills in, with threads; not to be entered from several Python threads."""
    n = points.shape[1]
    for block in prange((n + _BLOCK - 1) // _BLOCK):
        begin = block * _BLOCK
        _assign_block(points, centres, begin, min(begin + _BLOCK, n), parts)


@njit(cache=True)
def part_sums(
    points: NDArray[np.float64], parts: NDArray[np.int32], count: int
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """Return the sum of coordinates and the number of records of every part."""
    sums = np.zeros((count, len(points)))
    sizes = np.zeros(count, np.int64)
    for i in range(len(parts)):
        sizes[parts[i]] += 1
        for j in range(len(points)):
            sums[parts[i], j] += points[j, i]
    return sums, sizes


@njit(cache=True)
def move_centres(points: NDArray[np.float64], parts: NDArray[np.int32], centres: NDArray[np.float64]) -> bool:
    """Move every centre to the mean of its part, empty parts keeping theirs; return whether any moved."""
    sums, sizes = part_sums(points, parts, len(centres))
    mean = np.empty(len(points))
    moved = False
    for c in range(len(centres)):
        if sizes[c] == 0:
            continue
        rounded_mean(sums[c], sizes[c], mean)
        for j in range(len(points)):
            moved |= mean[j] != centres[c, j]
            centres[c, j] = mean[j]
    return moved


@njit(cache=True)
def merge_small_parts(
    points: NDArray[np.float64], parts: NDArray[np.int32], count: int, k: int
) -> NDArray[np.int64]:
    """Return where each part goes so that none has fewer than k records.

    The smallest part, the first of equals, joins the part with the nearest mean, until all are large enough
    or one is left. Empty parts go nowhere: to themselves.
    """
    sums, sizes = part_sums(points, parts, count)
    target = np.arange(count)
    means = np.full((count, len(points)), np.inf)
    left = 0
    for c in range(count):
        if sizes[c] > 0:
            left += 1
            rounded_mean(sums[c], sizes[c], means[c])
    while left > 1:
        small = -1
        for c in range(count):
            if sizes[c] > 0 and (small < 0 or sizes[c] < sizes[small]):
                small = c
        if sizes[small] >= k:
            break
        best, least = -1, np.inf
        for c in range(count):
            if c == small or sizes[c] == 0:
                continue
            distance = 0.0
            for j in range(len(points)):
                distance += (means[c, j] - means[small, j]) ** 2
            if best < 0 or distance < least:
                best, least = c, distance
        sums[best] += sums[small]
        sizes[best] += sizes[small]
        sizes[small] = 0
        rounded_mean(sums[best], sizes[best], means[best])
        for c in range(count):
            if target[c] == small:
                target[c] = best
        left -= 1
    return target
