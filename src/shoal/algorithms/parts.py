"""Microaggregation part by part: the table is cut by k-means++ first, and each part is grouped alone."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..embedding import Embedding
from ..encoding import Encoded
from ..params import Choice, Integer, Optional, param
from ..partitions import Partition
from ..progress import Run
from .base import Algorithm

if TYPE_CHECKING:
    from ..kernels.rules import Rules

RECORDS_A_PART = 2000  # by default, so that work grows with the records and not with their square
_WORTH_THREADS = 1 << 14  # records; below, starting the threads takes longer than the work
_BATCHES = 64  # of parts, between which a run reports and can be interrupted


class Parts(NamedTuple):
    """Records part by part: part p is ``ids[offsets[p]:offsets[p + 1]]``, ascending."""

    ids: NDArray[np.int64]
    offsets: NDArray[np.int64]

    def some(self, first: int, end: int) -> Parts:
        """Return the parts from `first` up to `end`."""
        begin = self.offsets[first]
        return Parts(self.ids[begin : self.offsets[end]], self.offsets[first : end + 1] - begin)


@dataclass(frozen=True)
class ByParts(Algorithm):
    """An algorithm that cuts the table by k-means++ and groups every part alone."""

    variant: str = param(
        Choice(("repaired", "paper")),
        "paper: scaled to [0, 1], centres drawn by plain distance, the rest by the nearer group",
        default="repaired",
    )
    parts: int | None = param(
        Optional(Integer(1)), f"parts to cut the table into; none: records / {RECORDS_A_PART}", default=None
    )
    iterations: int = param(Integer(0), "times the centres of the parts may move", default=10)

    @property
    def literal(self) -> bool:
        """Whether the paper is followed to the letter."""
        return self.variant == "paper"

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        points = Embedding.of(encoded, "min-max" if self.literal else "z-score").points
        return Partition.from_labels(self.group(points, rules.k, run))

    def group(self, points: NDArray[np.float64], k: int, run: Run) -> NDArray[np.int64]:
        """Return the class of every one of float64[d, n] points on a grid."""
        n = int(points.shape[1])
        rng = run.rng()
        parts = self._cut(points, k, rng, run)
        draws = rng.random(n)
        labels = np.empty(n, dtype=np.int64)
        count = len(parts.offsets) - 1
        step = max(1, count // _BATCHES)
        with run.progress.stage("grouping the parts", n) as stage:
            for first in range(0, count, step):
                some = parts.some(first, min(first + step, count))
                begin = parts.offsets[first]
                threads = len(some.ids) >= _WORTH_THREADS and len(some.offsets) > 2
                self._group(points, some, k, draws[begin : begin + len(some.ids)], labels, threads)
                stage.advance(len(some.ids))
        return labels

    @abstractmethod
    def _group(
        self,
        points: NDArray[np.float64],
        parts: Parts,
        k: int,
        draws: NDArray[np.float64],
        labels: NDArray[np.int64],
        threads: bool,
    ) -> None:
        """Label the records of every part, each class by a record of its own."""

    def _cut(self, points: NDArray[np.float64], k: int, rng: np.random.Generator, run: Run) -> Parts:
        """Return the parts; none has fewer than k records where there are as many."""
        from ..kernels import k_means

        n = points.shape[1]
        wanted = min(n, max(1, n // RECORDS_A_PART) if self.parts is None else self.parts)
        labels = np.zeros(n, dtype=np.int32)
        assign = k_means.assign_parallel if n >= _WORTH_THREADS else k_means.assign
        centres = k_means.seed_centres(points, rng.random(wanted), not self.literal)
        if wanted > 1:
            with run.progress.stage("cutting the table into parts", self.iterations + 1) as stage:
                assign(points, centres, labels)
                for _ in range(self.iterations):
                    stage.advance()
                    if not k_means.move_centres(points, labels, centres):
                        break
                    assign(points, centres, labels)
        merged = k_means.merge_small_parts(points, labels, len(centres), k)[labels]
        sizes = np.bincount(merged)
        offsets = np.concatenate([[0], np.cumsum(sizes[sizes > 0])]).astype(np.int64)
        return Parts(np.argsort(merged, kind="stable").astype(np.int64), offsets)
