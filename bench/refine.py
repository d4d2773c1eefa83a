"""What does refining reach? python bench/refine.py --k 5 10 20 --loss lm --seconds 10 60

Adult (30,162 complete records, 8 quasi-identifiers): the loss of the start, and after so many seconds on all
cores, beside a reference. `lm` charges 0 or 1 for a categorical cell, `gcp` by its share of the domain. The
reference is the finest local recoding of ARX, measured once on the same table. Compilation is off the clock.

    python bench/refine.py --squares --seconds 1 30

The squared error on the three tables of the microaggregation literature instead: 100 SSE/SST of MDAV, after
each time (a run of its own, since it cools over its time), how much that is above the best known, and the
memory of the process. `--keep tests/solutions` writes down the classes that are better than those there.
"""

from __future__ import annotations

import argparse
import gzip
import json
import resource
import time
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv
from rich.console import Console
from rich.table import Table

import shoal
from shoal.encoding import Encoded, encode
from shoal.progress import Run
from shoal.refine import Refine, refined
from tables import ADULT_COLUMNS, CATEGORIES, adult, adult_like, data_folder

REFERENCE = {  # (promise, loss, k): ARX, local recoding
    **{("k", "gcp", k): x for k, x in ((2, 0.0087), (5, 0.0313), (10, 0.0533), (20, 0.0819), (50, 0.1281))},
    **{("k", "lm", k): x for k, x in ((2, 0.0314), (5, 0.0773), (10, 0.1123), (20, 0.1534), (50, 0.2072))},
    ("k", "gcp", 100): 0.1724,
    ("k", "lm", 100): 0.2646,
    ("distinct 2", "gcp", 5): 0.0184,
    ("distinct 2", "lm", 5): 0.0393,
    ("t 0.2", "gcp", 5): 0.2091,
    ("t 0.2", "lm", 5): 0.2999,
}
PROMISES = ("k", "distinct 2", "entropy 3", "t 0.2")
SQUARES = {  # 100 SSE/SST: the least known from a plain annealed search of minutes
    "tarragona": {3: 14.563, 4: 17.103, 5: 20.157, 6: 23.508, 10: 30.406},
    "census_casc": {3: 4.704, 4: 6.098, 5: 7.303, 6: 8.272, 10: 11.376},
    "eia": {3: 0.355, 4: 0.496, 5: 0.760, 6: 0.937, 10: 1.956},
}


@dataclass(frozen=True)
class Case:
    """One table under one policy, and the loss that is to become less."""

    table: pa.Table
    promise: str
    loss: str
    k: int

    def policy(self) -> shoal.Policy:
        """Return the policy: occupation or the salary class is sensitive where a promise speaks about it."""
        models: list[object] = [shoal.KAnonymity(self.k)]
        sensitive = []
        if self.promise == "t 0.2":
            models.append(shoal.TCloseness(0.2))
            sensitive = ["salary-class"]
        elif self.promise != "k":
            kind = self.promise.split()[0]
            models.append(shoal.LDiversity(int(self.promise.split()[1]), kind=kind))
            sensitive = ["occupation"]
        names = [name for name in ADULT_COLUMNS if name not in sensitive]
        quasi = {name: "categorical" if name in CATEGORIES else "numeric" for name in names}
        return shoal.Policy(quasi=quasi, sensitive=sensitive, models=models).resolved(self.table)


def start_of(case: Case, encoded: Encoded, policy: shoal.Policy, algorithm: str) -> shoal.Partition:
    """Return the partition to begin with."""
    settings = {"loss": "height"} if algorithm == "k-member" and case.loss != "gcp" else {}
    return shoal.partition(encoded, policy, algorithm=algorithm, **settings)


def line(case: Case, algorithm: str, seconds: list[float], threads: int | None) -> list[str]:
    """Return the cells of one line: what the start loses, and what is left after each time."""
    policy = case.policy()
    encoded = encode(case.table, policy)
    began = time.perf_counter()
    start = start_of(case, encoded, policy, algorithm)
    spent = time.perf_counter() - began
    run = Run()
    refined(start, encoded, policy, run, Refine(loss=case.loss, seconds=max(seconds), threads=threads))
    told = run.notes["refinement"]
    after = [[loss for _, at, loss in told["curve"] if at <= limit][-1] for limit in sorted(seconds)]
    known = len(case.table) == len(adult())  # the reference is of that table alone
    reference = REFERENCE.get((case.promise, case.loss, case.k)) if known else None
    return [
        case.promise,
        case.loss,
        str(case.k),
        f"{spent:.1f}",
        f"{told['before']:.4f}",
        *(f"{loss:.4f}" for loss in after),
        f"{1 - told['after'] / told['before']:.1%}",
        "" if reference is None else f"{reference:.4f}",
        "" if reference is None else f"{1 - told['after'] / reference:.1%}",
        f"{told['moves']:,}",
        memory(),
    ]


