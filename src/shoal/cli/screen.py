"""What a command shows: tables and lines for people, or one JSON object for programs."""

from __future__ import annotations

import json
import math
import sys
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click

from ..evidence import strength
from ..progress import Progress

if TYPE_CHECKING:
    from rich.console import Console

    from ..evidence import Evidence, Promise

_WIDTH_WHEN_PIPED = 120


def print_json(plain: dict[str, Any]) -> None:
    """Print one JSON object; numbers that JSON lacks become null."""
    click.echo(json.dumps(_finite(plain), ensure_ascii=False, indent=2, default=str))


def _finite(value: Any) -> Any:
    if isinstance(value, float) and not math.isfinite(value):
        return None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    return value


@dataclass(slots=True)
class Screen:
    """Where a command's output goes.

    Attributes
    ----------
    as_json : bool
        One JSON object on stdout, and nothing else there.
    quiet : bool
        No progress, and no advice about what to do next.
    data_on_stdout : bool
        Whether stdout carries a table, so that everything for people goes to stderr.
    """

    as_json: bool = False
    quiet: bool = False
    data_on_stdout: bool = False
    _console: Console | None = field(default=None, repr=False)

    @property
    def console(self) -> Console:
        """The terminal; a fixed width when piped, so that output does not depend on who reads it."""
        if self._console is None:
            from .console import Terminal

            stream = sys.stderr if self.data_on_stdout else sys.stdout
            width = None if stream.isatty() else _WIDTH_WHEN_PIPED
            self._console = Terminal(file=stream, width=width, highlight=False, markup=False, emoji=False)
        return self._console

    def progress(self) -> Progress:
        """Return bars on stderr, or silence when nobody watches it."""
        if self.quiet or not sys.stderr.isatty():
            return Progress()
        from .bars import TerminalProgress

        return TerminalProgress()

    def line(self, text: str = "") -> None:
        """Show a line, unless the output is JSON."""
        if not self.as_json:
            self.console.print(text, soft_wrap=True)

    def advise(self, text: str) -> None:
        """Show a line about what to do next, unless quiet."""
        if not self.quiet:
            self.line(text)

    def warn(self, text: str) -> None:
        """Show a warning on stderr, even when quiet."""
        click.echo(f"warning: {text}", err=True)

    def table(self, headings: Sequence[str], rows: Iterable[Sequence[str]], *, wrap: bool = False) -> None:
        """Show a table, unless the output is JSON."""
        if self.as_json:
            return
        from rich.box import SIMPLE_HEAD
        from rich.table import Table

        table = Table(box=SIMPLE_HEAD, pad_edge=False)
        for heading in headings:
            table.add_column(heading, overflow="fold", no_wrap=not wrap)
        for row in rows:
            table.add_row(*row)
        self.console.print(table)

    def json(self, plain: dict[str, Any]) -> None:
        """Print the JSON object, if the output is JSON."""
        if self.as_json:
            print_json(plain)

    def verdict(self, evidence: Evidence) -> None:
        """Show every promise: what is required, what is achieved, whether it holds."""
        self.table(
            ["promise", "sensitive column", "required", "achieved", "established", "holds"],
            [_promise_row(promise) for promise in evidence.promises],
        )
        for problem in evidence.problems:
            self.line(f"problem: {problem}")
        if evidence.unnamed:
            names = ", ".join(map(repr, evidence.unnamed))
            self.line(f"note: the policy does not name {names}: published as they are, not protected")
        classes = "1 class" if evidence.classes == 1 else f"{evidence.classes:,} classes"
        counts = f"{evidence.records:,} records in {classes}"
        if evidence.suppressed is not None:
            counts += f", {evidence.suppressed:,} suppressed"
        self.line(counts)
        self.line("VERDICT: the policy holds" if evidence.holds else "VERDICT: the policy DOES NOT HOLD")


def _promise_row(promise: Promise) -> list[str]:
    sign = "at least" if promise.better == "higher" else "at most"
    shown = {
        key: value
        for key, value in promise.parameters.items()
        if not isinstance(value, float | int | list | tuple)
    }
    # A proof has sentences for parameters: they are for the manifest, and too long for a row.
    details = (
        ""
        if promise.how == "proof" or not shown
        else f" ({', '.join(str(value) for value in shown.values())})"
    )
    return [
        f"{promise.model}{details}",
        promise.column or "",
        f"{sign} {strength(promise.required)}",
        strength(promise.achieved),
        str(promise.how),
        "yes" if promise.holds else f"NO, {promise.failing:,} classes fail",
    ]
