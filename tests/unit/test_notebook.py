"""What a release, an audit and a comparison show in a notebook: tables, with every name escaped."""

from __future__ import annotations

import shoal

STRANGE = "<img src=x onerror=alert(1)>"


def table() -> dict[str, list[object]]:
    """Return a table with a column whose name is markup."""
    return {STRANGE: [20, 21, 60, 61], "ill": ["a", "b", "a", "b"]}


def test_a_release_shows_its_promises() -> None:
    html = shoal.anonymize(table(), quasi=[STRANGE], sensitive=["ill"], k=2, l=2)._repr_html_()
    assert "The policy holds" in html
    assert html.count("<tr>") == 3
    assert "l-diversity" in html


def test_an_audit_escapes_the_names_of_columns() -> None:
    html = shoal.audit(table(), quasi=[STRANGE], sensitive=["ill"])._repr_html_()
    assert "&lt;img src=x" in html
    assert STRANGE not in html
    assert "What classes give away" in html


def test_a_comparison_shows_every_candidate() -> None:
    html = shoal.compare(table(), quasi=[STRANGE], algorithms=["mondrian"], k=[2, 4])._repr_html_()
    assert html.count("<tr>") == 3
    assert "Least loss: mondrian, k=2" in html
