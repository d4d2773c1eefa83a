"""Risk equals its definitions, on random tables."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from oracle import attacks as cells
from oracle import risk as oracle
from shoal.errors import PolicyUnsatisfiable
from shoal.risk.population import (
    Histogram,
    pitman,
    population_uniques,
    small_groups,
    snb,
    zayatz,
)
from shoal.risk.records import expected_one_in
from strategies import random_tables

QUASI = ["age", "job", "town", "disease"]


@settings(max_examples=80, deadline=None)
@given(random_tables(), st.floats(0.01, 1.0))
def test_uniques_and_their_scores(table: pa.Table, fraction: float) -> None:
    rows = table.to_pylist()
    found = shoal.risk(table, quasi=QUASI).uniques
    own = oracle.minimal_uniques(rows, QUASI, 4)
    assert found.minimal.tolist() == [[[len(s) for s in sets].count(m) for m in (1, 2, 3, 4)] for sets in own]
    assert found.scores.tolist() == oracle.suda(rows, QUASI, 4)
    assert found.disclosive(fraction) == pytest.approx(oracle.dis_suda(rows, QUASI, 4, fraction))
    assert found.unique.tolist() == [size == 1 for size in oracle.class_sizes(rows, QUASI)]
    assert found.special.tolist() == [any(len(s) < 4 for s in sets) for sets in own]
    for columns, records in found.sets:
        assert records == oracle.class_sizes(rows, columns).count(1)
    best = 0
    for entry in sorted(found.ranked(), key=lambda entry: entry["size"]):
        if entry["size"] > 1:
            smaller = [count for columns, count in found.sets if len(columns) < entry["size"]]
            best = max(smaller)
        assert entry["records"] > best


@settings(max_examples=60, deadline=None)
@given(random_tables(), st.sampled_from(["mondrian", "k-member"]), st.sampled_from(["drop", "star"]))
def test_risks_of_every_record(table: pa.Table, algorithm: str, suppressed: str) -> None:
    policy = shoal.Policy(
        quasi={"age": "numeric", "job": "categorical", "town": shoal.Hierarchy.prefix(keep=[1])},
        models=[shoal.KAnonymity(2)],
        suppression=0.4,
        suppressed=suppressed,
    )
    try:
        release = shoal.anonymize(table, policy, algorithm=algorithm)
    except PolicyUnsatisfiable:
        assume(False)
    names, people, shown = ["age", "job", "town"], table.to_pylist(), release.published.to_pylist()
    found = release.risk(population=table)
    before = oracle.class_sizes(people, names)
    assert found.before.risks.tolist() == [1 / size for size in before]
    after = dict(zip(release.rows.tolist(), oracle.class_sizes(shown, names), strict=True))
    assert found.after.risks.tolist() == [1 / after[i] if i in after else 0.0 for i in range(len(people))]
    fits = {
        i: sum(all(cells.distance(n, p[n], shown[j][n], people) == 0 for n in names) for p in people)
        for j, i in enumerate(release.rows.tolist())
    }
    expected = [1 / max(fits[i], after[i]) if i in after else 0.0 for i in range(len(people))]
    assert found.after.journalist.mean.value == pytest.approx(np.mean(expected))
    assert found.after.journalist.highest == pytest.approx(max(expected))
    assert found.before.journalist.mean.value == pytest.approx(np.mean([1 / size for size in before]))


@pytest.mark.parametrize("fraction", [0.05, 0.3, 0.9])
def test_the_journalist_without_a_population(fraction: float) -> None:
    sizes = np.array([1, 2, 3, 7, 40, 201, 350])
    expected = [oracle.expected_one_in(size, fraction) for size in sizes[:5].tolist()]
    found = expected_one_in(sizes, fraction)
    assert found[:5] == pytest.approx(expected, rel=1e-9)
    # Beyond the size where the expansion takes over, the two agree.
    assert found[5] == pytest.approx(oracle.expected_one_in(201, fraction), rel=1e-3)
    assert expected_one_in(sizes, 1.0).tolist() == (1 / sizes).tolist()


GROUPS = st.lists(st.integers(1, 9), min_size=3, max_size=40)


@settings(max_examples=60, deadline=None)
@given(GROUPS, st.sampled_from([2, 5, 20]))
def test_zayatz(sizes: list[int], times: int) -> None:
    expected = oracle.zayatz(sizes, sum(sizes) * times)
    assert zayatz(Histogram.of(np.array(sizes)), 1 / times) == pytest.approx(expected, rel=1e-6)


@pytest.mark.parametrize(
    "groups", [{1: 60, 2: 15, 3: 6, 8: 2}, {1: 30, 2: 12, 5: 5}, {1: 90, 2: 9, 3: 3, 4: 2, 20: 1}]
)
def test_pitman_finds_the_greatest_likelihood(groups: dict[int, int]) -> None:
    sizes = [size for size, count in groups.items() for _ in range(count)]
    found = pitman(Histogram.of(np.array(sizes)), 0.05)
    assert found == pytest.approx(oracle.pitman(sizes, sum(sizes) / 0.05), rel=0.08)  # the grid is coarse


@pytest.mark.parametrize("f", [0.2, 0.5])
@pytest.mark.parametrize(("a", "b"), [(0.4, 0.1), (1.5, 0.3)])
def test_the_slide_negative_binomial_is_solved(f: float, a: float, b: float) -> None:
    one, two = (round(count) for count in oracle.snb_expected(4000, f, a, b))
    sizes = [1] * one + [2] * two + [6] * 300
    groups = oracle.shlosser(sizes, f)
    found = snb(Histogram.of(np.array(sizes)), f)
    # Whatever a and b it settled on, they must give back the groups of one and two; look for them.
    fits = [
        groups * y**x
        for x in np.geomspace(0.05, 8, 60)
        for y in np.linspace(0.01, 0.95, 60)
        if max(abs(g / w - 1) for g, w in zip(small_groups(groups, f, x, y), (one, two), strict=True)) < 0.06
    ]
    assert fits
    assert min(fits) * 0.8 <= found <= max(fits) * 1.2
    for got, wanted in zip(small_groups(groups, f, a, b), oracle.snb_expected(groups, f, a, b), strict=True):
        assert got == pytest.approx(wanted, rel=1e-6)


@pytest.mark.parametrize("fraction", [0.1, 0.25, 0.5])
@pytest.mark.parametrize("shape", [0.15, 0.6])
def test_estimates_come_near_what_a_population_holds(fraction: float, shape: float) -> None:
    rng = np.random.default_rng(5)
    means = rng.gamma(shape, 40 / shape, 3000)
    population = np.repeat(np.arange(3000), rng.poisson(means))
    rng.shuffle(population)
    truth = (np.bincount(population) == 1).sum() / len(population)
    drawn = population[: round(fraction * len(population))]
    found = population_uniques(np.bincount(drawn)[np.bincount(drawn) > 0], fraction)
    sample = (np.bincount(drawn) == 1).sum() / len(drawn)
    # Far nearer to the population's share than the sample's own, and the interval holds the estimate.
    assert abs(found.share.value - truth) < 0.5 * abs(sample - truth)
    assert found.share.low <= found.share.value <= found.share.high
    assert snb(Histogram.of(np.bincount(drawn)), 1.0) == (np.bincount(drawn) == 1).sum()
