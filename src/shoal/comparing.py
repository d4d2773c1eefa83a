"""Compare: what several algorithms reach on one table under one policy, for one or several k."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass, replace
from typing import TYPE_CHECKING, Any

from .certificate import gap_of
from .errors import PolicyUnsatisfiable, UnknownName
from .frontier import FrontierPoint, frontier, frontier_dicts, frontier_page
from .policy import Policy
from .progress import Run

if TYPE_CHECKING:
    from .release import Release

_SHOWN = (
    ("algorithm", "algorithm", "{}"),
    ("k", "k", "{}"),
    ("gcp", "loss (gcp)", "{:.4f}"),
    ("bound", "bound", "{:.4f}"),
    ("gap", "gap", "{:.0%}"),
    ("cavg", "cavg", "{:.3f}"),
    ("dm", "dm", "{:,.0f}"),
    ("classes", "classes", "{:,}"),
    ("suppressed", "suppressed", "{:,}"),
    ("seconds", "seconds", "{:.2f}"),
    ("holds", "holds", "{}"),
)


@dataclass(frozen=True, slots=True)
class ComparedRun:
    """What one algorithm reached for one k.

    Attributes
    ----------
    algorithm : str
    k : int or None
        None where the policy has no k-anonymity.
    gcp, cavg, dm : float or None
        Loss between 0 and 1, average class size over k, and discernibility; lower is better, None without a
        release.
    suppressed, classes : int or None
    seconds : float
        Time to partition and repair; in the first run of a machine it includes compilation.
    holds : bool
        Whether every promise was found to hold in the published table.
    error : str
        Why there is no release; empty when there is one.
    bound, gap : float or None
        A loss that no partition undercuts for this k, and the share of the loss between the two.
    """

    algorithm: str
    k: int | None
    gcp: float | None
    cavg: float | None
    dm: float | None
    suppressed: int | None
    classes: int | None
    seconds: float
    holds: bool
    error: str = ""
    bound: float | None = None
    gap: float | None = None


@dataclass(frozen=True, slots=True)
class Comparison:
    """One row per algorithm and k. Printed as a table.

    Examples
    --------
    >>> Comparison((ComparedRun("mondrian", 5, 0.25, 1.2, 90.0, 0, 4, 0.01, True),)).best().algorithm
    'mondrian'
    """

    rows: tuple[ComparedRun, ...]

    def best(self, metric: str = "gcp", k: int | None = None) -> ComparedRun | None:
        """Return the row with the least `metric` ("gcp", "cavg", "dm", "suppressed" or "seconds") that holds.

        `k` restricts the choice to one k; None is returned when no row holds.
        """
        known = ["gcp", "cavg", "dm", "suppressed", "seconds"]
        if metric not in known:
            raise UnknownName.nearest("metric of a comparison", metric, known)
        able = [
            row
            for row in self.rows
            if row.holds and (k is None or row.k == k) and getattr(row, metric) is not None
        ]
        return min(able, key=lambda row: getattr(row, metric), default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return the rows and the curve as plain values, for JSON."""
        return {"rows": [asdict(row) for row in self.rows], "frontier": frontier_dicts(self)}

    def frontier(self) -> list[FrontierPoint]:
        """Return the privacy-loss curve: the least loss found for every k, and what nobody avoids."""
        return frontier(self)

    def page(self) -> str:
        """Return the curve and all rows as one HTML page that works offline."""
        return frontier_page(self)

    def cells(self) -> tuple[list[str], list[list[str]]]:
        """Return headings and rows as texts."""
        headings = [heading for _name, heading, _shape in _SHOWN]
        return headings, [
            [_cell(getattr(row, name), shape) for name, _heading, shape in _SHOWN] for row in self.rows
        ]

    def _repr_html_(self) -> str:
        from .notebook.views import comparison_view

        return comparison_view(self)

    def __str__(self) -> str:
        headings, rows = self.cells()
        widths = [max(map(len, column)) for column in zip(headings, *rows, strict=True)]
        lines = [
            "  ".join(cell.ljust(width) for cell, width in zip(line, widths, strict=True)).rstrip()
            for line in [headings, *rows]
        ]
        reasons = [f"{row.algorithm}, k={row.k}: {row.error}" for row in self.rows if row.error]
        return "\n".join([*lines, *reasons])


