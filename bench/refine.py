"""What does refining reach? python bench/refine.py --k 5 10 20 --loss lm --seconds 10 60

Adult (30,162 complete records, 8 quasi-identifiers): the loss of the start, and after so many seconds on all
cores, beside a reference. `lm` charges 0 or 1 for a categorical cell, `gcp` by its share of the domain. The
reference is the finest local recoding of ARX, measured once on the same table. Compilation is off the clock.
"""

from __future__ import annotations

import argparse
import time
from dataclasses import dataclass

import pyarrow as pa
from rich.console import Console
from rich.table import Table

import shoal
from shoal.encoding import Encoded, encode
from shoal.progress import Run
from shoal.refine import Refine, refined
from tables import ADULT_COLUMNS, CATEGORIES, adult, adult_like

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
    reference = REFERENCE.get((case.promise, case.loss, case.k))
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
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 20, 50, 100])
    parser.add_argument("--loss", nargs="+", choices=["gcp", "lm"], default=["lm", "gcp"])
    parser.add_argument("--promise", nargs="+", choices=PROMISES, default=["k"])
    parser.add_argument("--seconds", type=float, nargs="+", default=[1, 10])
    parser.add_argument("--start", default="k-member", help="the algorithm to begin with")
    parser.add_argument("--rows", type=int, help="an Adult-like table of so many records instead of Adult")
    parser.add_argument("--threads", type=int)
    options = parser.parse_args()
    table = adult() if options.rows is None else adult_like(options.rows)
    columns = ["promise", "loss", "k", "start s", "start", *(f"{s:g} s" for s in sorted(options.seconds))]
    lines = Table(*columns, "less", "ARX", "under ARX", "moves")
    for promise in options.promise:
        for loss in options.loss:
            for k in options.k:
                case = Case(table, promise, loss, k)
                lines.add_row(*line(case, options.start, options.seconds, options.threads))
    Console(width=140).print(lines)


if __name__ == "__main__":
    main()
