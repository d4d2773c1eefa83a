"""Searching a lattice of full-domain generalizations for the nodes that tell most.

Two bounds cut it down. Without suppression a node tells a sum over its columns, known without grouping
anything; and what suppression takes at a node, it takes at every finer one as well (`Assessment.floor`). A
node whose sum minus the greatest floor above it is no better than what has been found is never looked at; one
that cannot keep the policy has an infinite floor, which is predictive tagging.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from itertools import repeat
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from ..progress import Stage, interruptible
from .ladders import Ladders, Node
from .nodes import WORSE, Assessment, Assessor

MOST_NODES = 1 << 22  # lattices up to here are held as arrays, and searched until the best is proved
_IMPOSSIBLE = 1 << 61  # as a floor: more than any table tells
_CHUNK = 1 << 12  # nodes that are filtered together
_TRIES = 128  # descents in a larger lattice, where nothing else ends them


class _OutOfTime(Exception):  # noqa: N818  (it never leaves this module)
    """The search is to end with what it has."""


@dataclass(slots=True, eq=False)
class Best:
    """The best nodes so far, the one that tells most first; of equal ones the first in order of levels."""

    wanted: int
    found: list[Assessment] = field(default_factory=list)

    def needed(self, node: Node) -> int:
        """Return what a node has to surpass to be among them."""
        if len(self.found) < self.wanted:
            return -1
        last = self.found[-1]
        return last.told - (node < last.node)

    def offer(self, assessment: Assessment) -> None:
        """Take a node in if it is among the best."""
        if assessment.possible and assessment not in self.found:
            self.found.append(assessment)
            self.found.sort(key=lambda a: (-a.told, a.node))
            del self.found[self.wanted :]


class Bounds(Protocol):
    """What is known of every node from the nodes that were looked at."""

    def bound(self, node: Node) -> int:
        """Return what a node tells at most; less than 0 where it cannot keep the policy."""

    def learn(self, assessment: Assessment) -> None:
        """Take in what was found at a node."""


class WholeLattice:
    """Bounds of every node of a lattice that is small enough to be listed."""

    def __init__(self, ladders: Ladders) -> None:
        self.low, self.shape = np.array(ladders.low), ladders.shape
        told = np.zeros((1,) * len(self.shape), dtype=np.int64)
        for j, (low, high) in enumerate(zip(ladders.low, ladders.high, strict=True)):
            line = ladders.told[j][low : high + 1]
            told = told + line.reshape([-1 if i == j else 1 for i in range(len(self.shape))])
        self.told: NDArray[np.int64] = told
        self.floor = np.zeros(self.shape, dtype=np.int64)

    def bound(self, node: Node) -> int:
        """Return what a node tells at most; less than 0 where it cannot keep the policy."""
        at = self._place(node)
        return int(self.told[at] - self.floor[at])

    def learn(self, assessment: Assessment) -> None:
        """Take in what was found at a node."""
        finer = self.floor[tuple(slice(0, place + 1) for place in self._place(assessment.node))]
        np.maximum(finer, _IMPOSSIBLE if assessment.floor is None else assessment.floor, out=finer)

    def node(self, index: int) -> Node:
        """Return the node with a number."""
        return tuple(int(level) for level in np.unravel_index(index, self.shape) + self.low)

    def _place(self, node: Node) -> tuple[int, ...]:
        return tuple(int(place) for place in np.array(node) - self.low)


class PartOfLattice:
    """Bounds of the nodes of a lattice too large to be listed."""

    def __init__(self, ladders: Ladders) -> None:
        self.ladders = ladders
        self.nodes = np.zeros((0, len(ladders.low)), dtype=np.int8)
        self.floors = np.zeros(0, dtype=np.int64)

    def bound(self, node: Node) -> int:
        """Return what a node tells at most; less than 0 where it cannot keep the policy."""
        coarser = (self.nodes >= np.array(node, dtype=np.int8)).all(axis=1)
        return self.ladders.told_at(node) - int(self.floors[coarser].max(initial=0))

    def learn(self, assessment: Assessment) -> None:
        """Take in what was found at a node."""
        floor = _IMPOSSIBLE if assessment.floor is None else assessment.floor
        if floor > 0:
            at = np.array(assessment.node, dtype=np.int8)
            useful = ~((self.nodes <= at).all(axis=1) & (self.floors <= floor))
            self.nodes = np.vstack([self.nodes[useful], at])
            self.floors = np.append(self.floors[useful], floor)


class Search:
    """One search of one lattice, which can be stopped at any time and keeps what it has found."""

    def __init__(self, assessor: Assessor, wanted: int, seconds: float | None, stage: Stage) -> None:
        self.ladders, self.assessor, self.stage = assessor.ladders, assessor, stage
        self.best = Best(wanted)
        self.assessed: dict[Node, Assessment] = {}
        self.whole = WholeLattice(self.ladders) if self.ladders.size <= MOST_NODES else None
        self.bounds: Bounds = self.whole or PartOfLattice(self.ladders)
        self.proved = self.interrupted = False
        self._end = None if seconds is None else time.monotonic() + seconds
        self._check: Callable[[], None] = lambda: None

    def run(self, tries: int | None, rng: np.random.Generator) -> None:
        """Search until the best nodes are proved, or for so many descents where the lattice is too large.

        Without a number of descents these go on until the time is over, or are 128 where it is not limited.
        """
        try:
            with interruptible() as self._check:
                for effort in (0.0, 1.0):
                    self._descend(self.ladders.high, effort)
                if self.whole is not None:
                    self._prove(self.whole)
                    self.proved = True
                else:
                    endless = tries is None and self._end is not None
                    self._wander(repeat(None) if endless else range(_TRIES if tries is None else tries), rng)
        except _OutOfTime:
            pass
        except KeyboardInterrupt:
            self.interrupted = True
            if not self.best.found:
                raise

    def _look(self, node: Node, least: int) -> Assessment:
        """Return what is found at a node, whose telling no more than `least` need not be counted exactly."""
        known = self.assessed.get(node)
        if known is not None and (known.state != WORSE):
            return known
        self._may_end()
        found = self.assessor.assess(node, min(least, self.best.needed(node)))
        self.stage.advance()
        self.assessed[node] = found
        self.bounds.learn(found)
        self.best.offer(found)
        return found

    def _may_end(self) -> None:
        """End here when Ctrl-C was pressed, or the time is over and there is anything to return."""
        self._check()
        if self._end is not None and self.best.found and time.monotonic() > self._end:
            raise _OutOfTime

    def _descend(self, node: Node, effort: float, rng: np.random.Generator | None = None) -> Assessment:
        """Go down from a node one column and level at a time as long as more is told; return the last stop.

        The column that gains most goes first; with `effort`, most per bit that it adds to what sets records
        apart. With `rng`, gains are off by up to half, so that every descent differs.
        """
        here = self._look(node, -1)
        spoil = np.ones(len(node)) if rng is None else rng.uniform(0.5, 1.5, len(node))
        moves = set(range(len(node)))
        while here.possible:
            node = here.node
            moves = {j for j in moves if node[j] > self.ladders.low[j]}
            if not moves:
                break
            j = max(moves, key=lambda j: self.ladders.gain(j, node[j], effort) * spoil[j])
            finer = (*node[:j], node[j] - 1, *node[j + 1 :])
            there = self._look(finer, here.told) if self.bounds.bound(finer) > here.told else None
            if there is not None and there.possible and there.told > here.told:
                here = there
            else:
                moves.discard(j)
        return here

    def _prove(self, whole: WholeLattice) -> None:
        """Look at all nodes that could be among the best, coarse ones first: they say most of others."""
        told, floor = whole.told.ravel(), whole.floor.reshape(-1)
        order = np.argsort(told, kind="stable")
        for begin in range(0, len(order), _CHUNK):
            chunk = order[begin : begin + _CHUNK]
            last = -1 if len(self.best.found) < self.best.wanted else self.best.found[-1].told
            for index in chunk[told[chunk] - floor[chunk] >= max(last, 0)]:
                node = whole.node(index)
                if node not in self.assessed and told[index] - floor[index] > self.best.needed(node):
                    self._look(node, self.best.needed(node))

    def _wander(self, tries: Iterable[object], rng: np.random.Generator) -> None:
        """Climb a little from the best node, at random, and go down another way; again and again."""
        low, high = np.array(self.ladders.low), np.array(self.ladders.high)
        for _ in tries:
            if not self.best.found:
                break
            self._may_end()
            node = np.array(self.best.found[0].node)
            raised = rng.random(len(node)) < rng.uniform(0.05, 0.4)
            node = np.where(raised, rng.integers(node, high, endpoint=True), node)
            self._descend(tuple(int(level) for level in np.maximum(node, low)), rng.uniform(0.0, 1.5), rng)
