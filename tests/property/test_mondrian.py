"""Mondrian against its definition, on random tables of every geometry."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from clustering_tables import classes_of, encoded_of, mixed_tables, shuffled
from oracle.costs import oracle_table
from oracle.mondrian import mondrian
from shoal.algorithms.mondrian import Mondrian
from shoal.encoding import Encoded, encode
from shoal.models.base import Model
from shoal.models.compile import compile_rules
from shoal.progress import Progress, Run, Stage


def classes(encoded: Encoded, *models: Model, relaxed: bool = False) -> set[frozenset[int]]:
    rules = compile_rules(models, encoded)
    return classes_of(Mondrian(relaxed=relaxed).partition(encoded, rules, Run()))


@settings(max_examples=200, deadline=None)
@given(table=mixed_tables(), k=st.integers(1, 6), relaxed=st.booleans(), weight=st.sampled_from([1.0, 0.3]))
def test_classes_are_those_of_the_definition(table: pa.Table, k: int, relaxed: bool, weight: float) -> None:
    encoded = encoded_of(table, weight)
    expected = mondrian(
        oracle_table(encoded.codes, encoded.space()), lambda records: len(records) >= k, relaxed
    )
    assert classes(encoded, shoal.KAnonymity(k), relaxed=relaxed) == expected


@settings(max_examples=100, deadline=None)
@given(table=mixed_tables(), k=st.integers(1, 4), relaxed=st.booleans())
def test_a_diverse_policy_stops_the_cuts(table: pa.Table, k: int, relaxed: bool) -> None:
    encoded = encoded_of(table)
    disease = table.column("disease").to_pylist()

    def admissible(records: list[int]) -> bool:
        return len(records) >= k and len({disease[i] for i in records}) >= 2

    expected = mondrian(oracle_table(encoded.codes, encoded.space()), admissible, relaxed)
    assert classes(encoded, shoal.KAnonymity(k), shoal.LDiversity(2), relaxed=relaxed) == expected


@settings(max_examples=50, deadline=None)
@given(table=mixed_tables(), k=st.integers(1, 5), seed=st.integers(0, 9))
def test_strict_cuts_ignore_row_order_and_keep_equal_rows_together(
    table: pa.Table, k: int, seed: int
) -> None:
    encoded = encoded_of(table)
    found = classes(encoded, shoal.KAnonymity(k))
    other, order = shuffled(table, seed)
    again = classes(encoded_of(other), shoal.KAnonymity(k))
    assert found == {frozenset(order[list(members)].tolist()) for members in again}
    homes = {(tuple(encoded.codes[i]), members) for members in found for i in members}
    assert len(homes) == len({row for row, _ in homes})


@settings(max_examples=50, deadline=None)
@given(table=mixed_tables(), k=st.integers(1, 5), relaxed=st.booleans())
def test_every_record_is_in_one_class_of_at_least_k(table: pa.Table, k: int, relaxed: bool) -> None:
    found = classes(encoded_of(table), shoal.KAnonymity(k), relaxed=relaxed)
    assert Counter(i for members in found for i in members) == Counter(range(table.num_rows))
    assert min(map(len, found)) >= min(k, table.num_rows)


@pytest.mark.parametrize("relaxed", [False, True])
def test_wide_columns_and_large_nodes(relaxed: bool) -> None:
    """More codes than a word has bits, and nodes on both sides of every threshold between sorts."""
    rng = np.random.default_rng(5)
    table = pa.table(
        {
            "fine": np.where(np.arange(600) < 500, rng.integers(0, 10**6, 600), rng.integers(0, 40, 600)),
            "name": [f"n{value}" for value in rng.integers(0, 90, 600)],
            "coarse": rng.integers(0, 3, 600),
        }
    )
    policy = shoal.Policy(quasi={"fine": "numeric", "name": "categorical", "coarse": "numeric"})
    encoded = encode(table, policy.resolved(table))
    for k in (2, 7, 60):
        expected = mondrian(
            oracle_table(encoded.codes, encoded.space()), lambda records, k=k: len(records) >= k, relaxed
        )
        assert classes(encoded, shoal.KAnonymity(k), relaxed=relaxed) == expected


@pytest.mark.parametrize("relaxed", [False, True])
def test_more_rows_on_the_wrong_side_than_are_listed_at_a_time(relaxed: bool) -> None:
    rng = np.random.default_rng(8)
    table = pa.table({"a": rng.integers(0, 900, 20_000), "b": rng.integers(0, 50, 20_000)})
    encoded = encode(table, shoal.Policy(quasi=["a", "b"]).resolved(table))
    expected = mondrian(
        oracle_table(encoded.codes, encoded.space()), lambda records: len(records) >= 900, relaxed
    )
    assert classes(encoded, shoal.KAnonymity(900), relaxed=relaxed) == expected


class _Counted(Progress):
    """Counts what is told."""

    def __init__(self) -> None:
        self.told: list[int] = []

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Stage]:
        self.total = total
        yield self

    def advance(self, steps: int = 1) -> None:
        self.told.append(steps)


def test_cutting_step_by_step_gives_the_same_classes(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(0)
    encoded = encode(
        pa.table({name: rng.integers(0, 9, 300) for name in "ab"}), shoal.Policy(quasi=["a", "b"])
    )
    rules = compile_rules((shoal.KAnonymity(3),), encoded)
    whole = Mondrian().partition(encoded, rules, Run())
    monkeypatch.setattr(sys.modules[Mondrian.__module__], "_STEP", 20)
    counted = _Counted()
    steps = Mondrian().partition(encoded, rules, Run(progress=counted))
    assert steps.labels.tolist() == whole.labels.tolist()
    assert sum(counted.told) == counted.total == 300
    assert len(counted.told) > 5
