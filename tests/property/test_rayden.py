"""Vantage-point trees, outlier factors and what is made of them against their definitions."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from clustering_tables import GRADES, MODELS, TOWNS, classes_of, encoded_of, mixed_tables, rules_and_test
from oracle import rayden as oracle
from oracle.costs import oracle_table
from shoal.algorithms import outliers, vantage
from shoal.algorithms.canon import Canon
from shoal.algorithms.mondrian_cof import MondrianCof
from shoal.algorithms.outliers import CHAINS, MARK, Detection, own_limits
from shoal.algorithms.rayden import Rayden
from shoal.algorithms.vantage import RADII, VANTAGES, Grove, make_plan
from shoal.encoding import Encoded, encode
from shoal.kernels.gower import distances
from shoal.kernels.vantage import drawn
from shoal.partitions import Partition
from shoal.progress import Run, Stage

SEVERAL = settings(max_examples=100, deadline=None)
WEIGHTS = st.sampled_from([0.3, 1.0, 2.5])
PLACES = st.integers(0, 1 << 30)


class Silent(Stage):
    """Tells nobody."""

    def advance(self, steps: int = 1) -> None:
        pass


def ordered(encoded: Encoded, seed: int) -> np.ndarray:
    return Run(seed).rng().permutation(encoded.records)


def definition(
    encoded: Encoded, table: pa.Table, algorithm: Rayden | Canon, model: str, k: int, seed: int
) -> tuple[oracle.Tree, np.ndarray]:
    """Return the definition of an algorithm's tree, and the record of each point."""
    order = ordered(encoded, seed)
    rules, admissible = rules_and_test(encoded, table, model, k)
    chosen = algorithm.chosen
    lines = isinstance(chosen, Canon) and all(column.positions is not None for column in encoded.quasi)
    apart = oracle.Distance(
        oracle.as_points(oracle_table(encoded.codes, encoded.space()), order.tolist()),
        by_tree=isinstance(chosen, Canon) or bool(chosen.tree_distance),
        euclidean=lines or (isinstance(chosen, Canon) and chosen.distance == "numeric"),
    )
    assert chosen.vantage is not None
    assert chosen.radius is not None
    plan = make_plan(chosen.vantage, chosen.radius, chosen.candidates, rules.k, Run(seed))
    tree = oracle.Tree(
        apart,
        lambda part: admissible(order[part].tolist()),
        model == "k",
        rules.k,
        chosen.vantage,
        chosen.radius,
        chosen.candidates,
        lambda *node: int(drawn(plan.seed, *node)),
    )
    return tree, order


def records_of(parts: list[list[int]], order: np.ndarray) -> set[frozenset[int]]:
    return {frozenset(order[part].tolist()) for part in parts if part}


def same(made: Partition, expected: oracle.Outcome, order: np.ndarray) -> None:
    """Compare classes, outliers and suppressed records."""
    assert classes_of(made) == records_of(expected.classes, order)
    assert set(np.flatnonzero(made.marks[MARK])) == set(order[sorted(expected.outliers)])
    assert set(np.flatnonzero(made.labels < 0)) == set(order[sorted(expected.suppressed)])


@SEVERAL
@given(table=mixed_tables(max_records=12), weight=WEIGHTS, by_tree=st.booleans(), euclidean=st.booleans())
def test_distances_are_those_of_the_definition(table, weight, by_tree, euclidean) -> None:
    encoded = encoded_of(table, weight)
    order = ordered(encoded, 3)
    points = vantage.make_points(encoded, order, by_tree=by_tree, euclidean=euclidean)
    plain = oracle.as_points(oracle_table(encoded.codes, encoded.space()), order.tolist())
    apart = oracle.Distance(plain, by_tree, euclidean)
    everyone, found = np.arange(encoded.records), np.empty(encoded.records, dtype=np.int64)
    for a in everyone.tolist():
        distances(points, a, everyone, found)
        assert found.tolist() == [apart(a, b) for b in everyone.tolist()]


def test_gowers_distance_in_figures() -> None:
    """0.25 of the range and another job: the mean of 0.25 and 1; with the age unknown: 1."""
    table = pa.table({"age": [20, 30, 60, None], "job": ["cook", "clerk", "cook", "clerk"]})
    policy = shoal.Policy(quasi={"age": "numeric", "job": "categorical"})
    points = vantage.make_points(encode(table, policy.resolved(table)), np.arange(4))
    found = np.empty(4, dtype=np.int64)
    distances(points, 0, np.arange(4), found)
    assert (found / points.most).tolist() == [0, 0.625, 0.5, 1]


