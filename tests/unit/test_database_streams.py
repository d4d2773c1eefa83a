"""Tables of databases, block by block: read in one transaction, written in one, whatever happens."""

from __future__ import annotations

import datetime as dt
import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import shoal
from database_tables import execute, fill
from postgres import Postgres
from shoal import io
from shoal.cli import main
from shoal.errors import DataError, ShoalError, VerificationFailed, WriteError
from shoal.io import blocks as block_reading
from shoal.io import databases
from shoal.io.blocks import open_blocks
from shoal.io.databases import blocks as database_blocks
from shoal.io.databases import parse
from shoal.progress import Progress

ENGINES = ("sqlite", "duckdb", pytest.param("postgresql", marks=pytest.mark.postgres))
Where = Callable[[str], str]
POLICY = shoal.Policy(
    identifiers=["name"],
    quasi=["age", "height", "town"],
    sensitive=["disease"],
    models=[shoal.KAnonymity(4), shoal.LDiversity(2)],
)


@pytest.fixture(autouse=True)
def _small_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_blocks, "BLOCK", 700)


@pytest.fixture
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Where:
    """Return what makes the address of a table in an empty database of the engine under test."""
    if request.param != "postgresql":
        return lambda table: f"{tmp_path / ('clinic.' + request.param)}/{table}"
    server: Postgres = request.getfixturevalue("postgres")
    execute(server.address, "drop schema public cascade", "create schema public")
    return server.table


def people(n: int = 2000, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": pa.array([None if i % 97 == 3 else int(v) for i, v in enumerate(rng.integers(20, 80, n))]),
            "height": pa.array(rng.normal(170, 9, n).round(1)),
            "town": pa.array([None if i % 89 == 5 else t for i, t in enumerate(rng.choice(list("abcd"), n))]),
            "disease": np.resize(["flu", "cold", "gout"], n).tolist(),
            "born": pa.array([dt.date(1980, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 9000, n)]),
            "row": np.arange(n),
        }
    )


def everything(blocks: block_reading.Blocks, columns: list[str]) -> dict[str, list[object]]:
    found: dict[str, list[object]] = {name: [] for name in columns}
    for block in blocks.read(columns):
        for name in columns:
            found[name] += block.column(name).to_pylist()
    return found


@pytest.mark.parametrize("where", ENGINES, indirect=True)
def test_blocks_are_the_table_column_by_column_in_one_order(where: Where) -> None:
    fill(where("visits"), people())
    # An index that holds a column alone would be read in its own order.
    execute(where("visits"), "create index by_age on visits (age)", "create index by_town on visits (town)")
    table = io.read(where("visits"))
    with_rows = open_blocks(where("visits"))
    assert isinstance(with_rows, databases.DatabaseBlocks)
    assert with_rows.schema == table.schema
    assert with_rows.records == table.num_rows == 2000
    assert everything(with_rows, table.column_names) == table.to_pydict()
    for name in table.column_names:
        assert everything(with_rows, [name]) == {name: table.column(name).to_pylist()}
    assert next(iter(with_rows.read(["age"]))).num_rows >= 700  # and left there
    assert with_rows.digest() == with_rows.digest()
    with_rows.close()


@pytest.mark.parametrize("where", ENGINES, indirect=True)
def test_a_view_is_read_in_one_order_too(where: Where) -> None:
    fill(where("visits"), people())
    execute(where("visits"), "create view grown as select * from visits where age > 30")
    blocks = open_blocks(where("grown"))
    together = everything(blocks, ["age", "town", "row"])
    assert everything(blocks, ["row"])["row"] == together["row"]
    assert everything(blocks, ["town"])["town"] == together["town"]
    blocks.close()


@pytest.mark.parametrize("where", ENGINES, indirect=True)
def test_what_is_streamed_is_what_a_table_in_memory_gives(where: Where) -> None:
    fill(where("visits"), people())
    held = shoal.anonymize(io.read(where("visits")), POLICY, algorithm="mondrian")
    release = shoal.anonymize_file(where("visits"), where("release"), POLICY, algorithm="mondrian")
    assert release.evidence.promises == held.evidence.promises
    assert release.metrics["gcp"] == pytest.approx(held.metrics["gcp"])
    found, expected = io.read(where("release")).sort_by("row"), held.published.sort_by("row")
    assert found.column_names == expected.column_names
    for name in ("age", "height", "town", "disease", "row"):
        assert [*map(str, found.column(name).to_pylist())] == [*map(str, expected.column(name).to_pylist())]
    manifest = json.loads(io.read(where("release_manifest")).column("manifest")[0].as_py())
    assert manifest["table"] == {"name": "release", "records": 2000}
    again = shoal.anonymize_file(where("visits"), where("release"), POLICY, algorithm="mondrian")
    assert again.evidence.holds
    assert "person" not in json.dumps(manifest)


