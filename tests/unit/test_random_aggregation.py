"""The paper on random aggregation: a quick reproduction, and verdicts that depend on the rows."""

from __future__ import annotations

import numpy as np
import pytest

from quick_papers import check_card, quick, verdict
from shoal.noise import Draws
from shoal.papers.base import Results, Verdict
from shoal.papers.random_aggregation import claims, experiments
from shoal.partitions import Partition

pytestmark = pytest.mark.real_data


def test_every_claim_has_a_verdict_and_every_figure_rows() -> None:
    figures = {f"figure-{n}{letter}" for n in (4, 5, 6, 7) for letter in "ab"}
    check_card("random-aggregation", claims.CLAIMS, figures)
    assert "not reproduced" in quick("random-aggregation").markdown()


@pytest.mark.parametrize(
    "words",
    [
        "gives away the last",
        "always has a larger squared error",
        "a fixed table gives a fixed partition",
        "classes have k to 2k - 1 records",
        "rho = 1 is the same",
        "same probability",
        "a larger rho loses more",
        "a larger k loses more",
        "resists linkage worst",
    ],
)
def test_what_must_hold_whatever_the_machine(words: str) -> None:
    assert verdict("random-aggregation", words) is Verdict.REPRODUCED


@pytest.mark.parametrize("words", ["satisfies differential privacy", "cannot guess the remaining one", "699"])
def test_what_cannot_hold(words: str) -> None:
    assert verdict("random-aggregation", words) is Verdict.NOT_REPRODUCED


def test_a_claim_follows_the_rows() -> None:
    def rows(top: float, bottom: float) -> Results:
        made = [
            {"table": "t", "k": k, "algorithm": name, "seconds": spent, "il": spent}
            for k in (3, 4)
            for name, spent in (("top-down", top), ("bottom-up", bottom))
        ]
        return Results({"partitions": made})

    claim = next(claim for claim in claims.CLAIMS if "takes much less time" in claim.text)
    assert claim.judge(rows(1.0, 5.0)).verdict is Verdict.REPRODUCED
    assert claim.judge(rows(5.0, 1.0)).verdict is Verdict.NOT_REPRODUCED


def test_the_attack_at_rho_zero_is_arithmetic() -> None:
    known = np.array([0.1, 0.4])
    shown = np.full(3, (0.1 + 0.4 + 0.9) / 3)
    assert experiments._guess(known, shown, 0.0) == pytest.approx(0.9)


def test_published_numbers_stay_in_their_classes() -> None:
    values = np.array([[0.0, 0.2, 0.9, 1.0]])
    made = Partition.from_labels(np.array([0, 0, 1, 1]))
    for rho in (*experiments.RHOS, experiments.RANDOM):
        found = experiments.publish(values, made, rho, Draws.seeded(0))[0]
        assert (found[:2] <= 0.2).all()
        assert (found[2:] >= 0.9).all()
