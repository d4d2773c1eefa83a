"""enforce: the only repairer. It merges or suppresses failing classes until every promise holds.

A failing class is merged with the class whose union costs least among those that make it hold, or suppressed
where that is cheaper and the policy's limit allows. What merging cannot repair is suppressed. When neither
can do it, `PolicyUnsatisfiable` says by how much and what would help.
"""

from __future__ import annotations

import contextlib
from dataclasses import dataclass
from enum import Enum, auto

import numpy as np
from numpy.typing import NDArray

from .encoding import Encoded
from .errors import PolicyUnsatisfiable
from .kernels.merging import Hull, absorb, cheapest_unions, make_hull
from .kernels.rules import Rules
from .kernels.space import Space
from .kernels.stats import Stats, class_ok, make_stats
from .levels import at_least, check_most
from .models.base import Model
from .models.statistics import ClassStatistics, class_statistics
from .partitions import SUPPRESSED, Partition
from .policy import Policy
from .progress import Run

CANDIDATES = 32  # cheapest unions that are tried for one that holds, before the very cheapest is taken


class Way(Enum):
    """How failing classes are repaired."""

    TRADE = auto()  # merged, or suppressed where that costs less and the limit allows
    MERGE = auto()  # merged
    SUPPRESS = auto()  # suppressed where a model that is not monotone fails, else merged


@dataclass(frozen=True, slots=True, eq=False)
class Failure:
    """The classes that break one promise."""

    model: Model
    column: str | None
    failing: NDArray[np.bool_]

    def __str__(self) -> str:
        return str(self.model) if self.column is None else f"{self.model} for {self.column!r}"


def failures(statistics: ClassStatistics, policy: Policy) -> list[Failure]:
    """Return, for every broken promise, which classes break it."""
    found = []
    for model, column in policy.promises():
        index = -1 if column is None else statistics.encoded.sensitive_index(column)
        failing = ~model.holds(statistics, index)
        if failing.any():
            found.append(Failure(model, column, failing))
    return found


def enforce(partition: Partition, encoded: Encoded, policy: Policy, run: Run) -> Partition:
    """Return a partition whose every class keeps the policy, changed as little as possible.

    Raises
    ------
    PolicyUnsatisfiable
        When merging cannot repair the classes and suppressing them would pass the limit.
    """
    _check_limit(partition, policy)
    if not all(model.monotone for model in policy.models):
        # Classes with the same cells are one class to every reader; for a model that is not monotone, their
        # union may fail where each holds.
        partition = unite_equal_cells(partition, encoded)
    with run.progress.stage("enforcing the policy"):
        *first, last = [Way.SUPPRESS] if partition.uniform else _ways(policy)
        for way in first:
            with contextlib.suppress(PolicyUnsatisfiable):
                return _settle(partition, encoded, policy, way)
        return _settle(partition, encoded, policy, last)


def enforce_levels(partition: Partition, encoded: Encoded, policy: Policy, run: Run) -> Partition:
    """Return a partition that also keeps to the levels of hierarchies that the policy asks for.

    Raises
    ------
    PolicyUnsatisfiable
        As `enforce`, and when a class generalises a column further than the policy allows.
    """
    repaired = enforce(at_least(partition, encoded), encoded, policy, run)
    check_most(repaired, encoded)
    return repaired


def _ways(policy: Policy) -> list[Way]:
    """Return the ways worth trying, the best first.

    Suppressing what is dear to merge can leave too little to merge with, and merging need not repair a model
    that is not monotone; so each way may end in a refusal where the next does not.
    """
    ways = [Way.MERGE]
    if policy.suppression > 0:
        ways.insert(0, Way.TRADE)
        if not all(model.monotone for model in policy.models):
            ways.append(Way.SUPPRESS)
    return ways


def _settle(partition: Partition, encoded: Encoded, policy: Policy, way: Way) -> Partition:
    """Repair round by round until every promise holds."""
    while True:
        broken = failures(class_statistics(encoded, partition), policy)
        if not broken:
            return partition
        partition = _repair(partition, encoded, policy, broken, way)
        _check_limit(partition, policy, broken)


def _repair(
    partition: Partition, encoded: Encoded, policy: Policy, broken: list[Failure], way: Way
) -> Partition:
    """Return the partition after one round: fewer classes or more suppressed records than before."""
    hopeless = [
        failure.failing
        for failure in broken
        if partition.classes == 1 or partition.uniform or (way is Way.SUPPRESS and not failure.model.monotone)
    ]
    if hopeless:
        return _suppress(partition, np.logical_or.reduce(hopeless))
    failing = np.logical_or.reduce([failure.failing for failure in broken])
    trade = way is Way.TRADE
    merger = _Merger(partition, encoded, policy.compile(encoded, partition.labels >= 0))
    allowance = int(policy.suppression * partition.records) - partition.suppressed if trade else 0
    merger.run(np.flatnonzero(failing), allowance)
    return partition.relabelled(merger.labels())


