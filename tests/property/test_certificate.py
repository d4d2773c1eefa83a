"""The certificate against the best of all partitions: brute force on few records, else integer programs."""

from __future__ import annotations

import math
from itertools import combinations, pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

import shoal
import shoal.certificate as certificate
from oracle.metrics import Column, Taxonomy
from oracle.optimum import class_loss, least_class, least_loss
from shoal.algorithms.distinct import distinct_rows
from shoal.certificate import LOSSES, certify, rows_of
from shoal.encoding import Encoded, encode
from shoal.kernels.box_tree import make_boxes
from shoal.kernels.interpreted import interpreted
from shoal.kernels.least_class import least_costs, least_costs_parallel, nearest_costs
from shoal.kernels.prices import price_limit, raise_prices

TOWNS = {
    "north": {"coast": ["Kiel", "Bremen"], "inland": ["Celle"]},
    "south": ["Ulm", "Passau"],
    "Berlin": None,
}
KINDS = ("age", "pay", "job", "town")
FIELDS = {
    "age": st.one_of(st.none(), st.integers(18, 30)),
    "pay": st.sampled_from([0.0, 1.0, 1.5, 7.0, 8.0]),
    "job": st.one_of(st.none(), st.sampled_from(["nurse", "cook", "clerk", "smith"])),
    "town": st.one_of(st.none(), st.sampled_from(list(Taxonomy(TOWNS).leaves))),
}


