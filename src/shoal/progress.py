"""What a run tells its user while it works, and the seed it draws from."""

from __future__ import annotations

import signal
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from types import FrameType
from typing import TYPE_CHECKING, Any, Protocol

import numpy as np

if TYPE_CHECKING:
    from .models.base import Model
    from .policy import Policy


class _Held:
    """What Ctrl-C does where it is held back: the first is remembered, the second strikes at once."""

    def __init__(self) -> None:
        self.pressed = False

    def __call__(self, number: int, frame: FrameType | None) -> None:
        self.check()
        self.pressed = True

    def check(self) -> None:
        """Raise what has been held back."""
        if self.pressed:
            raise KeyboardInterrupt


@contextmanager
def interruptible() -> Iterator[Callable[[], None]]:
    """Hold Ctrl-C back for the length of a ``with`` block; yields what raises it, to be called between steps.

    Compiled code that is interrupted while it makes its results ready fails with a `SystemError`, and a step
    that is half done is no result. Elsewhere than in the main thread, and where another handler stands, the
    function that is yielded does nothing. Blocks may lie within each other.
    """
    if threading.current_thread() is not threading.main_thread():
        yield lambda: None
        return
    before = signal.getsignal(signal.SIGINT)
    if isinstance(before, _Held):
        yield before.check
    elif before is not signal.default_int_handler:
        yield lambda: None
    else:
        held = _Held()
        signal.signal(signal.SIGINT, held)
        try:
            yield held.check
        finally:
            signal.signal(signal.SIGINT, before)


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
