"""A table read block by block is published as the same table in memory is."""

from __future__ import annotations

import datetime
import tempfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal import io
from shoal.engines import shuffling
from shoal.errors import ShoalError
from shoal.io import blocks as block_reading
from shoal.io.blocks import open_blocks
from shoal.verification import verify_table
from shoal.verification.streamed import verify_blocks

KEY = b"a secret of 16 bytes"
DAYS = st.dates(datetime.date(2024, 1, 1), datetime.date(2024, 1, 20))
RECORD = st.tuples(
    st.one_of(st.none(), st.integers(18, 40)),
    st.one_of(st.none(), st.sampled_from([1.5, -0.0, 2.0, float("nan"), 1e6])),
    st.one_of(st.none(), st.sampled_from(["nurse", "cook", "*", "[1, 2]", 'a "b"', "c, d", ""])),
    st.one_of(st.none(), DAYS),
    st.sampled_from(["low", "mid", "high"]),
    st.sampled_from(["101", "102", "201", "202"]),
    st.one_of(st.none(), st.sampled_from(["flu", "cold", "gout"])),
)


@st.composite
def tables(draw: st.DrawFn) -> pa.Table:
    """Draw a table with numbers, texts, dates, ordered categories, nulls, and columns no promise is about."""
    records = draw(st.lists(RECORD, min_size=8, max_size=40))
    age, score, job, day, grade, town, disease = (list(column) for column in zip(*records, strict=True))
    indices = pa.array([["low", "mid", "high"].index(text) for text in grade], pa.int32())
    n = len(records)
    return pa.table(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": pa.array(age, pa.int64()),
            "score": pa.array(score, pa.float64()),
            "note": [f"n{i % 7}" for i in range(n)],
            "job": pa.array(job, pa.string()),
            "day": pa.array(day, pa.date32()),
            "grade": pa.DictionaryArray.from_arrays(indices, ["low", "mid", "high"], ordered=True),
            "town": pa.array(town, pa.string()),
            "disease": pa.array(disease, pa.string()),
            "row": list(range(n)),
        }
    )


POLICIES: dict[str, dict[str, Any]] = {
    "plain": {},
    "diverse": {"models": [shoal.KAnonymity(2), shoal.LDiversity(2)], "suppression": 0.5},
    "starred": {
        "models": [shoal.KAnonymity(3), shoal.TCloseness(0.4)],
        "suppression": 0.9,
        "suppressed": "star",
    },
    "forms": {
        "quasi": {
            "age": shoal.Column("age", form="bounds"),
            "score": shoal.Column("score", form="mean"),
            "job": shoal.Column("job", form="mode"),
            "day": shoal.Column("day", form="median"),
        }
    },
    "trees": {
        "quasi": {
            "town": shoal.Hierarchy.prefix(),
            "age": shoal.Hierarchy.intervals(widths=[5, 10]),
            "grade": None,
        }
    },
    "pseudonyms": {"identifiers": {"name": "pseudonym"}},
}


def policy_of(name: str) -> shoal.Policy:
    """Return one of the policies."""
    given_by_default: dict[str, Any] = {
        "identifiers": ["name"],
        "quasi": ["age", "score", "job", "day", "grade"],
        "sensitive": ["disease"],
        "models": [shoal.KAnonymity(2)],
    }
    return shoal.Policy(**given_by_default | POLICIES[name])


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make every table long: blocks of 7 records, buckets of 5."""
    monkeypatch.setattr(block_reading, "BLOCK", 7)
    monkeypatch.setattr(shuffling, "BUCKET", 5)


@pytest.mark.parametrize("name", POLICIES)
@pytest.mark.parametrize("ending", ["parquet", "csv"])
@settings(max_examples=15, deadline=None)
@given(table=tables())
def test_a_stream_publishes_what_a_table_in_memory_does(name: str, ending: str, table: pa.Table) -> None:
    with tempfile.TemporaryDirectory() as folder:
        source, whole, streamed = (Path(folder) / f"{part}.{ending}" for part in ("in", "whole", "streamed"))
        io.write(table, source)
        how: dict[str, Any] = {"algorithm": "mondrian", "key": KEY}
        try:
            release = shoal.anonymize(io.read(source), policy_of(name), **how)
        except ShoalError as refusal:
            with pytest.raises(type(refusal)) as refused:
                shoal.anonymize_file(source, streamed, policy_of(name), **how)
            assert str(refused.value) == str(refusal)
            return
        release.write(whole, order="keep")
        found = shoal.anonymize_file(source, streamed, policy_of(name), order="keep", **how)
        assert io.read(streamed).equals(io.read(whole))
        assert found.evidence.promises == release.evidence.promises
        assert found.evidence.suppressed == release.evidence.suppressed
        assert {"gcp", "ncp", "dm", "kl", "suppressed"} <= found.metrics.keys()
        for metric in found.metrics:
            assert found.metrics[metric] == pytest.approx(release.metrics[metric], nan_ok=True), metric
        assert (found.partition.labels == release.partition.labels).all()
        shoal.anonymize_file(source, streamed, policy_of(name), **how)
        assert by_row(io.read(streamed)) == by_row(io.read(whole))
        assert sorted(path.name for path in Path(folder).iterdir() if path.name.startswith(".")) == []


def by_row(table: pa.Table) -> list[dict[str, Any]]:
    """Return the records of a table in the order of the input."""
    return table.sort_by("row").to_pylist()


@settings(max_examples=60, deadline=None)
@given(
    table=tables(),
    suppressed=st.sampled_from(["drop", "star"]),
    pieces=st.integers(1, 4),
    tampered=st.booleans(),
)
def test_verification_of_blocks_says_what_that_of_a_table_says(
    table: pa.Table, suppressed: str, pieces: int, tampered: bool
) -> None:
    models = [shoal.KAnonymity(2), shoal.LDiversity(2), shoal.TCloseness(0.5), shoal.DeltaDisclosure(1.5)]
    identifiers = {"name": "mask"} if tampered else ["name"]
    policy = shoal.Policy(
        identifiers=identifiers,
        quasi=["grade", "town", "job"][: pieces % 3 + 1],
        sensitive=["disease"],
        models=models,
        suppressed=suppressed,
    ).resolved(table)
    published = table if tampered else table.drop_columns(["name"])
    stars = pa.array([i % 5 == 0 for i in range(len(table))])
    for name in ("grade", "town", "job"):
        texts = published.column(name).cast(pa.string())
        starred = pa.compute.if_else(stars, "*", texts)
        published = published.set_column(published.column_names.index(name), name, starred)
    whole, streamed = verify_table(published, policy), verify_blocks(open_blocks(published), policy)
    assert streamed.promises == whole.promises
    assert (streamed.classes, streamed.records, streamed.holds) == (whole.classes, whole.records, whole.holds)
    assert len(streamed.problems) == len(whole.problems)
