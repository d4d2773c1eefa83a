"""Shared by all tests: the oracle package on the path, and the real data sets."""

from __future__ import annotations

import os
import shutil
import signal
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
sys.path.insert(0, str(TESTS))

from browser import EXECUTABLE, Browser  # noqa: E402  (found on the path that was just extended)
from postgres import PROGRAMS, Postgres  # noqa: E402

os.environ.setdefault("SHOAL_DATA", str(TESTS.parents[1] / "shared" / "data"))
DATA = Path(os.environ["SHOAL_DATA"])


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "real_data: reads the real data sets in the folder SHOAL_DATA")
    config.addinivalue_line("markers", "browser: opens pages in headless Chromium")
    config.addinivalue_line("markers", "postgres: starts a PostgreSQL server")
    config.addinivalue_line("markers", "spark: starts Spark on this machine")
    if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:  # as in what a script runs in the background
        signal.signal(signal.SIGINT, signal.default_int_handler)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what needs data, a browser or a server that is not here; the summary says so."""
    for marker, there, _ in needs():
        needing = [] if there else [item for item in items if item.get_closest_marker(marker)]
        if needing:
            config.hook.pytest_deselected(items=needing)
            items[:] = [item for item in items if item not in needing]


def needs() -> list[tuple[str, bool, str]]:
    """Return, by mark, whether what such tests need is here, and what to do when it is not."""
    return [
        ("real_data", DATA.is_dir(), "the tests that read real data sets; name their folder in SHOAL_DATA"),
        ("browser", EXECUTABLE is not None, "the tests that open pages in a browser; install chromium"),
        ("postgres", PROGRAMS is not None, "the tests that start a PostgreSQL server; install postgresql"),
        ("spark", shutil.which("java") is not None, "the tests that start Spark; install a Java runtime"),
    ]


@pytest.fixture(scope="session")
def browser() -> Iterator[Browser]:
    """Return one browser for all tests that ask for it."""
    with Browser() as opened:
        yield opened


@pytest.fixture(scope="session")
def postgres() -> Iterator[Postgres]:
    """Return one PostgreSQL server for all tests that ask for it."""
    with Postgres() as started:
        yield started


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for _, there, what in needs():
        if not there:
            terminalreporter.write_line(f"NOT RUN: {what} to run them", yellow=True)
