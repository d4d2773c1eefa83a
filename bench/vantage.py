"""Which vantage point, how large a ball, and how does time grow? python bench/vantage.py

Three questions, each its own table:

- ``rules``: the loss (gcp) of every rule for the centre and the size of a ball, over that of Mondrian, on
  Adult (2,000 and 30,162 records; categories as sets and along hierarchies) and on numbers. The defaults of
  `rayden` and `canon` are the winners.
- ``outliers``: what setting outliers aside adds to that.
- ``growth``: time and time per n log2 n from 10,000 to a million records with outliers and recovery, on one
  core (CPU seconds, serial kernels) and with all threads (wall seconds).

``--figures FOLDER`` draws the first and the last as SVG.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from unittest import mock

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import shoal
from shoal import datasets
from shoal.algorithms import outliers, vantage
from shoal.algorithms.base import Algorithm
from shoal.algorithms.mondrian import Mondrian
from shoal.algorithms.rayden import Rayden
from shoal.algorithms.vantage import RADII, VANTAGES
from shoal.encoding import Encoded
from shoal.metrics.measure import measure
from shoal.progress import Run
from svg import line_chart
from tables import ADULT_COLUMNS, NUMBERS, adult, adult_like

Curves = dict[str, dict[float, float]]
KS = (5, 10, 20, 50)
HEIGHTS = ("workclass", "education", "marital-status", "occupation", "race", "sex", "native-country")


def sets(table: pa.Table) -> dict[str, str]:
    """Return the quasi-identifiers that carry no hierarchies."""
    return {name: "numeric" if name in NUMBERS else "categorical" for name in ADULT_COLUMNS}


def cases() -> Iterator[tuple[str, pa.Table, dict]]:
    """Return (name, table, quasi-identifiers) of everything the rules are compared on."""
    whole = adult()
    sample = whole.take(pa.array(np.sort(np.random.default_rng(0).permutation(whole.num_rows)[:2000])))
    trees = datasets.hierarchies("adult")
    along = {"age": "numeric", **{name: trees[name] for name in HEIGHTS}}
    for table in (sample, whole):
        yield f"Adult {table.num_rows:,}, sets", table, sets(table)
        yield f"Adult {table.num_rows:,}, hierarchies", table, along
    census = datasets.load("census-casc")
    yield f"Census {census.num_rows:,}, numbers", census, dict.fromkeys(census.column_names, "numeric")


def loss(algorithm: Algorithm, table: pa.Table, quasi: dict, k: int) -> float:
    """Return the gcp of the classes an algorithm makes."""
    policy = shoal.Policy(quasi=quasi, models=[shoal.KAnonymity(k)]).resolved(table)
    encoded = shoal.encode(table, policy)
    made = algorithm.partition(encoded, policy.compile(encoded), Run())
    return float(measure(encoded, made, policy, ["gcp"])["gcp"])


def compared(kinds: dict[str, Algorithm], title: str) -> tuple[Table, Curves]:
    """Return the loss of some algorithms over Mondrian's, by case and, in the mean over cases, by k."""
    found = list(cases())
    shown = Table("rule", *[name for name, _, _ in found], title=title)
    base = {(name, k): loss(Mondrian(), table, quasi, k) for name, table, quasi in found for k in KS}
    curves: Curves = {}
    for rule, algorithm in kinds.items():
        ratios = {
            (name, k): loss(algorithm, table, quasi, k) / base[name, k]
            for name, table, quasi in found
            for k in KS
        }
        by_case = [np.mean([ratios[name, k] for k in KS]) for name, _, _ in found]
        shown.add_row(rule, *[f"{ratio:.2f}" for ratio in by_case])
        curves[rule] = {k: float(np.mean([ratios[name, k] for name, _, _ in found])) for k in KS}
    return shown, curves


