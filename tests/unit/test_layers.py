"""The layers of the architecture, read from the imports in the source itself."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "shoal"
MODULES = sorted(SOURCE.rglob("*.py"))
FRAME_LIBRARIES = {"pandas", "polars", "narwhals", "pyspark", "duckdb"}
OUTER = {"api", "examining", "stages", "cli", "ui", "report"}


def imports(path: Path) -> set[str]:
    """Return the absolute dotted names a module imports, wherever in the module it does so."""
    package = ["shoal", *path.relative_to(SOURCE).parent.parts]
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            base = package[: len(package) - node.level + 1] if node.level else []
            parts = [*base, *(node.module.split(".") if node.module else [])]
            found |= {".".join(parts)} if node.module else {".".join([*parts, a.name]) for a in node.names}
    return found


def layer(path: Path) -> str:
    """Return the part of the package a module belongs to."""
    return path.relative_to(SOURCE).parts[0].removesuffix(".py")


def ours(names: set[str]) -> set[str]:
    """Return the parts of the package that are among the imported names."""
    return {name.split(".")[1] for name in names if name.startswith("shoal.")}


@pytest.mark.parametrize("path", MODULES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_module_respects_the_layers(path: Path) -> None:
    names, where = imports(path), layer(path)
    used = ours(names)
    if where == "kernels":
        assert used <= {"kernels"}, "kernels import nothing of ours"
    if where in {"models", "algorithms", "metrics", "risk", "attacks"}:
        assert not used & OUTER, f"{where} never look outward"
    if where not in {"table", "io", "engines"}:
        assert not {name.split(".")[0] for name in names} & FRAME_LIBRARIES, "one door for frames"
    if where == "verification":
        assert not used & {"kernels", "models", "algorithms", "metrics", "encoding", "recode", "enforce"}
    if where in {"cli", "ui", "report"}:
        deeper = {"kernels", "encoding", "recode", "enforce", "verification", "models", "algorithms"}
        assert not used & deeper, "thin: they call api, registry, params, progress and release"


def test_the_reader_of_imports_resolves_relative_ones() -> None:
    found = imports(SOURCE / "models" / "base.py")
    assert "shoal.params" in found
    assert "shoal.models.statistics" in found
