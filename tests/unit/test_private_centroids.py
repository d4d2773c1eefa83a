"""dp-centroid: the sensitivity the proof rests on, its budget, and what it refuses."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
import shoal.io
from shoal import private_centroids as private
from shoal.errors import DataError, MissingExtra, PolicyError, PolicyUnsatisfiable
from shoal.evidence import How


def column(name: str, low: float = 0, high: float = 100, **options: Any) -> shoal.Column:
    return shoal.Column(name, kind=shoal.Kind.NUMERIC, domain=(low, high), **options)


def policy(*columns: shoal.Column, k: int = 3, **options: Any) -> shoal.Policy:
    return shoal.Policy(quasi={c.name: c for c in columns}, models=[shoal.KAnonymity(k)], **options)


def sums(places: np.ndarray, k: int) -> np.ndarray:
    runs = np.array_split(private.total_order(places), private.run_starts(places.shape[1], k))
    return np.stack([places[:, run].sum(axis=1) for run in runs], axis=1)


cells = st.sampled_from([0, 1, 3, private._STEPS // 2, private._STEPS - 1, private._STEPS])


@settings(max_examples=400, deadline=None)
@given(
    d=st.integers(1, 3),
    rows=st.lists(st.tuples(cells, cells, cells), min_size=2, max_size=14),
    other=st.tuples(cells, cells, cells),
    where=st.integers(0, 99),
    k=st.integers(1, 4),
)
def test_replacing_a_record_changes_sums_by_the_sensitivity_at_most(
    d: int, rows: list[tuple[int, ...]], other: tuple[int, ...], where: int, k: int
) -> None:
    before = np.array(rows, dtype=np.int64).T[:d]
    after = before.copy()
    after[:, where % len(rows)] = other[:d]
    if len(rows) < k:
        return
    changes = np.abs(sums(before, k) - sums(after, k))
    for changed in changes.sum(axis=1):
        assert changed <= private.sensitivity(d, changes.shape[1])


def test_the_sensitivity_is_reached() -> None:
    lowest, highest = np.zeros((1, 4), np.int64), np.array([[0, 0, 0, private._STEPS]])
    assert np.abs(sums(lowest, 2) - sums(highest, 2)).sum() == private.sensitivity(1, 2)


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(cells, cells), min_size=1, max_size=14))
def test_the_order_is_by_distance_from_the_lowest_corner_then_place_by_place(
    rows: list[tuple[int, int]],
) -> None:
    order = private.total_order(np.array(rows, dtype=np.int64).T)
    plain = sorted(rows, key=lambda row: (row[0] ** 2 + row[1] ** 2, *row))
    assert [rows[i] for i in order] == plain


def test_a_column_of_nulls_counts_as_the_middle() -> None:
    empty = pa.table({"a": pa.nulls(4)})
    shown = shoal.dp_centroid(empty, policy(column("a")), epsilon=1e7).table["a"].to_pylist()
    assert shown == pytest.approx([50] * 4, abs=0.01)


def test_runs_have_k_records_and_the_last_takes_the_rest() -> None:
    assert [len(run) for run in np.array_split(np.arange(11), private.run_starts(11, 3))] == [3, 3, 5]
    assert [len(run) for run in np.array_split(np.arange(5), private.run_starts(5, 3))] == [5]


def test_the_budget_is_split_by_weight_and_never_exceeded() -> None:
    plan = policy(column("a", weight=3.0), column("b"), column("c", 5, 5), k=2)
    table = {"a": [1, 2, 3, 4], "b": [5, 6, 7, 8], "c": [5, 5, 5, 5]}
    proof = shoal.dp_centroid(table, plan, epsilon=0.4).evidence.promises[0]
    assert proof.how is How.PROOF
    assert proof.required == 0.4
    assert proof.achieved <= 0.4
    assert proof.achieved == pytest.approx(0.4, rel=1e-9)
    assert proof.parameters["shares"] == {"a": pytest.approx(0.3), "b": pytest.approx(0.1)}


def test_k_anonymity_is_a_promise_of_its_own_and_recomputed() -> None:
    release = shoal.dp_centroid({"a": list(range(20))}, policy(column("a"), k=4), epsilon=1)
    proof, size = release.evidence.promises
    assert (proof.model, size.model) == ("differential-privacy", "k-anonymity")
    assert size.how is How.PUBLISHED
    assert size.achieved >= 4
    assert release.table.num_rows == 20


def test_a_large_budget_leaves_the_means_and_a_small_one_does_not() -> None:
    table = {"a": [10, 20, 30, 60, 70, 80]}
    near = shoal.dp_centroid(table, policy(column("a")), epsilon=1e6).table["a"].to_pylist()
    assert near == pytest.approx([20] * 3 + [70] * 3, abs=0.01)
    far = [
        shoal.dp_centroid(table, policy(column("a")), epsilon=0.1).table["a"][0].as_py() for _ in range(20)
    ]
    assert np.std(far) > 5
    assert all(0 <= value <= 100 for value in far)


def test_the_noise_is_laplace_of_the_stated_scale() -> None:
    """The sum of the one run is moved by discrete Laplace noise of scale steps / epsilon."""
    half = np.full((1, 1), 3 * private._STEPS // 2)
    drawn = [private._with_noise(half, (column("a"),), 8.0)[0][0, 0] - half[0, 0] for _ in range(800)]
    assert np.abs(drawn).mean() == pytest.approx(private._STEPS / 8, rel=5 / np.sqrt(len(drawn)))


def test_bounds_are_never_read_from_the_table() -> None:
    inside = shoal.dp_centroid({"a": [0, 0, 100]}, policy(column("a")), epsilon=1e7).table["a"].to_pylist()
    outside = {"a": pa.array([-5.0, None, 1e9])}
    clipped = shoal.dp_centroid(pa.table(outside), policy(column("a")), epsilon=1e7).table["a"].to_pylist()
    assert inside[0] == pytest.approx(100 / 3, abs=0.01)
    assert clipped[0] == pytest.approx((0 + 50 + 100) / 3, abs=0.01)


@pytest.mark.parametrize(
    ("plan", "words"),
    [
        (shoal.Policy(quasi={"a": "numeric"}, models=[shoal.KAnonymity(2)]), "'a' has no bounds"),
        (shoal.Policy(quasi={"a": column("a")}), "no k-anonymity"),
        (policy(column("a"), sensitive=["b"]), "'b' would be published as it is"),
        (policy(column("a"), weight="b"), "'b' would be published as it is"),
        (policy(column("a", 0, float("inf"))), "not a finite distance apart"),
        (policy(column("a", -1.7e308, 1.7e308)), "not a finite distance apart"),
        (
            shoal.Policy(quasi={"a": column("a")}, sensitive=["b"], models=[shoal.LDiversity(2)]),
            "l-diversity cannot be kept",
        ),
    ],
)
def test_what_the_proof_would_not_cover_is_refused(plan: shoal.Policy, words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        shoal.dp_centroid({"a": [1, 2, 3], "b": ["x", "y", "z"]}, plan, epsilon=1)


def test_texts_and_tables_that_are_too_small_are_refused() -> None:
    with pytest.raises(DataError, match="holds no numbers"):
        shoal.dp_centroid({"a": ["x", "y", "z"]}, policy(column("a")), epsilon=1)
    with pytest.raises(PolicyUnsatisfiable, match="fewer than k=3"):
        shoal.dp_centroid({"a": [1, 2]}, policy(column("a")), epsilon=1)
    with pytest.raises(shoal.ShoalError, match="'epsilon' of dp-centroid must be a number of at least 1e-12"):
        shoal.dp_centroid({"a": [1, 2, 3]}, policy(column("a")), epsilon=5e-324)


def test_identifiers_and_unnamed_columns_are_left_out() -> None:
    plan = policy(column("a"), identifiers=["name"])
    release = shoal.dp_centroid({"a": [1, 2, 3], "name": ["x", "y", "z"], "note": [1, 2, 3]}, plan, epsilon=1)
    assert release.table.column_names == ["a"]


def test_without_opendp_the_extra_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(MissingExtra, match=r"shoal\[dp\]"):
        shoal.dp_centroid({"a": [1, 2, 3]}, policy(column("a")), epsilon=1)


def test_it_is_written_with_its_proof(tmp_path: Path) -> None:
    release = shoal.dp_centroid({"a": list(range(9))}, policy(column("a")), epsilon=1)
    evidence = release.write(tmp_path / "out.csv")
    assert [promise.how for promise in evidence.promises] == [How.PROOF, How.PUBLISHED]
    assert shoal.io.read(tmp_path / "out.csv").num_rows == 9
    manifest = json.loads((tmp_path / "out.csv.manifest.json").read_text())
    assert manifest["policy"]["columns"][0]["domain"] == [0, 100]
    proof = manifest["evidence"]["promises"][0]
    assert (proof["how"], proof["required"]) == ("proof", 1)
    assert proof["parameters"]["bounds"] == {"a": [0, 100]}
    assert "further releases" in proof["parameters"]["covers"]


def test_nothing_but_the_noisy_centroids_depends_on_the_table() -> None:
    """Evidence and manifest are the same for two neighbours once the noise that both draw is the same."""
    plan, silent = policy(column("a"), column("b")), np.zeros((2, 3), dtype=np.int64)

    def described(last: float) -> dict[str, Any]:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(private, "_with_noise", lambda *_: (silent, {"a": 0.5, "b": 0.5}))
            table = {"a": [*range(8), last], "b": [*range(8), last]}
            return shoal.dp_centroid(table, plan, epsilon=1).manifest()

    assert described(9) == described(1e9)
