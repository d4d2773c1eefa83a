"""``shoal report`` and ``shoal anonymize --report``: what they write, print, refuse and return."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

from click.testing import Result

Run = Callable[..., Result]


def released(run: Run) -> None:
    """Make published.csv out of people.csv."""
    made = run("anonymize", "people.csv", "-p", "policy.toml", "-a", "mondrian", "-o", "published.csv", "-q")
    assert made.exit_code == 0, made.output


def test_it_writes_what_the_names_say(run: Run, folder: Path) -> None:
    released(run)
    result = run(
        "report",
        "people.csv",
        "published.csv",
        "-p",
        "policy.toml",
        "--queries",
        "20",
        "-o",
        "r.html,r.json,r.md",
    )
    assert result.exit_code == 0, result.output
    assert "VERDICT: the policy holds" in result.output
    assert (folder / "r.html").read_text().startswith("<!DOCTYPE html>")
    facts = json.loads((folder / "r.json").read_text())
    assert facts["verdict"]["holds"] is True
    assert "published.csv" in facts["repeat"]["sha256"]
    assert (folder / "r.md").read_text().startswith("# Release report")
    assert "Person1" not in (folder / "r.html").read_text()


def test_it_prints_a_summary_or_what_is_asked_for(run: Run, folder: Path) -> None:
    released(run)
    common = ("report", "people.csv", "published.csv", "-p", "policy.toml", "--queries", "5", "--no-attacks")
    assert run(*common).output.startswith("# Release report")
    assert run(*common, "--template", "html").output.startswith("<!DOCTYPE html>")
    assert json.loads(run(*common, "--json").output)["verdict"]["holds"] is True


def test_a_broken_promise_is_exit_status_1(run: Run, folder: Path) -> None:
    (folder / "bad.csv").write_text((folder / "people.csv").read_text())
    common = ("--quasi", "age", "-k", "3", "--queries", "5", "--no-attacks", "--template", "markdown")
    result = run("report", "people.csv", "bad.csv", *common, "--sensitive", "disease")
    assert result.exit_code in (0, 1)
    rows = ["name,age,zip,disease", *(f"P{i},{20 + i},Ax,flu" for i in range(60))]
    (folder / "alone.csv").write_text("\n".join(rows) + "\n")
    result = run("report", "alone.csv", "alone.csv", *common)
    assert result.exit_code == 1
    assert "does not hold" in result.output


def test_it_refuses_before_any_work_is_done(run: Run, folder: Path) -> None:
    released(run)
    common = ("report", "people.csv", "published.csv", "-p", "policy.toml")
    assert run(*common, "-o", "report.pdf").exit_code == 2
    assert run(*common, "-o", "people.csv").exit_code == 2
    (folder / "there.html").write_text("mine")
    refused = run(*common, "-o", "there.html")
    assert refused.exit_code == 2
    assert (folder / "there.html").read_text() == "mine"
    assert run(*common, "-o", "r.html", "--template", "html").exit_code == 2
    assert run("anonymize", "people.csv", "-p", "policy.toml", "--target", "disease").exit_code == 2


def test_anonymize_reports_on_what_it_wrote(run: Run, folder: Path) -> None:
    result = run(
        *(
            "anonymize",
            "people.csv",
            "-p",
            "policy.toml",
            "-a",
            "mondrian",
            "-o",
            "p.csv",
            "--report",
            "r.json",
        )
    )
    assert result.exit_code == 0, result.output
    facts = json.loads((folder / "r.json").read_text())
    assert facts["repeat"]["algorithm"] == "mondrian"
    assert set(facts["repeat"]["sha256"]) == {"published_content", "policy", "p.csv"}