def rules() -> tuple[Table, Curves]:
    """Return every rule for the centre and the size of a ball beside each other."""
    kinds: dict[str, Algorithm] = {
        f"{centre}, {radius}": Rayden(vantage=centre, radius=radius, alpha=None)
        for radius in RADII
        for centre in VANTAGES
    }
    kinds["tightest, cheapest, 0/1 distance"] = Rayden(alpha=None, tree_distance=False)
    kinds["tightest of 64, cheapest"] = Rayden(alpha=None, candidates=64)
    return compared(kinds, "gcp over Mondrian's, mean over k = 5, 10, 20, 50; no outliers set aside")


def set_aside() -> Table:
    """Return what outliers change."""
    kinds: dict[str, Algorithm] = {
        "paper": Rayden(variant="paper"),
        "paper, none": Rayden(variant="paper", alpha=None),
    }
    kinds |= {f"repaired, alpha {alpha}": Rayden(alpha=alpha) for alpha in (1.0, 2.0, 3.0, 4.0)}
    kinds["repaired, none"] = Rayden(alpha=None)
    return compared(kinds, "gcp over Mondrian's with outliers in classes of their own")[0]


def timed(work: Callable[[], object], clock: Callable[[], float]) -> float:
    """Return what a clock says of one call."""
    began = clock()
    work()
    return clock() - began


def growth(rows: list[int], k: int) -> tuple[Table, Curves]:
    """Return how time grows with the records, outliers and their recovery included."""
    shown = Table("rows", "variant", "1 core, CPU s", "threads, s", "µs / n log2 n", title=f"growth, k = {k}")
    curves: Curves = {}
    for records in (2000, *rows):  # the first compiles
        table = adult_like(records) if records != 30_162 else adult()
        policy = shoal.Policy(quasi=sets(table), models=[shoal.KAnonymity(k)], suppression=0.01).resolved(
            table
        )
        encoded = shoal.encode(table, policy)
        for variant in ("paper", "repaired"):
            with (
                mock.patch.object(vantage, "_WORTH_THREADS", 1 << 62),
                mock.patch.object(outliers, "_WORTH_THREADS", 1 << 62),
            ):
                alone = timed(partition(variant, encoded, policy), time.process_time)
            partition(variant, encoded, policy)() if records == 2000 else None
            together = timed(partition(variant, encoded, policy), time.perf_counter)
            each = 1e6 * alone / (records * np.log2(records))
            if records != 2000:
                shown.add_row(f"{records:,}", variant, f"{alone:.2f}", f"{together:.2f}", f"{each:.2f}")
                curves.setdefault(variant, {})[records] = alone
    first, seconds = min(curves["repaired"].items())
    scale = seconds / (first * np.log2(first))
    curves["n log n"] = {n: float(scale * n * np.log2(n)) for n in curves["repaired"]}
    return shown, curves


def partition(variant: str, encoded: Encoded, policy: shoal.Policy) -> Callable[[], object]:
    """Return a run of RAYDEN that waits to be called."""
    compiled = policy.compile(encoded)
    run = Run(suppression=policy.suppression)
    return lambda: Rayden(variant=variant).partition(encoded, compiled, run)


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("questions", nargs="*", default=["rules", "outliers", "growth"])
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 30_162, 100_000, 300_000, 1_000_000])
    parser.add_argument("--k", type=int, default=10)
    parser.add_argument("--figures", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    console = Console(width=150)
    if "rules" in given.questions:
        table, curves = rules()
        console.print(table)
        if given.figures:
            shown = {name: curve for name, curve in curves.items() if name.endswith((", half", ", cheapest"))}
            text = line_chart(shown, "gcp over Mondrian's (1: as much)", "k", log_x=True)
            (given.figures / "vantage-rules.svg").write_text(text, encoding="utf-8")
    if "outliers" in given.questions:
        console.print(set_aside())
    if "growth" in given.questions:
        table, curves = growth(given.rows, given.k)
        console.print(table)
        if given.figures:
            text = line_chart(curves, "CPU seconds on one core", "records", log_x=True, log_y=True)
            (given.figures / "rayden-growth.svg").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
