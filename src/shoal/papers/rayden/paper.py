"""The RAYDEN paper: its experiments in order, its figures, its setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ...charts.specs import Axis, lines
from ...progress import Run
from ..base import Claim, Figure, Paper, Results, Row
from . import experiments as run_of
from .claims import CLAIMS, TABLE_3
from .experiments import Adult

K_AXIS = Axis("k", "k", discrete=True)
WIDTH = 1.96  # standard errors to either side
SHOWN = {
    "sets": "age and education-num as numbers, six categories without hierarchies",
    "hierarchies": "age as a number, seven categories with ARX's hierarchies",
    "numeric": "Adult's six numbers",
}
UTILITY = {3: ("dm", "DM", "DM"), 4: ("cavg", "CAVG", "CAVG"), 5: ("gcp", "GCP", "GCP")}


@dataclass(frozen=True)
class RaydenPaper(Paper):
    """Experiments 1 to 3 and Table 3: time, loss and outliers of RAYDEN on Adult, beside three others."""

    name: ClassVar[str] = "rayden"
    summary: ClassVar[str] = "RAYDEN: vantage-point trees and recovered outliers"
    citation: ClassVar[str] = (
        "Haruna, C. R., Asante-Mensah, M. G., Doe, F. S. and Amofa, S. K. (2026): Data Privacy and Utility "
        "Trade-Off: An Efficient K-Anonymization Algorithm with Low Information Loss. IJLTEMAS 15(4)."
    )
    claims: ClassVar[tuple[Claim, ...]] = CLAIMS

    def experiments(self, run: Run) -> Results:
        ks = (5, 10, 50) if self.quick else (5, 10, 15, 20, 25, 50, 100)
        sizes = (1000, 2000, 10_000) if self.quick else (1000, 1500, 2000, 5000, 10_000, 20_000, 30_000)
        samples = 2 if self.quick else 10
        records, many = (1000, 2000) if self.quick else (2000, 10_000)
        with run.progress.stage("running the experiments", 8) as stage:
            adult = Adult.read()
            run_of.warm_up(adult)
            makers: dict[str, Callable[[], list[Row]]] = {
                "utility": lambda: run_of.utility(adult, ks, samples, records),
                "scalability": lambda: run_of.scalability(adult, sizes, 10, 3),
                "outliers": lambda: run_of.outliers(adult, ks, many),
                "handling": lambda: run_of.handling(adult, ks, samples, records),
                "parts": lambda: run_of.literal_removal(adult, ks, records),
                "vantages": lambda: run_of.vantages(adult, ks, samples, records),
                "closeness": lambda: run_of.closeness(adult, ks, records),
                "models": lambda: run_of.other_models(adult, 5, records),
            }
            rows: dict[str, list[Row]] = {}
            for name, make in makers.items():
                rows[name] = make()
                stage.advance()
        return Results(rows)

    def figures(self, results: Results) -> list[Figure]:
        over_k, *over_records = _time_figures(results)
        return [
            over_k,
            *_utility_figures(results),
            *over_records,
            _table_3(results),
            _vantage_figure(results),
            _handling_table(results),
            *_other_figures(results),
        ]

    def setting(self) -> str:
        return (
            "The 30,162 complete records of Adult, samples drawn without replacement (the paper does not say "
            "which 2,000 it took; ours is the mean over several samples). Its list of quasi-identifiers is "
            "taken in three ways: 'sets' (two numbers, six categories without hierarchies), 'hierarchies' "
            "(age and seven categories with ARX's hierarchies, the common ancestor published) and 'numeric' "
            "(Adult's six numbers, where CANON is at home; elsewhere it measures distances between numbers "
            "only). GCP counts suppressed records as 1 and DM as n each. 'rayden (paper)' follows the text, "
            "except that outliers are given back where their part would fall under k, which would not be "
            "k-anonymous otherwise, and halves are cut by rank. 'rayden (repaired)' is shoal's default. "
            "Mondrian with COF is known from this paper's description only. Figures of the paper carry no "
            "numbers; those of Table 3 stand beside ours. Times are CPU seconds of the partition alone, all "
            "methods compiled."
        )


def _averaged(results: Results, setting: str, value: str) -> list[Row]:
    """Return the mean of a value over samples, with half the width of its interval."""
    groups: dict[tuple[int, str], list[float]] = {}
    for row in results.where("utility", setting=setting):
        groups.setdefault((row["k"], row["algorithm"]), []).append(row[value])
    return [
        {
            "k": k,
            "algorithm": name,
            value: float(np.mean(found)),
            "interval": WIDTH * float(np.std(found, ddof=1)) / len(found) ** 0.5,
        }
        for (k, name), found in groups.items()
    ]


def _utility_figures(results: Results) -> list[Figure]:
    figures = []
    for number, (value, word, title) in UTILITY.items():
        for setting, what in SHOWN.items():
            rows = _averaged(results, setting, value)
            chart = lines(rows, K_AXIS, Axis(value, title, log=value == "dm", error="interval"), "algorithm")
            note = f"Quasi-identifiers: {what}. Mean over samples, with 95% intervals."
            heading = f"Figure {number}: {word} over k, {setting}"
            figures.append(Figure(f"figure-{number}-{setting}", heading, note, rows, chart))
    return figures


def _time_figures(results: Results) -> list[Figure]:
    spent = _averaged(results, "sets", "seconds")
    growth = results.rows["scalability"]
    records = Axis("records", "records", log=True)
    each = [{key: row[key] for key in ("records", "algorithm", "per_n_log_n")} for row in growth]
    return [
        Figure(
            "figure-2",
            "Figure 2: time over k",
            "CPU seconds of one run on the sample, mean over samples, setting 'sets'; logarithmic.",
            spent,
            lines(spent, K_AXIS, Axis("seconds", "CPU seconds", log=True), "algorithm"),
        ),
        Figure(
            "figure-6",
            "Figure 6: time over the number of records, k = 10",
            "The least CPU time of three runs, setting 'sets'; both axes logarithmic.",
            growth,
            lines(growth, records, Axis("seconds", "CPU seconds", log=True), "algorithm"),
        ),
        Figure(
            "growth",
            "Does time grow as n log n?",
            "CPU time over n log2 n, in microseconds: a level line is n log n, a quadratic method would rise "
            "twentyfold from left to right.",
            each,
            lines(each, records, Axis("per_n_log_n", "µs per n log2 n", log=True), "algorithm"),
        ),
    ]


def _table_3(results: Results) -> Figure:
    printed = {
        (row[0], name): counts
        for row in TABLE_3
        for name, counts in (("mondrian-cof", row[1:4]), ("rayden (paper)", row[4:7]))
    }
    rows = []
    for row in results.rows["outliers"]:
        theirs = printed.get((row["k"], row["algorithm"]), ("", "", ""))
        names = ("paper: detected", "paper: recovered", "paper: suppressed")
        rows.append({**row, **dict(zip(names, theirs, strict=True))})
    note = (
        "Setting 'sets', up to 5% may be suppressed. Halves cut by rank all hold k outliers or more, so that "
        "nothing is suppressed unless all outliers together are fewer than k; the paper's suppressed records "
        "need cuts by value, where ties leave parts under k."
    )
    return Figure("table-3", "Table 3: outliers detected, recovered and suppressed", note, rows)


def _vantage_figure(results: Results) -> Figure:
    groups: dict[tuple[str, int], list[float]] = {}
    for row in results.rows["vantages"]:
        rule = f"{row['vantage']}, {row['radius']}"
        groups.setdefault((rule, row["k"]), []).append(row["gcp"])
    rows: list[Row] = [
        {"rule": rule, "k": k, "gcp": float(np.mean(found))} for (rule, k), found in groups.items()
    ]
    kept = [row for row in rows if row["rule"].endswith((", half", ", cheapest"))]
    note = (
        "Centre and size of a ball, no outliers set aside, setting 'sets'. Random and half is the paper's "
        "rule, tightest and cheapest the default."
    )
    chart = lines(kept, K_AXIS, Axis("gcp", "GCP"), "rule")
    return Figure("vantages", "Which vantage point, how large a ball?", note, rows, chart)


def _handling_table(results: Results) -> Figure:
    groups: dict[tuple[str, int, str], list[Row]] = {}
    for row in results.rows["handling"]:
        groups.setdefault((row["setting"], row["k"], row["algorithm"]), []).append(row)
    rows = []
    for (setting, k, name), found in groups.items():
        measured = [value for value in found[0] if value.startswith(("gcp", "dm", "detected"))]
        means = {value: float(np.mean([row[value] for row in found])) for value in measured}
        rows.append({"setting": setting, "k": k, "algorithm": name, **means})
    note = (
        "GCP and DM with outliers in classes of their own (aside), left where they are (kept), and if none "
        "were recovered (suppressed). Mean over samples."
    )
    return Figure("handling", "What setting outliers aside does", note, rows)


def _other_figures(results: Results) -> list[Figure]:
    notes = {
        "parts": (
            "The paper's parts when all outliers leave",
            "Sizes before, how many parts have outliers, and how many would be left under k.",
        ),
        "closeness": ("How near are the records of a class?", "Mean Gower distance of two of one class."),
        "models": (
            "Other models as acceptance rules",
            "Nothing repaired: 'broken' counts classes that break a promise on salary-class.",
        ),
    }
    return [Figure(key, title, note, results.rows[key]) for key, (title, note) in notes.items()]
