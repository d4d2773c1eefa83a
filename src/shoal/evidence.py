"""Evidence: what was promised, what a published table achieves, and how that was established."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Any

from .errors import VerificationFailed


class How(StrEnum):
    """How it was established that a promise holds, strongest first."""

    PUBLISHED = "published"  # recomputed from the published table
    CONSTRUCTION = "construction"  # holds for the classes, but the published values cannot show it
    PROOF = "proof"  # a mechanism with a stated epsilon


def strength(value: float) -> str:
    """Return a strength as text: whole numbers in full, others to four digits.

    Examples
    --------
    >>> strength(12345.0), strength(0.123456), strength(float("inf"))
    ('12,345', '0.1235', 'inf')
    """
    whole = math.isfinite(value) and value == int(value)
    return f"{int(value):,}" if whole else f"{value:.4g}"


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

    def __str__(self) -> str:
        about = "" if self.column is None else f" for {self.column!r}"
        return f"{self.model}{about}: required {strength(self.required)}, achieved {strength(self.achieved)}"


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
    unnamed : tuple of str
        Columns the policy does not name: published as they are, and no promise speaks about them.
    provenance : dict
        Hashes, seed and versions.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> evidence = shoal.verify({"age": ["[20, 29]", "[20, 29]"]}, policy)
    >>> evidence.holds, evidence.promises[0].achieved, str(evidence.promises[0].how)
    (True, 2.0, 'published')
    """

    promises: tuple[Promise, ...]
    records: int
    classes: int
    suppressed: int | None = None
    problems: tuple[str, ...] = ()
    unnamed: tuple[str, ...] = ()
    provenance: dict[str, Any] = field(default_factory=dict)

    @property
    def holds(self) -> bool:
        """Whether every promise holds and nothing else is wrong."""
        return not self.problems and all(promise.holds for promise in self.promises)

    def with_problems(self, problems: Iterable[str]) -> Evidence:
        """Return the same evidence with these problems beside its own."""
        return replace(self, problems=(*self.problems, *problems))

    def require(self) -> None:
        """Raise `VerificationFailed`, naming every problem and every broken promise, unless all holds."""
        if self.holds:
            return
        broken = [
            f"{promise} ({promise.failing} of {self.classes} classes fail)"
            for promise in self.promises
            if not promise.holds
        ]
        raise VerificationFailed(
            "; ".join([*self.problems, *broken]),
            hint="Nothing was published; change the policy or the table.",
        )

    def _repr_html_(self) -> str:
        from .notebook.views import evidence_view

        return evidence_view(self)

    def to_dict(self) -> dict[str, Any]:
        """Return the evidence as plain values, for JSON: a strength that is no finite number becomes None."""
        from dataclasses import asdict

        found = {"holds": self.holds, **asdict(self)}
        for promise in found["promises"]:
            promise["achieved"] = promise["achieved"] if math.isfinite(promise["achieved"]) else None
        return found
