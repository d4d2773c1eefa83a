"""Whatever is wrong with the input, there is one clear line, an exit status, and no cell value."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import Result

Run = Callable[..., Result]

ANONYMIZE = ("anonymize", "people.csv", "--policy", "policy.toml")
SHORT = ("--quasi", "age,zip", "--sensitive", "disease")


def _csv(folder: Path, text: str | bytes) -> None:
    content = text if isinstance(text, bytes) else text.encode()
    (folder / "people.csv").write_bytes(content)


def _policy(folder: Path, old: str, new: str) -> None:
    path = folder / "policy.toml"
    path.write_text(path.read_text().replace(old, new))


CASES: dict[str, tuple[Callable[[Path], object], tuple[str, ...], int, str]] = {
    "missing file": (lambda f: None, ("audit", "gone.csv", *SHORT), 2, "there is no file 'gone.csv'"),
    "missing column": (
        lambda f: None,
        ("audit", "people.csv", "--quasi", "agee"),
        2,
        "there is no column 'agee'. Did you mean 'age'?",
    ),
    "missing column of a policy": (
        lambda f: _policy(f, "columns.disease", "columns.diseases"),
        ANONYMIZE,
        2,
        "there is no column 'diseases'. Did you mean 'disease'?",
    ),
    "empty table": (lambda f: _csv(f, "name,age,zip,disease\n"), ANONYMIZE, 2, "no records"),
    "empty file": (lambda f: _csv(f, ""), ANONYMIZE, 2, "empty"),
    "duplicate column": (
        lambda f: _csv(f, "name,age,age,disease\nSecret,4711,4711,flu\n"),
        ANONYMIZE,
        2,
        "'age'",
    ),
    "k larger than the table": (
        lambda f: None,
        ("anonymize", "people.csv", *SHORT, "-k", "61"),
        1,
        "61",
    ),
    "t above 1": (
        lambda f: None,
        ("anonymize", "people.csv", *SHORT, "-k", "2", "-t", "1.5"),
        2,
        "'t' of t-closeness must be a number between 0 and 1",
    ),
    "t below 0": (
        lambda f: None,
        ("anonymize", "people.csv", *SHORT, "-k", "2", "-t", "-0.1"),
        2,
        "'t' of t-closeness must be a number between 0 and 1",
    ),
    "unknown key in a policy": (
        lambda f: _policy(f, "kind =", "knid ="),
        ANONYMIZE,
        2,
        "line 8: unknown key 'knid' in column 'age'",
    ),
    "ragged rows": (
        lambda f: _csv(f, "name,age,zip,disease\nSecret,4711,A,flu\nSecret,4711,A\n"),
        ANONYMIZE,
        2,
        "line 3",
    ),
    "not UTF-8": (
        lambda f: _csv(f, "name,age,zip,disease\nSecret,4711,Köln,flu\n".encode("latin-1")),
        ANONYMIZE,
        2,
        "UTF-8",
    ),
    "missing policy file": (
        lambda f: None,
        ("anonymize", "people.csv", "--policy", "gone.toml"),
        2,
        "there is no policy file 'gone.toml'",
    ),
    "no policy": (lambda f: None, ("anonymize", "people.csv"), 2, "neither --policy nor --quasi"),
    "no promise": (lambda f: None, ("anonymize", "people.csv", *SHORT), 2, "the policy promises nothing"),
    "policy twice": (lambda f: None, (*ANONYMIZE, "-k", "5"), 2, "-k and --policy are both given"),
    "unknown algorithm": (
        lambda f: None,
        (*ANONYMIZE, "--algorithm", "k-membr"),
        2,
        "there is no algorithm 'k-membr'. Did you mean 'k-member'?",
    ),
    "unknown parameter": (
        lambda f: None,
        (*ANONYMIZE, "--algorithm", "mondrian", "--set", "relax=true"),
        2,
        "there is no parameter of mondrian 'relax'. Did you mean 'relaxed'?",
    ),
    "wrong parameter": (
        lambda f: None,
        (*ANONYMIZE, "--algorithm", "mondrian", "--set", "relaxed=maybe"),
        2,
        "'relaxed' of mondrian must be true or false",
    ),
    "parameter without value": (lambda f: None, (*ANONYMIZE, "--set", "relaxed"), 2, "is not NAME=VALUE"),
    "unknown option": (lambda f: None, (*ANONYMIZE, "--sed", "3"), 2, "No such option"),
    "not a number": (lambda f: None, (*ANONYMIZE, "--seed", "x"), 2, "'x' is not a valid integer"),
    "unknown command": (lambda f: None, ("anonymise",), 2, "No such command 'anonymise'"),
    "output is the input": (
        lambda f: None,
        (*ANONYMIZE, "--out", "./people.csv", "--force"),
        2,
        "the output 'people.csv' is also an input",
    ),
    "output is the policy": (
        lambda f: None,
        (*ANONYMIZE, "--out", "policy.toml", "--force"),
        2,
        "the output 'policy.toml' is also an input",
    ),
    "output exists": (
        lambda f: (f / "old.csv").write_text("x"),
        (*ANONYMIZE, "--out", "old.csv"),
        2,
        "the output 'old.csv' exists. Give another name, or --force.",
    ),
    "labels exist": (
        lambda f: (f / "labels.csv").write_text("x"),
        (*ANONYMIZE, "--labels", "labels.csv"),
        2,
        "the output 'labels.csv' exists",
    ),
    "labels are the output": (
        lambda f: None,
        (*ANONYMIZE, "--out", "a.csv", "--labels", "a.csv"),
        2,
        "name the same file",
    ),
    "labels to stdout": (lambda f: None, (*ANONYMIZE, "--labels", "-"), 2, "never written to standard"),
    "no such folder": (lambda f: None, (*ANONYMIZE, "--out", "gone/a.csv"), 2, "there is no folder 'gone'"),
    "folder as output": (
        lambda f: (f / "there").mkdir(),
        (*ANONYMIZE, "--out", "there", "--force"),
        2,
        "'there' is a folder",
    ),
    "missing key file": (lambda f: None, (*ANONYMIZE, "--key-file", "key"), 2, "the key file 'key' cannot"),
    "policy exists": (lambda f: None, ("init", "people.csv"), 2, "the output 'policy.toml' exists"),
    "ks that are no numbers": (
        lambda f: None,
        ("compare", "people.csv", "-p", "policy.toml", "--ks", "5,x"),
        2,
        "--ks must be whole numbers",
    ),
    "demo folder in use": (
        lambda f: None,
        ("demo", "--out", "."),
        2,
        "the folder '.' holds policy.toml, which no demo wrote",
    ),
    "demo folder is a file": (lambda f: None, ("demo", "--out", "people.csv"), 2, "'people.csv' is a file"),
    "policy that does not hold": (
        lambda f: None,
        ("anonymize", "people.csv", *SHORT, "-k", "2", "-l", "3"),
        1,
        "l-diversity",
    ),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_one_clear_line(case: str, folder: Path, run: Run) -> None:
    prepare, arguments, status, expected = CASES[case]
    prepare(folder)
    before = sorted(folder.rglob("*"))
    result = run(*arguments)
    assert result.exit_code == status
    assert result.stdout == ""
    assert result.stderr.count("\n") == 1
    assert expected in result.stderr
    assert "Secret" not in result.stderr
    assert "4711" not in result.stderr
    assert sorted(folder.rglob("*")) == before


@pytest.mark.parametrize("case", CASES)
def test_the_same_as_json(case: str, folder: Path, run: Run) -> None:
    prepare, arguments, status, _expected = CASES[case]
    prepare(folder)
    line = run(*arguments).stderr
    result = run(*arguments, "--json")
    error = json.loads(result.stdout)["error"]
    assert result.exit_code == error["exit_status"] == status
    assert result.stderr == ""
    assert set(error) == {"type", "code", "message", "hint", "exit_status"}
    assert f"{error['type']}[{error['code']}]" in line


def test_json_and_data_cannot_share_standard_output(run: Run) -> None:
    result = run(*ANONYMIZE, "--out", "-", "--json")
    assert result.exit_code == 2
    assert "both want standard output" in json.loads(result.stdout)["error"]["message"]


def test_an_unforeseen_error_does_not_quote_the_table(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import shoal.auditing

    def fail(*_given: object, **_named: object) -> None:
        raise ValueError("could not convert Secret")

    monkeypatch.setattr(shoal.auditing, "audit_table", fail)
    result = run("audit", "people.csv", *SHORT)
    assert result.exit_code == 2
    assert "unexpected ValueError at test_cli_errors.py:" in result.stderr
    assert result.stderr.count("\n") == 1
    assert "Secret" not in result.output
    monkeypatch.setenv("SHOAL_DEBUG", "1")
    assert isinstance(run("audit", "people.csv", *SHORT).exception, ValueError)


def test_an_interrupt_is_one_line(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    import shoal.auditing

    def interrupt(*_given: object, **_named: object) -> None:
        raise KeyboardInterrupt

    monkeypatch.setattr(shoal.auditing, "audit_table", interrupt)
    result = run("audit", "people.csv", *SHORT)
    assert result.exit_code == 2
    assert "interrupted" in result.stderr
