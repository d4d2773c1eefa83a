"""The last records of greedy clustering, too few for a class: each joins the class whose loss grows least."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .space import SET, Space, spread_cost

_FAR = np.int64(1) << 62


class Summaries(NamedTuple):
    """What every class covers, nulls left out of all but their count."""

    size: NDArray[np.int64]  # [classes]
    cost: NDArray[np.int64]  # [classes] per record, all columns together
    low: NDArray[np.int32]  # [classes, q]
    high: NDArray[np.int32]  # [classes, q]
    distinct: NDArray[np.int32]  # [classes, q] of SET columns
    nulls: NDArray[np.int32]  # [classes, q]


@njit(cache=True)
def _add(
    summaries: Summaries, space: Space, c: int, record: NDArray[np.int32], fresh: NDArray[np.bool_]
) -> None:
    """Add a record to a class; `fresh` tells in which SET columns its value is new there."""
    summaries.size[c] += 1
    total = np.int64(0)
    for j in range(len(record)):
        code = record[j]
        if code == space.size[j]:
            summaries.nulls[c, j] += 1
        else:
            summaries.low[c, j] = min(summaries.low[c, j], code)
            summaries.high[c, j] = max(summaries.high[c, j], code)
            if fresh[j]:
                summaries.distinct[c, j] += 1
        total += spread_cost(
            space,
            j,
            summaries.low[c, j],
            summaries.high[c, j],
            summaries.distinct[c, j],
            summaries.nulls[c, j],
            summaries.size[c],
        )
    summaries.cost[c] = total


@njit(cache=True)
def _summarise(codes: NDArray[np.int32], space: Space, members: NDArray[np.int64]) -> Summaries:
    classes, k = members.shape
    q = codes.shape[1]
    summaries = Summaries(
        np.zeros(classes, np.int64),
        np.zeros(classes, np.int64),
        np.full((classes, q), space.size.max(), np.int32),
        np.zeros((classes, q), np.int32),
        np.zeros((classes, q), np.int32),
        np.zeros((classes, q), np.int32),
    )
    seen = np.full(space.start[q], -1, np.int64)
    fresh = np.zeros(q, np.bool_)
    for c in range(classes):
        for i in range(k):
            record = codes[members[c, i]]
            for j in range(q):
                at = space.start[j] + record[j]
                fresh[j] = seen[at] != c
                seen[at] = c
            _add(summaries, space, c, record, fresh)
    return summaries


@njit(cache=True)
def _cost_with(
    summaries: Summaries, space: Space, c: int, record: NDArray[np.int32], fresh: NDArray[np.bool_]
) -> int:
    """Return the cost per record of a class with one more record."""
    total = np.int64(0)
    for j in range(len(record)):
        code = record[j]
        low, high = summaries.low[c, j], summaries.high[c, j]
        distinct, nulls = summaries.distinct[c, j], summaries.nulls[c, j]
        if code == space.size[j]:
            nulls += 1
        else:
            low, high = min(low, code), max(high, code)
            if fresh[j]:
                distinct += 1
        total += spread_cost(space, j, low, high, distinct, nulls, summaries.size[c] + 1)
    return total


@njit(cache=True)
def place_leftovers(
    codes: NDArray[np.int32],
    space: Space,
    members: NDArray[np.int64],
    leftovers: NDArray[np.int64],
    labels: NDArray[np.int32],
) -> None:
    """Fill in the labels of `leftovers`, in their order; class c holds the records ``members[c]``.

    The loss of a class is its size times its cost per record; ties go to the first class.
    """
    classes, k = members.shape
    q = codes.shape[1]
    summaries = _summarise(codes, space, members)
    nothing = np.zeros(q, np.bool_)
    fresh = np.zeros(q, np.bool_)
    best_fresh = np.zeros(q, np.bool_)
    for at in range(len(leftovers)):
        record = codes[leftovers[at]]
        best, least = -1, _FAR
        for c in range(classes):
            # Costs never fall, so a class grows by its present cost per record or more.
            if summaries.cost[c] >= least:
                continue
            grown, before = summaries.size[c] + 1, summaries.size[c] * summaries.cost[c]
            if grown * _cost_with(summaries, space, c, record, nothing) - before >= least:
                continue
            for j in range(q):
                fresh[j] = space.geometry[j] == SET
                for i in range(k):
                    fresh[j] = fresh[j] and codes[members[c, i], j] != record[j]
                for other in range(at):
                    if labels[leftovers[other]] == c:
                        fresh[j] = fresh[j] and codes[leftovers[other], j] != record[j]
            increase = grown * _cost_with(summaries, space, c, record, fresh) - before
            if increase < least:
                best, least = c, increase
                best_fresh[:] = fresh
        labels[leftovers[at]] = best
        _add(summaries, space, best, record, best_fresh)
