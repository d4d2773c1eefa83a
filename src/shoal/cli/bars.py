"""Progress bars with time left, on stderr, for work of more than a second."""

from __future__ import annotations

import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import (
    BarColumn,
    SpinnerColumn,
    TaskID,
    TaskProgressColumn,
    TextColumn,
    TimeElapsedColumn,
    TimeRemainingColumn,
)
from rich.progress import Progress as Bars

from ..progress import Progress, Stage

_PATIENCE = 1.0  # seconds of silence first


class _BarStage:
    def __init__(self, bars: Bars, task: TaskID) -> None:
        self._bars = bars
        self._task = task

    def advance(self, steps: int = 1) -> None:
        self._bars.advance(self._task, steps)


class TerminalProgress(Progress):
    """Shows one bar per open stage; they vanish when the work is done."""

    def __init__(self, console: Console | None = None) -> None:
        self._bars = Bars(
            SpinnerColumn(),
            TextColumn("{task.description}", markup=False),
            BarColumn(),
            TaskProgressColumn(),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console or Console(stderr=True),
            transient=True,
        )
        self._began = time.monotonic()
        self._open = 0
        self._lock = threading.Lock()
        self._timer: threading.Timer | None = None

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Stage]:
        """Show a bar for the length of a ``with`` block, once a second has passed since the first stage."""
        task = self._bars.add_task(name, total=total)
        self._enter()
        try:
            yield _BarStage(self._bars, task)
        finally:
            self._bars.remove_task(task)
            self._leave()

    def _enter(self) -> None:
        with self._lock:
            self._open += 1
            if self._open > 1:
                return
            wait = max(0.0, _PATIENCE - (time.monotonic() - self._began))
            self._timer = threading.Timer(wait, self._show)
            self._timer.daemon = True
            self._timer.start()

    def _show(self) -> None:
        with self._lock:
            if self._open:
                self._bars.start()

    def _leave(self) -> None:
        with self._lock:
            self._open -= 1
            if self._open == 0:
                if self._timer is not None:
                    self._timer.cancel()
                self._bars.stop()
