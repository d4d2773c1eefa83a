"""Databases: what is read is what is there, and a release is written whole, verified, or not at all."""

from __future__ import annotations

import datetime as dt
import json
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from click.testing import CliRunner

import shoal
from database_tables import execute, fill
from postgres import Postgres
from shoal import io
from shoal.cli import main
from shoal.errors import DataError, ParameterError, VerificationFailed, WriteError
from shoal.io import databases
from shoal.io.databases import Address, open_session, parse

FILES = ("sqlite", "duckdb")
ENGINES = (*FILES, pytest.param("postgresql", marks=pytest.mark.postgres))
Where = Callable[[str], str]


@pytest.fixture
def where(request: pytest.FixtureRequest, tmp_path: Path) -> Where:
    """Return what makes the address of a table in an empty database of the engine under test."""
    engine = request.param
    if engine != "postgresql":
        return lambda table: f"{tmp_path / ('clinic.' + engine)}/{table}"
    server: Postgres = request.getfixturevalue("postgres")
    execute(
        server.address,
        "drop schema public cascade",
        "create schema public",
        "drop schema if exists ward cascade",
    )
    return server.table


def people(n: int = 40) -> pa.Table:
    rng = np.random.default_rng(1)
    return pa.table(
        {
            "name": [f"person {i}" for i in range(n)],
            "age": pa.array([None if i == 3 else int(v) for i, v in enumerate(rng.integers(20, 80, n))]),
            "height": pa.array(rng.normal(170, 9, n).round(1)),
            "born": pa.array([dt.date(1980, 1, 1) + dt.timedelta(int(d)) for d in rng.integers(0, 9000, n)]),
            "town": rng.choice(["Lund", "Ystad", "Malmö"], n).tolist(),
            "disease": np.resize(["flu", "cold", "gout"], n).tolist(),
        }
    )


POLICY = shoal.Policy(
    identifiers=["name"],
    quasi=["age", "height", "born", "town"],
    sensitive=["disease"],
    models=[shoal.KAnonymity(4), shoal.LDiversity(2)],
)


# --- addresses ---


@pytest.mark.parametrize(
    ("text", "engine", "place", "table"),
    [
        (
            "postgresql://ann:pw@db.example:5433/clinic",
            "postgresql",
            "postgresql://db.example:5433/clinic",
            "",
        ),
        ("postgres://db.example/clinic/visits", "postgresql", "postgresql://db.example/clinic", "visits"),
        ("postgresql:///clinic/ward.visits?user=x", "postgresql", "postgresql:///clinic", "ward.visits"),
        ("data/clinic.sqlite", "sqlite", "data/clinic.sqlite", ""),
        ("data/clinic.db/visits", "sqlite", "data/clinic.db", "visits"),
        ("sqlite:///srv/clinic.bin", "sqlite", "/srv/clinic.bin", ""),
        ("duckdb:clinic.duckdb/visits", "duckdb", "clinic.duckdb", "visits"),
    ],
)
def test_addresses_are_understood(text: str, engine: str, place: str, table: str) -> None:
    found = parse(text)
    assert found is not None
    assert (found.engine, found.place, found.qualified) == (engine, place, table)


@pytest.mark.parametrize("text", ["patients.csv", "a/b.parquet", "-", "c:data.csv", "https://example/x.csv"])
def test_other_things_are_no_addresses(text: str) -> None:
    assert parse(text) is None


def test_a_file_in_a_folder_named_like_a_database_is_a_file(tmp_path: Path) -> None:
    folder = tmp_path / "old.db"
    folder.mkdir()
    assert parse(folder / "patients.csv") is None


def test_a_password_is_never_shown() -> None:
    address = parse("postgresql://ann:S3cret@127.0.0.1:1/clinic")
    assert "S3cret" not in repr(address) + address.label  # type: ignore[union-attr]
    with pytest.raises(DataError) as caught:
        io.read("postgresql://ann:S3cret@127.0.0.1:1/clinic/visits")
    error: BaseException | None = caught.value
    while error is not None:
        assert "S3cret" not in str(error)
        assert "\n" not in str(error)
        error = error.__cause__ or error.__context__
    assert "127.0.0.1:1/clinic" in str(caught.value)


def test_two_tables_cannot_be_named() -> None:
    with pytest.raises(ParameterError, match="two tables"):
        io.read("clinic.db/visits", table="people")


