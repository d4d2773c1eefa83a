"""What two rows cost in one class, column by column, in floating point: the least any class with both costs.

A gauge describes the columns, `values` the rows: float64[q, rows], the place of a row on a LINE, its code
elsewhere. Rows are cut into boxes by ranges of these values, and no row of a box is nearer than the box:
codes of a tree are its leaves in depth-first order, so the common ancestor only rises with distance.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .space import LINE, SET

FAR = 3.0  # where null lies on a LINE: at least 2 from any value, and no two values cost more than 1


class Gauge(NamedTuple):
    """The columns of a table as a loss sees them."""

    kind: NDArray[np.int8]  # [q] LINE, SET or TREE
    step: NDArray[np.float64]  # [q] what each further value of a SET costs
    null: NDArray[np.float64]  # [q] the value that stands for null
    size: NDArray[np.int64]  # [q] number of codes without null
    levels: NDArray[np.int64]  # [q] levels of a TREE, from the least that is published; else 0
    start: NDArray[np.int64]  # [q] where its levels begin in `node` and `cost`
    node: NDArray[np.int32]  # [level * size + code] of each tree, one after another
    cost: NDArray[np.float64]  # what a cell that shows that node costs


@njit(cache=True)
def pair_cost(gauge: Gauge, j: int, one: float, other: float) -> float:
    """Return what column `j` costs a class that holds both values."""
    if gauge.kind[j] == LINE:
        return min(abs(one - other), 1.0)
    null = gauge.null[j]
    if one == null or other == null:
        return 0.0 if one == other else 1.0
    if gauge.kind[j] == SET:
        return 0.0 if one == other else gauge.step[j]
    at, size = gauge.start[j], gauge.size[j]
    first, second = np.int64(one), np.int64(other)
    for _level in range(gauge.levels[j]):
        if gauge.node[at + first] == gauge.node[at + second]:
            return gauge.cost[at + first]
        at += size
    return 1.0


@njit(cache=True)
def box_cost(
    gauge: Gauge, query: NDArray[np.float64], low: NDArray[np.float64], high: NDArray[np.float64]
) -> float:
    """Return a cost that no row in the box between `low` and `high` undercuts together with `query`."""
    total = 0.0
    for j in range(len(query)):
        total += pair_cost(gauge, j, query[j], min(max(query[j], low[j]), high[j]))
    return total


@njit(cache=True)
def costs_to(
    gauge: Gauge,
    values: NDArray[np.float64],
    begin: int,
    end: int,
    query: NDArray[np.float64],
    found: NDArray[np.float64],
) -> None:
    """Fill ``found[:end - begin]`` with what `query` and each of these rows cost in one class."""
    found[: end - begin] = 0.0
    for j in range(len(query)):
        row, at = values[j, begin:end], query[j]
        if gauge.kind[j] == LINE:
            for i in range(end - begin):
                found[i] += min(abs(row[i] - at), 1.0)
        elif gauge.kind[j] == SET:
            null = gauge.null[j]
            step = 1.0 if at == null else gauge.step[j]
            for i in range(end - begin):
                found[i] += 0.0 if row[i] == at else (1.0 if row[i] == null else step)
        elif end - begin <= gauge.size[j]:
            for i in range(end - begin):
                found[i] += pair_cost(gauge, j, at, row[i])
        else:
            with_code = np.empty(gauge.size[j] + 1)
            for code in range(len(with_code)):
                with_code[code] = pair_cost(gauge, j, at, float(code))
            for i in range(end - begin):
                found[i] += with_code[np.int64(row[i])]
