"""Squared error of microaggregation: every class published as its mean, or as its mean with noise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, NamedTuple

import numpy as np

from ..params import Choice, Flag, param
from ..schema import Kind
from .base import Measured, Metric
from .masked import Scaled, parts

_SCALE = Choice(("z-score", "min-max"))
_SCALE_HELP = "what a column is divided by: its standard deviation, or its range"
_REFERENCE = "Domingo-Ferrer and Mateo-Sanz 2002"


class _Sums(NamedTuple):
    """Over all records: squared distances from what is published and from the table's mean, and distances."""

    error: float
    total: float
    root_error: float
    root_total: float


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

    def _sums(self, measured: Measured) -> _Sums:
        return measured.keep(f"squares {self.scale}", lambda: _sums(measured, self.scale), large=False)


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
        return self._sums(measured).error


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
        return self._sums(measured).total


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
        sums = self._sums(measured)
        error, total = (sums.error, sums.total) if self.squared else (sums.root_error, sums.root_total)
        return 100 * error / total if total > 0 else 0.0


def _sums(measured: Measured, scale: str) -> _Sums:
    """Sum the squared distance of every record from what is published and from the mean of the table."""
    columns = [
        Scaled.of(measured, j, scale)
        for j, column in enumerate(measured.encoded.quasi)
        if column.kind is Kind.NUMERIC and column.numbers is not None
    ]
    found = np.zeros((2, 2))
    for part in parts(measured.partition):
        squares = np.zeros((2, len(part.records)))
        for column in columns:
            original = column.original(part.records)
            squares[0] += (original - column.published(part, original)) ** 2
            squares[1] += original**2
        found += [squares.sum(axis=1), np.sqrt(squares).sum(axis=1)]
    return _Sums(*found.ravel().tolist())