def test_files_have_no_tables(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("a\n1\n")
    with pytest.raises(ParameterError, match="only databases"):
        io.read(tmp_path / "a.csv", table="visits")


# --- reading ---


@pytest.mark.parametrize("where", ENGINES, indirect=True)
def test_a_table_comes_back_as_it_was(where: Where) -> None:
    fill(where("visits"), people())
    found = io.read(where("visits"))
    expected = people().to_pydict()
    if found.schema.field("born").type == pa.string():  # SQLite has no dates
        expected["born"] = [day.isoformat() for day in expected["born"]]
    assert found.to_pydict() == expected


@pytest.mark.parametrize("where", ENGINES, indirect=True)
def test_the_only_table_need_not_be_named(where: Where) -> None:
    fill(where("visits"), people())
    database = where("x").replace("/x", "")
    assert io.read(database).num_rows == 40
    assert io.read(database, table="visits").num_rows == 40
    fill(where("doctors"), people(4))
    with pytest.raises(DataError, match=r"no table is named.*doctors, visits"):
        io.read(database)
    with pytest.raises(DataError, match=r"no such table.*doctors, visits"):
        io.read(where("nurses"))


@pytest.mark.parametrize("engine", FILES)
def test_a_missing_file_is_said(tmp_path: Path, engine: str) -> None:
    with pytest.raises(DataError, match="there is no file"):
        io.read(tmp_path / f"none.{engine}", table="t")
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("engine", FILES)
def test_a_file_that_is_no_database_is_said(tmp_path: Path, engine: str) -> None:
    path = tmp_path / f"a.{engine}"
    path.write_text("Xyzzy77 is not a database, though it is long enough to be one " * 20)
    with pytest.raises(DataError, match="no such database, or it is damaged") as caught:
        io.read(path, table="t")
    assert "Xyzzy77" not in str(caught.value)


def test_sqlite_texts_declared_as_dates_are_dates(tmp_path: Path) -> None:
    address = str(tmp_path / "a.db")
    execute(
        f"{address}/t",
        "create table t (born date, seen timestamp, alive boolean, zip text, n integer)",
        "insert into t values ('1980-02-29', '2024-01-02 03:04:05', 1, '01234', 7), "
        "(null, null, 0, null, null)",
    )
    found = io.read(address)
    assert [str(kind) for kind in found.schema.types] == [
        "date32[day]", "timestamp[us]", "bool", "string", "int64",
    ]  # fmt: skip


def test_sqlite_columns_of_mixed_types_become_texts(tmp_path: Path) -> None:
    address = f"{tmp_path / 'a.db'}/t"
    rows = ", ".join(["(1)"] * 3000)
    execute(address, "create table t (a)", f"insert into t values {rows}", "insert into t values ('x')")
    assert io.read(address).column("a").to_pylist()[-2:] == ["1", "x"]


@pytest.mark.postgres
def test_postgresql_numerics_and_schemas(postgres: Postgres) -> None:
    execute(
        postgres.address,
        "drop schema if exists ward cascade",
        "create schema ward",
        "create table ward.t (price numeric(8, 2), day date, at timestamptz, ok boolean, tag text)",
        "insert into ward.t values (12.50, '2024-02-29', '2024-02-29 12:00+02', true, 'a'), "
        "(null, null, null, null, null)",
    )
    found = io.read(postgres.address, table="ward.t")
    assert found.column("price").to_pylist() == [12.5, None]
    assert found.column("day").to_pylist() == [dt.date(2024, 2, 29), None]
    assert found.column("ok").to_pylist() == [True, None]
    assert found.column("at").to_pylist()[0].astimezone(dt.UTC).hour == 10


# --- writing ---


@pytest.mark.parametrize("where", ENGINES, indirect=True)
def test_a_release_goes_into_a_table_with_its_manifest(where: Where) -> None:
    release = shoal.anonymize(people(), POLICY, algorithm="mondrian")
    evidence = release.write(where("release"))
    assert evidence.holds
    found = io.read(where("release"))
    assert shoal.verify(found, POLICY).holds
    expected = sorted(map(str, release.published.column("town").to_pylist()))
    assert sorted(map(str, found.column("town").to_pylist())) == expected
    manifest = json.loads(io.read(where("release_manifest")).column("manifest")[0].as_py())
    assert manifest["evidence"]["holds"]
    assert manifest["table"] == {"name": "release", "records": 40}


@pytest.mark.parametrize("where", ENGINES, indirect=True)
@pytest.mark.parametrize("columns", ["same", "other"])
def test_a_release_replaces_another(where: Where, columns: str) -> None:
    first = shoal.anonymize(people(), POLICY, algorithm="mondrian")
    policy = (
        POLICY if columns == "same" else shoal.Policy(quasi=["age", "town"], models=[shoal.KAnonymity(3)])
    )
    first.write(where("release"))
    source = people(90) if columns == "same" else people(90).select(["age", "town"])
    shoal.anonymize(source, policy, algorithm="mondrian").write(where("release"))
    found = io.read(where("release"))
    assert found.num_rows == 90
    assert shoal.verify(found, policy).holds
    address = parse(where("release"))
    assert address is not None
    with open_session(address) as session:
        assert sorted(session.tables()) == ["release", "release_manifest"]


@pytest.mark.parametrize("where", ENGINES, indirect=True)
def test_what_does_not_verify_changes_nothing(where: Where, monkeypatch: pytest.MonkeyPatch) -> None:
    release = shoal.anonymize(people(), POLICY, algorithm="mondrian")
    release.write(where("release"))
    before = io.read(where("release")).to_pydict()
    address = parse(where("release"))
    assert address is not None
    raw = people().select(["age", "height", "born", "town", "disease"])

    def check(found: pa.Table) -> None:
        assert found.num_rows == raw.num_rows
        shoal.verify(found, POLICY).require()

    with pytest.raises(VerificationFailed):
        databases.put(address, {"release": databases.storable(raw)}, check)
    assert io.read(where("release")).to_pydict() == before
    with open_session(address) as session:
        assert sorted(session.tables()) == ["release", "release_manifest"]


@pytest.mark.postgres
@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
def test_readers_see_the_old_release_or_the_new_one(where: Where) -> None:
    """A reader that counts all the time while releases of two sizes take turns never counts anything else."""
    sizes = (40, 90)
    releases = [shoal.anonymize(people(n), POLICY, algorithm="mondrian") for n in sizes]
    releases[0].write(where("release"))
    seen: set[tuple[int, int]] = set()
    done = threading.Event()

    def read() -> None:
        while not done.is_set():
            found = io.read(where("release"))
            manifest = json.loads(io.read(where("release_manifest")).column("manifest")[0].as_py())
            seen.add((found.num_rows, manifest["table"]["records"]))

    reader = threading.Thread(target=read)
    reader.start()
    for turn in range(12):
        releases[turn % 2].write(where("release"))
    done.set()
    reader.join()
    assert {rows for rows, _ in seen} <= set(sizes)
    assert {records for _, records in seen} <= set(sizes)


@pytest.mark.postgres
@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
def test_views_and_rights_outlive_a_new_release(where: Where, postgres: Postgres) -> None:
    shoal.anonymize(people(), POLICY, algorithm="mondrian").write(where("release"))
    execute(postgres.address, "create view summary as select town, count(*) as n from release group by town")
    shoal.anonymize(people(90), POLICY, algorithm="mondrian").write(where("release"))
    assert sum(io.read(where("summary")).column("n").to_pylist()) == 90
    with pytest.raises(WriteError, match=r"other objects depend.*Nothing was changed"):
        shoal.anonymize(people().select(["age"]), quasi=["age"], k=3).write(where("release"))
    assert io.read(where("release")).num_rows == 90


@pytest.mark.postgres
@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
def test_a_lost_connection_leaves_the_old_release(where: Where, postgres: Postgres) -> None:
    release = shoal.anonymize(people(), POLICY, algorithm="mondrian")
    release.write(where("release"))
    address = parse(where("release"))
    assert address is not None

    def cut(_: pa.Table) -> None:
        execute(
            postgres.address,
            "select pg_terminate_backend(pid) from pg_stat_activity where pid <> pg_backend_pid()",
        )

    with pytest.raises(
        WriteError, match=r"the connection failed or was lost\. Nothing was changed"
    ) as caught:
        databases.put(address, {"release": databases.storable(people(7))}, cut)
    assert "\n" not in str(caught.value)
    assert io.read(where("release")).num_rows == 40
    release.write(where("release"))  # and trying again works


@pytest.mark.postgres
@pytest.mark.parametrize("where", ["postgresql"], indirect=True)
def test_two_writers_do_not_mix(where: Where) -> None:
    releases = [shoal.anonymize(people(n), POLICY, algorithm="mondrian") for n in (40, 90)]
    releases[0].write(where("release"))
    writers = [threading.Thread(target=r.write, args=(where("release"),)) for r in releases * 3]
    for writer in writers:
        writer.start()
    for writer in writers:
        writer.join()
    assert io.read(where("release")).num_rows in (40, 90)


# --- command line ---


def shoal_command(*arguments: str) -> tuple[int, str]:
    result = CliRunner().invoke(main, list(arguments))
    return result.exit_code, result.output


@pytest.mark.parametrize("where", ENGINES, indirect=True)
def test_the_command_line_reads_and_writes_databases(where: Where, tmp_path: Path) -> None:
    fill(where("visits"), people())
    database = where("x").replace("/x", "")
    options = [
        "--quasi",
        "age,town",
        "--sensitive",
        "disease",
        "--identifiers",
        "name,height,born",
        "-k",
        "3",
    ]
    common: list[Any] = [
        "anonymize",
        database,
        "--table",
        "visits",
        *options,
        "--algorithm",
        "mondrian",
        "-q",
    ]
    status, output = shoal_command(*common, "--out", where("release"))
    assert status == 0, output
    assert "release_manifest" in output
    status, output = shoal_command(*common, "--out", where("release"))
    assert (status, "exists" in output) == (2, True)
    status, output = shoal_command(*common, "--out", where("release"), "--force")
    assert status == 0, output
    status, output = shoal_command(*common, "--out", where("visits"), "--force")
    assert (status, "is also an input" in output) == (2, True)
    status, output = shoal_command(*common, "--out", database)
    assert (status, "names no table to write" in output) == (2, True)
    status, output = shoal_command("verify", where("release"), *options[:4], "-k", "3")
    assert status == 0, output


def test_an_address_hides_its_password_in_messages_of_python_too() -> None:
    assert "S3cret" not in repr(Address("postgresql", "postgresql://ann:S3cret@host/clinic", "visits"))
