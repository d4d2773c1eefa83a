"""oka: one-pass k-means, then records move until every class has k."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..params import Choice, param
from ..partitions import Partition
from ..progress import Run, Stage
from .base import Algorithm
from .row_index import search_columns, search_values, tree_of

if TYPE_CHECKING:
    from ..kernels.k_member_index import Columns
    from ..kernels.oka import Clusters
    from ..kernels.rules import Rules

_BATCHES = 100  # stretches of records between two looks at Ctrl-C


@dataclass(frozen=True)
class Oka(Algorithm):
    """As many clusters as there can be classes, begun by records drawn at random; every other joins one once.

    A record joins the cluster with the nearest centre, which moves at once: to the mean of numbers, dates and
    ranks, to the most frequent category. Then clusters of more than k records give away those farthest from
    their centre, and each of these joins the nearest cluster of fewer than k records, or the nearest of all
    where there is none. The order of the records is drawn from the seed.

    Parameters
    ----------
    loss : "own" or "height"
        The cost that distances are made of, as for `k-member`.

    Notes
    -----
    The mean of whole-number positions is rounded down. A centre is null where most of its records are; among
    equally frequent categories it keeps the one it has. Centres stay where they are once the pass is over.

    References
    ----------
    Lin, J.-L. and Wei, M.-C. (2008): An efficient clustering method for k-anonymization. PAIS.

    Examples
    --------
    >>> Oka().to_dict()
    {}
    """

    name: ClassVar[str] = "oka"
    summary: ClassVar[str] = "one-pass k-means, then records move until every class has k; for comparison"
    reference: ClassVar[str] = "Lin and Wei 2008"

    loss: str = param(Choice(("own", "height")), "cost that distances are made of", default="own")

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        n, k = encoded.records, rules.k
        if n < 2 * k:
            return Partition.single(n)
        space = encoded.space(heights=self.loss == "height")
        columns = search_columns(space)
        order = run.rng().permutation(n)
        values = search_values(encoded.codes[order], space)
        with run.progress.stage("oka", total=n) as stage:
            clusters = _passed(values, columns, n // k, stage)
            _settle(clusters, values, columns, k)
            stage.advance(n // k)
        labels = np.empty(n, dtype=np.int64)
        labels[order] = clusters.of
        return Partition.from_labels(labels)


def _passed(values: NDArray[np.int32], columns: Columns, seeds: int, stage: Stage) -> Clusters:
    """Return the clusters after every record has joined one."""
    from ..kernels.k_member import make_state
    from ..kernels.oka import assign, make_clusters

    clusters = make_clusters(values, columns, seeds)
    index = tree_of(values[:seeds], columns)
    state = make_state(columns, len(index.left))
    batch = max(-(-len(values) // _BATCHES), 1)
    for first in range(seeds, len(values), batch):
        last = min(first + batch, len(values))
        assign(index, columns, state, clusters, values, first, last)
        stage.advance(last - first)
    return clusters


def _settle(clusters: Clusters, values: NDArray[np.int32], columns: Columns, k: int) -> None:
    """Move records until every cluster has k."""
    from ..kernels.k_member import make_state
    from ..kernels.oka import give_away, settle

    out = give_away(columns, clusters, values, k)
    small = np.flatnonzero(clusters.size < k)
    everyone = tree_of(clusters.center, columns)
    some = tree_of(clusters.center[small], columns, small) if len(small) else everyone
    state = make_state(columns, len(everyone.left))
    settle(some, everyone, columns, state, clusters, values, out, k, len(small))
