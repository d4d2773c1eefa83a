"""Linkage of published numbers agrees with its definitions, by comparing all pairs and by the tree."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracle import linkage as plain
from shoal.kernels.kd_tree import make_tree
from shoal.kernels.linkage import link_credits, link_credits_parallel
from shoal.metrics import linkage
from shoal.metrics.measure import measure

pairs = st.lists(st.tuples(*[st.integers(-3, 3)] * 4), min_size=1, max_size=6)


@settings(max_examples=200, deadline=None)
@given(pairs=pairs, ranks=st.integers(1, 3))
def test_credits_are_chances_over_all_orders_of_equals(pairs: list[tuple[int, ...]], ranks: int) -> None:
    before = np.array([pair[:2] for pair in pairs], dtype=float).T
    after = np.array([pair[2:] for pair in pairs], dtype=float).T
    expected = plain.linked(before.T.tolist(), after.T.tolist(), ranks)
    assert linkage.link(before, after, ranks).tolist() == pytest.approx(expected)


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 300), spread=st.integers(1, 40), seed=st.integers(0, 99), ranks=st.integers(1, 3))
def test_the_tree_gives_what_comparing_all_gives(n: int, spread: int, seed: int, ranks: int) -> None:
    rng = np.random.default_rng(seed)
    before = rng.integers(-spread, spread + 1, (2, n)).astype(float)
    after = rng.integers(-spread, spread + 1, (2, n)).astype(float)
    expected, found, threaded = np.zeros(n), np.zeros(n), np.zeros(n)
    linkage._link_by_comparing(before, after, ranks, expected)
    tree = make_tree(before, np.arange(n))
    link_credits(tree, before, after, ranks, found)
    link_credits_parallel(tree, before, after, ranks, threaded)
    assert found.tolist() == expected.tolist() == threaded.tolist()


def centroids(ages: list[int], bloods: list[int], k: int) -> tuple[shoal.Release, list[list[float]]]:
    columns = {name: shoal.Column(name, form=shoal.Form.CENTROID) for name in ("age", "blood")}
    policy = shoal.Policy(quasi=columns, models=[shoal.KAnonymity(k)])
    release = shoal.anonymize({"age": ages, "blood": bloods}, policy, algorithm="mdav")
    rows = [list(row.values()) for row in release.published.to_pylist()]
    return release, rows


@settings(max_examples=60, deadline=None)
@given(records=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 9)), min_size=2, max_size=12))
def test_metrics_of_a_release(records: list[tuple[int, int]]) -> None:
    release, shown = centroids(*map(list, zip(*records, strict=True)), k=2)
    scales = [float(np.std(column)) or np.inf for column in zip(*records, strict=True)]
    before = [[value / scale for value, scale in zip(record, scales, strict=True)] for record in records]
    after = [[value / scale for value, scale in zip(row, scales, strict=True)] for row in shown]
    expected = plain.inside_deviation(before, after, 0.05)
    assert release.metrics["interval-disclosure"] == pytest.approx(expected)
    # Grid and rounding may part numbers that are equal on paper, so equality is not asked for here.
    assert 0 <= release.metrics["dld"] <= 1


def test_classes_of_two_are_linked_within_two_ranks() -> None:
    release, _ = centroids([0, 1, 50, 51], [0, 1, 50, 51], k=2)
    assert release.metrics["dld"] == 1
    encoded = shoal.encode({"age": [0, 1, 50, 51], "blood": [0, 1, 50, 51]}, release.policy)
    alone = linkage.DistanceLinkedDisclosure(ranks=1)
    assert measure(encoded, release.partition, release.policy, [alone])["dld"] == 0.5


def test_ranks_around_what_is_published() -> None:
    same = np.arange(200.0)[None, :]
    assert linkage.rank_disclosure(same, same) == 1
    far = np.where(same < 100, same + 100, same - 100)
    assert linkage.rank_disclosure(same, far) == 0
    ten_ranks = np.roll(same, 10)[:, 10:]  # p from 5 on reaches 10 of 190 ranks, p = 6 surely
    assert 0.4 <= linkage.rank_disclosure(same[:, 10:], ten_ranks) <= 0.6


@settings(max_examples=60, deadline=None)
@given(n=st.integers(1, 40), spread=st.integers(1, 30), seed=st.integers(0, 999))
def test_rank_intervals_agree_with_their_definition(n: int, spread: int, seed: int) -> None:
    rng = np.random.default_rng(seed)
    before = rng.integers(-spread, spread + 1, (2, n)).astype(float)
    after = before + rng.integers(-3, 4, (2, n))
    expected = plain.inside_ranks(before.T.tolist(), after.T.tolist())
    assert linkage.rank_disclosure(before, after) == pytest.approx(expected)


@pytest.mark.parametrize("kind", ["deviation", "rank"])
def test_suppressed_records_count_and_disclose_nothing(kind: str) -> None:
    policy = shoal.Policy(
        quasi={"age": shoal.Column("age", form=shoal.Form.CENTROID)}, models=[shoal.KAnonymity(3)]
    )
    encoded = shoal.encode({"age": [7, 7, 7, 50]}, policy)
    partition = shoal.Partition.from_labels(np.array([0, 0, 0, -1]))
    metric = linkage.IntervalDisclosure(kind=kind)
    assert measure(encoded, partition, policy, [metric])["interval-disclosure"] == 0.75


def test_intervals_have_no_linkage() -> None:
    release = shoal.anonymize({"age": [1, 2, 3, 4]}, quasi=["age"], k=2, algorithm="mdav")
    assert "dld" not in release.metrics
