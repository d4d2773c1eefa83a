"""The reference says what the code says: every table is as generated, every name has its place."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

from shoal import registry
from shoal.demo import demo_policy, patients

DOCS = Path(__file__).parents[2] / "docs"
PAGES = [path for path in sorted(DOCS.rglob("*.md")) if "<!-- table:" in path.read_text(encoding="utf-8")]

_found = importlib.util.spec_from_file_location("reference_tables", DOCS / "tables.py")
assert _found is not None
assert _found.loader is not None
tables = importlib.util.module_from_spec(_found)
_found.loader.exec_module(tables)


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_tables_are_as_generated(path: Path) -> None:
    text = path.read_text(encoding="utf-8")
    assert tables.page(text) == text, "run: make reference"


def test_a_table_that_is_out_of_date_is_made_again(tmp_path: Path) -> None:
    stale = tmp_path / "page.md"
    stale.write_text("a\n<!-- table: parameters models k-anonymity -->\nold\n<!-- end of table -->\nb\n")
    assert tables.rewrite([stale]) == [stale]
    assert "| `k` | a whole number of at least 1 | required |" in stale.read_text()
    assert "old" not in stale.read_text()
    assert tables.rewrite([stale]) == []


@pytest.mark.parametrize(
    ("group", "page"),
    [("algorithms", "algorithms"), ("models", "models"), ("metrics", "metrics"), ("attacks", "risk")],
)
def test_every_name_and_parameter_has_its_place(group: str, page: str) -> None:
    text = (DOCS / "reference" / f"{page}.md").read_text(encoding="utf-8")
    for name in registry.names(group):
        kind = registry.get(group, name)
        assert f"`{name}`" in text or f"## {name}\n" in text, name
        for parameter in kind.parameters():
            assert f"| `{parameter.name}` | {tables._cell(parameter.constraint.words())} |" in text, name


def test_every_number_of_utility_is_explained() -> None:
    text = (DOCS / "reference" / "metrics.md").read_text(encoding="utf-8")
    import shoal

    found = shoal.anonymize(patients(200), demo_policy(), algorithm="mondrian").utility(queries=10).to_dict()
    parts = [found["distributions"][0], found["association"], found["queries"]]
    names = {"loss", *(name for part in parts for name in part)} - {"column", "columns", "bars", "seed"}
    assert [name for name in sorted(names) if f"`{name}`" not in text] == []
