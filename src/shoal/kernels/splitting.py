"""Cutting a group of records in two around its farthest pair, and doing so until classes are small."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .grid import distances_to, insert_nearest, rounded_mean

EXACT_PAIR = 2000  # records up to which the farthest pair is exact; above, two sweeps find a far one
_SAFE = 1 + 1e-9  # rounding of the square roots must not pass over the farthest pair


@njit(cache=True)
def _farthest_place(distances: NDArray[np.float64]) -> int:
    best = 0
    for i in range(1, len(distances)):
        if distances[i] > distances[best]:
            best = i
    return best


@njit(cache=True)
def farthest_pair(points: NDArray[np.float64], found: NDArray[np.float64], exact: int) -> tuple[int, int]:
    """Return the two columns of float64[d, m] points that lie farthest apart, the first pair of equals.

    Above `exact` points: the point farthest from the mean, and the one farthest from that.
    """
    d, m = points.shape
    mean = np.empty(d)
    for j in range(d):
        mean[j] = points[j].sum()
    rounded_mean(mean, m, mean)
    distances_to(points, 0, m, mean, found)
    reach = np.sqrt(found[:m])
    rim = _farthest_place(found[:m])
    most = reach[rim]
    distances_to(points, 0, m, points[:, rim].copy(), found)
    across = _farthest_place(found[:m])
    first, second = min(rim, across), max(rim, across)
    if first == second:
        second = first + 1  # all coincide
    if m > exact:
        return first, second
    best = found[across]
    enough = np.sqrt(best)
    for a in range(m - 1):
        if (reach[a] + most) * _SAFE < enough:
            continue  # by the triangle inequality: no pair with it is as far apart
        distances_to(points, a + 1, m, points[:, a].copy(), found)
        for i in range(m - a - 1):
            b = a + 1 + i
            if found[i] >= best and (found[i] > best or a < first or (a == first and b < second)):
                best, first, second, enough = found[i], a, b, np.sqrt(found[i])
    return first, second


@njit(cache=True)
def split_group(
    points: NDArray[np.float64], k: int, pair: tuple[int, int], by_mean: bool, side: NDArray[np.int8]
) -> None:
    """Fill `side` with 0 or 1 for each of m >= 2k points: two groups of at least k around a pair.

    The first takes its k - 1 nearest, the second its k - 1 nearest of the others; the rest goes to the
    side whose seed is nearer, or (`by_mean`) whose k records have the nearer mean; the first of equals.
    """
    d, m = points.shape
    best, near = np.empty(k - 1), np.empty(k - 1, np.int64)
    seeds = np.empty((2, d))
    found = np.empty((2, m))
    side[:m] = -1
    side[pair[0]], side[pair[1]] = 0, 1
    for which in range(2):
        seeds[which] = points[:, pair[which]]
        distances_to(points, 0, m, seeds[which], found[which])
        kept = 0
        for i in range(m):
            if side[i] < 0 and k > 1:
                kept = insert_nearest(found[which, i], i, kept, best, near)
        for i in range(kept):
            side[near[i]] = which
    if by_mean:
        for which in range(2):
            for j in range(d):
                seeds[which, j] = 0.0
                for i in range(m):
                    if side[i] == which:
                        seeds[which, j] += points[j, i]
            rounded_mean(seeds[which], k, seeds[which])
            distances_to(points, 0, m, seeds[which], found[which])
    for i in range(m):
        if side[i] < 0:
            side[i] = 0 if found[0, i] <= found[1, i] else 1


@njit(cache=True)
def gather(points: NDArray[np.float64], ids: NDArray[np.int64], into: NDArray[np.float64]) -> None:
    """Fill ``into[:, :len(ids)]`` with the coordinates of these records."""
    for j in range(len(points)):
        row = points[j]
        for i in range(len(ids)):
            into[j, i] = row[ids[i]]


@njit(cache=True)
def _top_down_inner(
    points: NDArray[np.float64], ids: NDArray[np.int64], k: int, exact: int, by_mean: bool
) -> NDArray[np.int64]:
    """Permute the records of one part into classes and return where these begin, and the end."""
    m = len(ids)
    scratch, found = np.empty((len(points), m)), np.empty(m)
    side, right = np.empty(m, np.int8), np.empty(m, np.int64)
    bounds = np.empty(m // k + 2, np.int64)  # the stack of groups to split is the tail of a partition
    waiting = np.empty(m // k + 2, np.int64)
    bounds[0], made = 0, 1
    waiting[0], depth = m, 1
    while depth > 0:
        begin, end = bounds[made - 1], waiting[depth - 1]
        size = end - begin
        if size < 2 * k:
            bounds[made] = end
            made += 1
            depth -= 1
            continue
        gather(points, ids[begin:end], scratch)
        group = np.ascontiguousarray(scratch[:, :size])
        pair = farthest_pair(group, found, exact)
        split_group(group, k, pair, by_mean, side)
        lefts, rights = begin, 0
        for i in range(size):
            if side[i] == 0:
                ids[lefts] = ids[begin + i]
                lefts += 1
            else:
                right[rights] = ids[begin + i]
                rights += 1
        ids[lefts:end] = right[:rights]
        waiting[depth] = lefts
        depth += 1
    return bounds[:made]


@njit(cache=True)
def _label(ids: NDArray[np.int64], bounds: NDArray[np.int64], labels: NDArray[np.int64]) -> None:
    """Label the records of every class by its first record, which no other class has."""
    for c in range(len(bounds) - 1):
        for i in range(bounds[c], bounds[c + 1]):
            labels[ids[i]] = ids[bounds[c]]


@njit(cache=True)
def top_down(
    points: NDArray[np.float64],
    ids: NDArray[np.int64],
    offsets: NDArray[np.int64],
    k: int,
    by_mean: bool,
    labels: NDArray[np.int64],
) -> None:
    """Split every part ``ids[offsets[p]:offsets[p + 1]]`` into classes of k to 2k - 1 records."""
    for p in range(len(offsets) - 1):
        part = ids[offsets[p] : offsets[p + 1]]
        _label(part, _top_down_inner(points, part, k, EXACT_PAIR, by_mean), labels)


@njit(cache=True, parallel=True)
def top_down_parallel(
    points: NDArray[np.float64],
    ids: NDArray[np.int64],
    offsets: NDArray[np.int64],
    k: int,
    by_mean: bool,
    labels: NDArray[np.int64],
) -> None:
    """Do what `top_down` does, with threads; not to be entered from several Python threads."""
    for p in prange(len(offsets) - 1):
        part = ids[offsets[p] : offsets[p + 1]]
        _label(part, _top_down_inner(points, part, k, EXACT_PAIR, by_mean), labels)
