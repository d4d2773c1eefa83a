"""What a report is to hold: as its caller says it, and as it is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, TypedDict

from ..progress import Progress
from ..utility.queries import Workload, workload_of

if TYPE_CHECKING:
    from ..comparing import Comparison


class ReportOptions(TypedDict, total=False):
    """The options of `shoal.report` and of `Release.report`.

    Attributes
    ----------
    target : str, optional
        A column that models are trained to predict; needs the extra ``ml``.
    fraction : float, optional
        Share of the population that is in the table, for the risks that depend on it.
    attacks : bool
        Whether attacks are run; they are unless this says no.
    seed : int
        Draws queries, samples and splits.
    input_hash : bool
        Whether the hash of the original is told; only for a report that stays in the house.
    files : mapping of name to SHA-256, optional
        Files to name in the report.
    progress : Progress, optional
        Told about every stage.
    queries, columns, selectivity, sanity
        Of COUNT queries: how many, on how many columns, which share of the records each is to find, and the
        share of the records that a relative error is measured against at least.
    """

    target: str | None
    fraction: float | None
    attacks: bool
    seed: int
    input_hash: bool
    files: Mapping[str, str] | None
    progress: Progress | None
    queries: int
    columns: int
    selectivity: float
    sanity: float


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Wanted:
    """What a report is to hold beside the verdict.

    Attributes
    ----------
    target : str, optional
        A column that models are trained to predict; needs the extra ``ml``.
    compared : Comparison, optional
        Other candidates, for the curve of risk and loss.
    workload : Workload
        Of COUNT queries; its seed draws everything that is drawn for the report.
    files : mapping of name to SHA-256
        Files that belong to the release.
    input_hash : bool
        Whether the hash of the original is told; only for a report that stays in the house.
    attacks : bool
        Whether attacks are run.
    fraction : float, optional
        Share of the population that is in the table, for the risks that depend on it.
    progress : Progress
    """

    target: str | None = None
    compared: Comparison | None = None
    workload: Workload = field(default_factory=Workload)
    files: Mapping[str, str] | None = None
    input_hash: bool = False
    attacks: bool = True
    fraction: float | None = None
    progress: Progress = field(default_factory=Progress)

    @classmethod
    def of(cls, options: Mapping[str, Any], compared: Comparison | None = None) -> Wanted:
        """Return what these `ReportOptions` ask for, or raise naming an option there is not."""
        own = {"target", "fraction", "attacks", "input_hash", "files"}
        workload = {name: value for name, value in options.items() if name not in {*own, "seed", "progress"}}
        return cls(
            compared=compared,
            workload=workload_of(options.get("seed", 0), workload),
            progress=options.get("progress") or Progress(),
            **{name: value for name, value in options.items() if name in own},
        )
