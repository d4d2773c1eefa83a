"""Bottom-up microaggregation: small groups, drawn at random, join their nearest until all are large."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from .parts import ByParts, Parts


@dataclass(frozen=True)
class BottomUp(ByParts):
    """The k-partition of random k-anonymity, as far as it is known.

    k-means++ cuts the table into parts, and every record starts as a group. A group of fewer than k records,
    drawn at random, joins the group with the nearest mean, one of fewer than k records where there is
    another; a union of 2k records or more is cut around its farthest pair as in `TopDown`. It ends when every
    group has k records.

    The text of the method's paper was not to be had: this follows what the paper on random aggregation says
    of it (parts first, then bottom-up steps that depend much on random choices). ``variant="paper"`` differs
    as in `TopDown`.

    References
    ----------
    Song, Ma, Tian and Al-Rodhaan (2019): A new method of privacy protection: random k-anonymous.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> encoded = shoal.encode({"age": [20, 60, 21, 61]}, policy)
    >>> shoal.partition(encoded, policy, algorithm="bottom-up").labels.tolist()
    [0, 1, 0, 1]
    """

    name: ClassVar[str] = "bottom-up"
    summary: ClassVar[str] = "microaggregation: small groups drawn at random join their nearest"
    reference: ClassVar[str] = "Song et al. 2019, reconstructed"

    def _group(
        self,
        points: NDArray[np.float64],
        parts: Parts,
        k: int,
        draws: NDArray[np.float64],
        labels: NDArray[np.int64],
        threads: bool,
    ) -> None:
        from ..kernels.bottom_up import bottom_up, bottom_up_parallel

        kernel = bottom_up_parallel if threads else bottom_up
        kernel(points, parts.ids, parts.offsets, k, draws, self.literal, labels)
