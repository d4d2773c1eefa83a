"""DOP: density clusters first, then every cluster cut at the best of all boundaries."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..errors import ParameterError, PolicyUnsatisfiable
from ..params import Choice, Constraint, Flag, Integer, Optional, Real, Text, param
from ..partitions import SUPPRESSED, Partition
from ..progress import Run
from .base import Algorithm
from .category_order import ORDERS, ordered_codes
from .clusters import (
    NOISE,
    WEIGHTS,
    Clustering,
    Neighbourhood,
    as_eps,
    attach_failing,
    clusters_within,
    coordinates,
    elbow,
    k_distances,
)
from .cutting import Task, cut_clusters, score_of
from .distinct import distinct_rows

if TYPE_CHECKING:
    from ..kernels.rules import Rules

_VARIANTS: dict[str, dict[str, Any]] = {
    "paper": {
        "objective": "lil",
        "weights": "cardinality",
        "noise": "keep",
        "order": "alphabetical",
        "search": False,
    },
    "repaired": {
        "objective": "ncp",
        "weights": "inverse",
        "noise": "join",
        "order": "frequency",
        "search": True,
    },
}
_SHARES = (0.7, 0.9)  # of the records have enough others within the further reaches that are tried


def _by_variant(constraint: Constraint, help: str) -> Any:
    return param(Optional(constraint), f"{help}; as the variant says when none", default=None)


@dataclass(frozen=True)
class Dop(Algorithm):
    """Density-based optimal partitioning: cluster by density, then cut where the loss falls most.

    Parameters
    ----------
    variant : "repaired" or "paper"
        Sets `objective`, `weights`, `noise`, `order` and `search` where they are none: ncp, inverse, join,
        frequency and true, or lil, cardinality, keep, alphabetical and false.
    objective : "ncp" or "lil"
        What the two sides of a cut should add up to least of: the loss of their records in all columns as
        they will be published, or the paper's local information loss, the ranges of the columns of numbers.
    weights : "inverse", "uniform" or "cardinality"
        Weight of a column in the distance: the less, the same or the more, the more values it has.
    noise : "keep", "mask", "split", "join" or "absorb"
        What becomes of records in no cluster: one class if that keeps the policy, else suppressed;
        suppressed; cut like a cluster; put to the nearest cluster, which is then cut; or put to the class of
        the nearest record in a cluster.
    order : "alphabetical", "appearance", "frequency" or "similarity"
        How categories without hierarchy are put in a row.
    clustering : bool
        False leaves the first phase out: the whole table is one cluster.
    search : bool
        Cut the clusters of the elbow, those of two more reaches (within which 70% and 90% of the records have
        `min_samples`) and the whole table, and keep what loses least. Idle when `eps` is given.
    eps : float, optional
        Reach of the density clustering, between 0 and about 1; the elbow of the k-distance curve when none.
    min_samples : int, optional
        Records within reach that make a record dense, itself included; the policy's least class size, or one
        more than there are quasi-identifiers if that is greater, when none.
    target : str, optional
        A sensitive column or quasi-identifier that should stay predictable from the published table.
    target_weight : float
        Share of the score of a cut that is the target's entropy instead of loss.
    parallel : bool
        Use all cores on large tables. The partition is the same.

    Notes
    -----
    A cluster that could not be a class joins the valid one with the nearest centre. Cuts go on as long as a
    boundary is left both sides of which keep the policy; among equally good ones the more even wins, then the
    earlier column and the lower value. Records with equal quasi-identifiers stay together. The mark "noise"
    of the partition tells which records were in no cluster.

    References
    ----------
    Sharma, A., Kumar, N. and Reddy, M. S.: A density-driven anonymization framework for privacy preservation
    and data utility optimization.

    Examples
    --------
    >>> Dop(variant="paper").chosen.noise
    'keep'
    >>> Dop(variant="paper", noise="mask").to_dict()
    {'variant': 'paper', 'noise': 'mask'}
    """

    name: ClassVar[str] = "dop"
    summary: ClassVar[str] = "clusters by density, then tries every cut; low loss and fast"
    reference: ClassVar[str] = "Sharma, Kumar and Reddy"

    variant: str = param(
        Choice(("repaired", "paper")), "what the other choices default to", default="repaired"
    )
    objective: str | None = _by_variant(Choice(("ncp", "lil")), "what cuts make small")
    weights: str | None = _by_variant(Choice(WEIGHTS), "weights of columns in the distance")
    noise: str | None = _by_variant(
        Choice(("keep", "mask", "split", "join", "absorb")), "what becomes of records in no cluster"
    )
    order: str | None = _by_variant(Choice(ORDERS), "order of categories without hierarchy")
    search: bool | None = _by_variant(Flag(), "try several reaches and keep what loses least")
    clustering: bool = param(Flag(), "cluster by density before cutting", default=True)
    eps: float | None = param(
        Optional(Real(0)), "reach of the clustering; read from the table when none", default=None
    )
    min_samples: int | None = param(
        Optional(Integer(1)),
        "records within reach that make one dense; by the policy when none",
        default=None,
    )
    target: str | None = param(Optional(Text()), "column that should stay predictable", default=None)
    target_weight: float = param(Real(0, 1), "share of the target in the score of a cut", default=0.5)
    parallel: bool = param(Flag(), "use all cores on large tables; same partition", default=True)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target is not None and self.chosen.objective == "lil":
            raise ParameterError(
                "'target' of dop goes with the objective 'ncp' only",
                hint="The paper's objective knows no class sizes, so entropy cannot be weighed against it.",
            )

    @property
    def chosen(self) -> Self:
        """The same algorithm with everything the variant decides filled in."""
        open_ones: dict[str, Any] = {
            name: value for name, value in _VARIANTS[self.variant].items() if getattr(self, name) is None
        }
        return replace(self, **open_ones) if open_ones else self

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        return _Working(self.chosen, encoded, rules, run).partition()

    def clusters(self, encoded: Encoded, rules: Rules, run: Run) -> Clustering:
        """Return the clusters of the first reach, before failing ones are attached, and the eps used."""
        working = _Working(self.chosen, encoded, rules, run)
        return working.clusters(working.reaches()[0])


class _Working:
    """One run of the algorithm over one table."""

    def __init__(self, settings: Dop, encoded: Encoded, rules: Rules, run: Run) -> None:
        self.settings, self.encoded, self.rules, self.run = settings, encoded, rules, run
        assert settings.order is not None
        self.codes = ordered_codes(encoded, settings.order)
        self.first, self.row = distinct_rows(encoded)
        self.task = Task(
            encoded=encoded,
            codes=self.codes,
            rules=rules,
            paper=settings.objective == "lil",
            target=settings.target,
            target_weight=settings.target_weight,
            parallel=settings.parallel,
        )

    def partition(self) -> Partition:
        """Return the partition of the reach that loses least; the first among equals."""
        if not self.settings.clustering:
            return Partition.from_labels(self._cut(self._one_cluster()))
        reaches = self.reaches()
        if self.settings.eps is not None or not self.settings.search:
            return self._within(reaches[0])
        whole = Partition.from_labels(self._cut(self._one_cluster()))
        made = [self._within_if_allowed(eps) for eps in reaches]
        tried = [found for found in made if found is not None]
        tried.append(whole.with_marks({"noise": np.zeros(len(self.row), dtype=np.bool_)}))
        return min(tried, key=lambda found: score_of(self.task, found))

    @cached_property
    def at(self) -> NDArray[np.int32]:
        """Where the distinct rows lie."""
        assert self.settings.weights is not None
        return coordinates(self.encoded, self.codes[self.first], self.settings.weights)

    @cached_property
    def near(self) -> Neighbourhood:
        """The distinct rows in space."""
        weight = np.bincount(self.row, minlength=len(self.at))
        return Neighbourhood(self.at, weight, self.settings.parallel)

    @property
    def samples(self) -> int:
        """Records within reach that make one dense."""
        wanted = self.settings.min_samples or max(self.rules.k, self.codes.shape[1] + 1)
        return min(wanted, len(self.row))

    def reaches(self) -> list[float]:
        """Return the reaches to try."""
        if self.settings.eps is not None:
            return [self.settings.eps]
        with self.run.progress.stage("looking for a reach"):
            distances = k_distances(self.near, self.row, self.samples, self.run)
        found = [elbow(distances)]
        if self.settings.search:
            found += [distances[int(share * (len(distances) - 1))] for share in _SHARES]
        return list(dict.fromkeys(map(as_eps, found)))

    def clusters(self, eps: float) -> Clustering:
        """Return the density clusters of one reach."""
        with self.run.progress.stage("clustering by density"):
            return clusters_within(self.near, eps, self.samples)

    def _one_cluster(self) -> NDArray[np.int32]:
        return np.zeros(len(self.first), dtype=np.int32)

    def _within_if_allowed(self, eps: float) -> Partition | None:
        """Return the partition of one reach, None where it would suppress more than the policy allows."""
        try:
            return self._within(eps)
        except PolicyUnsatisfiable:
            return None

    def _within(self, eps: float) -> Partition:
        """Cluster, deal with noise, cut."""
        clustering = self.clusters(eps)
        sensitive = self.encoded.flat_sensitive()
        labels = attach_failing(clustering, self.at, self.row, self.rules, sensitive)
        noise = labels == NOISE
        made = Partition.from_labels(self._classes(clustering, labels, noise))
        return made.with_marks({"noise": noise[self.row]})

    def _classes(
        self, clustering: Clustering, labels: NDArray[np.int32], noise: NDArray[np.bool_]
    ) -> NDArray[np.int64]:
        """Return the class of every record, noise among them as the settings say."""
        rule = self.settings.noise
        if not noise.any():
            return self._cut(labels)
        if rule in ("keep", "mask"):
            return self._apart(self._cut(labels), noise, keep=rule == "keep")
        if noise.all() or (rule == "split" and self._holds(noise)):
            return self._cut(np.where(noise, labels.max() + 1, labels).astype(np.int32))
        rows = np.flatnonzero(noise)
        if rule == "absorb":
            labels = self._by_row(self._cut(labels))
        labels = labels.copy()
        labels[rows] = clustering.neighbourhood.nearest(~noise, labels, rows)
        return labels[self.row].astype(np.int64) if rule == "absorb" else self._cut(labels)

    def _by_row(self, classes: NDArray[np.int64]) -> NDArray[np.int32]:
        """Return the class of every distinct row, numbered by first records."""
        by_row = np.empty(len(self.first), dtype=np.int32)
        by_row[self.row] = Partition.from_labels(classes).labels
        return by_row

    def _cut(self, labels: NDArray[np.int32]) -> NDArray[np.int64]:
        records = int((labels[self.row] >= 0).sum())
        with self.run.progress.stage("cutting", total=records) as stage:
            return cut_clusters(self.task, self.row, labels, stage)

    def _apart(
        self, classes: NDArray[np.int64], noise: NDArray[np.bool_], *, keep: bool
    ) -> NDArray[np.int64]:
        """Return the classes with noise as one of its own, where it may be, else suppressed."""
        lost = noise[self.row]
        if keep and self._holds(noise):
            return np.where(lost, classes.max() + 1, classes)
        share = float(lost.mean())
        if share > self.run.suppression:
            raise PolicyUnsatisfiable(
                f"dop would suppress {share:.1%} of the records as noise (limit {self.run.suppression:.1%})",
                hint="Raise the limit, or let noise join the nearest cluster: noise='join'.",
            )
        return np.where(lost, SUPPRESSED, classes)

    def _holds(self, rows: NDArray[np.bool_]) -> bool:
        """Return whether the records of these distinct rows could be a class."""
        from ..kernels.clusters import keep_promises

        members = np.flatnonzero(rows[self.row])
        offsets = np.array([0, len(members)])
        return bool(keep_promises(self.rules, self.encoded.flat_sensitive(), members, offsets)[0])
