"""The privacy-loss curve: what the best of several algorithms loses as k grows, and what nobody avoids."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .comparing import Comparison

_CERTIFICATE = "certificate: nobody loses less"
_WIDTH = 40  # characters of the longest bar
_LEAD = (
    "What a table loses as every record hides among more others. Each line is an algorithm; the certificate "
    "is a loss that no partition of this table into classes of k records can undercut."
)


@dataclass(frozen=True, slots=True)
class FrontierPoint:
    """The least loss found for one k.

    Attributes
    ----------
    k : int
    algorithm : str
        The one that loses least.
    gcp, bound, gap : float
        Its loss, what no partition undercuts, and the share of the loss between the two.
    price : float or None
        What each further record to hide among has cost since the k before; None for the first.
    """

    k: int
    algorithm: str
    gcp: float
    bound: float | None
    gap: float | None
    price: float | None


def frontier(comparison: Comparison) -> list[FrontierPoint]:
    """Return the least loss found for every k that some algorithm met, k ascending.

    Examples
    --------
    >>> import shoal
    >>> found = shoal.compare({"age": [20, 21, 22, 60, 61, 62]}, quasi=["age"], k=[2, 3])
    >>> [(point.k, round(point.gcp, 3)) for point in found.frontier()]
    [(2, 0.048), (3, 0.048)]
    """
    points: list[FrontierPoint] = []
    for k in sorted({row.k for row in comparison.rows if row.k is not None}):
        best = comparison.best(k=k)
        if best is None or best.gcp is None:
            continue
        price = (best.gcp - points[-1].gcp) / (k - points[-1].k) if points else None
        points.append(FrontierPoint(k, best.algorithm, best.gcp, best.bound, best.gap, price))
    return points


def frontier_cells(points: list[FrontierPoint]) -> tuple[list[str], list[list[str]]]:
    """Return headings and rows as texts, a bar in each: the full part is proved to be unavoidable."""
    most = max((point.gcp for point in points), default=0.0)
    rows = []
    for point in points:
        whole = round(_WIDTH * point.gcp / most) if most > 0 else 0
        sure = min(whole, int(_WIDTH * (point.bound or 0.0) / most)) if most > 0 else 0
        price = "" if point.price is None else f"{point.price:+.5f}"
        gap = "-" if point.gap is None else f"{point.gap:.0%}"
        shown = "-" if point.bound is None else f"{point.bound:.4f}"
        bar = "\u2588" * sure + "\u2591" * (whole - sure)
        rows.append([str(point.k), point.algorithm, f"{point.gcp:.4f}", shown, gap, price, bar])
    headings = ["k", "least loss by", "loss (gcp)", "bound", "gap", "per further record", "unavoidable, rest"]
    return headings, rows


def frontier_dicts(comparison: Comparison) -> list[dict[str, Any]]:
    """Return the curve as plain values, for JSON."""
    return [asdict(point) for point in frontier(comparison)]


def frontier_page(comparison: Comparison) -> str:
    """Return the curve as one page that works offline."""
    from .charts.page import Section, render

    headings, rows = comparison.cells()
    texts = tuple(tuple(row) for row in rows)
    points, best = frontier_cells(frontier(comparison))
    sections = [
        Section("Loss by k", _LEAD, chart=frontier_chart(comparison)),
        Section(
            "The least loss for each k",
            "The last column is what each further record to hide among has cost since the k before.",
            tuple(points[:-1]),
            tuple(tuple(row[:-1]) for row in best),
        ),
        Section("All runs", "", tuple(headings), texts),
    ]
    return render("The privacy-loss curve", "Made by shoal compare.", sections)


def frontier_chart(comparison: Comparison) -> dict[str, Any]:
    """Return the curve as a Vega-Lite specification."""
    from .charts.specs import Axis, lines

    rows: list[dict[str, Any]] = [
        {"k": row.k, "loss": row.gcp, "series": row.algorithm}
        for row in comparison.rows
        if row.k is not None and row.gcp is not None and row.holds
    ]
    rows += [
        {"k": point.k, "loss": point.bound, "series": _CERTIFICATE}
        for point in frontier(comparison)
        if point.bound is not None
    ]
    several = len({row["k"] for row in rows}) > 1
    return lines(rows, Axis("k", "k", discrete=not several), Axis("loss", "loss (gcp)"), "series")
