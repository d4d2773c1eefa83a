"""What every class would gain if its costliest record were suppressed."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .space import Space, spread_cost


@njit(cache=True)
def _cost_without(
    codes: NDArray[np.int32],
    space: Space,
    members: NDArray[np.int64],
    out: int,
    seen: NDArray[np.int64],
    mark: int,
) -> int:
    """Return the cost per record of a class without its member number `out`, none if that is -1."""
    total = np.int64(0)
    size = len(members) - (out >= 0)
    for j in range(codes.shape[1]):
        low, high = space.size[j], np.int32(-1)
        distinct = nulls = 0
        for i in range(len(members)):
            if i == out:
                continue
            code = codes[members[i], j]
            if code == space.size[j]:
                nulls += 1
                continue
            low, high = min(low, code), max(high, code)
            at = space.start[j] + code
            distinct += seen[at] != mark
            seen[at] = mark
        total += spread_cost(space, j, low, high, distinct, nulls, size)
    return total


@njit(cache=True)
def gains_without(
    codes: NDArray[np.int32], space: Space, order: NDArray[np.int32], offsets: NDArray[np.int64]
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return, for every class, how much the loss falls without one of its records at best, and which it is.

    The record itself is then charged in full. Ties go to the first record.
    """
    classes = len(offsets) - 1
    gain = np.empty(classes, np.int64)
    record = np.empty(classes, np.int64)
    seen = np.full(space.start[-1], -1, np.int64)
    mark = 0
    full = np.int64(0)
    for j in range(len(space.full)):
        full += space.full[j]
    for c in range(classes):
        members = order[offsets[c] : offsets[c + 1]]
        size = len(members)
        before = size * _cost_without(codes, space, members, -1, seen, mark)
        mark += 1
        least = np.int64(1) << 62
        for i in range(size):
            cost = (size - 1) * _cost_without(codes, space, members, i, seen, mark) if size > 1 else 0
            mark += 1
            if cost < least:
                least, record[c] = cost, members[i]
        gain[c] = before - least - full
    return gain, record
