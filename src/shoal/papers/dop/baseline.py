"""The Mondrian that Table II seems to have been measured with: one cut is tried, and no other.

The widest column of numbers (by its share of the global range; the first among equals) is cut at its median,
values up to it on one side. Where a side would break (k, l), the node is a class: neither another column nor
another place is tried, and no category is ever cut. That is not Mondrian, which tries the other columns.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ...partitions import Partition
from .data import Candidate
from .printed import Setting


def one_cut_mondrian(candidate: Candidate, setting: Setting) -> Partition:
    """Return the classes; records with a null in a column of numbers are suppressed."""
    numbers = _numbers(candidate)
    ranges = np.nanmax(numbers, axis=1) - np.nanmin(numbers, axis=1)
    sensitive, _ = candidate.encoded.column_codes(candidate.sensitive)
    labels = np.full(candidate.encoded.records, -1, dtype=np.int64)
    waiting = [np.flatnonzero(~np.isnan(numbers).any(axis=0))]
    made = 0
    while waiting:
        members = waiting.pop()
        sides = _cut(numbers[:, members], ranges, members)
        if all(len(side) >= setting[0] and len(np.unique(sensitive[side])) >= setting[1] for side in sides):
            waiting += sides
        else:
            labels[members] = made
            made += 1
    return Partition.from_labels(labels)


def _numbers(candidate: Candidate) -> NDArray[np.float64]:
    """Return the columns of numbers, null as NaN.

    Widths are compared as quotients of whole numbers: with positions on [0, 1] equal ones would differ in the
    last bit, and another column would be the first among equals.
    """
    found = []
    for j, column in enumerate(candidate.encoded.quasi):
        if column.numbers is not None:
            found.append(np.append(column.numbers, np.nan)[candidate.encoded.codes[:, j]])
    return np.array(found)


def _cut(
    numbers: NDArray[np.float64], ranges: NDArray[np.float64], members: NDArray[np.int64]
) -> list[NDArray[np.int64]]:
    """Return both sides of the one cut that is tried."""
    widths = (numbers.max(axis=1) - numbers.min(axis=1)) / ranges
    widest = numbers[int(np.argmax(widths))]
    low = widest <= np.median(widest)
    return [members[low], members[~low]]
