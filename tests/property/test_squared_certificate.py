"""The certificate of squared errors against the best of all partitions: brute force, integer programs."""

from __future__ import annotations

import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray
from scipy.optimize import Bounds, LinearConstraint, milp
from scipy.sparse import csc_array

import shoal
import shoal.squared_certificate as squared_certificate
from oracle.microaggregation import least_cut
from shoal.certificate import certify
from shoal.squared_certificate import least_on_a_line, squared_bound

Points = NDArray[np.float64]


def class_error(points: Points, members: list[int]) -> float:
    """The squared error of one class: what is null adds nothing, and makes all others cost all they can."""
    total = 0.0
    for column in points[:, members]:
        known = column[~np.isnan(column)]
        mean = known.mean() if len(known) == len(column) else 0.0
        total += float(((known - mean) ** 2).sum())
    return total


def least_error(points: Points, k: int, suppressed: int) -> float:
    """The least of all partitions that suppress no more records than that."""
    n = points.shape[1]
    own = np.nansum(points**2, axis=0)
    best = {(0, z): 0.0 for z in range(suppressed + 1)}
    cost = {}
    for left in range(1, 1 << n):
        members = [i for i in range(n) if left >> i & 1]
        if len(members) >= k:
            cost[left] = class_error(points, members)
        lowest = left & -left
        rest = left ^ lowest
        for z in range(suppressed + 1):
            found = best[rest, z - 1] + own[members[0]] if z else math.inf
            others = rest
            while True:
                if others | lowest in cost:
                    found = min(found, cost[others | lowest] + best[rest ^ others, z])
                if not others:
                    break
                others = (others - 1) & rest
            best[left, z] = found
    return best[(1 << n) - 1, suppressed]


def centred(values: Points) -> Points:
    """Each column with its mean at 0."""
    return values - np.nan_to_num(np.nanmean(values, axis=1, keepdims=True))


@st.composite
def clouds(draw: st.DrawFn) -> Points:
    """Draw few points on a coarse grid, some of them alike, some of them unknown."""
    d, n = draw(st.integers(1, 3)), draw(st.integers(2, 8))
    cell = st.one_of(st.integers(-6, 6).map(float), st.sampled_from([0.0, 40.0, math.nan]))
    drawn = draw(st.lists(st.lists(cell, min_size=n, max_size=n), min_size=d, max_size=d))
    values = np.array(drawn)
    return centred(np.where(np.isnan(values).all(axis=1, keepdims=True), 0.0, values))


@settings(max_examples=120, deadline=None)
@given(clouds(), st.integers(2, 4), st.integers(0, 2))
def test_no_partition_has_less(points: Points, k: int, suppressed: int) -> None:
    n = points.shape[1]
    suppressed = min(suppressed, n)
    least = least_error(points, k, suppressed)
    for allowed in (suppressed, None):
        assert squared_bound(points, k, allowed).error <= least * (1 + 1e-12) + 1e-12


@pytest.mark.parametrize(("k", "suppressed", "seed"), [(2, 0, 1), (3, 0, 2), (3, 2, 3), (4, 0, 4), (5, 1, 5)])
def test_no_partition_of_twelve_records_has_less(k: int, suppressed: int, seed: int) -> None:
    points = centred(np.random.default_rng(seed).normal(size=(2, 12)))
    bound, least = squared_bound(points, k, suppressed).error, least_error(points, k, suppressed)
    assert 0.5 * least <= bound <= least


@pytest.mark.parametrize(("records", "k", "seed"), [(40, 2, 6), (18, 3, 7), (14, 4, 8)])
def test_no_solution_of_the_integer_program_has_less(records: int, k: int, seed: int) -> None:
    points = centred(np.random.default_rng(seed).normal(size=(3, records)) ** 3)
    bound, least = squared_bound(points, k, 0).error, integer_program(points, k)
    assert 0.6 * least <= bound <= least


def integer_program(points: Points, k: int) -> float:
    """Return the least squared error; classes of 2k records have no less than their parts."""
    n = points.shape[1]
    sets = [members for size in range(k, 2 * k) for members in combinations(range(n), size)]
    costs = np.array([class_error(points, list(members)) for members in sets])
    ends = np.cumsum([0, *map(len, sets)])
    cover = csc_array(
        (np.ones(ends[-1]), np.concatenate([np.array(members) for members in sets]), ends),
        shape=(n, len(sets)),
    )
    constraints = LinearConstraint(cover, np.ones(n), np.ones(n))
    solved = milp(costs, constraints=constraints, integrality=np.ones(len(sets)), bounds=Bounds(0, 1))
    assert solved.success
    return float(solved.fun)


