"""The DOP paper: its experiments in order, its figures, its setting."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

from ...charts.specs import Axis, lines
from ...progress import Run
from ..base import Claim, Figure, Paper, Results, Row
from . import experiments as run_of
from .claims import CLAIMS, chosen
from .data import CANDIDATES
from .printed import NCP, SETTINGS, at, label
from .unbeaten import unbeaten

FIGURES = dict(zip((3, 4, 5), NCP, strict=True))  # number of the figure -> data set
SETTING = Axis("setting", "(k, l)", discrete=True)
LOSS = Axis("ncp", "NCP")
FULL = "bank-full"  # ten times the records of the likelier file


@dataclass(frozen=True)
class DensityDriven(Paper):
    """Table II and figures 3 to 5, ours beside theirs, and what eps, noise and the order of categories do."""

    name: ClassVar[str] = "dop"
    summary: ClassVar[str] = "DOP: density clusters, then the best of all cuts"
    citation: ClassVar[str] = (
        "Sharma, A., Kumar, N. and Reddy, M. S.: A Density-Driven Anonymization Framework for Privacy "
        "Preservation and Data Utility Optimization."
    )
    claims: ClassVar[tuple[Claim, ...]] = CLAIMS

    def experiments(self, run: Run) -> Results:
        candidates = [c for c in CANDIDATES if not self.quick or c.file != FULL]
        full = next(c for c in CANDIDATES if c.file == FULL)
        settings = SETTINGS[2:3] if self.quick else SETTINGS[1:]
        sizes = (2_000, 5_000) if self.quick else (2_500, 5_000, 10_000, 20_000, 45_211)
        with run.progress.stage("running the experiments", 8) as stage:
            rows: dict[str, list[Row]] = {"files": run_of.files(candidates)}
            taken = set(run_of.likeliest(rows["files"]).values())
            likely = [c for c in candidates if c.file in taken]
            makers: dict[str, Callable[[], list[Row]]] = {
                "table-2": lambda: run_of.table_two(candidates),
                "unbeaten": lambda: unbeaten(candidates, rows["files"], rows["table-2"]),
                "ablation": lambda: run_of.ablation(likely, settings),
                "weights": lambda: run_of.weights(likely),
                "models": lambda: run_of.models(likely),
                "task": lambda: run_of.task(likely, (5, 2)),
                "growth": lambda: run_of.growth(full, sizes, (5, 2)),
            }
            stage.advance()
            for name, make in makers.items():
                rows[name] = make()
                stage.advance()
        return Results(rows)

    def figures(self, results: Results) -> list[Figure]:
        return [
            *(_figure(results, number, dataset) for number, dataset in FIGURES.items()),
            _table_two(results),
            _ablated(results),
            *_others(results),
        ]

    def setting(self) -> str:
        return (
            "Quasi-identifiers and sensitive columns as in section V.A; 'travelttime' is traveltime and "
            "'target' is num. The paper does not say which file of a data set it used: the one taken has the "
            "attributes of Table I and comes nearest to the printed Mondrian figures (table 'Which files'). "
            "NCP is Eq. 4 and 5, categories as sets, a masked cell 1, over all records. The paper gives "
            "neither eps nor min_samples nor a scale: columns are scaled to [0, 1], min_samples is "
            "max(k, columns + 1), eps the elbow of the k-distance curve. 'As described' is variant 'paper', "
            "'shoal dop' the default."
        )


def _figure(results: Results, number: int, dataset: str) -> Figure:
    """Return one of figures 3 to 5: printed and ours, on the file taken for the data set."""
    file = chosen(results)[dataset]
    rows: list[Row] = []
    for setting in SETTINGS:
        found = [(f"printed {method}", at(dataset, method, setting)) for method in ("Mondrian", "Proposed")]
        made = results.where("table-2", file=file, setting=label(setting))
        found += [(row["method"], row["ncp"]) for row in made]
        rows += [{"setting": label(setting), "method": method, "ncp": ncp} for method, ncp in found]
    title = f"Figure {number}: NCP over (k, l), {dataset}"
    note = f"File {file}; k-member, which the paper does not run, for reference."
    return Figure(f"figure-{number}", title, note, rows, lines(rows, SETTING, LOSS, "method"))


def _table_two(results: Results) -> Figure:
    """Return Table II on every file, one row a file and method."""
    rows: list[Row] = []
    taken = set(chosen(results).values())
    for described in results.rows["files"]:
        dataset, file = described["dataset"], described["file"]
        lines_of = {
            f"printed {method}": dict(zip(map(label, SETTINGS), cells, strict=True))
            for method, cells in NCP[dataset].items()
        }
        for row in results.where("table-2", file=file):
            lines_of.setdefault(row["method"], {})[row["setting"]] = round(row["ncp"], 4)
        one_cut = {label(s): round(described[f"{run_of.ONE_CUT} {label(s)}"], 4) for s in SETTINGS}
        for method, cells in {**lines_of, run_of.ONE_CUT: one_cut}.items():
            mark = "taken" if file in taken else ""
            rows.append({"dataset": dataset, "file": file, "": mark, "method": method} | cells)
    note = (
        "NCP (Eq. 4 and 5). The printed rows are the same for both files of a data set; one-cut mondrian is "
        "what the printed Mondrian figures are compared with in 'Which files'."
    )
    return Figure("table-2", "Table II: NCP, ours beside theirs, on every file it could be", note, rows)


def _ablated(results: Results) -> Figure:
    """Return the ablation, one row a choice and one column a file and setting."""
    rows: dict[tuple[str, str, str], Row] = {}
    for row in results.rows["ablation"]:
        key = (row["factor"], row["value"], row["variant"])
        line = rows.setdefault(key, {"choice": key[0], "value": key[1], "variant": key[2]})
        line[f"{row['file']} {row['setting']}"] = round(row["ncp"], 4)
    note = (
        "NCP when one choice is changed and the rest stays with the variant (without the search over "
        "reaches, but for its own two rows). The share of noise and the number of clusters are in "
        "scorecard.json."
    )
    return Figure("ablation", "Ablation: eps, noise, order of categories, weights", note, list(rows.values()))


def _others(results: Results) -> list[Figure]:
    eps = [
        {**row, "eps": float(row["value"]), "file": f"{row['file']} {row['setting']}"}
        for row in results.where("ablation", variant="paper", factor="eps")
        if row["value"] not in ("elbow", "no clustering")
    ]
    shown = [{key: row[key] for key in ("file", "eps", "ncp", "clusters", "noise")} for row in eps]
    notes = {
        "unbeaten": (
            "Cells that shoal's dop does not beat, and why",
            "'Least possible' is a bound that no partition is below: every record with its nearest others.",
        ),
        "files": (
            "Which files are the paper's",
            "The printed Mondrian figures against a Mondrian that cuts the widest column of numbers at its "
            "median and gives up where that fails (its NCP is in Table II). The file taken has the "
            "attributes of Table I, then most cells equal to the printed digits, then the least difference.",
        ),
        "models": ("Other models as a constraint, k = 5", "'Without' is the release with k = 5 alone."),
        "growth": ("Time", "Processor seconds of one core, l = 2 and k = 5, compiled."),
        "weights": ("Weights of the columns in the distance", "Eq. 1 (cardinality), and its inverse."),
    }
    shapes = [
        {name: value for name, value in row.items() if not name.startswith(run_of.ONE_CUT)}
        for row in results.rows["files"]
    ]
    tables = [
        Figure(key, title, note, shapes if key == "files" else results.rows[key])
        for key, (title, note) in notes.items()
    ]
    gains = results.rows["task"]
    return [
        Figure(
            "eps",
            "What eps does in DOP as described",
            "Variant 'paper' over fixed reaches.",
            shown,
            lines(shown, Axis("eps", "eps"), LOSS, "file"),
        ),
        Figure(
            "task",
            "A target in the objective, (5, 2)",
            "The share of the sensitive column's entropy in the score of a cut: information gain of the "
            "classes in bits, and how often the majority of a class is right.",
            gains,
            lines(gains, LOSS, Axis("information gain", "information gain, bits"), "file"),
        ),
        *tables,
    ]
