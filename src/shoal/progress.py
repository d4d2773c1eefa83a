"""What a run tells its user while it works, and the seed it draws from."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from .models.base import Model
    from .policy import Policy


class Stage(Protocol):
    """One stretch of work being counted."""

    def advance(self, steps: int = 1) -> None:
        """Say that `steps` more of the announced total are done."""


class _SilentStage:
    def advance(self, steps: int = 1) -> None:
        pass


class Progress:
    """Announces stages of work; this base class is silent. The command line and the web page show them."""

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Stage]:
        """Announce a stage of `total` steps (None: unknown) for the length of a ``with`` block."""
        yield _SilentStage()


@dataclass(frozen=True, slots=True)
class Run:
    """The circumstances of one run, the same for every algorithm.

    Attributes
    ----------
    seed : int
        Decides random choices and ties: same table, policy, algorithm and seed give the same partition.
    progress : Progress
    suppression : float
        Share of the records that the policy lets an algorithm suppress.
    promises : tuple of (Model, name of a sensitive column or None)
        What the policy promises, for algorithms that have to know more of it than the rules tell.
    notes : dict
        How the partition came about, written down on the way as plain values, never cells; they become part
        of the evidence's provenance and of the manifest.
    policy : Policy, optional
        All of it, for algorithms that repair what they tried in order to compare it; none where the table is
        but a part of what the policy speaks about.
    refining : bool
        Whether what the algorithm returns is going to be refined, so that it need not do so itself.
    """

    seed: int = 0
    progress: Progress = field(default_factory=Progress)
    suppression: float = 0.0
    promises: tuple[tuple[Model, str | None], ...] = ()
    notes: dict[str, Any] = field(default_factory=dict)
    policy: Policy | None = None
    refining: bool = False

    def rng(self) -> np.random.Generator:
        """Return a fresh generator at the start of the seed's sequence."""
        return np.random.default_rng(self.seed)
