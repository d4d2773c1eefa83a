"""What becomes of a table at a node of the lattice: which groups fall, and what the rest still tells."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..models.statistics import class_statistics
from ..partitions import SUPPRESSED, Partition
from ..progress import Run
from .groups import Groups
from .ladders import Ladders, Node

if TYPE_CHECKING:
    from ..kernels.rules import Rules

POSSIBLE, IMPOSSIBLE, WORSE = "possible", "impossible", "worse"
_KEPT_GROUPS = 1 << 24  # groups of finer nodes that are remembered, over all of them


@dataclass(frozen=True, slots=True)
class Assessment:
    """What was found at a node.

    Attributes
    ----------
    node : Node
    state : "possible", "impossible" or "worse"
        Whether the policy can be kept there within the limit on suppression; worse if the node tells no more
        than would have been useful, so that nobody looked further.
    floor : int, optional
        What the node and every finer one lose at least by suppression; None where none of them is possible.
    suppressed, told : int
        Where it is possible: the records to be suppressed, and what the rest tells.
    """

    node: Node
    state: str
    floor: int | None
    suppressed: int = 0
    told: int = -1

    @property
    def possible(self) -> bool:
        """Whether the node keeps the policy within the limit on suppression."""
        return self.state == POSSIBLE


class Assessor:
    """Assesses nodes of one lattice, each from the groups of a finer one that is still remembered.

    Suppression breaks some monotonicities, so what a node says about finer ones is told apart from what it
    says about itself. Groups of fewer than `rules.k` records fall whatever else is asked for, and the records
    in them only become fewer further up; they are the `floor`. A model whose classes may fail once records
    join them (`Model.lasting` is false), or that compares classes with a table that suppression changes,
    decides about its own node alone, unless nothing may be suppressed and unions of classes keep it.
    """

    def __init__(self, encoded: Encoded, rules: Rules, run: Run, ladders: Ladders) -> None:
        self.encoded, self.rules, self.run, self.ladders = encoded, rules, run, ladders
        n = encoded.records
        self.limit = int(Fraction(repr(float(run.suppression))) * n)
        # More groups than this, and those under k hold more records than may be suppressed.
        self.most = n if rules.k < 2 else int((n + (rules.k - 1) * self.limit) // rules.k)
        self.remembered = [Groups.records(encoded, rules, ladders.low)]

    @property
    def inherited(self) -> bool:
        """Whether what fails at a node fails at every finer one, for its values as for its size."""
        if self.limit == 0:
            return all(model.monotone for model, _ in self.run.promises)
        return all(model.lasting for model, _ in self.run.promises)

    def assess(self, node: Node, least: int = -1) -> Assessment:
        """Return what is found at a node; that it tells no more than `least` suffices where it does not."""
        groups = self._groups(node)
        if groups is None:
            return Assessment(node, IMPOSSIBLE, None)
        large = groups.count >= self.rules.k
        small, floor = self._lost(node, groups, large)
        if self._too_many(small):
            return Assessment(node, IMPOSSIBLE, None)
        everything = self.ladders.told_at(node)
        if everything - floor <= least:
            return Assessment(node, WORSE, floor)
        lost = floor
        if groups.values is not None:
            small, lost = self._lost(node, groups, groups.keeping(self.rules))
            floor = lost if self.inherited else floor
            if self._too_many(small):
                return Assessment(node, IMPOSSIBLE, None if self.inherited else floor)
            if everything - lost <= least:
                return Assessment(node, WORSE, floor)
        if not self._settled(small):
            return self._settle(node, floor)
        return Assessment(node, POSSIBLE, floor, small, everything - lost)

    def partition(self, node: Node) -> Partition:
        """Return the partition of a node, with every class suppressed that breaks a promise."""
        rolled = self.remembered[0].rolled_up(self.ladders, node, self.rules, self.encoded.records)
        assert rolled is not None
        labels = rolled[1]
        partition = Partition.from_labels(labels).with_levels(node, uniform=True)
        while partition.classes and not self._too_many(partition.suppressed):
            failing = self._failing(partition)
            if not failing.any():
                break
            labels = partition.labels.copy()
            labels[(labels >= 0) & failing[labels]] = SUPPRESSED
            partition = partition.relabelled(labels)
        return partition

    def _groups(self, node: Node) -> Groups | None:
        """Return the groups of a node, None where there are too many of them to be large enough."""
        at = np.array(node, dtype=np.int8)
        finer = min((groups for groups in self.remembered if (groups.node <= at).all()), key=len)
        rolled = finer.rolled_up(self.ladders, node, self.rules, self.most)
        if rolled is None:
            return None
        self._remember(rolled[0])
        return rolled[0]

    def _remember(self, groups: Groups) -> None:
        self.remembered.append(groups)
        while sum(map(len, self.remembered[1:])) > _KEPT_GROUPS:
            del self.remembered[1]

    def _settled(self, suppressed: int) -> bool:
        """Whether the rules have said all there is to say about a node with so many records suppressed."""
        models = [model for model, _ in self.run.promises]
        if not all(model.by_rules for model in models):
            return False
        return suppressed == 0 or all(model.lasting for model in models)

    def _settle(self, node: Node, floor: int | None) -> Assessment:
        """Return what is found at a node by the models themselves, on the table that is left."""
        made = self.partition(node)
        if self._too_many(made.suppressed):
            return Assessment(node, IMPOSSIBLE, floor)
        everyone = self.remembered[0]
        _, lost = self._lost(node, everyone, made.labels >= 0)
        return Assessment(node, POSSIBLE, floor, made.suppressed, self.ladders.told_at(node) - lost)

    def _lost(self, node: Node, groups: Groups, kept: NDArray[np.bool_]) -> tuple[int, int]:
        """Return how many records are in the groups that are not kept, and what their cells would tell."""
        from ..kernels.roll_up import told_by

        at = self.ladders.keys(node).at
        records, told = told_by(self.ladders.kernel, at, groups.member, groups.count, kept)
        return int(records), int(told)

    def _too_many(self, suppressed: int) -> bool:
        return suppressed > self.limit or suppressed == self.encoded.records

    def _failing(self, partition: Partition) -> NDArray[np.bool_]:
        if not self.run.promises:
            return np.asarray(partition.sizes < self.rules.k)
        statistics = class_statistics(self.encoded, partition)
        failing = np.zeros(partition.classes, dtype=bool)
        for model, name in self.run.promises:
            failing |= ~model.holds(statistics, -1 if name is None else self.encoded.sensitive_index(name))
        return failing
