"""How fast is gcaa, how good, and how do the four stand that it is compared with? python bench/gcaa.py

Seconds are CPU seconds of one run after compilation, for the partition alone; the ratio is to numpy.lexsort
over the same columns in the same process, so it means the same on any machine. Memory is by how much the peak
of the process rose. The tables: the Facebook network of the paper as a binary table (347 users, 224 values,
the locale as sensitive column, t = 0.5) and the first records of Adult (eight columns less the occupation,
which is the sensitive one, t = 0.3). "broken" are classes that break a promise when the algorithm is done.
"""

from __future__ import annotations

import argparse
import resource
import time
from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import csv
from rich.console import Console
from rich.table import Table

import shoal
from shoal.encoding import Encoded
from shoal.metrics.measure import measure
from shoal.progress import Run
from shoal.registry import get
from tables import ADULT_COLUMNS, CATEGORIES, adult, data_folder

NAMES = ("gcaa", "p-sensitive", "fuzzy-k-member", "klt3l", "kfcfa")
SLOW = {"kfcfa"}  # left out above --most rows
SENSITIVE = "occupation"


def facebook(k: int) -> tuple[pa.Table, shoal.Policy]:
    """Return the users as yes or nothing in every value but those of the locale, and the policy."""
    read = csv.read_csv(data_folder() / "facebook_ego0_binary.csv")
    names = [name for name in read.column_names[1:] if not name.startswith("locale=")]
    columns = {name: pa.array(["yes" if v else None for v in read[name].to_pylist()]) for name in names}
    columns["locale"] = csv.read_csv(data_folder() / "facebook_ego0_categorical.csv")["locale"]
    models = [shoal.KAnonymity(k), shoal.TCloseness(0.5)]
    return pa.table(columns), shoal.Policy(quasi=names, sensitive=["locale"], models=models)


def adult_policy(k: int) -> shoal.Policy:
    """Return the policy for Adult."""
    names = [name for name in ADULT_COLUMNS if name != SENSITIVE]
    quasi = {name: "categorical" if name in CATEGORIES else "numeric" for name in names}
    models = [shoal.KAnonymity(k), shoal.TCloseness(0.3)]
    return shoal.Policy(quasi=quasi, sensitive=[SENSITIVE], models=models)


def peak() -> float:
    """Return the most memory that the process ever had, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def line(encoded: Encoded, policy: shoal.Policy, algorithm: Any) -> list[str]:
    """Return the cells of one run."""
    rules = policy.compile(encoded)
    began = time.process_time()
    np.lexsort(encoded.codes.T)
    sorting = time.process_time() - began
    before, began = peak(), time.process_time()
    made = algorithm.partition(encoded, rules, Run())
    seconds = time.process_time() - began
    rose = peak() - before
    found = measure(encoded, made, policy, ["adr", "cavg", "p-ka", "p-tc"])
    values = [f"{found[name]:.4f}" for name in ("adr", "cavg")]
    broken = found["p-ka"] + found["p-tc"]
    cells = [f"{seconds:.2f}", f"{seconds / max(sorting, 1e-6):,.0f}", f"{rose:.0f}", f"{made.classes:,}"]
    return [*cells, *values, f"{broken:.0f}"]


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="*", default=[5000, 30_162], help="records of Adult")
    parser.add_argument("--k", type=int, default=5)
    parser.add_argument("--algorithms", nargs="+", default=list(NAMES), choices=NAMES)
    parser.add_argument("--most", type=int, default=5000, help="rows above which kfcfa is left out")
    given = parser.parse_args()
    head = ("table", "algorithm", "CPU s", "x lexsort", "MiB", "classes", "adr", "cavg", "broken")
    table = Table(*head, title=f"k = {given.k}")
    users, policy = facebook(given.k)
    cases = [("facebook", users, policy)]
    if given.rows:
        whole, policy = adult(), adult_policy(given.k)
        cases += [(f"adult {rows:,}", whole.slice(0, rows), policy) for rows in given.rows]
    for label, data, policy in cases:
        encoded = shoal.encode(data, policy)
        small = shoal.encode(data.slice(0, 60), policy)
        for name in given.algorithms:
            if name in SLOW and data.num_rows > given.most:
                continue
            algorithm = get("algorithms", name)()
            algorithm.partition(small, policy.compile(small), Run())  # compiled before it is timed
            table.add_row(label, name, *line(encoded, policy, algorithm))
    Console(width=120).print(table)


if __name__ == "__main__":
    main()
