"""The hull of every class: extreme codes, number of different values and of nulls, column by column."""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .space import Space, spread_cost

CHUNKS = 16  # each needs its own marks, one per code; more of them would balance no better
LOW, HIGH, DISTINCT, NULLS = range(4)  # the planes of what these kernels return


@njit(cache=True)
def _fill(
    codes: NDArray[np.int32],
    size: NDArray[np.int32],
    order: NDArray[np.int32],
    offsets: NDArray[np.int64],
    span: tuple[int, int],
    hulls: NDArray[np.int32],
) -> None:
    """Fill the rows of the classes ``span[0]:span[1]``, and no others."""
    marks = np.empty(size.max() + 1, dtype=np.int64)
    for j in range(len(size)):
        null = size[j]
        marks[: null + 1] = -1  # a code is marked with the last class it was seen in
        for c in range(span[0], span[1]):
            low, high, distinct, nulls = null, np.int32(-1), 0, 0
            for i in range(offsets[c], offsets[c + 1]):
                code = codes[j, order[i]]
                if code == null:
                    nulls += 1
                    continue
                low = min(low, code)
                high = max(high, code)
                if marks[code] != c:
                    marks[code] = c
                    distinct += 1
            hulls[LOW, c, j] = low
            hulls[HIGH, c, j] = high if distinct > 0 else null
            hulls[DISTINCT, c, j] = distinct
            hulls[NULLS, c, j] = nulls


@njit(cache=True)
def class_hulls(
    codes: NDArray[np.int32],
    size: NDArray[np.int32],
    order: NDArray[np.int32],
    offsets: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Return int32[4, g, q]: LOW, HIGH, DISTINCT and NULLS of every class in every column.

    In `codes`, which is ``[q, n]``, code ``size[j]`` stands for null.
    """
    hulls = np.empty((4, len(offsets) - 1, len(size)), dtype=np.int32)
    _fill(codes, size, order, offsets, (0, len(offsets) - 1), hulls)
    return hulls


@njit(cache=True, parallel=True)
def class_hulls_parallel(
    codes: NDArray[np.int32],
    size: NDArray[np.int32],
    order: NDArray[np.int32],
    offsets: NDArray[np.int64],
) -> NDArray[np.int32]:
    """Return what `class_hulls` returns, with threads; not to be entered from several Python threads."""
    hulls = np.empty((4, len(offsets) - 1, len(size)), dtype=np.int32)
    shares = np.arange(CHUNKS + 1) * len(order) // CHUNKS
    bounds = np.searchsorted(offsets, shares)
    bounds[0] = 0
    bounds[CHUNKS] = len(offsets) - 1
    for chunk in prange(CHUNKS):
        _fill(codes, size, order, offsets, (bounds[chunk], bounds[chunk + 1]), hulls)
    return hulls


@njit(cache=True)
def class_words(
    codes: NDArray[np.int32], order: NDArray[np.int32], offsets: NDArray[np.int64]
) -> NDArray[np.uint64]:
    """Return, per class, a word whose bit c is set where code c occurs; codes are below 64."""
    words = np.zeros(len(offsets) - 1, np.uint64)
    for c in range(len(words)):
        for i in range(offsets[c], offsets[c + 1]):
            words[c] |= np.uint64(1) << np.uint64(codes[order[i]])
    return words


@njit(cache=True)
def class_costs(hulls: NDArray[np.int32], space: Space, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the cost of every class in whole numbers, all records and columns together."""
    costs = np.zeros(len(sizes), np.int64)
    for c in range(len(sizes)):
        for j in range(len(space.size)):
            low, high, distinct = hulls[LOW, c, j], hulls[HIGH, c, j], hulls[DISTINCT, c, j]
            costs[c] += spread_cost(space, j, low, high, distinct, hulls[NULLS, c, j], sizes[c])
        costs[c] *= sizes[c]
    return costs