def test_the_split_pays_for_those_who_are_far_from_all() -> None:
    """Half of each pair alone would charge the one far away for half of what it costs the others."""
    points = centred(np.array([[0.0, 1.0, 2.0, 3.0, 50.0], [0.0, 1.0, 0.0, 1.0, 20.0]]))
    squares = ((points[:, :, None] - points[:, None, :]) ** 2).sum(axis=0)
    halves = np.sort(squares, axis=1)[:, 1:2].sum() / 4
    assert squared_bound(points, 2, 0).error > 1.8 * halves


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(-20, 20).map(float), min_size=2, max_size=9), st.integers(2, 4))
def test_one_column_is_solved(numbers: list[float], k: int) -> None:
    values = centred(np.array([numbers]))
    if len(numbers) < k:
        return
    least = least_on_a_line(values[0], k)
    assert least == pytest.approx(least_error(values, k, 0), abs=1e-9)
    assert least == pytest.approx(least_cut(sorted(values.T.tolist()), k), abs=1e-9)


@pytest.mark.parametrize("alike", [1, 30])
def test_neighbours_are_found_in_a_tree_as_by_comparing_all(
    alike: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    points = centred(np.repeat(np.random.default_rng(9).normal(size=(3, 600 // alike)), alike, axis=1))
    compared = squared_bound(points, 3, 0).error
    squares = ((points[:, :, None] - points[:, None, :]) ** 2).sum(axis=0)
    np.fill_diagonal(squares, np.inf)
    monkeypatch.setattr(squared_certificate, "_CELLS", 1)
    monkeypatch.setattr(squared_certificate, "_MOST_NEAR", 8)
    pairs = squared_certificate._near_pairs(points, 3)
    assert squares[pairs.one, pairs.other] == pytest.approx(pairs.square)
    assert pairs.rest == pytest.approx(np.sort(squares, axis=1)[:, 8])
    monkeypatch.setattr(squared_certificate, "_MOST_NEAR", 60)
    assert squared_bound(points, 3, 0).error == pytest.approx(compared, rel=1e-6)


def test_a_column_with_nulls_makes_a_large_table_s_bound_weaker_never_wrong(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    points = centred(np.random.default_rng(9).normal(size=(3, 200)))
    points[0, ::50] = np.nan
    compared = squared_bound(points, 3, 0).error
    monkeypatch.setattr(squared_certificate, "_CELLS", 1)
    assert 0.5 * compared < squared_bound(points, 3, 0).error <= 1.001 * compared


def test_a_release_of_means_carries_its_bound_and_gap() -> None:
    rng = np.random.default_rng(3)
    quasi = {name: shoal.Column(name, kind="numeric", form="mean") for name in ("height", "weight")}
    policy = shoal.Policy(quasi=quasi, models=[shoal.KAnonymity(3)])
    table = {"height": rng.normal(170, 9, 60).round(1), "weight": rng.normal(70, 9, 60).round(1)}
    found = shoal.anonymize(table, policy, algorithm="mdav").metrics
    assert 0.5 * found["il-sse"] < found["il-sse-bound"] < found["il-sse"]
    assert found["il-sse-gap"] == pytest.approx(1 - found["il-sse-bound"] / found["il-sse"])
    one = shoal.anonymize(
        {"height": table["height"]},
        shoal.Policy(quasi={"height": quasi["height"]}, models=[shoal.KAnonymity(3)]),
        algorithm="optimal-1d",
    ).metrics
    assert one["il-sse-gap"] == 0
    assert one["il-sse"] == pytest.approx(one["il-sse-bound"])


def test_ranges_have_no_bound_on_their_squared_error() -> None:
    found = shoal.anonymize({"age": [1, 2, 3, 40]}, quasi=["age"], k=2, algorithm="mondrian").metrics
    assert "il-sse-bound" not in found
    encoded = shoal.encode({"job": ["a", "b"]}, shoal.Policy(quasi=["job"]))
    assert certify(encoded, 2, "il-sse").bound == 0
