"""knn: a record drawn at random and its nearest, again and again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..encoding import Encoded
from ..params import Choice, param
from ..partitions import Partition
from ..progress import Run
from .base import Algorithm
from .growth import Growth

if TYPE_CHECKING:
    from ..kernels.rules import Rules


@dataclass(frozen=True)
class Knn(Algorithm):
    """A record drawn at random and the k - 1 records nearest to it are a class, until fewer than k are left.

    This is how condensation groups records, and what Byun et al. compare k-member with. Near is what costs
    little in a class of two. Equal records are decided by a random order, drawn from the seed.

    Parameters
    ----------
    loss : "own" or "height"
        The cost that distances are made of, as for `k-member`.

    Notes
    -----
    When fewer than k records are left, each joins the class whose total loss grows least.

    References
    ----------
    Aggarwal, C. C. and Yu, P. S. (2004): A condensation approach to privacy preserving data mining. EDBT.

    Examples
    --------
    >>> Knn(loss="height").to_dict()
    {'loss': 'height'}
    """

    name: ClassVar[str] = "knn"
    summary: ClassVar[str] = "a record drawn at random and its k - 1 nearest; for comparison"
    reference: ClassVar[str] = "Aggarwal and Yu 2004"

    loss: str = param(Choice(("own", "height")), "cost that distances are made of", default="own")

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        space = encoded.space(heights=self.loss == "height")
        growth = Growth(encoded, space, rules, run.rng().permutation(encoded.records))
        with run.progress.stage("knn", total=encoded.records) as stage:
            if growth.small:
                stage.advance(encoded.records)
                return growth.together()
            return growth.with_leftovers(growth.nearest(stage), every_promise=False)
