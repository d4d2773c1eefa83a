"""Full-domain generalization against every combination of levels, on random tables."""

from __future__ import annotations

import signal
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction
from typing import Any
from unittest import mock

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracle import full_domain as oracle
from oracle import models as plain
from shoal.algorithms import ladders, lattice_search, local
from shoal.algorithms.lattice import Lattice
from shoal.algorithms.local import Local
from shoal.errors import PolicyUnsatisfiable
from shoal.exploration import FOLLOWS, Exploration
from shoal.progress import Run
from shoal.verification.levels import level_problems
from strategies import random_tables

QUASI = ("age", "job", "town")
HIERARCHIES = {"age": shoal.Hierarchy.intervals(widths=[4, 8], start=18), "town": shoal.Hierarchy.prefix()}


# What breaks a promise, from (the values of a class, those of all records that are left).
PROMISES: dict[str, tuple[list[Any], Callable[[list[str], list[str]], bool]]] = {
    "k": ([shoal.KAnonymity(3)], lambda own, all_: len(own) < 3),
    "distinct": ([shoal.LDiversity(2)], lambda own, all_: plain.distinct_l(own) < 2),
    "p-sensitive": ([shoal.PSensitive(2, 3)], lambda own, all_: len(own) < 3 or plain.distinct_l(own) < 2),
    "entropy": (
        [shoal.LDiversity(1.5, kind="entropy")],
        lambda own, all_: not plain.entropy_holds(own, Fraction(3, 2)),
    ),
    "recursive": (
        [shoal.KAnonymity(2), shoal.LDiversity(2, kind="recursive", c=2)],
        lambda own, all_: len(own) < 2 or plain.recursive_c(own, 2) >= 2,
    ),
    "t-closeness": (
        [shoal.KAnonymity(2), shoal.TCloseness(0.3)],
        lambda own, all_: len(own) < 2 or plain.emd_equal(own, all_) > Fraction(3, 10),
    ),
    "beta": (
        [shoal.BetaLikeness(0.5)],
        lambda own, all_: plain.beta_gain(own, all_) > Fraction(1, 2),
    ),
    "delta, not monotone": (
        [shoal.KAnonymity(2), shoal.DeltaDisclosure(0.6, absent="ignore")],
        lambda own, all_: len(own) < 2 or plain.delta(own, all_, "ignore") >= 0.6,
    ),
}


def policy_of(name: str, suppression: float, weight: float = 1.0) -> shoal.Policy:
    return shoal.Policy(
        quasi={
            "age": shoal.Column("age", hierarchy=HIERARCHIES["age"], weight=weight),
            "job": "categorical",
            "town": HIERARCHIES["town"],
        },
        sensitive=["disease"],
        models=PROMISES[name][0],
        suppression=suppression,
    )


