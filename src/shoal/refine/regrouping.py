"""Moves that take a few neighbouring classes apart and group their records anew, under any promise."""

from __future__ import annotations

import itertools
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import numpy as np

from ..partitions import Partition
from .search import Search
from .squares import SquaredError

if TYPE_CHECKING:
    from ..kernels.refining import Graph, Plan, Sets

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

    @property
    def _mean_size(self) -> float:
        """Mean number of records in a class."""
        sizes = self.classes.size
        return float(sizes.sum() / max((sizes > 0).sum(), 1))

    def divided(self, partition: Partition) -> Partition:
        """Return the classes of a partition, the large ones divided into blocks of neighbouring records."""
        from ..kernels.dividing import divide

        costs, order = self.costs, partition.order
        order = order[np.lexsort([self.graph.row[order], partition.labels[order]])]
        given = (costs.values, costs.columns, self.rules, self.sensitive, costs.target.kernel)
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
        if self.threads == 1 or plan.sets * self._mean_size < _PARALLEL:
            return self._work(graph, plan, sets, rounds)
        done, change = 0, 0
        with ThreadPoolExecutor(self.threads) as threads:
            for _round in range(rounds):
                done += (chosen := refining.choose_sets(self.classes, graph, plan, k, sets))
                ends = [chosen * part // _PARTS for part in range(_PARTS + 1)]
                parts = [(graph, plan, sets, 0, *part) for part in itertools.pairwise(ends)]
                list(threads.map(lambda part: self._work(*part), parts))
                change += refining.close_sets(self.classes, sets, chosen)
        return done, change

    def _work(
        self, graph: Graph, plan: Plan, sets: Sets, rounds: int, begin: int = 0, end: int = 0
    ) -> tuple[int, int]:
        """Work through rounds, or on some of the sets that have been chosen."""
        classes, costs, rules, sensitive = self.classes, self.costs, self.rules, self.sensitive
        made: tuple[int, int]
        if isinstance(costs, SquaredError):
            from ..kernels.squaring import refine_squares

            made = refine_squares(classes, graph, rules, sensitive, plan, sets, rounds, begin, end)
        else:
            from ..kernels.refining import refine

            columns, target = costs.columns, costs.target.kernel
            made = refine(classes, graph, columns, rules, sensitive, target, plan, sets, rounds, begin, end)
        return made
