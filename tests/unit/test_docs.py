"""Every Python block of the README and the documentation runs, page by page, top to bottom.

Pages with shell blocks too are run whole, in their order, by ``tests/cli/test_cli_docs.py``.
"""

from __future__ import annotations

import contextlib
import io
import re
import sys
import types
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]
IN_PROCESS = [page for page in PAGES if page.name == "README.md" or "```bash" not in page.read_text()]
BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


@pytest.mark.parametrize("page", IN_PROCESS, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_python_blocks_run(page: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    module = types.ModuleType("page")  # dataclasses look up the module they are made in
    monkeypatch.setitem(sys.modules, "page", module)
    namespace = module.__dict__
    with contextlib.redirect_stdout(io.StringIO()):
        for block in BLOCK.findall(page.read_text(encoding="utf-8")):
            exec(compile(block, str(page), "exec"), namespace)


@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_the_links_lead_somewhere(page: Path) -> None:
    broken = [link for link in LINK.findall(page.read_text()) if not (page.parent / link).exists()]
    assert not broken