def plainly(table: pa.Table, name: str) -> Any:
    """Return (columns, ladders, what breaks the promise) from the definitions."""
    columns = [table[column].to_pylist() for column in QUASI]
    disease = table["disease"].to_pylist()
    steps = [
        oracle.ladder(
            columns[0], [lambda age: ("by 4", (age - 18) // 4), lambda age: ("by 8", (age - 18) // 8)]
        ),
        oracle.flat_ladder(columns[1]),
        oracle.ladder(columns[2], [lambda town: town[:2] + "*", lambda town: town[:1] + "**"]),
    ]
    broken = PROMISES[name][1]

    def fails(members: list[int], left: list[int]) -> bool:
        return broken([disease[i] for i in members], [disease[i] for i in left])

    return columns, steps, fails


def expected(table: pa.Table, name: str, suppression: float, weight: float) -> Any:
    """Return (columns, ladders, all outcomes, the best first)."""
    columns, steps, fails = plainly(table, name)
    limit = int(Fraction(repr(suppression)) * table.num_rows)
    found = list(oracle.outcomes(columns, steps, [weight, 1.0, 1.0], fails, limit))
    return columns, steps, oracle.best(found)


def explored(table: pa.Table, policy: shoal.Policy, **options: Any) -> Exploration:
    encoded = shoal.encode(table, policy)
    policy = policy.resolved(table)
    run = Run(suppression=policy.suppression, promises=tuple(policy.promises()))
    return Lattice(**options).explore(encoded, policy.compile(encoded), run)


CASES = {
    "table": random_tables(),
    "name": st.sampled_from(sorted(PROMISES)),
    "suppression": st.sampled_from([0.0, 0.1, 0.3, 0.6]),
    "weight": st.sampled_from([1.0, 2.5]),
}


@settings(max_examples=150, deadline=None)
@given(**CASES, hashed=st.booleans())
def test_the_best_nodes_are_those_of_the_whole_lattice(
    table: pa.Table, name: str, suppression: float, weight: float, hashed: bool
) -> None:
    _, _, best = expected(table, name, suppression, weight)
    with mock.patch.object(ladders, "_ROOM", 1 if hashed else ladders._ROOM):
        found = explored(table, policy_of(name, suppression, weight), solutions=4)
    assert found.optimal
    shown = [(a.node, a.suppressed, a.told) for a in found.search.best.found]
    assert shown == [(o.node, len(o.suppressed), o.told) for o in best[:4]]
    possible = {outcome.node for outcome in best}
    for row in found.lattice.to_pylist():
        node = tuple(row[column] for column in QUASI)
        assert (row["state"] != "possible") or node in possible
        assert row["state"] not in ("impossible", FOLLOWS[True]) or node not in possible


@settings(max_examples=80, deadline=None)
@given(**CASES)
def test_a_lattice_too_large_to_be_listed_gives_nodes_that_are_possible(
    table: pa.Table, name: str, suppression: float, weight: float
) -> None:
    _, _, best = expected(table, name, suppression, weight)
    with mock.patch.object(lattice_search, "MOST_NODES", 0):
        found = explored(table, policy_of(name, suppression, weight), tries=3)
    assert not found.optimal
    known = {outcome.node: outcome for outcome in best}
    for one in found.search.best.found:
        assert (one.suppressed, one.told) == (len(known[one.node].suppressed), known[one.node].told)
    if any(outcome.node == found.search.ladders.high for outcome in best):
        assert found.solutions


@settings(max_examples=80, deadline=None)
@given(**CASES, algorithm=st.sampled_from(["lattice", "datafly"]))
def test_a_release_shows_the_levels_it_says(
    table: pa.Table, name: str, suppression: float, weight: float, algorithm: str
) -> None:
    columns, steps, best = expected(table, name, suppression, weight)
    policy = policy_of(name, suppression, weight)
    known = {outcome.node: outcome for outcome in best}
    node = (
        oracle.datafly(columns, steps, set(known))
        if algorithm == "datafly"
        else best[0].node
        if best
        else None
    )
    if node is None:
        with pytest.raises(PolicyUnsatisfiable):
            shoal.anonymize(table, policy, algorithm=algorithm)
        return
    try:
        release = shoal.anonymize(table, policy, algorithm=algorithm)
    except PolicyUnsatisfiable as refusal:
        assert refusal.code == "S202"  # what the whole table breaks is refused before anything is suppressed
        return
    assert release.levels == dict(zip(QUASI, node, strict=True))
    suppressed = known[node].suppressed
    assert {i for i, label in enumerate(release.partition.labels) if label < 0} == suppressed
    kept = [i for i in range(table.num_rows) if i not in suppressed]
    for j, column in enumerate(QUASI):
        step = steps[j][node[j]]
        shown = release.table[column].to_pylist()
        # Cells are equal exactly where the plain nodes are.
        pairs = {(step[columns[j][i]][0], cell) for i, cell in zip(kept, shown, strict=True)}
        assert len(pairs) == len({plain_node for plain_node, _ in pairs}) == len({cell for _, cell in pairs})
    if weight == 1.0:
        cells = table.num_rows * len(QUASI)
        assert release.metrics["gcp"] == pytest.approx(1 - known[node].told / cells / oracle.UNIT, abs=1e-5)


def test_the_loss_is_that_of_the_metric_of_its_name() -> None:
    table = random_table()
    metric = {"leaves": "gcp", "height": "il-normalised", "entropy": "non-uniform-entropy"}
    for loss, name in metric.items():
        policy = policy_of("k", 0.2)
        release = shoal.anonymize(table, policy, algorithm="lattice", loss=loss)
        found = explored(table, policy, loss=loss)
        assert found.solutions[0].loss == pytest.approx(release.metrics[name], abs=1e-5)
    release = shoal.anonymize(table, policy_of("k", 0.2), algorithm="lattice", loss="levels")
    found = explored(table, policy_of("k", 0.2), loss="levels")
    assert found.solutions[0].loss == pytest.approx(1 - release.metrics["precision"], abs=1e-5)


def random_table() -> pa.Table:
    ages = [18, 19, 19, 23, 24, 24, None, 30, 30, 29, 22, 18]
    towns = ["101", "101", "102", "201", "201", "201", "101", "202", "202", "202", "101", "102"]
    jobs = ["cook", "cook", None, "clerk"] * 3
    diseases = ["flu", "cold", "gout"] * 4
    return pa.table({"age": ages, "job": jobs, "town": towns, "disease": diseases})


def test_a_cell_at_another_level_is_found() -> None:
    table = random_table()
    policy = policy_of("k", 0.5).resolved(table)
    release = shoal.anonymize(table, policy, algorithm="lattice")
    ranges = [(level, level) for level in release.partition.levels]
    rows = (release.partition.labels >= 0).nonzero()[0]
    assert level_problems(release.table, table, rows, policy, ranges) == []
    for j, name in enumerate(QUASI):
        cells = release.table[name].to_pylist()
        original = [None if v is None else str(v) for v in table[name].take(pa.array(rows)).to_pylist()]
        forged = original[0] if cells[0] == "*" or cells[0] != original[0] else "elsewhere"
        column = pa.array([forged, *(None if c is None else str(c) for c in cells[1:])], pa.string())
        tampered = release.table.set_column(release.table.column_names.index(name), name, column)
        assert level_problems(tampered, table, rows, policy, ranges), name
        assert j < len(ranges)


def test_a_search_that_is_interrupted_keeps_the_best_so_far() -> None:
    from shoal.algorithms.nodes import Assessor

    table, real, calls = random_table(), Assessor.assess, []

    def assess(self: Assessor, *arguments: Any) -> Any:
        calls.append(1)
        if len(calls) > 3:
            raise KeyboardInterrupt
        return real(self, *arguments)

    with mock.patch.object(Assessor, "assess", assess):
        found = explored(table, policy_of("k", 0.2))
    assert not found.optimal
    assert found.solutions
    assert found.assessed == 3
    assert "not looked at" in found.states()


def test_ctrl_c_during_a_step_ends_the_search_after_it() -> None:
    from shoal.algorithms.nodes import Assessor

    real = Assessor.assess

    def assess(self: Assessor, *arguments: Any) -> Any:
        signal.raise_signal(signal.SIGINT)  # as compiled code would meet it: the step still ends
        return real(self, *arguments)

    with mock.patch.object(Assessor, "assess", assess):
        found = explored(random_table(), policy_of("k", 0.2))
    assert (found.assessed, len(found.solutions), found.optimal) == (1, 1, False)
    assert signal.getsignal(signal.SIGINT) is signal.default_int_handler


@settings(max_examples=80, deadline=None)
@given(
    table=random_tables(),
    suppression=CASES["suppression"],
    least=st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 3)),
    span=st.tuples(st.integers(0, 3), st.integers(0, 1), st.integers(0, 3)),
)
def test_levels_asked_for_cut_the_lattice(
    table: pa.Table, suppression: float, least: tuple[int, ...], span: tuple[int, ...]
) -> None:
    policy = policy_of("k", suppression)
    most = tuple(low + more for low, more in zip(least, span, strict=True))
    limited = [
        replace(column, least_level=low, most_level=high)
        for column, low, high in zip(policy.schema.quasi, least, most, strict=True)
    ]
    policy = policy.with_columns([*limited, *policy.schema.sensitive])
    _, steps, best = expected(table, "k", suppression, 1.0)
    tops = [len(ladder) - 1 for ladder in steps]
    if any(low > top > 0 for low, top in zip(least, tops, strict=True)):
        with pytest.raises(shoal.errors.PolicyError, match="its levels end at"):
            explored(table, policy)
        return
    low = [min(level, top) for level, top in zip(least, tops, strict=True)]
    allowed = [o for o in best if all(a <= x <= max(a, b) for a, x, b in zip(low, o.node, most, strict=True))]
    found = explored(table, policy).search.best.found
    assert [a.node for a in found] == [outcome.node for outcome in allowed[:1]]
    for algorithm in ("lattice", "local", "mondrian"):
        try:
            release = shoal.anonymize(table, policy, algorithm=algorithm)
        except PolicyUnsatisfiable as refusal:
            assert algorithm != "lattice" or not allowed
            assert refusal.code == "S202" or "%" in str(refusal) or "most_level" in str(refusal)
        else:
            assert release.metrics["gcp"] <= 1.0  # its levels were verified


