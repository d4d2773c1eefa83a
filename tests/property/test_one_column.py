"""The least loss in one column, against every partition there is."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.one_column import Solved, least_climb, least_range


def least_of_all(costs: dict[int, float], n: int, dropped: float) -> float:
    """The least sum of the costs of sets that make up all records; any record may be dropped instead."""
    best = [0.0] + [float("inf")] * ((1 << n) - 1)
    for left in range(1, 1 << n):
        lowest = left & -left
        rest = others = left ^ lowest
        best[left] = dropped + best[rest]
        while True:
            cost = costs.get(others | lowest)
            if cost is not None:
                best[left] = min(best[left], cost + best[rest ^ others])
            if not others:
                break
            others = (others - 1) & rest
    return best[-1]


def sets(n: int, k: int) -> list[tuple[int, list[int]]]:
    """Every set of at least k of n records, as bits and as a list."""
    listed = ((bits, [i for i in range(n) if bits >> i & 1]) for bits in range(1 << n))
    return [(bits, members) for bits, members in listed if len(members) >= k]


def cost_of_range(numbers: np.ndarray, solved: Solved) -> float:
    """What a partition of numbers costs, from its definition."""
    total = float((solved.labels < 0).sum())
    for label in range(int(solved.labels.max(initial=-1)) + 1):
        members = numbers[solved.labels == label]
        total += len(members) * float(members.max() - members.min())
    return total


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 12), min_size=2, max_size=9), st.integers(2, 4), st.booleans())
def test_numbers_are_grouped_at_the_least_cost(values: list[int], k: int, dropping: bool) -> None:
    numbers = np.array(values) / 12
    solved = least_range(numbers, k, dropping=dropping)
    if len(values) < k:
        assert solved is None
        return
    assert solved is not None
    costs = {bits: len(m) * float(np.ptp(numbers[m])) for bits, m in sets(len(values), k)}
    assert solved.cost == pytest.approx(least_of_all(costs, len(values), 1.0 if dropping else np.inf))
    assert cost_of_range(numbers, solved) == pytest.approx(solved.cost)
    assert np.bincount(solved.labels[solved.labels >= 0], minlength=1).min() >= (
        k if (solved.labels >= 0).any() else 0
    )


@pytest.mark.parametrize("seed", range(4))
def test_twelve_numbers_are_grouped_at_the_least_cost(seed: int) -> None:
    rng = np.random.default_rng(seed)
    numbers = np.concatenate([rng.random(4), 0.5 + 0.02 * rng.random(8)])
    k = 2 + seed % 3
    solved = least_range(numbers, k)
    assert solved is not None
    costs = {bits: len(m) * float(np.ptp(numbers[m])) for bits, m in sets(12, k)}
    assert solved.cost == pytest.approx(least_of_all(costs, 12, np.inf))


def test_a_class_may_lie_around_another() -> None:
    solved = least_range(np.array([0.0, 0.5, 0.5, 0.5, 1.0]), 2)
    assert solved is not None
    assert solved.cost == 2
    assert solved.labels[0] == solved.labels[4] != solved.labels[2]


def test_many_records_alike_are_as_good_as_few() -> None:
    rng = np.random.default_rng(5)
    numbers = np.repeat([0.0, 0.3, 0.31, 0.9, 1.0], [1, 400, 3, 2, 200])
    numbers = rng.permutation(numbers)
    solved = least_range(numbers, 3)
    assert solved is not None
    assert cost_of_range(numbers, solved) == pytest.approx(solved.cost)
    assert np.bincount(solved.labels).min() >= 3
    assert solved.cost == pytest.approx(3 * 0.1 + 3 * 0.3)


LEVELS = [
    np.array([0, 1, 2, 3, 4, 5]),
    np.array([6, 6, 7, 7, 4, 9]),
    np.array([8, 8, 8, 8, 9, 9]),
    np.array([10] * 6),
]
LOSSES = np.array([[0.0] * 6, [0.2, 0.2, 0.2, 0.2, 0.0, 0.3], [0.6] * 4 + [0.3] * 2, [1.0] * 6])


def climb(members: list[int], codes: np.ndarray) -> float:
    """What one record of a class pays, from the definition."""
    for level, losses in zip(LEVELS, LOSSES, strict=True):
        if len({int(level[codes[i]]) for i in members}) == 1:
            return float(losses[codes[members[0]]])
    raise AssertionError


@settings(max_examples=150, deadline=None)
@given(st.lists(st.integers(0, 5), min_size=2, max_size=9), st.integers(2, 4), st.booleans())
def test_values_are_grouped_at_the_least_cost(values: list[int], k: int, dropping: bool) -> None:
    codes = np.array(values)
    solved = least_climb(codes, LEVELS, LOSSES, k, dropping=dropping)
    if len(values) < k:
        assert solved is None
        return
    assert solved is not None
    costs = {bits: len(m) * climb(m, codes) for bits, m in sets(len(values), k)}
    assert solved.cost == pytest.approx(least_of_all(costs, len(values), 1.0 if dropping else np.inf))
    classes = [np.flatnonzero(solved.labels == c).tolist() for c in range(solved.labels.max() + 1)]
    assert all(len(members) >= k for members in classes)
    paid = sum(len(members) * climb(members, codes) for members in classes)
    assert paid + (solved.labels < 0).sum() <= solved.cost + 1e-9


def test_too_many_different_values_are_left_to_others() -> None:
    assert least_range(np.linspace(0, 1, 100_000), 5) is None
    codes = np.arange(30_000)
    assert (
        least_climb(codes, [codes, np.zeros_like(codes)], np.array([np.zeros(30_000), np.ones(30_000)]), 5)
        is None
    )
