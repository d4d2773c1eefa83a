"""The server without a browser: from a file to a release, and everything that can go wrong on the way."""

from __future__ import annotations

import gzip
import json
import random
import sqlite3
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import shoal
from ui_servers import Server

CHANCE = random.Random(1)
JOBS, ILLNESSES = ("nurse", "clerk", "miner"), ("flu", "asthma", "HIV", "stroke")
ROWS = [(CHANCE.randint(20, 79), CHANCE.choice(JOBS), CHANCE.choice(ILLNESSES)) for _ in range(240)]
CSV = (
    "name,age,job,diagnosis\n" + "".join(f"p{i},{a},{j},{d}\n" for i, (a, j, d) in enumerate(ROWS))
).encode()
POLICY = {
    "suppression": 0.02,
    "suppressed": "drop",
    "columns": {
        "name": {"role": "identifier"},
        "age": {"role": "quasi", "kind": "numeric"},
        "job": {"role": "quasi", "kind": "categorical"},
        "diagnosis": {"role": "sensitive", "kind": "categorical"},
    },
    "models": [{"name": "k-anonymity", "k": 5}, {"name": "l-diversity", "l": 2}],
}
RELEASE = {
    "policy": POLICY,
    "algorithm": "mondrian",
    "parameters": {"relaxed": True},
    "seed": 3,
    "refine": True,
}


@pytest.fixture(scope="module")
def space(server: Server) -> str:
    """Return the id of an opened table."""
    return server.opened(server.upload(CSV))[0]


@pytest.fixture(scope="module")
def release(server: Server, space: str) -> tuple[str, dict[str, Any]]:
    """Return the id of a finished release, and what is known of it."""
    job, state = server.run(space, "release", **RELEASE)
    assert state["status"] == "done", state
    return job, state["result"]


def test_the_forms_come_from_the_registry(server: Server) -> None:
    about = server.send("GET", "/api/about").json()
    assert [model["name"] for model in about["models"]] == shoal.models()
    assert [algorithm["name"] for algorithm in about["algorithms"]] == shoal.algorithms()
    by_name = {model["name"]: model for model in about["models"]}
    assert by_name["k-anonymity"]["schema"]["properties"]["k"]["minimum"] == 1
    assert by_name["l-diversity"]["per_column"]


def test_opening_proposes_roles_with_reasons(server: Server) -> None:
    space, state = server.opened(server.upload(CSV))
    columns = {column["name"]: column for column in state["result"]["columns"]}
    assert [c["proposed"]["role"] for c in columns.values()] == ["identifier", "quasi", "quasi", "sensitive"]
    assert columns["age"]["reason"] == "the name says so (age)"
    assert (columns["age"]["distinct"], sum(columns["age"]["bars"]), columns["age"]["ordered"]) == (
        len({age for age, _, _ in ROWS}),
        240,
        True,
    )
    assert server.send("GET", f"/api/spaces/{space}").json()["records"] == 240
    assert server.send("DELETE", f"/api/spaces/{space}").status_code == 200
    gone = server.send("GET", f"/api/spaces/{space}")
    assert (gone.status_code, gone.json()["error"]["code"]) == (404, "S504")


def test_questions_are_answered_at_the_desk(server: Server, space: str) -> None:
    audit = server.ask(space, "audit", quasi=["age", "job"], sensitive=["diagnosis"])
    assert audit["unique"] == shoal.audit(_table(), quasi=["age", "job"]).unique
    levels = server.ask(space, "levels", column="age", hierarchy={"type": "intervals", "widths": [10]})
    assert [level["groups"] for level in levels["levels"]] == [len({age for age, _, _ in ROWS}), 6, 1]
    assert levels["levels"][1]["labels"] == [f"[{low}, {low + 9}]" for low in range(20, 80, 10)]
    assert server.ask(space, "values", column="job")["values"][0]["count"] == max(
        sum(job == work for _, job, _ in ROWS) for work in JOBS
    )
    assert server.ask(space, "check", policy=POLICY) == {"problem": None}


