"""Reading published cells back: what a text cell says about the value behind it.

The grammar is the published one (docs/explanation/verification.md); the code that writes cells is not used.
"""

from __future__ import annotations

import json
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Cell:
    """What a cell says: anything at all, an interval, or one of several values.

    Attributes
    ----------
    texts : tuple of str
        The two ends of an interval, or the possible values.
    interval : bool
    anything : bool
        Whether the cell is ``*``.
    """

    texts: tuple[str, ...] = ()
    interval: bool = False
    anything: bool = False


def read_cell(text: str) -> Cell:
    """Return what a published text cell says; a cell that only resembles one of ours stands for itself.

    Examples
    --------
    >>> read_cell("[20, 29]")
    Cell(texts=('20', '29'), interval=True, anything=False)
    >>> read_cell('{a, "b, c"}').texts
    ('a', 'b, c')
    >>> read_cell('"*"').texts
    ('*',)
    """
    if text == "*":
        return Cell(anything=True)
    try:
        if text.startswith('"'):
            return Cell((_unquoted(text),))
        if text.startswith("{") and text.endswith("}"):
            return Cell(tuple(_items(text[1:-1])))
        if text.startswith("[") and text.endswith("]"):
            ends = tuple(_items(text[1:-1]))
            if len(ends) == 2:
                return Cell(ends, interval=True)
    except ValueError:
        pass
    return Cell((text,))


def _unquoted(text: str) -> str:
    value = json.loads(text)
    if not isinstance(value, str):
        raise ValueError("not a text")
    return value


def _items(text: str) -> list[str]:
    """Return the items of a list with commas between; an item may be a JSON text with commas inside."""
    items = []
    at = 0
    while True:
        if text.startswith('"', at):
            item, at = json.JSONDecoder().raw_decode(text, at)
        else:
            end = text.find(", ", at)
            end = len(text) if end < 0 else end
            item, at = text[at:end], end
        items.append(item)
        if at == len(text):
            return items
        if not text.startswith(", ", at):
            raise ValueError("no comma between two items")
        at += 2
