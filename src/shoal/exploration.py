"""Exploration: what a search of a lattice of full-domain generalizations has found."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .encoding import Encoded

if TYPE_CHECKING:
    from .algorithms.ladders import Node
    from .algorithms.lattice_search import Search
    from .algorithms.nodes import Assessment

FOLLOWS = {True: "impossible, as a coarser node is", False: "cannot be better"}
OPEN = "not looked at"


@dataclass(frozen=True, slots=True)
class Solution:
    """A node that keeps the policy.

    Attributes
    ----------
    levels : dict
        The level of each quasi-identifier.
    loss : float
        From 0, the table as it is, to 1; suppressed records count 1.
    suppressed : int
        Records that are suppressed at it.
    """

    levels: dict[str, int]
    loss: float
    suppressed: int


@dataclass(frozen=True, eq=False)
class Exploration:
    """What a search of a lattice has found.

    Attributes
    ----------
    columns : tuple of str
        The quasi-identifiers.
    size : int
        Number of nodes of the lattice.
    solutions : tuple of Solution
        The best nodes, the one that loses least first.
    optimal : bool
        Whether no node is better than these: the search was not stopped, and the lattice not too large.
    """

    columns: tuple[str, ...]
    size: int
    solutions: tuple[Solution, ...]
    optimal: bool
    search: Search

    @classmethod
    def of(cls, search: Search, encoded: Encoded) -> Exploration:
        """Return what a search has found."""
        columns = tuple(column.name for column in encoded.quasi)
        full = search.ladders.full
        solutions = tuple(
            Solution(dict(zip(columns, found.node, strict=True)), _loss(found, full), found.suppressed)
            for found in search.best.found
        )
        return cls(columns, search.ladders.size, solutions, search.proved, search)

    @property
    def assessed(self) -> int:
        """Number of nodes that were looked at."""
        return len(self.search.assessed)

    @cached_property
    def lattice(self) -> pa.Table:
        """Every node that is known of: its levels, its state, and where it is possible its loss.

        All nodes of a lattice that could be listed, else those that were looked at.
        """
        nodes = self._nodes()
        states = [self._state(node) for node in nodes]
        found = [self.search.assessed.get(node) for node in nodes]
        known = [a if a is not None and a.possible else None for a in found]
        levels = np.array(nodes, dtype=np.int64).reshape(len(nodes), len(self.columns))
        made: dict[str, Any] = {name: levels[:, j] for j, name in enumerate(self.columns)}
        made["state"] = states
        made["loss"] = pa.array([a and _loss(a, self.search.ladders.full) for a in known], type=pa.float64())
        made["suppressed"] = pa.array([a and a.suppressed for a in known], type=pa.int64())
        return pa.table(made)

    def states(self) -> dict[str, int]:
        """Return how many nodes are in which state."""
        return dict(Counter(self.lattice["state"].to_pylist()).most_common())

    def to_dict(self) -> dict[str, Any]:
        """Return the result as plain values, the lattice by its states only."""
        return {
            "columns": list(self.columns),
            "nodes": self.size,
            "assessed": self.assessed,
            "optimal": self.optimal,
            "solutions": [
                {"levels": s.levels, "loss": s.loss, "suppressed": s.suppressed} for s in self.solutions
            ],
        }

    def _nodes(self) -> list[Node]:
        whole = self.search.whole
        return list(self.search.assessed) if whole is None else [whole.node(i) for i in range(self.size)]

    def _state(self, node: Node) -> str:
        found = self.search.assessed.get(node)
        if found is not None:
            return found.state
        bound = self.search.bounds.bound(node)
        if not self.optimal and bound > self.search.best.needed(node):
            return OPEN
        return FOLLOWS[bound < 0]


def _loss(found: Assessment, full: int) -> float:
    return (full - found.told) / full if full else 0.0