def _table() -> Any:
    return {
        "age": [a for a, _, _ in ROWS],
        "job": [j for _, j, _ in ROWS],
        "diagnosis": [d for *_, d in ROWS],
    }


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"models": []}, "promises nothing"),
        ({"models": [{"name": "k-anonymity", "k": 0}]}, "'k' of k-anonymity must be a whole number"),
        ({"models": [{"name": "k-anonymity", "k": 500}]}, "500"),
        ({"models": [{"name": "l-diversity", "l": 9}]}, "diagnosis"),
    ],
)
def test_a_policy_is_checked_against_the_table(
    server: Server, space: str, change: dict[str, Any], says: str
) -> None:
    problem = server.ask(space, "check", policy={**POLICY, **change})["problem"]
    assert says in problem["message"]


@pytest.mark.parametrize(
    ("task", "given", "says"),
    [
        ("audit", {"quasi": ["salary"], "sensitive": []}, "there is no column 'salary'"),
        ("levels", {"column": "age", "hierarchy": {"type": "tree"}}, "needs 'rows'"),
        ("values", {}, "asked with other things"),
        ("release", {}, "there is no question 'release'"),
        ("rows", {"job": "../..", "real": False, "count": 1, "seed": 0}, "there is no such job"),
    ],
)
def test_a_wrong_question_gets_one_clear_line(
    server: Server, space: str, task: str, given: dict[str, Any], says: str
) -> None:
    error = server.ask(space, task, **given)["error"]
    assert says in error["message"]
    assert "Traceback" not in json.dumps(error)


def test_a_preset_fits_the_sensitive_columns(server: Server) -> None:
    facts = [
        {"name": "income", "distinct": 2, "ordered": True},
        {"name": "illness", "distinct": 9, "ordered": False},
    ]
    made = server.send("POST", "/api/presets/public", json={"sensitive": facts}).json()
    assert {"name": "l-diversity", "l": 2, "columns": ["income"]} in made["models"]
    assert {"name": "l-diversity", "l": 3, "columns": ["illness"]} in made["models"]
    assert (
        server.send("POST", "/api/presets/pulbic", json={}).json()["error"]["hint"]
        == "Did you mean 'public'?"
    )
    assert "error" in server.send("POST", "/api/presets/public", json={"sensitive": [{"x": 1}]}).json()


def test_comparing_reports_candidates_one_by_one(server: Server, space: str) -> None:
    job, state = server.run(
        space, "compare", policy=POLICY, algorithms=["mondrian", "mdav"], ks=[5, 1000], seed=0
    )
    assert state["status"] == "done"
    rows = {(row["algorithm"], row["k"]): row for row in state["rows"]}
    assert rows["mondrian", 5]["holds"]
    assert not rows["mondrian", 1000]["holds"]
    assert "1000" in rows["mondrian", 1000]["error"]
    assert len(rows) == 4
    assert [job["id"] for job in server.send("GET", f"/api/spaces/{space}").json()["jobs"]] == [job]


def test_a_release_is_verified_and_described(release: tuple[str, dict[str, Any]]) -> None:
    _, result = release
    assert result["evidence"]["holds"]
    assert result["written"]["holds"]
    assert result["audit"]["unique"] == 0
    assert sum(size["classes"] for size in result["sizes"]) == result["evidence"]["classes"]
    assert set(result["metrics"]["ncp"]) == {"age", "job"}
    assert {attack["attack"] for attack in result["attacks"]["results"]} >= {"linkage", "inference"}


def test_the_report_is_one_page_that_names_nobody(
    server: Server, space: str, release: tuple[str, dict[str, Any]]
) -> None:
    page = server.fetch(space, release[0], "report").decode()
    assert page.startswith("<!DOCTYPE html>")
    assert "The policy holds" in page
    assert not [i for i in range(240) if f"p{i}<" in page or f'"p{i}"' in page]  # nobody is named


def test_the_release_is_there_before_its_report(server: Server, space: str) -> None:
    answer = server.send("POST", f"/api/spaces/{space}/jobs", json={"task": "release", "given": RELEASE})
    states = server.states(space, answer.json()["id"])
    made = [state for state in states if "made" in state and state["status"] == "running"]
    assert made
    assert set(made[0]["made"]["files"]) == {"table", "manifest", "policy"}
    assert set(states[-1]["result"]["files"]) == {"table", "manifest", "policy", "report"}


