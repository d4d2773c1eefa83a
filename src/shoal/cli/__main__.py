"""``python -m shoal.cli``: the command line without its script."""

from __future__ import annotations

from . import main

main()
