"""What the sizes of the classes alone say, and how many records were suppressed."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

import numpy as np

from ..params import Integer, Optional, param
from .base import Measured, Metric

if TYPE_CHECKING:
    from ..policy import Policy

_SIZE_MODELS = ("k-anonymity", "p-sensitive", "alpha-k")  # their `k` is the least size of a class


def least_size(policy: Policy) -> int | None:
    """Return the k of a policy, None when no model of it has one."""
    found = [int(getattr(model, "k", 1)) for model in policy.models if model.name in _SIZE_MODELS]
    return max(found, default=None)


@dataclass(frozen=True)
class Discernibility(Metric):
    """Every record is charged the number of records it cannot be told from; all of them if suppressed.

    References
    ----------
    Bayardo and Agrawal (2005): Data privacy through optimal k-anonymization.
    """

    name: ClassVar[str] = "dm"
    summary: ClassVar[str] = "discernibility: for every record, the number of records it cannot be told from"
    formula: ClassVar[str] = "sum over E of size(E)^2 + z * n"
    reference: ClassVar[str] = "Bayardo and Agrawal 2005"
    span: ClassVar[str] = "n to n^2"

    def compute(self, measured: Measured) -> float:
        return _squared_sizes(measured) + float(measured.suppressed) * measured.records


@dataclass(frozen=True)
class DiscernibilityStar(Metric):
    """Discernibility without the charge for suppressed records.

    References
    ----------
    El Emam et al. (2009): A globally optimal k-anonymity method for the de-identification of health data.
    """

    name: ClassVar[str] = "dm-star"
    summary: ClassVar[str] = "discernibility without the charge for suppressed records"
    formula: ClassVar[str] = "sum over E of size(E)^2"
    reference: ClassVar[str] = "El Emam et al. 2009"
    span: ClassVar[str] = "0 to n^2"

    def compute(self, measured: Measured) -> float:
        return _squared_sizes(measured)


@dataclass(frozen=True)
class NormalisedAverageClass(Metric):
    """The mean size of a class over the k that was asked for; 1 is as good as it gets.

    References
    ----------
    LeFevre, DeWitt and Ramakrishnan (2006): Mondrian multidimensional k-anonymity.
    """

    name: ClassVar[str] = "cavg"
    summary: ClassVar[str] = "mean size of a class over the k asked for"
    formula: ClassVar[str] = "(n - z) / (g * k)"
    reference: ClassVar[str] = "LeFevre et al. 2006"
    needs: ClassVar[str] = "a class, and a k: from the policy's models or as a parameter"
    span: ClassVar[str] = "above 0"

    k: int | None = param(Optional(Integer(1)), "the k to compare with; the policy's if none", default=None)

    def applies(self, measured: Measured) -> bool:
        return measured.partition.classes > 0 and (self.k or least_size(measured.policy)) is not None

    def compute(self, measured: Measured) -> float:
        k = self.k or least_size(measured.policy) or 1
        return _average(measured) / k


@dataclass(frozen=True)
class AchievedAverageClass(Metric):
    """The mean size of a class over that of the smallest one.

    References
    ----------
    Sáinz-Pardo Díaz and López García (2022): A Python library to check the level of anonymity of a dataset.
    """

    name: ClassVar[str] = "cavg-achieved"
    summary: ClassVar[str] = "mean size of a class over that of the smallest class"
    formula: ClassVar[str] = "(n - z) / (g * min size(E))"
    reference: ClassVar[str] = "Sáinz-Pardo Díaz and López García 2022"
    needs: ClassVar[str] = "a class"
    low: ClassVar[float] = 1.0
    span: ClassVar[str] = "at least 1"

    def applies(self, measured: Measured) -> bool:
        return measured.partition.classes > 0

    def compute(self, measured: Measured) -> float:
        return _average(measured) / int(measured.partition.sizes.min())


@dataclass(frozen=True)
class AverageClass(Metric):
    """The mean size of a class; 0 when there is none."""

    name: ClassVar[str] = "average-class"
    summary: ClassVar[str] = "mean size of a class"
    formula: ClassVar[str] = "(n - z) / g"
    reference: ClassVar[str] = "LeFevre et al. 2006"
    span: ClassVar[str] = "0 to n"

    def compute(self, measured: Measured) -> float:
        return _average(measured)


@dataclass(frozen=True)
class AverageEquivalenceClass(Metric):
    """The mean size of a class where the suppressed records together are one more class.

    References
    ----------
    Prasser et al. (2014): ARX, a comprehensive tool for anonymizing biomedical data.
    """

    name: ClassVar[str] = "aecs"
    summary: ClassVar[str] = "mean size of a class, the suppressed records counting as one more class"
    formula: ClassVar[str] = "n / (g + 1 if z > 0 else g)"
    reference: ClassVar[str] = "Prasser et al. 2014"
    span: ClassVar[str] = "1 to n"

    def compute(self, measured: Measured) -> float:
        return measured.records / (measured.partition.classes + (measured.suppressed > 0))


@dataclass(frozen=True)
class LargestClass(Metric):
    """The number of records of the largest class; 0 when there is none."""

    name: ClassVar[str] = "largest-class"
    summary: ClassVar[str] = "number of records of the largest class"
    formula: ClassVar[str] = "max size(E)"
    span: ClassVar[str] = "0 to n"

    def compute(self, measured: Measured) -> float:
        return float(measured.partition.sizes.max(initial=0))


@dataclass(frozen=True)
class SmallestClass(Metric):
    """The number of records of the smallest class, the k that was achieved; 0 when there is none."""

    name: ClassVar[str] = "smallest-class"
    summary: ClassVar[str] = "number of records of the smallest class"
    formula: ClassVar[str] = "min size(E)"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    span: ClassVar[str] = "0 to n"

    def compute(self, measured: Measured) -> float:
        sizes = measured.partition.sizes
        return float(sizes.min()) if len(sizes) else 0.0


@dataclass(frozen=True)
class Classes(Metric):
    """The number of classes."""

    name: ClassVar[str] = "classes"
    summary: ClassVar[str] = "number of classes"
    formula: ClassVar[str] = "g"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    span: ClassVar[str] = "0 to n"

    def compute(self, measured: Measured) -> float:
        return float(measured.partition.classes)


@dataclass(frozen=True)
class SuppressionRate(Metric):
    """The share of records that were suppressed."""

    name: ClassVar[str] = "suppressed"
    summary: ClassVar[str] = "share of records that were suppressed"
    formula: ClassVar[str] = "z / n"
    high: ClassVar[float] = 1.0

    def compute(self, measured: Measured) -> float:
        return measured.suppressed / measured.records


def _squared_sizes(measured: Measured) -> float:
    sizes = measured.partition.sizes.astype(np.float64)
    return float(sizes @ sizes)


def _average(measured: Measured) -> float:
    partition = measured.partition
    return len(partition.order) / partition.classes if partition.classes else 0.0
