"""Orders of records, and the cut of an order into classes with the least squared error."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .kd_tree import KdTree, nearest, remove

_BITS = 62  # of a place on the Hilbert curve


@njit(cache=True)
def walk_nearest(
    tree: KdTree, points: NDArray[np.float64], order: NDArray[np.int64], at: int, steps: int
) -> int:
    """Continue a tour from ``order[at - 1]`` by up to `steps` nearest records; return its length."""
    best, near = np.empty(1), np.empty(1, np.int64)
    query = np.empty(len(points))
    for _ in range(steps):
        for j in range(len(points)):
            query[j] = points[j, order[at - 1]]
        if nearest(tree, query, best, near) == 0:
            break
        order[at] = near[0]
        remove(tree, near[0])
        at += 1
    return at


@njit(cache=True)
def hilbert_places(points: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the place of every point on a Hilbert curve through a grid over their box.

    The grid has as many cells a side as 62 bits allow. Skilling (2004): Programming the Hilbert curve.
    """
    d, n = points.shape
    bits = _BITS // d
    places = np.zeros(n, np.int64)
    low, step = np.empty(d), np.empty(d)
    for j in range(d):
        low[j] = points[j].min()
        step[j] = (points[j].max() - low[j]) / ((1 << bits) - 1)
    cell = np.empty(d, np.int64)
    for i in range(n):
        for j in range(d):
            cell[j] = np.int64((points[j, i] - low[j]) / step[j]) if step[j] > 0 else 0
        side = np.int64(1) << (bits - 1)
        while side > 1:  # undo the turns and reflections, from the coarsest square to the finest
            mask = side - 1
            for j in range(d):
                if cell[j] & side:
                    cell[0] ^= mask
                else:
                    swap = (cell[0] ^ cell[j]) & mask
                    cell[0] ^= swap
                    cell[j] ^= swap
            side >>= 1
        for j in range(1, d):
            cell[j] ^= cell[j - 1]
        turned = np.int64(0)
        side = np.int64(1) << (bits - 1)
        while side > 1:
            if cell[d - 1] & side:
                turned ^= side - 1
            side >>= 1
        for bit in range(bits - 1, -1, -1):
            for j in range(d):
                places[i] = (places[i] << 1) | ((cell[j] ^ turned) >> bit & 1)
    return places


@njit(cache=True)
def cut_order(ordered: NDArray[np.float64], k: int) -> NDArray[np.int64]:
    """Return where classes end in an order of n >= k points [n, d], of k to 2k - 1 points and least error.

    Of several cuts with the same error the one whose last classes are smallest is taken. The error of a run
    grows point by point from its end (Welford 1962), so nothing cancels.
    """
    n, d = ordered.shape
    least = np.full(n + 1, np.inf)
    size = np.zeros(n + 1, np.int64)
    least[0] = 0.0
    mean = np.empty(d)
    for end in range(k, n + 1):
        mean[:] = 0.0
        error = 0.0
        for count in range(1, min(2 * k - 1, end) + 1):
            i = end - count
            squares = 0.0
            for j in range(d):
                off = ordered[i, j] - mean[j]
                mean[j] += off / count
                squares += off * off
            error += squares * (count - 1) / count
            if count >= k and least[i] + error < least[end]:
                least[end] = least[i] + error
                size[end] = count
    ends = np.empty(n // k, np.int64)
    classes = 0
    end = n
    while end > 0:
        ends[classes] = end
        classes += 1
        end -= size[end]
    return ends[:classes][::-1]
