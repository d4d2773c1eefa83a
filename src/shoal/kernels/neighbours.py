"""The nearest other points of every point."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .kd_tree import KdTree, nearest


@njit(cache=True)
def nearest_points(
    tree: KdTree, points: NDArray[np.float64], found: NDArray[np.int64]
) -> NDArray[np.float64]:
    """Fill each line of `found` with the nearest other points; return the squared distance of the next.

    There have to be two points more than a line has room for.
    """
    d, n = points.shape
    count = found.shape[1]
    best, near = np.empty(count + 2), np.empty(count + 2, np.int64)
    query, beyond = np.empty(d), np.empty(n)
    for i in range(n):
        for j in range(d):
            query[j] = points[j, i]
        nearest(tree, query, best, near)
        own = count + 1  # beside many like it, a point need not be among its own nearest
        for at in range(count + 2):
            if near[at] == i:
                own = at
        for at in range(count):
            found[i, at] = near[at] if at < own else near[at + 1]
        beyond[i] = best[count] if count < own else best[count + 1]
    return beyond