def test_the_command_line_makes_the_same_bytes(
    server: Server, space: str, release: tuple[str, dict[str, Any]], tmp_path: Path
) -> None:
    job, result = release
    (tmp_path / "people.csv").write_bytes(CSV)
    (tmp_path / "policy.toml").write_bytes(server.fetch(space, job, "policy"))
    words = result["command"].split()
    assert words[:3] == ["shoal", "anonymize", "people.csv"]
    subprocess.run(
        [sys.executable, "-m", "shoal.cli", *words[1:]], cwd=tmp_path, check=True, capture_output=True
    )
    assert (tmp_path / "published.csv").read_bytes() == server.fetch(space, job, "table")
    again = json.loads((tmp_path / "published.csv.manifest.json").read_text())
    assert again == json.loads(server.fetch(space, job, "manifest"))
    assert again["file"]["sha256"] == result["written"]["sha256"]


def test_rows_are_nobodys_unless_real_ones_are_asked_for(
    server: Server, space: str, release: tuple[str, dict[str, Any]]
) -> None:
    job, _ = release
    known = {(str(age), work) for age, work, _ in ROWS}
    invented = server.ask(space, "rows", job=job, real=False, count=3, seed=1)["pairs"]
    assert invented
    for pair in invented:
        assert pair["before"]["name"] == "(invented)"
        assert (pair["before"]["age"], pair["before"]["job"]) not in known
        assert "name" not in pair["after"]
    real = server.ask(space, "rows", job=job, real=True, count=3, seed=1)["pairs"]
    assert all((pair["before"]["age"], pair["before"]["job"]) in known for pair in real)


def test_a_release_that_cannot_be_says_why(server: Server, space: str) -> None:
    policy = {**POLICY, "models": [{"name": "k-anonymity", "k": 1000}]}
    _, state = server.run(space, "release", policy=policy, algorithm="mondrian")
    assert (state["status"], state["error"]["code"]) == ("failed", "S202")
    answer = server.send("POST", f"/api/spaces/{space}/jobs", json={"task": "erase", "given": {}})
    assert answer.json()["error"]["message"] == "there is no work 'erase'"


def test_work_can_be_stopped(server: Server) -> None:
    space, _ = server.opened(server.upload(CSV * 1))
    names = [name for name in shoal.algorithms() if name not in ("auto",)]
    answer = server.send(
        "POST",
        f"/api/spaces/{space}/jobs",
        json={
            "task": "compare",
            "given": {"policy": POLICY, "algorithms": names, "ks": list(range(2, 60)), "seed": 0},
        },
    )
    job = answer.json()["id"]
    assert server.send("DELETE", f"/api/spaces/{space}/jobs/{job}").status_code == 200
    assert server.states(space, job)[-1]["status"] == "cancelled"
    assert server.ask(space, "check", policy=POLICY) == {"problem": None}  # the desk is still there
    server.send("DELETE", f"/api/spaces/{space}")


def test_who_saves_second_is_told(server: Server, space: str) -> None:
    path = f"/api/spaces/{space}/document"
    before = server.send("GET", f"/api/spaces/{space}").json()["version"]
    first = server.send("PUT", path, json={"version": before, "document": {"step": 1}})
    assert first.json() == {"version": before + 1}
    second = server.send("PUT", path, json={"version": before, "document": {"step": 2}})
    assert (second.status_code, second.json()["error"]["code"]) == (409, "S503")
    assert server.send("GET", f"/api/spaces/{space}").json()["document"] == {"step": 1}
    assert server.send("PUT", path, json={"document": 3}).status_code == 400


@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        (b"", "empty.csv", "is empty"),
        (b"\x89PNG\r\n\x1a\n\x00\x00\x00\rIHDR" + bytes(range(256)), "photo.csv", ""),
        (b"a,b\n1,2\n3\n", "ragged.csv", "line 3"),
        (b"not parquet at all", "people.parquet", ""),
        (gzip.compress(CSV)[:80], "cut.csv.gz", ""),
        (b"a,a\n1,2\n", "twice.csv", "'a'"),
    ],
)
def test_a_file_that_is_no_table_is_one_clear_line(
    server: Server, content: bytes, name: str, says: str
) -> None:
    space, state = server.opened(server.upload(content, name))
    assert state["status"] == "failed"
    assert says in state["error"]["message"]
    assert state["error"]["code"] != "S901", state["error"]
    server.send("DELETE", f"/api/spaces/{space}")


