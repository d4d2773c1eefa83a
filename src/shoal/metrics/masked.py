"""Numbers before and after: what a record was, and what is published for it, on the scale of the original."""

from __future__ import annotations

import itertools
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded, QuasiColumn, numbers_of
from ..partitions import Partition
from ..recode import Published
from ..schema import Form, Kind
from .base import Measured

_PART = 1 << 18  # records of a part, at least
NUMBERS = (Form.MEAN, Form.MEDIAN, Form.CENTROID, Form.RHO_NOISE, Form.RANDOM)


def published_as_numbers(measured: Measured) -> list[int]:
    """Return the numeric quasi-identifiers that are published as one number a record."""
    return [
        j
        for j, column in enumerate(measured.encoded.quasi)
        if column.kind is Kind.NUMERIC and column.numbers is not None and column.spec.form in NUMBERS
    ]


def scaled_column(
    measured: Measured, j: int, scale: str = "z-score"
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the numbers of one column (original, published), per record.

    Both have the mean of the original at 0 and are divided by its standard deviation ("z-score") or range
    ("min-max"). A null lies at 0, and so does what is published of a record that nothing is said about. The
    published number of a class is its mean, unless the release draws one for every record.
    """
    column, everyone = Scaled.of(measured, j, scale), np.arange(measured.records)
    original = column.original(everyone)
    if column.drawn is not None:
        return original, column.drawn
    return original, _class_means(measured, j, original)


@dataclass(frozen=True, slots=True, eq=False)
class Scaled:
    """One column on the scale of its original.

    Attributes
    ----------
    codes : unsigned or int32[n]
    by_code : float64[size + 1]
        The number of each code; that of null is 0.
    drawn : float64[n], optional
        What is published of each record, where the release draws one for each.
    nothing_told : bool[g]
        The classes that nothing is said about.
    """

    codes: NDArray[Any]
    by_code: NDArray[np.float64]
    drawn: NDArray[np.float64] | None
    nothing_told: NDArray[np.bool_]

    @classmethod
    def of(cls, measured: Measured, j: int, scale: str) -> Scaled:
        """Return a numeric column on a scale."""
        column, cover = measured.encoded.quasi[j], measured.covers[j]
        assert column.numbers is not None
        unit = _unit(column.numbers)
        centre, width = _place(column.numbers * unit, measured.value_counts(j)[:-1], scale)
        by_code = np.append((column.numbers * unit - centre) / width, 0.0)
        drawn = None
        if measured.published is not None and column.spec.form.noisy:
            told = _drawn(measured.published, measured.partition, column)
            drawn = np.where(np.isnan(told), 0.0, (told * unit - centre) / width)
        return cls(measured.encoded.stored(j), by_code, drawn, cover.nothing_told()[cover.number])

    def original(self, records: NDArray[np.integer]) -> NDArray[np.float64]:
        """Return the numbers of some records."""
        found: NDArray[np.float64] = self.by_code[self.codes[records]]
        return found

    def published(self, part: Part, original: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what is published of the records of a part, given their numbers."""
        if self.drawn is not None:
            drawn: NDArray[np.float64] = self.drawn[part.records]
            return drawn
        if part.classes is None:
            return np.zeros(len(original))
        sums = np.add.reduceat(original, part.starts)
        sizes = np.diff(np.append(part.starts, len(original)))
        means = np.where(self.nothing_told[part.classes], 0.0, sums / sizes)
        return np.repeat(means, sizes)


@dataclass(frozen=True, slots=True, eq=False)
class Part:
    """Some of the records: those of a run of classes, or suppressed ones.

    Attributes
    ----------
    records : int32 or int64[m]
    classes : slice, optional
        None for suppressed records.
    starts : int64[classes]
        Where the records of each class begin.
    """

    records: NDArray[np.integer]
    classes: slice | None
    starts: NDArray[np.int64]


def parts(partition: Partition) -> Iterator[Part]:
    """Yield all records class by class, some at a time, the suppressed ones last."""
    offsets = partition.offsets
    marks = np.searchsorted(offsets, np.arange(0, len(partition.order) + _PART, _PART))
    for first, last in itertools.pairwise(np.unique(np.append(marks, partition.classes)).tolist()):
        begin, end = int(offsets[first]), int(offsets[min(last, partition.classes)])
        if end > begin:
            span = slice(first, min(last, partition.classes))
            yield Part(partition.order[begin:end], span, offsets[span] - begin)
    if partition.suppressed:
        yield Part(np.flatnonzero(partition.labels < 0), None, offsets[:0])


def centred_column(encoded: Encoded, j: int) -> NDArray[np.float64]:
    """Return the numbers of one column per record, on the scale of `scaled_column`; NaN for null."""
    column, codes = encoded.quasi[j], encoded.stored(j)
    assert column.numbers is not None
    numbers = column.numbers * _unit(column.numbers)
    centre, width = _place(numbers, np.bincount(codes, minlength=column.size + 1)[:-1], "z-score")
    found: NDArray[np.float64] = np.append((numbers - centre) / width, np.nan)[codes]
    return found


def _unit(numbers: NDArray[np.float64]) -> float:
    """Return the power of two that brings numbers near 1, where their squares neither vanish nor overflow."""
    largest = np.abs(numbers[np.isfinite(numbers)]).max(initial=0.0)
    return float(np.ldexp(1.0, -int(np.clip(np.frexp(largest)[1], -1000, 1000))))


def _place(numbers: NDArray[np.float64], counts: NDArray[np.int64], scale: str) -> tuple[float, float]:
    """Return the mean of the column and what its numbers are divided by; infinity where they are all one."""
    present = np.flatnonzero(counts)  # a leaf that does not occur has no number
    numbers, counts = numbers[present], counts[present]
    if len(present) == 0:
        return 0.0, np.inf
    centre = float(np.average(numbers, weights=counts))
    if len(present) == 1:
        return centre, np.inf
    if scale == "z-score":
        width = float(np.sqrt(np.average((numbers - centre) ** 2, weights=counts)))
    else:
        width = float(numbers.max() - numbers.min())
    return centre, width or np.inf  # different whole numbers beyond 2^53 can be one float


def _drawn(published: Published, partition: Partition, column: QuasiColumn) -> NDArray[np.float64]:
    """Return the published number of every record, NaN where there is none."""
    cells = published.table.column(column.name)
    shown = np.asarray(cells.is_valid().to_numpy(zero_copy_only=False), dtype=bool)
    found = np.full(partition.records, np.nan)
    numbers = numbers_of(cells.drop_null().combine_chunks(), column.spec)
    assert numbers is not None
    found[published.rows[shown]] = numbers
    return found


def _class_means(measured: Measured, j: int, original: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the mean of the class of every record, 0 where nothing is published."""
    labels, order = measured.partition.labels, measured.partition.order
    sums = np.bincount(labels[order], weights=original[order], minlength=measured.partition.classes)
    cover = measured.covers[j]
    means = np.where(cover.nothing_told()[cover.number], 0.0, sums / measured.partition.sizes)
    found: NDArray[np.float64] = np.append(means, 0.0)[labels]  # label -1 takes the last
    return found
