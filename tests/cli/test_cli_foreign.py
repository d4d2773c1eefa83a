"""A spreadsheet's export from most of Europe: semicolons, Latin-1, decimal commas, days before months."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from .conftest import Run

READ = ("--encoding", "latin-1", "--policy", "visits.toml")


@pytest.fixture
def visits(folder: Path) -> Path:
    """Write visits.csv into the working folder."""
    lines = ["Größe;Geburtsdatum;Diagnose;Kosten"]
    for i in range(60):
        day, year = 1 + i * 7 % 28, 1950 + i % 40
        lines.append(f"{150 + i % 45},5;{day:02}.{1 + i % 12:02}.{year};{'ABC'[i % 3]};1.{100 + i},25")
    (folder / "visits.csv").write_bytes("\n".join(lines).encode("latin-1"))
    return folder


def test_from_the_first_look_to_the_report(visits: Path, run: Run) -> None:
    found = run("init", "visits.csv", "--encoding", "latin-1", "--out", "visits.toml", "--json")
    columns = json.loads(found.output)["policy"]["columns"]
    kinds = {name: column["kind"] for name, column in columns.items()}
    assert kinds == {
        "Größe": "numeric",
        "Geburtsdatum": "date",
        "Diagnose": "categorical",
        "Kosten": "numeric",
    }

    made = run(
        "anonymize", "visits.csv", *READ, "--algorithm", "mondrian", "--out", "published.csv", "--quiet"
    )
    assert made.exit_code == 0, made.output
    assert (visits / "published.csv").read_text(encoding="utf-8").startswith("Größe,Geburtsdatum,")


@pytest.mark.parametrize("command", ["risk", "attack", "report"])
def test_the_encoding_of_the_original_is_not_that_of_the_release(
    command: str, visits: Path, run: Run
) -> None:
    run("init", "visits.csv", "--encoding", "latin-1", "--out", "visits.toml")
    run("anonymize", "visits.csv", *READ, "--algorithm", "mondrian", "--out", "published.csv", "--quiet")
    found = run(command, "visits.csv", "published.csv", *READ, "--json")
    assert found.exit_code == 0, found.output


def test_a_release_of_somebody_else_is_read_as_the_options_say(visits: Path, run: Run) -> None:
    run("init", "visits.csv", "--encoding", "latin-1", "--out", "visits.toml")
    published = (visits / "visits.csv").read_bytes()
    (visits / "published.csv").write_bytes(published)
    found = run("risk", "visits.csv", "published.csv", *READ, "--json")
    assert found.exit_code == 0, found.output
