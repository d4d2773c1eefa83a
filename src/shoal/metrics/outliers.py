"""What became of the outliers that an algorithm set aside."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from .base import Measured, Metric

_MARK = "outliers"  # of a partition
_REFERENCE = "Haruna et al. 2026"


@dataclass(frozen=True)
class _Outliers(Metric):
    """Over the records that the algorithm marked as outliers, as the partition has them in the end."""

    reference: ClassVar[str] = _REFERENCE
    needs: ClassVar[str] = "an algorithm that sets outliers aside"

    def applies(self, measured: Measured) -> bool:
        return _MARK in measured.partition.marks

    def _counts(self, measured: Measured) -> tuple[int, int]:
        """Return (detected, suppressed)."""
        outlier = measured.partition.marks[_MARK]
        return int(outlier.sum()), int(np.count_nonzero(outlier & (measured.partition.labels < 0)))


@dataclass(frozen=True)
class OutlierRecoveryRate(_Outliers):
    """The share of the outliers that are published in a class; 1 where there are no outliers.

    References
    ----------
    Haruna et al. (2026): Data privacy and utility trade-off: an efficient k-anonymization algorithm with low
    information loss.
    """

    name: ClassVar[str] = "orr"
    summary: ClassVar[str] = "share of the outliers that are published in a class"
    formula: ClassVar[str] = "recovered / detected; 1 if none is detected"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    high: ClassVar[float] = 1.0

    def compute(self, measured: Measured) -> float:
        detected, suppressed = self._counts(measured)
        return (detected - suppressed) / detected if detected else 1.0


@dataclass(frozen=True)
class OutliersDetected(_Outliers):
    """The number of records that were set aside as outliers."""

    name: ClassVar[str] = "outliers-detected"
    summary: ClassVar[str] = "number of records set aside as outliers"
    formula: ClassVar[str] = "outliers"
    span: ClassVar[str] = "0 to n"

    def compute(self, measured: Measured) -> float:
        return float(self._counts(measured)[0])


@dataclass(frozen=True)
class OutliersRecovered(_Outliers):
    """The number of outliers that are published in a class."""

    name: ClassVar[str] = "outliers-recovered"
    summary: ClassVar[str] = "number of outliers that are published in a class"
    formula: ClassVar[str] = "outliers that are not suppressed"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    span: ClassVar[str] = "0 to n"

    def compute(self, measured: Measured) -> float:
        detected, suppressed = self._counts(measured)
        return float(detected - suppressed)


@dataclass(frozen=True)
class OutliersSuppressed(_Outliers):
    """The number of outliers that are suppressed."""

    name: ClassVar[str] = "outliers-suppressed"
    summary: ClassVar[str] = "number of outliers that are suppressed"
    formula: ClassVar[str] = "outliers that are suppressed"
    span: ClassVar[str] = "0 to n"

    def compute(self, measured: Measured) -> float:
        return float(self._counts(measured)[1])
