"""A comparison holds what each algorithm reached, and what none could."""

from __future__ import annotations

import json

import pytest

import shoal
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
