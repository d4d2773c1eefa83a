"""What the pages about the command line show works, block after block."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from shoal.cli import main
from shoal.policy_file import loads

DOCS = Path(__file__).parents[2] / "docs"
PAGES = sorted(str(page.relative_to(DOCS)) for page in DOCS.rglob("*.md") if "```bash" in page.read_text())
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder of one demo, which every page begins with."""
    folder = tmp_path_factory.mktemp("pages")
    subprocess.run([sys.executable, "-m", "shoal.cli", "demo", "--quiet"], cwd=folder, check=True)
    return folder / "shoal-demo"


@pytest.mark.parametrize("page", PAGES)
def test_blocks_run(page: str, demo: Path, tmp_path: Path) -> None:
    script = f'[ "$1" = demo ] && exec cp -r {demo} .\nexec {sys.executable} -m shoal.cli "$@"\n'
    (tmp_path / "shoal").write_text(f"#!/bin/sh\n{script}")
    (tmp_path / "shoal").chmod(0o755)
    environment = {**os.environ, "PATH": f"{tmp_path}:{os.environ['PATH']}"}
    work = tmp_path / "work"
    work.mkdir()
    blocks = [
        (kind, text) for kind, text in BLOCK.findall((DOCS / page).read_text()) if kind in ("bash", "python")
    ]
    assert blocks
    for kind, text in blocks:
        command = ["bash", "-euc", text] if kind == "bash" else [sys.executable, "-c", text]
        result = subprocess.run(
            command, cwd=work, env=environment, capture_output=True, text=True, check=False
        )
        assert result.returncode == 0, f"{text}\n{result.stdout}\n{result.stderr}"


def test_the_policy_shown_is_one() -> None:
    blocks = [
        text for kind, text in BLOCK.findall((DOCS / "how-to/policy-file.md").read_text()) if kind == "toml"
    ]
    assert len(loads(blocks[0]).models) == 2


def test_every_command_has_its_row() -> None:
    text = (DOCS / "reference/cli.md").read_text()
    assert all(f"`shoal {name}" in text or f"`{name}`" in text for name in main.commands)
