"""Profiles of columns against counting by hand; presets; before and after; the order that repeats."""

from __future__ import annotations

import datetime as dt
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import io
from shoal.demo import patients
from shoal.examples import Sides, invented_pairs, real_pairs
from shoal.policy_file import from_dict
from shoal.presets import PRESETS, SensitiveFacts
from shoal.profiling import profile


@given(st.lists(st.none() | st.integers(-5, 40), max_size=60))
@settings(max_examples=60, deadline=None)
def test_a_column_of_numbers_is_counted(values: list[int | None]) -> None:
    (seen,) = profile(pa.table({"x": pa.array(values, pa.int64())}))
    counts = Counter(value for value in values if value is not None)
    assert (seen.records, seen.nulls) == (len(values), values.count(None))
    assert (seen.distinct, seen.unique) == (len(counts), sum(n == 1 for n in counts.values()))
    assert sum(seen.bars) == len(values) - values.count(None)
    assert seen.ordered
    assert seen.rest == 0


@given(st.lists(st.none() | st.integers(0, 60).map(str), max_size=200))
@settings(max_examples=60, deadline=None)
def test_a_column_of_texts_is_ranked(values: list[str | None]) -> None:
    (seen,) = profile(pa.table({"x": pa.array(values, pa.string())}))
    ranked = sorted(Counter(value for value in values if value is not None).values(), reverse=True)
    shown = len(seen.bars) - bool(seen.rest)
    assert list(seen.bars[:shown]) == ranked[:shown]
    assert seen.rest == sum(ranked[shown:])
    assert not seen.ordered


def test_dates_nan_and_nested_cells_have_profiles() -> None:
    days = [dt.date(2024, 1, day) for day in (1, 2, 2, 31)]
    table = pa.table({"day": days, "x": [1.0, float("nan"), 2.0, 2.0], "list": [[1], [2], [2], None]})
    day, x, nested = profile(table)
    assert (day.ordered, day.distinct, sum(day.bars)) == (True, 3, 4)
    assert (x.nulls, x.distinct) == (1, 2)
    assert (nested.records, nested.nulls) == (4, 1)


@pytest.mark.parametrize("name", list(PRESETS))
@pytest.mark.parametrize("distinct", [1, 2, 12])
def test_every_preset_makes_a_policy(name: str, distinct: int) -> None:
    models = PRESETS[name].models([SensitiveFacts("income", distinct, True), SensitiveFacts("job", 7, False)])
    columns = {"age": {"role": "quasi"}, "income": {"role": "sensitive"}, "job": {"role": "sensitive"}}
    policy = from_dict({"columns": columns, "models": models})
    asked = [(model.name, column) for model, column in policy.promises()]
    assert len(asked) == len(set(asked))
    assert ("l-diversity", "job") in asked
    assert (("l-diversity", "income") in asked) is (distinct > 1)


def test_presets_grow_stricter() -> None:
    internal, partner, public = PRESETS.values()
    assert internal.k < partner.k < public.k
    assert internal.l <= partner.l <= public.l
    assert internal.suppression > partner.suppression > public.suppression


@pytest.fixture(scope="module", params=["drop", "star"])
def sides(request: pytest.FixtureRequest) -> Sides:
    table = patients(600)
    policy: dict[str, Any] = {
        "identifiers": ["name", "patient_id", "email"],
        "quasi": ["age", "sex", "job", "admission"],
        "sensitive": ["diagnosis"],
        "suppression": 0.05,
    }
    made = shoal.anonymize(table, **policy, k=6, suppressed=request.param, algorithm="mondrian")
    return Sides(table, made.published, made.partition.labels, made.policy)


def test_invented_rows_are_nobodys_and_fit_their_class(sides: Sides) -> None:
    quasi = [column.name for column in sides.policy.schema.quasi]
    people = set(zip(*(map(str, sides.table.column(name).to_pylist()) for name in quasi), strict=True))
    pairs = invented_pairs(sides, 5, seed=4)
    assert len(pairs) == 5
    for pair in pairs:
        assert tuple(str(pair.before[name]) for name in quasi) not in people
        low, _, high = str(pair.after["age"]).strip("[]").partition(", ")
        assert int(low) <= int(str(pair.before["age"])) <= int(high or low)
        assert pair.shared_by >= 6
        assert pair.before["name"] == "(invented)"
        assert pair.after["diagnosis"] == pair.before["diagnosis"]
    assert invented_pairs(sides, 5, seed=4) == pairs


def test_real_rows_stand_beside_what_became_of_them(sides: Sides) -> None:
    by_id = {row["patient_id"]: row for row in sides.table.to_pylist()}
    for pair in real_pairs(sides, 20, seed=1):
        row = by_id[pair.before["patient_id"]]
        assert pair.before["age"] == str(row["age"])
        assert pair.after["diagnosis"] == row["diagnosis"]


def test_nothing_is_invented_where_all_members_are_alike() -> None:
    table = pa.table({"job": ["a"] * 4 + ["b"] * 4})
    made = shoal.anonymize(table, quasi=["job"], k=4, algorithm="mondrian")
    assert invented_pairs(Sides(table, made.published, made.partition.labels, made.policy), 3, seed=0) == []


def test_a_sorted_release_repeats_and_forgets_the_order(tmp_path: Path) -> None:
    table = patients(300)
    turned = table.take(pa.array(np.random.default_rng(5).permutation(300)))
    options: dict[str, Any] = {
        "quasi": ["age", "sex"],
        "sensitive": ["diagnosis"],
        "k": 4,
        "algorithm": "mondrian",
    }
    for name, data in (("a.csv", table), ("b.csv", turned)):
        shoal.anonymize(data.select(["age", "sex", "diagnosis"]), **options).write(
            tmp_path / name, order="sort"
        )
    lines = (tmp_path / "a.csv").read_text().splitlines()
    assert (tmp_path / "a.csv").read_bytes() == (tmp_path / "b.csv").read_bytes()
    assert len(lines) == 301


def test_lists_and_categories_can_be_sorted(tmp_path: Path) -> None:
    kinds = pa.array(["b", "a", "b"]).dictionary_encode()
    table = pa.table({"age": [1, 1, 1], "kind": kinds, "list": [[2], [1], None]})
    made = shoal.anonymize(table, quasi=["age"], k=2, algorithm="mondrian")
    made.write(tmp_path / "x.parquet", order="sort")
    found = io.read(tmp_path / "x.parquet").to_pydict()
    assert found["kind"] == ["a", "b", "b"]
    assert sorted(map(str, found["list"])) == ["None", "[1]", "[2]"]
    assert found["list"][0] == [1]
