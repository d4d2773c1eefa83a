"""The quasi-identifiers as kernels see them: flat arrays, and the cost of a class in whole numbers.

Costs are integers, `UNIT` being the cost of a fully generalised cell of weight 1. Sums of integers do
not depend on their order, so a kernel, its parallel twin and the slow oracle agree to the last bit, ties
included. Published metrics are computed in floating point from the values themselves, never from these costs.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

UNIT = 1 << 20

LINE = 0  # numbers, ranks, dates: a class costs the distance between its extremes
SET = 1  # values without order: a class costs (distinct - 1) / (domain - 1)
TREE = 2  # leaves in depth-first order: a class costs its lowest common ancestor


class Space(NamedTuple):
    """Geometry of all quasi-identifiers. Code `size[j]` stands for null; flat arrays are cut by `start`."""

    geometry: NDArray[np.int8]  # [q] LINE, SET or TREE
    size: NDArray[np.int32]  # [q] number of codes without null
    full: NDArray[np.int32]  # [q] cost of a cell that tells nothing: UNIT * weight
    start: NDArray[np.int64]  # [q + 1] where column j's codes (null included) begin in `position`
    position: NDArray[np.int32]  # [sum(size + 1)] place of each code of a LINE column on [0, full]
    levels: NDArray[np.int32]  # [q] levels of a TREE, leaf and root included; else 0
    tree_start: NDArray[np.int64]  # [q] where column j's tree begins in `node` and `node_cost`
    node: NDArray[np.int32]  # [level * size + code] of each tree, one after another
    node_cost: NDArray[np.int32]  # cost of that node


@njit(cache=True)
def tree_cost(space: Space, j: int, low: int, high: int) -> int:
    """Return the cost of the lowest common ancestor of all leaves between codes `low` and `high`."""
    size = space.size[j]
    at = space.tree_start[j]
    for _level in range(space.levels[j]):
        if space.node[at + low] == space.node[at + high]:
            return space.node_cost[at + low]
        at += size
    return space.full[j]


@njit(cache=True)
def spread_cost(space: Space, j: int, low: int, high: int, distinct: int, nulls: int, size: int) -> int:
    """Return the cost per record of column `j` in a class of `size` records of which `nulls` are null.

    `low` and `high` are the extreme codes and `distinct` the number of different ones, nulls left out.
    """
    if nulls == size:
        return 0
    if nulls > 0:
        return space.full[j]
    geometry = space.geometry[j]
    if geometry == LINE:
        return space.position[space.start[j] + high] - space.position[space.start[j] + low]
    if geometry == SET:
        if distinct <= 1:
            return 0
        return (np.int64(distinct) - 1) * np.int64(space.full[j]) // (space.size[j] - 1)
    return tree_cost(space, j, low, high)
