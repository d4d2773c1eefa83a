"""auto: tries the algorithms that the table affords, keeps the one that loses least, and refines it."""

from __future__ import annotations

import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..embedding import Embedding
from ..encoding import Encoded
from ..enforce import enforce_levels
from ..errors import PolicyUnsatisfiable
from ..metrics.hulls import Hulls
from ..one_column import only_column
from ..params import Integer, Optional, Real, param
from ..partitions import Partition
from ..progress import Run
from ..refine import Refine, refined
from ..schema import Form
from .base import Algorithm
from .distinct import distinct_rows
from .dop import Dop
from .k_member import KMember
from .ladders import Ladders
from .local import Local
from .mdav import Mdav
from .mondrian import Mondrian
from .optimal_1d import OptimalOneDimensional

if TYPE_CHECKING:
    from ..kernels.rules import Rules
    from ..policy import Policy

_BUDGET = 10.0  # seconds, of k-member and of refining
_SECONDS = 3e-10  # per record, column and distinct row to the power of _GROWTH; measured by bench/core.py
_GROWTH = 0.7
_SMALL = 200  # records; below, compiling more than mondrian and k-member takes longer than it is worth
_MODERATE = 20_000  # records; up to here refining makes up for a start that was not tried, and compiles less
_CUT_CELLS = 1_000_000  # up to which dop looks for the best clusters too, in a few seconds; by bench/dop.py
_MANY_CELLS = 10_000_000  # up to which it tries every cut of one clustering
_NODES = 100_000  # of a lattice that local walks through
_SQUARED = 30_000  # records up to which mdav, whose time grows with their square, is tried
_LARGE = 2_000_000  # records; above, refining is for those who ask for it
_ROWS = 250_000  # different rows; above, finding near ones alone takes longer than the budget
_EFFORT = (
    2.5e-7  # seconds that a move takes for each record of a class of k and column; on Adult, k = 5 to 20
)
# Seconds that a move takes, for each record of a class, to look for records with which promises hold, where
# they ask for classes larger than k; measured on the demo's patients and on Adult with t-closeness.
_SEARCH = 4e-5
_LARGER = 1.1  # times k: classes are larger because of promises
_MOVES = 40  # a record, at most

_MEANS = (Form.MEAN, Form.CENTROID)


def expected_seconds(records: int, rows: int, columns: int) -> float:
    """Return a rough forecast of how long k-member takes on one core.

    Examples
    --------
    >>> round(expected_seconds(1_000_000, 59_000, 8))
    5
    """
    return float(_SECONDS * records * columns * rows**_GROWTH)


