"""What classes hold and what they publish, column by column, as sets of codes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import QuasiColumn
from ..hierarchies.tree import Tree
from ..partitions import Partition

if TYPE_CHECKING:
    from .hulls import Hulls


@dataclass(frozen=True, slots=True, eq=False)
class ClassValues:
    """How often each value of a column occurs in each class, as triples without zeros.

    Attributes
    ----------
    classes, values, counts : int64[triples]
        Sorted by class, then by value. Every class occurs.
    """

    classes: NDArray[np.int64]
    values: NDArray[np.int64]
    counts: NDArray[np.int64]

    def most(self) -> NDArray[np.int64]:
        """Return how often the most frequent value of each class occurs in it."""
        begins = np.flatnonzero(np.diff(self.classes, prepend=-1))
        most: NDArray[np.int64] = np.maximum.reduceat(self.counts, begins) if len(begins) else self.counts
        return most

    def alone(self) -> NDArray[np.bool_]:
        """Return, per triple, whether its value is the only one of its class."""
        alone: NDArray[np.bool_] = np.bincount(self.classes)[self.classes] == 1
        return alone


def class_values(codes: NDArray[np.int32], size: int, partition: Partition) -> ClassValues:
    """Return how often each of `size` codes occurs in each class; suppressed records take no part."""
    from ..kernels.class_values import count_class_values

    return ClassValues(*count_class_values(codes, size, partition.order, partition.offsets))


@dataclass(frozen=True, slots=True, eq=False)
class Cells:
    """What every class publishes in one quasi-identifier: the set of values a cell may stand for.

    An interval stands for all values of the column in it, an ancestor for all of its leaves, a value set for
    its values, null for null. A cell that mixes null with values says nothing: it stands for every value,
    null included. A weight or a result per code runs over ``size + 1`` codes, null being the last.

    Attributes
    ----------
    column : QuasiColumn
    first, last : int64[g]
        The run of codes of each class, where the column publishes intervals or ancestors.
    everything : bool[g]
        Whether the cell says nothing.
    listed : ClassValues or None
        The values of each class, where the column publishes value sets.
    """

    column: QuasiColumn
    first: NDArray[np.int64]
    last: NDArray[np.int64]
    everything: NDArray[np.bool_]
    listed: ClassValues | None

    @classmethod
    def of(cls, hulls: Hulls, j: int, listed: ClassValues | None) -> Cells:
        """Return the cells of column `j`; `listed` are their values where the column publishes value sets."""
        column = hulls.quasi[j]
        first, last = hulls.low[:, j].astype(np.int64), hulls.high[:, j].astype(np.int64)
        everything = hulls.nothing_told(j)
        if column.tree is not None:
            some = hulls.distinct[:, j] > 0
            begins, ends = _leaf_runs(column.tree)
            nodes = hulls.nodes(j)
            first[some], last[some] = begins[nodes], ends[nodes]
        return cls(column, first, last, everything, listed)

    @property
    def domain(self) -> NDArray[np.float64]:
        """1 for every code of the column, null only where it occurs."""
        ones = np.ones(self.column.size + 1)
        ones[-1] = self.column.has_null
        return ones

    def total(self, weight: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return float64[g]: the weights of the values each class's cell stands for, summed."""
        if self.listed is not None:
            found = _sums(self.listed.classes, weight[self.listed.values], len(self.first))
        else:
            running = np.concatenate([[0.0], np.cumsum(weight)])
            found = running[self.last + 1] - running[self.first]
        found[self.everything] = weight.sum()
        return found

    def spread(self, share: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return float64[size + 1]: what each value gets when each class gives `share` to all of its own."""
        everywhere = float(share[self.everything].sum())
        share = np.where(self.everything, 0.0, share)
        codes = self.column.size + 1
        if self.listed is not None:
            found = _sums(self.listed.values, share[self.listed.classes], codes)
        else:
            begun = _sums(self.first, share, codes + 1)
            ended = _sums(self.last + 1, share, codes + 1)
            running: NDArray[np.float64] = np.cumsum(begun - ended)
            found = running[:codes]
        return found + everywhere * self.domain


def _sums(at: NDArray[np.int64], terms: NDArray[np.float64], length: int) -> NDArray[np.float64]:
    """Return float64[length]: the sum of the terms at each index."""
    return np.bincount(at, weights=terms, minlength=length).astype(np.float64, copy=False)


def _leaf_runs(tree: Tree) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the first and the last leaf under every node."""
    first = np.zeros(len(tree.labels), dtype=np.int64)
    for row in tree.nodes:
        nodes, begins = np.unique(row, return_index=True)
        first[nodes] = begins
    return first, first + tree.leaf_counts - 1
