"""Pieces of HTML for notebooks: they need no script and no style sheet, and take the notebook's own colours.

Notebooks strip scripts, some strip style sheets, and nobody knows the page is light or dark. So every piece
carries its style, text is in the colour of the page, and the few colours of its own are legible on both.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from html import escape

GOOD, BAD = "#2f9e63", "#d64545"
SERIES = ("#4c86c6", "#e0822b", "#3f9f62", "#c35bb0", "#d0524f", "#2f9fa8", "#9a7653", "#8a8a8a")
_LINE = "1px solid rgba(128,128,128,.35)"
_WIDE, _HIGH, _LEFT, _RIGHT, _UP, _DOWN = 640, 270, 56, 180, 26, 40


@dataclass(frozen=True, slots=True)
class Bar:
    """A cell that is drawn: a value from 0 to 1 of the whole, and the text that says it."""

    share: float
    text: str
    sure: float = 0.0  # the part, from 0 to `share`, that is drawn full


def card(title: str, *parts: str, good: bool | None = None) -> str:
    """Return a result: its title, with a mark where it is a verdict, and its parts below each other.

    Examples
    --------
    >>> card("The policy <holds>", good=True)
    '<div ...><p ...><span style="color:#2f9e63">&#10003;</span> <strong>The policy &lt;holds&gt;</strong>...'
    """
    mark = ""
    if good is not None:
        colour, sign = (GOOD, "&#10003;") if good else (BAD, "&#10007;")
        mark = f'<span style="color:{colour}">{sign}</span> '
    head = f'<p style="margin:.2em 0 .4em">{mark}<strong>{escape(title)}</strong></p>'
    return f'<div style="max-width:62em;overflow-x:auto">{head}{"".join(parts)}</div>'


def note(text: str) -> str:
    """Return a line of text, quieter than the rest."""
    return f'<p style="margin:.4em 0;opacity:.8">{escape(text)}</p>' if text else ""


def heading(text: str) -> str:
    """Return the heading of a part."""
    return f'<p style="margin:.9em 0 .2em;font-weight:600;opacity:.8">{escape(text)}</p>'


def table(header: Sequence[str], rows: Iterable[Sequence[str | Bar]], *, left: int = 1) -> str:
    """Return a table; the first `left` columns are names, the others numbers. Every text is escaped.

    Examples
    --------
    >>> "&lt;b&gt;" in table(["name", "n"], [["<b>", "3"]])
    True
    """
    lines = [list(row) for row in rows]
    if not lines:
        return ""
    drawn = {j for row in lines for j, cell in enumerate(row) if isinstance(cell, Bar)}
    looks = [_look(j < left or j in drawn) for j in range(len(header))]
    head = "".join(
        f'<th style="{look};border-bottom:{_LINE}">{escape(text)}</th>'
        for text, look in zip(header, looks, strict=True)
    )
    body = "".join(
        f"<tr>{''.join(_drawn(cell, look) for cell, look in zip(row, looks, strict=True))}</tr>"
        for row in lines
    )
    style = "border-collapse:collapse;margin:0;font-variant-numeric:tabular-nums"
    return f'<table style="{style}"><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>'


def _look(left: bool) -> str:
    return f"text-align:{'left' if left else 'right'};padding:.15em .9em .15em 0;white-space:nowrap"


def _drawn(cell: str | Bar, style: str) -> str:
    if isinstance(cell, str):
        return f'<td style="{style}">{escape(cell)}</td>'
    whole, sure = (f"{100 * min(max(value, 0.0), 1.0):.1f}%" for value in (cell.share, cell.sure))
    full, light = f"background:{SERIES[0]}", f"background:{SERIES[0]};opacity:.4"
    box = "position:absolute;left:0;top:0;height:100%"
    bar = (
        '<span style="display:inline-block;position:relative;width:10em;height:.8em;margin-right:.6em;'
        f'background:rgba(128,128,128,.15)"><span style="{box};width:{whole};{light}"></span>'
        f'<span style="{box};width:{sure};{full}"></span></span>'
    )
    return f'<td style="{style}">{bar}{escape(cell.text)}</td>'


def curves(series: Mapping[str, Mapping[float, float]], x_title: str, y_title: str, dashed: str = "") -> str:
    """Return lines, each a mapping from x to y, as a picture with a legend; the one named `dashed` is dashed.

    Examples
    --------
    >>> drawn = curves({"mondrian": {2: 0.1, 5: 0.2}}, "k", "loss")
    >>> drawn.count("<polyline"), "mondrian" in drawn
    (1, True)
    """
    xs = sorted({x for line in series.values() for x in line})
    most = _round_up(max((y for line in series.values() for y in line.values()), default=0.0))
    across = {x: _LEFT + (_WIDE - _LEFT - _RIGHT) * (x - xs[0]) / ((xs[-1] - xs[0]) or 1) for x in xs}
    parts = [_axes(across, most, x_title, y_title)]
    for i, (name, line) in enumerate(series.items()):
        colour, look = SERIES[i % len(SERIES)], 'stroke-width="2" fill="none"'
        if name == dashed:
            colour, look = "currentColor", 'stroke-width="1.5" stroke-dasharray="5 4" fill="none"'
        look = f'stroke="{colour}" {look}'
        points = [(across[x], _height(y, most)) for x, y in sorted(line.items())]
        path = " ".join(f"{x:.1f},{y:.1f}" for x, y in points)
        parts.append(f'<polyline points="{path}" {look}/>')
        parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.5" fill="{colour}"/>' for x, y in points]
        at = _UP + 8 + 18 * i
        parts.append(f'<path d="M{_WIDE - _RIGHT + 14} {at}h22" {look}/>')
        parts.append(f'<text x="{_WIDE - _RIGHT + 42}" y="{at + 4}">{escape(name)}</text>')
    frame = f'viewBox="0 0 {_WIDE} {_HIGH}" style="max-width:{_WIDE}px;width:100%" role="img"'
    return f'<svg {frame} font-size="11" fill="currentColor">{"".join(parts)}</svg>'


def _round_up(value: float) -> float:
    """Return the least of 1, 2, 4 and 8 times a power of ten that is at least a value: quarters are round."""
    if value <= 0:
        return 1.0
    power = 10.0 ** math.floor(math.log10(value))
    return next(step * power for step in (1, 2, 4, 8, 10) if step * power >= value * (1 - 1e-9))


def _height(y: float, most: float) -> float:
    return _HIGH - _DOWN - (_HIGH - _DOWN - _UP) * y / most


def _axes(across: Mapping[float, float], most: float, x_title: str, y_title: str) -> str:
    parts = []
    for step in range(5):
        y = most * step / 4
        at = _height(y, most)
        parts.append(
            f'<path d="M{_LEFT} {at:.1f}H{_WIDE - _RIGHT}" stroke="currentColor" stroke-opacity=".15"/>'
            f'<text x="{_LEFT - 6}" y="{at + 4:.1f}" text-anchor="end">{y:.2g}</text>'
        )
    taken = float("-inf")
    for x, at in across.items():
        if at - taken >= 24:  # labels closer than that would run into each other
            parts.append(f'<text x="{at:.1f}" y="{_HIGH - _DOWN + 15}" text-anchor="middle">{x:,g}</text>')
            taken = at
    parts.append(f'<text x="{(_LEFT + _WIDE - _RIGHT) / 2}" y="{_HIGH - 8}">{escape(x_title)}</text>')
    parts.append(f'<text x="0" y="{_UP - 12}">{escape(y_title)}</text>')
    return "".join(parts)
