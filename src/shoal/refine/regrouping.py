"""Moves that take a few neighbouring classes apart and group their records anew, under any promise."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..partitions import Partition
from .search import Search

_BATCH = 40_000  # records moved between two looks at the clock, about
_BATCH_COOLING = 2000  # the same while a temperature falls, which is set between two looks
_PARALLEL = 1000  # records of a round; below, starting the threads takes longer than the work
_PARTS = 16  # heaps that the sets of a round are dealt into, for threads to take
_SETS = 4096  # of a round, at most


class Regrouping(Search):
    """The search for every loss and policy."""

    @property
    def rounds(self) -> int:
        """How many rounds are made between two looks at the clock."""
        batch = _BATCH_COOLING if self.warmth()[0] > 0 else _BATCH
        return max(batch // max(self.rules.k, 5) // self._sets, 1)

    @property
    def _sets(self) -> int:
        """Sets of classes that a round takes apart, at most."""
        return min(max(int((self.classes.size > 0).sum()) // (2 * self.refine.classes), 1), _SETS)

    def divided(self, partition: Partition) -> Partition:
        """Return the classes of a partition, the large ones divided into blocks of neighbouring records."""
        from ..kernels.dividing import divide

        costs, order = self.costs, partition.order
        order = order[np.lexsort([self.graph.row[order], partition.labels[order]])]
        given = (costs.values, costs.columns, self.rules, self.sensitive)
        return Partition.from_labels(divide(order, partition.offsets, *given)[0])

    def batch(self, seed: int, rounds: int) -> tuple[int, int]:
        """Make some rounds of moves, none of them compiles only; return (moves, change of the loss)."""
        from ..kernels import refining

        label = self.classes.label
        losing = self.classes.cost[label] > 0
        losing[label < 0] = False
        graph = self.graph._replace(costly=np.flatnonzero(losing).astype(np.int32))
        k, most = self.rules.k, self.refine.classes
        room = min(max(3 * k * most, 128), 32 * k)
        plan = refining.Plan(self._sets, room, most, self.refine.tries, self.temperature, seed)
        sets = refining.make_sets(plan)
        given = (self.classes, graph, self.costs.columns, self.rules, self.sensitive, plan, sets, rounds)
        if self.threads > 1 and plan.sets * k >= _PARALLEL:
            made, change = _with_threads(self.threads, refining.refine_parallel, *given, _PARTS)
        else:
            made, change = refining.refine(*given)
        return made, change


def _with_threads(threads: int, kernel: Any, *given: Any) -> Any:
    """Call a parallel kernel with so many threads."""
    import numba

    before = numba.get_num_threads()
    numba.set_num_threads(threads)
    try:
        return kernel(*given)
    finally:
        numba.set_num_threads(before)
