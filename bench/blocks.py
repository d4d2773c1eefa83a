"""What does it cost to let an algorithm work in blocks? python bench/blocks.py --algorithms k-member rayden

The table is cut by mondrian into blocks of at most so many records; the loss is compared with that of the
algorithm on the whole table. `refine` is mondrian, refined with so many moves a record. Seconds are those of
the processor, after compilation. `--like` takes Adult-like records of nine columns, as many as `--rows`,
instead of those of Adult.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

from rich.console import Console
from rich.table import Table

import shoal
from core import encoded_of, gcp
from tables import ADULT_COLUMNS, adult, adult_like

MOVES = 10  # a record, of a refinement


def asked(name: str, rows: int, blocks: int | None) -> dict[str, Any]:
    """Return the arguments of a run."""
    refine = shoal.Refine(moves=MOVES * rows, threads=1) if name == "refine" else None
    more = {} if blocks is None else {"blocks": blocks}
    return {"algorithm": "mondrian" if refine else name, "refine": refine, **more}


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=30_162)
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--like", action="store_true")
    parser.add_argument("--algorithms", nargs="+", default=["k-member", "rayden", "top-down", "refine"])
    parser.add_argument("--blocks", type=int, nargs="+", default=[500, 1000, 2000, 5000, 10_000, 20_000])
    options = parser.parse_args()
    names = (*ADULT_COLUMNS, "zip") if options.like else ADULT_COLUMNS
    table = adult_like(options.rows) if options.like else adult().slice(0, options.rows)
    encoded, small = encoded_of(table, names), encoded_of(table.slice(0, 300), names)
    rows = encoded.records
    policy = shoal.Policy(quasi=list(names), models=[shoal.KAnonymity(options.k)])
    lines = Table("algorithm", "blocks of", "classes", "gcp", "x unblocked", "seconds")
    for name in options.algorithms:
        shoal.partition(small, policy, **asked(name, 300, None))
        whole = 0.0
        for blocks in (None, *sorted(options.blocks, reverse=True)):
            begin = time.process_time()
            found = shoal.partition(encoded, policy, **asked(name, rows, blocks))
            seconds, loss = time.process_time() - begin, gcp(encoded, found)
            whole = whole or loss
            shown = "whole" if blocks is None else f"{blocks:,}"
            lines.add_row(
                name, shown, f"{found.classes:,}", f"{loss:.4f}", f"{loss / whole:.3f}", f"{seconds:.2f}"
            )
    Console(width=100).print(lines)


if __name__ == "__main__":
    main()
