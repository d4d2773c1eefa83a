"""How fast is full-domain generalization, and what does it lose?

python bench/full_domain.py --k 2 5 10 20 50       Adult, 30,162 records, eight columns with ARX's hierarchies
python bench/full_domain.py --table adult-like     a million records of it, with a zip code as ninth column
python bench/full_domain.py --table census-like    30 columns, too many nodes to look at all; --seconds 5

Processor and wall seconds are those of the second run, after compilation, for the partition alone; `table`
is the time of encoding it. Beside `gcp`, `set` is that of the same classes without hierarchies, by which
other tools can be compared: numbers lose their range, categories their number of values.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table

import shoal
from shoal import api
from shoal.metrics.measure import measure
from shoal.partitions import Partition
from shoal.progress import Run
from tables import (
    ADULT_COLUMNS,
    CENSUS_ANSWERS,
    CENSUS_CODES,
    CENSUS_NUMBERS,
    NUMBERS,
    adult,
    adult_like,
    census_like,
    data_folder,
)

COLUMNS = (
    "age",
    "education",
    "workclass",
    "marital-status",
    "occupation",
    "race",
    "sex",
    "native-country",
)
ALGORITHMS = ("lattice", "datafly", "local")
TABLES = ("adult", "adult-like", "census-like")
RECORDS = {"adult-like": 1_000_000, "census-like": 100_000}


def hierarchies(name: str) -> dict[str, Any]:
    """Return the quasi-identifiers of a table as they are generalised."""
    if name == "census-like":
        found: dict[str, Any] = dict.fromkeys(CENSUS_ANSWERS, "categorical")
        found |= dict.fromkeys(CENSUS_CODES, shoal.Hierarchy.prefix())
        for column, size in CENSUS_NUMBERS.items():
            width = size // 20
            found[column] = shoal.Hierarchy.intervals(widths=[width, 2 * width, 4 * width])
        return found
    folder = data_folder() / "hierarchies"
    found = {column: shoal.Hierarchy.read(folder / f"adult_{column}.csv") for column in COLUMNS}
    return found | ({"zip": shoal.Hierarchy.prefix()} if name == "adult-like" else {})


def without(name: str) -> dict[str, str]:
    """Return the same without hierarchies; education is a number here."""
    if name == "census-like":
        kinds = dict.fromkeys(CENSUS_NUMBERS, "numeric")
        return kinds | dict.fromkeys([*CENSUS_CODES, *CENSUS_ANSWERS], "categorical")
    columns = (*ADULT_COLUMNS, "zip") if name == "adult-like" else ADULT_COLUMNS
    return {column: "numeric" if column in (*NUMBERS, "zip") else "categorical" for column in columns}


def table_of(name: str) -> pa.Table:
    """Return one of the tables."""
    if name == "adult":
        return adult()
    return (adult_like if name == "adult-like" else census_like)(RECORDS[name])


def policy_of(k: int, suppression: float, quasi: dict[str, Any] | None = None) -> shoal.Policy:
    """Return a policy, of Adult with ARX's hierarchies unless said."""
    quasi = hierarchies("adult") if quasi is None else quasi
    return shoal.Policy(quasi=quasi, models=[shoal.KAnonymity(k)], suppression=suppression)


class Bench:
    """One table, and the lines that are measured on it."""

    def __init__(self, options: argparse.Namespace) -> None:
        self.options = options
        self.table = table_of(options.table)

    def line(self, name: str, k: int) -> list[str]:
        """Return the cells of one line."""
        begin = time.perf_counter()
        policy = policy_of(k, self.options.suppression, hierarchies(self.options.table))
        prepared = api.prepare(self.table, policy)
        table = time.perf_counter() - begin
        settings = (
            {} if self.options.seconds is None or name == "datafly" else {"seconds": self.options.seconds}
        )
        algorithm = api.make_algorithm(name, settings)
        for _ in range(2):  # the first compiles
            wall, cpu = time.perf_counter(), time.process_time()
            partition = api.partition_prepared(prepared, algorithm, Run())
            wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
        loss = measure(prepared.encoded, partition, prepared.policy, ["gcp"])["gcp"]
        shown = "-" if not partition.uniform else " ".join(map(str, partition.levels))
        seconds = [f"{value:.2f}" for value in (table, wall, cpu)]
        losses = [f"{loss:.4f}", f"{self.loss_of_sets(partition, k):.4f}"]
        return [name, str(k), *seconds, *losses, f"{partition.suppressed:,}", shown]

    def loss_of_sets(self, partition: Partition, k: int) -> float:
        """Return what the classes lose without hierarchies."""
        prepared = api.prepare(
            self.table, policy_of(k, self.options.suppression, without(self.options.table))
        )
        return float(measure(prepared.encoded, partition.with_levels(()), prepared.policy, ["gcp"])["gcp"])


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--table", choices=TABLES, default="adult")
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10])
    parser.add_argument("--suppression", type=float, default=0.05)
    parser.add_argument("--seconds", type=float, help="the budget of lattice and local")
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    options = parser.parse_args()
    bench = Bench(options)
    lines = Table("algorithm", "k", "table s", "wall s", "CPU s", "gcp", "set", "suppressed", "levels")
    for name in options.algorithms:
        for k in options.k:
            lines.add_row(*bench.line(name, k))
    Console(width=150).print(lines)


if __name__ == "__main__":
    main()
