"""The algorithms that GCAA is compared with, against their definitions on random tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import shoal
from clustering_tables import classes_of, encoded_of, mixed_tables
from oracle import rivals as plain
from oracle.models import distinct_l, emd_equal
from shoal.algorithms.fuzzy_k_member import FuzzyKMember
from shoal.algorithms.kfcfa import Kfcfa, Search
from shoal.algorithms.klt3l import Klt3l, criterion
from shoal.algorithms.p_sensitive import PSensitiveClustering
from shoal.embedding import Embedding
from shoal.encoding import Encoded
from shoal.kernels import fuzzy
from shoal.metrics.measure import measure
from shoal.models.compile import compile_rules
from shoal.progress import Run

TABLES = mixed_tables(max_records=24)
Points = list[tuple[int, ...]]


def points_of(encoded: Encoded) -> Points:
    return [tuple(int(x) for x in row) for row in Embedding.of(encoded, "min-max").points.T]


def array(points: Points) -> NDArray[np.float64]:
    return np.ascontiguousarray(np.array(points, dtype=np.float64).T)


def sets(classes: list[list[int]]) -> set[frozenset[int]]:
    return {frozenset(members) for members in classes if members}


@settings(max_examples=60, deadline=None)
@given(table=TABLES, k=st.integers(1, 4), p=st.sampled_from([None, 1, 2, 3]), asked=st.integers(1, 2))
def test_p_sensitive(table: pa.Table, k: int, p: int | None, asked: int) -> None:
    encoded = encoded_of(table)
    rules = compile_rules((shoal.KAnonymity(k), shoal.LDiversity(asked)), encoded)
    values = encoded.sensitive_codes.tolist()
    wanted = min(p or asked, len({value for (value,) in values}))
    made = PSensitiveClustering(p=p).partition(encoded, rules, Run())
    assert classes_of(made) == sets(plain.p_sensitive(points_of(encoded), values, [wanted], rules.k))


def test_p_sensitive_counts_nodes_of_a_level() -> None:
    """p+-sensitivity: two cancers are one category."""
    tree = shoal.Hierarchy.from_dict({"cancer": ["colon", "lung"], "cold": ["flu", "cough"]})
    table = {"age": [20, 21, 22, 23], "ill": ["colon", "lung", "flu", "cough"]}
    policy = shoal.Policy(quasi=["age"], sensitive={"ill": tree}, models=[shoal.KAnonymity(2)])
    encoded = shoal.encode(table, policy)
    for level, classes in ((0, {(0, 1), (2, 3)}), (1, {(0, 2), (1, 3)})):
        made = shoal.partition(encoded, policy, algorithm="p-sensitive", p=2, level=level)
        assert {tuple(sorted(members)) for members in classes_of(made)} == classes


@settings(max_examples=60, deadline=None)
@given(table=TABLES, k=st.integers(1, 4), fuzziness=st.sampled_from([0.5, 4.0, 16.0]))
def test_fuzzy_k_member(table: pa.Table, k: int, fuzziness: float) -> None:
    encoded = encoded_of(table)
    rules = compile_rules((shoal.KAnonymity(k),), encoded)
    made = FuzzyKMember(fuzziness=fuzziness).partition(encoded, rules, Run())
    assert classes_of(made) == sets(plain.fuzzy_k_member(points_of(encoded), k, fuzziness))


@settings(max_examples=60, deadline=None)
@given(
    table=TABLES,
    k=st.integers(1, 4),
    t=st.sampled_from([None, 0.2, 0.4]),
    asked=st.integers(1, 2),
    near=st.integers(1, 3),
    seed=st.integers(0, 9),
)
def test_klt3l(table: pa.Table, k: int, t: float | None, asked: int, near: int, seed: int) -> None:
    encoded = encoded_of(table)
    models: list[object] = [shoal.KAnonymity(k), shoal.LDiversity(asked)]
    models += [shoal.TCloseness(t)] if t is not None else []
    rules = compile_rules(tuple(models), encoded)
    whole = encoded.sensitive_codes[:, 0].tolist()
    asked_of = max(asked, int(rules.min_distinct[0]))

    def away(members: list[int]) -> float:
        return float(emd_equal([whole[i] for i in members], whole))

    def diverse(members: list[int]) -> bool:
        return len(members) >= rules.k and distinct_l([whole[i] for i in members]) >= asked_of

    def good(members: list[int]) -> bool:
        return diverse(members) and (t is None or away(members) <= t + 1e-12)

    rng = np.random.default_rng(seed)
    expected = plain.klt3l(
        points_of(encoded), rules.k, lambda: rng.random(2).tolist(), diverse, good, away, near
    )
    made = Klt3l(near=near).partition(encoded, rules, Run(seed=seed))
    assert classes_of(made) == sets(expected)


@given(st.lists(st.lists(st.tuples(st.integers(-9, 9)), min_size=1, max_size=6), min_size=1, max_size=3))
def test_the_criterion_is_that_of_round_gaussians(clusters: list[Points]) -> None:
    spread = sum(np.var(points) * len(points) for points in clusters)
    found = criterion([len(points) for points in clusters], float(spread), 1)
    assert found == pytest.approx(plain.criterion(clusters), rel=1e-9)


grids = st.lists(st.tuples(st.integers(-6, 6), st.integers(-6, 6)), min_size=2, max_size=16)


@settings(max_examples=100, deadline=None)
@given(points=grids, places=grids, k=st.integers(1, 4))
def test_fuzzy_c_means(points: Points, places: Points, k: int) -> None:
    centres = np.array(places[:4], dtype=np.float64)
    labels = np.zeros(len(points), dtype=np.int32)
    objective, squares = fuzzy.spread_over(array(points), centres, labels)
    assert objective == pytest.approx(plain.fuzzy_objective(points, places[:4]), rel=1e-9, abs=1e-9)
    assert squares == sum(min(plain.distance(p, c) for c in places[:4]) for p in points)
    classes, _ = plain.crisp(points, places[:4], k)
    fuzzy.dissolve_small(array(points), centres, labels, k)
    assert sets([np.flatnonzero(labels == c).tolist() for c in range(4)]) == sets(classes)
    moved = plain.fuzzy_step(points, places[:4])
    fuzzy.move_fuzzy_centres(array(points), centres)
    assert np.abs(centres - np.array(moved)).max() <= 0.5 + 1e-9


@settings(max_examples=30, deadline=None)
@given(
    table=TABLES,
    k=st.integers(1, 4),
    told=st.builds(
        Kfcfa,
        clusters=st.sampled_from([None, 1, 3]),
        fireflies=st.integers(1, 3),
        rounds=st.integers(0, 3),
        absorption=st.sampled_from([0.0, 1.0]),
        step=st.sampled_from([0.0, 0.5]),
    ),
    seed=st.integers(0, 9),
)
def test_kfcfa(table: pa.Table, k: int, told: Kfcfa, seed: int) -> None:
    encoded = encoded_of(table)
    rules = compile_rules((shoal.KAnonymity(k), shoal.LDiversity(2)), encoded)
    k = rules.k
    points = points_of(encoded)
    if len(points) < 2 * k:
        return
    values = encoded.sensitive_codes[:, 0].tolist()
    search = Search(told, array(points), encoded.flat_sensitive(), rules)
    rng = np.random.default_rng(seed)
    flies = [fly.tolist() for fly in search._start(rng)]

    def good(members: list[int]) -> bool:
        return len(members) >= k and len({values[i] for i in members}) >= rules.min_distinct[0]

    expected = plain.fireflies(points, flies, good, k, told, rng)
    found = search.best(Run(seed=seed))
    assert sets([np.flatnonzero(found == c).tolist() for c in set(found.tolist())]) == sets(expected)


def test_kfcfa_swaps_where_enforce_would_merge() -> None:
    rng = np.random.default_rng(4)
    age = np.sort(rng.integers(20, 60, 200))
    ill = np.where(rng.random(200) < 0.2, "gout", np.where(age < 40, "flu", "cold"))
    models = [shoal.KAnonymity(3), shoal.TCloseness(0.3)]
    policy = shoal.Policy(quasi=["age"], sensitive=["ill"], models=models)
    encoded = shoal.encode({"age": age.tolist(), "ill": ill.tolist()}, policy)
    rules = policy.compile(encoded)
    made = {swap: Kfcfa(rounds=2, swap=swap).partition(encoded, rules, Run()) for swap in (True, False)}
    broken = {swap: measure(encoded, made[swap], policy, ["p-tc"])["p-tc"] for swap in made}
    assert broken[True] == 0
    assert broken[False] > 0
    merged = shoal.partition(encoded, policy, algorithm="kfcfa", rounds=2, swap=False)
    assert made[True].classes > merged.classes
