"""Density clustering and exhaustive cuts against their definitions, on random tables of every geometry."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.cluster import DBSCAN

import shoal
from clustering_tables import MODELS, classes_of, encoded_of, mixed_tables, rules_and_test, shuffled
from oracle import dop as oracle
from oracle.costs import oracle_table
from shoal.algorithms import clusters, cutting
from shoal.algorithms.category_order import ORDERS, ordered_codes
from shoal.algorithms.clusters import UNIT, WEIGHTS, Density, coordinates, density_clusters
from shoal.algorithms.cutting import entropy_units
from shoal.algorithms.distinct import distinct_rows
from shoal.algorithms.dop import Dop
from shoal.encoding import Encoded, encode
from shoal.models.compile import compile_rules
from shoal.progress import Run

SEVERAL = settings(max_examples=100, deadline=None)


def cuts_of(encoded: Encoded, codes: np.ndarray, admissible, **options) -> oracle.Cuts:
    plain = oracle_table(encoded.codes, encoded.space())
    return oracle.Cuts(plain, [tuple(row) for row in codes.tolist()], admissible, **options)


@settings(max_examples=200, deadline=None)
@given(
    table=mixed_tables(),
    k=st.integers(1, 5),
    model=st.sampled_from(list(MODELS)),
    objective=st.sampled_from(["ncp", "lil"]),
    order=st.sampled_from(ORDERS),
)
def test_cuts_are_those_of_the_definition(table, k, model, objective, order) -> None:
    encoded = encoded_of(table, 0.3)
    rules, admissible = rules_and_test(encoded, table, model, k)
    made = Dop(clustering=False, objective=objective, order=order).partition(encoded, rules, Run())
    cuts = cuts_of(encoded, ordered_codes(encoded, order), admissible, paper=objective == "lil")
    assert classes_of(made) == cuts.classes([0] * table.num_rows)


@SEVERAL
@given(
    table=mixed_tables(),
    k=st.integers(1, 4),
    parts=st.integers(1, 1000),
    target=st.sampled_from(["disease", "job"]),
    model=st.sampled_from(list(MODELS)),
)
def test_a_target_is_weighed_against_loss(table, k, parts, target, model) -> None:
    encoded = encoded_of(table)
    rules, admissible = rules_and_test(encoded, table, model, k)
    task = Dop(clustering=False, order="alphabetical", target=target, target_weight=parts / 1000)
    codes, values = encoded.column_codes(target)
    logs = entropy_units(table.num_rows, values, len(encoded.quasi)).tolist()
    cuts = cuts_of(encoded, encoded.codes, admissible, target=codes.tolist(), parts=parts, logs=logs)
    assert classes_of(task.partition(encoded, rules, Run())) == cuts.classes([0] * table.num_rows)


def points_of(encoded: Encoded, weights: str):
    first, row = distinct_rows(encoded)
    return coordinates(encoded, encoded.codes[first], weights), row


@settings(max_examples=200, deadline=None)
@given(
    table=mixed_tables(),
    eps=st.one_of(st.none(), st.floats(0, 1.2)),
    enough=st.integers(1, 8),
    weights=st.sampled_from(WEIGHTS),
)
def test_clusters_are_those_of_the_definition_and_of_scikit_learn(table, eps, enough, weights) -> None:
    at, row = points_of(encoded_of(table), weights)
    found = density_clusters(at, row, Density(weights, eps, enough), Run())
    points = [tuple(point) for point in at[row].tolist()]
    reach = round(found.eps * UNIT) ** 2
    if eps is None:
        distances = sorted(oracle.reach_of(points, i, min(enough, len(points))) for i in range(len(points)))
        assert reach in {math.ceil(math.sqrt(distance)) ** 2 for distance in distances}
    labels, dense = oracle.dbscan(points, reach, min(enough, len(points)), row.tolist())
    assert found.labels[row].tolist() == labels
    assert found.dense[row].tolist() == dense
    theirs = DBSCAN(eps=float(np.sqrt(reach + 0.5)), min_samples=min(enough, len(points)), algorithm="brute")
    theirs.fit(at.astype(np.float64), sample_weight=np.bincount(row))
    assert set(theirs.core_sample_indices_) == set(np.flatnonzero(found.dense))
    assert ((theirs.labels_ < 0) == (found.labels < 0)).all()
    pairs = set(zip(theirs.labels_[found.dense].tolist(), found.labels[found.dense].tolist(), strict=True))
    assert len(pairs) == len({a for a, _ in pairs}) == len({b for _, b in pairs})


@SEVERAL
@given(
    table=mixed_tables(),
    k=st.integers(1, 4),
    model=st.sampled_from(list(MODELS)),
    eps=st.floats(0, 0.6),
    noise=st.sampled_from(["keep", "mask", "split", "join", "absorb"]),
)
def test_the_whole_is_clusters_then_noise_then_cuts(table, k, model, eps, noise) -> None:
    encoded = encoded_of(table)
    rules, admissible = rules_and_test(encoded, table, model, k)
    settings_ = Dop(order="alphabetical", weights="uniform", noise=noise, eps=eps)
    made = settings_.partition(encoded, rules, Run(suppression=1.0))
    assert classes_of(made) == whole(encoded, admissible, rules.k, eps, noise)


def whole(encoded: Encoded, admissible, k: int, eps: float, noise: str) -> set[frozenset[int]]:
    """The algorithm record by record."""
    at, row = points_of(encoded, "uniform")
    points = [tuple(point) for point in at[row].tolist()]
    n = len(points)
    enough = min(max(k, len(encoded.quasi) + 1), n)
    labels, _ = oracle.dbscan(points, round(eps * UNIT) ** 2, enough, row.tolist())
    labels = oracle.attach(points, labels, admissible)
    lost = [i for i in range(n) if labels[i] < 0]
    inside = [i for i in range(n) if labels[i] >= 0]
    cuts = cuts_of(encoded, encoded.codes, admissible)
    if noise not in ("keep", "mask") and (not inside or (noise == "split" and lost and admissible(lost))):
        return cuts.classes(labels)
    nearest = {
        i: min((oracle.apart(points[i], points[j]), labels[j]) for j in inside)[1] for i in lost if inside
    }
    if noise in ("split", "join"):
        return cuts.classes([nearest.get(i, label) for i, label in enumerate(labels)])
    everything = cuts.classes([label if label >= 0 else -1 - i for i, label in enumerate(labels)])
    found = {members for members in everything if not members & set(lost)}
    if noise == "keep" and lost and admissible(lost):
        found.add(frozenset(lost))
    if noise == "absorb":
        grown = {members: set(members) for members in found}
        for i in lost:
            near = min(oracle.apart(points[i], points[j]) for j in inside)
            homes = [m for m in found if any(oracle.apart(points[i], points[j]) == near for j in m)]
            grown[min(homes, key=min)].add(i)
        found = {frozenset(members) for members in grown.values()}
    return found


@settings(max_examples=60, deadline=None)
@given(
    table=mixed_tables(),
    k=st.integers(1, 4),
    model=st.sampled_from(list(MODELS)),
    parts=st.sampled_from([0, 300, 1000]),
    noise=st.sampled_from(["join", "mask"]),
)
def test_the_search_keeps_what_loses_least(table, k, model, parts, noise) -> None:
    encoded = encoded_of(table)
    rules, admissible = rules_and_test(encoded, table, model, k)
    options = {"order": "alphabetical", "noise": noise}
    codes, values = encoded.column_codes("disease")
    logs = entropy_units(table.num_rows, values, len(encoded.quasi)).tolist()
    cuts = cuts_of(encoded, encoded.codes, admissible, target=codes.tolist(), parts=parts, logs=logs)
    if parts:
        options |= {"target": "disease", "target_weight": parts / 1000}
    full, run = len(encoded.quasi) * UNIT, Run(suppression=1.0)

    def score(made: shoal.Partition) -> int:
        lost = made.suppressed * full * (1000 - parts if parts else 1)
        return lost + sum(cuts.score(sorted(members)) for members in classes_of(made))

    single = Dop(search=False, **options)
    tried = [single, replace(single, clustering=False)]
    found = Dop(**options).partition(encoded, rules, run)
    assert found.marks.keys() == {"noise"}
    assert score(found) <= min(score(each.partition(encoded, rules, run)) for each in tried)
    alone = Dop(eps=0.1, **options).partition(encoded, rules, run)
    assert alone.labels.tolist() == replace(single, eps=0.1).partition(encoded, rules, run).labels.tolist()


@SEVERAL
@given(
    table=mixed_tables(),
    k=st.integers(1, 5),
    seed=st.integers(0, 9),
    variant=st.sampled_from(["paper", "repaired"]),
)
def test_row_order_does_not_matter_and_equal_rows_stay_together(table, k, seed, variant) -> None:
    def classes(data: pa.Table):
        encoded = encoded_of(data)
        return classes_of(
            Dop(variant=variant).partition(
                encoded, compile_rules([shoal.KAnonymity(k)], encoded), Run(suppression=1.0)
            )
        )

    encoded, found = encoded_of(table), classes(table)
    other, order = shuffled(table, seed)
    assert found == {frozenset(order[list(members)].tolist()) for members in classes(other)}
    homes = {(tuple(encoded.codes[i]), members) for members in found for i in members}
    assert len(homes) == len({row for row, _ in homes})


@pytest.mark.parametrize("objective", ["ncp", "lil"])
@pytest.mark.parametrize("model", ["k", "l"])
def test_threads_and_batches_change_nothing(objective, model, monkeypatch) -> None:
    rng = np.random.default_rng(4)
    table = pa.table(
        {
            "age": rng.integers(0, 60, 3000),
            "name": [f"n{value}" for value in rng.integers(0, 90, 3000)],
            "coarse": rng.integers(0, 3, 3000),
            "disease": rng.choice(["flu", "cold", "gout"], 3000),
        }
    )
    quasi = {"age": "numeric", "name": "categorical", "coarse": "numeric"}
    policy = shoal.Policy(quasi=quasi, sensitive=["disease"])
    encoded = encode(table, policy.resolved(table))
    rules, _ = rules_and_test(encoded, table, model, 4)
    serial = Dop(objective=objective, parallel=False).partition(encoded, rules, Run())
    monkeypatch.setattr(cutting, "_LARGE", 64)
    monkeypatch.setattr(clusters, "_PARALLEL", 64)
    threaded = Dop(objective=objective).partition(encoded, rules, Run())
    assert serial.labels.tolist() == threaded.labels.tolist()
    assert serial.classes > 100
