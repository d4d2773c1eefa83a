"""How many values change when every class is published as its most frequent values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..params import Choice, param
from ..partitions import Partition
from ..sets import Items
from .base import Measured, Metric


@dataclass(frozen=True)
class AverageDistortionRatio(Metric):
    """The share of values that change when each class is published as its most frequent value per column.

    The publication counts in the one-hot table: the d columns "is value v" of all values of all
    quasi-identifiers together, null being a value. A changed cell turns two of its entries over. A suppressed
    cell counts as changed to another value, where its column has one. ``denominator="cells"`` counts changed
    cells among the n * q cells instead. A column of sets has one entry an item; its classes are published as
    the items that more than half of the records have.

    References
    ----------
    Ahmadi Khatir, Izadkhah and Razmara (2023): Designing a novel approach using a greedy and
    information-theoretic clustering-based algorithm for anonymizing microdata sets, Eq. 16.
    """

    name: ClassVar[str] = "adr"
    summary: ClassVar[str] = "share of one-hot entries that change when classes publish their modes"
    formula: ClassVar[str] = (
        "2 * changed cells / (n * d), d = sum of domain sizes; or changed cells / (n * q)"
    )
    reference: ClassVar[str] = "Ahmadi Khatir et al. 2023, Eq. 16"
    high: ClassVar[float] = 1.0

    denominator: str = param(Choice(("values", "cells")), "count one-hot entries, or cells", default="values")

    def compute(self, measured: Measured) -> float:
        columns = measured.encoded.quasi
        changes = [self._changes(measured, j) for j in range(len(columns))]
        changed, flipped, domain = (np.array(part) for part in zip(*changes, strict=True))
        if self.denominator == "cells":
            return float(
                (changed.sum() + measured.suppressed * len(columns)) / (measured.records * len(columns))
            )
        return float(flipped.sum() / (measured.records * domain.sum()))

    def _changes(self, measured: Measured, j: int) -> tuple[int, int, int]:
        """Return (changed cells of classes, changed entries, entries of a record) of one column."""
        column = measured.encoded.quasi[j]
        items = column.items()
        if items is not None:
            return _set_changes(items, measured.encoded.column(j), measured.partition)
        changed = int(len(measured.partition.order) - measured.most_frequent(column.name).sum())
        domain = column.size + column.has_null
        return changed, 2 * changed + measured.suppressed * min(2, domain), domain


def _set_changes(items: Items, codes: NDArray[np.int32], partition: Partition) -> tuple[int, int, int]:
    """Return the changes of a column of sets whose classes keep the items that more than half have.

    A suppressed record loses its items.
    """
    record, item = items.entries(codes)
    label = partition.labels[record].astype(np.int64)
    kept = label >= 0
    lost = int((~kept).sum())
    keys, of_entry, counts = np.unique(
        label[kept] * len(items.names) + item[kept], return_inverse=True, return_counts=True
    )
    sizes = partition.sizes[keys // max(len(items.names), 1)]
    flipped = lost + int(np.minimum(counts, sizes - counts).sum())
    most = 2 * counts > sizes
    wanted = np.bincount(keys[most] // max(len(items.names), 1), minlength=partition.classes + 1)
    held = np.bincount(record[kept][most[of_entry]], minlength=len(codes))
    strange = np.bincount(record[kept][~most[of_entry]], minlength=len(codes)) > 0
    changed = (strange | (held < wanted[partition.labels])) & (partition.labels >= 0)
    return int(changed.sum()), flipped, len(items.names)
