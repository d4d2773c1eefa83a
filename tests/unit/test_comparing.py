"""A comparison holds what each algorithm reached, and what none could."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import shoal
from browser import Browser
from shoal.comparing import ComparedRun, Comparison, k_of, with_k
from shoal.errors import UnknownName

TABLE = {"age": [i % 17 for i in range(60)], "job": ["abc"[i % 3] for i in range(60)]}


def test_rows_are_what_anonymize_reaches() -> None:
    policy = shoal.Policy(quasi=["age", "job"], models=[shoal.KAnonymity(3)])
    found = shoal.compare(TABLE, policy, algorithms=["mondrian"], k=[3, 6], seed=1)
    for row in found.rows:
        release = shoal.anonymize(TABLE, with_k(policy, row.k or 0), algorithm="mondrian", seed=1)
        assert (row.gcp, row.cavg, row.dm) == tuple(release.metrics[name] for name in ("gcp", "cavg", "dm"))
        assert (row.classes, row.suppressed) == (release.partition.classes, release.partition.suppressed)
        assert row.holds
        assert row.error == ""


def test_what_cannot_be_met_is_a_row_with_its_reason() -> None:
    found = shoal.compare(TABLE, quasi=["age"], algorithms=["mondrian"], k=[2, 61])
    met, unmet = found.rows
    assert met.holds
    assert (unmet.holds, unmet.gcp, unmet.classes) == (False, None, None)
    assert unmet.error.startswith("PolicyUnsatisfiable")
    assert found.best() is met
    assert found.best(k=61) is None
    lines = str(found).splitlines()
    assert lines[0].split()[:2] == ["algorithm", "k"]
    assert lines[-1].startswith("mondrian, k=61: PolicyUnsatisfiable")


def test_the_curve_is_the_least_loss_over_what_nobody_undercuts() -> None:
    found = shoal.compare(TABLE, quasi=["age", "job"], algorithms=["mondrian", "k-member"], k=[8, 2, 4])
    points = found.frontier()
    assert [point.k for point in points] == [2, 4, 8]
    bounds = [point.bound or 0.0 for point in points]
    assert bounds == sorted(bounds)
    for point in points:
        rows = [row for row in found.rows if row.k == point.k]
        assert point.gcp == min(row.gcp or 1.0 for row in rows)
        assert point.bound is not None
        assert point.bound <= point.gcp
        assert point.gap == pytest.approx(1 - point.bound / point.gcp)
        assert all(row.bound == point.bound for row in rows)
    first, second, _ = points
    assert first.price is None
    assert second.price == pytest.approx((second.gcp - first.gcp) / 2)
    plain = json.loads(json.dumps(found.to_dict()))
    assert [point["k"] for point in plain["frontier"]] == [2, 4, 8]


def test_a_bound_of_a_smaller_k_holds_for_a_greater_one() -> None:
    from shoal.comparing import _lifted

    rows = [
        ComparedRun("a", 5, 0.2, 1.0, 1.0, 0, 1, 0.0, True, bound=0.1, gap=0.5),
        ComparedRun("a", 9, 0.4, 1.0, 1.0, 0, 1, 0.0, True, bound=0.08, gap=0.8),
        ComparedRun("a", 2, 0.1, 1.0, 1.0, 0, 1, 0.0, True, bound=0.02, gap=0.8),
    ]
    assert [row.bound for row in _lifted(rows)] == [0.1, 0.1, 0.02]
    assert _lifted(rows)[1].gap == pytest.approx(0.75)


def test_the_page_holds_the_curve(tmp_path: Path) -> None:
    found = shoal.compare(TABLE, quasi=["age"], algorithms=["mondrian"], k=[2, 5])
    page = found.page()
    assert "nobody loses less" in page
    assert "The least loss for each k" in page


@pytest.mark.browser
def test_the_page_opens_without_a_network(browser: Browser, tmp_path: Path) -> None:
    found = shoal.compare(TABLE, quasi=["age", "job"], algorithms=["mondrian", "k-member"], k=[2, 5, 10])
    path = tmp_path / "curve.html"
    path.write_text(found.page(), encoding="utf-8")
    page = browser.open(path.as_uri(), width=390)
    assert (page.complaints, page.requests, page.overflow()) == ([], [], 0)
    page.close()


def test_an_unknown_algorithm_is_refused_before_any_work() -> None:
    with pytest.raises(UnknownName, match="mondrain"):
        shoal.compare(TABLE, quasi=["age"], algorithms=["mondrian", "mondrain"], k=[2])


def test_best_by_other_metrics() -> None:
    rows = (
        ComparedRun("a", 5, 0.1, 2.0, 10.0, 0, 4, 3.0, True),
        ComparedRun("b", 5, 0.2, 1.0, 20.0, 0, 4, 1.0, True),
        ComparedRun("c", 5, 0.0, 0.0, 0.0, 0, 4, 0.0, False),
    )
    found = Comparison(rows)
    best = [found.best(metric) for metric in ("gcp", "cavg", "dm", "seconds")]
    assert [row.algorithm for row in best if row] == ["a", "b", "a", "b"]
    with pytest.raises(UnknownName):
        found.best("beauty")
    assert json.loads(json.dumps(found.to_dict()))["rows"][0]["algorithm"] == "a"


def test_k_is_replaced_and_other_models_stay() -> None:
    policy = shoal.Policy(quasi=["age"], sensitive=["job"], models=[shoal.LDiversity(2)])
    assert k_of(policy) is None
    changed = with_k(with_k(policy, 4), 7)
    assert k_of(changed) == 7
    assert changed.models == (shoal.KAnonymity(7), shoal.LDiversity(2))
