"""Rows of codes, each in as few bytes as its column needs: what a run of them holds, column by column."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .counting import count_bits

WORD = 64  # columns of fewer codes (null included) are collected as bits of one word
FAR = 1 << 62
LOW, HIGH, DISTINCT = range(3)  # rows of an array: extreme codes (null included), distinct codes (-1 unknown)
_BLOCK = 512  # rows that stay in the processor's first cache while every column looks at them


class Rows(NamedTuple):
    """Rows of codes, each in 1, 2 or 4 bytes: the same memory, seen as numbers of each width."""

    bytes: NDArray[np.uint8]  # [n, stride]
    halves: NDArray[np.uint16]  # [n, stride / 2]
    words: NDArray[np.int32]  # [n, stride / 4]
    width: NDArray[np.int64]  # [q] bytes of the codes of each column
    at: NDArray[np.int64]  # [q] where they stand in a row of the array of that width


@njit(cache=True)
def _word(rows: NDArray[np.uint8], at: int, begin: int, end: int) -> int:
    """Return the codes below 64 of some rows as bits."""
    found = np.uint64(0)
    for i in range(begin, end):
        found |= np.uint64(1) << np.uint64(rows[i, at])
    return found


@njit(cache=True)
def _extremes(
    rows: NDArray[np.integer], at: int, begin: int, end: int, low: int, high: int
) -> tuple[int, int]:
    """Return the least and greatest code of some rows and of the two given."""
    for i in range(begin, end):
        low = min(low, np.int64(rows[i, at]))
        high = max(high, np.int64(rows[i, at]))
    return low, high


@njit(cache=True)
def _look(
    rows: Rows,
    begin: int,
    end: int,
    size: NDArray[np.int32],
    bits: NDArray[np.uint64],
    columns: NDArray[np.int64],
) -> None:
    """Add some rows to the extremes of every column, or to its codes as bits."""
    for j in range(len(size)):
        at = rows.at[j]
        if size[j] < WORD:
            bits[j] |= _word(rows.bytes, at, begin, end)
            continue
        low, high = columns[LOW, j], columns[HIGH, j]
        if rows.width[j] == 1:
            low, high = _extremes(rows.bytes, at, begin, end, low, high)
        elif rows.width[j] == 2:
            low, high = _extremes(rows.halves, at, begin, end, low, high)
        else:
            low, high = _extremes(rows.words, at, begin, end, low, high)
        columns[LOW, j], columns[HIGH, j] = low, high


@njit(cache=True)
def collect_columns(
    rows: Rows,
    begin: int,
    end: int,
    size: NDArray[np.int32],
    bits: NDArray[np.uint64],
    columns: NDArray[np.int64],
) -> None:
    """Fill in the extremes of every column, and the number of distinct codes where a word can tell it."""
    for j in range(len(size)):
        bits[j] = np.uint64(0)
        columns[LOW, j], columns[HIGH, j] = FAR, -1
    for block in range(begin, end, _BLOCK):
        _look(rows, block, min(end, block + _BLOCK), size, bits, columns)
    for j in range(len(size)):
        if size[j] < WORD:
            smeared = bits[j]
            for step in (1, 2, 4, 8, 16, 32):
                smeared |= smeared >> np.uint64(step)
            columns[LOW, j] = count_bits((bits[j] - np.uint64(1)) & ~bits[j])
            columns[HIGH, j] = count_bits(smeared) - 1
            columns[DISTINCT, j] = count_bits(bits[j])
        else:
            columns[DISTINCT, j] = 1 if columns[LOW, j] == columns[HIGH, j] else -1


@njit(cache=True)
def gather_codes(rows: Rows, j: int, begin: int, end: int, codes: NDArray[np.int32]) -> NDArray[np.int32]:
    """Copy one column of a node, and return the copy."""
    at = rows.at[j]
    if rows.width[j] == 1:
        for i in range(begin, end):
            codes[i - begin] = rows.bytes[i, at]
    elif rows.width[j] == 2:
        for i in range(begin, end):
            codes[i - begin] = rows.halves[i, at]
    else:
        for i in range(begin, end):
            codes[i - begin] = rows.words[i, at]
    return codes[: end - begin]
