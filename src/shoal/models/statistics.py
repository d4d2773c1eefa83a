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
        return np.bincount(counts.classes, weights=terms, minlength=self.classes)


def class_statistics(encoded: Encoded, partition: Partition) -> ClassStatistics:
    """Return the statistics of all classes of a partition."""
    kept = partition.order
    labels = partition.labels[kept].astype(np.int64)
    sensitive = []
    for j, column in enumerate(encoded.sensitive):
        codes = encoded.sensitive_codes[kept, j].astype(np.int64)
        keys, counts = np.unique(labels * column.size + codes, return_counts=True)
        classes, values = np.divmod(keys, max(column.size, 1))
        overall = np.bincount(codes, minlength=column.size).astype(np.int64)
        sensitive.append(ValueCounts(column, classes, values, counts.astype(np.int64), overall))
    return ClassStatistics(encoded, partition, partition.sizes.astype(np.int64), tuple(sensitive))