def _cell(value: Any, shape: str) -> str:
    if value is None:
        return "-"
    return {True: "yes", False: "NO"}[value] if isinstance(value, bool) else shape.format(value)


def compare_algorithms(
    data: Any, policy: Policy, algorithms: tuple[str, ...], k: tuple[int, ...] | None, run: Run
) -> Comparison:
    """Return what each algorithm reaches for each k, every release made and verified as `anonymize` does.

    Parameters
    ----------
    data : any frame
        The table.
    policy : Policy
        Its k-anonymity is replaced by each `k` in turn; other models stay.
    algorithms : tuple of str
        Registered names.
    k : tuple of int, optional
        Only the policy's own when None.
    run : Run
        Seed and progress, the same for every row.
    """
    from . import api, registry

    ephemeral = secrets.token_bytes(32)  # no release leaves this function, so no pseudonym does
    for name in algorithms:
        registry.get("algorithms", name)  # an unknown name is refused before any work is done
    policies = [policy] if k is None else [with_k(policy, each) for each in k]

    def release_of(name: str, chosen: Policy) -> tuple[Release, float]:
        prepared = api.prepare(data, chosen)
        algorithm = api.suited(api.make_algorithm(name, {}), prepared.encoded.records)
        began = time.perf_counter()
        classes = api.partition_prepared(prepared, algorithm, run)
        seconds = time.perf_counter() - began
        return api.release_prepared(prepared, classes, algorithm, run, key=ephemeral), seconds

    with run.progress.stage("comparing", len(algorithms) * len(policies)) as stage:
        rows = []
        for name in algorithms:
            for chosen in policies:
                rows.append(_row(name, chosen, release_of))
                stage.advance()
    return Comparison(tuple(_lifted(rows)))


def _lifted(rows: list[ComparedRun]) -> list[ComparedRun]:
    """Return the rows with the greatest bound of their own k or of a smaller one, which holds as well."""
    known = [(row.k, row.bound) for row in rows if row.k is not None and row.bound is not None]
    lifted = []
    for row in rows:
        if row.k is not None and row.bound is not None and row.gcp is not None:
            bound = max(bound for k, bound in known if k <= row.k)
            row = replace(row, bound=bound, gap=gap_of(bound, row.gcp))
        lifted.append(row)
    return lifted


def with_k(policy: Policy, k: int) -> Policy:
    """Return the policy with its k-anonymity replaced, or added, by another k.

    Examples
    --------
    >>> import shoal
    >>> with_k(shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(5)]), 10).models
    (KAnonymity(k=10),)
    """
    from .models.k_anonymity import KAnonymity

    others = [model for model in policy.models if not isinstance(model, KAnonymity)]
    return policy.with_models([KAnonymity(k), *others])


def k_of(policy: Policy) -> int | None:
    """Return the k of a policy's k-anonymity, None where it has none."""
    from .models.k_anonymity import KAnonymity

    return max((model.k for model in policy.models if isinstance(model, KAnonymity)), default=None)


def _row(
    name: str, policy: Policy, release_of: Callable[[str, Policy], tuple[Release, float]]
) -> ComparedRun:
    k = k_of(policy)
    began = time.perf_counter()
    try:
        release, seconds = release_of(name, policy)
    except PolicyUnsatisfiable as error:
        spent = time.perf_counter() - began
        return ComparedRun(name, k, None, None, None, None, None, spent, False, str(error))
    measured = release.metrics
    return ComparedRun(
        algorithm=name,
        k=k,
        gcp=measured.get("gcp"),
        cavg=measured.get("cavg"),
        dm=measured.get("dm"),
        suppressed=release.partition.suppressed,
        classes=release.partition.classes,
        seconds=seconds,
        holds=release.evidence.holds,
        bound=measured.get("bound"),
        gap=measured.get("gap"),
    )
