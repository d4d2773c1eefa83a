"""How fast and how good is microaggregation? python bench/microaggregation.py --rows 100000 --columns 6 --k 5

Seconds are CPU seconds of one run after compilation, for the partition alone; the ratio is to numpy.lexsort
over the same columns in the same process, so it means the same on any machine. Loss is 100 SSE / SST.

Three tables: the algorithms beside each other on invented measurements of any size, and MDAV on six columns
of Adult (30,162 complete records) and of 100,000 Adult-like records beside sdcMicro's, where the data set is
at hand. sdcMicro's losses are of columns scaled to [0, 1]; its seconds were measured once, on another day, so
only their order means something.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import pyarrow as pa
from rich.console import Console
from rich.table import Table

import shoal
from shoal.algorithms.base import Algorithm
from shoal.encoding import Encoded
from shoal.metrics.measure import measure
from shoal.metrics.squares import SquaredErrorShare
from shoal.progress import Run
from shoal.registry import get
from tables import adult, adult_like

NAMES = ("mdav", "v-mdav", "top-down", "bottom-up", "optimal-1d")
QUADRATIC = {"mdav", "v-mdav"}  # left out above --most rows
ADULT = ("age", "education-num", "hours-per-week", "capital-gain", "capital-loss", "fnlwgt")
SDC_MICRO = {  # records: k: CPU s, loss
    30_162: {3: (3.1, 1.0020), 5: (1.9, 1.7732), 10: (0.94, 3.1091), 20: (0.49, 4.9724)},
    100_000: {3: (51, 0.3167), 5: (32, 0.6370), 10: (16, 1.3691), 20: (8, 2.4439)},
}


def measurements(rows: int, columns: int) -> pa.Table:
    """Return correlated, skewed and normal columns with one decimal, the same on every machine."""
    rng = np.random.default_rng(11)
    common = rng.normal(size=rows)
    made = {}
    for j in range(columns):
        own = rng.gamma(2.0, 10.0, rows) if j % 2 else rng.normal(50.0, 10.0, rows)
        made[f"c{j}"] = (own + 5 * common).round(1)
    return pa.table(made)


def cpu_seconds(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return the CPU time of one call, and what it returned."""
    begin = time.process_time()
    found = work()
    return time.process_time() - begin, found


def run(name: str, encoded: Encoded, policy: shoal.Policy, small: Encoded) -> tuple[float, float, int, int]:
    """Return (CPU seconds, loss, smallest class, largest class) of one algorithm."""
    algorithm: Algorithm = get("algorithms", name)()
    rules = policy.compile(encoded)
    algorithm.partition(small, policy.compile(small), Run())  # compiled before it is timed
    seconds, made = cpu_seconds(lambda: algorithm.partition(encoded, rules, Run()))
    loss = measure(encoded, made, policy, ["il-sse"])["il-sse"]
    assert isinstance(loss, float)
    return seconds, loss, int(made.sizes.min()), int(made.sizes.max())


def beside_sdc_micro(whole: pa.Table) -> Table:
    """Return MDAV's time and loss on columns of Adult beside what sdcMicro took and reached."""
    title = (
        f"mdav, {'Adult' if whole.num_rows < 100_000 else 'Adult-like'}, {whole.num_rows:,} x {len(ADULT)}"
    )
    shown = Table("k", "CPU s", "sdcMicro", "times faster", "loss %", "sdcMicro", title=title)
    for k, (their_seconds, their_loss) in SDC_MICRO[whole.num_rows].items():
        policy = shoal.Policy(quasi=dict.fromkeys(ADULT, "numeric"), models=[shoal.KAnonymity(k)])
        encoded = shoal.encode(whole, policy)
        rules = policy.compile(encoded)
        get("algorithms", "mdav")().partition(encoded, rules, Run())
        seconds, made = cpu_seconds(
            lambda encoded=encoded, rules=rules: get("algorithms", "mdav")().partition(encoded, rules, Run())
        )
        loss = measure(encoded, made, policy, [SquaredErrorShare(scale="min-max")])["il-sse"]
        ratio = f"{their_seconds / seconds:.0f}"
        shown.add_row(str(k), f"{seconds:.2f}", f"{their_seconds}", ratio, f"{loss:.4f}", f"{their_loss:.4f}")
    return shown


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[10_000, 30_162, 100_000])
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--algorithms", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--most", type=int, default=300_000, help="rows above which MDAV is left out")
    given = parser.parse_args()
    table = Table("rows", "algorithm", "CPU s", "x lexsort", "loss %", "class sizes", title=f"k = {given.k}")
    small_table = measurements(20_000, given.columns)
    policy = shoal.Policy(
        quasi=dict.fromkeys(small_table.column_names, "numeric"), models=[shoal.KAnonymity(given.k)]
    )
    small = shoal.encode(small_table, policy)
    for rows in given.rows:
        encoded = shoal.encode(measurements(rows, given.columns), policy)
        sorting, _ = cpu_seconds(lambda codes=encoded.codes: np.lexsort(codes.T))
        for name in given.algorithms:
            if rows > given.most and name in QUADRATIC:
                continue
            seconds, loss, least, most = run(name, encoded, policy, small)
            cells = [f"{rows:,}", name, f"{seconds:.2f}", f"{seconds / sorting:.0f}", f"{loss:.3f}"]
            table.add_row(*cells, f"{least} to {most}")
    Console().print(table)
    if "mdav" in given.algorithms:
        for made in (adult, lambda: adult_like(100_000)):
            try:
                Console().print(beside_sdc_micro(made().select(ADULT)))
            except FileNotFoundError as error:
                Console().print(f"without Adult: {error}")


if __name__ == "__main__":
    main()
