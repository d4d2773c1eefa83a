"""What a paper is: experiments that are run again, figures that are drawn again, claims that are checked.

No measured number is ever written by hand: a claim's check reads the rows an experiment returned. What the
paper itself printed stands in the paper's module as data, marked as such.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, ClassVar

from ..params import Flag, Parameterised, param
from ..progress import Run

Row = dict[str, Any]


class Verdict(StrEnum):
    """What became of a claim."""

    REPRODUCED = "reproduced"
    NOT_REPRODUCED = "not reproduced"
    UNCHECKABLE = "cannot be checked"


@dataclass(frozen=True, slots=True)
class Finding:
    """A claim, the measured numbers that speak to it, and the verdict."""

    where: str
    claim: str
    measured: str
    verdict: Verdict


@dataclass(frozen=True, slots=True)
class Claim:
    """One sentence of a paper that claims something.

    Attributes
    ----------
    where : str
        Section and figure or table.
    text : str
        The claim in our own words.
    check : function of Results, optional
        Returns whether it held and the measured numbers as a phrase; None: it cannot be checked.
    why_not : str
        Why a claim without a check cannot be checked.
    """

    where: str
    text: str
    check: Callable[[Results], tuple[bool, str]] | None = None
    why_not: str = ""

    def judge(self, results: Results) -> Finding:
        """Return the finding for these results."""
        if self.check is None:
            return Finding(self.where, self.text, self.why_not, Verdict.UNCHECKABLE)
        held, measured = self.check(results)
        verdict = Verdict.REPRODUCED if held else Verdict.NOT_REPRODUCED
        return Finding(self.where, self.text, measured, verdict)


@dataclass(frozen=True, slots=True)
class Figure:
    """One figure or table of the paper, drawn from our rows: a Vega-Lite chart, a table, or both.

    Attributes
    ----------
    key : str
        File name without ending.
    title : str
    note : str
        How to read it, and where we differ.
    rows : sequence of dict
        The numbers behind it, one dictionary a point or line.
    chart : dict, optional
        Vega-Lite specification.
    """

    key: str
    title: str
    note: str
    rows: Sequence[Row]
    chart: dict[str, Any] | None = None


@dataclass(frozen=True, slots=True)
class Results:
    """The rows of every experiment of a paper, by the experiment's name."""

    rows: dict[str, list[Row]] = field(default_factory=dict)

    def where(self, experiment: str, **conditions: Any) -> list[Row]:
        """Return the rows of an experiment whose entries equal all conditions.

        Examples
        --------
        >>> found = Results({"loss": [{"k": 2, "il": 0.1}, {"k": 5, "il": 0.2}]})
        >>> found.where("loss", k=5)
        [{'k': 5, 'il': 0.2}]
        """
        return [
            row
            for row in self.rows[experiment]
            if all(row.get(name) == value for name, value in conditions.items())
        ]

    def series(self, experiment: str, x: str, y: str, **conditions: Any) -> dict[Any, Any]:
        """Return one curve as a dictionary from x to y."""
        return {row[x]: row[y] for row in self.where(experiment, **conditions)}


@dataclass(frozen=True)
class Paper(Parameterised):
    """A paper to reproduce; `quick` shrinks its experiments so that they end in about a minute."""

    citation: ClassVar[str] = ""
    claims: ClassVar[tuple[Claim, ...]] = ()

    quick: bool = param(Flag(), "smaller tables, fewer settings: to look, not to judge", default=False)

    @abstractmethod
    def experiments(self, run: Run) -> Results:
        """Run everything the paper measured and return the rows."""

    @abstractmethod
    def figures(self, results: Results) -> list[Figure]:
        """Return the paper's figures and tables drawn from our rows."""

    def setting(self) -> str:
        """Return how our setting relates to the paper's: data, versions, choices it leaves open."""
        return ""

    def findings(self, results: Results) -> list[Finding]:
        """Return the verdict on every claim."""
        return [claim.judge(results) for claim in self.claims]


def compare_curves(
    ours: dict[Any, float], theirs: dict[Any, float], *, slack: float = 0.0
) -> tuple[bool, str]:
    """Return whether one curve lies at or under another at every shared x, and by how much, in words.

    Examples
    --------
    >>> compare_curves({2: 1.0, 5: 2.0}, {2: 2.0, 5: 2.5})
    (True, 'lower at 2 of 2 settings; ratio 0.50 to 0.80')
    """
    shared = [x for x in ours if x in theirs]
    lower = [x for x in shared if ours[x] <= theirs[x] * (1 + slack)]
    ratios = [ours[x] / theirs[x] for x in shared if theirs[x] > 0]
    span = f"; ratio {min(ratios):.2f} to {max(ratios):.2f}" if ratios else ""
    return len(lower) == len(shared) > 0, f"lower at {len(lower)} of {len(shared)} settings{span}"
