"""MDAV: classes of exactly k records, made from the outside of the table inwards."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..embedding import Embedding
from ..encoding import Encoded
from ..partitions import Partition
from ..progress import Run
from .base import Algorithm

if TYPE_CHECKING:
    from ..kernels.rules import Rules

_ROUNDS = 512  # between two reports of progress


@dataclass(frozen=True)
class Mdav(Algorithm):
    """Maximum distance to average vector.

    The record farthest from the mean of what remains and the k - 1 records nearest to it are a class; so are
    the record farthest from that one and its k - 1 nearest. The last records, fewer than 2k, are one class.
    Records are points of `shoal.embedding`, standardised. Nearest and farthest records come from a k-d tree
    that shrinks with what remains, so memory is linear and the result that of a full scan.

    References
    ----------
    Domingo-Ferrer and Mateo-Sanz (2002): Practical data-oriented microaggregation for statistical disclosure
    control. Domingo-Ferrer and Torra (2005): Ordinal, continuous and heterogeneous k-anonymity through
    microaggregation.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> encoded = shoal.encode({"age": [20, 60, 21, 61]}, policy)
    >>> shoal.partition(encoded, policy, algorithm="mdav").labels.tolist()
    [0, 1, 0, 1]
    """

    name: ClassVar[str] = "mdav"
    summary: ClassVar[str] = (
        "microaggregation: the records farthest out and their nearest become classes of k"
    )
    reference: ClassVar[str] = "Domingo-Ferrer and Mateo-Sanz 2002"

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        from ..kernels.mdav import make_grouping, mdav_rounds

        points = Embedding.of(encoded).points
        work = make_grouping(points, rules.k)
        remaining = encoded.records
        with run.progress.stage("grouping the farthest records", encoded.records) as stage:
            while remaining > 0:
                before, remaining = remaining, mdav_rounds(work, rules.k, _ROUNDS)
                stage.advance(before - remaining)
        return Partition.from_labels(work.labels)
