"""Top-down microaggregation: groups are cut around their farthest pair until classes are small."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .parts import ByParts, Parts


@dataclass(frozen=True)
class TopDown(ByParts):
    """The k-partition of the paper on random aggregation (Algorithms 1 to 3).

    k-means++ cuts the table into parts. In every part the two records farthest apart take their k - 1 nearest
    each, the rest goes to the nearer of the two, and both groups are cut again until none has 2k records. The
    farthest pair is exact in groups of up to 2,000 records; in larger ones it is the record farthest from the
    mean and the one farthest from that. Nothing as large as all pairs is ever held.

    ``variant="paper"`` scales columns to [0, 1] (Eq. 7), draws centres by distance rather than its square,
    and sends the rest to the group with the nearer mean of k records. Parts of fewer than k records join the
    nearest part in both variants, or the paper's own promise would break.

    References
    ----------
    Yang: Random Aggregation, Algorithms 1 to 3.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> encoded = shoal.encode({"age": [20, 60, 21, 61]}, policy)
    >>> shoal.partition(encoded, policy, algorithm="top-down").labels.tolist()
    [0, 1, 0, 1]
    """

    name: ClassVar[str] = "top-down"
    summary: ClassVar[str] = (
        "microaggregation: groups are cut around their farthest pair until they are small"
    )
    reference: ClassVar[str] = "Yang, random aggregation, Algorithms 1 to 3"

    def _group(
        self,
        points: NDArray[np.float64],
        parts: Parts,
        k: int,
        draws: NDArray[np.float64],
        labels: NDArray[np.int64],
        threads: bool,
    ) -> None:
        from ..kernels.splitting import top_down, top_down_parallel

        kernel = top_down_parallel if threads else top_down
        kernel(points, parts.ids, parts.offsets, k, self.literal, labels)
