"""What results show in a notebook: verdicts, tables and pictures, with every name escaped and no script."""

from __future__ import annotations

import re
from typing import Any

import pytest

import shoal
from shoal.notebook.parts import Bar, curves, table

STRANGE = "<img src=x onerror=alert(1)>"


def people() -> dict[str, list[object]]:
    """Return a table with a column whose name is markup."""
    return {STRANGE: [20, 21, 60, 61], "ill": ["a", "b", "a", "b"]}


def everything() -> dict[str, Any]:
    release = shoal.anonymize(people(), quasi=[STRANGE], sensitive=["ill"], k=2, l=2, algorithm="mondrian")
    compared = shoal.compare(people(), quasi=[STRANGE], algorithms=["mondrian"], k=[2, 4])
    return {
        "release": release,
        "evidence": release.evidence,
        "audit": shoal.audit(people(), quasi=[STRANGE], sensitive=["ill"]),
        "comparison": compared,
        "attacks": release.attack(),
        "risk": release.risk(),
        "utility": release.utility(queries=5),
        "report": release.report(attacks=False, queries=5),
    }


VIEWS = {name: found._repr_html_() for name, found in everything().items()}


@pytest.mark.parametrize("name", VIEWS)
def test_no_view_runs_anything_or_loads_anything(name: str) -> None:
    html = VIEWS[name]
    assert not re.search(r"<(script|style|link|img|iframe)|javascript:|url\(|https?:", html)
    assert html.startswith("<div")
    assert html.count("<div") == html.count("</div>")


@pytest.mark.parametrize("name", ["release", "audit", "attacks", "risk", "utility"])
def test_names_of_columns_are_escaped(name: str) -> None:
    assert "&lt;img src=x" in VIEWS[name]


def test_a_release_shows_its_promises_and_the_loss_of_every_column() -> None:
    html = VIEWS["release"]
    assert "The policy holds" in html
    assert "l-diversity" in html
    assert "all (gcp)" in html
    assert "0.0244, of which 0.0244 is proved to be unavoidable" in html


def test_what_does_not_hold_says_so() -> None:
    policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    html = shoal.verify({"age": ["[20, 29]", "[20, 29]", "30"]}, policy)._repr_html_()
    assert "The policy does not hold" in html
    assert "broken by 1 classes" in html


def test_an_audit_says_what_classes_give_away() -> None:
    assert "What classes give away" in VIEWS["audit"]


def test_a_comparison_shows_every_candidate_and_the_curve() -> None:
    html = VIEWS["comparison"]
    assert html.count("<tr>") == 3
    assert "Least loss: mondrian, k=2" in html
    assert html.count("<polyline") == 2  # mondrian, and what nobody undercuts


def test_bars_stay_within_their_box() -> None:
    html = table(["name", "share"], [["a", Bar(1.7, "170%", -0.2)]])
    assert "width:100.0%" in html
    assert "width:0.0%" in html


def test_a_curve_with_a_single_point_or_none_above_zero_is_drawn() -> None:
    assert curves({"a": {5: 0.0}}, "k", "loss").count("<circle") == 1
