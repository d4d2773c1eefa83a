"""The paper on random aggregation: its experiments in order, its figures, its setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import ClassVar

import numpy as np

from ...charts.specs import Axis, bars, lines
from ...progress import Run
from ..base import Claim, Figure, Paper, Results, Row
from . import experiments as run_of
from .claims import CLAIMS, averages

PARTS = 4
LETTERS = dict(zip("ab", run_of.TABLES, strict=True))  # of the paper's figures
K_AXIS = Axis("k", "k", discrete=True)
WIDTH = 1.96  # standard errors to either side
INTERVALS = "with 95% intervals"


@dataclass(frozen=True)
class RandomAggregation(Paper):
    """Figures 4 to 7: the cost and the loss of top-down, and what rho does to loss and linkage."""

    name: ClassVar[str] = "random-aggregation"
    summary: ClassVar[str] = "Random aggregation: top-down classes and bounded noise"
    citation: ClassVar[str] = "Yang, L.: Random Aggregation: Differential Privacy in k-Anonymity."
    claims: ClassVar[tuple[Claim, ...]] = CLAIMS

    def experiments(self, run: Run) -> Results:
        ks = (3, 8, 9) if self.quick else tuple(range(2, 13))
        draws = 3 if self.quick else 20
        with run.progress.stage("running the experiments", 7) as stage:
            tables = [run_of.prepare(name) for name in run_of.TABLES]
            rows: dict[str, list[Row]] = {"tables": [_described(table) for table in tables]}
            makers: dict[str, Callable[[], list[Row]]] = {
                "partitions": lambda: run_of.partitions(tables, ks, 3 if self.quick else 20, PARTS),
                "noise": lambda: run_of.noise(tables, ks, draws, PARTS),
                "parts": lambda: run_of.part_counts(tables, (1, 2, 4, 8, 16, 32), 5, draws),
                "seedings": lambda: run_of.seedings(tables, 8, 10 if self.quick else 100),
                "attacks": lambda: run_of.attacks(tables, 5, 10 if self.quick else 60),
                "neighbours": lambda: run_of.neighbours(200 if self.quick else 5000),
                "exchangeability": lambda: run_of.exchangeability(tables, 5, 10 if self.quick else 50),
            }
            for name, make in makers.items():
                rows[name] = make()
                stage.advance()
        return Results(rows)

    def figures(self, results: Results) -> list[Figure]:
        return [*_partition_figures(results), *_noise_figures(results), *_other_figures(results)]

    def setting(self) -> str:
        return (
            "Breast Cancer Wisconsin (original): its 9 features, the 16 records with a missing value left "
            "out; Pima: all 8 features. Columns are scaled to [0, 1] as in Eq. 7, c = "
            f"{PARTS} parts (the paper leaves c open), variant 'paper' of top-down and bottom-up; bottom-up "
            "is reconstructed from what this paper says of it. IL is with squared distances, as the text and "
            "all cited works have it; il_norm is Eq. 2 and 3 as printed. DLD counts ties with their chance. "
            "The paper prints no numbers for its figures, so ours stand alone: its curves are judged by "
            "their shape. Times are of the partition alone, both methods compiled."
        )


def _described(table: run_of.Prepared) -> Row:
    records, columns = table.read
    return {"table": table.name, "records": records, "columns": columns, "complete": table.scaled.shape[1]}


def _partition_figures(results: Results) -> list[Figure]:
    figures = []
    for letter, table in LETTERS.items():
        rows = [row for row in _averaged(results) if row["table"] == table]
        seconds = [
            {key: row[key] for key in ("k", "algorithm", "seconds", "seconds_interval")} for row in rows
        ]
        loss = [{key: row[key] for key in ("k", "algorithm", "il", "il_interval", "il_norm")} for row in rows]
        figures += [
            Figure(
                f"figure-4{letter}",
                f"Figure 4{letter}: running time, {table}",
                f"CPU seconds of one run, mean over seeds, {INTERVALS} in the table.",
                seconds,
                bars(seconds, K_AXIS, Axis("seconds", "CPU seconds"), "algorithm"),
            ),
            Figure(
                f"figure-5{letter}",
                f"Figure 5{letter}: loss of top-down and bottom-up, {table}",
                f"Mean over seeds, {INTERVALS}.",
                loss,
                lines(loss, K_AXIS, Axis("il", "IL, %", error="il_interval"), "algorithm"),
            ),
        ]
    return sorted(figures, key=lambda figure: figure.key)


def _averaged(results: Results) -> list[Row]:
    """Return the mean over seeds for every table, k and algorithm."""
    means = {value: averages(results, value) for value in ("seconds", "il", "il_norm")}
    rows = []
    for table, k, name in means["seconds"]:
        runs = results.where("partitions", table=table, k=k, algorithm=name)
        row: Row = {"table": table, "k": k, "algorithm": name}
        row |= {value: mean[table, k, name] for value, mean in means.items()}
        for value in ("seconds", "il"):
            spread = float(np.std([run[value] for run in runs], ddof=1))
            row[f"{value}_interval"] = WIDTH * spread / len(runs) ** 0.5
        rows.append(row)
    return rows


def _noise_figures(results: Results) -> list[Figure]:
    figures = []
    note = f"Mean over partitions and draws, {INTERVALS}; 'random' is the noise of Song et al."
    shown = {6: (("il", "il_norm"), "loss", "IL, %"), 7: (("dld",), "DLD", "DLD")}
    for (number, (values, word, title)), (letter, table) in product(shown.items(), LETTERS.items()):
        rows = [
            {
                "k": row["k"],
                "rho": str(row["rho"]),
                "draws": row["draws"],
                "interval": WIDTH * row[f"{values[0]}_error"],
                **{value: row[value] for value in values},
            }
            for row in results.where("noise", table=table)
        ]
        chart = lines(rows, K_AXIS, Axis(values[0], title, error="interval"), "rho")
        heading = f"Figure {number}{letter}: {word} over rho, {table}"
        figures.append(Figure(f"figure-{number}{letter}", heading, note, rows, chart))
    return figures


def _other_figures(results: Results) -> list[Figure]:
    notes = {
        "parts": ("The number of parts", "Top-down, k = 5."),
        "attacks": (
            "Guessing the last member of a class",
            "Mean error on columns scaled to [0, 1], beside that of a guess without the publication (blind).",
        ),
        "neighbours": (
            "Two tables that differ in one record: {0, 2, 4} and {0, 2, 100}, k = 3",
            "Share of what the second gives that the first can never give.",
        ),
        "exchangeability": (
            "Does the published number tell which member it belongs to?",
            "Correlation of the own and the published distance from the centroid.",
        ),
        "tables": ("The tables", "As read, and the records without missing values."),
    }
    return [Figure(key, title, note, results.rows[key]) for key, (title, note) in notes.items()]
