"""Squared error of microaggregation: every class published as its mean."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..params import Choice, Flag, param
from ..schema import Kind
from .base import Measured, Metric

_SCALE = Choice(("z-score", "min-max"))
_SCALE_HELP = "what a column is divided by: its standard deviation, or its range"
_REFERENCE = "Domingo-Ferrer and Mateo-Sanz 2002"


@dataclass(frozen=True)
class _Squares(Metric):
    """Over the numeric columns, on one scale.

    A cell that says nothing (suppressed, or null mixed with values) counts as published as the mean of the
    table, so that it adds to the squared error what it adds to the total; a null adds nothing to either.
    """

    reference: ClassVar[str] = _REFERENCE
    needs: ClassVar[str] = "a numeric quasi-identifier"

    scale: str = param(_SCALE, _SCALE_HELP, default="z-score")

    def applies(self, measured: Measured) -> bool:
        return any(column.kind is Kind.NUMERIC for column in measured.encoded.quasi)

    def _squares(self, measured: Measured) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        return measured.keep(f"squares {self.scale}", lambda: _record_squares(measured, self.scale))


@dataclass(frozen=True)
class SquaredError(_Squares):
    """The squared distance of all records from the mean of their class.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz (2002): Practical data-oriented microaggregation for statistical disclosure
    control.
    """

    name: ClassVar[str] = "sse"
    summary: ClassVar[str] = "squared distance of the records from the mean of their class, numeric columns"
    formula: ClassVar[str] = "sum over records of squared distance to the mean of the class"

    def compute(self, measured: Measured) -> float:
        return float(self._squares(measured)[0].sum())


@dataclass(frozen=True)
class TotalSquares(_Squares):
    """The squared distance of all records from the mean of the table: what `sse` can be at most.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz (2002): Practical data-oriented microaggregation for statistical disclosure
    control.
    """

    name: ClassVar[str] = "sst"
    summary: ClassVar[str] = "squared distance of the records from the mean of the table, numeric columns"
    formula: ClassVar[str] = "sum over records of squared distance to the mean of the table"

    def compute(self, measured: Measured) -> float:
        return float(self._squares(measured)[1].sum())


@dataclass(frozen=True)
class SquaredErrorShare(_Squares):
    """The squared error in percent of the total; 0 when the total is.

    With ``squared=False`` distances are summed as they are, as Eq. 2 and 3 of the paper on random
    rho-aggregation are printed; the numbers differ widely from the squared ones.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz (2002): Practical data-oriented microaggregation for statistical disclosure
    control.
    """

    name: ClassVar[str] = "il-sse"
    summary: ClassVar[str] = "squared error of class means in percent of the total, numeric columns"
    formula: ClassVar[str] = "100 * sse / sst"
    high: ClassVar[float] = 100.0

    squared: bool = param(Flag(), "whether distances are squared before they are summed", default=True)

    def compute(self, measured: Measured) -> float:
        error, total = self._squares(measured)
        if not self.squared:
            error, total = np.sqrt(error), np.sqrt(total)
        whole = float(total.sum())
        return 100 * float(error.sum()) / whole if whole > 0 else 0.0


def _record_squares(measured: Measured, scale: str) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return, per record, its squared distance from the mean of its class and from that of the table."""
    encoded = measured.encoded
    error, total = np.zeros(encoded.records), np.zeros(encoded.records)
    for j, column in enumerate(encoded.quasi):
        if column.kind is Kind.NUMERIC and column.numbers is not None:
            codes = encoded.codes[:, j]
            centred = _centred(column.numbers, np.bincount(codes, minlength=column.size + 1), scale)[codes]
            total += centred**2
            error += (centred - _published(measured, j, centred)) ** 2
    return error, total


def _centred(numbers: NDArray[np.float64], counts: NDArray[np.int64], scale: str) -> NDArray[np.float64]:
    """Return the scaled distance of each code from the mean of the table; null, the last code, lies on it."""
    found = np.zeros(len(counts))
    counts = counts[:-1]
    present = np.flatnonzero(counts)  # a leaf that does not occur has no number
    numbers, counts = numbers[present], counts[present]
    if len(present) < 2:
        return found
    deviation = numbers - np.average(numbers, weights=counts)
    if scale == "z-score":
        width = np.sqrt(np.average(deviation**2, weights=counts))
    else:
        width = numbers.max() - numbers.min()
    found[present] = deviation / width
    return found


def _published(measured: Measured, j: int, centred: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return what is published for each record: the mean of its class, or 0 where nothing is."""
    labels, order = measured.partition.labels, measured.partition.order
    sums = np.bincount(labels[order], weights=centred[order], minlength=measured.partition.classes)
    means = np.where(measured.hulls.tells_nothing()[:, j], 0.0, sums / measured.partition.sizes)
    published: NDArray[np.float64] = np.append(means, 0.0)[labels]  # label -1 takes the last
    return published
