"""Real processes: what a shell sees."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

SHOAL = [sys.executable, "-c", "from shoal.cli import main; main()"]


def _shoal(*arguments: str, folder: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*SHOAL, *arguments], cwd=folder, capture_output=True, text=True, check=False)


def test_help_loads_no_engine(tmp_path: Path) -> None:
    heavy = "{'numba', 'pandas', 'polars', 'pyarrow', 'rich'}"
    code = f"import sys; from shoal.cli import main; assert not {heavy} & set(sys.modules), sys.modules"
    result = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, check=False)
    assert result.returncode == 0, result.stderr


def test_a_pipe_is_quiet_and_exits_with_the_verdict(folder: Path) -> None:
    arguments = ("verify", "people.csv", "--policy", "policy.toml", "--json")
    result = _shoal(*arguments, folder=folder)
    assert result.returncode == 1
    assert result.stderr == ""
    assert json.loads(result.stdout)["holds"] is False
    assert _shoal("verify", "gone.csv", "--policy", "policy.toml", folder=folder).returncode == 2


def test_a_reader_that_stops_early_is_no_error(folder: Path) -> None:
    audit = ["audit", "people.csv", "--policy", "policy.toml"]
    anonymize = ["anonymize", "wide.csv", "--quasi", "age", "-k", "2", "--quiet", "--out", "-"]
    text = "x" * 1000
    (folder / "wide.csv").write_text("age,text\n" + "".join(f"{i % 40},{text}\n" for i in range(400)))
    for arguments in (audit, anonymize):
        command = " ".join(f"'{part}'" for part in [*SHOAL, *arguments])
        script = f"{command} | head -n 1 > /dev/null; exit ${{PIPESTATUS[0]}}"
        result = subprocess.run(
            ["bash", "-c", script], cwd=folder, capture_output=True, text=True, check=False
        )
        assert (result.returncode, result.stderr) == (0, "")


def test_demo(tmp_path: Path) -> None:
    result = _shoal("demo", folder=tmp_path)
    assert result.returncode == 0, result.stderr
    assert "VERDICT: the policy holds" in result.stdout
    made = tmp_path / "shoal-demo"
    assert {path.name for path in made.iterdir()} == {
        "patients.csv",
        "policy.toml",
        "published.csv",
        "manifest.json",
    }
    again = _shoal("demo", "--json", folder=tmp_path)
    assert json.loads(again.stdout)["evidence"]["holds"] is True
    checked = _shoal("verify", "shoal-demo/published.csv", "-p", "shoal-demo/policy.toml", folder=tmp_path)
    assert checked.returncode == 0, checked.stdout
