"""shoal hierarchy and shoal explore, as a user meets them."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import shoal

Run = Callable[..., Any]

LEVELS = """
[columns.age.hierarchy]
type = "intervals"
widths = [10, 20]
"""


@pytest.fixture
def leveled(folder: Path) -> Path:
    """Return the policy's file, with a hierarchy for age."""
    policy = folder / "policy.toml"
    policy.write_text(policy.read_text() + LEVELS)
    return policy


def test_a_hierarchy_is_built_shown_and_checked(run: Run, folder: Path) -> None:
    built = run(
        "hierarchy", "build", "people.csv", "age", "--type", "intervals",
        "--set", "widths=10,20", "--set", "top=50", "--out", "age.csv",
    )  # fmt: skip
    assert built.exit_code == 0, built.output
    assert "fewest records" in built.output
    assert shoal.Hierarchy.read(folder / "age.csv").rows()[-1][1] == ">= 50"
    shown = json.loads(
        run("hierarchy", "show", "age.csv", "--data", "people.csv", "--column", "age", "--json").output
    )
    assert [level["level"] for level in shown["levels"]] == [0, 1, 2, 3]
    assert shown["levels"][-1]["fewest_records"] == 60
    assert run("hierarchy", "show", "age.csv").exit_code == 0
    assert run("hierarchy", "check", "age.csv", "people.csv", "age").exit_code == 0
    again = run("hierarchy", "build", "people.csv", "age", "--type", "prefix", "--out", "age.csv")
    assert again.exit_code == 2
    assert "exists already" in again.output


def test_what_a_hierarchy_misses_is_counted_and_listed_on_request(run: Run, folder: Path) -> None:
    (folder / "zip.csv").write_text("Ax;A;*\nBx;B;*\n")
    silent = run("hierarchy", "check", "zip.csv", "people.csv", "zip")
    assert silent.exit_code == 1
    assert "misses 1 distinct" in silent.output
    assert "Cx" not in silent.output
    assert "Cx" in run("hierarchy", "check", "zip.csv", "people.csv", "zip", "--list").output
    (folder / "bad.csv").write_text("Ax;A;*\nAx;B;*\n")
    refused = run("hierarchy", "check", "bad.csv", "people.csv", "zip")
    assert refused.exit_code == 2
    assert "row 2 puts a leaf under another parent than row 1" in refused.output


@pytest.mark.parametrize(
    ("kind", "column", "settings", "rows"),
    [
        ("bounds", "age", ["levels=30,40,50;30,50"], ["< 30"]),
        ("suffix", "zip", ["keep=1"], ["*x"]),
        ("ordered", "zip", ["values=Ax,Bx,Cx", "sizes=2"], ["[Ax, Bx]"]),
        ("learned", "zip", [], ["{Ax, Bx}"]),
    ],
)
def test_every_type_can_be_built(
    run: Run, folder: Path, kind: str, column: str, settings: list[str], rows: list[str]
) -> None:
    options = [part for setting in settings for part in ("--set", setting)]
    built = run("hierarchy", "build", "people.csv", column, "--type", kind, *options, "--out", "made.csv")
    assert built.exit_code == 0, built.output
    labels = {label for row in shoal.Hierarchy.read(folder / "made.csv").rows() for label in row}
    assert set(rows) <= labels


def test_wrong_settings_are_one_line(run: Run) -> None:
    for settings in (["widths"], ["widths=ten"], ["width=5"]):
        options = [part for setting in settings for part in ("--set", setting)]
        refused = run("hierarchy", "build", "people.csv", "age", "--type", "intervals", *options)
        assert refused.exit_code == 2
        assert len(refused.output.strip().splitlines()) == 1
    refused = run("hierarchy", "build", "people.csv", "agee", "--type", "prefix")
    assert "Did you mean 'age'" in refused.output


def test_exploring_shows_levels_that_can_be_published(run: Run, leveled: Path, folder: Path) -> None:
    found = json.loads(
        run("explore", "people.csv", "-p", "policy.toml", "--lattice", "all.csv", "--json").output
    )
    assert found["optimal"]
    assert found["nodes"] == 8
    best = found["solutions"][0]["levels"]
    assert len((folder / "all.csv").read_text().splitlines()) == 9
    assert "combinations looked at" in run("explore", "people.csv", "-p", "policy.toml").output
    levels = ",".join(map(str, best.values()))
    made = run(
        "anonymize", "people.csv", "-p", "policy.toml", "-a", "lattice", "--set", f"levels={levels}", "--json"
    )
    assert json.loads(made.output)["levels"] == best
    refused = run("anonymize", "people.csv", "-p", "policy.toml", "-a", "lattice", "--set", "levels=0,0")
    assert refused.exit_code == 1
    assert "would suppress" in refused.output
    refused = run("anonymize", "people.csv", "-p", "policy.toml", "-a", "lattice", "--set", "levels=9")
    assert refused.exit_code == 2
    assert "age 0 to 3, zip 0 to 1" in refused.output


@pytest.mark.parametrize("algorithm", ["lattice", "datafly", "local"])
def test_top_and_bottom_coding_comes_from_the_policy_file(run: Run, folder: Path, algorithm: str) -> None:
    policy = folder / "policy.toml"
    levels = "[columns.age.hierarchy]\ntype = 'intervals'\nwidths = [5, 20]\nbottom = 25\ntop = 50\n"
    limits = 'kind = "numeric"\nleast_level = 1\nmost_level = 2\nweight = 2.0\n'
    policy.write_text(policy.read_text().replace('kind = "numeric"\n', limits, 1) + levels)
    made = run("anonymize", "people.csv", "-p", "policy.toml", "-a", algorithm, "-o", "out.csv")
    assert made.exit_code == 0, made.output
    ages = {row["age"] for row in csv.DictReader((folder / "out.csv").read_text().splitlines())}
    hierarchy = shoal.Hierarchy.intervals(widths=[5, 20], bottom=25, top=50)
    allowed = {label for row in hierarchy.rows(list(range(20, 60))) for label in row[1:3]}
    assert {"< 25", ">= 50"} <= ages <= {*allowed, "*"}
    assert run("verify", "out.csv", "-p", "policy.toml").exit_code == 0
