"""Attack: one way to misuse a published table, and how often it succeeds. Results hold no cell values."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..params import Parameterised
from ..policy import Policy
from ..risk.estimate import Estimate, share_of

Kept = TypeVar("Kept")


@dataclass(frozen=True, slots=True)
class AttackResult:
    """How often one attack succeeds. Holds column names and shares, no cell values.

    Attributes
    ----------
    attack : str
        Registered name.
    known : tuple of str
        The columns the attacker knows of everyone.
    column : str or None
        The sensitive column he wants to learn.
    success : Estimate
        Share of people (for singling out: of claims) the attack gets right, with its Wilson interval.
    baseline : Estimate
        The same by guessing without the table.
    control : Estimate or None
        The same attack where the person's own record cannot have helped: what the table teaches about people
        in general. See `control_of`.
    control_of : str
        Whom the control is about, as it reads in the verdict.
    before : Estimate or None
        The same attack on the original, had it been published as it is.
    verdict : str
        The result in plain words.
    details : dict
        More numbers of this attack.
    """

    attack: str
    known: tuple[str, ...]
    column: str | None
    success: Estimate
    baseline: Estimate
    control: Estimate | None = None
    control_of: str = ""
    before: Estimate | None = None
    verdict: str = ""
    details: dict[str, Any] = field(default_factory=dict)

    @property
    def reference(self) -> Estimate:
        """What the success is to be compared with: the greater of baseline and control."""
        if self.control is None or self.control.value <= self.baseline.value:
            return self.baseline
        return self.control

    @property
    def excess(self) -> float:
        """What the table gave away of what was left to learn: (success - reference) / (1 - reference).

        0 when the attack is no better than its reference.
        """
        gained, left = self.success.value - self.reference.value, 1 - self.reference.value
        return max(gained / left, 0.0) if left > 0 else 0.0

    @property
    def better_than_guessing(self) -> bool:
        """Whether the success is above its reference beyond doubt: their intervals do not touch."""
        return self.success.low > self.reference.high

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, for JSON."""
        return {
            "attack": self.attack,
            "known": list(self.known),
            "column": self.column,
            "success": self.success.to_dict(),
            "baseline": self.baseline.to_dict(),
            "control": None if self.control is None else self.control.to_dict(),
            "control_of": self.control_of,
            "before": None if self.before is None else self.before.to_dict(),
            "excess": self.excess,
            "better_than_guessing": self.better_than_guessing,
            "verdict": self.verdict,
            "details": self.details,
        }


@dataclass(frozen=True, slots=True)
class NotRun:
    """An attack that was not run, and why."""

    attack: str
    reason: str

    def to_dict(self) -> dict[str, Any]:
        """Return it as plain values, for JSON."""
        return {"attack": self.attack, "reason": self.reason}


@dataclass(frozen=True, slots=True)
class Attacks:
    """Every attack that was run on one published table. Holds no cell values.

    Attributes
    ----------
    results : tuple of AttackResult
    not_run : tuple of NotRun
    records, published : int
        Records of the original and of the published table.
    people : int
        How many people were attacked: all, or a sample.
    seed : int
        What the sample was drawn with.
    truth : str
        How it is known which published record is whose: "rows" when it was told, "cells" when it was inferred
        from which cells fit whom.
    """

    results: tuple[AttackResult, ...]
    not_run: tuple[NotRun, ...]
    records: int
    published: int
    people: int
    seed: int
    truth: str

    @property
    def worst(self) -> AttackResult | None:
        """The attack that learns most beyond its reference; None when none was run."""
        return max(self.results, key=lambda result: result.excess, default=None)

    def to_dict(self) -> dict[str, Any]:
        """Return all results as plain values, for JSON."""
        return {
            "records": self.records,
            "published": self.published,
            "people": self.people,
            "seed": self.seed,
            "truth": self.truth,
            "results": [result.to_dict() for result in self.results],
            "not_run": [attack.to_dict() for attack in self.not_run],
        }

    def _repr_html_(self) -> str:
        from ..notebook.views import attacks_view

        return attacks_view(self)

    def __str__(self) -> str:
        lines = [f"{self.people:,} of {self.records:,} people attacked, seed {self.seed}"]
        lines += [f"{result.attack}: {result.verdict}" for result in self.results]
        return "\n".join(lines + [f"{attack.attack}: not run: {attack.reason}" for attack in self.not_run])