@dataclass(frozen=True)
class Auto(Algorithm):
    """Try what the table affords, keep what loses least, and refine it.

    What is tried depends on the number of records, columns and different rows, on the kinds of the columns
    and on the policy, never on the clock, unless `seconds` is given. Each start is repaired until it keeps
    the policy before its loss is taken: what is compared is what would be published. The loss is `gcp`, each
    column by its weight; where all columns are numbers published as means, the squared error. What was tried
    and why one was chosen becomes part of the evidence.

    Parameters
    ----------
    seconds : float, optional
        Starts and refinement together, by the clock: a start that is under way is finished. The same table
        and seed then need not give the same release.
    moves : int, optional
        Of the refinement; 0 leaves it out. Without either, at most 40 a record, and no more than should take
        ten seconds; none in tables of less than 200 records, of more than two million, or of more than
        250,000 different rows.

    Examples
    --------
    >>> Auto(seconds=5).to_dict()
    {'seconds': 5.0}
    """

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "tries what the table affords, keeps what loses least, and refines it"
    packed: ClassVar[bool] = True

    seconds: float | None = param(
        Optional(Real(0, open_low=True)), "for starts and refinement together, by the clock", default=None
    )
    moves: int | None = param(
        Optional(Integer(0)), "of the refinement; as many as take about ten seconds when none", default=None
    )

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        if run.policy is None:
            return self.choose(encoded).partition(encoded, rules, run)
        trial = _Trial(encoded, rules, run, run.policy)
        starts = self.starts(encoded)
        for start in starts:
            if trial.proved:
                break
            if self.seconds is None or trial.best is None or trial.seconds < self.seconds:
                trial.attempt(start)
        if trial.best is None and all(start.name != "mondrian" for start in starts):
            trial.attempt(Mondrian())
        if trial.best is None:
            assert trial.refusal is not None
            raise trial.refusal
        refine = None if run.refining or trial.proved else self._refine(encoded, trial)
        if refine is not None:
            trial.refine(refine)
        run.notes["auto"] = trial.told()
        return trial.best

    def choose(self, encoded: Encoded) -> Algorithm:
        """Return the one algorithm for a part of a table, whose losses cannot be compared."""
        return KMember() if self._affords_k_member(encoded) else Mondrian()

    def starts(self, encoded: Encoded) -> list[Algorithm]:
        """Return what is worth trying on a table, the cheapest first."""
        n, q = encoded.records, len(encoded.quasi)
        found: list[Algorithm] = []
        means = means_of_numbers(encoded)
        if _one_column(encoded):
            found.append(OptimalOneDimensional(loss="sse" if means else "gcp"))
        limited = any(column.highest < column.top for column in encoded.quasi)
        affords = self._affords_k_member(encoded)
        if affords and not limited and _SMALL <= n <= _MODERATE:
            return [*found, Mdav() if means else KMember()]
        found.append(Mondrian())
        if means and n <= _SQUARED:
            found.append(Mdav())
        if n >= _SMALL and n * q <= _MANY_CELLS:
            found.append(Dop(search=None if n * q <= _CUT_CELLS else False, parallel=False))
        treed = any(column.tree is not None for column in encoded.quasi)
        if limited or (treed and n >= _SMALL and Ladders.of(encoded, "leaves").size <= _NODES):
            found.append(Local())
        if affords:
            found.append(KMember())
        return found

    def _affords_k_member(self, encoded: Encoded) -> bool:
        n, q = encoded.records, len(encoded.quasi)
        budget = _BUDGET if self.seconds is None else self.seconds
        if expected_seconds(n, n, q) <= budget:
            return True
        return expected_seconds(n, len(distinct_rows(encoded)[0]), q) <= budget

    def _refine(self, encoded: Encoded, trial: _Trial) -> Refine | None:
        """Return how to refine the best start, None for not at all."""
        left = None if self.seconds is None else self.seconds - trial.seconds
        moves = self.moves
        if left is None and moves is None:
            n, q = encoded.records, len(encoded.quasi)
            if not _SMALL <= n <= _LARGE or (n > _ROWS and len(distinct_rows(encoded)[0]) > _ROWS):
                return None
            moves = min(_MOVES * n, int(_BUDGET / _effort(trial.rules, trial.size, q)))
        if moves == 0 or (left is not None and left <= 0):
            return None
        return Refine(loss=trial.measure, seconds=left, moves=moves)


def _effort(rules: Rules, size: float, columns: int) -> float:
    """Return about how many seconds a move takes on one core, where classes have `size` records."""
    k = max(rules.k, 2)
    size = max(size, k)
    effort = _EFFORT * size * size / k * columns
    if rules.plain:
        return effort
    return 2 * effort + (_SEARCH * size if size > _LARGER * k else 0.0)


def _one_column(encoded: Encoded) -> bool:
    """Return whether one column is left whose least loss is known to be found, or an order to cut."""
    only = only_column(encoded)
    if only is None:
        return False
    column = encoded.quasi[only]
    return column.numbers is not None or column.tree is not None or column.size <= 2


def means_of_numbers(encoded: Encoded) -> bool:
    """Return whether all quasi-identifiers are numbers published as one number for the class."""
    return all(column.spec.form in _MEANS and column.numbers is not None for column in encoded.quasi)


