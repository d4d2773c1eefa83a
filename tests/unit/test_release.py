"""Releases: only verified ones exist, and a file is the old one or the new one, whatever happens."""

from __future__ import annotations

import errno
import hashlib
import json
import os
import random
import subprocess
import sys
import time
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pyarrow as pa
import pytest

import shoal
from shoal import io
from shoal.algorithms.base import Algorithm
from shoal.api import Prepared
from shoal.encoding import encode
from shoal.errors import ParameterError, VerificationFailed, WriteError
from shoal.partitions import Partition
from shoal.recode import publish
from shoal.release import Release
from shoal.releasing import make_release
from shoal.table import Table
from shoal.verification import verify_table

MODELS = [shoal.KAnonymity(2), shoal.LDiversity(2)]


@dataclass(frozen=True)
class ByHand(Algorithm):
    """An algorithm whose partition is made by the test."""

    name = "by-hand"

    def partition(self, encoded: Any, rules: Any, run: Any) -> Partition:
        raise AssertionError("partitions of these tests are made by hand")


def people(n: int = 12) -> dict[str, list[Any]]:
    rng = np.random.default_rng(1)
    return {
        "name": [f"person-{i}" for i in range(n)],
        "age": rng.integers(20, 80, n).tolist(),
        "town": rng.choice(["Lund", "Ystad", "Malmo"], n).tolist(),
        "disease": np.resize(["flu", "cold", "gout"], n).tolist(),
    }


def released(data: Any, labels: list[int], **options: Any) -> Release:
    table = Table.from_any(data)
    details: dict[str, Any] = {"models": MODELS, "suppression": 0.5, **options}
    policy = shoal.Policy(
        identifiers=["name"], quasi=["age", "town"], sensitive=["disease"], **details
    ).resolved(table.data)
    encoded, partition = encode(table.data, policy), Partition.from_labels(np.array(labels))
    published = publish(table.data, encoded, partition, policy)
    return make_release(Prepared(table, policy, encoded), partition, published, ByHand(), 7)