class CannotRun(Exception):  # noqa: N818  (it never leaves this package)
    """An attack that makes no sense here; its text says why."""


@dataclass(frozen=True, slots=True, eq=False)
class Scene:
    """What an attack is run on.

    Attributes
    ----------
    original : pyarrow.Table
        The truth.
    published : pyarrow.Table
        What the attacker has.
    policy : Policy
        Resolved on the original.
    people : int64[asked]
        The records of the original that are attacked.
    seed : int
    rows : int64[published], optional
        The record of the original behind each published one.
    control : pyarrow.Table, optional
        People who are not in the original.
    other : pyarrow.Table, optional
        A second release about the same people.
    other_policy : Policy, optional
        The one it was published under, resolved on the original; the same as here when not given.
    raw : bool
        Whether the published table is the original as it is.
    """

    original: pa.Table
    published: pa.Table
    policy: Policy
    people: NDArray[np.int64]
    seed: int
    rows: NDArray[np.int64] | None = None
    control: pa.Table | None = None
    other: pa.Table | None = None
    other_policy: Policy | None = None
    raw: bool = False
    _kept: dict[Any, Any] = field(default_factory=dict)

    @property
    def quasi(self) -> tuple[str, ...]:
        """The quasi-identifiers."""
        return tuple(column.name for column in self.policy.schema.quasi)

    @property
    def sensitive(self) -> tuple[str, ...]:
        """The sensitive columns."""
        return tuple(column.name for column in self.policy.schema.sensitive)

    def keep(self, key: Any, make: Callable[[], Kept]) -> Kept:
        """Return what `make` returned the first time something was asked for under `key`."""
        if key not in self._kept:
            self._kept[key] = make()
        found: Kept = self._kept[key]
        return found

    def generator(self, purpose: str) -> np.random.Generator:
        """Return random numbers that depend on the seed and on what they are for, not on what ran before."""
        return np.random.default_rng([self.seed, *purpose.encode()])


@dataclass(frozen=True)
class Attack(Parameterised):
    """One way to misuse a published table.

    A subclass says in `run` what an attacker makes of it who knows some columns of everyone.
    """

    reference: ClassVar[str] = ""
    answer: ClassVar[str] = ""  # which promise answers it

    def run(self, scene: Scene, known: tuple[str, ...]) -> Iterator[AttackResult]:
        """Yield the results, one per column attacked; raise `CannotRun` where that is senseless."""
        raise NotImplementedError


def share(credits: NDArray[np.floating[Any]] | NDArray[np.bool_], seed: int) -> Estimate:
    """Return the mean of the chances of many people as an estimate."""
    return share_of(float(credits.sum()), len(credits), seed)


def percent(value: float) -> str:
    """Return a share as people say it.

    Examples
    --------
    >>> [percent(x) for x in (0.0, 0.00001, 0.00412, 0.0417, 0.251, 0.99999, 1.0)]
    ['none', 'under 0.01%', '0.4%', '4.2%', '25%', 'over 99.9%', 'all']
    """
    if value <= 0 or value >= 1:
        return "none" if value <= 0 else "all"
    if value < 1e-4 or value > 0.999:
        return "under 0.01%" if value < 1e-4 else "over 99.9%"
    return f"{value:.2%}" if value < 1e-3 else f"{value:.1%}" if value < 0.1 else f"{value:.0%}"


def knowing(scene: Scene, known: tuple[str, ...]) -> str:
    """Return the attacker with what he knows, as a verdict begins."""
    everything = known == scene.quasi and len(known) > 4
    what = f"the {len(known)} quasi-identifiers" if everything else listed(known)
    return f"an attacker who knows {what}"


def listed(names: tuple[str, ...]) -> str:
    """Return names as a list to read.

    Examples
    --------
    >>> listed(("age", "sex", "zip"))
    'age, sex and zip'
    """
    return " and ".join(filter(None, [", ".join(names[:-1]), names[-1]]))
