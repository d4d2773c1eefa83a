"""What each result shows in a notebook: the verdict or the main numbers, and one picture at the most.

No view holds a value of a table: column names, counts, shares and labels of promises only.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from .parts import Bar, card, curves, heading, note, table

if TYPE_CHECKING:
    from ..attacks.base import Attacks
    from ..auditing import Audit
    from ..comparing import ComparedRun, Comparison
    from ..evidence import Evidence
    from ..release import Described
    from ..report.build import Report
    from ..risk.estimate import Estimate
    from ..risk.exposure import Exposure, Risk
    from ..utility.measuring import Utility

_CERTIFICATE = "nobody loses less"


def evidence_view(evidence: Evidence, *more: str) -> str:
    """Return the verdict and every promise, and below them what else is to be shown."""
    from ..evidence import strength

    rows = [
        (
            promise.model,
            promise.column or "",
            ("at least " if promise.better == "higher" else "at most ") + strength(promise.required),
            strength(promise.achieved),
            str(promise.how),
            "holds" if promise.holds else f"broken by {promise.failing:,} classes",
        )
        for promise in evidence.promises
    ]
    header = ["promise", "sensitive column", "required", "achieved", "established", "verdict"]
    title = "The policy holds" if evidence.holds else "The policy does not hold"
    problems = [note(problem) for problem in evidence.problems]
    promises = table(header, rows, left=6)
    return card(title, promises, *problems, *more, good=evidence.holds)


def release_view(release: Described) -> str:
    """Return the verdict, what it cost, and the loss of every column."""
    evidence, metrics = release.evidence, release.metrics
    counts = f"{evidence.records:,} records in {evidence.classes:,} classes"
    counts += f", {release.partition.suppressed:,} suppressed; by {release.algorithm.name}"
    loss: list[str] = []
    gcp, by_column = metrics.get("gcp"), metrics.get("ncp")
    if isinstance(gcp, float) and isinstance(by_column, dict):
        loss = [heading("Loss: 0 is the original, 1 is nothing left"), loss_table(by_column, gcp, metrics)]
    return evidence_view(evidence, note(counts), *loss)


def loss_table(by_column: Mapping[str, float], gcp: float, metrics: Mapping[str, Any]) -> str:
    """Return the loss of every column and of all, the unavoidable part of which is drawn full."""
    rows: list[tuple[str, Bar]] = [(name, Bar(loss, f"{loss:.4f}")) for name, loss in by_column.items()]
    bound = metrics.get("bound")
    words = "" if bound is None else f", of which {bound:.4f} is proved to be unavoidable"
    rows.append(("all (gcp)", Bar(gcp, f"{gcp:.4f}{words}", min(bound or 0.0, gcp))))
    return table(["column", "loss"], rows)


def audit_view(audit: Audit) -> str:
    """Return who stands out, by which columns, and what is certain about whom."""
    title = f"{audit.records:,} records in {audit.classes:,} classes, {audit.unique:,} of them alone"
    smallest = f"smallest class {audit.smallest_class:,}; {audit.small_share:.1%} in classes of fewer than 5"
    sets = [
        (", ".join(found.columns), f"{found.singled_out:,}", Bar(found.share, f"{found.share:.1%}"))
        for found in audit.identifying
    ]
    shown = table(["knowing only these columns", "records singled out", "share"], sets)
    risks = [
        (
            risk.column,
            f"{risk.certain:,}",
            f"{risk.certain_alone:,}",
            f"{risk.l}",
            f"{risk.t:.3f} ({risk.distance})",
            f"{', '.join(risk.revealing)}: {risk.revealed:,}" if risk.revealing else "-",
        )
        for risk in audit.sensitive
    ]
    header = ["sensitive", "certain, shared", "certain, alone", "l", "t", "most revealing"]
    given = [heading("What classes give away"), table(header, risks)] if risks else []
    return card(title, note(smallest), shown, *given)


def comparison_view(comparison: Comparison) -> str:
    """Return all runs, loss as bars, and the curve of loss against k where there are several k."""
    most = max((row.gcp for row in comparison.rows if row.gcp is not None), default=1.0) or 1.0
    header = ["algorithm", "k", "loss (gcp)", "gap", "classes", "suppressed", "seconds", "holds"]
    parts = [table(header, [_run_row(row, most) for row in comparison.rows])]
    parts += [note(f"{row.algorithm}, k={row.k}: {row.error}") for row in comparison.rows if row.error]
    best = comparison.best()
    if best is not None:
        parts.insert(0, note(f"Least loss: {best.algorithm}" + (f", k={best.k}" if best.k else "")))
    if any(row.bound is not None for row in comparison.rows):
        parts.append(note("Bars are full as far as the loss is proved to be unavoidable."))
    points = comparison.frontier()
    if len(points) > 1:
        lines: dict[str, dict[float, float]] = {}
        for row in comparison.rows:
            if row.k is not None and row.gcp is not None and row.holds:
                lines.setdefault(row.algorithm, {})[row.k] = row.gcp
        lines[_CERTIFICATE] = {point.k: point.bound for point in points if point.bound is not None}
        parts.append(curves(lines, "k", "loss (gcp)", dashed=_CERTIFICATE))
    return card("Comparison", *parts)


def _run_row(row: ComparedRun, most: float) -> list[str | Bar]:
    loss: str | Bar = "-"
    if row.gcp is not None:
        loss = Bar(row.gcp / most, f"{row.gcp:.4f}", min(row.bound or 0.0, row.gcp) / most)
    gap = "-" if row.gap is None else f"{row.gap:.0%}"
    counts = ["-" if value is None else f"{value:,}" for value in (row.classes, row.suppressed)]
    k = "-" if row.k is None else str(row.k)
    return [row.algorithm, k, loss, gap, *counts, f"{row.seconds:.2f}", "yes" if row.holds else "NO"]


def attacks_view(attacks: Attacks) -> str:
    """Return every attack beside guessing, its control and the original."""
    everywhere = len({found.known for found in attacks.results}) == 1
    rows: list[list[str | Bar]] = [
        [
            found.attack,
            *([] if everywhere else [", ".join(found.known)]),
            found.column or "",
            Bar(found.success.value, f"{found.success.value:.1%}"),
            f"{found.success.low:.1%} to {found.success.high:.1%}",
            *(_percent(other) for other in (found.baseline, found.control, found.before)),
        ]
        for found in attacks.results
    ]
    names = ["attack", "learns"] if everywhere else ["attack", "knowing", "learns"]
    header = [*names, "succeeds", "95%", "guessing", "control", "on the original"]
    skipped = [note(f"{each.attack}: not run: {each.reason}") for each in attacks.not_run]
    title = f"{attacks.people:,} of {attacks.records:,} people attacked"
    knowing = note(f"by someone who knows {', '.join(attacks.results[0].known)}") if everywhere else ""
    return card(title, knowing, table(header, rows, left=len(names)), *skipped)


def _percent(found: Estimate | None) -> str:
    return "-" if found is None else f"{found.value:.1%}"


def risk_view(risk: Risk) -> str:
    """Return the risk of the three attackers, before and after."""
    rows: list[tuple[str, ...]] = []
    for word, found in (("before", risk.before), ("after", risk.after)):
        if found is not None:
            rows.append((word, *_exposure_cells(found)))
    header = ["", "records", "alone", "prosecutor, highest", "mean", "journalist, highest", "marketer"]
    return card(f"Risk, knowing {', '.join(risk.quasi)}", table(header, rows))


def _exposure_cells(found: Exposure) -> tuple[str, ...]:
    journalist = "-" if found.journalist is None else f"{found.journalist.highest:.3g}"
    prosecutor = found.prosecutor
    shown = (prosecutor.highest, prosecutor.mean.value, found.marketer.mean.value)
    highest, mean, marketer = (f"{value:.3g}" for value in shown)
    return f"{found.records:,}", f"{prosecutor.uniques:,}", highest, mean, journalist, marketer


def utility_view(utility: Utility) -> str:
    """Return loss and distance of every column, queries and trained models."""
    moved = {each.column: each.total_variation for each in utility.distributions}
    rows: list[tuple[str | Bar, ...]] = [
        (
            name,
            Bar(utility.loss[name], f"{utility.loss[name]:.4f}") if name in utility.loss else "-",
            Bar(distance, f"{distance:.4f}"),
        )
        for name, distance in moved.items()
    ]
    queries = utility.queries
    lines = [
        f"COUNT queries: {queries.median:.1%} off in the median, {queries.mean:.1%} on average",
        f"associations of pairs: {utility.association.difference:.4f} off on average",
    ]
    lines += [
        f"{score.model}: {score.published:.1%} right trained on the release, {score.original:.1%} on the "
        f"original, {score.majority:.1%} by guessing"
        for score in (utility.learning.scores if utility.learning else ())
    ]
    title = f"Utility: {utility.published:,} of {utility.records:,} records published"
    header = ["column", "loss", "distance of the distributions"]
    return card(title, table(header, rows), *(note(line) for line in lines))


def report_view(report: Report) -> str:
    """Return the verdict, and how to get the page."""
    holds = bool(report.facts["verdict"]["holds"])
    title = "Report: the policy holds" if holds else "Report: the policy does not hold"
    return card(title, note('.write_html("report.html") writes the page.'), good=holds)
