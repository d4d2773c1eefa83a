"""auto: never worse than what it tried, the same for the same table and seed, and it says why."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.algorithms.auto import Auto, _effort, loss_of
from shoal.algorithms.k_member import KMember
from shoal.algorithms.mondrian import Mondrian
from shoal.encoding import Encoded, encode
from shoal.errors import ParameterError, PolicyUnsatisfiable
from shoal.metrics.measure import measure


def people(n: int, seed: int = 1) -> pa.Table:
    """Return n records with two numbers, a category with hierarchy and a sensitive column."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(18, 90, n),
            "hours": rng.integers(1, 60, n),
            "town": rng.choice(["10115", "10117", "20095", "20097", "30159"], n).tolist(),
            "disease": rng.choice(["flu", "cold", "gout"], n).tolist(),
        }
    )


def policy_of(k: int, *models: Any, **more: Any) -> shoal.Policy:
    return shoal.Policy(
        quasi={"age": "numeric", "hours": "numeric", "town": shoal.Hierarchy.prefix()},
        sensitive=["disease"],
        models=[shoal.KAnonymity(k), *models],
        **more,
    )


def encoded_of(table: pa.Table, policy: shoal.Policy) -> Encoded:
    return encode(table, policy.resolved(table))


def gcp_of(table: pa.Table, policy: shoal.Policy, algorithm: str, **parameters: Any) -> float:
    resolved = policy.resolved(table)
    encoded = encode(table, resolved)
    made = shoal.partition(encoded, resolved, algorithm=algorithm, **parameters)
    return float(measure(encoded, made, resolved, ["gcp"])["gcp"])  # type: ignore[arg-type]


@settings(max_examples=15, deadline=None)
@given(n=st.integers(8, 60), k=st.integers(2, 4), seed=st.integers(0, 99), diverse=st.booleans())
def test_a_small_table_loses_no_more_than_any_start(n: int, k: int, seed: int, diverse: bool) -> None:
    table = people(n, seed)
    policy = policy_of(k, *([shoal.LDiversity(2)] if diverse else []))
    starts = Auto().starts(encoded_of(table, policy))
    assert [start.name for start in starts] == ["mondrian", "k-member"]
    try:
        found = gcp_of(table, policy, "auto")
    except PolicyUnsatisfiable:
        with pytest.raises(PolicyUnsatisfiable):
            gcp_of(table, policy, "k-member")
        return
    assert found <= min(gcp_of(table, policy, start.name) for start in starts) + 1e-12


@pytest.mark.parametrize("models", [[], [shoal.LDiversity(2)], [shoal.TCloseness(0.3)]], ids=str)
def test_refined_it_loses_less_than_every_start_and_says_what_it_tried(
    models: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[Auto.__module__], "_MODERATE", 250)
    table, policy = people(300), policy_of(4, *models)
    release = shoal.anonymize(table, policy)
    told = release.evidence.provenance["auto"]
    tried = {one["algorithm"]: one["loss"] for one in told["tried"]}
    assert list(tried) == ["mondrian", "dop", "local", "k-member"]
    for name, loss in tried.items():
        assert loss == pytest.approx(gcp_of(table, policy, name), abs=1e-12)
    assert tried[told["chosen"]] == min(tried.values())
    assert told["measure"] == "gcp"
    assert "least gcp of 4" in told["because"]
    assert release.metrics["gcp"] == pytest.approx(told["refinement"]["loss"], abs=1e-12)
    assert told["refinement"]["moves"] > 0
    assert release.metrics["gcp"] < min(tried.values())
    assert release.evidence.holds


@pytest.mark.parametrize("models", [[], [shoal.TCloseness(0.3)]], ids=str)
def test_a_table_of_moderate_size_has_one_start_and_refining_makes_up_for_the_others(
    models: list[Any],
) -> None:
    table, policy = people(300), policy_of(4, *models)
    release = shoal.anonymize(table, policy)
    told = release.evidence.provenance["auto"]
    assert [one["algorithm"] for one in told["tried"]] == ["k-member"]
    for name in ("mondrian", "dop", "local", "k-member"):
        assert release.metrics["gcp"] <= 1.01 * gcp_of(table, policy, name)


def test_where_the_one_start_is_refused_another_is_tried(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any) -> Any:
        raise PolicyUnsatisfiable("no")

    monkeypatch.setattr(KMember, "partition", refuse)
    told = shoal.anonymize(people(300), policy_of(4)).evidence.provenance["auto"]
    assert [one["loss"] is None for one in told["tried"]] == [True, False]
    assert told["chosen"] == "mondrian"


