"""Statistics of all classes of a partition at once: what the vectorised checks of the models read."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded, SensitiveColumn
from ..partitions import Partition


@dataclass(frozen=True, slots=True, eq=False)
class ValueCounts:
    """How often each sensitive value occurs in each class, as sorted triples without zeros.

    Attributes
    ----------
    column : SensitiveColumn
    classes, values, counts : int64[triples]
        Sorted by class, then by value.
    overall : int64[size]
        Counts over all classes together: the distribution that t-closeness and its kin compare with.
    """

    column: SensitiveColumn
    classes: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]
    overall: NDArray[np.int64]

    @property
    def share(self) -> NDArray[np.float64]:
        """Share of each value over all classes together."""
        return self.overall / max(int(self.overall.sum()), 1)


@dataclass(frozen=True, slots=True, eq=False)
class ClassStatistics:
    """Statistics of every class of a partition; suppressed records take no part."""

    encoded: Encoded
    partition: Partition
    sizes: NDArray[np.int64]
    sensitive: tuple[ValueCounts, ...]

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.sizes)

    def per_class_sum(self, column: int, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return, per class, the sum of one term per triple of a sensitive column."""
        counts = self.sensitive[column]
        return np.bincount(counts.classes, weights=terms, minlength=self.classes).astype(np.float64)

    def distinct(self, column: int) -> NDArray[np.int64]:
        """Return the number of different values of a sensitive column in each class."""
        return np.bincount(self.sensitive[column].classes, minlength=self.classes).astype(np.int64)

    def largest(self, column: int) -> NDArray[np.int64]:
        """Return the count of the most frequent value in each class."""
        counts = self.sensitive[column]
        return self.per_class_max(column, counts.counts.astype(np.float64)).astype(np.int64)

    def per_class_max(self, column: int, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return, per class, the greatest of one term per triple of a sensitive column, at least 0."""
        greatest = np.zeros(self.classes)
        np.maximum.at(greatest, self.sensitive[column].classes, terms)
        return greatest

    def tails(self, column: int, l: int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:  # noqa: E741
        """Return, per class, the greatest count and the sum of all counts from the l-th greatest on."""
        counts = self.sensitive[column]
        by_count = np.lexsort((-counts.counts, counts.classes))
        begins = np.concatenate([[0], np.cumsum(self.distinct(column))])
        rank = np.arange(len(by_count)) - begins[counts.classes]
        tail = np.where(rank >= l - 1, counts.counts[by_count], 0)
        return self.largest(column), self.per_class_sum(column, tail.astype(np.float64)).astype(np.int64)

    def within(
        self, column: int, floors: NDArray[np.float64], caps: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return the classes whose every value has a share between its floor and its cap."""
        counts = self.sensitive[column]
        sizes = self.sizes[counts.classes]
        broken = (counts.counts > caps[counts.values] * sizes) | (
            counts.counts < floors[counts.values] * sizes
        )
        return np.asarray(self.per_class_sum(column, broken.astype(np.float64)) == 0)


def class_statistics(encoded: Encoded, partition: Partition) -> ClassStatistics:
    """Return the statistics of all classes of a partition."""
    from ..kernels.class_values import count_class_values

    sensitive = []
    for j, column in enumerate(encoded.sensitive):
        codes = encoded.sensitive_column(j)
        classes, values, counts = count_class_values(codes, column.size, partition.order, partition.offsets)
        overall = np.bincount(values, weights=counts, minlength=column.size).astype(np.int64)
        sensitive.append(ValueCounts(column, classes, values, counts, overall))
    return ClassStatistics(encoded, partition, partition.sizes.astype(np.int64), tuple(sensitive))
