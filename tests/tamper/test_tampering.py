"""Good releases, changed a little: every change that breaks a promise is caught, and no other."""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracle import verification as oracle
from shoal.encoding import encode
from shoal.partitions import Partition
from shoal.recode import publish
from shoal.schema import Column, Kind
from shoal.verification import verify_table

TREE = {"chest": {"flu": {}, "cold": {}}, "joint": {"gout": {}, "sprain": {}}}
LEAVES = ["flu", "cold", "gout", "sprain"]
ORDER = ("low", "mid", "high")
Holds = Callable[[oracle.Groups], bool]


def ordered(groups: oracle.Groups) -> bool:
    return oracle.t_closeness(groups, 0.3, oracle.distance_ordered, ORDER.index)


def numeric(groups: oracle.Groups) -> bool:
    return oracle.t_closeness(groups, 0.25, oracle.distance_ordered, float)


CASES: dict[str, tuple[Callable[[], Any], Holds, list[Any]]] = {
    "k": (lambda: shoal.KAnonymity(3), lambda g: oracle.k_anonymity(g, 3), LEAVES),
    "distinct": (lambda: shoal.LDiversity(2), lambda g: oracle.distinct_l(g, 2), LEAVES),
    "entropy": (
        lambda: shoal.LDiversity(2, kind="entropy"),
        lambda g: oracle.entropy_l(g, 2),
        LEAVES[:3],
    ),
    "entropy fraction": (
        lambda: shoal.LDiversity(1.7, kind="entropy"),
        lambda g: oracle.entropy_l(g, 1.7),
        LEAVES,
    ),
    "recursive": (
        lambda: shoal.LDiversity(2, kind="recursive", c=1.5),
        lambda g: oracle.recursive_l(g, 2, 1.5),
        LEAVES,
    ),
    "t equal": (
        lambda: shoal.TCloseness(0.4),
        lambda g: oracle.t_closeness(g, 0.4, oracle.distance_equal),
        [*LEAVES[:2], None],
    ),
    "t ordered": (lambda: shoal.TCloseness(0.3, distance="ordered"), ordered, [*ORDER, None]),
    "t numeric": (lambda: shoal.TCloseness(0.25, distance="ordered"), numeric, [1.5, 2, 10, 11]),
    "t tree": (
        lambda: shoal.TCloseness(0.3, distance="hierarchical"),
        lambda g: oracle.t_closeness(g, 0.3, oracle.distance_tree, TREE),
        LEAVES,
    ),
    "p-sensitive": (lambda: shoal.PSensitive(2, 3), lambda g: oracle.p_sensitive(g, 2, 3), LEAVES),
    "alpha-k": (lambda: shoal.AlphaK(0.6, 3), lambda g: oracle.alpha_k(g, 0.6, 3), LEAVES[:3]),
    "alpha-k listed": (
        lambda: shoal.AlphaK(0.3, 2, values=["flu"]),
        lambda g: oracle.alpha_k(g, 0.3, 2, ["flu"]),
        LEAVES,
    ),
    "beta": (lambda: shoal.BetaLikeness(1.5), lambda g: oracle.beta_likeness(g, 1.5), LEAVES[:3]),
    "beta enhanced": (
        lambda: shoal.BetaLikeness(1.5, enhanced=True),
        lambda g: oracle.beta_likeness(g, 1.5, enhanced=True),
        LEAVES[:3],
    ),
    "delta": (lambda: shoal.DeltaDisclosure(1.2), lambda g: oracle.delta_disclosure(g, 1.2), LEAVES[:2]),
    "delta ignoring": (
        lambda: shoal.DeltaDisclosure(0.9, absent="ignore"),
        lambda g: oracle.delta_disclosure(g, 0.9, absent="ignore"),
        LEAVES[:3],
    ),
}


def policy_for(case: str) -> shoal.Policy:
    """Return the policy of a case; its sensitive column has the kind the model needs."""
    model = CASES[case][0]()
    sensitive: Any = ["value"]
    if case == "t ordered":
        sensitive = {"value": Column("value", kind=Kind.ORDINAL, order=ORDER)}
    elif case == "t numeric":
        sensitive = {"value": "numeric"}
    elif case == "t tree":
        sensitive = {"value": shoal.Hierarchy.from_dict(TREE)}
    return shoal.Policy(quasi={"age": "numeric", "town": "categorical"}, sensitive=sensitive, models=[model])


def records_of(table: pa.Table) -> list[oracle.Record]:
    cells = zip(table["age"].to_pylist(), table["town"].to_pylist(), strict=True)
    return list(zip(cells, table["value"].to_pylist(), strict=True))


