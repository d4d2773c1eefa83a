"""Squared error of microaggregation: every class published as its mean, or as its mean with noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..params import Choice, Flag, param
from ..schema import Kind
from .base import Measured, Metric
from .masked import scaled_column

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
    span: ClassVar[str] = "0 to sst"

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
    span: ClassVar[str] = "0 to n * q"

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
    """Return, per record, its squared distance from what is published and from the mean of the table."""
    error, total = np.zeros(measured.records), np.zeros(measured.records)
    for j, column in enumerate(measured.encoded.quasi):
        if column.kind is Kind.NUMERIC and column.numbers is not None:
            original, masked = scaled_column(measured, j, scale)
            total += original**2
            error += (original - masked) ** 2
    return error, total
