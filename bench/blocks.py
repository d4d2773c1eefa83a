"""What does it cost to let an algorithm work in blocks? python bench/blocks.py --algorithms k-member rayden

The table is cut by mondrian into blocks of at most so many records; the loss is compared with that of the
algorithm on the whole table. Seconds are those of the processor, after compilation.
"""

from __future__ import annotations

import argparse
import time

from rich.console import Console
from rich.table import Table

import shoal
from core import encoded_of, gcp
from tables import ADULT_COLUMNS, adult


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=30_162)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--algorithms", nargs="+", default=["k-member", "rayden", "top-down", "mondrian"])
    parser.add_argument("--blocks", type=int, nargs="+", default=[500, 1000, 2000, 5000, 10_000, 20_000])
    options = parser.parse_args()
    encoded = encoded_of(adult().slice(0, options.rows), ADULT_COLUMNS)
    small = encoded_of(adult().slice(0, 300), ADULT_COLUMNS)
    policy = shoal.Policy(quasi=list(ADULT_COLUMNS), models=[shoal.KAnonymity(options.k)])
    lines = Table("algorithm", "blocks of", "classes", "gcp", "x unblocked", "seconds")
    for name in options.algorithms:
        shoal.partition(small, policy, algorithm=name)
        whole = 0.0
        for blocks in (None, *sorted(options.blocks, reverse=True)):
            begin = time.process_time()
            more = {} if blocks is None else {"blocks": blocks}
            found = shoal.partition(encoded, policy, algorithm=name, **more)
            seconds, loss = time.process_time() - begin, gcp(encoded, found)
            whole = whole or loss
            shown = "whole" if blocks is None else f"{blocks:,}"
            lines.add_row(
                name, shown, f"{found.classes:,}", f"{loss:.4f}", f"{loss / whole:.3f}", f"{seconds:.2f}"
            )
    Console(width=100).print(lines)


if __name__ == "__main__":
    main()