def test_a_least_level_holds_for_every_algorithm() -> None:
    table = random_table()
    policy = policy_of("k", 0.0)
    town = replace(policy.schema.quasi[2], least_level=2)
    policy = policy.with_columns([*policy.schema.quasi[:2], town, *policy.schema.sensitive])
    for algorithm in ("mondrian", "k-member", "local"):
        release = shoal.anonymize(table, policy, algorithm=algorithm)
        assert set(release.table["town"].to_pylist()) <= {"1**", "2**", "*"}
        assert release.metrics["ncp"]["town"] >= 1 / 3


def test_a_column_published_otherwise_is_refused() -> None:
    policy = policy_of("k", 0.2)
    age = replace(policy.schema.quasi[0], form=shoal.Form.INTERVAL)
    policy = policy.with_columns([age, *policy.schema.columns[1:]])
    with pytest.raises(shoal.errors.PolicyError, match="as interval"):
        shoal.anonymize(random_table(), policy, algorithm="lattice")


@settings(max_examples=100, deadline=None)
@given(table=random_tables(), name=CASES["name"], weight=CASES["weight"])
def test_local_recoding_takes_nodes_by_their_loss(table: pa.Table, name: str, weight: float) -> None:
    columns, steps, fails = plainly(table, name)
    classes = oracle.local(columns, steps, [weight, 1.0, 1.0], fails)
    policy = policy_of(name, 0.0, weight)
    encoded = shoal.encode(table, policy)
    made = Local().partition(encoded, policy.resolved(table).compile(encoded), Run())
    found = {frozenset(made.members(c).tolist()) for c in range(made.classes)}
    assert found == {frozenset(members) for members in classes}


