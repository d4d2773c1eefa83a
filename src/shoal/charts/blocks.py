"""Blocks: what the sections of a longer page are built of, and the page that holds them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, ClassVar

from .page import rendered


@dataclass(frozen=True, slots=True)
class Text:
    """A paragraph."""

    kind: ClassVar[str] = "text"
    text: str
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """A table; on a narrow page every row becomes a card. Numbers come as texts.

    Attributes
    ----------
    header : tuple of str
    rows : tuple of tuples of str
    numbers : set of int
        Columns that stand to the right.
    summary : str
        Where given, the table is folded away behind it.
    good : tuple of (bool or None), optional
        One per row: whether it is good news, which its last cell is marked with.
    """

    kind: ClassVar[str] = "table"
    header: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    numbers: frozenset[int] = frozenset()
    summary: str = ""
    good: tuple[bool | None, ...] = ()


@dataclass(frozen=True, slots=True)
class Chart:
    """A chart with a title, what it shows in words, and the table behind it."""

    kind: ClassVar[str] = "chart"
    title: str
    spec: dict[str, Any]
    text: str = ""
    table: Table | None = None


@dataclass(frozen=True, slots=True)
class Grid:
    """Charts side by side where there is room."""

    kind: ClassVar[str] = "grid"
    charts: tuple[Chart, ...]


@dataclass(frozen=True, slots=True)
class Lines:
    """A list of sentences."""

    kind: ClassVar[str] = "lines"
    lines: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Code:
    """Something to copy."""

    kind: ClassVar[str] = "code"
    text: str


Block = Text | Table | Chart | Grid | Lines | Code


@dataclass(frozen=True, slots=True)
class Part:
    """One section: a heading, its place in the address line, and its blocks."""

    heading: str
    anchor: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True, slots=True)
class Tile:
    """One number of the summary, what it is, and a few words on it."""

    number: str
    label: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Summary:
    """The head of a page: its title, the verdict, and the few numbers that matter most."""

    title: str
    verdict: str
    good: bool
    text: str
    tiles: tuple[Tile, ...]
    foot: str = ""


def render_parts(summary: Summary, parts: Sequence[Part]) -> str:
    """Return the page as HTML; every text in it is escaped."""
    charts = {f"chart-{i}": chart.spec for i, chart in enumerate(_charts(parts))}
    numbers = {id(chart): f"chart-{i}" for i, chart in enumerate(_charts(parts))}
    return rendered("report.html", charts, summary=summary, parts=parts, numbers=numbers, id_of=id)


def _charts(parts: Sequence[Part]) -> Iterator[Chart]:
    for part in parts:
        for block in part.blocks:
            if isinstance(block, Chart):
                yield block
            elif isinstance(block, Grid):
                yield from block.charts
