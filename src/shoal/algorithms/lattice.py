"""Optimal full-domain generalization: the levels that lose least, out of all combinations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..encoding import Encoded
from ..errors import ParameterError
from ..exploration import Exploration
from ..params import Choice, Integer, Integers, Optional, Real, param
from ..partitions import Partition
from ..progress import Run
from .base import Algorithm
from .full_domain import publishable, refusal
from .ladders import LOSSES, Ladders
from .lattice_search import Search
from .nodes import Assessor

if TYPE_CHECKING:
    from ..kernels.rules import Rules


@dataclass(frozen=True)
class Lattice(Algorithm):
    """Publish every column at one level: the combination of levels that loses least.

    Parameters
    ----------
    loss : "leaves", "height", "levels" or "entropy"
        "leaves" is `gcp` with the weights of the columns, "height" `il-normalised`, "levels" 1 - `precision`,
        "entropy" `non-uniform-entropy`. Each is a sum over cells that grows with every level.
    solutions : int
        How many of the best nodes `explore` returns.
    seconds : float, optional
        Take the best node found in this time. Also Ctrl-C ends the search with the best found so far.
    tries : int, optional
        Descents from different nodes, in a lattice of more than four million nodes; smaller ones are searched
        until the best is proved. When not given, as many as the time allows, or 128 if it is not limited.
    levels : tuple of int
        Publish at these levels, one for each quasi-identifier in the policy's order, instead of searching:
        for a node chosen by hand among those that `shoal.explore` shows.

    Notes
    -----
    The groups of a node are rolled up from those of a finer one. Predictive tagging: where too many records
    are in groups that are too small, they are at every finer node. That holds for every policy. For promises
    about sensitive values it holds as well where nothing may be suppressed and unions of classes keep them,
    and where a class keeps them whoever joins it: distinct l-diversity, p-sensitivity, k-map. Elsewhere a
    node is judged by itself, and only bounds on the loss cut the lattice: entropy and recursive l-diversity,
    t-closeness, (alpha, k), beta-likeness and delta-disclosure with suppression, delta-presence always. Then
    classes that fail are suppressed and the others compared with the table that is left, until all hold.

    References
    ----------
    Samarati (2001): Protecting respondents' identities in microdata release; LeFevre, DeWitt and
    Ramakrishnan (2005): Incognito; Kohlmayer, Prasser, Eckert, Kemper and Kuhn (2012): Flash.

    Examples
    --------
    >>> import shoal
    >>> age = shoal.Hierarchy.intervals(widths=[10, 20])
    >>> release = shoal.anonymize({"age": [21, 25, 34, 38]}, quasi={"age": age}, k=2, algorithm="lattice")
    >>> release.table["age"], release.partition.levels
    (['[20, 29]', '[20, 29]', '[30, 39]', '[30, 39]'], (1,))
    """

    name: ClassVar[str] = "lattice"
    summary: ClassVar[str] = "every column at one level of its hierarchy: the optimal combination"
    reference: ClassVar[str] = "Samarati 2001; LeFevre et al. 2005"

    loss: str = param(Choice(LOSSES), "what is made small", default="leaves")
    solutions: int = param(Integer(1, 1000), "how many of the best nodes are kept", default=1)
    seconds: float | None = param(
        Optional(Real(0, open_low=True)), "take the best node found in this time", default=None
    )
    tries: int | None = param(
        Optional(Integer(0)), "descents in a lattice too large to be searched in full", default=None
    )
    levels: tuple[int, ...] = param(Integers(), "publish at these levels instead of searching", default=())

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        if self.levels:
            return self._chosen(encoded, rules, run)
        search = self.search(encoded, rules, run)
        if not search.best.found:
            raise refusal(run)
        return search.assessor.partition(search.best.found[0].node)

    def explore(self, encoded: Encoded, rules: Rules, run: Run) -> Exploration:
        """Return the best nodes and what is known of the others."""
        return Exploration.of(self.search(encoded, rules, run), encoded)

    def search(self, encoded: Encoded, rules: Rules, run: Run) -> Search:
        """Return the search of the lattice, ended."""
        assessor = Assessor(encoded, rules, run, Ladders.of(encoded, self.loss))
        with run.progress.stage("searching the lattice") as stage:
            search = Search(assessor, self.solutions, self.seconds, stage)
            search.run(self.tries, run.rng())
        return search

    def _chosen(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        ladders = Ladders.of(encoded, self.loss)
        spans = list(zip(ladders.low, ladders.high, strict=True))
        fits = len(self.levels) == len(spans) and all(
            low <= level <= high for level, (low, high) in zip(self.levels, spans, strict=True)
        )
        if not fits:
            shown = ", ".join(
                f"{column.name} {low} to {high}"
                for column, (low, high) in zip(encoded.quasi, spans, strict=True)
            )
            raise ParameterError(
                "'levels' of lattice must be one level for each quasi-identifier", hint=f"In order: {shown}."
            )
        assessor = Assessor(encoded, rules, run, ladders)
        return publishable(assessor.partition(self.levels), run)
