"""Records grouped by several columns at once, by sorting or counting integer keys."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.int64]

# Counting into an array beats sorting while the array has few more slots than there are records.
_SLOTS_PER_RECORD = 8


@dataclass(frozen=True, slots=True, eq=False)
class Coded:
    """One code per record, dense in 0..size-1; null has the last one, where it occurs."""

    codes: Codes
    size: int


def pair(a: Coded, b: Coded) -> tuple[Codes, int]:
    """Return one key per record for the values of both, and the number of possible keys.

    Codes are dense and at most as many as records, so the product stays far from the limit of int64.
    """
    return a.codes * b.size + b.codes, a.size * b.size


def dense(keys: Codes, slots: int) -> Coded:
    """Return keys renumbered without gaps, in their order."""
    if slots <= _SLOTS_PER_RECORD * len(keys):
        present = np.zeros(slots, dtype=bool)
        present[keys] = True
        return Coded((np.cumsum(present) - 1)[keys], int(present.sum()))
    found, codes = np.unique(keys, return_inverse=True)
    return Coded(codes.astype(np.int64), len(found))


def combine(columns: Sequence[Coded]) -> Coded:
    """Return one code per record for its values in all columns together."""
    combined = columns[0]
    for column in columns[1:]:
        combined = dense(*pair(combined, column))
    return combined


def singles(keys: Codes, slots: int) -> int:
    """Return how many keys occur once."""
    if slots <= _SLOTS_PER_RECORD * len(keys):
        return int((np.bincount(keys) == 1).sum())
    ordered = np.sort(keys)
    differs = np.concatenate([[True], ordered[1:] != ordered[:-1], [True]])
    return int((differs[1:] & differs[:-1]).sum())


@dataclass(frozen=True, slots=True, eq=False)
class ClassCounts:
    """How often each value occurs in each class: triples without zeros, by class and then by value."""

    classes: Codes
    values: Codes
    counts: Codes
    sizes: Codes  # records of each class
    distinct: Codes  # values of each class
    overall: Codes  # records of each value

    @classmethod
    def of(cls, classes: Coded, values: Coded) -> ClassCounts:
        """Count the values in each class."""
        keys, slots = pair(classes, values)
        if slots <= _SLOTS_PER_RECORD * len(keys):
            counts = np.bincount(keys, minlength=slots)
            found = np.flatnonzero(counts)
            counts = counts[found]
        else:
            ordered = np.sort(keys)
            starts = np.flatnonzero(np.concatenate([[True], ordered[1:] != ordered[:-1]]))
            found, counts = ordered[starts], np.diff(np.append(starts, len(ordered)))
        group, value = np.divmod(found, values.size)
        return cls(
            group,
            value,
            counts,
            np.bincount(classes.codes, minlength=classes.size),
            np.bincount(group, minlength=classes.size),
            np.bincount(values.codes, minlength=values.size),
        )

    def certain(self) -> tuple[int, int]:
        """Return the records of one-valued classes: those that share their class, those alone in it."""
        one = self.sizes[self.distinct == 1]
        return int(one[one > 1].sum()), int((one == 1).sum())

    def equal_distances(self) -> NDArray[np.float64]:
        """Return, per class, half the sum of the differences between the class's shares and the table's."""
        overall = self.overall / self.overall.sum()
        share = self.counts / self.sizes[self.classes]
        absent = 1 - np.bincount(self.classes, weights=overall[self.values], minlength=len(self.sizes))
        present = np.abs(share - overall[self.values])
        return (np.bincount(self.classes, weights=present, minlength=len(self.sizes)) + absent) / 2

    def ordered_distances(self) -> NDArray[np.float64]:
        """Return, per class, the mean difference between the cumulative shares of class and table.

        Between two values that the class has, its cumulative share is constant while the table's rises, so
        each stretch is summed from prefix sums, cut where the table overtakes the class.
        """
        m = len(self.overall)
        if m == 1:
            return np.zeros(len(self.sizes))
        table = np.cumsum(self.overall / self.overall.sum())
        prefix = np.concatenate([[0.0], np.cumsum(table)])
        first = np.concatenate([[True], self.classes[1:] != self.classes[:-1]])
        running = np.cumsum(self.counts)
        before = (running - self.counts)[first]
        level = (running - np.repeat(before, self.distinct)) / self.sizes[self.classes]
        begin = self.values
        end = np.where(np.append(first[1:], True), m - 1, np.append(self.values[1:], 0))
        cross = np.clip(np.searchsorted(table, level), begin, end)
        below = level * (cross - begin) - (prefix[cross] - prefix[begin])
        above = (prefix[end] - prefix[cross]) - level * (end - cross)
        head = prefix[self.values[first]]  # before its first value the class has nothing
        total = np.bincount(self.classes, weights=below + above, minlength=len(self.sizes)) + head
        return np.asarray(total / (m - 1), dtype=np.float64)
