"""One-pass k-means: a record joins the nearest centre, which moves at once; then clusters give some away.

Centres are rows of the tree of boxes. A box that a centre leaves is widened; now and then all are measured
again, so that they stay tight.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .k_member import ClassState, include, nearest
from .k_member_index import FLAT, NULL, Columns, Index, measure_all, take
from .space import LINE, SET, TREE


class Clusters(NamedTuple):
    """The clusters, their centres, and who is in them."""

    of: NDArray[np.int64]  # [n] cluster of a record, -1 for none
    size: NDArray[np.int64]  # [c]
    center: NDArray[np.int32]  # [c, q] position of a LINE column, else the code; NULL
    total: NDArray[np.int64]  # [c, q] sum of the positions of LINE columns
    nulls: NDArray[np.int64]  # [c, q]
    last: NDArray[np.int64]  # [c] who joined last
    before: NDArray[np.int64]  # [n] who joined before


@njit(cache=True)
def make_clusters(values: NDArray[np.int32], columns: Columns, seeds: int) -> Clusters:
    """Return clusters of one record each: the first ones."""
    n, q = values.shape
    clusters = Clusters(
        np.full(n, -1, np.int64),
        np.zeros(seeds, np.int64),
        values[:seeds].copy(),
        np.zeros((seeds, q), np.int64),
        np.zeros((seeds, q), np.int64),
        np.full(seeds, -1, np.int64),
        np.full(n, -1, np.int64),
    )
    for c in range(seeds):
        _join(clusters, columns, values, c, c)
    return clusters


@njit(cache=True)
def _join(clusters: Clusters, columns: Columns, values: NDArray[np.int32], c: int, record: int) -> None:
    clusters.of[record] = c
    clusters.size[c] += 1
    clusters.before[record] = clusters.last[c]
    clusters.last[c] = record
    for j in range(values.shape[1]):
        if values[record, j] == NULL:
            clusters.nulls[c, j] += 1
        elif columns.kind[j] == LINE:
            clusters.total[c, j] += values[record, j]


@njit(cache=True)
def _count(clusters: Clusters, values: NDArray[np.int32], c: int, j: int, value: int) -> int:
    found = 0
    other = clusters.last[c]
    while other >= 0:
        found += values[other, j] == value
        other = clusters.before[other]
    return found


@njit(cache=True)
def _move(clusters: Clusters, columns: Columns, values: NDArray[np.int32], c: int, record: int) -> None:
    """Move the centre after a record has joined: only its values can have overtaken those of the centre."""
    for j in range(values.shape[1]):
        size, nulls = clusters.size[c], clusters.nulls[c, j]
        if columns.kind[j] == LINE:
            most_null = 2 * nulls > size
            clusters.center[c, j] = NULL if most_null else clusters.total[c, j] // (size - nulls)
            continue
        value, now = values[record, j], clusters.center[c, j]
        if value != now and _count(clusters, values, c, j, value) > _count(clusters, values, c, j, now):
            clusters.center[c, j] = value


@njit(cache=True)
def _widen(index: Index, columns: Columns, slot: int, row: NDArray[np.int32]) -> None:
    """Give a centre its new place, and widen the boxes it is in."""
    for j in range(len(row)):
        value = np.int64(row[j])
        if index.values[slot, j] == value:
            continue
        index.values[slot, j] = value
        node = index.leaf[slot]
        while node >= 0:
            if value == NULL:
                index.nulls[node, j] = max(index.nulls[node, j], np.int8(1))
            else:
                index.nulls[node, j] = min(index.nulls[node, j], np.int8(1))
                if columns.kind[j] == SET or columns.kind[j] == FLAT:
                    index.low[node, j] |= np.int64(1) << (value & 63)
                else:
                    index.low[node, j] = min(index.low[node, j], value)
                index.high[node, j] = max(index.high[node, j], value)
            node = index.parent[node]


@njit(cache=True)
def assign(
    index: Index,
    columns: Columns,
    state: ClassState,
    clusters: Clusters,
    values: NDArray[np.int32],
    first: int,
    last: int,
) -> None:
    """Let the records from `first` to before `last` join the nearest centre each; ties: the first cluster."""
    measure_all(index, columns)
    for record in range(first, last):
        include(state, columns, values[record], True)
        slot = nearest(index, columns, state)
        c = index.queue[index.head[slot]]
        _join(clusters, columns, values, c, record)
        _move(clusters, columns, values, c, record)
        _widen(index, columns, slot, clusters.center[c])


@njit(cache=True)
def _distance(columns: Columns, one: NDArray[np.int32], two: NDArray[np.int32]) -> int:
    """Return the cost of a class of two rows."""
    total = np.int64(0)
    for j in range(len(one)):
        low, high = np.int64(min(one[j], two[j])), np.int64(max(one[j], two[j]))
        if low == high and (low == NULL or columns.kind[j] != TREE):
            continue
        if low == NULL:
            total += columns.full[j]
        elif columns.kind[j] == LINE:
            total += high - low
        elif columns.kind[j] == TREE:
            at = columns.tree_start[j]
            while columns.node[at + low] != columns.node[at + high]:
                at += columns.size[j]
            total += columns.node_cost[at + low]
        else:
            total += columns.step[j]
    return total


@njit(cache=True)
def give_away(columns: Columns, clusters: Clusters, values: NDArray[np.int32], k: int) -> NDArray[np.bool_]:
    """Take out of every cluster the records beyond k that are farthest from its centre; return which.

    Among equals the last to come goes first.
    """
    out = np.zeros(len(values), np.bool_)
    for c in range(len(clusters.size)):
        size = clusters.size[c]
        if size <= k:
            continue
        away = np.empty(size, np.int64)
        records = np.empty(size, np.int64)
        other = clusters.last[c]
        for i in range(size):
            records[i] = other
            away[i] = -_distance(columns, clusters.center[c], values[other])
            other = clusters.before[other]
        # Records stand from the last to the first, and the sort is stable.
        for i in np.argsort(away, kind="mergesort")[: size - k]:
            out[records[i]] = True
            clusters.of[records[i]] = -1
        clusters.size[c] = k
    return out


@njit(cache=True)
def settle(
    small: Index,
    everyone: Index,
    columns: Columns,
    state: ClassState,
    clusters: Clusters,
    values: NDArray[np.int32],
    out: NDArray[np.bool_],
    k: int,
    lacking: int,
) -> None:
    """Let records that were given away join the nearest of the `small` clusters, or of all when none is."""
    for record in range(len(values)):
        if not out[record]:
            continue
        index = small if lacking > 0 else everyone
        include(state, columns, values[record], True)
        slot = nearest(index, columns, state)
        c = index.queue[index.head[slot]]
        clusters.of[record] = c
        clusters.size[c] += 1
        if lacking > 0 and clusters.size[c] == k:
            take(index, columns, slot)
            lacking -= 1
