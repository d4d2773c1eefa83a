"""The k-member paper: a quick reproduction, and verdicts that follow the rows."""

from __future__ import annotations

import functools

import pytest

from shoal import registry
from shoal.papers.base import Results, Verdict
from shoal.papers.k_member import claims, experiments
from shoal.papers.scorecard import Scorecard, reproduce
from shoal.progress import Run

pytestmark = pytest.mark.real_data


@functools.cache
def quick() -> Scorecard:
    return reproduce(registry.get("papers", "k-member")(quick=True), Run(0))


def verdict(words: str) -> Verdict:
    return next(finding.verdict for finding in quick().findings if words in finding.claim)


def test_every_claim_has_a_verdict_and_every_figure_rows() -> None:
    card = quick()
    assert len(card.findings) == len(claims.CLAIMS)
    assert all(finding.measured for finding in card.findings)
    keys = {figure.key for figure in card.figures}
    assert keys >= {f"figure-{number}" for number in range(9, 18)}
    assert all(figure.rows for figure in card.figures)


@pytest.mark.parametrize(
    "words",
    ["distances are", "least Total-IL for all k", "sizes very close", "least CM of all", "Modified for SD"],
)
def test_what_must_hold_whatever_the_machine(words: str) -> None:
    assert verdict(words) is Verdict.REPRODUCED


def test_a_claim_follows_the_rows() -> None:
    def rows(ours: float, theirs: float) -> Results:
        made = [
            {"k": k, "algorithm": name, "il": ours if name == experiments.GREEDY else theirs}
            for k in (5, 10)
            for name in experiments.ALGORITHMS
        ]
        return Results({"quality": made})

    claim = next(claim for claim in claims.CLAIMS if "least Total-IL for all k" in claim.text)
    assert claim.judge(rows(0.1, 0.2)).verdict is Verdict.REPRODUCED
    assert claim.judge(rows(0.3, 0.2)).verdict is Verdict.NOT_REPRODUCED
