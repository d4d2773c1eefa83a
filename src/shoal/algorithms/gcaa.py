"""GCAA: clusters alike in their quasi-identifiers and mixed in their sensitive values, then adjusted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..binary_view import BinaryView
from ..encoding import Encoded
from ..params import Flag, Integer, Optional, Real, param
from ..partitions import Partition
from ..progress import Run
from .adjustment import Adjustment, make_scene
from .variants import Varied, by_variant

if TYPE_CHECKING:
    from ..kernels.bottleneck import Information, Merging, Scene
    from ..kernels.rules import Rules

_STEPS = 2000  # merges and searches between two looks at Ctrl-C


@dataclass(frozen=True)
class Gcaa(Varied):
    """Merge the two clusters that lose least information, then move records until every class is good.

    What a merge loses is the information about the quasi-identifiers less that about the sensitive values, so
    that clusters come out alike in the former and mixed in the latter. A cluster of k records is finished.

    Parameters
    ----------
    variant : "repaired" or "paper"
        "paper" follows Algorithms 1 to 3 to the letter as far as they end; see the reference for the list.
    beta : int, optional
        Records that a cluster may have beyond k; half of k when none.
    gamma : float, optional
        Merging ends before a merge of two clusters whose quasi-identifiers are farther apart than this, from
        0 to 1; never when none. In the paper's variant, before a merge that loses so many bits more than the
        last one: 0.5, which no merge reaches.
    diversity : float
        Weight of the sensitive values in what a merge loses.
    bins : int, optional
        Bins of a column of numbers; 0: every number is a value for itself.
    swap : bool, optional
        Whether a class that breaks a promise may swap records with others where joining one costs more.

    References
    ----------
    Ahmadi Khatir, R., Izadkhah, H. and Razmara, J. (2023): Designing a novel approach using a greedy and
    information-theoretic clustering-based algorithm for anonymizing microdata sets. Entropy 25(12), 1613.

    Examples
    --------
    >>> import shoal
    >>> table = {"job": ["cook", "cook", "smith", "smith"], "ill": ["flu", "cold", "flu", "cold"]}
    >>> policy = shoal.Policy(quasi=["job"], sensitive=["ill"], models=[shoal.KAnonymity(2)])
    >>> shoal.partition(shoal.encode(table, policy), policy, algorithm="gcaa").labels.tolist()
    [0, 0, 1, 1]
    """

    name: ClassVar[str] = "gcaa"
    summary: ClassVar[str] = (
        "clusters of like people with unlike secrets, by information; made for t-closeness"
    )
    reference: ClassVar[str] = "Ahmadi Khatir, Izadkhah and Razmara 2023"
    block: ClassVar[int | None] = 10_000
    variants: ClassVar[dict[str, dict[str, Any]]] = {
        "repaired": {"gamma": None, "bins": 16, "swap": True},
        "paper": {"gamma": 0.5, "bins": 0, "swap": False},
    }

    beta: int | None = param(
        Optional(Integer(0)), "records a cluster may have beyond k; half of k when none", default=None
    )
    gamma: float | None = by_variant(Real(0), "divergence above which merging ends")
    diversity: float = param(Real(0), "weight of the sensitive values", default=1.0)
    bins: int | None = by_variant(Integer(0), "bins of a column of numbers; 0: every number for itself")
    swap: bool | None = by_variant(Flag(), "swap records where joining another class costs more")

    @property
    def literal(self) -> bool:
        """Whether the paper is followed to the letter."""
        return self.variant == "paper"

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        n = encoded.records
        if n < 2 * rules.k:
            return Partition.single(n)
        chosen = self.chosen
        scene = make_scene(encoded, rules)
        view = BinaryView.of_quasi(
            encoded, rows="record" if self.literal else "column", bins=chosen.bins or 0
        )
        labels = chosen.merge(view, encoded, scene, run)
        with run.progress.stage("adjusting the classes"):
            adjustment = Adjustment(view, scene, labels, run, literal=self.literal)
            adjustment.dissolve_small()
            adjustment.settle_failing(swap=bool(chosen.swap))
            adjustment.place_waiting()
            return Partition.from_labels(adjustment.labels())

    def merge(self, view: BinaryView, encoded: Encoded, scene: Scene, run: Run) -> NDArray[np.int64]:
        """Return the cluster of every record after the first phase, numbered from 0."""
        from ..kernels.bottleneck import DONE, agglomerate, make_clusters
        from ..kernels.sparse import make_rows

        n = encoded.records
        merging = self._merging(scene)
        sensitive = BinaryView.of_sensitive(encoded, bins=self.bins or 0, nested=not self.literal)
        information = self._information(view, sensitive, scene, merging.most)
        both = _side_by_side(view, sensitive)
        rows = make_rows(*both)
        clusters = make_clusters(n, scene, merging)
        room = np.zeros(view.features + sensitive.features, dtype=np.int32)
        with run.progress.stage("merging clusters", total=n) as stage:
            finished, state = 0, None
            while state != DONE:
                state = agglomerate(rows, clusters, information, merging, scene, room, _STEPS)
                now = n if state == DONE else n - int(clusters.open.sum())
                stage.advance(now - finished)
                finished = now
        labels = np.empty(n, dtype=np.int64)
        for number, first in enumerate(np.flatnonzero(clusters.size > 0)):
            member = first
            while member >= 0:
                labels[member] = number
                member = clusters.next[member]
        return labels

    def _merging(self, scene: Scene) -> Merging:
        from ..kernels.bottleneck import Merging

        rules = scene.rules
        closeness = np.concatenate([rules.t_equal, rules.t_ordered, rules.t_tree])
        beta = rules.k // 2 if self.beta is None else self.beta
        return Merging(
            k=rules.k,
            most=rules.k + beta,
            guarded=bool(len(closeness)) if self.literal else bool(np.isfinite(closeness).any()),
            strict=self.literal,
            gamma=np.inf if self.gamma is None else float(self.gamma),
            literal=self.literal,
        )

    def _information(self, view: BinaryView, sensitive: BinaryView, scene: Scene, most: int) -> Information:
        from ..kernels.bottleneck import Information

        promised = self.literal or promises_values(scene.rules)
        weight = self.diversity if promised and sensitive.features else 0.0
        return Information(
            quasi=_phi(view.total, most, 1.0),
            sensitive=_phi(max(sensitive.total, 1), most, weight),
            features=view.features,
            mass=view.total,
            sensitive_mass=sensitive.total,
        )


def promises_values(rules: Rules) -> bool:
    """Return whether anything is promised about sensitive values, beside the size of classes."""
    asked = np.isfinite(np.concatenate([rules.t_equal, rules.t_ordered, rules.t_tree])).any()
    mixed = (rules.min_distinct > 1).any() or (rules.min_entropy > 0).any() or (rules.recursive_l > 0).any()
    return bool(asked or mixed or rules.bounded.any())


def _phi(total: int, most: int, weight: float) -> NDArray[np.int64]:
    """Return (a / total) log2 a in whole units for every amount up to the mass of `most` records."""
    from ..kernels.bottleneck import UNIT

    amounts = np.arange(total * most + 1)
    amounts[0] = 1
    return np.rint(weight * UNIT * amounts / total * np.log2(amounts)).astype(np.int64)


def _side_by_side(
    view: BinaryView, sensitive: BinaryView
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int32]]:
    """Return offsets, features and masses of both views, those of sensitive values after the others."""
    n = len(view.offsets) - 1
    record = np.repeat(np.arange(n), np.diff(view.offsets))
    other = np.repeat(np.arange(n), np.diff(sensitive.offsets))
    order = np.argsort(np.concatenate([record, other]), kind="stable")
    feature = np.concatenate([view.feature, sensitive.feature + np.int32(view.features)])[order]
    mass = np.concatenate([view.mass, sensitive.mass])[order]
    return view.offsets + sensitive.offsets, feature, mass
