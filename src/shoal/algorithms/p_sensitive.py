"""PSKA: classes of near records with at least p different sensitive values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..embedding import Embedding
from ..encoding import Encoded
from ..params import Integer, Optional, param
from ..partitions import Partition
from ..progress import Run
from .base import Algorithm

if TYPE_CHECKING:
    from ..kernels.rules import Rules

_ROUNDS = 256  # classes between two reports of progress


@dataclass(frozen=True)
class PSensitiveClustering(Algorithm):
    """Near records with unlike sensitive values, for p-sensitive k-anonymity.

    A class starts at the record farthest from the mean of what is left. Of the others, nearest first, it
    takes those with a sensitive value that it still lacks until it has p, then any until it has k. When no
    further class can be made, the records that are left join the classes with the nearest means. After
    Solanas, Sebe and Domingo-Ferrer 2008, with the test of Sun, Sun and Wang 2011: their categories of
    sensitive values are the nodes of a level of the hierarchy. Both are known at second hand.

    Parameters
    ----------
    p : int, optional
        Different values that a class must have of every sensitive column; what the policy asks for when none.
    level : int
        Of the sensitive hierarchies, whose nodes must differ; 0: the values themselves.

    Notes
    -----
    Only size and number of values are seen to; `enforce` sees to the other promises.

    References
    ----------
    Solanas, Sebe and Domingo-Ferrer (2008): Micro-aggregation-based heuristics for p-sensitive k-anonymity:
    one step beyond. Sun, Sun and Wang (2011): Extended k-anonymity models against sensitive attribute
    disclosure.

    Examples
    --------
    >>> import shoal
    >>> table = {"age": [20, 21, 60, 61], "ill": ["flu", "flu", "cold", "cold"]}
    >>> policy = shoal.Policy(quasi=["age"], sensitive=["ill"], models=[shoal.PSensitive(2, 2)])
    >>> shoal.partition(shoal.encode(table, policy), policy, algorithm="p-sensitive").labels.tolist()
    [0, 1, 0, 1]
    """

    name: ClassVar[str] = "p-sensitive"
    summary: ClassVar[str] = "near records with at least p different sensitive values; PSKA"
    reference: ClassVar[str] = "after Solanas et al. 2008 and Sun et al. 2011"
    block: ClassVar[int | None] = 10_000

    p: int | None = param(
        Optional(Integer(1)),
        "different sensitive values of a class; as the policy says when none",
        default=None,
    )
    level: int = param(Integer(0), "level of the sensitive hierarchies whose nodes must differ", default=0)

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        from ..kernels.mdav import join_nearest
        from ..kernels.unlike import make_unlike, unlike_rounds

        n = encoded.records
        points = Embedding.of(encoded, "min-max").points
        values, count = self.values(encoded)
        wanted = np.array([self._wanted(rules, j, row) for j, row in enumerate(values)], dtype=np.int64)
        work = make_unlike(points, values, wanted, count)
        remaining = n
        with run.progress.stage("taking near records with unlike values", n) as stage:
            while remaining > 0:
                before, remaining = remaining, unlike_rounds(work, rules.k, _ROUNDS)
                stage.advance(before - remaining)
        if work.state[0] == 0:
            return Partition.single(n)
        join_nearest(points, work.labels, int(work.state[0]))
        return Partition.from_labels(work.labels)

    def values(self, encoded: Encoded) -> tuple[NDArray[np.int32], int]:
        """Return int32[s, n] sensitive values or the nodes above them, numbered through, and how many."""
        rows, start = [], 0
        for j, column in enumerate(encoded.sensitive):
            codes: NDArray[np.integer] = encoded.sensitive_codes[:, j]
            if column.tree is not None:
                codes = column.tree.nodes[min(self.level, len(column.tree.nodes) - 1)][codes]
            used, codes = np.unique(codes, return_inverse=True)
            rows.append(codes.reshape(-1) + start)
            start += len(used)
        made = np.array(rows, dtype=np.int32).reshape(len(rows), encoded.records)
        return made, start

    def _wanted(self, rules: Rules, j: int, row: NDArray[np.int32]) -> int:
        asked = int(rules.min_distinct[j]) if self.p is None else self.p
        return min(asked, len(np.unique(row)))
