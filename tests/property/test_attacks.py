"""Every attack does what its plain definition says, on random tables published by real algorithms."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from oracle import attacks as oracle
from shoal.attacks.inference import Background, BestGuess, Homogeneity, Skewness
from shoal.attacks.linkability import Linkability
from shoal.attacks.linkage import Linkage
from shoal.attacks.run import Target, attack_tables
from shoal.errors import PolicyUnsatisfiable
from strategies import random_tables

KNOWN = st.sampled_from([("age", "job", "town"), ("age", "town"), ("job",), ("town", "job")])


def _release(table: pa.Table, algorithm: str, suppressed: str) -> Any:
    policy = shoal.Policy(
        quasi={"age": "numeric", "job": "categorical", "town": shoal.Hierarchy.prefix(keep=[1])},
        sensitive=["disease"],
        models=[shoal.KAnonymity(2)],
        suppression=0.4,
        suppressed=suppressed,
    )
    try:
        return shoal.anonymize(table, policy, algorithm=algorithm)
    except PolicyUnsatisfiable:
        return None


ALGORITHMS = st.sampled_from(["mondrian", "k-member"])
SUPPRESSED = st.sampled_from(["drop", "star"])


@settings(max_examples=60, deadline=None)
@given(random_tables(), ALGORITHMS, SUPPRESSED, KNOWN)
def test_linkage_and_inference_are_their_definitions(
    table: pa.Table, algorithm: str, suppressed: str, known: tuple[str, ...]
) -> None:
    release = _release(table, algorithm, suppressed)
    assume(release is not None and release.published.num_rows > 0)
    people, shown = table.to_pylist(), release.published.to_pylist()
    rows = release.rows.tolist()
    attacks = [Linkage(), Linkage(guess="fits"), BestGuess(), Homogeneity(), Background(), Skewness()]
    results = release.attack(attacks=attacks, known=known, before=False).results
    likely, anyone, best, certain, ruled_out, skewed = results
    for found, by_breadth in ((likely, True), (anyone, False)):
        expected = oracle.linkage(people, shown, rows, known, likely=by_breadth)
        assert found.success.value == pytest.approx(np.mean(expected))
    common = oracle.shares(shown, "disease")
    truth = [person["disease"] for person in people]
    every = range(len(people))
    weights = [oracle.weights(i, people, shown, known, "disease") for i in every]
    own = [[j for j, row in enumerate(rows) if row == i] for i in every]
    without = [oracle.weights(i, people, shown, known, "disease", own[i]) for i in every]

    fits = [oracle.fits(person, shown, known, people) for person in people]

    def mean(score: Any, which: list[dict[Any, float]]) -> float:
        return float(np.mean([score(which[i], truth[i]) for i in every]))

    for found, score in (
        (best, oracle.best_guess),
        (ruled_out, lambda w, t: oracle.background(w, t, 1)),
        (skewed, lambda w, t: oracle.skewness(w, t, common, 2.0)[0]),
    ):
        assert found.success.value == pytest.approx(mean(score, weights))
        assert found.control.value == pytest.approx(mean(score, without))
    for estimate, which in ((certain.success, weights), (certain.control, without)):
        named = [fits[i] and oracle.homogeneity(which[i], truth[i]) for i in every]
        assert estimate.value == pytest.approx(np.mean(named))
    assert best.baseline.value == pytest.approx(np.mean([oracle.best_guess(common, t) for t in truth]))
    assert ruled_out.baseline.value == pytest.approx(
        np.mean([oracle.background(common, t, 1) for t in truth])
    )
    claimed = [oracle.skewness(weights[i], truth[i], common, 2.0)[1] for i in every]
    assert skewed.baseline.value == pytest.approx(np.mean(claimed))


@settings(max_examples=40, deadline=None)
@given(random_tables(), ALGORITHMS)
def test_singling_out_and_linkability_are_their_definitions(table: pa.Table, algorithm: str) -> None:
    release = _release(table, algorithm, "drop")
    assume(release is not None and release.published.num_rows > 0)
    people, shown = table.to_pylist(), release.published.to_pylist()
    known = ("age", "job", "town")
    single, joined = release.attack(
        attacks=["singling-out", Linkability(first=("age",))], before=False
    ).results
    alone = [oracle.singled_out(record, people, known, "disease") for record in shown]
    assert (single.success.value > 0) == any(alone)
    assert single.success.value == pytest.approx(np.mean(alone), abs=0.06)  # 2,000 records are drawn
    expected = oracle.linkability(people, shown, ["age"], ["job", "town"])
    if len(people) > 1:
        assert joined.success.value == pytest.approx(np.mean(expected))


@settings(max_examples=40, deadline=None)
@given(random_tables(), ALGORITHMS)
def test_who_is_behind_a_record_can_be_inferred_well_enough(table: pa.Table, algorithm: str) -> None:
    release = _release(table, algorithm, "drop")
    assume(release is not None and release.published.num_rows == table.num_rows)
    told = release.attack(attacks=[Linkage(guess="fits"), "inference"], before=False)
    shuffled = release.published.take(pa.array(np.random.default_rng(0).permutation(table.num_rows)))
    target = Target(original=table, published=shuffled, policy=release.policy)
    inferred = attack_tables(target, [Linkage(guess="fits"), "inference"])
    assert (told.truth, inferred.truth) == ("rows", "cells")
    # Among the records that fit, each is the person's own with the same chance, whichever it is.
    assert inferred.results[0].success.value == pytest.approx(told.results[0].success.value)
    assert inferred.results[1].success.value == pytest.approx(told.results[1].success.value)
