"""How fast and how good are mondrian and k-member? python bench/core.py --rows 100000 --k 5 10

Seconds are the best of some runs after compilation, for the partition alone (encoding and checks apart); the
ratio is to numpy.lexsort over the same columns in the same process, so it means the same on any machine.
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
from shoal.algorithms.auto import expected_seconds
from shoal.algorithms.base import Algorithm
from shoal.algorithms.distinct import distinct_rows
from shoal.algorithms.k_member import KMember
from shoal.algorithms.mondrian import Mondrian
from shoal.encoding import Encoded, encode
from shoal.models.compile import compile_rules
from shoal.partitions import Partition
from shoal.progress import Run
from tables import ADULT_COLUMNS, CATEGORIES, adult, adult_like

ALGORITHMS: dict[str, Algorithm] = {
    "mondrian": Mondrian(),
    "mondrian relaxed": Mondrian(relaxed=True),
    "k-member": KMember(),
    "k-member height": KMember(loss="height"),
}


def encoded_of(table: pa.Table, columns: tuple[str, ...]) -> Encoded:
    """Return the integer view with numbers as numbers and everything else flat."""
    kinds = {name: "categorical" if name in CATEGORIES else "numeric" for name in columns}
    return encode(table, shoal.Policy(quasi=kinds).resolved(table))


def best_seconds(work: Callable[[], Any], repeats: int) -> float:
    """Return the least time of some runs."""
    times = []
    for _ in range(repeats):
        begin = time.perf_counter()
        work()
        times.append(time.perf_counter() - begin)
    return min(times)


def gcp(encoded: Encoded, partition: Partition, *, flat: bool = False) -> float:
    """Return the mean penalty of all cells; `flat` charges 1 for any two categories in a class."""
    order, starts = partition.order, partition.offsets[:-1]
    total = 0.0
    for j, column in enumerate(encoded.quasi):
        codes = encoded.codes[order, j]
        if column.positions is not None:
            places = column.positions[codes]
            penalty = np.maximum.reduceat(places, starts) - np.minimum.reduceat(places, starts)
        else:
            pairs = np.unique(partition.labels.astype(np.int64) * (column.size + 1) + encoded.codes[:, j])
            more = np.bincount(pairs // (column.size + 1)) - 1
            penalty = (more > 0).astype(float) if flat else more / max(column.size - 1, 1)
        total += float((penalty * partition.sizes).sum())
    return total / (encoded.records * len(encoded.quasi))


def measure(encoded: Encoded, algorithm: Algorithm, k: int, repeats: int) -> list[str]:
    """Return the cells of one line: seconds, records per second, ratio, classes, losses, forecast."""
    rules = compile_rules((shoal.KAnonymity(k),), encoded)
    found: list[Partition] = []
    seconds = best_seconds(lambda: found.append(algorithm.partition(encoded, rules, Run())), repeats)
    sort = best_seconds(lambda: np.lexsort(encoded.codes.T), repeats)
    n, q = encoded.codes.shape
    forecast = expected_seconds(n, len(distinct_rows(encoded)[0]), q)
    return [
        f"{seconds:.3f}",
        f"{n / seconds:,.0f}",
        f"{seconds / sort:.1f}",
        f"{found[-1].classes:,}",
        f"{gcp(encoded, found[-1]):.4f}",
        f"{gcp(encoded, found[-1], flat=True):.4f}",
        f"{forecast:.2f}" if isinstance(algorithm, KMember) else "",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[100_000], help="sizes of Adult-like tables")
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--algorithms", nargs="+", choices=list(ALGORITHMS), default=list(ALGORITHMS))
    parser.add_argument("--zip", action="store_true", help="add the zip code as ninth quasi-identifier")
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    wide = (*ADULT_COLUMNS, "zip") if options.zip else ADULT_COLUMNS
    warm = encoded_of(adult().slice(0, 200), ADULT_COLUMNS)
    for name in options.algorithms:
        ALGORITHMS[name].partition(warm, compile_rules((shoal.KAnonymity(5),), warm), Run())
    lines = Table(
        "table", "k", "algorithm", "seconds", "records/s", "x lexsort", "classes", "gcp", "gcp flat"
    )
    lines.add_column("forecast")
    for label, encoded in (
        ("adult", encoded_of(adult(), ADULT_COLUMNS)),
        *((f"{rows:,} x {len(wide)}", encoded_of(adult_like(rows), wide)) for rows in options.rows),
    ):
        for k in options.k:
            for name in options.algorithms:
                line = measure(encoded, ALGORITHMS[name], k, options.repeats)
                lines.add_row(label, str(k), name, *line)
    Console(width=140).print(lines)


if __name__ == "__main__":
    main()
