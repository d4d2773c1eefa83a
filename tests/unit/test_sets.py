"""Columns of sets: read, compared, published, counted and verified."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding import encode
from shoal.errors import DataError, PolicyError
from shoal.metrics.distortion import AverageDistortionRatio
from shoal.metrics.measure import measure
from shoal.partitions import Partition
from shoal.policy_file import read_policy, write_policy
from shoal.recode import publish

JOBS = ["bar", "lab", "shop"]


def policy(**column: object) -> shoal.Policy:
    jobs = shoal.Column("jobs", **{"kind": "set", **column})
    return shoal.Policy(quasi={"jobs": jobs}, models=[shoal.KAnonymity(2)])


@pytest.mark.parametrize(
    "jobs",
    [
        ["lab|bar", "bar|lab|bar", " bar |lab", ""],
        pa.array([["lab", "bar"], ["bar", "lab", "bar"], ["bar", "lab", None], []], pa.list_(pa.string())),
        pa.array(
            [["lab", "bar"], ["bar", "lab", "bar"], ["bar", "lab", None], []], pa.large_list(pa.string())
        ),
    ],
)
def test_equal_sets_are_one_value(jobs: object) -> None:
    encoded = shoal.encode({"jobs": jobs}, policy())
    assert encoded.quasi[0].values.to_pylist() == ["", "bar|lab"]
    assert encoded.codes[:, 0].tolist() == [1, 1, 1, 0]
    items = encoded.quasi[0].items()
    assert items is not None
    assert items.names == ("bar", "lab")


def test_a_list_is_a_set_without_being_told() -> None:
    table = pa.table({"jobs": pa.array([["lab"], ["lab"], ["bar"], ["bar"]])})
    release = shoal.anonymize(table, quasi=["jobs"], k=2)
    assert release.table["jobs"].to_pylist() == ["lab", "lab", "bar", "bar"]
    assert release.policy.schema.quasi[0].separator == "|"


def test_a_policy_file_keeps_the_separator(tmp_path: Path) -> None:
    made = policy(separator=";")
    write_policy(made, tmp_path / "policy.toml")
    assert read_policy(tmp_path / "policy.toml") == made
    (tmp_path / "bad.toml").write_text('[columns.jobs]\nrole = "quasi"\nseparator = 3\n')
    with pytest.raises(PolicyError, match="separator of column 'jobs' must be a text"):
        read_policy(tmp_path / "bad.toml")


@pytest.mark.parametrize(
    ("column", "words"),
    [
        ({"separator": " "}, "other than blanks"),
        ({"separator": ","}, "other than blanks"),
        ({"kind": "ordinal", "separator": "|"}, "neither an order"),
    ],
)
def test_what_cannot_be_a_set_is_refused(column: dict[str, object], words: str) -> None:
    with pytest.raises(PolicyError, match=words):
        policy(**column)


def test_a_secret_is_one_value() -> None:
    with pytest.raises(PolicyError, match="no quasi-identifier"):
        shoal.Policy(sensitive={"jobs": "set"})


def test_an_item_must_not_hold_the_separator() -> None:
    table = pa.table({"jobs": pa.array([["a secret|item"], ["lab"]])})
    with pytest.raises(DataError, match="items of the lists") as refusal:
        shoal.anonymize(table, policy())
    assert "secret" not in str(refusal.value)


def test_verification_reads_sets_in_any_order() -> None:
    told = policy()
    assert shoal.verify({"jobs": ["lab|bar", "bar|lab"]}, told).holds
    assert shoal.verify(pa.table({"jobs": pa.array([["lab", "bar"], ["bar", "lab"]])}), told).holds
    assert not shoal.verify({"jobs": ["lab|bar", "lab"]}, told).holds
    assert not shoal.verify({"jobs": ["{lab, bar}", "{bar, lab}"]}, told).holds


def test_lists_can_be_audited_attacked_and_reported() -> None:
    jobs = [["lab", "bar"], ["bar", "lab"], ["shop"], [], ["shop"], []]
    table = pa.table({"jobs": pa.array(jobs, pa.list_(pa.string())), "ill": ["flu", "cold"] * 3})
    assert shoal.audit(table, quasi=["jobs"], sensitive=["ill"]).smallest_class == 2
    release = shoal.anonymize(table, quasi=["jobs"], sensitive=["ill"], k=2, algorithm="gcaa")
    assert shoal.risk(table, release.table, release.policy).after.prosecutor.highest == 0.5
    found = shoal.attack(table, release.table, release.policy, attacks=["linkage"])
    assert found.results[0].attack == "linkage"
    assert "<html" in shoal.report(table, release.table, release.policy).html()


sets = st.one_of(st.none(), st.frozensets(st.sampled_from(JOBS)))


@settings(max_examples=80, deadline=None)
@given(records=st.lists(st.tuples(sets, st.integers(-1, 2)), min_size=1, max_size=12))
def test_the_majority_is_published_and_its_changes_are_counted(
    records: list[tuple[frozenset[str] | None, int]],
) -> None:
    jobs = [None if own is None else sorted(own) for own, _ in records]
    table = pa.table({"jobs": pa.array(jobs, pa.list_(pa.string()))})
    told = policy(form="mode").resolved(table)
    encoded = encode(table, told)
    labels = np.array([label for _, label in records])
    partition = Partition.from_labels(labels)
    published = publish(table, encoded, partition, told).table["jobs"].to_pylist()
    flipped = sum(len(own or ()) for own, label in records if label < 0)
    changed = sum(label < 0 for _, label in records)
    kept = [label for label in labels.tolist() if label >= 0]
    for label in set(kept):
        own = [items for items, at in records if at == label]
        counts = {job: sum(job in (items or ()) for items in own) for job in JOBS}
        centre = frozenset(job for job in JOBS if 2 * counts[job] > len(own))
        flipped += sum(len((items or frozenset()) ^ centre) for items in own)
        changed += sum((items or frozenset()) != centre for items in own)
        mixed = "*" if any(items is not None for items in own) else None
        expected = mixed if None in own else "|".join(sorted(centre))
        assert {cell for cell, at in zip(published, kept, strict=True) if at == label} == {expected}
    domain = len(frozenset().union(*(own or () for own, _ in records)))
    if domain:
        adr = measure(encoded, partition, told, ["adr"])["adr"]
        assert adr == pytest.approx(flipped / (len(records) * domain))
        cells = measure(encoded, partition, told, [AverageDistortionRatio(denominator="cells")])["adr"]
        assert cells == pytest.approx(changed / len(records))


def test_a_file_of_sets_goes_out_and_in(tmp_path: Path) -> None:
    rng = np.random.default_rng(1)
    jobs = ["|".join(rng.permutation(JOBS)[: rng.integers(0, 3)]) for _ in range(40)]
    for form in ("auto", "mode"):
        release = shoal.anonymize({"jobs": jobs}, policy(form=form), algorithm="gcaa")
        release.write(tmp_path / f"{form}.csv")
        release.write(tmp_path / f"{form}.parquet")
