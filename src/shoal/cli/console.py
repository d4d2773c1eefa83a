"""The terminal, as rich draws on it."""

from __future__ import annotations

from typing import Never

from rich.console import Console


class Terminal(Console):
    """A console that leaves a closed pipe to the main group, instead of exiting with 1 as rich does."""

    def on_broken_pipe(self) -> Never:
        """Raise what the main group turns into a quiet end."""
        raise BrokenPipeError