def test_classes_that_promises_make_large_are_refined_in_fewer_moves() -> None:
    table, spare = people(3000), people(3000, 2)
    plain = shoal.anonymize(table, policy_of(2)).evidence.provenance["auto"]
    close = shoal.anonymize(spare, policy_of(2, shoal.TCloseness(0.02))).evidence.provenance["auto"]
    assert close["refinement"]["moves"] < plain["refinement"]["moves"] / 4


def test_the_same_table_and_seed_give_the_same_release() -> None:
    table, policy = people(300), policy_of(4)
    encoded, resolved = encoded_of(table, policy), policy.resolved(table)
    one, again = (shoal.partition(encoded, resolved, seed=3).labels for _ in range(2))
    assert np.array_equal(one, again)


def test_without_moves_the_best_start_is_what_is_published() -> None:
    table, policy = people(300), policy_of(4)
    release = shoal.anonymize(table, policy, moves=0)
    told = release.evidence.provenance["auto"]
    assert told["refinement"] is None
    assert release.metrics["gcp"] == pytest.approx(min(one["loss"] for one in told["tried"]))


@pytest.mark.parametrize(("limit", "value"), [("_LARGE", 250), ("_ROWS", 100), ("_SMALL", 301)])
def test_what_would_take_too_long_is_not_refined_unasked(
    limit: str, value: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys.modules[Auto.__module__], limit, value)
    table, policy = people(300), policy_of(4)
    assert shoal.anonymize(table, policy).evidence.provenance["auto"]["refinement"] is None
    asked = shoal.anonymize(table, policy, moves=50).evidence.provenance["auto"]
    assert asked["refinement"]["moves"] > 0


def test_moves_and_seconds_are_a_budget() -> None:
    table, policy = people(300), policy_of(4)
    few = shoal.anonymize(table, policy, moves=50).evidence.provenance["auto"]["refinement"]
    default = shoal.anonymize(table, policy).evidence.provenance["auto"]["refinement"]
    assert few["moves"] < default["moves"]
    hurried = shoal.anonymize(table, policy, seconds=1e-9).evidence.provenance["auto"]
    assert [one["algorithm"] for one in hurried["tried"]] == ["mondrian"]
    assert hurried["refinement"] is None
    with pytest.raises(ParameterError):
        shoal.anonymize(table, policy, seconds=0)


def test_what_is_refined_afterwards_is_not_refined_twice() -> None:
    release = shoal.anonymize(people(300), policy_of(4), refine=shoal.Refine(moves=200))
    assert release.evidence.provenance["auto"]["refinement"] is None
    assert release.refinement is not None


def test_means_of_numbers_are_chosen_by_their_squared_error() -> None:
    columns = {name: shoal.Column(name, kind="numeric", form="mean") for name in ("age", "hours")}
    policy = shoal.Policy(quasi=columns, models=[shoal.KAnonymity(4)])
    told = shoal.anonymize(people(250), policy).evidence.provenance["auto"]
    assert told["measure"] == "sse"
    assert "mdav" in [one["algorithm"] for one in told["tried"]]
    assert told["refinement"]["loss"] < min(one["loss"] for one in told["tried"])


def test_the_squared_error_is_that_of_the_metric() -> None:
    table = people(60)
    policy = shoal.Policy(quasi=["age", "hours"], models=[shoal.KAnonymity(4)]).resolved(table)
    encoded = encode(table, policy)
    made = shoal.partition(encoded, policy, algorithm="mondrian")
    found = measure(encoded, made, policy, ["il-sse"])["il-sse"]
    assert 100 * loss_of(made, encoded, "sse") == pytest.approx(found, rel=1e-6)


def test_weights_decide_what_is_less() -> None:
    table = people(60)
    plain = encoded_of(table, shoal.Policy(quasi=["age", "hours"]))
    weighted = {"age": shoal.Column("age", weight=3.0), "hours": shoal.Column("hours")}
    heavy = encoded_of(table, shoal.Policy(quasi=weighted))
    policy = shoal.Policy(quasi=["age", "hours"], models=[shoal.KAnonymity(4)]).resolved(table)
    made = shoal.partition(plain, policy, algorithm="mondrian")
    ncp = measure(plain, made, policy, ["ncp"])["ncp"]
    assert isinstance(ncp, dict)
    assert loss_of(made, plain, "gcp") == pytest.approx((ncp["age"] + ncp["hours"]) / 2)
    assert loss_of(made, heavy, "gcp") == pytest.approx((3 * ncp["age"] + ncp["hours"]) / 4)