def test_an_upload_is_bounded_whatever_it_announces(server: Server) -> None:
    error = server.upload(b"x" * (2 << 20)).json()["error"]
    assert (error["code"], error["hint"]) == ("S505", "Give its path instead: it is read where it is.")

    def unannounced() -> Any:
        for _ in range(64):
            yield b"1,2,3\n" * 8192

    answer = server.send("POST", "/api/upload", params={"name": "x.csv"}, content=unannounced())
    assert answer.json()["error"]["code"] == "S505"


def test_a_file_by_path_is_read_where_it_is(server: Server, tmp_path: Path) -> None:
    path = tmp_path / "big.csv"
    path.write_bytes(CSV.replace(b",", b";"))
    space, state = server.opened(
        server.send("POST", "/api/spaces", json={"path": str(path), "delimiter": ";"})
    )
    assert state["result"]["records"] == 240
    server.send("DELETE", f"/api/spaces/{space}")
    assert path.exists()
    _, state = server.opened(server.send("POST", "/api/spaces", json={"path": str(tmp_path / "none.csv")}))
    assert "there is no file" in state["error"]["message"]
    assert server.send("POST", "/api/spaces", json={"path": " "}).status_code == 400


def test_a_table_in_a_database_is_read_by_its_address(server: Server, tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "ward.sqlite") as ward:
        ward.execute("create table visits (age integer, job text)")
        ward.executemany("insert into visits values (?, ?)", [(age, job) for age, job, _ in ROWS])
    ward.close()
    address = f"{tmp_path}/ward.sqlite/visits"
    space, state = server.opened(server.send("POST", "/api/spaces", json={"path": address}))
    assert state["result"]["records"] == 240
    assert server.send("GET", f"/api/spaces/{space}").json()["name"] == "ward.sqlite/visits"
    server.send("DELETE", f"/api/spaces/{space}")
    secret = server.send(
        "POST", "/api/spaces", json={"path": "postgresql://ann:secret@127.0.0.1:9/clinic/visits"}
    )
    assert "secret" not in secret.text
    space, state = server.opened(secret)
    assert state["status"] == "failed"
    assert "secret" not in str(state)
    server.send("DELETE", f"/api/spaces/{space}")


def test_names_of_uploads_cannot_leave_their_folder(server: Server) -> None:
    space, state = server.opened(server.upload(CSV, "../../../../tmp/evil.csv"))
    assert state["status"] == "done"
    assert server.send("GET", f"/api/spaces/{space}").json()["name"] == "evil.csv"
    server.send("DELETE", f"/api/spaces/{space}")


def test_a_hierarchy_file_becomes_part_of_the_policy(server: Server, space: str) -> None:
    rows = b"nurse;care;*\nclerk;office;*\nminer;mine;*\n"
    made = server.send("POST", f"/api/spaces/{space}/hierarchy", content=rows).json()["hierarchy"]
    assert made["rows"][0] == ["nurse", "care", "*"]
    levels = server.ask(space, "levels", column="job", hierarchy=made)
    assert levels["unknown"] == 0
    bad = server.send("POST", f"/api/spaces/{space}/hierarchy", content=b"a;b;*\nc;*\n").json()
    assert "error" in bad


@pytest.mark.parametrize("body", [b"[1]", b"{", b"\xff"])
def test_a_body_that_is_no_object_is_refused(server: Server, body: bytes) -> None:
    assert server.send("POST", "/api/spaces", content=body).json()["error"]["code"] == "S103"


def test_only_so_many_tables_are_open_at_once(server: Server) -> None:
    made = []
    while (answer := server.send("POST", "/api/spaces", json={"path": "/nothing"})).status_code == 200:
        made.append(answer.json()["id"])
        assert len(made) < 20
    assert "open already" in answer.json()["error"]["message"]
    for space in made:
        server.send("DELETE", f"/api/spaces/{space}")
