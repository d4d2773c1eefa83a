"""What the values of one column in a class give away, or leave to learn from."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import DataError, UnknownName
from ..params import Names, Optional, Text, param
from .base import Measured, Metric


@dataclass(frozen=True)
class _Labels(Metric):
    """What classes tell of a column of labels."""

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

    @abstractmethod
    def _of(self, measured: Measured, name: str) -> float:
        """Return the value for one column of labels."""


@dataclass(frozen=True)
class ClassificationMetric(_Labels):
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

    def _of(self, measured: Measured, name: str) -> float:
        return float(measured.records - measured.most_frequent(name).sum()) / measured.records


@dataclass(frozen=True)
class InformationGain(_Labels):
    """The share of the entropy of a column of labels that the classes tell; 1 where there is none to tell.

    A suppressed record tells nothing; where the others are more mixed than all records together, the share
    falls below 0. Small classes look as if they told more than they do: with k = 2 even
    labels without any relation to the quasi-identifiers seem half told.

    References
    ----------
    Fung, Wang and Yu (2005): Top-down specialization for information and privacy preservation.
    """

    name: ClassVar[str] = "information-gain"
    summary: ClassVar[str] = "share of the entropy of a column of labels that the classes tell"
    formula: ClassVar[str] = (
        "1 - (sum over E of size(E) * H(labels of E) + z * H(all labels)) / (n * H(all labels))"
    )
    reference: ClassVar[str] = "Fung et al. 2005"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    low: ClassVar[float] = float("-inf")

    def _of(self, measured: Measured, name: str) -> float:
        codes, size = measured.encoded.column_codes(name)
        whole = _surprise(np.bincount(codes, minlength=size))
        if whole == 0:
            return 1.0
        found = measured.class_values(name)
        missing = _surprise(measured.partition.sizes, found.counts) + measured.suppressed * whole / len(codes)
        return min(1.0, 1 - missing / whole)


def _surprise(sizes: NDArray[np.int64], parts: NDArray[np.int64] | None = None) -> float:
    """Return the sum over groups of size times entropy; of all `sizes` together where no parts are given."""
    parts, sizes = (sizes, sizes.sum(keepdims=True)) if parts is None else (parts, sizes)
    return sum(
        sign * float(counts @ np.log2(np.maximum(counts, 1))) for sign, counts in ((1, sizes), (-1, parts))
    )


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