@dataclass
class _Trial:
    """What was tried on a table, and the best of it so far."""

    encoded: Encoded
    rules: Rules
    run: Run
    policy: Policy
    best: Partition | None = None
    loss: float = np.inf
    size: float = np.inf  # mean number of records in a class, where that was least
    chosen: str = ""
    proved: bool = False
    refusal: PolicyUnsatisfiable | None = None
    refinement: dict[str, Any] | None = None
    tried: list[dict[str, Any]] = field(default_factory=list)
    began: float = field(default_factory=time.monotonic)

    @property
    def seconds(self) -> float:
        """Time since the first start."""
        return time.monotonic() - self.began

    @property
    def measure(self) -> str:
        """The loss that decides, by its name."""
        return "sse" if means_of_numbers(self.encoded) else "gcp"

    def attempt(self, start: Algorithm) -> None:
        """Try an algorithm, repair what it made, and keep it if nothing before lost as little."""
        before = self.seconds
        own = replace(self.run, notes={})
        told: dict[str, Any] = {"algorithm": start.name}
        try:
            first = start.partition(self.encoded, self.rules, own)
            made = enforce_levels(first, self.encoded, self.policy, own)
        except PolicyUnsatisfiable as refusal:
            self.refusal = self.refusal or refusal
            told["loss"] = None
        else:
            told["loss"] = loss = loss_of(made, self.encoded, self.measure)
            self.size = min(self.size, self.encoded.records / max(made.classes, 1))
            if self.best is None or loss < self.loss:
                self.best, self.loss, self.chosen = made, loss, start.name
            if own.notes.get("proved") == self.measure and self._asks_for_k_alone():
                self.proved = np.array_equal(first.labels, made.labels)
        self.tried.append({**told, "seconds": round(self.seconds - before, 2)})

    def _asks_for_k_alone(self) -> bool:
        """Return whether nothing but k-anonymity is promised and nothing may be suppressed."""
        models = {model.name for model in self.policy.models}
        return models == {"k-anonymity"} and self.policy.suppression == 0

    def refine(self, refine: Refine) -> None:
        """Refine the best start."""
        assert self.best is not None
        before, own = self.seconds, replace(self.run, notes={})
        found = refined(self.best, self.encoded, self.policy, own, refine)
        loss = loss_of(found, self.encoded, self.measure)
        if loss <= self.loss:
            self.best, self.loss = found, loss
        told = own.notes["refinement"]
        spent = round(self.seconds - before, 2)
        how = {"moves": told["moves"], "ended": told["ended"]}
        self.refinement = {**how, "loss": self.loss, "seconds": spent}

    def told(self) -> dict[str, Any]:
        """Return what was tried and why one was chosen, as plain values."""
        kept = sum(one["loss"] is not None for one in self.tried)
        why = f"least {self.measure} of {kept} that keep the policy, {len(self.tried)} tried"
        if self.proved:
            why = f"it is proved that no partition has less {self.measure}"
        return {
            "measure": self.measure,
            "tried": self.tried,
            "chosen": self.chosen,
            "because": why,
            "refinement": self.refinement,
        }


def loss_of(partition: Partition, encoded: Encoded, measure: str) -> float:
    """Return the mean loss of a partition's cells, each column by its weight, or its share of squared error.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi={"age": "numeric"}, models=[shoal.KAnonymity(2)])
    >>> encoded = shoal.encode({"age": [20, 30, 40, 60]}, policy)
    >>> classes = shoal.Partition.from_labels([0, 0, 1, 1])
    >>> loss_of(classes, encoded, "gcp"), round(loss_of(classes, encoded, "sse"), 4)
    (0.375, 0.2857)
    """
    if measure == "sse":
        return _squared_error(partition, encoded)
    by_class = partition.sizes @ Hulls.of(encoded, partition).loss()
    weights = np.array([column.spec.weight for column in encoded.quasi])
    total = weights.sum() * max(encoded.records, 1)
    if total <= 0:
        return 0.0
    return float(((by_class + partition.suppressed) * weights).sum() / total)


def _squared_error(partition: Partition, encoded: Encoded) -> float:
    """Return the squared error of class means over that of the table's mean, who is suppressed in full."""
    points = Embedding.of(encoded).points
    around = points - points.mean(axis=1, keepdims=True)
    total = float((around**2).sum())
    if total == 0:
        return partition.suppressed / encoded.records
    kept = partition.labels >= 0
    labels, error = partition.labels[kept], 0.0
    for coordinate in around[:, kept]:
        means = np.bincount(labels, coordinate, partition.classes) / np.maximum(partition.sizes, 1)
        error += float(((coordinate - means[labels]) ** 2).sum())
    return error / total + partition.suppressed / encoded.records
