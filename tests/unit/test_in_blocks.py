"""Algorithms that work in blocks."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import shoal
from shoal.algorithms import in_blocks
from shoal.algorithms.fuzzy_k_member import FuzzyKMember
from shoal.algorithms.in_blocks import InBlocks
from shoal.algorithms.mondrian import Mondrian
from shoal.cli.app import main
from shoal.encoding import Encoded
from shoal.errors import ParameterError
from shoal.metrics.measure import measure
from shoal.models.base import Model
from shoal.progress import Run
from shoal.refine import refined


def encoded(records: int = 400) -> tuple[Encoded, shoal.Policy]:
    """Return a random table and a policy for it."""
    rng = np.random.default_rng(3)
    table = pa.table(
        {
            "age": rng.integers(18, 90, records),
            "job": [f"job {i}" for i in rng.integers(0, 9, records)],
            "disease": [f"d{i}" for i in rng.integers(0, 4, records)],
        }
    )
    models = [shoal.KAnonymity(3), shoal.LDiversity(2)]
    policy = shoal.Policy(quasi=["age", "job"], sensitive=["disease"], models=models)
    return shoal.encode(table, policy), policy.resolved(table)


@pytest.mark.parametrize("algorithm", ["k-member", "mondrian", "rayden", "top-down"])
def test_classes_stay_inside_their_block_and_keep_the_policy(algorithm: str) -> None:
    table, policy = encoded()
    found = shoal.partition(table, policy, algorithm=algorithm, blocks=60)
    outer = shoal.partition(
        table, policy.with_models([shoal.KAnonymity(30), policy.models[1]]), algorithm="mondrian"
    )
    assert outer.classes > 1
    assert outer.sizes.min() >= 30
    for members in (found.members(c) for c in range(found.classes)):
        assert len(members) >= 3
        assert len(np.unique(table.sensitive_codes[members, 0])) >= 2
        assert len(np.unique(outer.labels[members])) == 1


def test_one_block_is_the_algorithm_itself() -> None:
    table, policy = encoded()
    whole = shoal.partition(table, policy, algorithm="k-member", seed=5)
    blocked = shoal.partition(table, policy, algorithm="k-member", seed=5, blocks=400)
    assert (whole.labels == blocked.labels).all()


def test_full_domain_algorithms_do_not_work_in_blocks() -> None:
    table, policy = encoded()
    with pytest.raises(ParameterError, match="one level everywhere"):
        shoal.partition(table, policy, algorithm="datafly", blocks=50)


def test_a_big_table_is_cut_where_the_method_would_take_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(in_blocks, "BIG", 300)
    monkeypatch.setattr(FuzzyKMember, "block", 100)
    table, policy = encoded()
    cut = shoal.partition(table, policy, algorithm="fuzzy-k-member")
    asked = shoal.partition(table, policy, algorithm="fuzzy-k-member", blocks=100)
    whole = shoal.partition(table, policy, algorithm="fuzzy-k-member", blocks=0)
    assert (cut.labels == asked.labels).all()
    assert (cut.labels != whole.labels).any()
    assert in_blocks.suited(InBlocks.around(FuzzyKMember(), 0), 400).to_dict()["blocks"] == 0
    assert in_blocks.suited(Mondrian(), 10**9) == Mondrian()
    assert in_blocks.suited(FuzzyKMember(), 300) == FuzzyKMember()


def test_the_screen_says_that_a_big_table_was_cut(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(in_blocks, "BIG", 100)
    monkeypatch.setattr(FuzzyKMember, "block", 50)
    rows = "".join(f"{18 + i % 60},{i % 7}\n" for i in range(200))
    (tmp_path / "in.csv").write_text("age,floor\n" + rows)
    words = ["anonymize", str(tmp_path / "in.csv"), "--quasi", "age,floor", "-k", "3", "-a", "fuzzy-k-member"]
    cut = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "out.csv")])
    assert cut.exit_code == 0
    assert "worked in blocks of 50 records" in cut.output
    whole = CliRunner().invoke(main, [*words, "--out", str(tmp_path / "all.csv"), "--set", "blocks=0"])
    assert whole.exit_code == 0
    assert "blocks" not in whole.output


@pytest.mark.parametrize("blocks", [1, "many", 2.5])
def test_a_size_that_is_none_is_refused(blocks: object) -> None:
    table, policy = encoded(40)
    with pytest.raises(ParameterError):
        shoal.partition(table, policy, algorithm="mondrian", blocks=blocks)


def test_refinement_in_blocks_stays_inside_them_and_loses_no_more() -> None:
    table, policy = encoded(2000)
    plain = shoal.partition(table, policy, algorithm="mondrian", blocks=500)
    found = shoal.partition(table, policy, algorithm="mondrian", blocks=500, refine=shoal.Refine(moves=4000))
    outer = InBlocks.around(Mondrian(), 500).cut(table, policy.compile(table), Run())
    assert outer.classes > 2
    for members in (found.members(c) for c in range(found.classes)):
        assert len(members) >= 3
        assert len(np.unique(table.sensitive_codes[members, 0])) >= 2
        assert len(np.unique(outer.labels[members])) == 1
    before, after = (measure(table, made, policy, ["gcp"])["gcp"] for made in (plain, found))
    assert after < before


def test_what_was_refined_in_blocks_is_told() -> None:
    rng = np.random.default_rng(1)
    table = {"age": rng.integers(18, 90, 900).tolist(), "pay": rng.integers(0, 500, 900).tolist()}
    refine = shoal.Refine(moves=1800)
    found = shoal.anonymize(table, quasi=["age", "pay"], k=4, algorithm="mondrian", blocks=200, refine=refine)
    assert found.refinement is not None
    assert "blocks" in found.refinement["ended"]
    assert found.refinement["before"] > found.refinement["after"]
    assert found.refinement["after"] == pytest.approx(found.metrics["gcp"])
    assert found.refinement["moves"] > 0


@pytest.mark.parametrize("model", [shoal.TCloseness(0.4), shoal.DeltaDisclosure(2.0)])
def test_promises_about_the_whole_table_are_refined_on_the_whole_table(model: Model) -> None:
    table, policy = encoded(600)
    policy = policy.with_models([shoal.KAnonymity(3), model])
    found = shoal.partition(table, policy, algorithm="mondrian", blocks=200, refine=shoal.Refine(moves=600))
    whole = shoal.partition(table, policy, algorithm="mondrian", blocks=200)
    same = refined(whole, table, policy, Run(), shoal.Refine(moves=600))
    assert (found.labels == same.labels).all()
