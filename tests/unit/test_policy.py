"""Policies: what they accept, and how they refuse."""

from __future__ import annotations

import pyarrow as pa
import pytest

import shoal
from shoal.errors import ParameterError, PolicyError, UnknownName
from shoal.schema import Action, Column, Form, Kind, Role


def test_details_of_columns() -> None:
    policy = shoal.Policy(
        identifiers={"name": "pseudonym"},
        quasi={"age": "numeric", "job": Column("", form=Form.MODE), "zip": shoal.Hierarchy.prefix()},
        sensitive=["disease"],
        weight="w",
        models=[shoal.KAnonymity(2)],
    )
    name, age, job, zip_code, disease, weight = policy.schema.columns
    assert name.action is Action.PSEUDONYM
    assert age.kind is Kind.NUMERIC
    assert (job.name, job.role, job.form) == ("job", Role.QUASI, Form.MODE)
    assert zip_code.hierarchy is not None
    assert (disease.role, weight.role) == (Role.SENSITIVE, Role.WEIGHT)


def test_all_problems_of_a_schema_are_reported_together() -> None:
    with pytest.raises(
        PolicyError, match=r"'age' is listed 2 times; the weight of 'job' must be between 0.001 and 1000"
    ):
        shoal.Policy(quasi={"age": "numeric", "job": Column("", weight=0)}, sensitive=["age"])


@pytest.mark.parametrize(
    ("arguments", "error", "sentence"),
    [
        ({"suppression": 2}, ParameterError, "'suppression' of the policy must be a number between 0 and 1"),
        ({"suppressed": "hide"}, ParameterError, "must be one of 'drop', 'star'"),
        ({"quasi": {"age": "numerical"}}, UnknownName, "Did you mean 'numeric'"),
        ({"identifiers": {"name": "hide"}}, UnknownName, "no action 'hide'"),
        ({"quasi": {"age": Column("", weight=2048)}}, PolicyError, "weight of 'age' must be between"),
        ({"models": ["k"]}, ParameterError, "must be privacy models"),
        ({"sensitive": [], "models": [shoal.LDiversity(2)]}, PolicyError, "names none"),
        ({"models": [shoal.LDiversity(2, columns=["diseas"])]}, UnknownName, "Did you mean 'disease'"),
    ],
)
def test_refusals(arguments: dict[str, object], error: type[Exception], sentence: str) -> None:
    with pytest.raises(error, match=sentence):
        shoal.Policy(**{"quasi": ["age"], "sensitive": ["disease"], **arguments})


@pytest.mark.parametrize("weight", [0.001, 1000.0])
def test_the_extreme_weights_cost_what_they_should(weight: float) -> None:
    policy = shoal.Policy(
        quasi={"age": Column("", kind="numeric", weight=weight)}, models=[shoal.KAnonymity(2)]
    )
    space = shoal.encode({"age": [1, 2, 3]}, policy).space()
    assert space.full.tolist() == [round(weight * 2**20)]
    assert space.position[:3].tolist() == [0, round(weight * 2**20) // 2, round(weight * 2**20)]


def test_models_speak_about_their_columns() -> None:
    policy = shoal.Policy(
        quasi=["age"],
        sensitive=["disease", "salary"],
        models=[shoal.KAnonymity(2), shoal.LDiversity(2), shoal.TCloseness(0.5, columns=["salary"])],
    )
    assert [(model.name, column) for model, column in policy.promises()] == [
        ("k-anonymity", None),
        ("l-diversity", "disease"),
        ("l-diversity", "salary"),
        ("t-closeness", "salary"),
    ]


def test_resolving_fills_in_kinds_and_orders() -> None:
    grade = pa.array(["low", "high"]).dictionary_encode()
    ordered = pa.DictionaryArray.from_arrays(grade.indices, grade.dictionary, ordered=True)
    data = pa.table({"age": [1, 2], "job": ["a", "b"], "grade": ordered})
    resolved = shoal.Policy(quasi=["age", "job", "grade"]).resolved(data)
    assert [column.kind for column in resolved.schema.quasi] == [Kind.NUMERIC, Kind.CATEGORICAL, Kind.ORDINAL]
    assert resolved.schema.quasi[2].order == ("low", "high")


def test_a_missing_column_is_refused_with_the_nearest() -> None:
    with pytest.raises(UnknownName, match=r"no column 'agee'.*Did you mean 'age'"):
        shoal.Policy(quasi=["agee"]).resolved(pa.table({"age": [1]}))
    with pytest.raises(PolicyError, match="lacks the columns 'x', 'y'"):
        shoal.Policy(quasi=["x", "y"]).resolved(pa.table({"age": [1]}))


def test_a_policy_that_promises_nothing_makes_no_release() -> None:
    with pytest.raises(PolicyError, match="promises nothing"):
        shoal.anonymize({"age": [1, 2]}, quasi=["age"])
    evidence = shoal.verify({"age": [1, 1]}, shoal.Policy(quasi=["age"]))
    assert not evidence.holds


def test_the_short_way_and_the_policy_exclude_each_other() -> None:
    policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    with pytest.raises(ParameterError, match="'k' belongs into the policy"):
        shoal.anonymize({"age": [1, 2]}, policy, k=3)
    with pytest.raises(ParameterError, match="neither a policy nor quasi-identifiers"):
        shoal.anonymize({"age": [1, 2]}, k=3)
