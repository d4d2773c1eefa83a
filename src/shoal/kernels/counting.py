"""Counting and sorting the codes of one column."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

_DENSE = 16  # codes per record up to which counting beats sorting
_SMALL = 40  # records up to which insertion sort beats sorting by bytes


@njit(cache=True)
def count_bits(word: int) -> int:
    """Return the number of ones of a uint64."""
    pairs = word - ((word >> np.uint64(1)) & np.uint64(0x5555555555555555))
    low_fours = pairs & np.uint64(0x3333333333333333)
    fours = low_fours + ((pairs >> np.uint64(2)) & np.uint64(0x3333333333333333))
    eights = (fours + (fours >> np.uint64(4))) & np.uint64(0x0F0F0F0F0F0F0F0F)
    return np.int64((eights * np.uint64(0x0101010101010101)) >> np.uint64(56))


@njit(cache=True)
def sort_numbers(values: NDArray[np.int32], buffer: NDArray[np.int32], low: int, high: int) -> None:
    """Sort numbers between `low` and `high`, byte by byte unless they are few."""
    m = len(values)
    if m <= _SMALL:
        for i in range(1, m):
            value = values[i]
            at = i
            while at > 0 and values[at - 1] > value:
                values[at] = values[at - 1]
                at -= 1
            values[at] = value
        return
    offsets = np.empty(257, np.int64)
    shift = 0
    while (high - low) >> shift > 0:
        for byte in range(257):
            offsets[byte] = 0
        for i in range(m):
            offsets[((values[i] - low) >> shift & 255) + 1] += 1
        for byte in range(256):
            offsets[byte + 1] += offsets[byte]
        for i in range(m):
            byte = (values[i] - low) >> shift & 255
            buffer[offsets[byte]] = values[i]
            offsets[byte] += 1
        for i in range(m):
            values[i] = buffer[i]
        shift += 8


@njit(cache=True)
def count_codes(
    column: NDArray[np.int32],
    low: int,
    high: int,
    values: NDArray[np.int32],
    counts: NDArray[np.int32],
    histogram: NDArray[np.int32],
) -> int:
    """Fill `values` and `counts` with the codes of a node's column; return how many differ."""
    m = len(column)
    runs = 0
    if high - low < _DENSE * m:
        for i in range(m):
            histogram[column[i] - low] += 1
        for offset in range(high - low + 1):
            if histogram[offset] > 0:
                values[runs] = low + offset
                counts[runs] = histogram[offset]
                histogram[offset] = 0
                runs += 1
        return runs
    for i in range(m):
        values[i] = column[i]
    sort_numbers(values[:m], counts, low, high)
    for i in range(m):
        if runs > 0 and values[i] == values[runs - 1]:
            counts[runs - 1] += 1
        else:
            values[runs] = values[i]
            counts[runs] = 1
            runs += 1
    return runs
