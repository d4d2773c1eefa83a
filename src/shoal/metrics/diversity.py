"""What the values of one column in a class give away, or leave to learn from."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..errors import DataError, UnknownName
from ..params import Names, Optional, Text, param
from .base import Measured, Metric


@dataclass(frozen=True)
class ClassificationMetric(Metric):
    """The share of records that are suppressed or whose label is not the most frequent one of their class.

    References
    ----------
    Iyengar (2002): Transforming data to satisfy privacy constraints; Byun et al. (2006), section 5.2.
    """

    name: ClassVar[str] = "cm"
    summary: ClassVar[str] = (
        "share of records that are suppressed or disagree with the majority of their class"
    )
    formula: ClassVar[str] = "(z + sum over E of (size(E) - records of E with its most frequent label)) / n"
    reference: ClassVar[str] = "Iyengar 2002"
    needs: ClassVar[str] = "a sensitive column, or a column named as label"
    high: ClassVar[float] = 1.0

    label: str | None = param(
        Optional(Text()), "column of class labels; every sensitive column if none", default=None
    )

    def applies(self, measured: Measured) -> bool:
        return self.label is not None or len(measured.encoded.sensitive) > 0

    def compute(self, measured: Measured) -> float | dict[str, float]:
        if self.label is not None:
            return self._of(measured, self.label)
        return {column.name: self._of(measured, column.name) for column in measured.encoded.sensitive}

    def _of(self, measured: Measured, name: str) -> float:
        return float(measured.records - measured.most_frequent(name).sum()) / measured.records


@dataclass(frozen=True)
class _Diversity(Metric):
    """Records in classes with one single sensitive value."""

    reference: ClassVar[str] = "Byun et al. 2006, Definition 10"
    needs: ClassVar[str] = "a sensitive column"

    column: str | None = param(
        Optional(Text()), "the sensitive column; every one of them if none", default=None
    )

    def applies(self, measured: Measured) -> bool:
        return len(measured.encoded.sensitive) > 0

    def compute(self, measured: Measured) -> float | dict[str, float]:
        if self.column is not None:
            known = [column.name for column in measured.encoded.sensitive]
            if self.column not in known:
                raise UnknownName.nearest("sensitive column", self.column, known)
            return self._of(measured, self.column)
        return {column.name: self._of(measured, column.name) for column in measured.encoded.sensitive}

    @abstractmethod
    def _of(self, measured: Measured, name: str) -> float:
        """Return the value for one sensitive column."""


@dataclass(frozen=True)
class EqualDiversity(_Diversity):
    """The number of records in classes whose records all have the same sensitive value.

    References
    ----------
    Byun, Kamra, Bertino and Li (2006): Efficient k-anonymization using clustering techniques, Definition 10.
    """

    name: ClassVar[str] = "ed"
    summary: ClassVar[str] = "number of records in classes with one single sensitive value"
    formula: ClassVar[str] = "sum of size(E) over E with one single sensitive value"
    span: ClassVar[str] = "0 to n"

    def _of(self, measured: Measured, name: str) -> float:
        values = measured.class_values(name)
        return float(values.counts[values.alone()].sum())


@dataclass(frozen=True)
class SensitiveDiversity(_Diversity):
    """As `ed`, counting only classes whose single value is one of the truly sensitive ones.

    References
    ----------
    Byun, Kamra, Bertino and Li (2006): Efficient k-anonymization using clustering techniques, Definition 10.
    """

    name: ClassVar[str] = "sd"
    summary: ClassVar[str] = "number of records in classes with one single, truly sensitive value"
    formula: ClassVar[str] = (
        "sum of size(E) over E with one single sensitive value that is a truly sensitive one"
    )
    needs: ClassVar[str] = "a sensitive column and the values that are truly sensitive"
    span: ClassVar[str] = "0 to n"

    values: tuple[str, ...] = param(Names(), "the truly sensitive values, as text", default=())

    def applies(self, measured: Measured) -> bool:
        return len(self.values) > 0 and super().applies(measured)

    def compute(self, measured: Measured) -> float | dict[str, float]:
        columns = measured.encoded.sensitive
        if not any(self._truly(measured, j).any() for j in range(len(columns))):
            raise DataError(
                f"none of the {len(self.values)} values of the metric 'sd' occurs in a sensitive column",
                hint="Write them as they stand in the table.",
            )
        return super().compute(measured)

    def _truly(self, measured: Measured, j: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
        values = measured.encoded.sensitive[j].values.to_pylist()
        return np.array([value is not None and str(value) in self.values for value in values], dtype=bool)

    def _of(self, measured: Measured, name: str) -> float:
        values = measured.class_values(name)
        truly = self._truly(measured, measured.encoded.sensitive_index(name))
        return float(values.counts[values.alone() & truly[values.values]].sum())
