"""The k-member paper: a quick reproduction, and verdicts that follow the rows."""

from __future__ import annotations

import pytest

from quick_papers import check_card, verdict
from shoal.papers.base import Results, Verdict
from shoal.papers.k_member import claims, experiments

pytestmark = pytest.mark.real_data


def test_every_claim_has_a_verdict_and_every_figure_rows() -> None:
    check_card("k-member", claims.CLAIMS, {f"figure-{number}" for number in range(9, 18)})


@pytest.mark.parametrize(
    "words",
    ["distances are", "least Total-IL for all k", "sizes very close", "least CM of all", "Modified for SD"],
)
def test_what_must_hold_whatever_the_machine(words: str) -> None:
    assert verdict("k-member", words) is Verdict.REPRODUCED


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