def both(names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> tuple[Encoded, list[Column]]:
    """Return a table as shoal sees it, and as the definitions do."""
    values = dict(zip(names, (list(column) for column in zip(*rows, strict=True)), strict=True))
    types = {"age": pa.int64(), "pay": pa.float64(), "job": pa.string(), "town": pa.string()}
    kinds = {
        "age": "numeric",
        "pay": "numeric",
        "job": "categorical",
        "town": shoal.Hierarchy.from_dict(TOWNS),
    }
    data = pa.table({name: pa.array(values[name], types[name]) for name in names})
    policy = shoal.Policy(quasi={name: kinds[name] for name in names}).resolved(data)
    trees = {"town": Taxonomy(TOWNS)}
    columns = [Column(name, values[name], name in ("age", "pay"), trees.get(name)) for name in names]
    return encode(data, policy), columns


@st.composite
def tables(draw: st.DrawFn, most: int) -> tuple[Encoded, list[Column]]:
    """Draw a table of few records, some of them alike."""
    names = tuple(draw(st.lists(st.sampled_from(KINDS), min_size=1, max_size=4, unique=True)))
    row = st.tuples(*(FIELDS[name] for name in names))
    pool = draw(st.lists(row, min_size=1, max_size=4))
    return both(names, draw(st.lists(st.sampled_from(pool) | row, min_size=2, max_size=most)))


def random_table(records: int, seed: int, names: tuple[str, ...] = KINDS) -> tuple[Encoded, list[Column]]:
    rng = np.random.default_rng(seed)
    pools: dict[str, list[Any]] = {
        "age": [None, *range(20, 45)],
        "pay": [0.0, 0.5, 1.0, 1.5, 7.0, 8.0],
        "job": [None, "nurse", "cook", "clerk", "smith", "smith"],
        "town": [None, *Taxonomy(TOWNS).leaves],
    }
    return both(
        names, [tuple(pools[name][rng.integers(len(pools[name]))] for name in names) for _ in range(records)]
    )


@settings(max_examples=100, deadline=None)
@given(tables(most=8), st.integers(2, 4), st.sampled_from(LOSSES), st.integers(0, 2))
def test_no_partition_loses_less(
    case: tuple[Encoded, list[Column]], k: int, loss: str, suppressed: int
) -> None:
    encoded, columns = case
    suppressed = min(suppressed, encoded.records)
    bound = certify(encoded, k, loss).bound
    least = least_loss(columns, k, loss, suppressed)
    assert 0 <= bound <= min(least, 1.0)
    if least == 0:
        assert bound == 0


@pytest.mark.parametrize(("seed", "k", "loss"), [(1, 2, "gcp"), (2, 3, "gcp"), (3, 3, "lm"), (4, 4, "gcp")])
def test_no_partition_of_twelve_records_loses_less(seed: int, k: int, loss: str) -> None:
    encoded, columns = random_table(11, seed)
    bound, least = certify(encoded, k, loss).bound, least_loss(columns, k, loss, 1)
    assert 0.4 * least <= bound <= least


@pytest.mark.parametrize(
    ("records", "k", "loss", "seed"),
    [(40, 2, "gcp", 5), (40, 2, "lm", 6), (15, 3, "gcp", 7), (15, 3, "il-normalised", 8)],
)
def test_no_solution_of_the_integer_program_loses_less(records: int, k: int, loss: str, seed: int) -> None:
    encoded, columns = random_table(records, seed)
    bound, least = certify(encoded, k, loss).bound, integer_program(columns, k, loss)
    assert 0.4 * least <= bound <= least


def integer_program(columns: list[Column], k: int, loss: str) -> float:
    """Return the least mean loss of a partition; classes of 2k records lose no less than their parts."""
    n = len(columns[0].values)
    sets = [members for size in range(k, 2 * k) for members in combinations(range(n), size)]
    costs = np.array([len(members) * class_loss(columns, list(members), loss) for members in sets])
    ends = np.cumsum([0, *map(len, sets)])
    cover = csc_array(
        (np.ones(ends[-1]), np.concatenate([np.array(members) for members in sets]), ends),
        shape=(n, len(sets)),
    )
    constraints = LinearConstraint(cover, np.ones(n), np.ones(n))
    solved = milp(costs, constraints=constraints, integrality=np.ones(len(sets)), bounds=Bounds(0, 1))
    assert solved.success
    return float(solved.fun) / (n * len(columns))


@settings(max_examples=60, deadline=None)
@given(tables(most=9), st.integers(2, 4), st.sampled_from(LOSSES))
def test_each_record_loses_what_its_cheapest_class_does(
    case: tuple[Encoded, list[Column]], k: int, loss: str
) -> None:
    encoded, columns = case
    expected = [least_class(columns, i, k, loss) for i in range(encoded.records)]
    rows = rows_of(encoded, loss)
    tree = make_boxes(rows.gauge, rows.values, rows.weight)
    everything = (1000, 1_000_000)
    found = least_costs(rows.gauge, tree, k, everything, float(len(columns)), (0, len(rows.weight)))
    assert found @ tree.weight == pytest.approx(sum(expected))
    for work in [(1, 0), (1000, 0), (2, 3), (1000, 5)]:
        less = least_costs(rows.gauge, tree, k, work, float(len(columns)), (0, len(rows.weight)))
        assert (less <= found + 1e-12).all()


@settings(max_examples=100, deadline=None)
@given(tables(most=8), st.integers(2, 4), st.sampled_from(LOSSES), st.sampled_from([0.3, 1.0, 4.0]))
def test_no_class_charges_its_records_more_than_it_loses(
    case: tuple[Encoded, list[Column]], k: int, loss: str, limit: float
) -> None:
    encoded, columns = case
    rows = rows_of(encoded, loss)
    tree = make_boxes(rows.gauge, rows.values, rows.weight)
    n, limit = len(rows.weight), min(limit, float(len(columns)))
    least = least_costs(rows.gauge, tree, k, (100, 10_000), float(len(columns)), (0, n))
    by_row = np.empty(n)
    by_row[tree.row] = raise_prices(rows.gauge, tree, k, least, limit)
    assert (by_row[tree.row] >= least).all()
    prices = by_row[distinct_rows(encoded)[1]]
    for size in range(k, 2 * k):
        for members in combinations(range(encoded.records), size):
            charged = sum(prices[i] for i in members)
            assert charged <= size * class_loss(columns, list(members), loss) + 1e-9


def test_prices_are_raised_beyond_the_least_classes() -> None:
    """Two records are far from the crowd and from each other: each needs two companions, who pay as well."""
    encoded, columns = both(("age", "pay"), [(20, 0.0)] * 5 + [(30, 0.0), (20, 8.0)])
    rows = rows_of(encoded, "gcp")
    tree = make_boxes(rows.gauge, rows.values, rows.weight)
    least = least_costs(rows.gauge, tree, 3, (100, 100), 2.0, (0, 3))
    assert least @ tree.weight == 2
    assert raise_prices(rows.gauge, tree, 3, least, 2.0) @ tree.weight == pytest.approx(4)
    assert least_loss(columns, 3, "gcp") * 14 == 6  # the two take one more along and pay 2 each


def test_prices_reach_about_as_many_neighbours_as_they_may() -> None:
    encoded, _ = random_table(300, 3)
    rows = rows_of(encoded, "gcp")
    tree = make_boxes(rows.gauge, rows.values, rows.weight)
    limits = [price_limit(rows.gauge, tree, visits, 4.0) for visits in (100, 2_000, 20_000, 10**9)]
    assert limits == sorted(limits)
    assert limits[0] < limits[1] < limits[2] < limits[3] == 4.0


@settings(max_examples=40, deadline=None)
@given(tables(most=14), st.sampled_from(LOSSES))
def test_a_greater_k_costs_no_record_less(case: tuple[Encoded, list[Column]], loss: str) -> None:
    rows = rows_of(case[0], loss)
    tree = make_boxes(rows.gauge, rows.values, rows.weight)
    span, work = (0, len(rows.weight)), (1000, 1_000_000)
    bounds = [least_costs(rows.gauge, tree, k, work, float(rows.columns), span) for k in range(1, 7)]
    assert all((lower <= higher + 1e-12).all() for lower, higher in pairwise(bounds))


def test_many_rows_are_searched_as_few_are() -> None:
    """The tree has inner boxes here; threads and an early stop change no bound for the better."""
    encoded, _ = random_table(3000, 9)
    rows = rows_of(encoded, "gcp")
    tree = make_boxes(rows.gauge, rows.values, rows.weight)
    n, work = len(rows.weight), (10_000, 0)
    alone = least_costs(rows.gauge, tree, 3, work, 4.0, (0, n))
    assert (least_costs_parallel(rows.gauge, tree, 3, work, 4.0) == alone).all()
    assert nearest_costs(rows.gauge, tree, 3, 4.0) == pytest.approx(alone)
    assert sorted(tree.row) == list(range(n))
    for i in range(0, n, 97):
        costs = np.sort(np.repeat(all_costs(rows.values, encoded, tree.row[i]), rows.weight))
        assert alone[i] == pytest.approx(costs[2])
    hasty = least_costs(rows.gauge, tree, 3, (3, 0), 4.0, (0, n))
    assert (hasty <= alone).all()
    assert hasty.sum() < alone.sum()


def all_costs(values: np.ndarray, encoded: Encoded, row: int) -> np.ndarray:
    """Return what a row and each of all rows cost together, column by column from what a pair loses."""
    total = np.zeros(values.shape[1])
    for j, column in enumerate(encoded.quasi):
        null = values[j] == (3.0 if column.positions is not None else column.size)
        if column.tree is not None:
            nodes, losses = column.tree.nodes, column.tree.node_losses()
            codes = np.where(null, 0, values[j]).astype(int)
            common = column.tree.common_ancestors(
                np.minimum(codes, codes[row]), np.maximum(codes, codes[row])
            )
            cost = losses[common]
            assert nodes.shape[1] == column.size
        elif column.positions is not None:
            cost = np.abs(values[j] - values[j, row])
        else:
            cost = (values[j] != values[j, row]) / (column.size - 1)
        total += np.where(null != null[row], 1.0, np.where(null & null[row], 0.0, cost))
    return total


def test_a_least_level_is_part_of_the_bound() -> None:
    towns = shoal.Hierarchy.from_dict(TOWNS)
    quasi = {
        "town": shoal.Column("town", hierarchy=towns, least_level=1),
        "ward": shoal.Column("ward", least_level=1),
    }
    policy = shoal.Policy(quasi=quasi, models=[shoal.KAnonymity(2)])
    table = {"town": ["Kiel", "Bremen", "Ulm", "Passau"] * 3, "ward": ["a", "b", "c", "d"] * 3}
    release = shoal.anonymize(table, policy, algorithm="mondrian")
    assert release.metrics["bound"] == pytest.approx((0.1 + 1) / 2)
    assert release.metrics["gap"] == 0


def test_a_release_carries_its_bound_and_gap() -> None:
    table = {"age": [20, 21, 22, 40, 41, 42], "job": ["a", "a", "a", "b", "b", "c"]}
    found = shoal.anonymize(table, quasi=["age", "job"], k=3).metrics
    assert 0 < found["bound"] <= found["gcp"]
    assert found["gap"] == pytest.approx(1 - found["bound"] / found["gcp"]) or found["gap"] == 0
    kept = shoal.anonymize({"age": [1, 1, 2, 2]}, quasi=["age"], k=2).metrics
    assert (kept["gcp"], kept["bound"], kept["gap"]) == (0, 0, 0)


def test_without_k_there_is_no_bound() -> None:
    policy = shoal.Policy(quasi=["age"], sensitive=["ill"], models=[shoal.TCloseness(0.9)])
    found = shoal.anonymize({"age": [1, 2, 3, 4], "ill": ["a", "b", "a", "b"]}, policy).metrics
    assert "bound" not in found
    assert math.isfinite(found["gcp"])


def test_a_loss_without_a_bound_is_refused() -> None:
    encoded, _ = random_table(5, 1)
    with pytest.raises(shoal.errors.UnknownName, match="loss with a bound"):
        certify(encoded, 2, "dm")


def test_a_bound_is_found_once_for_a_table_and_a_k(monkeypatch: pytest.MonkeyPatch) -> None:
    """Another k, loss, weight or value is another bound; the same table read again is not."""
    asked: list[int] = []
    real = certificate._total
    monkeypatch.setattr(
        certificate, "_total", lambda rows, k, threads: asked.append(k) or real(rows, k, threads)
    )
    monkeypatch.setattr(certificate, "_REMEMBERED", certificate._Memory(4))
    first = certify(random_table(30, 21)[0], 3)
    assert certify(random_table(30, 21)[0], 3) == first
    assert asked == [3]
    certify(random_table(30, 21)[0], 3, "lm")
    certify(random_table(30, 21)[0], 4)
    certify(both(("age", "pay"), [(20, 0.0)] * 3 + [(30, 1.0)] * 3)[0], 2)
    certify(both(("age", "pay"), [(20, 0.0)] * 4 + [(30, 1.0)] * 3)[0], 2)
    certify(both(("age", "pay"), [(20, 0.0)] * 4 + [(None, 1.0)] * 3)[0], 2)
    assert asked == [3, 3, 4, 2, 2, 2]
    assert certify(random_table(30, 21)[0], 3) == first  # found anew: only the last four are kept
    assert asked == [3, 3, 4, 2, 2, 2, 3]


def test_a_comparison_finds_each_bound_once(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    real = certificate._total
    monkeypatch.setattr(
        certificate, "_total", lambda rows, k, threads: asked.append(k) or real(rows, k, threads)
    )
    monkeypatch.setattr(certificate, "_REMEMBERED", certificate._Memory(4))
    table = {"age": list(range(20, 60)), "job": ["a", "b"] * 20}
    for _candidate in range(2):
        shoal.compare(table, quasi=["age", "job"], algorithms=["mondrian", "k-member"], k=[2, 5])
    assert sorted(asked) == [2, 5]


@settings(max_examples=40, deadline=None)
@given(tables(most=12), st.integers(2, 4), st.sampled_from(LOSSES))
def test_kernels_find_the_same_uncompiled(case: tuple[Encoded, list[Column]], k: int, loss: str) -> None:
    rows = rows_of(case[0], loss)
    tree, plain = (
        make(rows.gauge, rows.values, rows.weight) for make in (make_boxes, interpreted(make_boxes))
    )
    assert all((one == other).all() for one, other in zip(tree, plain, strict=True))
    q, n = rows.values.shape
    near = nearest_costs(rows.gauge, tree, k, float(q))
    assert interpreted(nearest_costs)(rows.gauge, tree, k, float(q)) == pytest.approx(near)
    least = least_costs(rows.gauge, tree, k, (50, 40), float(q), (0, n))
    assert interpreted(least_costs)(rows.gauge, tree, k, (50, 40), float(q), (0, n)) == pytest.approx(least)
    prices = raise_prices(rows.gauge, tree, k, least, 1.0)
    assert interpreted(raise_prices)(rows.gauge, tree, k, least, 1.0) == pytest.approx(prices)


@settings(max_examples=40, deadline=None)
@given(tables(most=8), st.integers(2, 4), st.sampled_from(LOSSES), st.data())
def test_any_mix_of_bounds_per_record_may_be_raised(
    case: tuple[Encoded, list[Column]], k: int, loss: str, data: st.DataObject
) -> None:
    """Each record starts at its cheapest class, its nearest records or nothing; no partition loses less."""
    encoded, columns = case
    rows = rows_of(encoded, loss)
    tree = make_boxes(rows.gauge, rows.values, rows.weight)
    n, q = len(rows.weight), float(len(columns))
    starts = np.array(
        [
            least_costs(rows.gauge, tree, k, (100, 10_000), q, (0, n)),
            nearest_costs(rows.gauge, tree, k, q),
            np.zeros(n),
        ]
    )
    chosen = data.draw(st.lists(st.integers(0, 2), min_size=n, max_size=n))
    prices = raise_prices(rows.gauge, tree, k, starts[chosen, np.arange(n)], q)
    assert prices @ tree.weight <= least_loss(columns, k, loss) * encoded.records * q + 1e-9
