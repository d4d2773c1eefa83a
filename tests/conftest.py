"""Shared by all tests: the oracle package on the path, and the real data sets."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))
os.environ.setdefault("SHOAL_DATA", str(TESTS.parents[1] / "shared" / "data"))
DATA = Path(os.environ["SHOAL_DATA"])
left_out: list[str] = []


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "real_data: reads the real data sets in the folder SHOAL_DATA")


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs the real data sets where there are none; the summary says so."""
    if DATA.is_dir():
        return
    needing = [item for item in items if item.get_closest_marker("real_data")]
    if needing:
        left_out.extend(item.nodeid for item in needing)
        config.hook.pytest_deselected(items=needing)
        items[:] = [item for item in items if item not in needing]


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    if not DATA.is_dir():
        terminalreporter.write_line(
            "NOT RUN: the tests that read real data sets; name their folder in SHOAL_DATA to run them",
            yellow=True,
        )
