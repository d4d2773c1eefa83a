"""Builders of hierarchies: coded ends, bounds by hand, suffixes, orders, and trees learned from data."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import hierarchies as oracle
from shoal import Hierarchy
from shoal.errors import HierarchyError


def ways(hierarchy: Hierarchy, values: Any) -> list[list[str]]:
    """Return the labels of each value from itself up to the root, repetitions left out."""
    tree, leaf_of = hierarchy.bind(pa.array(values), "column")
    return [oracle.without_repeats([tree.labels[node] for node in tree.nodes[:, leaf]]) for leaf in leaf_of]


def shown(low: Fraction | None, high: Fraction | None) -> str:
    if low is None:
        return f"< {high}"
    if high is None:
        return f">= {low}"
    return str(low) if high == low + 1 else f"[{low}, {high - 1}]"


@settings(max_examples=100, deadline=None)
@given(
    values=st.sets(st.integers(-60, 60), min_size=1, max_size=20),
    bounds=st.sets(st.integers(-20, 20), min_size=2, max_size=6),
    data=st.data(),
    repeat=st.booleans(),
)
def test_bounds_hold_their_values(
    values: set[int], bounds: set[int], data: st.DataObject, repeat: bool
) -> None:
    fine = sorted(bounds)
    inner = data.draw(st.sets(st.sampled_from(fine), min_size=1, max_size=len(fine) - 1))
    coarse = sorted(inner | {fine[0], fine[-1]}) if repeat else sorted(inner)
    levels = [fine, coarse] if set(coarse) < set(fine) else [fine]
    numbers = sorted(values)
    found = ways(Hierarchy.bounds(levels, repeat=repeat), numbers)
    for number, way in zip(numbers, found, strict=True):
        plain = [str(number)]
        for level in levels:
            plain.append(shown(*oracle.between(Fraction(number), [Fraction(b) for b in level], repeat)))
        assert way == oracle.without_repeats([*plain, "*"])


@settings(max_examples=60, deadline=None)
@given(
    values=st.sets(st.integers(-40, 140), min_size=1, max_size=20),
    bottom=st.none() | st.integers(0, 30),
    top=st.none() | st.integers(31, 99),
)
def test_ends_are_coded_at_every_level(values: set[int], bottom: int | None, top: int | None) -> None:
    hierarchy = Hierarchy.intervals(widths=[5, 20], bottom=bottom, top=top)
    for number, way in zip(sorted(values), ways(hierarchy, sorted(values)), strict=True):
        if bottom is not None and number < bottom:
            assert way[1:] == [f"< {bottom}", "*"]
        elif top is not None and number >= top:
            assert way[1:] == [f">= {top}", "*"]
        else:
            plain = [str(number)]
            for width in (5, 20):
                low, high = oracle.interval(Fraction(number), Fraction(width), Fraction(0))
                low = low if bottom is None else max(low, Fraction(bottom))
                high = high if top is None else min(high, Fraction(top))
                plain.append(shown(low, high))
            assert way == oracle.without_repeats([*plain, "*"])


def test_ends_between_whole_numbers_make_open_intervals() -> None:
    assert ways(Hierarchy.intervals(widths=[1], top=2.5), [2.0])[0] == ["2", "[2, 2.5)", "*"]
    assert ways(Hierarchy.bounds([0, 0.5, 1]), [0.25])[0] == ["0.25", "[0, 0.5)", "*"]


@given(texts=st.sets(st.text("0123456789", min_size=1, max_size=5), min_size=1, max_size=12))
def test_suffixes_hide_from_the_left(texts: set[str]) -> None:
    values = sorted(texts)
    full = max(map(len, values))
    for text, way in zip(values, ways(Hierarchy.suffix(), values), strict=True):
        masked = [oracle.masked(text[::-1], n, full, "*")[::-1] for n in range(full - 1, 0, -1)]
        assert way == oracle.without_repeats([text, *masked, "*"])


def test_an_order_is_cut_into_neighbours() -> None:
    size = Hierarchy.ordered(["XS", "S", "M", "L", "XL"], sizes=[2, 2])
    assert ways(size, ["S", "XL"]) == [["S", "[XS, S]", "[XS, L]", "*"], ["XL", "*"]]


@settings(max_examples=60, deadline=None)
@given(records=st.lists(st.tuples(st.sampled_from("abcdef"), st.integers(0, 2)), min_size=1, max_size=30))
def test_what_merges_first_loses_least(records: list[tuple[str, int]]) -> None:
    values, target = [v for v, _ in records], [t for _, t in records]
    by_value = {v: [t for w, t in records if w == v] for v in sorted(set(values))}
    if len(by_value) != 3:  # then the level above the values is one merge
        return
    row = {r[0]: r[1] for r in Hierarchy.learned(values, target).to_spec()["rows"]}
    pair = next((a, b) for a, b in combinations(by_value, 2) if row[a] == row[b])
    losses = {(a, b): oracle.lost_bits(by_value[a], by_value[b]) for a, b in combinations(by_value, 2)}
    assert losses[pair] == pytest.approx(min(losses.values()), abs=1e-9)
    rare = {r[0]: r[1] for r in Hierarchy.learned(values).to_spec()["rows"]}
    pair = next((a, b) for a, b in combinations(by_value, 2) if rare[a] == rare[b])
    sizes = {(a, b): len(by_value[a]) + len(by_value[b]) for a, b in combinations(by_value, 2)}
    assert sizes[pair] == min(sizes.values())


def test_neighbours_stay_in_order() -> None:
    ages = [20, 21, 22, 23, 24, 60, 61, None]
    learned = Hierarchy.learned(ages, [0, 0, 0, 1, 1, 0, 0, 0], neighbours=True)
    rows = learned.to_spec()["rows"]
    assert [row[0] for row in rows] == ["20", "21", "22", "23", "24", "60", "61"]
    for level, groups in ((1, 4), (2, 2)):
        labels = [row[level] for row in rows]
        runs = [label for i, label in enumerate(labels) if i == 0 or label != labels[i - 1]]
        assert len(runs) == groups == len(set(labels))  # every group is one run
    assert rows[3][1] == rows[4][1] == "[23, 24]"  # they predict alike


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hierarchy.bounds([3, 1]), "ascending"),
        (lambda: Hierarchy.bounds([[0, 10], [5]]), "some of those"),
        (lambda: Hierarchy.bounds([[0, 5, 10, 20], [0, 10]], repeat=True), "its first and last"),
        (lambda: Hierarchy.bounds([1], repeat=True), "ascending"),
        (lambda: Hierarchy.intervals(widths=[5], bottom=10, top=10), "below 'top'"),
        (lambda: Hierarchy.intervals(widths=[5], top="x"), "must be numbers"),
        (lambda: Hierarchy.ordered([], [2]), "must be a list"),
        (lambda: Hierarchy.ordered(["a", "a"], [2]), "must differ"),
        (lambda: Hierarchy.ordered(["a", "b"], [1]), "above 1"),
        (lambda: Hierarchy.learned([None]), "no values"),
        (lambda: Hierarchy.learned(["a"], [1, 2]), "equally long"),
        (lambda: Hierarchy.learned(list(range(2000))), "too many"),
    ],
)
def test_wrong_builders_are_refused(make: Any, message: str) -> None:
    with pytest.raises(HierarchyError, match=message):
        make()


@pytest.mark.parametrize(
    "hierarchy",
    [
        Hierarchy.intervals(widths=[5, 10], bottom=18, top=90),
        Hierarchy.bounds([[0, 10, 20], [0, 20]], repeat=True),
        Hierarchy.bounds([18, 65]),
        Hierarchy.suffix(keep=[3, 1], mask="#"),
        Hierarchy.ordered(["a", "b", "c"], [2]),
    ],
)
def test_builders_go_through_a_policy_file(hierarchy: Hierarchy) -> None:
    assert Hierarchy.from_spec(hierarchy.to_spec()) == hierarchy
    assert repr(hierarchy).startswith("Hierarchy")