def test_a_refusal_is_that_of_the_policy() -> None:
    table = people(60).set_column(3, "disease", pa.array(["flu"] * 60))
    with pytest.raises(PolicyUnsatisfiable):
        shoal.anonymize(table, policy_of(4, shoal.LDiversity(2)))


def test_k_member_is_tried_while_it_is_affordable(monkeypatch: pytest.MonkeyPatch) -> None:
    encoded = encoded_of(people(40), policy_of(2))
    assert Auto().starts(encoded) == [Mondrian(), KMember()]
    assert Auto().choose(encoded) == KMember()
    monkeypatch.setattr(sys.modules[Auto.__module__], "_BUDGET", 1e-9)
    assert Auto().starts(encoded) == [Mondrian()]
    assert Auto().choose(encoded) == Mondrian()


def test_in_blocks_one_algorithm_works_alone() -> None:
    release = shoal.anonymize(people(120), policy_of(3), blocks=60)
    assert "auto" not in release.evidence.provenance
    assert release.evidence.holds


def test_where_a_level_is_the_most_local_is_tried() -> None:
    column = shoal.Column("town", hierarchy=shoal.Hierarchy.prefix(), most_level=4)
    encoded = encoded_of(people(40), shoal.Policy(quasi={"town": column}, models=[shoal.KAnonymity(2)]))
    names = [start.name for start in Auto().starts(encoded)]
    assert "local" in names


@pytest.mark.parametrize("kind", ["numbers", "hierarchy", "flat", "means"])
def test_in_one_column_the_least_loss_is_found_and_proved(kind: str) -> None:
    rng = np.random.default_rng(4)
    towns = {"10115": 40, "10117": 3, "20095": 2, "20097": 4, "30159": 2}
    table = pa.table({"x": [town for town, count in towns.items() for _ in range(count)]})
    quasi: dict[str, Any] = {"x": shoal.Hierarchy.prefix()}
    if kind == "flat":
        table, quasi = pa.table({"x": ["yes"] * 40 + ["no"] * 3}), {"x": "categorical"}
    elif kind != "hierarchy":
        table = pa.table({"x": np.round(rng.lognormal(3, 1, 120), 1)})
        quasi = {"x": shoal.Column("x", kind="numeric", form="mean" if kind == "means" else "auto")}
    release = shoal.anonymize(table, shoal.Policy(quasi=quasi, models=[shoal.KAnonymity(5)]))
    told = release.evidence.provenance["auto"]
    assert [one["algorithm"] for one in told["tried"]] == ["optimal-1d"]
    assert "proved" in told["because"]
    loss, gap = ("il-sse", "il-sse-gap") if kind == "means" else ("gcp", "gap")
    assert release.metrics[gap] == 0
    assert release.metrics[loss] == pytest.approx(
        release.metrics["il-sse-bound" if kind == "means" else "bound"]
    )
    assert release.metrics[loss] > 0


def test_what_else_is_promised_or_allowed_is_not_proved() -> None:
    table = people(120)
    for more in ({"suppression": 0.1}, {"models": [shoal.KAnonymity(4), shoal.LDiversity(2)]}):
        policy = shoal.Policy(
            **{"quasi": ["age"], "sensitive": ["disease"], "models": [shoal.KAnonymity(4)], **more}
        )
        told = shoal.anonymize(table, policy).evidence.provenance["auto"]
        assert len(told["tried"]) > 1
        assert "proved" not in told["because"]


def test_a_move_is_dearer_where_promises_make_classes_larger() -> None:
    table = {"age": [1, 2, 3, 4], "disease": ["a", "b", "a", "b"]}
    plain = shoal.Policy(quasi=["age"], sensitive=["disease"], models=[shoal.KAnonymity(2)])
    promising = shoal.Policy(
        quasi=["age"], sensitive=["disease"], models=[shoal.KAnonymity(2), shoal.LDiversity(2)]
    )
    without, beside = (one.compile(shoal.encode(table, one)) for one in (plain, promising))
    assert _effort(without, 2.0, 4) < _effort(beside, 2.0, 4) < _effort(beside, 8.0, 4)
    assert _effort(beside, 8.0, 4) > 2 * _effort(without, 8.0, 4)
    assert _effort(without, 1.0, 4) == _effort(without, 2.0, 4)  # no class is smaller than k
