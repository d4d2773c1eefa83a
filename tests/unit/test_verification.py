"""Verification: what it refuses beside broken promises, exact comparisons, reading cells, populations."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding import encode
from shoal.partitions import Partition
from shoal.recode import publish
from shoal.schema import Column, Form
from shoal.verification import verify_table
from shoal.verification.cells import Cell, read_cell
from shoal.verification.exact import as_written, at_most, entropy_reaches
from shoal.verification.groups import Examined
from shoal.verification.population import population_counts


@dataclass(frozen=True)
class Foreign:
    """A model that shoal does not know, with as little as a policy asks for."""

    name: ClassVar[str] = "foreign"
    better: ClassVar[str] = "higher"
    per_column: ClassVar[bool] = False

    def to_dict(self) -> dict[str, Any]:
        return {}

    def required(self) -> float:
        return 2.0

    def achieved_by_class(self, statistics: Any, column: int) -> Any:
        raise AssertionError("verification must not ask the model")


@dataclass(frozen=True)
class OwnChecker(Foreign):
    def verify_groups(self, examined: Examined, column: str | None) -> tuple[float, float, str, Any]:
        return 2.0, float(examined.sizes.min()), "higher", np.flatnonzero(examined.sizes < 2)


def quasi_only(*models: Any, **quasi: Any) -> shoal.Policy:
    return shoal.Policy(quasi=quasi or {"age": "numeric"}, models=models)


def test_null_equals_null_and_nothing_else() -> None:
    table = pa.table({"age": pa.array(["1", "1", None, None, "null", "null"])})
    found = verify_table(table, quasi_only(shoal.KAnonymity(2)))
    assert (found.holds, found.classes, found.promises[0].achieved) == (True, 3, 2)
    lonely = verify_table(table.slice(0, 3), quasi_only(shoal.KAnonymity(2)))
    assert (lonely.holds, lonely.promises[0].failing) == (False, 1)


def test_nan_is_null_and_chunks_and_dictionaries_do_not_matter() -> None:
    first = pa.array(["a", None]).dictionary_encode()
    second = pa.array(["b", "a"]).dictionary_encode()
    table = pa.table(
        {
            "age": pa.chunked_array([[1.0, math.nan], [None, 1.0]]),
            "town": pa.chunked_array([first, second]).cast(first.type),
        }
    )
    policy = quasi_only(shoal.KAnonymity(2), age="numeric", town="categorical")
    found = verify_table(table, policy)
    assert (found.classes, found.promises[0].achieved) == (3, 1)


def test_many_columns_do_not_overflow() -> None:
    rng = np.random.default_rng(0)
    table = pa.table({f"c{j}": rng.integers(0, 500, 600) for j in range(12)})
    policy = quasi_only(shoal.KAnonymity(1), **dict.fromkeys(table.column_names, "numeric"))
    rows = Counter(zip(*(table[name].to_pylist() for name in table.column_names), strict=True))
    assert verify_table(table, policy).classes == len(rows)


@pytest.mark.parametrize(
    ("table", "problem"),
    [
        ({"age": [1, 1], "name": ["a", "b"], "id": ["***"] * 2}, "the identifier 'name' is published"),
        ({"age": [1, 1]}, "the identifier column 'id' is missing"),
        ({"age": [1, 1], "id": ["***", "7"]}, "1 cells of the identifier 'id' are published as they were"),
        ({"age": [1, 1], "id": [1, 2]}, "the identifier 'id' is published"),
        ({"id": ["***"] * 2}, "the quasi column 'age' is missing"),
    ],
)
def test_columns_that_are_wrong(table: dict[str, Any], problem: str) -> None:
    policy = shoal.Policy(
        identifiers={"name": "drop", "id": "mask"}, quasi=["age"], models=[shoal.KAnonymity(2)]
    )
    found = verify_table(pa.table(table), policy)
    assert problem in found.problems
    assert not found.holds


def test_repeated_columns_are_refused() -> None:
    table = pa.Table.from_arrays([pa.array([1, 1]), pa.array([1, 2])], names=["age", "age"])
    found = verify_table(table, quasi_only(shoal.KAnonymity(1)))
    assert found.problems == ("column 'age' occurs 2 times",)
    assert math.isnan(found.promises[0].achieved)


def test_pseudonyms_must_look_like_pseudonyms() -> None:
    policy = shoal.Policy(identifiers={"id": "pseudonym"}, quasi=["age"], models=[shoal.KAnonymity(2)])
    assert verify_table(pa.table({"id": ["0" * 32, None], "age": [1, 1]}), policy).holds
    assert not verify_table(pa.table({"id": ["0" * 32, "Ann"], "age": [1, 1]}), policy).holds


def test_bounds_beside_the_column_itself() -> None:
    policy = quasi_only(shoal.KAnonymity(2), age=Column("", form=Form.BOUNDS))
    table = pa.table({"age_min": [1, 1], "age_max": [2, 2]})
    assert verify_table(table, policy).holds
    found = verify_table(table.append_column("age", pa.array([1, 2])), policy)
    assert found.problems == ("the quasi-identifier 'age' is published beside its bounds",)
    assert not verify_table(table.drop_columns(["age_max"]), policy).holds


def test_a_missing_sensitive_column_and_an_order_that_does_not_fit() -> None:
    policy = shoal.Policy(quasi=["age"], sensitive=["flu"], models=[shoal.LDiversity(2), shoal.KAnonymity(1)])
    found = verify_table(pa.table({"age": [1, 2]}), policy)
    assert [promise.holds for promise in found.promises] == [False, True]
    order = {"flu": Column("", kind=shoal.Kind.ORDINAL, order=("a", "b"))}
    ordered = shoal.Policy(quasi=["age"], sensitive=order, models=[shoal.TCloseness(1, distance="ordered")])
    found = verify_table(pa.table({"age": [1, 1], "flu": ["a", "secret"]}), ordered)
    assert not found.holds
    assert "secret" not in str(found)


def test_a_model_without_a_checker_is_refused_and_may_bring_its_own() -> None:
    table = pa.table({"age": [1, 1]})
    found = verify_table(table, quasi_only(Foreign()))
    assert not found.holds
    assert "cannot be verified" in found.problems[0]
    assert verify_table(table, quasi_only(OwnChecker())).holds
    assert not verify_table(table.slice(1), quasi_only(OwnChecker())).holds


def test_an_empty_table_breaks_nothing() -> None:
    table = pa.table({"age": pa.array([], pa.string()), "flu": pa.array([], pa.string())})
    models = [shoal.KAnonymity(5), shoal.LDiversity(2, kind="entropy"), shoal.TCloseness(0.1)]
    policy = shoal.Policy(quasi=["age"], sensitive=["flu"], models=models)
    found = verify_table(table, policy)
    assert found.holds
    assert found.to_dict()["promises"][0]["achieved"] is None


@given(
    st.integers(0, 200), st.integers(0, 200), st.sampled_from([0.1, 0.3, 0.7, 1 / 3, 1.0, 2.5]), st.booleans()
)
def test_ratios_are_compared_as_written(top: int, bottom: int, limit: float, strict: bool) -> None:
    bound = as_written(limit)
    expected = bottom > 0 and (top < bound * bottom if strict else top <= bound * bottom)
    scale = 10**17  # beyond int64: the same answer by way of Python's integers
    for factor in (1, scale):
        tops = np.array([top * factor], dtype=np.int64 if factor == 1 else object)
        bottoms = np.array([bottom * factor], dtype=tops.dtype)
        assert at_most(tops, bottoms, bound, strict=strict).tolist() == [expected]


def test_entropy_at_the_limit() -> None:
    assert entropy_reaches(np.array([7, 7, 7]), 3)
    assert not entropy_reaches(np.array([7, 7, 7]), 3.0000000001)
    assert not entropy_reaches(np.array([10**9, 10**9 + 1]), 2), "a near tie too long to settle is refused"


def test_cells_that_are_not_ours_stand_for_themselves() -> None:
    for text in ("[1", "[1, 2, 3]", "{a", '"open', '{"a"b}', '"a" b', "{", "]"):
        assert read_cell(text) == Cell((text,))
    assert read_cell('["a, b", c]') == Cell(("a, b", "c"), interval=True)
    assert read_cell("*").anything


TREE = {"care": {"nurse": {}, "doctor": {}}, "craft": {"smith": {}, "cook": {}}}
PARENT = {"nurse": "care", "doctor": "care", "smith": "craft", "cook": "craft"}
AGES = st.one_of(st.none(), st.integers(18, 30))
RECORDS = st.tuples(
    AGES, st.sampled_from([None, "Lund", "*", "a, b"]), st.sampled_from([None, *PARENT]), AGES
)


def as_table(records: list[Any]) -> pa.Table:
    types = {"age": pa.float64(), "town": pa.string(), "job": pa.string(), "pay": pa.int64()}
    return pa.table(
        {name: pa.array([r[j] for r in records], kind) for j, (name, kind) in enumerate(types.items())}
    )


def fits(column: str, members: list[Any], value: Any, *, generous: bool) -> bool:
    """Return whether a value fits what is published for the members of a class, by definition."""
    present = {member for member in members if member is not None}
    mixed = None in members and present
    if column == "pay" and (mixed or not present):
        return generous or value is None  # two nulls: null, or nothing at all
    if mixed:
        return True
    if not present or value is None:
        return (not present and value is None) or (column == "job" and len({PARENT[p] for p in present}) > 1)
    if column in ("age", "pay"):
        return bool(min(present) <= value <= max(present))
    if column == "town" or len(present) == 1:
        return value in present
    return (value in PARENT and PARENT[value] in {PARENT[p] for p in present}) or len(
        {PARENT[p] for p in present}
    ) > 1


@settings(max_examples=60, deadline=None)
@given(
    st.lists(st.tuples(RECORDS, st.integers(0, 3)), min_size=1, max_size=12), st.lists(RECORDS, max_size=25)
)
def test_population_counts(sample: list[Any], others: list[Any]) -> None:
    records, labels = [record for record, _ in sample], [label for _, label in sample]
    data, population = as_table(records), as_table(records + others)
    quasi = {
        "age": "numeric",
        "town": "categorical",
        "job": shoal.Hierarchy.from_dict(TREE),
        "pay": Column("", form=Form.BOUNDS),
    }
    policy = shoal.Policy(quasi=quasi).resolved(data)
    made = publish(data, encode(data, policy), Partition.from_labels(np.array(labels)), policy)
    examined = Examined.of(made.table, policy)
    found = population_counts(examined, population)
    for row, label in enumerate(labels):
        members = [r for r, c in zip(records, labels, strict=True) if c == label]
        for counted, generous in ((found.least, False), (found.most, True)):
            expected = sum(
                all(
                    fits(name, [member[j] for member in members], person[j], generous=generous)
                    for j, name in enumerate(quasi)
                )
                for person in records + others
            )
            assert counted[examined.ids[row]] == expected


def test_columns_the_policy_does_not_name_are_listed() -> None:
    bounds = shoal.Column("age", form="bounds")
    policy = shoal.Policy(identifiers=["name"], quasi={"age": bounds}, models=[shoal.KAnonymity(1)])
    table = {"age_min": [1], "age_max": [2], "town": ["Lund"], "note": ["x"]}
    assert shoal.verify(table, policy).unnamed == ("town", "note")
