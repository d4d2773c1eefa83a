"""Record linkage: which published record is this person's?"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from ..params import Choice, param
from ..risk.estimate import share_of
from .base import Attack, AttackResult, CannotRun, Scene, knowing, percent, share
from .scenes import asked, candidates_of, own_rows, truthful


@dataclass(frozen=True)
class Linkage(Attack):
    """The attacker knows some columns of a person and picks one of the published records nearest to that.

    Distances are those of `shoal.risk.reading`: 0 where a cell fits the value, else the gap as a share of
    the column's range, or 1. Of several nearest records one is picked at random; with ``guess="likely"`` one
    of those whose cells fit fewest people. A person whose record was suppressed is never found, and counts.

    References
    ----------
    Pagliuca and Seri (1999): Some results of individual ranking method on the system of enterprise accounts
    annual survey. Domingo-Ferrer, Mateo-Sanz and Torra (2001).
    """

    name: ClassVar[str] = "linkage"
    summary: ClassVar[str] = "finds a person's record by its distance from what is known"
    reference: ClassVar[str] = "Pagliuca and Seri 1999"
    answer: ClassVar[str] = "k-anonymity"

    guess: str = param(
        Choice(("likely", "fits")), "which of the records that fit equally well are guessed", default="likely"
    )

    def run(self, scene: Scene, known: tuple[str, ...]) -> Iterator[AttackResult]:
        """Yield one result."""
        if scene.rows is None and not truthful(scene, known):
            raise CannotRun("cells are means or noise, so whose record is whose has to be told (rows)")
        people = asked(scene)
        candidates = candidates_of(scene, known, people, by_breadth=self.guess == "likely")
        own = own_rows(scene, people)
        group = np.where(own >= 0, candidates.group[own], -1)
        credits = np.where(candidates.holds(group), 1.0 / candidates.rows, 0.0)
        success = share(credits, scene.seed)
        chance = (own >= 0).sum() / max(scene.published.num_rows, 1)
        baseline = share_of(float(chance), len(people), scene.seed)
        verdict = (
            f"{knowing(scene, known)} finds the record of {percent(success.value)} of the "
            f"people; guessing finds {percent(baseline.value)}"
        )
        details: dict[str, Any] = {
            "guess": self.guess,
            "found_for_certain": float(((credits == 1.0) & (candidates.distance == 0)).mean()),
            "records_to_choose_from": float(np.median(candidates.rows)),
            "not_published": float((own < 0).mean()),
        }
        yield AttackResult(self.name, known, None, success, baseline, verdict=verdict, details=details)
