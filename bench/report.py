"""How long does a whole report take, and how much memory? python bench/report.py --rows 100000 1000000

One line for Adult and one for each Adult-like table: seconds for each part (risk, attacks, utility, the
page), and the greatest memory of the process so far. Releases are made by mondrian with k=5 first, apart.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table

import shoal
from shoal.release import Release
from shoal.report.build import Report
from tables import ADULT_COLUMNS, CATEGORIES, adult, adult_like

TARGET = "salary-class"


def release_of(table: pa.Table) -> Release:
    """Return a release of 8 quasi-identifiers and one sensitive column, k=5."""
    kinds = {name: "categorical" if name in CATEGORIES else "numeric" for name in ADULT_COLUMNS}
    return shoal.anonymize(table, quasi=kinds, sensitive=[TARGET], k=5, algorithm="mondrian")


def seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how long some work takes, and what comes of it."""
    begin = time.perf_counter()
    found = work()
    return time.perf_counter() - begin, found


def line(label: str, table: pa.Table) -> list[str]:
    """Return the cells of one line."""
    release = release_of(table)
    risk, _ = seconds(lambda: release.risk())
    attacks, _ = seconds(lambda: release.attack())
    utility, _ = seconds(lambda: release.utility(target=TARGET))
    whole, report = seconds(lambda: release.report(target=TARGET))
    assert isinstance(report, Report)
    page, html = seconds(report.html)
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
    times = [f"{value:.1f}" for value in (risk, attacks, utility, page, whole + page)]
    return [label, f"{release.evidence.classes:,}", *times, f"{memory:.2f}", f"{len(html) / 1e6:.2f}"]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000], help="sizes of Adult-like tables")
    options = parser.parse_args()
    release_of(adult().slice(0, 500)).report(target=TARGET)  # compiled before anything is measured
    shown = Table(
        "table", "classes", "risk s", "attacks s", "utility s", "page s", "whole s", "GiB", "MB of page"
    )
    shown.add_row(*line("adult", adult()))
    for rows in options.rows:
        shown.add_row(*line(f"{rows:,}", adult_like(rows)))
    Console(width=120).print(shown)


if __name__ == "__main__":
    main()