def check_nodes(published: pa.Table, table: pa.Table, most: dict[str, int] | None = None) -> None:
    """Check that every cell of the columns with hierarchies is a node of them, `most` levels up at most."""
    for name, hierarchy in HIERARCHIES.items():
        values = pa.array([value for value in table[name].to_pylist() if value is not None]).unique()
        top = (most or {}).get(name, 99)
        nodes = {label for row in hierarchy.rows(values) for label in row[: top + 1]} | {None, "*"}
        assert {None if c is None else str(c) for c in published[name].to_pylist()} <= nodes


@settings(max_examples=60, deadline=None)
@given(**CASES, large=st.booleans(), leave=st.booleans())
def test_local_recoding_publishes_nodes_only(
    table: pa.Table, name: str, suppression: float, weight: float, large: bool, leave: bool
) -> None:
    policy = policy_of(name, suppression, weight)
    with mock.patch.object(local, "MOST_NODES", 0 if large else local.MOST_NODES):
        try:
            release = shoal.anonymize(table, policy, algorithm="local", leave=leave)
        except PolicyUnsatisfiable:
            return
    assert release.partition.suppressed <= suppression * table.num_rows
    check_nodes(release.table, table)


@settings(max_examples=40, deadline=None)
@given(**CASES, limited=st.booleans())
def test_what_local_recoding_made_is_refined_to_nodes(
    table: pa.Table, name: str, suppression: float, weight: float, limited: bool
) -> None:
    policy = policy_of(name, suppression, weight)
    if limited:
        town = replace(policy.schema.quasi[2], most_level=1)
        policy = policy.with_columns([*policy.schema.quasi[:2], town, *policy.schema.sensitive])
    try:
        local_ = shoal.anonymize(table, policy, algorithm="local")
        refined = shoal.anonymize(table, policy, algorithm="local", refine=shoal.Refine(moves=100))
    except PolicyUnsatisfiable:
        return
    check_nodes(refined.table, table, {"town": 1} if limited else None)
    told = refined.refinement
    assert told is not None
    assert told["after"] <= told["before"] + 1e-9
    assert refined.partition.suppressed <= local_.partition.suppressed


def test_a_budget_ends_the_descents_in_a_large_lattice() -> None:
    with mock.patch.object(lattice_search, "MOST_NODES", 0):  # and every node is known long before
        found = explored(random_table(), policy_of("k", 0.2), seconds=0.2)
    assert found.solutions
    assert not found.optimal
    assert found.assessed <= found.size


@pytest.mark.parametrize("large", [False, True])
def test_local_recoding_that_is_interrupted_sends_the_rest_to_the_root(large: bool) -> None:
    table, real, calls = random_table(), local._Sweep.take, []

    def take(self: Any, *arguments: Any) -> None:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        real(self, *arguments)

    with (
        mock.patch.object(local, "MOST_NODES", 0 if large else local.MOST_NODES),
        mock.patch.object(local._Sweep, "take", take),
    ):
        release = shoal.anonymize(table, policy_of("k", 0.2), algorithm="local")
    assert len(calls) == 3
    assert release.evidence.holds
    check_nodes(release.table, table)


def test_what_is_left_may_be_suppressed_at_once() -> None:
    table = pa.table({"age": [20, 20, 20, 28, 28, 28, 18, 23, 30, 30]})
    age = shoal.Hierarchy.intervals(widths=[2])
    policy = shoal.Policy(quasi={"age": age}, models=[shoal.KAnonymity(3)], suppression=0.4)
    assert shoal.anonymize(table, policy, algorithm="local", leave=True).partition.suppressed == 4
    assert shoal.anonymize(table, policy, algorithm="local").partition.suppressed == 0
