"""What classes cost, in whole units, under the loss that is to become less; and which rows are near."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..algorithms.row_index import search_columns, search_values, tree_of
from ..encoding import Encoded, QuasiColumn
from ..errors import PolicyError
from ..partitions import Partition
from .settings import Refine
from .targets import TargetLoss

if TYPE_CHECKING:
    from ..kernels.k_member_index import Columns
    from ..kernels.refining import Graph, Points
    from ..kernels.space import Space

_PARALLEL_ROWS = 1 << 14
_FORBIDDEN = 1 << 27  # cost of a cell above its `most_level`
_LEAVES = 40  # of the tree of rows that a search for neighbours looks at, at least
_LOOKS = 25_000_000  # leaves times rows and columns that all searches together may look at


class Losses:
    """What classes cost, in whole units, under the loss that is to become less."""

    def __init__(self, encoded: Encoded, partition: Partition, refine: Refine) -> None:
        from ..kernels.k_member_index import FLAT
        from ..kernels.space import SET, UNIT

        space = encoded.space(heights=refine.loss == "il")
        counted = np.array([refine.loss != "lil" or ordered(column) for column in encoded.quasi])
        if not counted.any():
            raise PolicyError(
                "the loss 'lil' counts numbers, dates and ranks, and no quasi-identifier is one",
                hint="Refine another loss, such as gcp.",
            )
        space = _levelled(_counting(space, counted), encoded, partition)
        self.columns: Columns = search_columns(space)
        if refine.loss == "lm":
            flat = self.columns.kind == SET
            self.columns.kind[flat] = FLAT
            self.columns.step[flat] = self.columns.full[flat]
        self.values = np.ascontiguousarray(search_values(encoded.codes, space))
        starred = np.array([c.tree is None and partition.level(j) > 0 for j, c in enumerate(encoded.quasi)])
        self.values[:, starred] = 0
        units = np.rint(UNIT * np.array([column.spec.weight for column in encoded.quasi])) * counted
        self.records = encoded.records
        self.full = int(units.sum())
        self.starred = int(units[starred].sum())
        self.target = TargetLoss(encoded, refine, self.full)
        self.cells = max((self.full + self.target.weight) * encoded.records, 1)

    def fixed(self, suppressed: int) -> int:
        """Return the loss that no rearrangement changes."""
        lost = suppressed * (self.full + self.target.unit)
        return lost + (self.records - suppressed) * self.starred

    def loss_of(self, partition: Partition) -> int:
        """Return the loss of a partition."""
        return int(self.by_class(partition).sum()) + self.fixed(partition.suppressed)

    def by_class(self, partition: Partition) -> NDArray[np.int64]:
        """Return the loss of every class of a partition, all its records together."""
        return self._cells_by_class(partition) + self.target.by_class(partition)

    def parts(self, partition: Partition) -> tuple[float, float]:
        """Return (loss of the cells, loss of the target), each as a mean between 0 and 1."""
        kept = self.records - partition.suppressed
        lost = int(self._cells_by_class(partition).sum()) + partition.suppressed * self.full
        return (lost + kept * self.starred) / max(self.full * self.records, 1), self.target.share(partition)

    def _cells_by_class(self, partition: Partition) -> NDArray[np.int64]:
        from ..kernels.refining import class_losses

        found: NDArray[np.int64]
        found = class_losses(self.values, self.columns, partition.order, partition.offsets)
        return found

    def graph(self, neighbours: int, threads: bool) -> Graph:
        """Return which rows are near each other."""
        from ..kernels.nearness import nearest_rows, nearest_rows_parallel
        from ..kernels.refining import Graph

        first, row = _distinct(self.values)
        index = tree_of(self.values[first], self.columns)
        count = len(first)
        leaves = max(_LEAVES, _LOOKS // self.values.size)
        parallel = threads and count >= _PARALLEL_ROWS
        search = nearest_rows_parallel if parallel else nearest_rows
        near = search(index, self.columns, min(neighbours, count), leaves)
        slot = np.empty(count, dtype=np.int32)
        slot[index.queue[index.head]] = np.arange(count)
        row_slot = slot[row]
        offsets = np.concatenate([[0], np.cumsum(np.bincount(row_slot, minlength=count))])
        records = np.argsort(row_slot, kind="stable").astype(np.int32)
        nobody = np.zeros(0, dtype=np.int32)
        return Graph(self.values, row_slot, near, offsets.astype(np.int64), records, nobody, *self.points())

    def points(self) -> Points:
        """Return the records as points: none, but for squared errors."""
        from ..kernels.refining import Points

        return Points(np.zeros((0, 0)), 0.0)


def _distinct(values: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a record of every distinct row, and the row of every record."""
    order = np.lexsort(values.T)
    changed = np.ones(len(order), dtype=np.bool_)
    changed[1:] = (values[order[1:]] != values[order[:-1]]).any(axis=1)
    row = np.empty(len(order), dtype=np.int64)
    row[order] = np.cumsum(changed) - 1
    return order[changed].astype(np.int64), row


def ordered(column: QuasiColumn) -> bool:
    """Return whether a column is of numbers, dates or ranks, of which a class covers a range.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age", "job"], models=[shoal.KAnonymity(2)])
    >>> encoded = shoal.encode({"age": [20, 30], "job": ["cook", "smith"]}, policy)
    >>> [ordered(column) for column in encoded.quasi]
    [True, False]
    """
    return column.positions is not None


def _counting(space: Space, counted: NDArray[np.bool_]) -> Space:
    """Return the geometry in which the other columns cost nothing."""
    node_cost, ends = space.node_cost.copy(), [*space.tree_start[1:], len(space.node_cost)]
    for j in np.flatnonzero(~counted):
        node_cost[space.tree_start[j] : ends[j]] = 0
    return space._replace(full=np.where(counted, space.full, 0).astype(np.int32), node_cost=node_cost)


def _levelled(space: Space, encoded: Encoded, partition: Partition) -> Space:
    """Return the geometry in which nothing costs less than at the levels of the partition.

    Nor may a class rise above a column's `most_level`: it would cost more than anything else could gain.
    """
    from ..kernels.space import LINE

    node, node_cost, geometry = space.node.copy(), space.node_cost.copy(), space.geometry.copy()
    for j, column in enumerate(encoded.quasi):
        least = partition.level(j)
        if column.tree is None:
            if least > 0:
                geometry[j] = LINE
            continue
        begin, size = int(space.tree_start[j]), int(space.size[j])
        for level in range(column.tree.levels):
            here = slice(begin + level * size, begin + (level + 1) * size)
            if level < least:
                there = slice(begin + least * size, begin + (least + 1) * size)
                node[here], node_cost[here] = space.node[there], space.node_cost[there]
            elif level > column.highest:
                node_cost[here] = _FORBIDDEN
    return space._replace(node=node, node_cost=node_cost, geometry=geometry)
