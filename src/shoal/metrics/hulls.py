"""Hulls: what every class covers in every quasi-identifier, and the loss that comes of it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded, QuasiColumn
from ..partitions import Partition

WORTH_THREADS = 1 << 17  # records; below, starting the threads takes longer than the work


@dataclass(frozen=True, slots=True, eq=False)
class Hulls:
    """What every class covers, column by column.

    Attributes
    ----------
    quasi : tuple of QuasiColumn
    sizes : int64[g]
        Number of records of each class.
    low, high : int32[g, q]
        Least and greatest code, nulls left out; both are the code of null where a class holds nothing else.
    distinct : int32[g, q]
        Number of different codes, null left out.
    nulls : int32[g, q]
        Number of nulls.
    levels : tuple of int
        Those of the partition: the least level each column is published at; empty for none.
    """

    quasi: tuple[QuasiColumn, ...]
    sizes: NDArray[np.int64]
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    distinct: NDArray[np.int32]
    nulls: NDArray[np.int32]
    levels: tuple[int, ...] = ()

    @classmethod
    def of(cls, encoded: Encoded, partition: Partition, *, threads: bool = True) -> Hulls:
        """Return the hulls of all classes of a partition.

        Parameters
        ----------
        encoded : Encoded
            The integer view of a table.
        partition : Partition
            The class of each of its records.
        threads : bool
            Whether a large table may be worked on by several threads. False where the caller itself is one
            of several Python threads, which Numba's parallel code does not survive. The result is the same.

        Examples
        --------
        >>> import numpy as np, pyarrow as pa, shoal
        >>> from shoal.encoding import encode
        >>> policy = shoal.Policy(quasi={"age": "numeric", "job": "categorical"})
        >>> encoded = encode(pa.table({"age": [20, 30, 40], "job": ["a", "a", "b"]}), policy)
        >>> hulls = Hulls.of(encoded, shoal.Partition.from_labels(np.array([0, 0, 1])))
        >>> hulls.low.tolist(), hulls.high.tolist()
        ([[0, 0], [2, 1]], [[1, 0], [2, 1]])
        >>> hulls.loss().tolist()
        [[0.5, 0.0], [0.0, 0.0]]
        """
        from ..kernels.hulls import class_hulls, class_hulls_parallel

        codes = np.ascontiguousarray(encoded.codes.T)
        size = np.array([column.size for column in encoded.quasi], dtype=np.int32)
        parallel = threads and encoded.records >= WORTH_THREADS
        kernel = class_hulls_parallel if parallel else class_hulls
        arrays = kernel(codes, size, partition.order, partition.offsets)
        low, high, distinct, nulls = arrays
        return cls(encoded.quasi, partition.sizes, low, high, distinct, nulls, partition.levels)

    def level(self, j: int) -> int:
        """Return the least level that column `j` is published at."""
        return self.levels[j] if self.levels else 0

    def tells_nothing(self) -> NDArray[np.bool_]:
        """Return bool[g, q]: whether cells say nothing: null mixed with values, or all of a column is *."""
        found = np.empty(self.low.shape, dtype=bool, order="F")
        for j in range(len(self.quasi)):
            found[:, j] = self.nothing_told(j)
        return found

    def nothing_told(self, j: int) -> NDArray[np.bool_]:
        """Return bool[g]: whether the cells of column `j` say nothing."""
        if self.quasi[j].starred(self.level(j)):
            return np.ones(len(self.sizes), dtype=bool)
        found: NDArray[np.bool_] = (self.nulls[:, j] > 0) & (self.distinct[:, j] > 0)
        return found

    def nodes(self, j: int) -> NDArray[np.int32]:
        """Return int32[classes with a value]: the node that each class publishes in a column with a tree."""
        tree, some = self.quasi[j].tree, self.distinct[:, j] > 0
        assert tree is not None
        return tree.common_ancestors(self.low[some, j], self.high[some, j], self.level(j))

    def climbed(self, j: int) -> NDArray[np.int64]:
        """Return int64[g]: the level that each class publishes column `j` at.

        Without hierarchy there are two: a value itself, and anything wider. Values that a hierarchy does not
        know are a leaf that is the root itself: it stands at the top.
        """
        column = self.quasi[j]
        found = np.where(self.distinct[:, j] > 1, column.top, 0).astype(np.int64)
        if column.tree is not None:
            tree, some = column.tree, self.distinct[:, j] > 0
            low, high = self.low[some, j], self.high[some, j]
            levels = np.full(len(low), tree.levels - 1, dtype=np.int64)
            for level in range(tree.levels - 1, self.level(j) - 1, -1):
                levels[tree.nodes[level, low] == tree.nodes[level, high]] = level
            levels[tree.nodes[0, low] == tree.root] = tree.levels - 1
            found[some] = levels
        found[self.nothing_told(j)] = column.top
        return found

    def loss(self, *, heights: bool = False) -> NDArray[np.float64]:
        """Return float64[g, q]: what each record of a class loses in each column, from 0 to 1.

        Numeric, ordinal and date: (max - min) / global range. Categorical: (distinct - 1) / (domain - 1), or
        with a hierarchy (leaves under the lowest common ancestor - 1) / (leaves - 1). Null mixed with
        values: 1; nothing but null: 0; a domain of one value: 0; a value its hierarchy does not know: 1.

        With `heights`, categorical columns lose as in Byun et al. (2006), Definition 7: height(lowest common
        ancestor) / height(tree), a column without hierarchy being a tree of height 1.
        """
        found = np.empty(self.low.shape)
        for j, column in enumerate(self.quasi):
            found[:, j] = self._column_loss(j, column, heights)
            found[self.nothing_told(j), j] = 1.0
        return found

    def _column_loss(self, j: int, column: QuasiColumn, heights: bool) -> NDArray[np.float64]:
        """Return the loss of one column as if its nulls were not there."""
        found = np.zeros(len(self.sizes))
        if column.tree is not None:  # one value may cost something: a leaf that stands for unknown values
            some = self.distinct[:, j] > 0
            by_node = column.tree.node_height_losses() if heights else column.tree.node_losses()
            found[some] = by_node[self.nodes(j)]
            return found
        several = self.distinct[:, j] > 1
        if column.positions is not None:
            found[several] = column.positions[self.high[several, j]] - column.positions[self.low[several, j]]
        elif heights:
            found[several] = 1.0
        else:
            found[several] = (self.distinct[several, j] - 1) / max(column.size - 1, 1)
        return found
