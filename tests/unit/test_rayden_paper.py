"""The RAYDEN paper: a quick reproduction, verdicts that depend on the rows, and its table as printed."""

from __future__ import annotations

import numpy as np
import pytest

from quick_papers import check_card, quick, verdict
from shoal.papers.base import Results, Verdict
from shoal.papers.rayden import claims, experiments, judging

pytestmark = pytest.mark.real_data


def test_every_claim_has_a_verdict_and_every_figure_rows() -> None:
    figures = {"figure-2", "figure-6", "growth", "table-3", "vantages", "figure-5-hierarchies"}
    check_card("rayden", claims.CLAIMS, figures)


@pytest.mark.parametrize(
    "words",
    [
        "k to 2k - 1 records",
        "fit in as acceptance criteria",
        "more than 90% of the outliers",
        "(printed numbers)",
        "2,000 records",
    ],
)
def test_what_must_hold_whatever_the_machine(words: str) -> None:
    assert verdict("rayden", words) is Verdict.REPRODUCED


@pytest.mark.parametrize("words", ["lowest GCP at every k", "more partitions are formed", "lowest DM"])
def test_what_cannot_hold(words: str) -> None:
    assert verdict("rayden", words) is Verdict.NOT_REPRODUCED


def test_the_repaired_variant_loses_least_at_every_k() -> None:
    for setting in experiments.SETTINGS:
        found = judging.curves(quick("rayden").results, "gcp", setting)
        others = [found[name] for name in (*experiments.OTHERS, experiments.PAPER)]
        assert judging.at_most(found[experiments.REPAIRED], others)[0]


def test_a_claim_follows_the_rows() -> None:
    def rows(ours: float, theirs: float) -> Results:
        made = [
            {"setting": setting, "k": k, "algorithm": name, "gcp": ours if name == judging.PAPER else theirs}
            for setting in experiments.SETTINGS
            for k in (5, 10)
            for name in experiments.ALGORITHMS
        ]
        return Results({"utility": made})

    claim = next(claim for claim in claims.CLAIMS if "lowest GCP" in claim.text)
    assert claim.judge(rows(0.1, 0.2)).verdict is Verdict.REPRODUCED
    assert claim.judge(rows(0.3, 0.2)).verdict is Verdict.NOT_REPRODUCED


def test_the_printed_table_adds_up() -> None:
    for _, *counts in claims.TABLE_3:
        for detected, recovered, suppressed in (counts[:3], counts[3:]):
            assert detected == recovered + suppressed


def test_outliers_add_up_and_only_loose_parts_are_suppressed() -> None:
    rows = quick("rayden").results.rows["outliers"]
    assert all(row["detected"] == row["recovered"] + row["suppressed"] for row in rows)
    by_rank = [row for row in rows if row["algorithm"] == experiments.PAPER]
    assert all(row["suppressed"] == 0 or row["detected"] < row["k"] for row in by_rank)


def test_the_paper_setting_of_two_thousand_records() -> None:
    """The set-based loss of Mondrian that a bare tree does not reach, and the default does."""
    encoded, policy = experiments.Adult.read().sample(2000, 0).encoded("sets", 5)
    loss = {
        name: experiments.loss(encoded, policy, experiments.ran(algorithm, encoded, policy)[0])["gcp"]
        for name, algorithm in experiments.ALGORITHMS.items()
    }
    assert 0.080 < loss["mondrian"] < 0.090
    assert loss[experiments.PAPER] > 0.13
    assert loss[experiments.REPAIRED] < 0.072
    assert np.isfinite(list(loss.values())).all()
