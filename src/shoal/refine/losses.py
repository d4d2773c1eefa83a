"""What classes cost, in whole units, under the loss that is to become less; and which rows are near."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..algorithms.row_index import search_columns, search_values, tree_of
from ..encoding import Encoded
from ..partitions import Partition

if TYPE_CHECKING:
    from ..kernels.k_member_index import Columns
    from ..kernels.refining import Graph
    from ..kernels.space import Space
    from ..kernels.squaring import Points

_PARALLEL_ROWS = 1 << 14
_FORBIDDEN = 1 << 27  # cost of a cell above its `most_level`
_LEAVES = 40  # of the tree of rows that a search for neighbours looks at, at least
_LOOKS = 25_000_000  # leaves times rows and columns that all searches together may look at


class Losses:
    """What classes cost, in whole units, under the loss that is to become less."""

    def __init__(self, encoded: Encoded, partition: Partition, loss: str) -> None:
        from ..kernels.k_member_index import FLAT
        from ..kernels.space import SET, UNIT

        space = _levelled(encoded.space(heights=loss == "il"), encoded, partition)
        self.columns: Columns = search_columns(space)
        if loss == "lm":
            flat = self.columns.kind == SET
            self.columns.kind[flat] = FLAT
            self.columns.step[flat] = self.columns.full[flat]
        self.values = np.ascontiguousarray(search_values(encoded.codes, space))
        starred = [c.tree is None and partition.level(j) > 0 for j, c in enumerate(encoded.quasi)]
        self.values[:, starred] = 0
        weights = np.array([column.spec.weight for column in encoded.quasi])
        self.records = encoded.records
        self.full = int(np.rint(UNIT * weights).sum())
        self.starred = int(np.rint(UNIT * weights[starred]).sum())
        self.cells = max(self.full * encoded.records, 1)

    def fixed(self, suppressed: int) -> int:
        """Return the loss that no rearrangement changes."""
        return suppressed * self.full + (self.records - suppressed) * self.starred

    def loss_of(self, partition: Partition) -> int:
        """Return the loss of a partition."""
        return int(self.by_class(partition).sum()) + self.fixed(partition.suppressed)

    def by_class(self, partition: Partition) -> NDArray[np.int64]:
        """Return the loss of every class of a partition, all its records together."""
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
        from ..kernels.squaring import Points

        return Points(np.zeros((0, 0)), 0.0)


def _distinct(values: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return a record of every distinct row, and the row of every record."""
    order = np.lexsort(values.T)
    changed = np.ones(len(order), dtype=np.bool_)
    changed[1:] = (values[order[1:]] != values[order[:-1]]).any(axis=1)
    row = np.empty(len(order), dtype=np.int64)
    row[order] = np.cumsum(changed) - 1
    return order[changed].astype(np.int64), row


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