def points_of(name: str) -> pa.Table:
    """Return a table of the microaggregation literature; of EIA, the eleven columns used there."""
    table = csv.read_csv(data_folder() / f"{name}.csv")
    if name != "eia":
        return table
    return table.select([n for n in table.column_names if n == "UTILITYID" or "REV" in n or "SALES" in n])


def keep(folder: Path, name: str, k: int, loss: float, partition: shoal.Partition) -> None:
    """Write down the classes of a partition, labels only, if they lose less than those written down."""
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / "figures.json"
    figures = json.loads(file.read_text()) if file.exists() else {}
    if loss >= figures.setdefault(name, {}).get(str(k), np.inf):
        return
    figures[name][str(k)] = round(loss, 4)
    text = "\n".join(str(label) for label in partition.labels.tolist())
    (folder / f"{name}-k{k}.txt.gz").write_bytes(gzip.compress(text.encode(), mtime=0))
    file.write_text(json.dumps(figures, indent=2, sort_keys=True) + "\n")


def squares(name: str, k: int, options: argparse.Namespace) -> list[str]:
    """Return the cells of one line about squared errors."""
    table = points_of(name)
    policy = shoal.Policy(quasi=dict.fromkeys(table.column_names, "numeric"), models=[shoal.KAnonymity(k)])
    encoded = encode(table, policy)
    start = shoal.partition(encoded, policy, algorithm="mdav")
    cells: list[str] = []
    for seconds in sorted(options.seconds):
        run = Run(options.seed)
        found = refined(
            start, encoded, policy, run, Refine(loss="sse", seconds=seconds, threads=options.threads)
        )
        loss = 100 * run.notes["refinement"]["after"]
        if options.keep is not None:
            keep(options.keep, name, k, loss, found)
        cells += [f"{loss:.4f}", f"{loss / SQUARES[name][k] - 1:+.2%}"]
    before = 100 * run.notes["refinement"]["before"]
    return [name, str(k), f"{before:.4f}", *cells, f"{SQUARES[name][k]:.3f}", memory()]


def memory() -> str:
    """Return the most memory that the process has held so far."""
    return f"{resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024:.0f} MiB"


def print_squares(options: argparse.Namespace) -> None:
    """Print the table of squared errors."""
    after = [cell for seconds in sorted(options.seconds) for cell in (f"{seconds:g} s", "above")]
    lines = Table("table", "k", "MDAV", *after, "known", "memory")
    for name in options.table:
        for k in options.k or SQUARES[name]:
            lines.add_row(*squares(name, k, options))
    Console(width=140).print(lines)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--k", type=int, nargs="+")
    parser.add_argument("--loss", nargs="+", choices=["gcp", "lm"], default=["lm", "gcp"])
    parser.add_argument("--promise", nargs="+", choices=PROMISES, default=["k"])
    parser.add_argument("--seconds", type=float, nargs="+", default=[1, 10])
    parser.add_argument("--start", default="k-member", help="the algorithm to begin with")
    parser.add_argument("--rows", type=int, help="an Adult-like table of so many records instead of Adult")
    parser.add_argument("--threads", type=int)
    parser.add_argument("--squares", action="store_true", help="squared errors, on --table")
    parser.add_argument("--table", nargs="+", choices=list(SQUARES), default=list(SQUARES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--keep", type=Path, help="folder of the best classes known")
    options = parser.parse_args()
    if options.squares:
        print_squares(options)
        return
    table = adult() if options.rows is None else adult_like(options.rows)
    columns = ["promise", "loss", "k", "start s", "start", *(f"{s:g} s" for s in sorted(options.seconds))]
    lines = Table(*columns, "less", "ARX", "under ARX", "moves", "memory")
    for promise in options.promise:
        for loss in options.loss:
            for k in options.k or (5, 10, 20, 50, 100):
                case = Case(table, promise, loss, k)
                lines.add_row(*line(case, options.start, options.seconds, options.threads))
    Console(width=140).print(lines)


if __name__ == "__main__":
    main()