@pytest.mark.parametrize("where", ENGINES, indirect=True)
def test_a_stream_goes_from_a_file_and_into_one(where: Where, tmp_path: Path) -> None:
    io.write(people(), tmp_path / "in.parquet")
    shoal.anonymize_file(tmp_path / "in.parquet", where("release"), POLICY, algorithm="mondrian")
    assert shoal.verify(io.read(where("release")), POLICY).holds
    fill(where("visits"), people())
    shoal.anonymize_file(where("visits"), tmp_path / "out.parquet", POLICY, algorithm="mondrian")
    assert shoal.verify(io.read(tmp_path / "out.parquet"), POLICY).holds
    assert [path.name for path in tmp_path.iterdir() if path.name.startswith(".")] == []


def test_cells_of_sqlite_have_the_type_of_their_whole_column(tmp_path: Path) -> None:
    address = f"{tmp_path / 'a.db'}/t"
    first = ", ".join(["(1, 1, null, '2024-02-29', 1)"] * 1500)
    execute(
        address,
        "create table t (a, b, c, d date, e boolean)",
        f"insert into t values {first}",
        "insert into t values ('x', 2.5, 'late', null, 0)",
    )
    blocks = open_blocks(address)
    kinds = ["string", "double", "string", "date32[day]", "bool"]
    assert [str(kind) for kind in blocks.schema.types] == kinds
    found = everything(blocks, ["a", "b", "c", "d", "e"])
    assert [column[-1] for column in found.values()] == ["x", 2.5, "late", None, False]
    assert [column[0] for column in found.values()] == ["1", 1.0, None, dt.date(2024, 2, 29), True]
    blocks.close()


@pytest.mark.postgres
@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
def test_a_table_that_others_write_to_stays_what_it_was(where: Where) -> None:
    """Between any two stages somebody deletes, adds and updates rows; the run sees none of it."""
    fill(where("visits"), people())
    before = sorted(io.read(where("visits")).column("row").to_pylist())

    class Meddling(Progress):
        def stage(self, name: str, total: int | None = None):  # type: ignore[no-untyped-def]
            if name != "opening":
                execute(
                    where("visits"),
                    "delete from visits where row in (select row from visits order by random() limit 50)",
                    "insert into visits select * from visits limit 20",
                    "update visits set town = 'z' where age = 40",
                )
            return super().stage(name, total)

    shoal.anonymize_file(where("visits"), where("release"), POLICY, algorithm="mondrian", progress=Meddling())
    found = io.read(where("release"))
    assert sorted(found.column("row").to_pylist()) == before
    assert "z" not in "".join(filter(None, found.column("town").to_pylist()))
    assert io.read(where("visits")).num_rows < 2000


