"""Partition: the class of every record. Algorithms make one, everything after them reads it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace

import numpy as np
from numpy.typing import NDArray

SUPPRESSED = -1
_HIGHEST = 2**31 - 2  # label that is looked up in a table


@dataclass(frozen=True, slots=True, eq=False)
class Partition:
    """A class label per record, aligned with the rows of the input.

    Attributes
    ----------
    labels : int32[n]
        Dense labels 0..g-1 in order of each class's first record; -1 marks a suppressed record.
    order : int32[n - suppressed]
        The records class by class, ascending within each.
    offsets : int64[g + 1]
        Class c holds the records ``order[offsets[c]:offsets[c + 1]]``.
    marks : mapping of name to bool[n]
        Records that the algorithm singled out, such as outliers. Metrics read them together with the labels,
        so what they say is true of the partition as it is published, whatever was repaired since.
    levels : tuple of int
        The least level of its hierarchy that each quasi-identifier is published at, for all classes alike;
        empty where every class shows as much as it can. A column without hierarchy has level 0, its values,
        and level 1, ``*``.
    uniform : bool
        Whether every cell of a column stands at exactly its level: full-domain generalization. Such classes
        are never merged, only suppressed.

    Examples
    --------
    >>> import numpy as np
    >>> p = Partition.from_labels(np.array([7, 7, -1, 3, 3]))
    >>> p.labels.tolist(), p.classes, p.suppressed, p.sizes.tolist()
    ([0, 0, -1, 1, 1], 2, 1, [2, 2])
    """

    labels: NDArray[np.int32]
    order: NDArray[np.int32]
    offsets: NDArray[np.int64]
    marks: Mapping[str, NDArray[np.bool_]] = field(default_factory=dict)
    levels: tuple[int, ...] = ()
    uniform: bool = False

    @classmethod
    def from_labels(cls, labels: NDArray[np.integer]) -> Partition:
        """Return the partition with these labels, renumbered densely; any negative label is suppressed."""
        from .kernels.labels import renumber

        labels = np.asarray(labels)
        if labels.dtype != np.int32:
            labels = np.maximum(labels.astype(np.int64, copy=False), SUPPRESSED)
        highest = int(labels.max(initial=-1))
        if highest > min(4 * len(labels), _HIGHEST):  # labels too sparse for a table over their range
            values, labels = np.unique(labels, return_inverse=True)
            labels = labels.reshape(-1) - int((values < 0).sum())
            highest = int(labels.max(initial=-1))
        return cls._from_dense(*renumber(labels.astype(np.int32, copy=False), highest))

    @classmethod
    def single(cls, n: int) -> Partition:
        """Return the partition that keeps all `n` records in one class."""
        return cls._from_dense(np.zeros(n, dtype=np.int32), min(n, 1))

    @classmethod
    def _from_dense(cls, dense: NDArray[np.int32], classes: int) -> Partition:
        from .kernels.labels import group

        order, offsets = group(dense, classes)
        for array in (dense, order, offsets):
            array.setflags(write=False)
        return cls(dense, order, offsets)

    def with_marks(self, marks: Mapping[str, NDArray[np.bool_]]) -> Partition:
        """Return the same classes with these marks."""
        return replace(self, marks=marks)

    def with_levels(self, levels: tuple[int, ...], *, uniform: bool = False) -> Partition:
        """Return the same classes, each column published at its level or above; exactly there if uniform."""
        return replace(self, levels=levels, uniform=uniform)

    def relabelled(self, labels: NDArray[np.integer]) -> Partition:
        """Return the partition with these labels, and the marks and levels of this one."""
        made = Partition.from_labels(labels)
        return replace(made, marks=self.marks, levels=self.levels, uniform=self.uniform)

    def level(self, column: int) -> int:
        """Return the least level that a quasi-identifier is published at."""
        return self.levels[column] if self.levels else 0

    @property
    def records(self) -> int:
        """Number of records, suppressed ones included."""
        return len(self.labels)

    @property
    def classes(self) -> int:
        """Number of classes."""
        return len(self.offsets) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of records of each class."""
        return np.diff(self.offsets)

    @property
    def suppressed(self) -> int:
        """Number of suppressed records."""
        return len(self.labels) - len(self.order)

    def members(self, label: int) -> NDArray[np.int32]:
        """Return the records of one class."""
        return self.order[self.offsets[label] : self.offsets[label + 1]]
