"""Numbers before and after: what a record was, and what is published for it, on the scale of the original."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..encoding import QuasiColumn, numbers_of
from ..partitions import Partition
from ..recode import Published
from ..schema import Form, Kind
from .base import Measured

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
    column = measured.encoded.quasi[j]
    codes = measured.encoded.column(j)
    assert column.numbers is not None
    unit = _unit(column.numbers)
    numbers = column.numbers * unit
    centre, width = _place(numbers, np.bincount(codes, minlength=column.size + 1)[:-1], scale)
    by_code = np.append((numbers - centre) / width, 0.0)
    original = by_code[codes]
    if measured.published is not None and column.spec.form.noisy:
        drawn = _drawn(measured.published, measured.partition, column)
        return original, np.where(np.isnan(drawn), 0.0, (drawn * unit - centre) / width)
    return original, _class_means(measured, j, original)


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
    means = np.where(measured.hulls.tells_nothing()[:, j], 0.0, sums / measured.partition.sizes)
    found: NDArray[np.float64] = np.append(means, 0.0)[labels]  # label -1 takes the last
    return found
