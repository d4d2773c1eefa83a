"""``shoal anonymize --stream``, and what may happen to it on the way."""

from __future__ import annotations

import importlib
import json
import os
import random
import resource
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import shoal
from shoal import io
from shoal.cli.app import main
from shoal.engines import workspace as places
from shoal.errors import DataError, WriteError
from shoal.io import blocks as block_reading
from shoal.io.blocks import open_blocks

OPTIONS = ["--quasi", "age,town", "--sensitive", "disease", "-k", "4", "-a", "mondrian"]


def table_of(records: int, seed: int = 0) -> pa.Table:
    """Return a table of people."""
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(18, 90, records),
            "town": pa.array([f"town {i}" for i in rng.integers(0, 12, records)]),
            "disease": pa.array(["flu", "cold", "gout"]).take(pa.array(rng.integers(0, 3, records))),
            "row": np.arange(records),
        }
    )


def run(folder: Path, *options: str, **how: object) -> subprocess.CompletedProcess[str]:
    """Run the command in a folder."""
    command = [sys.executable, "-m", "shoal.cli", "anonymize", "in.parquet", *OPTIONS, "--stream", *options]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False, **how)  # type: ignore[call-overload,no-any-return]


def unfinished(folder: Path) -> list[str]:
    """Return what stands in a folder and should not."""
    return [path.name for path in folder.iterdir() if path.name.startswith(".")]


def test_a_stream_is_written_verified_and_leaves_nothing_behind(tmp_path: Path) -> None:
    io.write(table_of(3000), tmp_path / "in.parquet")
    found = run(tmp_path, "--out", "out.parquet")
    assert found.returncode == 0, found.stderr
    assert "VERDICT: the policy holds" in found.stdout + found.stderr
    assert (tmp_path / "out.parquet.manifest.json").exists()
    assert unfinished(tmp_path) == []
    policy = shoal.Policy(quasi=["age", "town"], sensitive=["disease"], models=[shoal.KAnonymity(4)])
    assert shoal.verify(io.read(tmp_path / "out.parquet"), policy).holds


@pytest.mark.parametrize(
    "options", [["--out", "o.csv", "--noise-seed", "1"], [], ["--out", "o.csv", "--order", "sort"]]
)
def test_what_a_stream_cannot_do_is_refused_in_one_line(tmp_path: Path, options: list[str]) -> None:
    io.write(table_of(50), tmp_path / "in.parquet")
    found = run(tmp_path, *options)
    assert found.returncode == 2
    assert "--stream" in found.stderr
    assert "Traceback" not in found.stderr


def test_killed_at_any_moment_the_old_file_or_the_new_one_stands(tmp_path: Path) -> None:
    io.write(table_of(20_000), tmp_path / "in.parquet")
    old = table_of(10, seed=1)
    target = tmp_path / "out.parquet"
    io.write(old, target)
    rng = random.Random(7)
    command = [sys.executable, "-m", "shoal.cli", "anonymize", "in.parquet", *OPTIONS, "--stream", "--force"]
    begin = time.monotonic()
    assert run(tmp_path, "--force", "--out", "out.parquet").returncode == 0
    whole = time.monotonic() - begin
    for _ in range(3):
        io.write(old, target)
        process = subprocess.Popen(
            [*command, "--out", "out.parquet"], cwd=tmp_path, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )
        time.sleep(rng.uniform(0.5, 1.0) * whole)
        process.send_signal(signal.SIGKILL)
        process.communicate()
        assert io.read(target).num_rows in (10, 20_000)
    assert run(tmp_path, "--force", "--out", "out.parquet").returncode == 0
    assert io.read(target).num_rows == 20_000
    assert unfinished(tmp_path) == []


def test_leftovers_of_a_killed_run_go_and_those_of_a_living_one_stay(tmp_path: Path) -> None:
    target = tmp_path / "out.parquet"
    with places.workspace(target) as living:
        dead = tmp_path / ".out.parquet.dead.shoal-unfinished"
        dead.mkdir()
        (dead / "lock").touch()
        fresh = tmp_path / ".out.parquet.new.shoal-unfinished"
        fresh.mkdir()
        places.remove_leftovers(target)
        assert living.exists()
        assert fresh.exists()
        assert not dead.exists()
        assert living.stat().st_mode & 0o077 == 0


