"""knn and oka against their definitions, record by record, on random tables of every geometry."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from clustering_tables import classes_of, encoded_of, mixed_tables
from oracle.costs import oracle_table
from oracle.k_member import knn
from oracle.oka import oka
from shoal.algorithms.base import Algorithm
from shoal.algorithms.knn import Knn
from shoal.algorithms.oka import Oka
from shoal.encoding import Encoded, encode
from shoal.models.compile import compile_rules
from shoal.progress import Run

LOSSES = st.sampled_from(["own", "height"])


def classes(encoded: Encoded, k: int, algorithm: Algorithm, seed: int) -> set[frozenset[int]]:
    rules = compile_rules((shoal.KAnonymity(k),), encoded)
    return classes_of(algorithm.partition(encoded, rules, Run(seed=seed)))


@settings(max_examples=150, deadline=None)
@given(table=mixed_tables(), k=st.integers(1, 6), loss=LOSSES, seed=st.integers(0, 99))
def test_knn_is_its_definition(table: pa.Table, k: int, loss: str, seed: int) -> None:
    encoded = encoded_of(table, 0.3)
    order = np.random.default_rng(seed).permutation(encoded.records)
    plain = oracle_table(encoded.codes, encoded.space(heights=loss == "height"))
    found = classes(encoded, k, Knn(loss=loss), seed)
    assert found == knn(plain, k, np.argsort(order).tolist())


@settings(max_examples=200, deadline=None)
@given(table=mixed_tables(), k=st.integers(1, 6), loss=LOSSES, seed=st.integers(0, 99))
def test_oka_is_its_definition(table: pa.Table, k: int, loss: str, seed: int) -> None:
    encoded = encoded_of(table, 0.3)
    order = np.random.default_rng(seed).permutation(encoded.records)
    plain = oracle_table(encoded.codes, encoded.space(heights=loss == "height"))
    found = classes(encoded, k, Oka(loss=loss), seed)
    assert found == oka(plain, k, order.tolist())
    assert all(len(members) >= min(k, encoded.records) for members in found)


@pytest.mark.parametrize("loss", ["own", "height"])
def test_oka_with_many_centres(loss: str) -> None:
    """Enough centres for a deep tree of boxes, which they leave as they move."""
    rng = np.random.default_rng(5)
    n = 400
    columns = {
        "fine": pa.array([None if v < 30 else int(v) for v in rng.integers(0, 1000, n)]),
        "name": [None if v > 90 else f"n{v}" for v in rng.integers(0, 100, n)],
        "place": [f"{v:03d}" for v in rng.integers(0, 400, n)],
    }
    table = pa.table(columns)
    quasi = {"fine": "numeric", "name": "categorical", "place": shoal.Hierarchy.prefix()}
    encoded = encode(table, shoal.Policy(quasi=quasi).resolved(table))
    order = np.random.default_rng(1).permutation(n)
    plain = oracle_table(encoded.codes, encoded.space(heights=loss == "height"))
    for k in (2, 5):
        assert classes(encoded, k, Oka(loss=loss), 1) == oka(plain, k, order.tolist())
