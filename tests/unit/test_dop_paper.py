"""The DOP paper: which files are its own, the whole run on small parts of them, verdicts that follow rows."""

from __future__ import annotations

import functools
import itertools

import pytest

from shoal.papers.base import Results, Row, Verdict
from shoal.papers.dop import claims, experiments, paper
from shoal.papers.dop.data import CANDIDATES, Candidate
from shoal.papers.dop.printed import NCP, SETTINGS, at, label
from shoal.papers.dop.unbeaten import least_ncp, unbeaten
from shoal.papers.scorecard import Scorecard, reproduce
from shoal.progress import Run

pytestmark = pytest.mark.real_data


def candidate(file: str) -> Candidate:
    return next(found for found in CANDIDATES if found.file == file)


@functools.cache
def small() -> tuple[tuple[Candidate, ...], tuple[Row, ...], tuple[Row, ...]]:
    found = [candidate(name) for name in ("heart-cleveland", "student-por", "student-mat")]
    return tuple(found), tuple(experiments.files(found)), tuple(experiments.table_two(found))


def card(monkeypatch: pytest.MonkeyPatch) -> Scorecard:
    """Return the scorecard of the quick run on the first records of every file."""
    parts = tuple(each.first(1000 if each.file == paper.FULL else 120) for each in CANDIDATES)
    monkeypatch.setattr(paper, "CANDIDATES", parts)
    return reproduce(paper.DensityDriven(quick=True), Run(0))


def test_the_printed_mondrian_gives_itself_away() -> None:
    _, rows, _ = small()
    files = {row["file"]: row for row in rows}
    assert files["student-por"]["cells equal"] == len(SETTINGS)
    assert files["student-mat"]["cells equal"] == 0
    assert experiments.likeliest(list(rows))["Student Performance"] == "student-por"


def test_the_sample_of_bank_marketing_gives_two_printed_cells() -> None:
    bank = candidate("bank")
    for setting in SETTINGS[:2]:
        made = experiments.one_cut_mondrian(bank, setting)
        ours = bank.ncp(made, bank.policy(setting))
        assert round(ours, 4) == at("Bank Marketing", "Mondrian", setting)


def test_dop_beats_the_printed_figures_or_says_why_not() -> None:
    candidates, files, table = small()
    rows = unbeaten(list(candidates), list(files), list(table))
    assert {row["setting"] for row in rows if row["file"] != "student-mat"} == {"(1, 1)"}
    assert all("both are 0" in row["why"] for row in rows if row["setting"] == "(1, 1)")
    assert all("student-por" in row["why"] for row in rows if row["setting"] != "(1, 1)")
    cells = {(row["file"], row["setting"], row["method"]): row["ncp"] for row in table}
    for (file, setting, _), ncp in cells.items():
        found = [row for row in rows if (row["file"], row["setting"]) == (file, setting)]
        assert all(row["least possible"] <= ncp for row in found)


def test_the_bound_is_reached_where_pairs_are_all_there_is() -> None:
    heart = candidate("heart-cleveland").first(2)
    policy = heart.policy((2, 1))
    assert least_ncp(heart, (2, 1)) == pytest.approx(heart.ncp(heart.made(policy, "dop"), policy))


def test_every_claim_has_a_verdict_and_every_figure_rows(monkeypatch, tmp_path) -> None:
    made = card(monkeypatch)
    assert len(made.findings) == len(claims.CLAIMS)
    assert all(finding.measured for finding in made.findings)
    keys = {figure.key for figure in made.figures}
    assert keys >= {"figure-3", "figure-4", "figure-5", "table-2", "ablation", "unbeaten", "files"}
    assert all(figure.rows for figure in made.figures if figure.key != "unbeaten")
    page = made.write(tmp_path / "dop")
    assert "Table II" in page.read_text(encoding="utf-8")
    kept = next(finding for finding in made.findings if "keep the privacy" in finding.claim)
    assert kept.verdict is Verdict.REPRODUCED


def rows_of(ours: float, mondrian: float) -> Results:
    """Return rows in which dop and Mondrian have the same NCP in every cell."""
    files: list[Row] = [
        {
            "dataset": dataset,
            "file": dataset,
            "attributes": 1,
            "attributes printed": 1,
            "cells equal": 0,
            "largest difference": 1.0,
        }
        for dataset in NCP
    ]
    ncp = {experiments.REPAIRED: ours, experiments.LITERAL: ours, experiments.MONDRIAN: mondrian}
    table: list[Row] = [
        {"file": dataset, "setting": label(setting), "k": setting[0], "l": setting[1], "method": method}
        | {"ncp": ncp[method], "smallest": 5, "least diverse": 2}
        for dataset, setting, method in itertools.product(NCP, SETTINGS, ncp)
    ]
    return Results({"files": files, "table-2": table})


@pytest.mark.parametrize(
    ("words", "ours", "mondrian", "verdict"),
    [
        ("DOP as described always", 0.1, 0.2, Verdict.REPRODUCED),
        ("DOP as described always", 0.3, 0.2, Verdict.NOT_REPRODUCED),
        ("above 0 at (1, 1)", 0.1, 0.2, Verdict.REPRODUCED),
        ("above 0 at (1, 1)", 0.1, 0.0, Verdict.NOT_REPRODUCED),
        ("or less, can be reached", 0.0, 0.2, Verdict.REPRODUCED),
        ("or less, can be reached", 0.1, 0.2, Verdict.NOT_REPRODUCED),
        ("29% better", 0.1, 0.2, Verdict.REPRODUCED),
        ("29% better", 0.15, 0.2, Verdict.NOT_REPRODUCED),
        ("keep the privacy", 0.1, 0.2, Verdict.NOT_REPRODUCED),
    ],
)
def test_a_claim_follows_the_rows(words: str, ours: float, mondrian: float, verdict: Verdict) -> None:
    claim = next(claim for claim in claims.CLAIMS if words in claim.text)
    assert claim.judge(rows_of(ours, mondrian)).verdict is verdict
