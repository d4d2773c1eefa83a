"""Walking records down a tree of cuts, and counting what the cells at its leaves hold."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def walk(
    bins: NDArray[np.uint8], column: NDArray[np.int64], at: NDArray[np.int64], left: NDArray[np.int64]
) -> NDArray[np.int32]:
    """Return the leaf of every record.

    `bins` is ``[q, n]``. At node `i`, a record goes to ``left[i]`` where its bin of ``column[i]`` is at most
    ``at[i]``, else to the node after it; column -1 marks a leaf.
    """
    n = bins.shape[1]
    found = np.empty(n, dtype=np.int32)
    for i in range(n):
        node = 0
        while column[node] >= 0:
            right = bins[column[node], i] > at[node]
            node = left[node] + (1 if right else 0)
        found[i] = node
    return found


@njit(cache=True)
def count_cells(
    cell: NDArray[np.int64],
    bins: NDArray[np.uint8],
    sensitive: NDArray[np.int32],
    starts: NDArray[np.int64],
    total: NDArray[np.int64],
) -> None:
    """Add to ``total[cells, width]`` how many records of each cell have each bin and each sensitive value.

    Parameters
    ----------
    cell : int64[n]
        The row of `total` for each record, -1 for none.
    bins : uint8[q, n]
    sensitive : int32[s, n]
        Numbered over all values of all sensitive columns.
    starts : int64[q + 1]
        Where each column's bins begin in `total`, and where sensitive values do.
    """
    q, n = bins.shape
    for j in range(q):
        begin = starts[j]
        for i in range(n):
            if cell[i] >= 0:
                total[cell[i], begin + bins[j, i]] += 1
    begin = starts[q]
    for j in range(len(sensitive)):
        for i in range(n):
            if cell[i] >= 0:
                total[cell[i], begin + sensitive[j, i]] += 1
