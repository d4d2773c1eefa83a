"""Algorithms that work in blocks."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal.encoding import Encoded
from shoal.errors import ParameterError


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


@pytest.mark.parametrize("blocks", [1, "many", 2.5])
def test_a_size_that_is_none_is_refused(blocks: object) -> None:
    table, policy = encoded(40)
    with pytest.raises(ParameterError):
        shoal.partition(table, policy, algorithm="mondrian", blocks=blocks)