def test_a_full_disk_is_one_clear_message(tmp_path: Path) -> None:
    io.write(table_of(200_000), tmp_path / "in.parquet")
    io.write(table_of(10), tmp_path / "out.parquet")

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))

    found = run(tmp_path, "--force", "--out", "out.parquet", preexec_fn=limit)
    assert found.returncode == 2
    assert found.stderr.strip().splitlines()[-1].startswith("WriteError[S401]: cannot write 'out.parquet'")
    assert "Traceback" not in found.stderr
    assert io.read(tmp_path / "out.parquet").num_rows == 10
    assert unfinished(tmp_path) == []
    assert run(tmp_path, "--force", "--out", "out.parquet").returncode == 0


def test_a_folder_that_cannot_be_written_to_is_one_clear_message(tmp_path: Path) -> None:
    io.write(table_of(50), tmp_path / "in.parquet")
    out = tmp_path / "none" / "out.parquet"
    with pytest.raises(WriteError, match=r"cannot write 'out\.parquet'"):
        shoal.anonymize_file(tmp_path / "in.parquet", out, quasi=["age"], k=2, algorithm="mondrian")


@pytest.mark.parametrize("moment", range(4))
@pytest.mark.parametrize("change", ["grows", "is replaced", "vanishes"])
def test_an_input_that_changes_under_the_run_is_refused(tmp_path: Path, moment: int, change: str) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    io.write(table_of(400), source)

    def meddle() -> None:
        if change == "grows":
            with source.open("ab") as stream:
                stream.write(b"more")
        elif change == "is replaced":
            stamp = source.stat()
            io.write(table_of(400, seed=2), tmp_path / "other.parquet")
            os.replace(tmp_path / "other.parquet", source)
            os.utime(source, ns=(stamp.st_atime_ns, stamp.st_mtime_ns))
        else:
            source.unlink()

    class Meddling(shoal.progress.Progress):  # type: ignore[name-defined,misc]
        count = 0

        def stage(self, name: str, total: int | None = None):  # type: ignore[no-untyped-def]
            if name in ("reading", "recoding", "shuffling", "verifying the file"):
                Meddling.count += 1
                if Meddling.count == moment + 1:
                    meddle()
            return super().stage(name, total)

    with pytest.raises(DataError, match="changed while it was being read"):
        shoal.anonymize_file(
            source, target, quasi=["age", "town"], k=4, algorithm="mondrian", progress=Meddling()
        )
    assert not target.exists()
    assert unfinished(tmp_path) == []


def test_large_files_are_streamed_by_themselves(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    io.write(table_of(100), tmp_path / "in.parquet")
    assert not block_reading.is_big(str(tmp_path / "in.parquet"))
    monkeypatch.setattr(block_reading, "_BIG_PACKED", 10)
    assert block_reading.is_big(str(tmp_path / "in.parquet"))


def test_standard_input_cannot_be_streamed() -> None:
    with pytest.raises(shoal.ShoalError, match="read only once"):
        open_blocks("-")


def test_a_stream_can_be_reported_on_while_both_tables_fit(tmp_path: Path) -> None:
    io.write(table_of(600), tmp_path / "in.parquet")
    found = run(tmp_path, "--out", "out.parquet", "--report", "report.json")
    assert found.returncode == 0, found.stderr
    facts = json.loads((tmp_path / "report.json").read_text("utf-8"))
    assert facts["verdict"]["holds"]
    assert facts["verdict"]["records"] == 600


def test_a_report_on_more_than_fits_is_refused_before_any_work(tmp_path: Path) -> None:
    io.write(table_of(50), tmp_path / "in.parquet")
    words = [
        "anonymize",
        str(tmp_path / "in.parquet"),
        *OPTIONS,
        "--stream",
        "--out",
        str(tmp_path / "o.csv"),
    ]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(importlib.import_module("shoal.cli.anonymize"), "_REPORTABLE", 49)
        found = CliRunner().invoke(main, [*words, "--report", str(tmp_path / "report.html")])
    assert found.exit_code == 2
    assert "more than 49 records" in found.output
    assert [path.name for path in tmp_path.iterdir()] == ["in.parquet"]
