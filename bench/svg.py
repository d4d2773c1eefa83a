"""A line chart as SVG, for the few figures of the documentation that a benchmark draws."""

from __future__ import annotations

import math
from html import escape

WIDTH, HEIGHT = 760, 420
LEFT, RIGHT, TOP, BOTTOM = 60, 210, 34, 44
COLOURS = ("#4c78a8", "#f58518", "#54a24b", "#e45756", "#72b7b2", "#b279a2", "#9d755d", "#bab0ac")
DASHES = ("", "6 3", "2 3")
FONT = 'font-family="system-ui, sans-serif" font-size="12" fill="#555"'


def line_chart(
    curves: dict[str, dict[float, float]],
    title: str,
    x_title: str,
    *,
    log_x: bool = False,
    log_y: bool = False,
) -> str:
    """Return curves, each a dictionary from x to y, as one SVG with a legend at the right."""
    xs = sorted({x for curve in curves.values() for x in curve})
    ys = [y for curve in curves.values() for y in curve.values()]
    bottom, top = _round_range(ys, log_y)
    across = _scale(xs[0], xs[-1], LEFT, WIDTH - RIGHT, log_x)
    up = _scale(bottom, top, HEIGHT - BOTTOM, TOP, log_y)
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" role="img">',
        f"<title>{escape(title)}</title>",
        f'<rect width="{WIDTH}" height="{HEIGHT}" fill="#fff"/>',
        f'<text x="{LEFT}" y="18" {FONT}>{escape(title)}</text>',
        f'<text x="{(LEFT + WIDTH - RIGHT) / 2:.0f}" y="{HEIGHT - 6}" {FONT}>{escape(x_title)}</text>',
    ]
    for y in _ticks(bottom, top, log_y):
        parts.append(f'<path d="M{LEFT} {up(y):.1f}H{WIDTH - RIGHT}" stroke="#ddd"/>')
        parts.append(f'<text x="{LEFT - 8}" y="{up(y) + 4:.1f}" text-anchor="end" {FONT}>{y:g}</text>')
    for x in xs:
        parts.append(
            f'<text x="{across(x):.1f}" y="{HEIGHT - BOTTOM + 18}" text-anchor="middle" {FONT}>{x:,g}</text>'
        )
    for i, (name, curve) in enumerate(curves.items()):
        look = f'stroke="{COLOURS[i % len(COLOURS)]}" stroke-dasharray="{DASHES[i % len(DASHES)]}"'
        points = " ".join(f"{across(x):.1f},{up(y):.1f}" for x, y in sorted(curve.items()))
        parts.append(f'<polyline points="{points}" fill="none" stroke-width="2" {look}/>')
        at = TOP + 8 + 20 * i
        parts.append(f'<path d="M{WIDTH - RIGHT + 14} {at}h26" stroke-width="2" {look}/>')
        parts.append(f'<text x="{WIDTH - RIGHT + 46}" y="{at + 4}" {FONT}>{escape(name)}</text>')
    return "\n".join([*parts, "</svg>", ""])


def _scale(low: float, high: float, start: float, end: float, log: bool):
    def place(value: float) -> float:
        if log:
            return start + (end - start) * math.log(value / low) / math.log(high / low)
        return start + (end - start) * (value - low) / ((high - low) or 1)

    return place


def _round_range(values: list[float], log: bool) -> tuple[float, float]:
    if log:
        return 10 ** math.floor(math.log10(min(values))), 10 ** math.ceil(math.log10(max(values)))
    return 0.0, math.ceil(max(values) * 5) / 5


def _ticks(low: float, high: float, log: bool) -> list[float]:
    if log:
        return [10.0**power for power in range(round(math.log10(low)), round(math.log10(high)) + 1)]
    return [round(low + (high - low) * i / 5, 10) for i in range(6)]
