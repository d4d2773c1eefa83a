"""How fast and how good is dop? python bench/dop.py --rows 1000000 --k 5

Seconds are of the partition alone, after compilation, on the wall and of the processor; the ratio is to
numpy.lexsort over the same columns in the same process, so it means the same on any machine. The tables are
Bank Marketing with the five quasi-identifiers of the paper (45,211 records, distinct l = 2 on the sensitive
column) and Adult-like tables of any size with eight; with a zip code among them, nearly all rows differ.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
from rich.console import Console
from rich.table import Table

import shoal
from shoal import datasets
from shoal.encoding import Encoded
from shoal.metrics.measure import measure
from shoal.partitions import Partition
from shoal.progress import Run
from shoal.registry import get
from tables import ADULT_COLUMNS, CATEGORIES, adult_like

BANK = {
    "age": "numeric",
    "job": "categorical",
    "marital": "categorical",
    "education": "categorical",
    "balance": "numeric",
}
ADULT = {name: "categorical" if name in CATEGORIES else "numeric" for name in ADULT_COLUMNS}
ZIP = {name: ADULT[name] for name in ADULT if name not in ("race", "native-country")}
ZIP |= {"hours-per-week": "numeric", "zip": "numeric"}
RUNS: dict[str, tuple[str, dict[str, Any]]] = {
    "mondrian": ("mondrian", {}),
    "dop": ("dop", {}),
    "dop, one core": ("dop", {"parallel": False}),
    "dop, one reach": ("dop", {"search": False}),
    "dop, no clustering": ("dop", {"clustering": False}),
    "dop, paper": ("dop", {"variant": "paper"}),
}


def bank(k: int) -> tuple[Encoded, shoal.Policy]:
    """Return Bank Marketing and its policy."""
    models = [shoal.KAnonymity(k), shoal.LDiversity(2)]
    policy = shoal.Policy(quasi=BANK, sensitive=["y"], models=models, suppression=1.0)
    return shoal.encode(datasets.load("bank-full"), policy), policy


def adults(rows: int, k: int, columns: dict[str, str]) -> tuple[Encoded, shoal.Policy]:
    """Return an Adult-like table and its policy."""
    policy = shoal.Policy(quasi=columns, models=[shoal.KAnonymity(k)], suppression=1.0)
    return shoal.encode(adult_like(rows), policy), policy


def timed(work: Callable[[], Any]) -> tuple[float, float, Any]:
    """Return the seconds on the wall and of the processor of one call, and what it returned."""
    wall, spent = time.perf_counter(), time.process_time()
    found = work()
    return time.perf_counter() - wall, time.process_time() - spent, found


def line(name: str, encoded: Encoded, policy: shoal.Policy, sort: float) -> list[str]:
    """Return the cells of one line: seconds, processor seconds, ratio, classes, loss."""
    kind, parameters = RUNS[name]
    algorithm, rules = get("algorithms", kind)(**parameters), policy.compile(encoded)
    run = Run(suppression=policy.suppression)
    wall, spent, made = timed(lambda: algorithm.partition(encoded, rules, run))
    assert isinstance(made, Partition)
    loss = measure(encoded, made, policy, ["gcp"])["gcp"]
    return [f"{wall:.2f}", f"{spent:.2f}", f"{wall / sort:.0f}", f"{made.classes:,}", f"{loss:.5f}"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000], help="sizes of Adult-like tables")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--runs", nargs="+", choices=list(RUNS), default=list(RUNS))
    given = parser.parse_args()
    for warm in (bank(50), adults(20_000, 50, ADULT)):
        for name in given.runs:
            line(name, *warm, 1.0)
    columns = ("table", "algorithm", "seconds", "CPU s", "x lexsort", "classes", "gcp")
    shown = Table(*columns, title=f"k = {given.k}")
    tables = {"Bank Marketing, l = 2": lambda: bank(given.k)}
    for rows in given.rows:
        tables[f"{rows:,} x 8"] = lambda rows=rows: adults(rows, given.k, ADULT)
        tables[f"{rows:,} x 8, zip"] = lambda rows=rows: adults(rows, given.k, ZIP)
    for title, make in tables.items():
        encoded, policy = make()
        sort, _, _ = timed(lambda codes=encoded.codes: np.lexsort(codes.T))
        for name in given.runs:
            shown.add_row(title, name, *line(name, encoded, policy, sort))
    Console(width=110).print(shown)


if __name__ == "__main__":
    main()
