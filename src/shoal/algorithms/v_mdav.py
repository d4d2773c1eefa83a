"""V-MDAV: like MDAV, but a class may take a few more records than k where they lie close to it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..embedding import Embedding
from ..encoding import Encoded
from ..params import Optional, Real, param
from ..partitions import Partition
from ..progress import Run, Stage
from .base import Algorithm

if TYPE_CHECKING:
    from ..kernels.rules import Rules

_ROUNDS = 512  # classes between two reports of progress
_TRIED = (0.0, 0.2, 0.5, 0.8, 1.1)


@dataclass(frozen=True)
class VMdav(Algorithm):
    """MDAV with classes of variable size.

    The record farthest from the mean of the table and its k - 1 nearest are a class. The nearest remaining
    record joins it, up to 2k - 1 records, while its distance from the nearest member of the class is below
    gamma times its distance from the nearest other remaining record. The last records, fewer than k, join the
    classes with the nearest means.

    References
    ----------
    Solanas and Martinez-Balleste (2006): V-MDAV: a multivariate microaggregation with variable group size.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> encoded = shoal.encode({"age": [20, 60, 21, 61, 20]}, policy)
    >>> shoal.partition(encoded, policy, algorithm="v-mdav", gamma=1.1).labels.tolist()
    [0, 1, 0, 1, 0]
    """

    name: ClassVar[str] = "v-mdav"
    summary: ClassVar[str] = "MDAV whose classes take more than k records where these lie close together"
    reference: ClassVar[str] = "Solanas and Martinez-Balleste 2006"

    gamma: float | None = param(
        Optional(Real(0)),
        "how readily a class grows beyond k: 0 never, 0.2 for scattered tables, 1.1 for clustered ones; "
        "none: several are tried and the one with the least squared error is kept",
        default=0.2,
    )

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        points = Embedding.of(encoded).points
        tried = _TRIED if self.gamma is None else (self.gamma,)
        with run.progress.stage("grouping the farthest records", encoded.records * len(tried)) as stage:
            found = []
            for gamma in tried:
                labels = group_records(points, rules.k, gamma, stage)
                found.append((squared_error(points, labels), labels))
        return Partition.from_labels(min(found, key=lambda pair: pair[0])[1])


def group_records(points: NDArray[np.float64], k: int, gamma: float, stage: Stage) -> NDArray[np.int32]:
    """Return the class of every record for one gamma."""
    from ..kernels.grid import rounded_mean
    from ..kernels.mdav import join_nearest, make_grouping, v_mdav_rounds

    n = points.shape[1]
    if n < k:
        return np.zeros(n, dtype=np.int32)
    work = make_grouping(points, k)
    mean = np.empty(len(points))
    rounded_mean(work.sums, n, mean)
    order = np.argsort(-((points - mean[:, None]) ** 2).sum(axis=0), kind="stable")
    at, remaining = 0, n
    while remaining >= k:
        at = v_mdav_rounds(work, order, at, k, gamma, _ROUNDS)
        stage.advance(remaining - int(work.tree.size[0]))
        remaining = int(work.tree.size[0])
    join_nearest(points, work.labels, int(work.state[0]))
    stage.advance(remaining)
    return work.labels


def squared_error(points: NDArray[np.float64], labels: NDArray[np.integer]) -> float:
    """Return the squared distance of all points from the mean of their class."""
    sizes = np.bincount(labels)
    means = [np.bincount(labels, weights=row) / sizes for row in points]
    return float(sum(((row - mean[labels]) ** 2).sum() for row, mean in zip(points, means, strict=True)))