@settings(max_examples=250, deadline=None)
@given(
    table=mixed_tables(),
    k=st.integers(1, 4),
    model=st.sampled_from(list(MODELS)),
    centre=st.sampled_from(VANTAGES),
    radius=st.sampled_from(RADII),
    candidates=st.integers(1, 5),
    by_tree=st.booleans(),
    seed=st.integers(0, 9),
)
def test_the_tree_is_that_of_the_definition(
    table, k, model, centre, radius, candidates, by_tree, seed
) -> None:
    encoded = encoded_of(table, 0.3)
    algorithm = Rayden(
        vantage=centre, radius=radius, candidates=candidates, alpha=None, tree_distance=by_tree
    )
    tree, order = definition(encoded, table, algorithm, model, k, seed)
    made = algorithm.partition(encoded, rules_and_test(encoded, table, model, k)[0], Run(seed))
    assert classes_of(made) == records_of(oracle.rayden(tree, TOLD).classes, order)


TOLD = oracle.Outliers(None, 1, "sorted", False, False, 0)


@SEVERAL
@given(
    table=mixed_tables(),
    k=st.integers(1, 5),
    variant=st.sampled_from(["paper", "repaired"]),
    model=st.sampled_from(list(MODELS)),
    columns=st.sampled_from([("age", "score", "grade"), ("age", "job", "town"), ("town",)]),
)
def test_canon_is_that_of_the_definition(table, k, variant, model, columns) -> None:
    quasi: dict[str, Any] = {name: "categorical" if name == "job" else "numeric" for name in columns}
    quasi |= {"town": shoal.Hierarchy.from_dict(TOWNS)} if "town" in quasi else {}
    if "grade" in quasi:
        quasi["grade"] = shoal.Column("grade", kind=shoal.Kind.ORDINAL, order=GRADES)
    policy = shoal.Policy(quasi=quasi, sensitive=["disease"], unknown_values="root")
    encoded = encode(table, policy.resolved(table))
    algorithm = Canon(variant=variant, candidates=3)
    tree, order = definition(encoded, table, algorithm, model, k, 5)
    made = algorithm.partition(encoded, rules_and_test(encoded, table, model, k)[0], Run(5))
    assert classes_of(made) == records_of(oracle.rayden(tree, TOLD).classes, order)


@SEVERAL
@given(
    table=mixed_tables(max_records=20),
    cuts=st.sets(st.integers(1, 19), max_size=3),
    neighbours=st.integers(1, 8),
    chain=st.sampled_from(CHAINS),
    model=st.sampled_from(list(MODELS)),
    step=st.integers(1, 3),
    alpha=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
)
def test_outliers_are_those_of_the_definition(table, cuts, neighbours, chain, model, step, alpha) -> None:
    encoded = encoded_of(table)
    n = encoded.records
    tree, order = definition(encoded, table, Rayden(variant="paper"), model, 2, 7)
    rules, _ = rules_and_test(encoded, table, model, 2)
    bounds = [0, *sorted(cut for cut in cuts if cut < n), n]
    grove = Grove.of(encoded, rules, order)
    grove = grove.regrouped(np.searchsorted(bounds[1:], np.arange(n), side="right"))
    detection = Detection(neighbours, chain, step)
    scores = detection.scores(grove, Silent())
    limits = own_limits(grove, scores, alpha)
    leaves = detection.leaving(grove, scores, limits)
    for p, (a, b) in enumerate(pairwise(bounds)):
        part = list(range(a, b))
        expected = oracle.factors(tree.apart, part, neighbours, chain)
        assert scores[a:b].tolist() == expected
        assert limits[p] == oracle.limit_of(expected, alpha)
        gone = oracle.leaving(part, expected, limits[p], step, tree.admissible)
        assert set(grove.ids[a:b][leaves[a:b]]) == set(gone)


@settings(max_examples=200, deadline=None)
@given(
    table=mixed_tables(),
    k=st.integers(1, 3),
    model=st.sampled_from(list(MODELS)),
    variant=st.sampled_from(["paper", "repaired"]),
    radius=st.sampled_from([None, "value"]),
    alpha=st.sampled_from([0.0, 0.5, 1.0, 2.0]),
    unrecovered=st.sampled_from(["suppress", "return"]),
    suppression=st.sampled_from([0.0, 0.1, 1.0]),
)
def test_the_whole_is_that_of_the_definition(
    table, k, model, variant, radius, alpha, unrecovered, suppression
) -> None:
    encoded = encoded_of(table)
    algorithm = Rayden(variant=variant, radius=radius, alpha=alpha, unrecovered=unrecovered, candidates=3)
    check(algorithm, encoded, table, model, k, suppression)


def check(
    algorithm: Rayden, encoded: Encoded, table: pa.Table, model: str, k: int, suppression: float
) -> Partition:
    """Compare a run with the definition and return what it made."""
    tree, order = definition(encoded, table, algorithm, model, k, 2)
    chosen = algorithm.chosen
    assert chosen.chain is not None
    told = oracle.Outliers(
        chosen.alpha,
        chosen.neighbours or tree.k,
        chosen.chain,
        chosen.scope == "neighbourhood",
        chosen.unrecovered == "suppress",
        int(suppression * encoded.records),
    )
    rules, _ = rules_and_test(encoded, table, model, k)
    made = algorithm.partition(encoded, rules, Run(2, suppression=suppression))
    same(made, oracle.rayden(tree, told), order)
    return made


