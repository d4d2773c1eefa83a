"""Which published groups fit what an attacker knows of people."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

UNIT = 1 << 20  # the distance of one whole column


class Cells(NamedTuple):
    """The published cells of groups, one row per known column.

    A column on a line has `low` and `high`; the distance of a position is how far it lies outside, at most a
    `UNIT`. For any other, the distance of a value that does not fit is a `UNIT`. Where `width` is -1, only
    the value `low` fits. Else `low` is the number of the cell, `width` the number of values, and `fits` says,
    from `start` on and cell by cell, which values fit.

    Groups are sorted by their cells, first column first: where one is too far by its first few columns, all
    others with the same cells there are passed over at once.
    """

    low: NDArray[np.int32]  # [column, group]
    high: NDArray[np.int32]
    width: NDArray[np.int64]  # [column]; 0 for a line, -1 for single values
    start: NDArray[np.int64]
    fits: NDArray[np.uint8]
    breadth: NDArray[np.int64]  # [group]; how much its cells allow together
    rows: NDArray[np.int64]  # [group]
    skip: NDArray[np.int32]  # [column, group]; the next group that differs in a column up to this one


@njit(cache=True)
def distance(cells: Cells, known: NDArray[np.int32], group: int, most: int) -> tuple[int, int]:
    """Return (distance, 0) of a person from a group; above `most`, (a part of it, the next group to try)."""
    total = np.int64(0)
    for j in range(len(known)):
        width = cells.width[j]
        if width == 0:
            outside = max(cells.low[j, group] - known[j], known[j] - cells.high[j, group], 0)
            total += min(outside, UNIT)
        elif width < 0:
            if cells.low[j, group] != known[j]:
                total += UNIT
        elif not cells.fits[cells.start[j] + cells.low[j, group] * width + known[j]]:
            total += UNIT
        if total > most:
            return total, cells.skip[j, group]
    return total, 0


@njit(cache=True)
def distances(
    cells: Cells, known: NDArray[np.int32], groups: NDArray[np.int64], found: NDArray[np.int64]
) -> None:
    """Fill in the distance of each person from one group of their own."""
    for i in range(len(groups)):
        found[i] = distance(cells, known[i], groups[i], np.int64(1) << 60)[0]


@njit(cache=True)
def count_nearest(
    cells: Cells,
    known: NDArray[np.int32],
    by_breadth: bool,
    found: NDArray[np.int64],
) -> None:
    """Fill in, per person, (distance, breadth, groups, rows) of the nearest groups.

    With `by_breadth`, only those that allow least among them.
    """
    for i in range(len(known)):
        best, least, groups, rows = np.int64(1) << 60, np.int64(1) << 60, 0, 0
        g = 0
        while g < len(cells.rows):
            away, following = distance(cells, known[i], g, best)
            if away > best:
                g = following
                continue
            breadth = cells.breadth[g] if by_breadth else np.int64(0)
            if away < best or breadth < least:
                best, least, groups, rows = away, breadth, 0, 0
            if breadth == least:
                groups += 1
                rows += cells.rows[g]
            g += 1
        found[i, 0], found[i, 1], found[i, 2], found[i, 3] = best, least, groups, rows


@njit(cache=True)
def list_nearest(
    cells: Cells,
    known: NDArray[np.int32],
    by_breadth: bool,
    found: NDArray[np.int64],
    listed: NDArray[np.int32],
) -> None:
    """Fill in the groups that `count_nearest` counted, person after person."""
    at = 0
    for i in range(len(known)):
        end = at + found[i, 2]
        g = 0
        while at < end:
            away, following = distance(cells, known[i], g, found[i, 0])
            if away > found[i, 0]:
                g = following
                continue
            if not by_breadth or cells.breadth[g] == found[i, 1]:
                listed[at] = g
                at += 1
            g += 1


@njit(cache=True)
def _misfit(cells: Cells, known: NDArray[np.int32], group: int) -> int:
    """Return the first column in which a person does not fit a group, -1 when there is none."""
    for j in range(len(known)):
        width, low = cells.width[j], cells.low[j, group]
        if width == 0:
            fits = low <= known[j] <= cells.high[j, group]
        elif width < 0:
            fits = low == known[j]
        else:
            fits = cells.fits[cells.start[j] + low * width + known[j]] > 0
        if not fits:
            return j
    return -1


@njit(cache=True)
def count_fitting(
    cells: Cells,
    known: NDArray[np.int32],
    people: NDArray[np.int64],
    skip: NDArray[np.int32],
    counts: NDArray[np.int64],
) -> None:
    """Fill in how many people fit each group's cells: 0, 1 or some number above.

    People are sorted by what is known of them, and `skip` is to them what it is to groups in `Cells`.
    """
    for g in range(len(counts)):
        counts[g] = 0
        i = 0
        while i < len(known) and counts[g] < 2:
            j = _misfit(cells, known[i], g)
            if j < 0:
                counts[g] += people[i]
                i += 1
            else:
                i = skip[j, i]


@njit(cache=True)
def share_a_bit(one: NDArray[np.uint64], two: NDArray[np.uint64], found: NDArray[np.bool_]) -> None:
    """Fill in, for each row of `one` and each of `two`, whether they have a bit in common."""
    for i in range(len(one)):
        for j in range(len(two)):
            for w in range(one.shape[1]):
                if one[i, w] & two[j, w]:
                    found[i, j] = True
                    break


@njit(cache=True)
def tally(
    starts: NDArray[np.int64],
    listed: NDArray[np.int32],
    weights: NDArray[np.float64],
    held: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    counts: NDArray[np.float64],
) -> None:
    """Add up, per person, the weighted counts of values in the listed groups.

    `held` is (start of each group, value, count).
    """
    first, value, count = held
    for i in range(len(counts)):
        for at in range(starts[i], starts[i + 1]):
            g = listed[at]
            for t in range(first[g], first[g + 1]):
                counts[i, value[t]] += weights[at] * count[t]
