"""How near is the certificate, and what does it cost? python bench/certificate.py --k 5 10 20 --data adult

For each table, k and loss: the bound of the nearest records alone, the bound of a release and its kind,
processor seconds after compilation, and the loss and gap of one algorithm. `set` is gcp, `flat` is lm.
"""

from __future__ import annotations

import argparse
import time

from pyarrow import csv
from rich.console import Console
from rich.table import Table

import shoal
from shoal import registry
from shoal.certificate import certify, rows_of
from shoal.encoding import Encoded, encode
from shoal.kernels.box_tree import make_boxes
from shoal.kernels.least_class import nearest_costs
from shoal.metrics.measure import measure
from tables import ADULT_COLUMNS, CATEGORIES, adult, adult_like, data_folder

TABLES: dict[str, tuple[str, ...]] = {
    "bank-full": ("age", "job", "marital", "education", "housing", "loan", "month", "balance"),
    "heart_disease_920": ("age", "sex", "cp", "trestbps", "chol", "thalach"),
    "student-mat": ("sex", "age", "address", "famsize", "Medu", "Fedu", "Mjob", "Fjob"),
    "pima-indians-diabetes": ("pregnancies", "age", "bmi", "glucose"),
    "breast-cancer-wisconsin": ("clump_thickness", "cell_size_uniformity", "marginal_adhesion", "mitoses"),
}
LOSSES = {"set": "gcp", "flat": "lm"}


def table_of(name: str) -> Encoded:
    """Return a table by name: adult, adult-13, one of TABLES, or a number of Adult-like records."""
    if name.isdecimal():
        columns: tuple[str, ...] = (*ADULT_COLUMNS, "zip")
        data = adult_like(int(name))
    elif name == "adult":
        columns, data = ADULT_COLUMNS, adult()
    elif name == "adult-13":
        data = adult()
        columns = tuple(c for c in data.column_names if c not in ("fnlwgt", "salary-class"))
    else:
        columns, data = TABLES[name], csv.read_csv(data_folder() / f"{name}.csv")
    quasi = (
        list(columns)
        if name in TABLES or name == "adult-13"
        else {c: "categorical" if c in CATEGORIES else "numeric" for c in columns}
    )
    return encode(data, shoal.Policy(quasi=quasi).resolved(data))


def nearest(encoded: Encoded, k: int, loss: str) -> float:
    """Return the bound of the nearest records alone."""
    rows = rows_of(encoded, loss)
    tree = make_boxes(rows.gauge, rows.values, rows.weight)
    costs = nearest_costs(rows.gauge, tree, k, float(len(rows.values)))
    return float(costs @ tree.weight) / (encoded.records * rows.columns)


def line(name: str, encoded: Encoded, k: int, shown: str, algorithm: str) -> list[str]:
    """Return the cells of one line."""
    loss = LOSSES[shown]
    begin = time.process_time()
    found = certify(encoded, k, loss, threads=False)
    seconds = time.process_time() - begin
    policy = shoal.Policy(quasi=[c.name for c in encoded.quasi], models=[shoal.KAnonymity(k)])
    parameters = {"loss": "height"} if algorithm == "k-member" and shown == "flat" else {}
    partition = shoal.partition(encoded, policy, algorithm=algorithm, **parameters)
    achieved = measure(encoded, partition, policy, [loss])[loss]
    assert isinstance(achieved, float)
    weak = f"{nearest(encoded, k, loss):.5f}" if encoded.records <= 100_000 else "-"
    return [
        name,
        str(k),
        shown,
        weak,
        f"{found.bound:.5f}",
        found.how,
        f"{seconds:.2f}",
        f"{achieved:.4f}",
        f"{found.gap(achieved):.0%}",
    ]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--data", nargs="+", default=["adult", "adult-13", *TABLES], help="or a number: 1000000"
    )
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--loss", nargs="+", choices=list(LOSSES), default=list(LOSSES))
    parser.add_argument("--algorithm", default="k-member", choices=registry.names("algorithms"))
    options = parser.parse_args()
    certify(table_of("pima-indians-diabetes"), 2)  # compile
    lines = Table("table", "k", "loss", "nearest", "bound", "how", "CPU s", options.algorithm, "gap")
    for name in options.data:
        encoded = table_of(name)
        for shown in options.loss:
            for k in options.k:
                lines.add_row(*line(name, encoded, k, shown, options.algorithm))
    Console(width=120).print(lines)


if __name__ == "__main__":
    main()
