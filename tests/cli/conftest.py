"""A folder with a small table and its policy, and a way to run commands in it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from click.testing import CliRunner, Result

from shoal.cli import main

Run = Callable[..., Result]

POLICY = """\
suppression = 0.1

[columns.name]
role = "identifier"

[columns.age]
role = "quasi"
kind = "numeric"

[columns.zip]
role = "quasi"
kind = "categorical"

[columns.disease]
role = "sensitive"
kind = "categorical"

[[models]]
name = "k-anonymity"
k = 3
"""


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty-handed working folder with people.csv and policy.toml."""
    rows = [f"Person{i},{20 + i * 7 % 40},{'ABC'[i % 3]}x,{('flu', 'cold')[i % 2]}" for i in range(60)]
    (tmp_path / "people.csv").write_text("name,age,zip,disease\n" + "\n".join(rows) + "\n")
    (tmp_path / "policy.toml").write_text(POLICY)
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(folder: Path) -> Run:
    """Return a function that runs ``shoal ...`` in the folder."""

    def invoke(*arguments: str, input: str | bytes | None = None) -> Result:
        return CliRunner().invoke(main, list(arguments), input=input)

    return invoke