def agrees(table: pa.Table, case: str) -> bool:
    """Return what verification says, having checked that the definition says the same."""
    verdict = verify_table(table, policy_for(case)).holds
    if case == "t tree" and table["value"].null_count:
        assert not verdict, "a null has no place in the hierarchy: not verifiable, so it does not hold"
    else:
        assert verdict == CASES[case][1](oracle.groups_of(records_of(table)))
    return verdict


def good_release(case: str) -> pa.Table:
    """Return a published table that keeps the promise of a case only just, if a search finds one."""
    rng = random.Random(case)
    values = CASES[case][2]
    for size in (4, 5, 6, 4, 5, 6, 8, 10, 12, 16, 24):
        for _ in range(40):
            raw = pa.table(
                {
                    "age": [rng.choice([20, 30, 40, 50, None]) for _ in range(3 * size)],
                    "town": [rng.choice(["Lund", "*", "a, b", None]) for _ in range(3 * size)],
                    "value": [rng.choice(values) for _ in range(3 * size)],
                }
            )
            policy = policy_for(case).resolved(raw)
            partition = Partition.from_labels(np.repeat([0, 1, 2], size))
            table = publish(raw, encode(raw, policy), partition, policy).table
            if CASES[case][1](oracle.groups_of(records_of(table))):
                return table
    raise AssertionError("no table keeps this promise")


def with_cell(table: pa.Table, column: str, row: int, value: Any) -> pa.Table:
    cells = table[column].to_pylist()
    cells[row] = value
    return table.set_column(table.column_names.index(column), column, pa.array(cells, table[column].type))


def tampered(table: pa.Table, values: list[Any]) -> list[pa.Table]:
    """Return the table changed in every single place, in every way that is meant here."""
    n = table.num_rows
    found = [pa.concat_tables([table.slice(0, i), table.slice(i + 1)]) for i in range(n)]
    for column in ("age", "town"):
        for row in range(n):
            found += [with_cell(table, column, row, None), with_cell(table, column, row, "[7, 8]")]
    for row in range(n):
        found += [with_cell(table, "value", row, value) for value in [*values, None]]
    original = table["value"].to_pylist()
    for i in range(n):
        for j in range(i):
            if original[i] != original[j]:
                found.append(with_cell(with_cell(table, "value", i, original[j]), "value", j, original[i]))
    return found


@pytest.mark.parametrize("case", CASES)
def test_every_change_that_breaks_the_promise_is_caught(case: str) -> None:
    release = good_release(case)
    assert agrees(release, case)
    verdicts = [agrees(changed, case) for changed in tampered(release, CASES[case][2])]
    assert not all(verdicts), "some change must break the promise, or this test shows nothing"


@settings(max_examples=40, deadline=None)
@given(st.data())
@pytest.mark.parametrize("case", CASES)
def test_verification_agrees_with_the_definitions(case: str, data: st.DataObject) -> None:
    values = CASES[case][2]
    cells = st.tuples(st.sampled_from([None, "20", "[20, 30]"]), st.sampled_from([None, "Lund", "*"]))
    rows = data.draw(st.lists(st.tuples(cells, st.sampled_from(values)), min_size=1, max_size=30))
    table = pa.table(
        {
            "age": pa.array([age for (age, _), _ in rows], pa.string()),
            "town": pa.array([town for (_, town), _ in rows], pa.string()),
            "value": [value for _, value in rows],
        }
    )
    if case != "t numeric" and pa.types.is_null(table["value"].type):
        table = table.set_column(2, "value", table["value"].cast(pa.string()))
    agrees(table, case)


PEOPLE = ["a"] * 4 + ["b"] * 3 + ["c"] * 2 + [None] * 2
MEANING = {
    "a": {"a"},
    "c": {"c"},
    "{a, b}": {"a", "b"},
    "{b, c}": {"b", "c"},
    "[a, b]": {"[a, b]"},  # a text column has no intervals: nobody fits
    "*": {"a", "b", "c", None},
    None: {None},
}


@settings(max_examples=150, deadline=None)
@given(st.lists(st.sampled_from(sorted(MEANING, key=str)), min_size=1, max_size=12))
def test_population_models_agree_with_their_definitions(cells: list[str | None]) -> None:
    table = pa.table({"town": pa.array(cells, pa.string())})
    population = pa.table({"town": PEOPLE})
    fitting = {cell: sum(person in MEANING[cell] for person in PEOPLE) for cell in set(cells)}
    mapped = shoal.Policy(quasi={"town": "categorical"}, models=[shoal.KMap(4, population=population)])
    assert verify_table(table, mapped).holds == all(count >= 4 for count in fitting.values())
    presence = shoal.DeltaPresence(0.2, 0.5, population=population)
    bounded = shoal.Policy(quasi={"town": "categorical"}, models=[presence])
    held = all(
        people > 0 and 2 * cells.count(cell) <= people <= 5 * cells.count(cell)
        for cell, people in fitting.items()
    )
    assert verify_table(table, bounded).holds == held
