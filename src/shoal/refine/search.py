"""A local search over partitions: its clock, curve, best find and end. What a move is, others say."""

from __future__ import annotations

import time
from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING

import numpy as np

from ..encoding import Encoded
from ..partitions import Partition
from ..policy import Policy
from ..progress import Stage
from .losses import Losses
from .settings import Refine

if TYPE_CHECKING:
    from ..kernels.refining import Classes, Graph
    from ..kernels.rules import Rules

MOVES_PER_RECORD = 40  # of a run without a budget

_SQUARED = 2.5  # mean losses of a record that squared errors begin with
_COOLING = 0.02  # of the first temperature is left at the end
_COLD = 0.95  # of the budget; the rest only goes downhill
_STALE = 200  # moves for every class without any gain, after which nothing more is expected
_FRESH = 1.2  # a start that loses so much more, but whose classes are local, is worth more; bench/refine.py
_LONG_MOVES = 20  # a record
_LONG_SECONDS = 1e-4


class Search:
    """One run of the local search over a partition."""

    def __init__(
        self, partition: Partition, encoded: Encoded, policy: Policy, refine: Refine, costs: Losses
    ) -> None:
        self.refine = refine
        self.afresh = bool(refine.afresh)
        self.costs = costs
        self.rules: Rules = policy.compile(encoded, partition.labels >= 0)
        self.sensitive = encoded.flat_sensitive()
        self.cells = costs.cells
        self.before = costs.loss_of(partition)
        self.graph: Graph = costs.graph(refine.neighbours, self.threads > 1)
        self.classes: Classes = self._start(partition)
        self.total = int(self.classes.cost.sum()) + costs.fixed(partition.suppressed)
        self.best = self.total, self.classes.label.copy()
        self._mean = int(self.classes.cost.sum()) / max(int(self.classes.size.sum()), 1)
        self._warmth = self.warmth()
        self.temperature = 0.0
        self.moves, self.ended = 0, ""
        self.curve: list[tuple[int, float, float]] = []

    @abstractmethod
    def divided(self, partition: Partition) -> Partition:
        """Return the classes of a partition, the large ones divided where the parts keep the promises."""

    @property
    @abstractmethod
    def rounds(self) -> int:
        """How many rounds are made between two looks at the clock."""

    @abstractmethod
    def batch(self, seed: int, rounds: int) -> tuple[int, int]:
        """Make some rounds of moves, none of them compiles only; return (moves, change of the loss)."""

    @property
    def threads(self) -> int:
        """Threads to work with."""
        import numba

        most: int = numba.get_num_threads()
        return most if self.refine.threads is None else min(self.refine.threads, most)

    @property
    def budget(self) -> int | None:
        """Moves to make; None where time decides."""
        if self.refine.moves is None and self.refine.seconds is None:
            return MOVES_PER_RECORD * self.costs.records
        return self.refine.moves

    @property
    def steps(self) -> int:
        """Length of the progress bar: moves, or milliseconds."""
        if self.refine.seconds is not None:
            return int(1000 * self.refine.seconds)
        return self.budget or 0

    def _start(self, partition: Partition) -> Classes:
        """Return the classes to start from: those of the partition, the large ones divided.

        Or the whole table divided, unless that loses more: repairing can leave very large classes. Given
        time, also where it loses a little more: the last classes of a greedy algorithm take what the others
        have left, from all over the table, which small moves mend slowly; divided, all classes are local.
        """
        whole = Partition.from_labels(np.where(partition.labels < 0, -1, 0))
        if self.refine.afresh is not None:
            return self._classes(self.divided(whole if self.refine.afresh else partition))
        given, fresh = self._classes(self.divided(partition)), self._classes(self.divided(whole))
        limit = given.cost.sum() * (_FRESH if self._long else 1.0)
        self.afresh = bool(fresh.cost.sum() <= limit)
        return fresh if self.afresh else given

    def _classes(self, partition: Partition) -> Classes:
        """Return the classes of a partition as kernels change them, with room for more."""
        from ..kernels.refining import make_classes

        room = max(partition.classes, len(partition.order) // self.rules.k) + 1
        made: Classes = make_classes(partition.labels, self.costs.by_class(partition), room)
        return made

    @property
    def _long(self) -> bool:
        """Whether the budget is long enough for a start to catch up that loses a little more."""
        if self.refine.seconds is not None:
            return self.refine.seconds >= _LONG_SECONDS * self.costs.records
        return (self.budget or 0) >= _LONG_MOVES * self.costs.records

    def run(self, seed: int, stage: Stage, check: Callable[[], None]) -> None:
        """Make moves until the budget is spent, the time is over, nothing can be gained or Ctrl-C.

        `check` raises a Ctrl-C that was held back, so that none comes in the middle of a move.
        """
        self.batch(seed, 0)  # compiles, off the clock
        began, told, stale = time.monotonic(), 0, 0
        try:
            while not self.ended:
                check()
                seconds = time.monotonic() - began
                step = int(1000 * seconds) if self.refine.seconds is not None else self.moves
                stage.advance(min(step, self.steps) - told)
                told = min(step, self.steps)
                self._note(seconds)
                self.ended = self._over(seconds)
                if not self.ended:
                    self._cool(step / max(self.steps, 1))
                    made, change = self._moved(seed)
                    stale = 0 if change < 0 else stale + made
                    if made == 0 or stale > _STALE * len(self.classes.first):
                        self.ended = "nothing more found"
        except KeyboardInterrupt:
            self.ended = "interrupted"
        self.total, labels = min(self.best, (self.total, self.classes.label), key=lambda found: found[0])
        self.classes.label[:] = labels
        self._note(time.monotonic() - began)

    def _over(self, seconds: float) -> str:
        """Return which end of the budget is reached, nothing if none is."""
        if self.refine.seconds is not None and seconds >= self.refine.seconds:
            return "time"
        return "budget" if self.budget is not None and self.moves >= self.budget else ""

    def _moved(self, seed: int) -> tuple[int, int]:
        """Make a batch of moves, and remember the partition if none before lost less.

        Where nothing warms, the last one is the best.
        """
        made, change = self.batch(seed, self.rounds)
        self.moves += made
        self.total += change
        if self._warmth[0] > 0 and self.total < self.best[0]:
            self.best = self.total, self.classes.label.copy()
        return made, change

    def warmth(self) -> tuple[float, float]:
        """Return the temperatures of the beginning and of the end, in mean losses of a record."""
        asked = self.refine.temperature
        first = (_SQUARED if self.refine.loss == "sse" else 0.0) if asked is None else asked
        return first, _COOLING * first

    def phase(self, done: float) -> float:
        """Return how far it has cooled down, from 0 to 1, when this share of the budget is spent."""
        return done

    def _cool(self, spent: float) -> None:
        """Set the temperature for the share of the budget that is spent."""
        first, last = self._warmth
        done = self.phase(spent)
        warm = done < _COLD and first > 0
        self.temperature = self._mean * first * (last / first) ** done if warm else 0.0

    def _note(self, seconds: float) -> None:
        """Add a point to the loss curve, twice as seldom whenever there are many."""
        point = (self.moves, round(seconds, 3), self.total / self.cells)
        if self.curve and self.curve[-1][0] == self.moves:
            return
        if len(self.curve) > 1 and not self.ended and self.moves < 1.1 * self.curve[-1][0]:
            return
        self.curve.append(point)