def thirds(n: int = 12) -> list[int]:
    return (np.arange(n) // (n // 3)).tolist()


def rows_of(table: pa.Table) -> Counter[tuple[Any, ...]]:
    return Counter(tuple(row.values()) for row in table.to_pylist())


def test_a_release_holds_and_says_so_without_values() -> None:
    release = released(people(), thirds())
    assert release.evidence.holds
    assert release.evidence.suppressed == 0
    assert repr(release).startswith("Release(holds, records=12, classes=3, gcp=0.")
    assert release.evidence.provenance["seed"] == 7
    assert len(release.evidence.provenance["input_sha256"]) == 64


def test_the_same_kind_of_frame_with_its_index() -> None:
    frame = pd.DataFrame(people(), index=[f"row-{i}" for i in range(12)])
    release = released(frame, [*thirds()[:-1], -1])
    assert list(release.table.index) == list(frame.index[:-1])
    assert list(release.table.columns) == ["age", "town", "disease"]


def test_a_table_that_does_not_keep_the_policy_is_never_a_release() -> None:
    with pytest.raises(VerificationFailed) as caught:
        released(people(), [0] * 11 + [1])
    sentence = str(caught.value)
    assert "k-anonymity: required 2, achieved 1 (1 of 2 classes fail)" in sentence
    assert not any(str(value) in sentence for value in people()["disease"] + people()["name"])


def test_more_suppression_than_allowed() -> None:
    labels = [*thirds(20)[:-2], -1, -1]
    with pytest.raises(VerificationFailed, match=r"2 of 20 records are suppressed \(limit 9%\)"):
        released(people(20), labels, suppression=0.09)
    assert released(people(20), labels, suppression=0.1).evidence.suppressed == 2


def starred(diseases: list[str], **options: Any) -> Release:
    """Return a release of two good classes and suppressed records with these diseases."""
    n = len(diseases)
    data = people(8 + n)
    data["disease"] = ["flu", "cold"] * 4 + diseases
    return released(data, [0] * 4 + [1] * 4 + [-1] * n, suppressed="star", **options)


def test_suppressed_records_that_keep_the_policy_stay_as_they_are() -> None:
    table = starred(["flu", "cold"]).published
    assert table.num_rows == 10
    assert table.to_pylist()[8:] == [{"age": "*", "town": "*", "disease": d} for d in ("flu", "cold")]


def test_sensitive_values_that_break_the_policy_are_starred_too() -> None:
    release = starred(["gout", "gout"])
    assert release.published["disease"].to_pylist()[8:] == [None, None]
    assert release.evidence.records == 10
    assert release.evidence.suppressed == 2


def test_starred_values_do_not_count_as_values_of_the_table() -> None:
    # The two good classes are exactly as the table once the two suppressed ones say nothing.
    release = starred(["gout", "gout"], models=[shoal.TCloseness(0)])
    assert [promise.achieved for promise in release.evidence.promises] == [0.0]


def test_too_few_suppressed_records_are_dropped() -> None:
    release = starred(["gout"])
    assert release.published.num_rows == 8
    assert release.evidence.suppressed == 1


def test_a_class_that_only_pretends_to_be_starred_is_checked() -> None:
    table = starred(["gout", "gout"]).published
    shown = table.set_column(2, "disease", pa.array([*table["disease"].to_pylist()[:9], "gout"]))
    policy = starred(["flu", "cold"]).policy
    assert verify_table(table, policy).holds
    assert not verify_table(table.slice(0, 9), policy).holds, "one starred record is not k"
    assert verify_table(shown, policy).holds, "null and a value are two values, as everywhere"
    nulls = pa.array([*["flu", "cold"] * 4, "gout", "gout"])
    assert not verify_table(table.set_column(2, "disease", nulls), policy).holds


@pytest.mark.parametrize("name", ["out.csv", "out.csv.gz", "out.parquet", "out.feather"])
def test_a_file_holds_the_same_records_in_another_order(tmp_path: Path, name: str) -> None:
    release = released(people(60), thirds(60))
    evidence = release.write(tmp_path / name)
    assert evidence.holds
    read = io.read(tmp_path / name)
    assert rows_of(read) == rows_of(release.published)
    assert read.to_pylist() != release.published.to_pylist(), "60! orders: the same one never comes up"
    release.write(tmp_path / name, order="keep")
    assert io.read(tmp_path / name).to_pylist() == release.published.to_pylist()
    assert sorted(os.listdir(tmp_path)) == [name, f"{name}.manifest.json"]


def test_the_manifest_describes_the_file_and_holds_no_values(tmp_path: Path) -> None:
    release = released(people(), thirds())
    release.write(tmp_path / "out.csv")
    text = (tmp_path / "out.csv.manifest.json").read_text()
    manifest = json.loads(text)
    content = (tmp_path / "out.csv").read_bytes()
    assert manifest["file"] == {
        "name": "out.csv",
        "sha256": hashlib.sha256(content).hexdigest(),
        "bytes": len(content),
    }
    assert manifest["algorithm"] == {"name": "by-hand", "parameters": {}}
    assert manifest["evidence"]["holds"] is True
    assert set(manifest["versions"]) == {"shoal", "python", "numpy", "numba", "pyarrow"}
    assert manifest["metrics"]["gcp"] == release.metrics["gcp"]
    assert release.evidence.provenance["input_sha256"] not in text
    assert not any(f'"{value}"' in text for name in ("name", "town", "disease") for value in people()[name])
    release.write(tmp_path / "bare.csv", manifest=False)
    assert not (tmp_path / "bare.csv.manifest.json").exists()


def test_standard_output(capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch) -> None:
    release = released(people(), thirds())
    with open(os.dup(1), "w") as output:
        monkeypatch.setattr(sys, "stdout", output)
        release.write("-", order="keep")
    lines = capfdbinary.readouterr().out.decode().splitlines()
    assert lines[0] == "age,town,disease"
    assert len(lines) == 13


def test_wrong_arguments(tmp_path: Path) -> None:
    release = released(people(), thirds())
    with pytest.raises(ParameterError, match="'order' of write must be one of"):
        release.write(tmp_path / "out.csv", order="sorted")  # type: ignore[arg-type]
    with pytest.raises(ParameterError, match="says no format"):
        release.write(tmp_path / "out.xyz")
    with pytest.raises(WriteError, match=r"WriteError\[S401\]: cannot write 'out.csv': No such file"):
        release.write(tmp_path / "missing" / "out.csv")
    assert os.listdir(tmp_path) == []


def test_permissions_of_the_file_that_is_replaced_are_kept(tmp_path: Path) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")
    target.chmod(0o640)
    released(people(), thirds()).write(target)
    assert target.stat().st_mode & 0o777 == 0o640


@pytest.mark.parametrize("call", ["replace", "fsync"])
def test_a_full_disk_leaves_the_old_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, call: str) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")

    def full(*_: Any) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "/somewhere/with/person-1")

    monkeypatch.setattr(os, call, full)
    with pytest.raises(WriteError, match="No space left on device") as caught:
        released(people(), thirds()).write(target)
    assert caught.value.code == "S401"
    assert caught.value.__context__ is None or "person" not in str(caught.value)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]


@pytest.mark.parametrize(
    "damage",
    [
        lambda table: table.slice(1),
        lambda table: table.drop_columns(["town"]),
        lambda table: table.set_column(0, "age", pa.array([str(i) for i in range(table.num_rows)])),
    ],
    ids=["a record lost", "a column lost", "cells changed"],
)
def test_what_reads_back_differently_is_not_published(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, damage: Any
) -> None:
    target = tmp_path / "out.csv"
    target.write_text("old")
    read = io.read
    monkeypatch.setattr(io, "read", lambda path, **options: damage(read(path, **options)))
    with pytest.raises(VerificationFailed):
        released(people(), thirds()).write(target)
    assert target.read_text() == "old"
    assert os.listdir(tmp_path) == ["out.csv"]


CHILD = """
import sys, pyarrow as pa, shoal
from shoal.writing import write_verified
policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
tables = [pa.table({"age": [age] * 20000}) for age in ("[20, 29]", "[30, 39]")]
print("ready", flush=True)
for turn in range(100000):
    write_verified(tables[turn % 2], sys.argv[1], policy, {"turn": turn})
"""


@pytest.mark.parametrize("attempt", range(4))
def test_killed_at_any_moment_a_file_is_the_old_or_the_new_one(tmp_path: Path, attempt: int) -> None:
    target = tmp_path / "out.csv"
    target.write_text("age\n1\n1\n")
    child = subprocess.Popen([sys.executable, "-c", CHILD, str(target)], stdout=subprocess.PIPE)
    assert child.stdout is not None
    assert child.stdout.readline() == b"ready\n"
    time.sleep(random.uniform(0, 0.12))
    child.kill()
    child.wait()
    child.stdout.close()
    found = io.read(target)
    held = set(found["age"].to_pylist())
    assert (held, found.num_rows) in [({1}, 2), ({"[20, 29]"}, 20000), ({"[30, 39]"}, 20000)]