@pytest.mark.postgres
@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
@pytest.mark.parametrize("stage", ["reading", "shuffling", "loading"])
def test_a_connection_that_drops_leaves_the_old_release(
    where: Where, postgres: Postgres, stage: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.engines import loading

    fill(where("visits"), people())
    fill(where("release"), pa.table({"old": [1, 2, 3]}))
    real = loading.verify_blocks

    def cut() -> None:
        execute(
            postgres.address,
            "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid() "
            "and backend_type = 'client backend'",
        )

    class Cutting(Progress):
        def stage(self, name: str, total: int | None = None):  # type: ignore[no-untyped-def]
            if name == stage:
                cut()
            return super().stage(name, total)

    def cut_and_verify(published: block_reading.Blocks, policy: shoal.Policy) -> object:
        cut()
        return real(published, policy)

    if stage == "loading":
        monkeypatch.setattr(loading, "verify_blocks", cut_and_verify)
    kind = WriteError if stage == "loading" else DataError
    with pytest.raises(kind, match="the connection failed or was lost") as caught:
        shoal.anonymize_file(
            where("visits"), where("release"), POLICY, algorithm="mondrian", progress=Cutting()
        )
    assert "\n" not in str(caught.value)
    assert io.read(where("release")).to_pydict() == {"old": [1, 2, 3]}
    monkeypatch.undo()
    shoal.anonymize_file(where("visits"), where("release"), POLICY, algorithm="mondrian")  # and once more
    assert shoal.verify(io.read(where("release")), POLICY).holds


@pytest.mark.postgres
@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
def test_readers_see_the_old_release_or_the_new_one(where: Where) -> None:
    sizes = (900, 2000)
    for n in sizes:
        fill(where(f"visits{n}"), people(n))
    shoal.anonymize_file(where("visits900"), where("release"), POLICY, algorithm="mondrian")
    seen: set[int] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            seen.add(io.read(where("release")).num_rows)

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(6):
        shoal.anonymize_file(
            where(f"visits{sizes[turn % 2]}"), where("release"), POLICY, algorithm="mondrian"
        )
    done.set()
    reader.join()
    assert seen <= set(sizes)
    assert len(seen) == 2


@pytest.mark.parametrize("where", ENGINES, indirect=True)
def test_what_does_not_verify_in_the_database_changes_nothing(
    where: Where, monkeypatch: pytest.MonkeyPatch
) -> None:
    from shoal.engines import loading

    fill(where("visits"), people())
    shoal.anonymize_file(where("visits"), where("release"), POLICY, algorithm="mondrian")
    before = io.read(where("release"))
    real = loading.verify_blocks

    def broken(published: block_reading.Blocks, policy: shoal.Policy) -> object:
        return real(published, policy).with_problems(["the database keeps something else"])

    monkeypatch.setattr(loading, "verify_blocks", broken)
    with pytest.raises(VerificationFailed, match="something else"):
        shoal.anonymize_file(where("visits"), where("release"), POLICY, algorithm="mondrian")
    assert io.read(where("release")).equals(before)


@pytest.mark.parametrize("where", ENGINES, indirect=True)
def test_killed_at_any_moment_the_old_release_or_the_new_one_stands(where: Where, tmp_path: Path) -> None:
    fill(where("visits"), people(6000))
    fill(where("release"), pa.table({"old": [1, 2, 3]}))
    code = (
        "import sys, shoal; print('go', flush=True); shoal.anonymize_file(sys.argv[1], sys.argv[2], "
        "quasi=['age', 'height', 'town'], sensitive=['disease'], identifiers=['name'], k=4, l=2, "
        "algorithm='mondrian'); print('done', flush=True)"
    )
    rng, sizes, longest = random.Random(3), set(), 4.0
    for _ in range(5):
        process = subprocess.Popen(
            [sys.executable, "-c", code, where("visits"), where("release")], stdout=subprocess.PIPE, text=True
        )
        assert process.stdout is not None
        assert process.stdout.readline() == "go\n"
        begin = time.monotonic()
        wait = rng.uniform(0.2, longest)
        while time.monotonic() - begin < wait and process.poll() is None:
            time.sleep(0.01)
        if process.poll() is None:
            os.kill(process.pid, signal.SIGKILL)
        else:
            longest = time.monotonic() - begin
        process.communicate()
        found = io.read(where("release"))
        sizes.add(found.num_rows)
        assert found.num_rows == 3 or shoal.verify(found, POLICY).holds
    assert sizes <= {3, 6000}
    shoal.anonymize_file(where("visits"), where("release"), POLICY, algorithm="mondrian")
    assert io.read(where("release")).num_rows == 6000
    assert [path.name for path in tmp_path.iterdir() if "unfinished" in path.name] == []


def test_a_full_disk_is_one_clear_message(tmp_path: Path) -> None:
    import resource

    database = tmp_path / "clinic.sqlite"
    fill(f"{database}/visits", people(6000))
    fill(f"{database}/release", pa.table({"old": [1, 2, 3]}))
    most = database.stat().st_size + 100_000

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    options = ["--quasi", "age,height,town", "--sensitive", "disease", "--identifiers", "name", "-k", "4"]
    command = [sys.executable, "-m", "shoal.cli", "anonymize", f"{database}/visits", *options, "--stream"]
    command += ["-a", "mondrian", "--force", "--out", f"{database}/release"]
    found = subprocess.run(command, capture_output=True, text=True, check=False, preexec_fn=limit)
    assert found.returncode == 2
    last = found.stderr.strip().splitlines()[-1]
    assert last.startswith("WriteError[S401]")
    assert "Traceback" not in found.stderr
    assert io.read(f"{database}/release").to_pydict() == {"old": [1, 2, 3]}


@pytest.mark.parametrize("where", ENGINES, indirect=True)
def test_the_command_line_streams_large_tables(where: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    fill(where("visits"), people())
    options = ["anonymize", where("visits"), "--quasi", "age,town", "--identifiers", "name", "-k", "3"]
    common = [*options, "-a", "mondrian", "-q", "--out", where("release")]
    result = CliRunner().invoke(main, [*common, "--stream"])
    assert result.exit_code == 0, result.output
    assert "release_manifest" in result.output
    address = parse(where("visits"))
    assert address is not None
    assert not block_reading.is_big(address)
    monkeypatch.setattr(block_reading, "_BIG", 10)
    assert block_reading.is_big(address)
    called: list[str] = []

    def noted(source: databases.DatabaseBlocks, *arguments: object, **more: object) -> Iterator[None]:
        source.close()
        called.append("streamed")
        raise DataError("enough")

    monkeypatch.setattr("shoal.api.anonymize_file", noted)
    result = CliRunner().invoke(main, [*common, "--force"])
    assert called == ["streamed"]
    missing = ["anonymize", where("nothing"), *options[2:], "--stream", "--out", where("other")]
    result = CliRunner().invoke(main, missing)
    assert (result.exit_code, "there is no such table" in result.output) == (2, True)


def test_a_missing_database_is_said(tmp_path: Path) -> None:
    with pytest.raises(ShoalError, match="there is no file"):
        open_blocks(tmp_path / "none.sqlite" / "t")
