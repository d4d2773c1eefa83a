"""Evidence: what was promised, what a published table achieves, and how that was established."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any


class How(StrEnum):
    """How it was established that a promise holds, strongest first."""

    PUBLISHED = "published"  # recomputed from the published table
    CONSTRUCTION = "construction"  # holds for the classes, but the published values cannot show it
    PROOF = "proof"  # a mechanism with a stated epsilon


@dataclass(frozen=True, slots=True)
class Promise:
    """One promise, checked.

    Attributes
    ----------
    model : str
        Registered name of the privacy model.
    parameters : dict
        The model's parameters.
    column : str or None
        The sensitive column it speaks about.
    required, achieved : float
        In the model's own unit; `achieved` is the weakest class's.
    better : str
        "higher" or "lower": which direction protects more.
    holds : bool
    failing : int
        Number of classes that break it.
    how : How
    """

    model: str
    parameters: dict[str, Any]
    column: str | None
    required: float
    achieved: float
    better: str
    holds: bool
    failing: int
    how: How = How.PUBLISHED


@dataclass(frozen=True, slots=True)
class Evidence:
    """The verdict on one published table. Holds no cell values.

    Attributes
    ----------
    promises : tuple of Promise
    records : int
        Published records.
    classes : int
        Groups of records with the same published quasi-identifiers.
    suppressed : int or None
        Suppressed records; None when only the published table is known.
    problems : tuple of str
        What is wrong beside broken promises, such as an identifier that was published.
    provenance : dict
        Hashes, seed and versions.
    """

    promises: tuple[Promise, ...]
    records: int
    classes: int
    suppressed: int | None = None
    problems: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether every promise holds and nothing else is wrong."""
        return not self.problems and all(promise.holds for promise in self.promises)

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as plain values, for JSON."""
        from dataclasses import asdict

        return {"holds": self.holds, **asdict(self)}
