"""The pictures of a report, as Vega-Lite specifications: sized to the page, drawn in its colours."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

Row = dict[str, Any]
_SCHEMA = "https://vega.github.io/schema/vega-lite/v6.json"
_COLOURS = {"domain": ["before", "after"], "range": ["var(--before)", "var(--after)"]}
_SHADES = ["#eef4f5", "#0b6a74"]
_SERIES = ("var(--after)", "var(--third)", "var(--fourth)", "var(--fifth)", "var(--sixth)", "var(--before)")


def _framed(rows: Sequence[Row], height: int, **rest: Any) -> Row:
    return {
        "$schema": _SCHEMA,
        "width": "container",
        "height": height,
        "autosize": {"type": "fit", "contains": "padding"},
        "data": {"values": list(rows)},
        **rest,
    }


def _names(field: str, title: str | None = None, **axis: Any) -> Row:
    """Return the channel of names, in the order of the rows."""
    return {"field": field, "type": "nominal", "sort": None, "title": title, "axis": axis}


def _shares(field: str, title: str) -> Row:
    return {
        "field": field,
        "type": "quantitative",
        "title": title,
        "axis": {"format": "~%", "tickCount": 4, "grid": True},
        "scale": {"domainMin": 0},
    }


def ranked(rows: Sequence[Row], name: str, value: str, title: str, *, most: float | None = None) -> Row:
    """Return horizontal bars, one a row, with their numbers beside them."""
    scale: Row = {"domainMin": 0} if most is None else {"domain": [0, most]}
    place = {
        "y": _names(name, labelLimit=150),
        "x": {
            "field": value,
            "type": "quantitative",
            "title": title,
            "scale": scale,
            "axis": {"tickCount": 5, "format": "~%"},
        },
    }
    bar = {"mark": {"type": "bar", "height": {"band": 0.62}, "color": "var(--after)"}, "encoding": place}
    text = {
        "mark": {"type": "text", "align": "left", "dx": 5, "fontSize": 11, "color": "var(--ink)"},
        "encoding": {**place, "text": {"field": value, "type": "quantitative", "format": ".1%"}},
    }
    return _framed(rows, 26 * len(rows) + 46, layer=[bar, text])


def counts(rows: Sequence[Row], name: str, value: str, titles: tuple[str, str]) -> Row:
    """Return vertical bars, one a row, in the order of the rows."""
    return _framed(
        rows,
        230,
        mark={"type": "bar", "color": "var(--after)", "width": {"band": 0.8}, "tooltip": True},
        encoding={
            "x": _names(name, titles[0], labelAngle=0, labelOverlap=True),
            "y": {"field": value, "type": "quantitative", "title": titles[1], "axis": {"tickCount": 5}},
        },
    )


def pairs(rows: Sequence[Row], name: str, *, upright: bool, angle: int = -40) -> Row:
    """Return bars before and after, side by side: columns over names at an angle, or rows beside names."""
    number = _shares("share", "share of the records")
    label = _names(name, labelAngle=angle, labelOverlap=True) if upright else _names(name, labelLimit=150)
    offset = {"field": "when", "type": "nominal", "sort": None}
    across, along = ("x", "y") if upright else ("y", "x")
    return _framed(
        rows,
        240 if upright else 24 * len({row[name] for row in rows}) + 76,
        mark={"type": "bar", "tooltip": True},
        encoding={
            across: label,
            f"{across}Offset": offset,
            along: number,
            "color": {
                "field": "when",
                "type": "nominal",
                "scale": _COLOURS,
                "legend": {"title": None, "orient": "top", "direction": "horizontal", "columns": 2},
            },
        },
    )


def heat(rows: Sequence[Row], names: Sequence[str]) -> Row:
    """Return a triangle of squares, one for every pair of columns, darker the more they are associated."""
    size = min(34, 330 // max(len(names), 1)) * len(names) + 90
    square = {
        "x": _names("a", labelAngle=-45, labelLimit=90),
        "y": _names("b", labelLimit=110),
    }
    fill = {
        "field": "v",
        "type": "quantitative",
        "scale": {"domain": [0, 1], "range": _SHADES},
        "legend": None,
    }
    layers: list[Row] = [
        {
            "mark": {"type": "rect", "tooltip": True, "stroke": "var(--paper)"},
            "encoding": {**square, "color": fill},
        }
    ]
    if len(names) <= 12:
        dark = {"condition": {"test": "datum.v > 0.5", "value": "#ffffff"}, "value": "#1d2a30"}
        number = {"field": "v", "type": "quantitative", "format": ".2f"}
        layers.append(
            {"mark": {"type": "text", "fontSize": 9}, "encoding": {**square, "text": number, "color": dark}}
        )
    return _framed(rows, size, layer=layers)


def descent(rows: Sequence[Row], x: str, y: str) -> Row:
    """Return a line that falls step by step."""
    return _framed(
        rows,
        200,
        mark={"type": "line", "color": "var(--after)", "interpolate": "step-after", "tooltip": True},
        encoding={
            "x": {"field": x, "type": "quantitative", "title": x, "axis": {"tickCount": 6}},
            "y": {**_shares(y, y), "scale": {"zero": False}},
        },
    )


def frontier(rows: Sequence[Row], series: Sequence[str]) -> Row:
    """Return risk against loss: a line of candidates for each series, the release itself as a star."""
    colour = {
        "field": "algorithm",
        "type": "nominal",
        "scale": {"domain": list(series), "range": [_SERIES[i % len(_SERIES)] for i in range(len(series))]},
        "legend": {"title": None, "orient": "top", "symbolType": "circle"},
    }
    place = {
        "x": {**_shares("risk", "mean risk of a record"), "scale": {"zero": True}},
        "y": {
            **_shares("loss", "loss (gcp)"),
            "scale": {"zero": True},
        },
    }
    line = {
        "mark": {"type": "line", "point": {"size": 50}, "tooltip": True},
        "transform": [{"filter": "!datum.own"}],
        "encoding": {**place, "color": colour, "order": {"field": "risk", "type": "quantitative"}},
    }
    own = {
        "mark": {"type": "point", "shape": "diamond", "size": 190, "filled": True, "color": "var(--ink)"},
        "transform": [{"filter": "datum.own"}],
        "encoding": place,
    }
    return _framed(rows, 300, layer=[line, own])


def intervals(rows: Sequence[Row]) -> Row:
    """Return attacks as points with their intervals, beside what guessing reaches."""
    place = {"y": _names("attack", labelLimit=190), "x": _shares("value", "share of the people attacked")}
    offset = {"yOffset": {"field": "what", "type": "nominal", "sort": None}}
    domain = [name for name in ("original", "guessing", "release") if any(r["what"] == name for r in rows)]
    colours = {"original": "var(--before)", "guessing": "var(--third)", "release": "var(--after)"}
    colour = {
        "field": "what",
        "type": "nominal",
        "scale": {"domain": domain, "range": [colours[name] for name in domain]},
        "legend": {"title": None, "orient": "top", "direction": "horizontal"},
    }
    rule = {
        "mark": {"type": "rule", "strokeWidth": 2},
        "encoding": {
            **place,
            **offset,
            "x": {**place["x"], "field": "low"},
            "x2": {"field": "high"},
            "color": colour,
        },
    }
    point = {
        "mark": {"type": "point", "filled": True, "size": 55, "tooltip": True},
        "encoding": {**place, **offset, "color": colour},
    }
    return _framed(rows, 40 * len({row["attack"] for row in rows}) + 80, layer=[rule, point])
