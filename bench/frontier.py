"""Is `auto` as good as the best single algorithm? python bench/frontier.py --k 5 10 20 --only adult

The loss (gcp; the squared error where means are published) of `auto` and of every algorithm alone, for each
data set and k, and the ratio of `auto` to the best of them: 1.01 is one per cent worse. An algorithm that
took longer than `--patience` at one k is left out of the later ones, and one in `QUADRATIC` of tables of more
than `--records`.
"""

from __future__ import annotations

import argparse
import time
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
from pyarrow import csv
from rich.console import Console
from rich.table import Table

import shoal
from shoal.algorithms.auto import loss_of, means_of_numbers
from shoal.encoding import encode
from shoal.errors import ShoalError
from tables import ADULT_COLUMNS, CATEGORIES, data_folder

QUADRATIC = ("fuzzy-k-member", "gcaa", "kfcfa", "klt3l", "p-sensitive", "rayden", "canon", "mondrian-cof")
PLAIN: dict[str, tuple[str, ...]] = {
    "bank-full": ("age", "job", "marital", "education", "housing"),
    "bank": ("age", "job", "marital", "education", "housing"),
    "heart_cleveland": ("age", "sex", "cp", "trestbps", "chol"),
    "heart_disease_920": ("age", "sex", "cp", "trestbps", "chol"),
    "student-mat": ("school", "sex", "age", "address", "famsize", "Mjob", "Fjob"),
    "student-por": ("school", "sex", "age", "address", "famsize", "Mjob", "Fjob"),
    "pima-indians-diabetes": (),
    "breast-cancer-wisconsin": (),
    "wdbc": (),
}
MEANS = ("tarragona", "census_casc", "eia")
EGO = (
    "facebook_ego0_binary",
    "facebook_ego0_categorical",
    "twitter_ego12831_binary",
    "twitter_ego12831_categorical",
)  # every column but the node
EIA = 11  # UTILITYID and the ten columns of revenue and sales


@dataclass(frozen=True)
class Case:
    """A data set and its quasi-identifiers."""

    name: str
    table: pa.Table
    quasi: dict[str, object]


def read(name: str) -> pa.Table:
    """Return a data set, empty fields being null."""
    options = csv.ConvertOptions(strings_can_be_null=True)
    return csv.read_csv(data_folder() / f"{name}.csv", convert_options=options)


def numbers(name: str, table: pa.Table) -> list[str]:
    """Return the columns of numbers that describe a person or a company: no record number, no class."""
    found = [f.name for f in table.schema if pa.types.is_integer(f.type) or pa.types.is_floating(f.type)]
    if name == "eia":
        revenue = [column for column in found if "REV" in column or "SALES" in column]
        return ["UTILITYID", *revenue][:EIA]
    return [column for column in found if column not in ("id", "class", "outcome", "diagnosis", "target")]


def cases(only: list[str] | None) -> Iterator[Case]:
    """Yield the data sets."""
    if only is None or "adult" in only:
        kinds = {c: "categorical" if c in CATEGORIES else "numeric" for c in ADULT_COLUMNS}
        yield Case("adult", read("adult").drop_null(), dict(kinds))
        tree = {
            column: shoal.Hierarchy.read(data_folder() / "hierarchies" / f"adult_{column}.csv")
            for column in CATEGORIES
        }
        yield Case("adult, hierarchies", read("adult").drop_null(), {**kinds, **tree})
    if only is None or "adult_test" in only:
        kinds = {c: "categorical" if c in CATEGORIES else "numeric" for c in ADULT_COLUMNS}
        yield Case("adult_test", read("adult_test").drop_null(), dict(kinds))
    for name in EGO:
        if only is None or name in only:
            table = read(name).drop_columns(["node_id"])
            yield Case(name, table, dict.fromkeys(table.column_names, "categorical"))
    for name, columns in PLAIN.items():
        if only is None or name in only:
            table = read(name)
            yield Case(name, table, dict.fromkeys(columns or numbers(name, table)))
    for name in MEANS:
        if only is None or name in only:
            table = read(name)
            forms = {c: shoal.Column(c, kind="numeric", form="mean") for c in numbers(name, table)}
            yield Case(name, table, dict(forms))


def loss(case: Case, k: int, algorithm: str) -> tuple[float | None, float]:
    """Return the loss of an algorithm, None where it refuses, and its seconds."""
    quasi = {c: c if kind is None else kind for c, kind in case.quasi.items()}
    plain = all(kind is None for kind in case.quasi.values())
    policy = shoal.Policy(quasi=list(quasi) if plain else quasi, models=[shoal.KAnonymity(k)])
    policy = policy.resolved(case.table)
    encoded = encode(case.table, policy)
    began = time.perf_counter()
    try:
        made = shoal.partition(encoded, policy, algorithm=algorithm)
    except ShoalError:
        return None, time.perf_counter() - began
    spent = time.perf_counter() - began
    return loss_of(made, encoded, "sse" if means_of_numbers(encoded) else "gcp"), spent


def lines(case: Case, options: argparse.Namespace) -> Iterator[list[str]]:
    """Yield a line for every k."""
    names = options.algorithms or [name for name in shoal.algorithms() if name != "auto"]
    if case.table.num_rows > options.records:
        names = [name for name in names if name not in QUADRATIC]
    for k in options.k:
        own, seconds = loss(case, k, "auto")
        found = {}
        for name in list(names):
            found[name], spent = loss(case, k, name)
            if spent > options.patience:
                names.remove(name)
        kept = {name: value for name, value in found.items() if value is not None}
        second, best = sorted(kept, key=lambda name: kept[name])[:2][::-1]
        ratio = "-" if own is None else f"{own / kept[best]:.3f}" if kept[best] > 0 else f"{own:.4f}"
        told = "refused" if own is None else f"{own:.4f}"
        others = (f"{name} {kept[name]:.4f}" for name in (best, second))
        size = f"{case.table.num_rows:,} x {len(case.quasi)}"
        yield [case.name, size, str(k), told, f"{seconds:.1f}", *others, ratio]


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument("--only", nargs="+", help="data sets")
    parser.add_argument(
        "--records", type=int, default=2000, help="most for algorithms that compare all pairs"
    )
    parser.add_argument("--patience", type=float, default=60.0, help="seconds for one algorithm")
    parser.add_argument("--algorithms", nargs="+", help="beside auto; all")
    options = parser.parse_args()
    columns = ["data set", "size", "k", "auto", "s", "best other", "second", "auto / best"]
    shown = Table(*columns)
    for case in cases(options.only):
        for line in lines(case, options):
            shown.add_row(*line)
            print("  ".join(line), flush=True)
    Console(width=140).print(shown)


if __name__ == "__main__":
    main()
