"""The same scorecard for every paper: a folder with tables, charts, an offline page and the verdicts."""

from __future__ import annotations

import csv
import json
import platform
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..charts.page import Section, render
from ..progress import Run
from .base import Figure, Finding, Paper, Results


@dataclass(frozen=True, slots=True)
class Scorecard:
    """A paper's results, figures and findings.

    Attributes
    ----------
    paper : Paper
    results : Results
    figures : list of Figure
    findings : list of Finding
    """

    paper: Paper
    results: Results
    figures: list[Figure]
    findings: list[Finding]

    def counts(self) -> dict[str, int]:
        """Return how many claims got each verdict."""
        return dict(Counter(str(finding.verdict) for finding in self.findings))

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "paper": self.paper.name,
            "citation": self.paper.citation,
            "setting": self.paper.setting(),
            "quick": self.paper.quick,
            "machine": machine(),
            "findings": [
                {"where": f.where, "claim": f.claim, "measured": f.measured, "verdict": str(f.verdict)}
                for f in self.findings
            ],
            "experiments": self.results.rows,
        }

    def write(self, folder: str | Path) -> Path:
        """Write the scorecard into a folder and return the path of its page."""
        folder = Path(folder)
        (folder / "figures").mkdir(parents=True, exist_ok=True)
        (folder / "scorecard.json").write_text(json.dumps(self.to_dict(), indent=2) + "\n", encoding="utf-8")
        (folder / "scorecard.md").write_text(self.markdown(), encoding="utf-8")
        for figure in self.figures:
            _write_rows(folder / "figures" / f"{figure.key}.csv", list(figure.rows))
            if figure.chart is not None:
                path = folder / "figures" / f"{figure.key}.vl.json"
                path.write_text(json.dumps(figure.chart, indent=1) + "\n", encoding="utf-8")
        page = folder / "index.html"
        page.write_text(self.html(), encoding="utf-8")
        return page

    def markdown(self) -> str:
        """Return the verdicts as a Markdown table."""
        head = [f"# {self.paper.summary}", "", self.paper.citation, "", self.paper.setting(), ""]
        head += ["| where | claim | measured | verdict |", "|---|---|---|---|"]
        rows = [f"| {f.where} | {f.claim} | {f.measured} | {f.verdict} |" for f in self.findings]
        return "\n".join([*head, *rows, ""])

    def html(self) -> str:
        """Return the offline page."""
        verdicts = tuple((f.where, f.claim, f.measured, str(f.verdict)) for f in self.findings)
        first = Section("Claims", self.paper.setting(), ("where", "claim", "measured", "verdict"), verdicts)
        return render(f"{self.paper.summary}", self.paper.citation, [first, *map(_section, self.figures)])


def reproduce(paper: Paper, run: Run) -> Scorecard:
    """Run a paper's experiments and judge its claims."""
    results = paper.experiments(run)
    return Scorecard(paper, results, paper.figures(results), paper.findings(results))


def machine() -> str:
    """Return what the times were measured on, in one line."""
    import os

    python = platform.python_version()
    return f"{platform.system()} {platform.machine()}, {os.cpu_count()} cores, Python {python}"


def _section(figure: Figure) -> Section:
    header = tuple(figure.rows[0]) if figure.rows else ()
    rows = tuple(tuple(_rounded(row.get(name)) for name in header) for row in figure.rows)
    return Section(figure.title, figure.note, header, rows, figure.chart)


def _rounded(value: Any) -> Any:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return float(f"{value:.5g}") if isinstance(value, float) else value


def _write_rows(path: Path, rows: list[dict[str, Any]]) -> None:
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, fieldnames=list(rows[0]) if rows else [])
        writer.writeheader()
        writer.writerows(rows)
