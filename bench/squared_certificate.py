"""How near is the bound on the squared error to the best solutions known? python bench/squared_certificate.py

For each table of numbers and k: the bound with every pair split in halves, the certificate's, the error
of the solution kept in tests/solutions, all in percent of the total, and the share that is not proved
unavoidable.
"""

from __future__ import annotations

import argparse
import gzip
import json
import time
from pathlib import Path

import numpy as np
from rich.console import Console
from rich.table import Table

import shoal
import shoal.squared_certificate as squared_certificate
from frontier import MEANS, numbers, read
from shoal.encoding import encode
from shoal.squared_certificate import centred_points, squared_bound

SOLUTIONS = Path(__file__).parents[1] / "tests" / "solutions"


def points_of(name: str) -> np.ndarray:
    """Return the columns of a table, on the scale of `il-sse`."""
    table = read(name)
    quasi = {c: shoal.Column(c, kind="numeric", form="mean") for c in numbers(name, table)}
    return centred_points(encode(table, shoal.Policy(quasi=quasi).resolved(table)))


def best_known(name: str, k: int, points: np.ndarray) -> float:
    """Return the squared error of the solution that is kept."""
    with gzip.open(SOLUTIONS / f"{name}-k{k}.txt.gz", "rt") as lines:
        labels = np.array([int(line) for line in lines.read().split()])
    sizes = np.bincount(labels)
    means = np.array([np.bincount(labels, column) / sizes for column in points])
    assert sizes.min() >= k
    return float(((points - means[:, labels]) ** 2).sum())


def halves(points: np.ndarray, k: int) -> float:
    """Return the bound without looking for a better split."""
    rounds, squared_certificate._ROUNDS = squared_certificate._ROUNDS, 1
    found = squared_bound(points, k, 0).error
    squared_certificate._ROUNDS = rounds
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--data", nargs="+", choices=MEANS, default=list(MEANS))
    parser.add_argument("--k", type=int, nargs="+", default=[3, 4, 5, 6, 10])
    options = parser.parse_args()
    known = json.loads((SOLUTIONS / "figures.json").read_text())
    shown = Table("table", "k", "half", "bound", "CPU s", "best found", "gap")
    for name in options.data:
        points = points_of(name)
        whole = float((points**2).sum()) / 100
        for k in options.k:
            began = time.process_time()
            bound = squared_bound(points, k, 0).error / whole
            spent = time.process_time() - began
            best = best_known(name, k, points) / whole
            assert abs(best - known[name][str(k)]) < 1e-3 * best
            half = f"{halves(points, k) / whole:.3f}"
            cells = (half, f"{bound:.3f}", f"{spent:.2f}", f"{best:.3f}", f"{1 - bound / best:.0%}")
            shown.add_row(name, str(k), *cells)
    Console(width=100).print(shown)


if __name__ == "__main__":
    main()
