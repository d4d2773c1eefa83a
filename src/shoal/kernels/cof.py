"""The connectivity-based outlier factor of every record within its part, and which records leave for it."""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .gower import Points, distances
from .rules import Rules
from .stats import Stats, add_record, clear_stats, make_stats, remove_record, stats_ok

SET_BASED, SORTED = range(2)  # the path through the neighbours
CHUNKS = 16  # shares of the parts
LARGEST = 4096  # records of a part that is looked at: the work grows with their square
_SHIFT = np.int64(31)
_PLACE = np.int64((1 << 31) - 1)
_FAR = np.int64(1) << 61


@njit(cache=True)
def _neighbours(apart: NDArray[np.int64], k: int, near: NDArray[np.int64]) -> None:
    """Fill `near` with each record's `k` nearest others, the nearest first, ties by place in the part."""
    m = len(apart)
    keys = np.empty(m, np.int64)
    for a in range(m):
        for b in range(m):
            keys[b] = apart[a, b] << _SHIFT | b
        keys[a] = _FAR
        first = np.partition(keys, k - 1)[:k]
        first.sort()
        for i in range(k):
            near[a, i] = first[i] & _PLACE


@njit(cache=True)
def _chaining(
    apart: NDArray[np.int64], near: NDArray[np.int64], chain: int, lengths: NDArray[np.int64]
) -> None:
    """Fill `lengths` with the average chaining distance of each record, times k (k + 1) / 2.

    The i-th of the k edges of a record's path has weight k + 1 - i. The set-based path always takes the
    neighbour nearest to any record already on it (ties: the earlier neighbour); the sorted one takes the
    neighbours from the nearest to the farthest.
    """
    m, k = near.shape
    gap = np.empty(k, np.int64)
    for a in range(m):
        lengths[a] = 0
        for i in range(k):
            gap[i] = apart[a, near[a, i]]
        last = a
        for step in range(k):
            taken = step
            if chain == SET_BASED:
                taken = np.argmin(gap)
                edge = gap[taken]
                gap[taken] = _FAR
                for i in range(k):
                    if gap[i] < _FAR:
                        gap[i] = min(gap[i], apart[near[a, taken], near[a, i]])
            else:
                edge = apart[last, near[a, taken]]
                last = near[a, taken]
            lengths[a] += (k - step) * edge


@njit(cache=True)
def factors(
    points: Points, members: NDArray[np.int64], k: int, chain: int, scores: NDArray[np.float64]
) -> None:
    """Fill `scores` with the outlier factor of each record of one part, by up to `k` neighbours.

    A record whose neighbours are all on one spot has the factor 1 if it is there too; otherwise their mean
    chaining distance counts as the smallest there is, so that the factor is large but finite.
    """
    m = len(members)
    k = min(k, m - 1)
    if k == 0:
        scores[:] = 1.0
        return
    apart = np.empty((m, m), np.int64)
    near = np.empty((m, k), np.int64)
    lengths = np.empty(m, np.int64)
    for a in range(m):
        distances(points, members[a], members, apart[a])
    _neighbours(apart, k, near)
    _chaining(apart, near, chain, lengths)
    for a in range(m):
        around = np.int64(0)
        for i in range(k):
            around += lengths[near[a, i]]
        if around == 0:
            scores[a] = 1.0 if lengths[a] == 0 else np.float64(lengths[a]) * k
        else:
            scores[a] = np.float64(lengths[a]) * k / around


@njit(cache=True)
def threshold(scores: NDArray[np.float64], alpha: float) -> float:
    """Return mean + alpha * standard deviation (of the population, summed in order)."""
    mean = 0.0
    for score in scores:
        mean += score
    mean /= len(scores)
    variance = 0.0
    for score in scores:
        variance += (score - mean) * (score - mean)
    return mean + alpha * math.sqrt(variance / len(scores))


@njit(cache=True)
def _leave(
    members: NDArray[np.int64],
    scores: NDArray[np.float64],
    limit: float,
    step: int,
    rules: Rules,
    sensitive: NDArray[np.int32],
    stats: Stats,
    leaves: NDArray[np.bool_],
) -> None:
    """Mark the places of a part that score above `limit`, save those the rest cannot do without.

    The least outlying are given back first, until a multiple of `step` is gone and the rest keeps the rules.
    """
    clear_stats(stats, rules)
    for i in members:
        add_record(stats, rules, sensitive, i)
    order = np.argsort(-scores, kind="mergesort")
    gone = 0
    while gone < len(order) and scores[order[gone]] > limit:
        leaves[order[gone]] = True
        remove_record(stats, rules, sensitive, members[order[gone]])
        gone += 1
    while gone > 0 and (gone % step > 0 or not stats_ok(stats, rules)):
        gone -= 1
        leaves[order[gone]] = False
        add_record(stats, rules, sensitive, members[order[gone]])


@njit(cache=True)
def leave_parts(
    ids: NDArray[np.int64],
    bounds: NDArray[np.int64],
    scores: NDArray[np.float64],
    limits: NDArray[np.float64],
    step: int,
    rules: Rules,
    sensitive: NDArray[np.int32],
) -> NDArray[np.bool_]:
    """Return which of `ids` leave their part because they score above its limit."""
    stats = make_stats(rules)
    leaves = np.zeros(len(ids), np.bool_)
    for p in range(len(bounds) - 1):
        a, b = bounds[p], bounds[p + 1]
        _leave(ids[a:b], scores[a:b], limits[p], step, rules, sensitive, stats, leaves[a:b])
    return leaves


@njit(cache=True)
def _score_inner(
    points: Points,
    ids: NDArray[np.int64],
    bounds: NDArray[np.int64],
    k: int,
    chain: int,
    scores: NDArray[np.float64],
) -> None:
    """Fill in the scores of the records of these parts, and of no others."""
    for p in range(len(bounds) - 1):
        a, b = bounds[p], bounds[p + 1]
        if b - a > LARGEST:
            scores[a:b] = 1.0
        else:
            factors(points, ids[a:b], k, chain, scores[a:b])


@njit(cache=True)
def score_parts(
    points: Points,
    ids: NDArray[np.int64],
    bounds: NDArray[np.int64],
    k: int,
    chain: int,
    scores: NDArray[np.float64],
) -> None:
    """Fill ``scores[i]`` with the factor of ``ids[i]`` in its part ``ids[bounds[p]:bounds[p + 1]]``."""
    _score_inner(points, ids, bounds, k, chain, scores)


@njit(cache=True, parallel=True)
def score_parts_parallel(
    points: Points,
    ids: NDArray[np.int64],
    bounds: NDArray[np.int64],
    k: int,
    chain: int,
    scores: NDArray[np.float64],
) -> None:
    """Do what `score_parts` does, with threads; not to be entered from several Python threads."""
    first, last = bounds[0], bounds[-1]
    share = np.searchsorted(bounds, first + np.arange(CHUNKS + 1) * (last - first) // CHUNKS)
    share[CHUNKS] = len(bounds) - 1
    for chunk in prange(CHUNKS):
        _score_inner(points, ids, bounds[share[chunk] : share[chunk + 1] + 1], k, chain, scores)


@njit(cache=True)
def thresholds(scores: NDArray[np.float64], bounds: NDArray[np.int64], alpha: float) -> NDArray[np.float64]:
    """Return the threshold of every part."""
    found = np.empty(len(bounds) - 1)
    for p in range(len(found)):
        found[p] = threshold(scores[bounds[p] : bounds[p + 1]], alpha)
    return found
