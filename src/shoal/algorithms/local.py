"""Local recoding over a lattice: what stands out at one combination of levels is generalised further."""

from __future__ import annotations

import contextlib
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..params import Choice, Flag, Integer, Optional, Real, param
from ..partitions import SUPPRESSED, Partition
from ..progress import Run, Stage, interruptible
from .base import Algorithm
from .groups import Groups
from .ladders import LOSSES, Ladders, Node
from .lattice_search import MOST_NODES, Search, WholeLattice
from .nodes import Assessor

if TYPE_CHECKING:
    from ..kernels.rules import Rules

_ROUND = 0.99  # of the records that are left, one node may leave as many as this


@dataclass(frozen=True)
class Local(Algorithm):
    """Generalise every record only as far as it takes to find others like it.

    The combinations of levels are taken in the order of their loss, the least first. Records that form groups
    at one of them which keep the policy become classes; the others go on to the next. Whoever is left at the
    end joins the nearest class, or is suppressed where that costs less and the policy's limit allows. A
    lattice of more than four million nodes is not walked through: for the records that are left, the node at
    which most is told is searched, as `lattice` does, again and again.

    In columns with a hierarchy every cell is one of its nodes: the lowest that holds all of its class.
    Columns without one are published as elsewhere, as intervals and value sets.

    Parameters
    ----------
    loss : "leaves", "height", "levels" or "entropy"
        Decides the order of the nodes; see `lattice`.
    leave : bool
        Stop as soon as what is left may be suppressed, and suppress it.
    seconds : float, optional
        After this time whoever is left goes to the root. Ctrl-C does the same at once.
    tries : int
        Descents for each search in a lattice too large to be walked through.

    References
    ----------
    Prasser, Bild, Eicher, Spengler and Kuhn (2017): Lightning. The idea of repeated optimisation is that of
    ARX, which searches the lattice anew for every set of records that is left.

    Examples
    --------
    >>> import shoal
    >>> age = shoal.Hierarchy.intervals(widths=[10, 20])
    >>> release = shoal.anonymize({"age": [21, 21, 34, 38]}, quasi={"age": age}, k=2, algorithm="local")
    >>> release.table["age"]
    ['21', '21', '[30, 39]', '[30, 39]']
    """

    name: ClassVar[str] = "local"
    summary: ClassVar[str] = "nodes of hierarchies, each record only as far up as it takes; fast, low loss"
    reference: ClassVar[str] = "after Prasser et al. 2017 (ARX)"

    loss: str = param(Choice(LOSSES), "what decides the order of the levels", default="leaves")
    leave: bool = param(Flag(), "stop when what is left may be suppressed", default=False)
    seconds: float | None = param(
        Optional(Real(0, open_low=True)), "whoever is left after this time goes to the root", default=None
    )
    tries: int = param(Integer(0), "descents for each search in a very large lattice", default=4)

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        ladders = Ladders.of(encoded, self.loss)
        allowed = int(Fraction(repr(float(run.suppression))) * encoded.records) if self.leave else 0
        sweep = _Sweep(encoded, rules, ladders, allowed)
        with run.progress.stage("local recoding", total=encoded.records) as stage:
            end = None if self.seconds is None else time.monotonic() + self.seconds
            if ladders.size <= MOST_NODES:
                nodes = _least_loss_first(WholeLattice(ladders))
            else:
                nodes = self._searched(sweep, run, end)
            with contextlib.suppress(KeyboardInterrupt), interruptible() as check:
                for node in nodes:
                    sweep.take(node, stage)
                    check()
                    if sweep.done or (end is not None and time.monotonic() > end):
                        break
            if not sweep.done:
                sweep.take(ladders.high, stage)
        labels = sweep.labels()
        if any(column.highest < column.top for column in encoded.quasi):
            # Joining another class would generalise further than the policy allows.
            labels[labels == sweep.classes] = SUPPRESSED
        return Partition.from_labels(labels)

    def _searched(self, sweep: _Sweep, run: Run, end: float | None) -> Iterator[Node]:
        """Yield the best node for the records that are left, as long as it helps any of them."""
        while not sweep.done:
            left = sweep.left()
            rest = replace(
                sweep.encoded,
                codes=np.asfortranarray(sweep.encoded.codes[left]),
                sensitive_codes=np.asfortranarray(sweep.encoded.sensitive_codes[left]),
            )
            ladders = Ladders.of(rest, self.loss)
            assessor = Assessor(rest, sweep.rules, Run(run.seed, suppression=_ROUND), ladders)
            with run.progress.stage("searching the lattice") as stage:
                search = Search(assessor, 1, None if end is None else end - time.monotonic(), stage)
                search.run(self.tries, run.rng())
            if not search.best.found:
                return
            yield search.best.found[0].node
            if search.interrupted:
                return


def _least_loss_first(whole: WholeLattice) -> Iterator[Node]:
    for index in np.argsort(-whole.told.ravel(), kind="stable"):
        yield whole.node(index)


class _Sweep:
    """Records on their way up the lattice; those that have found a class are out."""

    def __init__(self, encoded: Encoded, rules: Rules, ladders: Ladders, allowed: int) -> None:
        self.encoded, self.rules, self.ladders, self.allowed = encoded, rules, ladders, allowed
        records = Groups.records(encoded, rules, ladders.low)
        rolled = records.rolled_up(ladders, ladders.low, rules, encoded.records)
        assert rolled is not None
        self.rows, self.row_of = rolled  # the distinct rows that are left; the row of every record
        self.alive = np.arange(len(self.rows))
        self.class_of_row = np.full(len(self.rows), -1, dtype=np.int64)
        self.classes = 0
        # Where no group keeps the policy for its size at a node, none does at a finer one.
        self.barren = np.zeros((0, len(ladders.low)), dtype=np.int8)

    @property
    def done(self) -> bool:
        """Whether nobody is left, or as few as may be suppressed."""
        return int(self.rows.count.sum()) <= self.allowed

    def take(self, node: Node, stage: Stage) -> None:
        """Make classes of the groups at a node that keep the policy."""
        if len(self.rows) == 0 or self._is_barren(node):
            return
        rolled = self.rows.rolled_up(self.ladders, node, self.rules, len(self.rows))
        assert rolled is not None
        groups, parent = rolled
        if groups.count.max() < self.rules.k:
            self._remember_barren(node)
            return
        found = groups.keeping(self.rules)[parent]
        if not found.any():
            return
        stage.advance(int(self.rows.count[found].sum()))
        self.class_of_row[self.alive[found]] = self.classes + parent[found]
        self.classes += len(groups)
        self.alive, self.rows = self.alive[~found], self.rows.only(~found)

    def left(self) -> NDArray[np.int64]:
        """Return the records without a class."""
        return np.flatnonzero(self.class_of_row[self.row_of] < 0)

    def labels(self) -> NDArray[np.int64]:
        """Return the class of every record; who is left is in one more, or suppressed if allowed."""
        found = self.class_of_row[self.row_of]
        found[found < 0] = SUPPRESSED if self.allowed > 0 and self.done else self.classes
        return found

    def _is_barren(self, node: Node) -> bool:
        return bool((self.barren >= np.array(node, dtype=np.int8)).all(axis=1).any())

    def _remember_barren(self, node: Node) -> None:
        at = np.array(node, dtype=np.int8)
        self.barren = np.vstack([self.barren[~(self.barren <= at).all(axis=1)], at])
