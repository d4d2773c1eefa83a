"""How fast is full-domain generalization on Adult? python bench/full_domain.py --k 5 10 --suppression 0.05

Adult has 30,162 records; ARX describes these eight columns with hierarchies. Processor and wall seconds are
those of the second run, after compilation, for the partition alone; `table` is the time of encoding it.
"""

from __future__ import annotations

import argparse
import time

from rich.console import Console
from rich.table import Table

import shoal
from shoal import api
from shoal.metrics.measure import measure
from shoal.progress import Run
from tables import adult, data_folder

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


def policy_of(k: int, suppression: float) -> shoal.Policy:
    """Return the policy with ARX's hierarchies."""
    folder = data_folder() / "hierarchies"
    quasi = {name: shoal.Hierarchy.read(folder / f"adult_{name}.csv") for name in COLUMNS}
    return shoal.Policy(quasi=quasi, models=[shoal.KAnonymity(k)], suppression=suppression)


def line(name: str, k: int, suppression: float) -> list[str]:
    """Return the cells of one line."""
    begin = time.perf_counter()
    prepared = api.prepare(adult(), policy_of(k, suppression))
    table = time.perf_counter() - begin
    algorithm = api.make_algorithm(name, {})
    for _ in range(2):  # the first compiles
        wall, cpu = time.perf_counter(), time.process_time()
        partition = api.partition_prepared(prepared, algorithm, Run())
        wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
    loss = measure(prepared.encoded, partition, prepared.policy, ["gcp"])["gcp"]
    shown = "-" if not partition.uniform else " ".join(map(str, partition.levels))
    return [
        name,
        str(k),
        f"{table:.2f}",
        f"{wall:.2f}",
        f"{cpu:.2f}",
        f"{loss:.4f}",
        f"{partition.suppressed:,}",
        shown,
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10])
    parser.add_argument("--suppression", type=float, default=0.05)
    parser.add_argument("--algorithms", nargs="+", choices=ALGORITHMS, default=list(ALGORITHMS))
    options = parser.parse_args()
    lines = Table("algorithm", "k", "table s", "wall s", "CPU s", "gcp", "suppressed", "levels")
    for name in options.algorithms:
        for k in options.k:
            lines.add_row(*line(name, k, options.suppression))
    Console(width=110).print(lines)


if __name__ == "__main__":
    main()
