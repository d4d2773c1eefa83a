"""Optimal univariate microaggregation, and its use along a path through several columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..embedding import Embedding
from ..encoding import Encoded
from ..params import Choice, param
from ..partitions import Partition
from ..progress import Run
from .base import Algorithm

if TYPE_CHECKING:
    from ..kernels.rules import Rules

_STEPS = 4096  # of a tour between two reports of progress


@dataclass(frozen=True)
class OptimalOneDimensional(Algorithm):
    """The cut of an ordered table into classes of k to 2k - 1 neighbours with the least squared error.

    For one column of numbers without nulls the order is theirs, and no partition has a smaller squared error.
    For several columns the cut is the best one along a path: the Hilbert curve, or the tour that starts at
    the record farthest from the mean and always goes on to the nearest record that remains.

    With ``loss="gcp"`` one column of numbers without nulls, or with a hierarchy, or of two values is grouped
    so that no partition loses less; its classes need not be neighbours. Any other table is cut as before.

    References
    ----------
    Hansen and Mukherjee (2003): A polynomial algorithm for optimal univariate microaggregation.
    Domingo-Ferrer, Martinez-Balleste, Mateo-Sanz and Sebe (2006): Efficient multivariate data-oriented
    microaggregation.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> encoded = shoal.encode({"age": [20, 60, 21, 61, 62]}, policy)
    >>> shoal.partition(encoded, policy, algorithm="optimal-1d").labels.tolist()
    [0, 1, 0, 1, 1]
    """

    name: ClassVar[str] = "optimal-1d"
    summary: ClassVar[str] = "microaggregation with the least error: exact for one column, else along a path"
    reference: ClassVar[str] = "Hansen and Mukherjee 2003"

    path: str = param(
        Choice(("nearest", "hilbert")),
        "through several columns: a tour to the nearest record, or a space-filling curve (faster, more loss)",
        default="nearest",
    )
    loss: str = param(
        Choice(("sse", "gcp")),
        "what is least for one column: the squared error, or shoal's loss",
        default="sse",
    )

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        from ..kernels.paths import cut_order
        from ..one_column import solve_column

        solved = solve_column(encoded, rules.k) if self.loss == "gcp" else None
        if solved is not None:
            run.notes["proved"] = "gcp"
            return Partition.from_labels(solved.labels)
        points = Embedding.of(encoded).points
        n = encoded.records
        if n < 2 * rules.k:
            return Partition.single(n)
        order = self._order(points, run)
        with run.progress.stage("cutting the path"):
            ends = cut_order(np.ascontiguousarray(points[:, order].T), rules.k)
        labels = np.empty(n, dtype=np.int64)
        labels[order] = np.searchsorted(ends, np.arange(n), side="right")
        if self.loss == "sse" and len(points) == 1:
            run.notes["proved"] = "sse"
        return Partition.from_labels(labels)

    def _order(self, points: NDArray[np.float64], run: Run) -> NDArray[np.int64]:
        from ..kernels.paths import hilbert_places

        if len(points) == 1:
            return np.argsort(points[0], kind="stable").astype(np.int64)
        if self.path == "hilbert":
            return np.argsort(hilbert_places(_widest(points)), kind="stable").astype(np.int64)
        return tour(points, run)


def _widest(points: NDArray[np.float64], most: int = 31) -> NDArray[np.float64]:
    """Return the coordinates that vary most: the curve has two bits for each of 31."""
    kept = np.sort(np.argsort(-points.var(axis=1), kind="stable")[:most])
    return np.ascontiguousarray(points[kept])


def tour(points: NDArray[np.float64], run: Run) -> NDArray[np.int64]:
    """Return the tour to the nearest remaining record, from the one farthest from the mean."""
    from ..kernels.kd_tree import farthest, make_tree, remove
    from ..kernels.paths import walk_nearest

    n = points.shape[1]
    tree = make_tree(points, np.arange(n))
    order = np.empty(n, dtype=np.int64)
    order[0] = farthest(tree, np.rint(points.mean(axis=1)))
    remove(tree, order[0])
    at = 1
    with run.progress.stage("walking from record to record", n) as stage:
        while at < n:
            before, at = at, walk_nearest(tree, points, order, at, _STEPS)
            stage.advance(at - before)
    return order
