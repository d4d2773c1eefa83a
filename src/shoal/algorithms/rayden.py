"""RAYDEN: a vantage-point tree, the outliers of its parts set aside, and a second tree over those."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..params import Choice, Flag, Integer, Optional, Real, param
from ..partitions import Partition
from ..progress import Run, Stage
from .outliers import CHAINS, MARK, Detection, own_limits, suppressed_within
from .vantage import RADII, VANTAGES, Grove, make_plan
from .variants import Varied, by_variant

if TYPE_CHECKING:
    from ..kernels.rules import Rules

_CLASSES = 64  # of k records: what a neighbourhood holds at most
_RECORDS = 1024  # and at most so many records, as the work grows with their square


@dataclass(frozen=True)
class Rayden(Varied):
    """Cut the table into balls, set the outliers of each part aside, and cut those into classes of their own.

    Parameters
    ----------
    variant : "repaired" or "paper"
        Sets `vantage`, `radius`, `scope`, `chain` and `tree_distance` where they are none: tightest,
        cheapest, neighbourhood, set-based and true, or random, half, part, sorted and false.
    vantage : "random", "farthest", "spread" or "tightest"
        Centre of a ball: a record drawn; the record farthest from one drawn; of several, the one from which
        distances vary most, or the one whose ball and rest cost least. All but the first look at a sample of
        a large part.
    radius : "half", "multiple", "cheapest" or "value"
        Size of a ball: half of the records; about half, but a multiple of k; the multiple of k at which ball
        and rest cost least; or all records not farther than the median, which may leave fewer than k.
    candidates : int
        Records that "spread" and "tightest" choose from.
    scope : "part" or "neighbourhood"
        Where outliers are looked for: in the final parts, or in parts of up to 64 classes (1,024 records at
        most), which outliers leave by multiples of k and which are cut on afterwards.
    alpha : float, optional
        A record is an outlier above mean + alpha * standard deviation of its part; none: no outliers.
    neighbours : int, optional
        Neighbours of the outlier factor; k when none.
    chain : "set-based" or "sorted"
        Path through the neighbours: always on to the one nearest to any record on the path, or from the
        nearest to the farthest.
    unrecovered : "suppress" or "return"
        What becomes of fewer than k outliers: suppressed within the policy's limit, or back to their part.
    tree_distance : bool
        Measure distances in columns with a hierarchy by the cost of the common ancestor, not as 0 or 1.

    Notes
    -----
    Outliers are given back, the least outlying first, until their part keeps the policy without the rest. If
    all outliers together do not keep it, they go back to where they came from.

    References
    ----------
    Haruna, C. R., Asante-Mensah, M. G., Doe, F. S. and Amofa, S. K. (2026): Data privacy and utility
    trade-off: an efficient k-anonymization algorithm with low information loss. IJLTEMAS 15(4).

    Examples
    --------
    >>> Rayden(variant="paper").chosen.vantage
    'random'
    """

    name: ClassVar[str] = "rayden"
    summary: ClassVar[str] = "cuts balls around records and gives outliers classes of their own"
    reference: ClassVar[str] = "Haruna, Asante-Mensah, Doe and Amofa 2026"
    variants: ClassVar[dict[str, dict[str, Any]]] = {
        "repaired": {
            "vantage": "tightest",
            "radius": "cheapest",
            "scope": "neighbourhood",
            "chain": "set-based",
            "tree_distance": True,
        },
        "paper": {
            "vantage": "random",
            "radius": "half",
            "scope": "part",
            "chain": "sorted",
            "tree_distance": False,
        },
    }

    vantage: str | None = by_variant(Choice(VANTAGES), "how the centre of a ball is chosen")
    radius: str | None = by_variant(Choice(RADII), "how large a ball is")
    candidates: int = param(Integer(1, 1024), "centres that are compared", default=16)
    scope: str | None = by_variant(Choice(("part", "neighbourhood")), "where outliers are looked for")
    alpha: float | None = param(
        Optional(Real(0)), "standard deviations above the mean; none: no outliers", default=2.0
    )
    neighbours: int | None = param(
        Optional(Integer(1)), "neighbours of the outlier factor; k when none", default=None
    )
    chain: str | None = by_variant(Choice(CHAINS), "path through the neighbours")
    unrecovered: str = param(
        Choice(("suppress", "return")), "what becomes of fewer than k outliers", default="suppress"
    )
    tree_distance: bool | None = by_variant(Flag(), "measure distances along hierarchies")

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        order = run.rng().permutation(encoded.records)
        grove = Grove.of(encoded, rules, order, by_tree=bool(self.chosen.tree_distance))
        with run.progress.stage("rayden", total=self._passes() * encoded.records) as stage:
            return _Working(self.chosen, grove, order, run, stage).partition()

    def _passes(self) -> int:
        """Return how often every record is looked at: by the tree, for outliers, by the tree once more."""
        if self.alpha is None:
            return 1
        return 3 if self.chosen.scope == "neighbourhood" else 2


class _Working:
    """One run of the algorithm over one table."""

    def __init__(
        self, settings: Rayden, grove: Grove, order: NDArray[np.int64], run: Run, stage: Stage
    ) -> None:
        self.settings, self.grove, self.order, self.run, self.stage = settings, grove, order, run, stage
        k = grove.rules.k
        assert settings.vantage is not None
        assert settings.radius is not None
        self.plan = make_plan(settings.vantage, settings.radius, settings.candidates, k, run)
        self.wide = settings.scope == "neighbourhood" and settings.alpha is not None
        self.outlier = np.zeros(len(order), dtype=np.bool_)
        self.labels = np.full(len(order), -1, dtype=np.int32)

    def partition(self) -> Partition:
        """Cut, set outliers aside, recover them, cut what is left to the end."""
        k = self.plan.k
        stop = max(2 * k, min(_CLASSES * k, _RECORDS)) if self.wide else 2 * k
        rest = self._cut(self.grove, stop)
        if self.settings.alpha is not None:
            rest = self._without_outliers(rest, self.settings.alpha)
        if self.wide:
            rest = self._cut(rest, 2 * k)
        rest.write_labels(self.labels, self.order)
        return Partition.from_labels(self.labels).with_marks({MARK: self.outlier})

    def _cut(self, parts: Grove, stop: int) -> Grove:
        """Cut parts to fewer than `stop` records; none is left under k where there is another to join."""
        cut = parts.grown(self.plan._replace(stop=stop), self.stage)
        return cut.merged() if self.settings.radius == "value" else cut

    def _without_outliers(self, parts: Grove, alpha: float) -> Grove:
        """Return the parts without the outliers that get a class of their own or are suppressed."""
        k = self.plan.k
        assert self.settings.chain is not None
        detection = Detection(self.settings.neighbours or k, self.settings.chain, k if self.wide else 1)
        scores = detection.scores(parts, self.stage)
        leaves = detection.leaving(parts, scores, own_limits(parts, scores, alpha))
        self.outlier[self.order[parts.ids[leaves]]] = True
        recovered, failed = self._recover(parts, leaves)
        back = leaves & ~recovered
        if self.settings.unrecovered == "suppress" and not failed:
            back &= ~suppressed_within(back, scores, int(self.run.suppression * len(self.order)))
        return parts.only(~leaves | back)

    def _recover(self, parts: Grove, leaves: NDArray[np.bool_]) -> tuple[NDArray[np.bool_], bool]:
        """Cut the outliers into classes; return which are in one, and whether k or more failed together."""
        k = self.plan.k
        pool = parts.regrouped(np.zeros(int(leaves.sum()), dtype=np.int64), parts.ids[leaves])
        if not pool.holds_together():
            return np.zeros_like(leaves), len(pool.ids) >= k
        classes = pool.grown(self.plan, self.stage)
        found = classes.only(classes.sizes[classes.part_of()] >= k)
        found.write_labels(self.labels, self.order)
        return np.isin(parts.ids, found.ids), False
