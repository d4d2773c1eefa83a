"""Packed codes are the codes: whatever asks column by column, or for a table, gets the same numbers."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.algorithms.mondrian import Mondrian
from shoal.encoding import Encoded
from shoal.models.compile import compile_rules
from shoal.packed import PackedEncoded, narrowest
from shoal.progress import Run


def encoded_of(values: int, records: int, seed: int) -> Encoded:
    """Return a table of three quasi-identifiers, one of which has up to `values` values, and nulls."""
    rng = np.random.default_rng(seed)
    fine = [None if one == 0 else int(one) for one in rng.integers(0, values, records)]
    table = {
        "few": rng.integers(0, 3, records).tolist(),
        "fine": fine,
        "text": [f"t{one}" for one in rng.integers(0, 300, records)],
        "disease": [f"d{one}" for one in rng.integers(0, 4, records)],
    }
    kinds = {"few": "numeric", "fine": "numeric", "text": "categorical"}
    return shoal.encode(table, shoal.Policy(quasi=kinds, sensitive=["disease"]))


@settings(max_examples=30, deadline=None)
@given(values=st.sampled_from([2, 255, 256, 70_000]), records=st.integers(1, 400), seed=st.integers(0, 99))
def test_packed_codes_are_the_codes(values: int, records: int, seed: int) -> None:
    encoded = encoded_of(values, records, seed)
    packed = PackedEncoded.of(encoded)
    assert packed.records == encoded.records
    assert (packed.codes == encoded.codes).all()
    assert packed.codes.T.flags.c_contiguous
    assert (packed.flat_sensitive() == encoded.flat_sensitive()).all()
    for j in range(3):
        assert packed.column(j).dtype == np.int32
        assert (packed.column(j) == encoded.column(j)).all()
    some = np.random.default_rng(seed).permutation(records)[: records // 2 + 1]
    assert (packed.take(some).codes == encoded.take(some).codes).all()
    order = np.random.default_rng(seed).permutation(records)
    packed.reorder(order)
    assert (packed.whole().codes == encoded.codes[order]).all()
    assert (packed.sensitive_codes == encoded.sensitive_codes[order]).all()


@pytest.mark.parametrize(("highest", "width"), [(0, 1), (255, 1), (256, 2), (65_535, 2), (65_536, 4)])
def test_a_column_takes_as_few_bytes_as_its_highest_code_needs(highest: int, width: int) -> None:
    assert np.dtype(narrowest(highest)).itemsize == width


@pytest.mark.parametrize("relaxed", [False, True])
@pytest.mark.parametrize("k", [2, 9])
def test_mondrian_cuts_packed_codes_alike(k: int, relaxed: bool) -> None:
    """Enough records for columns of every width."""
    rng = np.random.default_rng(k)
    table = pa.table({name: rng.integers(0, 10**j, 90_000) for j, name in enumerate("abcdefg")})
    encoded = shoal.encode(table, shoal.Policy(quasi=list("abcdefg")))
    rules = compile_rules((shoal.KAnonymity(k),), encoded)
    packed = PackedEncoded.of(encoded)
    assert {codes.dtype.itemsize for codes in packed.columns} == {1, 2, 4}
    found = [Mondrian(relaxed=relaxed).partition(view, rules, Run()).labels for view in (encoded, packed)]
    assert (found[0] == found[1]).all()
