"""Rows of (feature, amount) that grow and shrink: how much of each feature every cluster has."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class Rows(NamedTuple):
    """Row c has the entries ``begin[c]:end[c]``, features ascending; the rows lie anywhere in the arrays."""

    begin: NDArray[np.int64]  # [rows]
    end: NDArray[np.int64]
    feature: NDArray[np.int32]  # [room] twice as long as all rows ever are together
    amount: NDArray[np.int32]
    used: NDArray[np.int64]  # [1] entries up to here may be in use


def make_rows(offsets: NDArray[np.int64], feature: NDArray[np.int32], amount: NDArray[np.int32]) -> Rows:
    """Return rows with room to grow by changing and uniting these."""
    entries = len(feature)
    rows = Rows(
        offsets[:-1].copy(),
        offsets[1:].copy(),
        np.zeros(2 * entries, np.int32),
        np.zeros(2 * entries, np.int32),
        np.array([entries]),
    )
    rows.feature[:entries] = feature
    rows.amount[:entries] = amount
    return rows


@njit(cache=True)
def _compact(rows: Rows) -> None:
    """Move all rows to the front."""
    feature, amount = rows.feature[: rows.used[0]].copy(), rows.amount[: rows.used[0]].copy()
    at = 0
    for c in range(len(rows.begin)):
        first = at
        for entry in range(rows.begin[c], rows.end[c]):
            rows.feature[at] = feature[entry]
            rows.amount[at] = amount[entry]
            at += 1
        rows.begin[c], rows.end[c] = first, at
    rows.used[0] = at


@njit(cache=True)
def add_to_row(rows: Rows, c: int, feature: NDArray[np.int32], amount: NDArray[np.int32], sign: int) -> None:
    """Add other entries to a row, or take them away by a `sign` of -1; what is used up leaves the row.

    The entries must not be a view of these rows.
    """
    if rows.used[0] + rows.end[c] - rows.begin[c] + len(feature) > len(rows.feature):
        _compact(rows)
    own, own_end = rows.begin[c], rows.end[c]
    other = 0
    at = rows.used[0]
    rows.begin[c] = at
    while own < own_end or other < len(feature):
        if other == len(feature) or (own < own_end and rows.feature[own] < feature[other]):
            rows.feature[at] = rows.feature[own]
            rows.amount[at] = rows.amount[own]
            own += 1
        else:
            rows.feature[at] = feature[other]
            rows.amount[at] = sign * amount[other]
            if own < own_end and rows.feature[own] == feature[other]:
                rows.amount[at] += rows.amount[own]
                own += 1
            other += 1
        if rows.amount[at] != 0:
            at += 1
    rows.end[c] = at
    rows.used[0] = at
