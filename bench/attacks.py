"""How long do risk and all attacks take, and how much memory? python bench/attacks.py --rows 1000000

Adult with its eight quasi-identifiers, and Adult-like tables of any size with nine, a zip code among them, so
that nearly every record differs. Seconds are of the processor, after compilation; the ratio is to sorting the
records by the same columns in the same process. Memory is the peak of the process, the release included.
"""

from __future__ import annotations

import argparse
import resource
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import shoal
from tables import ADULT_COLUMNS, CATEGORIES, adult, adult_like

KINDS = {name: "categorical" if name in CATEGORIES else "numeric" for name in (*ADULT_COLUMNS, "zip")}
SECRET = "salary-class"


def release(table: pa.Table, algorithm: str, k: int) -> Any:
    """Return a release of Adult or an Adult-like table."""
    quasi = {name: kind for name, kind in KINDS.items() if name in table.column_names}
    return shoal.anonymize(table, quasi=quasi, sensitive=[SECRET], k=k, algorithm=algorithm)


def timed(work: Callable[[], Any]) -> tuple[Any, float]:
    """Return what the work returns, and the seconds of processor it took."""
    start = time.process_time()
    found = work()
    return found, time.process_time() - start


def sorting(table: pa.Table) -> float:
    """Return the seconds that sorting the records by all columns takes."""
    codes = [table[name].combine_chunks().dictionary_encode().indices.to_numpy() for name in KINDS
             if name in table.column_names]  # fmt: skip
    return timed(lambda: np.lexsort(codes))[1]


def measure(name: str, table: pa.Table, algorithm: str, k: int, shown: Table) -> None:
    """Add what risk and every attack take on one table."""
    made, seconds = timed(lambda: release(table, algorithm, k))
    unit, total, n = sorting(table), 0.0, table.num_rows

    def add(what: str, seconds: float, note: str) -> None:
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024**2
        row = [f"{seconds:.2f}", f"{seconds / unit:.1f}", f"{peak:.2f}"]
        shown.add_row(name, f"{n:,}", algorithm, what, *row, note)

    add("the release itself", seconds, "")
    found, seconds = timed(lambda: made.risk(fraction=0.1))
    total += seconds
    highest = found.after.prosecutor.highest
    add("risk before and after", seconds, f"highest {found.before.prosecutor.highest:.3g} to {highest:.3g}")
    # One call, as a user makes it: attacks share what they look up, so the first of them pays for the others.
    found, seconds = timed(lambda: made.attack(before=False))
    total += seconds
    asked = sorted({result.success.n for result in found.results})
    add("all attacks", seconds, f"{', '.join(f'{count:,}' for count in asked)} people or descriptions")
    found, seconds = timed(lambda: made.attack())
    add("all attacks, the original too", seconds, "")
    add("risk and all attacks", total, "")
    for result in found.results:
        before = "" if result.before is None else f", {result.before.value:.1%} on the original"
        rates = f"{result.success.value:.1%}, guessing {result.baseline.value:.1%}{before}"
        shown.add_row("", "", "", result.attack, "", "", "", rates)
    shown.add_section()


def main() -> None:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=0, help="of an Adult-like table; 0: Adult alone")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--algorithms", default="mondrian,k-member")
    options = parser.parse_args()
    small = adult().slice(0, 500)
    release(small, "mondrian", 5).attack()  # compiles
    shown = Table("table", "records", "algorithm", "what", "seconds", "x sorting", "GiB so far", "result")
    for algorithm in options.algorithms.split(","):
        measure("Adult", adult(), algorithm, options.k, shown)
        if options.rows:
            measure("Adult-like", adult_like(options.rows), algorithm, options.k, shown)
    Console(width=160).print(shown)


if __name__ == "__main__":
    main()
