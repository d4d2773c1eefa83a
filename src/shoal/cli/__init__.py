"""The command line: thin commands over the public calls, one file per command or family."""

from __future__ import annotations

from .app import main

__all__ = ["main"]
