"""What does a predictable column cost? python bench/refine_target.py --k 5 --seconds 10

Adult (30,162 complete records, 8 quasi-identifiers), salary class as the target: what refining leaves of the
loss and of the target loss after so many seconds on all cores, for shares of the target from 0 on. A share of
0.01 all but leaves the target out. Compilation is off the clock.
"""

from __future__ import annotations

import argparse

from rich.console import Console
from rich.table import Table

import shoal
from shoal.encoding import encode
from shoal.progress import Run
from shoal.refine import Refine, refined
from shoal.refine.settings import TARGET_LOSSES
from tables import ADULT_COLUMNS, CATEGORIES, adult


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--k", type=int, nargs="+", default=[5])
    parser.add_argument("--weight", type=float, nargs="+", default=[0.01, 0.1, 0.3, 0.5])
    parser.add_argument("--target-loss", nargs="+", choices=TARGET_LOSSES, default=list(TARGET_LOSSES))
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    table = adult()
    quasi = {name: "categorical" if name in CATEGORIES else "numeric" for name in ADULT_COLUMNS}
    lines = Table("k", "target loss", "weight", "gcp before", "after", "target before", "after", "moves")
    for k in options.k:
        policy = shoal.Policy(quasi=quasi, sensitive=["salary-class"], models=[shoal.KAnonymity(k)])
        policy = policy.resolved(table)
        encoded = encode(table, policy)
        start = shoal.partition(encoded, policy, algorithm="k-member")
        for target_loss in options.target_loss:
            for weight in options.weight:
                run = Run()
                wanted = Refine(
                    target="salary-class",
                    target_loss=target_loss,
                    target_weight=weight,
                    seconds=options.seconds,
                )
                refined(start, encoded, policy, run, wanted)
                told = run.notes["refinement"]
                before, after = told["parts"]["before"], told["parts"]["after"]
                cells = [f"{part[name]:.4f}" for name in ("loss", "target") for part in (before, after)]
                lines.add_row(str(k), target_loss, f"{weight:g}", *cells, f"{told['moves']:,}")
    Console(width=120).print(lines)


if __name__ == "__main__":
    main()
