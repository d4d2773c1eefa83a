"""The few kinds of chart shoal draws, as Vega-Lite specifications."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

Row = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Axis:
    """One axis: the field it shows, its title, and whether its scale is logarithmic."""

    field: str
    title: str
    log: bool = False
    discrete: bool = False

    def encode(self) -> Row:
        """Return the axis as a Vega-Lite channel."""
        channel: Row = {"field": self.field, "title": self.title}
        channel["type"] = "ordinal" if self.discrete else "quantitative"
        if self.log:
            channel["scale"] = {"type": "log"}
        return channel


def lines(rows: Sequence[Row], x: Axis, y: Axis, series: str, *, title: str = "") -> Row:
    """Return a line chart with points, one line a series."""
    return {
        "$schema": "https://vega.github.io/schema/vega-lite/v6.json",
        "title": title,
        "width": "container",
        "height": 280,
        "data": {"values": list(rows)},
        "mark": {"type": "line", "point": True, "tooltip": True},
        "encoding": {
            "x": x.encode(),
            "y": y.encode(),
            "color": {"field": series, "type": "nominal", "title": series},
            "strokeDash": {"field": series, "type": "nominal", "title": series},
        },
    }


def bars(rows: Sequence[Row], x: Axis, y: Axis, series: str, *, title: str = "") -> Row:
    """Return a bar chart, the series side by side."""
    chart = lines(rows, x, y, series, title=title)
    chart["mark"] = {"type": "bar", "tooltip": True}
    chart["encoding"]["x"]["type"] = "ordinal"
    chart["encoding"]["xOffset"] = {"field": series}
    del chart["encoding"]["strokeDash"]
    return chart
