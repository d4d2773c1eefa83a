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
CHUNKS = 16  # shares of the parts, each with scratch space of its own
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
        keys.sort()
        for i in range(k):
            near[a, i] = keys[i] & _PLACE


@njit(cache=True)
def _chaining(apart: NDArray[np.int64], near: NDArray[np.int64], chain: int, lengths: NDArray[np.int64]) -> None:
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
    rules: Rules,
    sensitive: NDArray[np.int32],
    stats: Stats,
    leaves: NDArray[np.bool_],
) -> None:
    """Mark the records of a part that score above `limit`, save those that the rest cannot do without.

    The least outlying are given back first, until the rest keeps the rules or all are back.
    """
    clear_stats(stats, rules)
    for i in members:
        add_record(stats, rules, sensitive, i)
    order = np.argsort(-scores, kind="mergesort")
    gone = 0
    while gone < len(order) and scores[order[gone]] > limit:
        leaves[members[order[gone]]] = True
        remove_record(stats, rules, sensitive, members[order[gone]])
        gone += 1
    while gone > 0 and not stats_ok(stats, rules):
        gone -= 1
        leaves[members[order[gone]]] = False
        add_record(stats, rules, sensitive, members[order[gone]])


@njit(cache=True, parallel=True)
def score_parts(
    points: Points,
    ids: NDArray[np.int64],
    bounds: NDArray[np.int64],
    k: int,
    chain: int,
) -> NDArray[np.float64]:
    """Return the outlier factor of each of `ids` within its part ``ids[bounds[p]:bounds[p + 1]]``."""
    scores = np.empty(len(ids))
    for p in prange(len(bounds) - 1):
        begin, end = bounds[p], bounds[p + 1]
        factors(points, ids[begin:end], k, chain, scores[begin:end])
    return scores


@njit(cache=True)
def leave_parts(
    ids: NDArray[np.int64],
    bounds: NDArray[np.int64],
    scores: NDArray[np.float64],
    alpha: float,
    fixed: float,
    rules: Rules,
    sensitive: NDArray[np.int32],
    leaves: NDArray[np.bool_],
) -> None:
    """Mark in `leaves` the records that leave their part: above `fixed`, or above the part's own threshold.

    The part's own threshold counts when `fixed` is nan.
    """
    stats = make_stats(rules)
    for p in range(len(bounds) - 1):
        begin, end = bounds[p], bounds[p + 1]
        own = scores[begin:end]
        limit = threshold(own, alpha) if math.isnan(fixed) else fixed
        _leave(ids[begin:end], own, limit, rules, sensitive, stats, leaves)
