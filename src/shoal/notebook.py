"""Small tables for notebooks: what a result shows when it is the last line of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape


def html_table(title: str, header: Sequence[str], rows: Sequence[Sequence[str]], note: str = "") -> str:
    """Return a table as HTML; every text in it is escaped.

    Examples
    --------
    >>> html_table("People", ["name"], [["<b>"]])
    '<p><strong>People</strong></p><table><thead><tr><th>name</th></tr></thead><tbody><tr><td>&lt;b&gt;</td>...'
    """
    head = "".join(f"<th>{escape(name)}</th>" for name in header)
    body = "".join(
        "<tr>" + "".join(f"<td>{escape(str(cell))}</td>" for cell in row) + "</tr>" for row in rows
    )
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>" if rows else ""
    last = f"<p>{escape(note)}</p>" if note else ""
    return f"<p><strong>{escape(title)}</strong></p>{table}{last}"
