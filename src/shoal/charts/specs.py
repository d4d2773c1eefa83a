"""The few kinds of chart shoal draws, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: the field it shows, its title, and how it is drawn.

    Attributes
    ----------
    field, title : str
    log : bool
        Whether the scale is logarithmic.
    discrete : bool
        Whether the values are names rather than numbers.
    error : str
        Field of the half width of the interval around every value; empty: no intervals are drawn.
    """

    field: str
    title: str
    log: bool = False
    discrete: bool = False
    error: str = ""

    def encode(self) -> Row:
        """Return the axis as a Vega-Lite channel."""
        channel: Row = {"field": self.field, "title": self.title}
        channel["type"] = "ordinal" if self.discrete else "quantitative"
        if self.discrete:
            channel["sort"] = None  # as the rows come: by name, (10, 2) would stand before (2, 2)
            channel["axis"] = {"labelAngle": 0}
        elif self.log:
            channel["scale"] = {"type": "log"}
        else:
            channel["axis"] = {"tickCount": 8}
        return channel


def lines(rows: Sequence[Row], x: Axis, y: Axis, series: str, *, title: str = "") -> Row:
    """Return a line chart with points, one line a series, with intervals where `y` has them."""
    look = {"field": series, "type": "nominal", "title": series, "legend": {"symbolType": "stroke"}}
    place = {"x": x.encode(), "y": y.encode(), "color": look}
    drawn: Row = {
        "mark": {"type": "line", "point": True, "tooltip": True},
        "encoding": {**place, "strokeDash": look},
    }
    if y.error:
        around = {"mark": "errorbar", "encoding": {**place, "yError": {"field": y.error}}}
        drawn = {"layer": [around, drawn]}
    return {**_frame(rows, title), **drawn}


def bars(rows: Sequence[Row], x: Axis, y: Axis, series: str, *, title: str = "") -> Row:
    """Return a bar chart, the series side by side."""
    encoding = {
        "x": {**x.encode(), "type": "ordinal"},
        "y": y.encode(),
        "color": {"field": series, "type": "nominal", "title": series},
        "xOffset": {"field": series},
    }
    return {**_frame(rows, title), "mark": {"type": "bar", "tooltip": True}, "encoding": encoding}


def _frame(rows: Sequence[Row], title: str) -> Row:
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": title,
        "width": "container",
        "height": 280,
        "data": {"values": list(rows)},
    }