@SEVERAL
@given(
    table=mixed_tables(),
    k=st.integers(1, 4),
    model=st.sampled_from(list(MODELS)),
    variant=st.sampled_from(["paper", "repaired"]),
    threshold=st.sampled_from([None, 0.9, 1.1]),
    alpha=st.sampled_from([0.0, 1.0]),
    suppression=st.sampled_from([0.0, 0.1, 1.0]),
)
def test_mondrian_with_outliers_is_that_of_the_definition(
    table, k, model, variant, threshold, alpha, suppression
) -> None:
    encoded = encoded_of(table)
    algorithm = MondrianCof(variant=variant, threshold=threshold, alpha=alpha)
    rules, admissible = rules_and_test(encoded, table, model, k)
    chain = algorithm.chosen.chain
    assert chain is not None
    told = oracle.Outliers(alpha, rules.k, chain, False, True, int(suppression * encoded.records))
    plain = oracle_table(encoded.codes, encoded.space())
    expected = oracle.mondrian_cof(plain, admissible, rules.k, told, threshold)
    made = algorithm.partition(encoded, rules, Run(suppression=suppression))
    same(made, expected, np.arange(encoded.records))


def invented(n: int, fine: int = 1000) -> tuple[Encoded, pa.Table]:
    """Return a table of two numbers, a name and a disease."""
    rng = np.random.default_rng(8)
    table = pa.table(
        {
            "fine": rng.integers(0, fine, n),
            "coarse": rng.integers(0, 5, n),
            "name": [f"n{value}" for value in rng.integers(0, 7, n)],
            "disease": rng.choice(["flu", "cold", "gout"], n),
        }
    )
    quasi = {"fine": "numeric", "coarse": "numeric", "name": "categorical"}
    return encode(table, shoal.Policy(quasi=quasi, sensitive=["disease"]).resolved(table)), table


@pytest.mark.parametrize("model", ["k", "l"])
def test_outliers_of_neighbourhoods_that_are_cut_on(model: str) -> None:
    encoded, table = invented(420)
    made = check(Rayden(candidates=2), encoded, table, model, 2, 0.0)
    assert made.marks[MARK].sum() > 5


@pytest.mark.parametrize("radius", RADII)
@pytest.mark.parametrize("centre", VANTAGES)
def test_large_nodes_are_judged_by_a_sample(centre: str, radius: str) -> None:
    encoded, table = invented(1400)
    algorithm = Rayden(vantage=centre, radius=radius, candidates=2, alpha=None)
    tree, order = definition(encoded, table, algorithm, "k", 300, 4)
    made = algorithm.partition(encoded, rules_and_test(encoded, table, "k", 300)[0], Run(4))
    assert classes_of(made) == records_of(oracle.rayden(tree, TOLD).classes, order)


@pytest.mark.parametrize("variant", ["paper", "repaired"])
def test_threads_and_batches_change_nothing(variant: str, monkeypatch: pytest.MonkeyPatch) -> None:
    encoded, table = invented(3000)
    rules, _ = rules_and_test(encoded, table, "l", 3)
    serial = Rayden(variant=variant).partition(encoded, rules, Run(6))
    for module in (vantage, outliers):
        monkeypatch.setattr(module, "_WORTH_THREADS", 64)
        monkeypatch.setattr(module, "_BATCH", 256)
    threaded = Rayden(variant=variant).partition(encoded, rules, Run(6))
    assert serial.labels.tolist() == threaded.labels.tolist()
    assert serial.marks[MARK].tolist() == threaded.marks[MARK].tolist()


def test_halves_differ_by_one_record_at_most() -> None:
    encoded, table = invented(700, fine=3)
    rules, _ = rules_and_test(encoded, table, "k", 5)
    sizes = Rayden(variant="paper", alpha=None).partition(encoded, rules, Run(1)).sizes
    assert sizes.max() - sizes.min() <= 1
    assert sizes.min() >= 5
    assert sizes.max() < 10


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 2**64 - 1), place=st.tuples(PLACES, PLACES, PLACES), below=st.integers(1, 1 << 20))
def test_draws_depend_on_nothing_but_their_arguments(seed, place, below) -> None:
    first = drawn(np.uint64(seed), *place, below)
    assert first == drawn(np.uint64(seed), *place, below)
    assert 0 <= first < below


def test_draws_are_even() -> None:
    counts = np.bincount(
        [drawn(np.uint64(1), node, node + 50, 0, 10) for node in range(20_000)], minlength=10
    )
    assert abs(counts - 2000).max() < 4 * np.sqrt(1800)
