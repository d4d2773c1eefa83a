"""The distance between two records and the cost of a growing class, in whole numbers.

Distances are Gower's, or Euclidean over the columns that are lines. Whole numbers make ties exact: two
records at the same distance from a third are so in any order of summation, and in the oracle.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .space import LINE, SET

NULL = -1
NOTHING, VALUES, NULLS, MIXED = range(4)  # what a class holds in a column


class Points(NamedTuple):
    """The records, and what tells them apart. All columns together cost 2^30 at most, however weighted."""

    values: NDArray[np.int32]  # [n, q] place of a LINE column on [0, full], else the code; NULL
    kind: NDArray[np.int8]  # [q] LINE, SET or TREE
    by_tree: NDArray[np.bool_]  # [q] whether two values are as far apart as their common ancestor is dear
    size: NDArray[np.int64]  # [q] codes without null
    full: NDArray[np.int64]  # [q] greatest distance and greatest cost of the column
    mass: NDArray[np.int64]  # [q] what a column counts in the mean over those two records share; 0 if ignored
    whole: int  # sum of `mass`
    most: int  # distance of two records that share no column (Euclidean: its square)
    euclidean: bool
    start: NDArray[np.int64]  # [q + 1] where the codes of a SET column begin in `Sweep.seen`
    tree_start: NDArray[np.int64]  # [q]
    node: NDArray[np.int32]  # as in `Space`
    node_cost: NDArray[np.int64]


class Sweep(NamedTuple):
    """A class that records are added to, column by column."""

    holds: NDArray[np.int8]  # [q] NOTHING, VALUES, NULLS or MIXED
    low: NDArray[np.int64]  # [q] least and greatest value
    high: NDArray[np.int64]
    distinct: NDArray[np.int64]  # [q] different values, counted for SET columns
    cost: NDArray[np.int64]  # [q]
    seen: NDArray[np.int64]  # [start[q]] the last sweep in which a code of a SET column was met
    serial: NDArray[np.int64]  # [1] number of this sweep


@njit(cache=True)
def make_sweep(points: Points) -> Sweep:
    """Return an empty class."""
    q = len(points.kind)
    return Sweep(
        np.zeros(q, np.int8),
        np.zeros(q, np.int64),
        np.zeros(q, np.int64),
        np.zeros(q, np.int64),
        np.zeros(q, np.int64),
        np.zeros(points.start[q], np.int64),
        np.zeros(1, np.int64),
    )


@njit(cache=True)
def distances(points: Points, origin: int, records: NDArray[np.int64], out: NDArray[np.int64]) -> None:
    """Fill `out` with the distance of each record from the record `origin`.

    The mean over the columns in which both have a value, times `whole`: a sum where no value is missing, and
    rounded down where one is.
    """
    values, kind, by_tree, size = points.values, points.kind, points.by_tree, points.size
    full, mass, tree_start = points.full, points.mass, points.tree_start
    node, node_cost, euclidean = points.node, points.node_cost, points.euclidean
    q = len(kind)
    for i in range(len(records)):
        other = records[i]
        total, shared = np.int64(0), np.int64(0)
        for j in range(q):
            a, b = np.int64(values[origin, j]), np.int64(values[other, j])
            if a == NULL or b == NULL or mass[j] == 0:
                continue
            shared += mass[j]
            if kind[j] == LINE:
                total += (a - b) * (a - b) if euclidean else abs(a - b)
            elif a != b:
                if by_tree[j]:
                    at = tree_start[j]
                    while node[at + a] != node[at + b]:
                        at += size[j]
                    total += node_cost[at + a]
                else:
                    total += full[j]
        if shared == 0:
            total = points.most
        elif shared != points.whole:
            total = total * points.whole // shared
        out[i] = np.int64(math.sqrt(total)) if euclidean else total


@njit(cache=True)
def _cost_of(points: Points, j: int, low: int, high: int, distinct: int) -> int:
    """Return the cost per record of a column that holds values only."""
    if points.kind[j] == LINE:
        return high - low
    if points.kind[j] == SET:
        return (distinct - 1) * points.full[j] // max(points.size[j] - 1, 1)
    at = points.tree_start[j]
    while points.node[at + low] != points.node[at + high]:
        at += points.size[j]
    return points.node_cost[at + low]


@njit(cache=True)
def running_costs(
    points: Points, sweep: Sweep, order: NDArray[np.int64], backward: bool, out: NDArray[np.int64]
) -> None:
    """Fill ``out[i]`` with the total cost of a class of the first ``i + 1`` records, or of the last ones."""
    values, kind, start = points.values, points.kind, points.start
    holds, low, high, seen = sweep.holds, sweep.low, sweep.high, sweep.seen
    q, m = len(kind), len(order)
    sweep.serial[0] += 1
    serial = sweep.serial[0]
    for j in range(q):
        holds[j] = NOTHING
        sweep.distinct[j] = 0
        sweep.cost[j] = 0
    total = np.int64(0)
    for i in range(m):
        record = order[m - 1 - i] if backward else order[i]
        for j in range(q):
            if holds[j] == MIXED:
                continue
            value = np.int64(values[record, j])
            before = sweep.cost[j]
            if holds[j] == NOTHING:
                holds[j] = NULLS if value == NULL else VALUES
                low[j], high[j] = value, value
            elif (value == NULL) != (holds[j] == NULLS):
                holds[j] = MIXED
                sweep.cost[j] = points.full[j]
                total += points.full[j] - before
                continue
            elif low[j] <= value <= high[j] and kind[j] != SET:
                continue
            if value == NULL:
                continue
            if kind[j] == SET:
                if seen[start[j] + value] == serial:
                    continue
                seen[start[j] + value] = serial
                sweep.distinct[j] += 1
            low[j], high[j] = min(low[j], value), max(high[j], value)
            sweep.cost[j] = _cost_of(points, j, low[j], high[j], sweep.distinct[j])
            total += sweep.cost[j] - before
        out[i] = total * (i + 1)