def merge_until_kept(partition: Partition, encoded: Encoded, rules: Rules) -> Partition:
    """Return the partition with failing classes merged until all keep the rules, or one class is left.

    For a part of a table whose rules are those of the whole, which the models themselves cannot judge.
    """
    sensitive = encoded.flat_sensitive()
    stats = make_stats(rules)
    while partition.classes > 1:
        kept = [class_ok(rules, sensitive, partition.members(c), stats) for c in range(partition.classes)]
        failing = np.flatnonzero(~np.array(kept, dtype=bool))
        if not len(failing):
            return partition
        merger = _Merger(partition, encoded, rules)
        merger.run(failing, 0)
        partition = partition.relabelled(merger.labels())
    return partition


def unite_equal_cells(partition: Partition, encoded: Encoded) -> Partition:
    """Return the partition in which classes that cover the same values in every column are one."""
    space = encoded.space()
    codes = np.ascontiguousarray(encoded.codes.T)
    hull: Hull = make_hull(space, codes, partition.order, partition.offsets)
    cells = []
    for j, column in enumerate(encoded.quasi):
        low, high = hull.low[j], hull.high[j]
        state = np.where(hull.nulls[j] == 0, 0, np.where(hull.nulls[j] == hull.size, 1, 2))
        if column.starred(partition.level(j)):
            state[:] = 2
        if column.tree is not None:
            filled = high >= 0
            low, high = low.copy(), high.copy()
            least = partition.level(j)
            low[filled] = high[filled] = column.tree.common_ancestors(low[filled], high[filled], least)
        # Null beside values is published as "*", whatever the values are.
        covered = np.stack([low, high, *hull.bits[hull.word[j] : hull.word[j + 1]].view(np.int64)])
        cells.append(np.vstack([state, np.where(state == 2, -1, covered)]))
    _, union = np.unique(np.concatenate(cells), axis=1, return_inverse=True)
    return partition.relabelled(np.where(partition.labels < 0, SUPPRESSED, union.ravel()[partition.labels]))


def _suppress(partition: Partition, classes: NDArray[np.bool_]) -> Partition:
    labels = partition.labels.copy()
    labels[(labels >= 0) & classes[labels]] = SUPPRESSED
    return partition.relabelled(labels)


class _Merger:
    """One round of merging and suppressing over the classes of a partition."""

    def __init__(self, partition: Partition, encoded: Encoded, rules: Rules) -> None:
        self.partition = partition
        self.rules = rules
        self.space: Space = encoded.space()
        self.sensitive = encoded.flat_sensitive()
        codes = np.ascontiguousarray(encoded.codes.T)
        self.hull: Hull = make_hull(self.space, codes, partition.order, partition.offsets)
        self.stats: Stats = make_stats(rules)
        self.members = [partition.members(c) for c in range(partition.classes)]
        self.suppressed: list[int] = []

    def run(self, failing: NDArray[np.int64], allowance: int) -> None:
        """Repair the failing classes, the smallest first, suppressing at most `allowance` records."""
        full = int(self.space.full.sum())
        for a in failing[np.argsort(self.hull.size[failing], kind="stable")]:
            while self.hull.size[a] > 0:
                near, increases = cheapest_unions(self.space, self.hull, a, CANDIDATES)
                best = self._choose(a, near)
                loss_of_dropping = self.hull.size[a] * (full - self.hull.cost[a])
                if self.hull.size[a] <= allowance and (best < 0 or increases[best] > loss_of_dropping):
                    allowance -= int(self.hull.size[a])
                    self._drop(a)
                    break
                if best < 0:
                    break
                self._merge(a, int(near[best]))
                if class_ok(self.rules, self.sensitive, self.members[a], self.stats):
                    break

    def _choose(self, a: int, near: NDArray[np.int64]) -> int:
        """Return which of the cheapest unions to make: the first that holds, else the first; -1 for none."""
        for place, b in enumerate(near):
            together = np.concatenate([self.members[a], self.members[b]])
            if class_ok(self.rules, self.sensitive, together, self.stats):
                return place
        return 0 if len(near) else -1

    def _merge(self, a: int, b: int) -> None:
        absorb(self.space, self.hull, a, b)
        self.members[a] = np.concatenate([self.members[a], self.members[b]])
        self.members[b] = self.members[b][:0]

    def _drop(self, a: int) -> None:
        self.suppressed.append(a)
        self.hull.size[a] = 0

    def labels(self) -> NDArray[np.int32]:
        """Return the class of every record after the round."""
        labels = np.full(self.partition.records, SUPPRESSED, dtype=np.int32)
        for c, members in enumerate(self.members):
            labels[members] = c
        for c in self.suppressed:
            labels[self.members[c]] = SUPPRESSED
        return labels


def _check_limit(partition: Partition, policy: Policy, broken: list[Failure] | None = None) -> None:
    """Raise when more records are suppressed than the policy allows, or none would be left."""
    n = partition.records
    if partition.suppressed <= policy.suppression * n and partition.classes > 0:
        return
    if broken:
        worst = max(broken, key=lambda failure: int(failure.failing.sum()))
        cause = f"{int(worst.failing.sum())} of {len(worst.failing)} classes fail {worst}"
    else:
        cause = "the algorithm left records without a class"
    raise PolicyUnsatisfiable(
        f"{cause}; suppressing them would take {partition.suppressed / n:.1%} of the records "
        f"(limit {policy.suppression:.1%})",
        hint="Raise the limit, weaken that promise, or drop a column from the quasi-identifiers.",
    )
