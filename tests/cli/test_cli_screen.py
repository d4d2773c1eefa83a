"""Bars come after a second, and only where somebody watches."""

from __future__ import annotations

import io
import json
import sys
import time

import pytest

from shoal.cli.bars import TerminalProgress
from shoal.cli.console import Terminal
from shoal.cli.screen import Screen, print_json
from shoal.progress import Progress


def _terminal() -> tuple[Terminal, io.StringIO]:
    stream = io.StringIO()
    return Terminal(file=stream, force_terminal=True, width=100), stream


def test_short_work_shows_nothing() -> None:
    console, stream = _terminal()
    with TerminalProgress(console).stage("short work", 3) as stage:
        stage.advance(3)
    assert "short work" not in stream.getvalue()


def test_long_work_shows_every_open_stage(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.cli.bars._PATIENCE", 0.05)
    console, stream = _terminal()
    progress = TerminalProgress(console)
    with progress.stage("outer", 4) as outer, progress.stage("inner [x]"):
        outer.advance()
        time.sleep(0.4)
    with progress.stage("afterwards", 1):
        time.sleep(0.3)
    shown = stream.getvalue()
    assert all(word in shown for word in ("outer", "inner [x]", "25%", "left", "afterwards"))


def test_a_failure_closes_its_bars(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("shoal.cli.bars._PATIENCE", 0.0)
    console, stream = _terminal()
    progress = TerminalProgress(console)
    with pytest.raises(ValueError, match="on purpose"), progress.stage("failing"):
        raise ValueError("on purpose")
    size = len(stream.getvalue())
    time.sleep(0.2)
    assert len(stream.getvalue()) == size


def test_pipes_and_quiet_are_silent(monkeypatch: pytest.MonkeyPatch) -> None:
    assert type(Screen().progress()) is Progress  # pytest's stderr is no terminal
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    assert type(Screen().progress()) is TerminalProgress
    assert type(Screen(quiet=True).progress()) is Progress


def test_json_has_no_infinities(capsys: pytest.CaptureFixture[str]) -> None:
    print_json({"achieved": float("inf"), "list": [float("nan"), (1, 2.5)]})
    assert json.loads(capsys.readouterr().out) == {"achieved": None, "list": [None, [1, 2.5]]}
