"""Moves of single records between classes of points, under k alone: worse ones too, while it is warm."""

from __future__ import annotations

import itertools

import numpy as np
from numpy.typing import NDArray

from ..partitions import Partition
from .search import Search

_TRIES = 300  # with single records, that count as one move
_BATCH = 200_000  # tries between two looks at the clock, and two temperatures
_BATCH_RECORDS = 20  # the same for every record, where that is more
_PER_SECOND = 1e7  # tries, about; decides only how warm it begins
_THOROUGH = 300  # tries for every record; with fewer it begins cooler, or there would be no time to cool down
_WARM = 2.5  # mean losses of a record that it begins with; by bench/refine.py --squares
_REPEATED = 20_000  # tries for every record, from which on there is time to begin again
_CYCLES = (0, 1 / 8, 1 / 4, 1 / 2, 1)  # of the budget: where it begins again
_GOOD = 0.1  # of the classes are called good
_SHARE = 0.1  # of the loss of a record in a good class is the temperature at the end
_COLDEST = 1e-6


class Annealing(Search):
    """The search for squared errors under k alone."""

    @property
    def rounds(self) -> int:
        """How many moves are made between two looks at the clock."""
        return max(_BATCH, _BATCH_RECORDS * self.costs.records) // _TRIES

    @property
    def _tries(self) -> float:
        """Tries that the budget has for every record, about."""
        most = np.inf if self.budget is None else self.budget * _TRIES
        if self.refine.seconds is not None:
            most = min(most, self.refine.seconds * _PER_SECOND)
        return float(most) / self.costs.records

    def warmth(self) -> tuple[float, float]:
        """Return the temperatures of the beginning and of the end, in mean losses of a record.

        It ends where even good classes lose much more than the temperature: in tables of a few far out
        records and many that lie close together, that is a thousandth of what it is in others.
        """
        asked = self.refine.temperature
        first = _WARM * min(self._tries / _THOROUGH, 1.0) ** 1.5 if asked is None else asked
        size, cost = self.classes.size, self.classes.cost
        losses = cost[size > 0] / size[size > 0]
        mean = max(int(cost.sum()) / max(int(size.sum()), 1), 1.0)
        good = float(np.quantile(losses, _GOOD)) / mean if len(losses) else 1.0
        return first, min(max(_SHARE * good, _COLDEST), first)

    def phase(self, done: float) -> float:
        """Return how far it has cooled down; with time to spare it warms up again, each time for longer.

        Where a few far out records end up is decided while it is warm, by chance.
        """
        if self._tries < _REPEATED:
            return done
        begin, end = next(cycle for cycle in itertools.pairwise(_CYCLES) if done < cycle[1] or cycle[1] == 1)
        return (done - begin) / (end - begin)

    def divided(self, partition: Partition) -> Partition:
        """Return the classes of a partition, those of 2k records or more halved along their widest side."""
        points, k = self.graph.points, self.rules.k
        order, offsets = partition.order, partition.offsets
        while len(offsets) > 1 and np.diff(offsets).max() >= 2 * k:
            order, offsets = _halved(points, order, offsets, k)
        labels = np.full(len(points), -1, dtype=np.int32)
        labels[order] = np.repeat(np.arange(len(offsets) - 1), np.diff(offsets))
        return Partition.from_labels(labels)

    def _costly(self) -> NDArray[np.int32]:
        """Return all records, and as many again, each as often as its share of the loss is.

        In tables with a few far out records most of the loss is theirs, and most of what can be gained.
        """
        label, kept = self.classes.label, np.flatnonzero(self.classes.label >= 0)
        cost = np.sqrt(self.classes.cost[label[kept]] / self.classes.size[label[kept]])
        until = np.cumsum(cost)
        places = (np.arange(len(kept)) + 0.5) / max(len(kept), 1) * (until[-1] if len(kept) else 0.0)
        again = kept[np.minimum(np.searchsorted(until, places), len(kept) - 1)]
        return np.concatenate([kept, again]).astype(np.int32)

    def batch(self, seed: int, rounds: int) -> tuple[int, int]:
        """Make some moves, none of them compiles only; return (moves, change of the loss)."""
        from ..kernels.annealing import anneal

        moves = rounds if self.budget is None else min(rounds, self.budget - self.moves)
        warm = self.temperature / self.graph.scale if self.graph.scale > 0 else 0.0
        graph = self.graph._replace(costly=self._costly())
        change = anneal(self.classes, graph, self.rules.k, _TRIES * moves, warm, seed)
        return moves, change


def _halved(
    points: NDArray[np.float64], order: NDArray[np.int32], offsets: NDArray[np.int64], k: int
) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return (order, offsets) with every class of 2k records or more cut in the middle of its widest side."""
    sizes, begin = np.diff(offsets), offsets[:-1]
    widths = [
        np.maximum.reduceat(side[order], begin) - np.minimum.reduceat(side[order], begin) for side in points.T
    ]
    label = np.repeat(np.arange(len(sizes)), sizes)
    widest = np.argmax(widths, axis=0)[label]
    order = order[np.lexsort([points[order, widest], label])]
    middle = (begin + sizes // 2)[sizes >= 2 * k]
    return order, np.sort(np.concatenate([offsets, middle]))
