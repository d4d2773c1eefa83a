"""Microaggregation in kernels makes the choices of the plain definitions, ties included."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.csv
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

import shoal
from oracle import microaggregation as plain
from shoal import registry
from shoal.embedding import Embedding
from shoal.kernels import bottom_up, k_means, kd_tree, mdav, paths, splitting
from shoal.metrics.measure import measure
from shoal.partitions import Partition
from shoal.progress import Run

DATA = Path(os.environ["SHOAL_DATA"])
EIA = ["UTILITYID", "RESREVENUE", "RESSALES", "COMREVENUE", "COMSALES", "INDREVENUE", "INDSALES"]
EIA += ["OTHREVENUE", "OTHRSALES", "TOTREVENUE", "TOTSALES"]

grids = st.integers(1, 3).flatmap(
    lambda d: st.lists(st.tuples(*[st.integers(-6, 6)] * d), min_size=1, max_size=45)
)
wide_grids = st.lists(st.tuples(st.integers(-999, 999), st.integers(-5, 5)), min_size=1, max_size=120)
points_of = st.one_of(grids, wide_grids)
ks = st.integers(1, 6)


def array(points: list[tuple[int, ...]]) -> NDArray[np.float64]:
    return np.ascontiguousarray(np.array(points, dtype=np.float64).T)


def same_classes(labels: NDArray[np.integer], classes: list[list[int]]) -> None:
    made = Partition.from_labels(np.asarray(labels))
    found = sorted(sorted(made.members(c).tolist()) for c in range(made.classes))
    assert found == sorted(sorted(members) for members in classes)


@settings(max_examples=150, deadline=None)
@given(points=points_of, k=ks)
def test_mdav(points: list[tuple[int, ...]], k: int) -> None:
    work = mdav.make_grouping(array(points), k)
    while mdav.mdav_rounds(work, k, 2) > 0:
        pass
    same_classes(work.labels, plain.mdav(points, k))


@settings(max_examples=150, deadline=None)
@given(points=points_of, k=ks, gamma=st.sampled_from([0.0, 0.2, 0.8, 1.1, 2.0]))
def test_v_mdav(points: list[tuple[int, ...]], k: int, gamma: float) -> None:
    from shoal.algorithms.v_mdav import group_records
    from shoal.progress import Progress

    with Progress().stage("") as stage:
        labels = group_records(array(points), k, gamma, stage)
    same_classes(labels, plain.v_mdav(points, k, gamma))


@settings(max_examples=150, deadline=None)
@given(points=points_of, k=ks, by_mean=st.booleans(), parallel=st.booleans())
def test_top_down(points: list[tuple[int, ...]], k: int, by_mean: bool, parallel: bool) -> None:
    n = len(points)
    labels = np.empty(n, np.int64)
    offsets = np.array([0, n // 3, n])
    kernel = splitting.top_down_parallel if parallel else splitting.top_down
    kernel(array(points), np.arange(n), offsets, k, by_mean, labels)
    ids = list(range(n))
    expected = [
        c for part in (ids[: n // 3], ids[n // 3 :]) for c in plain.top_down(points, part, k, by_mean)
    ]
    same_classes(labels, [members for members in expected if members])


@settings(max_examples=100, deadline=None)
@given(points=points_of.filter(lambda points: len(points) > 1), exact=st.sampled_from([1, 2000]))
def test_farthest_pair(points: list[tuple[int, ...]], exact: int) -> None:
    found = splitting.farthest_pair(array(points), np.empty(len(points)), exact)
    assert tuple(found) == plain.farthest_pair(points, exact)


@settings(max_examples=150, deadline=None)
@given(points=points_of, k=ks, seed=st.integers(0, 99), by_mean=st.booleans(), parallel=st.booleans())
def test_bottom_up(points: list[tuple[int, ...]], k: int, seed: int, by_mean: bool, parallel: bool) -> None:
    n = len(points)
    draws = np.random.default_rng(seed).random(n)
    labels = np.empty(n, np.int64)
    offsets = np.array([0, n // 2, n])
    kernel = bottom_up.bottom_up_parallel if parallel else bottom_up.bottom_up
    kernel(array(points), np.arange(n), offsets, k, draws, by_mean, labels)
    expected = []
    for begin, end in ((0, n // 2), (n // 2, n)):
        expected += plain.bottom_up(points, list(range(begin, end)), k, draws[begin:end].tolist(), by_mean)
    same_classes(labels, expected)


@settings(max_examples=150, deadline=None)
@given(
    points=points_of,
    k=ks,
    wanted=st.integers(1, 8),
    seed=st.integers(0, 99),
    squared=st.booleans(),
    iterations=st.integers(0, 4),
)
def test_parts(
    points: list[tuple[int, ...]], k: int, wanted: int, seed: int, squared: bool, iterations: int
) -> None:
    draws = np.random.default_rng(seed).random(wanted)
    coordinates = array(points)
    labels, again = np.zeros(len(points), np.int32), np.zeros(len(points), np.int32)
    centres = k_means.seed_centres(coordinates, draws, squared)
    k_means.assign(coordinates, centres, labels)
    for _ in range(iterations):
        if not k_means.move_centres(coordinates, labels, centres):
            break
        k_means.assign(coordinates, centres, labels)
    k_means.assign_parallel(coordinates, centres, again)
    assert again.tolist() == labels.tolist()
    merged = k_means.merge_small_parts(coordinates, labels, len(centres), k)[labels]
    same_classes(merged, plain.k_means(points, k, draws.tolist(), squared, iterations))


@settings(max_examples=100, deadline=None)
@given(points=points_of, k=ks)
def test_the_cut_of_an_order_has_the_least_error(points: list[tuple[int, ...]], k: int) -> None:
    if len(points) < k:
        return
    ends = paths.cut_order(np.array(points, dtype=np.float64), k).tolist()
    sizes = np.diff([0, *ends])
    assert sizes.min() >= k
    assert sizes.max() < 2 * k
    runs = [range(begin, end) for begin, end in zip([0, *ends], ends, strict=False)]
    assert plain.squared_error(points, runs) == pytest.approx(plain.least_cut(points, k), rel=1e-9, abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(values=st.lists(st.integers(-20, 20), min_size=4, max_size=8), k=st.integers(2, 3))
def test_no_partition_of_one_column_beats_the_optimum(values: list[int], k: int) -> None:
    policy = shoal.Policy(quasi={"v": "numeric"}, models=[shoal.KAnonymity(k)])
    encoded = shoal.encode({"v": values}, policy)
    made = shoal.partition(encoded, policy, algorithm="optimal-1d")
    points = [(float(value),) for value in values]
    ours = plain.squared_error(points, [made.members(c).tolist() for c in range(made.classes)])
    best = min(plain.squared_error(points, classes) for classes in plain.all_partitions(len(values), k))
    assert ours == pytest.approx(best, rel=1e-9, abs=1e-9)


@settings(max_examples=100, deadline=None)
@given(points=points_of)
def test_the_tour_goes_to_the_nearest_record(points: list[tuple[int, ...]]) -> None:
    from shoal.algorithms.optimal_1d import tour

    assert tour(array(points), Run()).tolist() == plain.tour(points)


@pytest.mark.parametrize(("d", "bits"), [(2, 4), (3, 3)])
def test_the_hilbert_curve_visits_every_cell_and_never_jumps(d: int, bits: int) -> None:
    cells = np.stack(np.meshgrid(*[np.arange(2**bits)] * d), axis=-1).reshape(-1, d)
    order = np.argsort(paths.hilbert_places(np.ascontiguousarray(cells.T.astype(float))))
    steps = np.abs(np.diff(cells[order], axis=0)).sum(axis=1)
    assert steps.tolist() == [1] * (len(cells) - 1)


@settings(max_examples=100, deadline=None)
@given(points=points_of, seed=st.integers(0, 99))
def test_the_tree_answers_like_a_scan_while_it_shrinks(points: list[tuple[int, ...]], seed: int) -> None:
    rng = np.random.default_rng(seed)
    tree = kd_tree.make_tree(array(points), np.arange(len(points)))
    left = list(range(len(points)))
    best, near = np.empty(3), np.empty(3, np.int64)
    while left:
        query = tuple(int(v) for v in rng.integers(-9, 9, len(points[0])))
        at = np.array(query, dtype=np.float64)
        assert kd_tree.farthest(tree, at) == plain.farthest(points, left, query)
        expected = plain.nearest(points, left, query, 3)
        assert near[: kd_tree.nearest(tree, at, best, near)].tolist() == expected
        gone = left.pop(int(rng.integers(len(left))))
        kd_tree.remove(tree, gone)
    assert kd_tree.farthest(tree, at) == -1


LITERATURE = {
    "census_casc": (5.6922, 7.4947, 9.0884, 14.1559),
    "tarragona": (16.9326, 19.5460, 22.4619, 33.1929),
    "eia": (0.4829, 0.6713, 1.6667, 3.8397),
}


def standard_loss(name: str, algorithm: str, k: int) -> float:
    table = pa.csv.read_csv(DATA / f"{name}.csv")
    columns = EIA if name == "eia" else table.column_names
    policy = shoal.Policy(quasi=dict.fromkeys(columns, "numeric"), models=[shoal.KAnonymity(k)])
    encoded = shoal.encode(table, policy)
    made = registry.get("algorithms", algorithm)().partition(encoded, policy.compile(encoded), Run())
    assert made.sizes.min() >= k
    assert made.sizes.max() < 2 * k
    return float(measure(encoded, made, policy, ["il-sse"])["il-sse"])


@pytest.mark.parametrize("name", LITERATURE)
def test_mdav_reaches_the_loss_of_the_literature(name: str) -> None:
    found = [round(standard_loss(name, "mdav", k), 4) for k in (3, 4, 5, 10)]
    assert found == list(LITERATURE[name])


def test_v_mdav_and_the_nearest_tour_reach_their_published_losses() -> None:
    assert standard_loss("census_casc", "v-mdav", 3) == pytest.approx(5.662, abs=0.001)
    assert standard_loss("tarragona", "v-mdav", 3) == pytest.approx(16.963, abs=0.001)
    assert standard_loss("tarragona", "optimal-1d", 5) == pytest.approx(28.17, abs=0.01)


def test_the_number_of_threads_does_not_matter() -> None:
    rng = np.random.default_rng(1)
    n = 40_000
    table = pa.table({"a": rng.normal(size=n).round(2), "b": rng.integers(0, 9, n)})
    policy = shoal.Policy(quasi={"a": "numeric", "b": "numeric"}, models=[shoal.KAnonymity(5)])
    points = Embedding.of(shoal.encode(table, policy)).points
    ids, offsets = np.arange(n), np.arange(0, n + 1, n // 20)
    serial, threaded = np.empty(n, np.int64), np.empty(n, np.int64)
    splitting.top_down(points, ids.copy(), offsets, 5, False, serial)
    splitting.top_down_parallel(points, ids.copy(), offsets, 5, False, threaded)
    assert serial.tolist() == threaded.tolist()


def test_identical_records_take_no_longer_than_others() -> None:
    """Ties are passed over by record number: without that, every search would visit all of the table."""
    same = np.zeros((2, 200_000))
    work = mdav.make_grouping(same, 5)
    while mdav.mdav_rounds(work, 5, 4096) > 0:
        pass
    assert np.bincount(work.labels).tolist() == [5] * 40_000


@settings(max_examples=40, deadline=None)
@given(
    age=st.lists(st.one_of(st.none(), st.integers(0, 9)), min_size=2, max_size=12),
    job=st.sampled_from("ab"),
)
def test_points_are_whole_and_their_distances_exact(age: list[int | None], job: str) -> None:
    jobs = [None if a == 3 else job * (1 + (a or 0) % 2) for a in age]
    table = pa.table({"age": pa.array(age, pa.int64()), "job": pa.array(jobs, pa.string())})
    policy = shoal.Policy(quasi={"age": "numeric", "job": "categorical"})
    for scale in ("z-score", "min-max"):
        points = Embedding.of(shoal.encode(table, policy), scale).points
        assert np.array_equal(points, np.rint(points))
        spread = (points.max(axis=1) - points.min(axis=1)) ** 2
        assert spread.sum() < 2**53
        rows = list(zip(age, jobs, strict=True))
        for i, first in enumerate(rows):
            for j, second in enumerate(rows):
                assert (first == second) == (points[:, i].tolist() == points[:, j].tolist())


def test_every_column_weighs_what_the_policy_says() -> None:
    rng = np.random.default_rng(0)
    n = 500
    table = pa.table(
        {"a": rng.normal(size=n), "b": rng.choice(list("xyz"), n), "c": rng.integers(0, 400, n).astype(str)}
    )
    columns = {"a": shoal.Column("a", weight=2.0), "b": "categorical", "c": "categorical"}
    embedding = Embedding.of(shoal.encode(table, shoal.Policy(quasi=columns)))
    variances = (embedding.points / embedding.unit).var(axis=1)
    assert variances[0] == pytest.approx(2, rel=1e-4)
    assert variances[1:4].sum() == pytest.approx(1, rel=1e-4)
    assert variances[4:].sum() == pytest.approx(1, rel=1e-4)
    assert len(variances) <= 1 + 3 + 32


def test_records_differ_by_the_nodes_below_their_common_ancestor() -> None:
    towns = ["1011", "1012", "2011"]
    policy = shoal.Policy(quasi={"town": shoal.Hierarchy.prefix()})
    points = Embedding.of(shoal.encode({"town": towns}, policy)).points.T
    near, far = ((points[0] - points[1]) ** 2).sum(), ((points[0] - points[2]) ** 2).sum()
    assert 0 < near < far
