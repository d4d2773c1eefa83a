"""What the algorithms on vantage-point trees share: records as points, and the tree grown batch by batch."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..progress import Stage

if TYPE_CHECKING:
    from ..kernels.gower import Points
    from ..kernels.rules import Rules
    from ..kernels.vp_tree import Plan

VANTAGES = ("random", "farthest", "spread", "tightest")  # in the order of the kernel's constants
RADII = ("half", "multiple", "cheapest", "value")

_BATCH = 1 << 16  # records of a batch of nodes: the stretch between two looks at Ctrl-C
_WORTH_THREADS = 1 << 14  # records; below, starting the threads takes longer than the work


def make_points(encoded: Encoded, *, by_tree: bool = False, euclidean: bool = False) -> Points:
    """Return the records as points.

    Parameters
    ----------
    encoded : Encoded
    by_tree : bool
        Whether two values of a column with a hierarchy are as far apart as their common ancestor is dear;
        otherwise any two different values are as far apart as can be.
    euclidean : bool
        Whether distances are Euclidean; all columns must be lines then.
    """
    from ..kernels.gower import NULL, Points
    from ..kernels.space import LINE, SET, TREE

    space = encoded.space()
    largest = max(int(space.full.max()), 1)
    unit = 1 << 20

    def scaled(costs: NDArray[np.int32]) -> NDArray[np.int64]:
        return costs.astype(np.int64) * unit // largest

    values = np.array(encoded.codes, dtype=np.int32, order="C")
    position = scaled(space.position).astype(np.int32)
    for j in range(values.shape[1]):
        null = encoded.codes[:, j] == space.size[j]
        if space.geometry[j] == LINE:
            values[:, j] = position[space.start[j] : space.start[j + 1]][encoded.codes[:, j]]
        values[null, j] = NULL
    full = scaled(space.full)
    sets = np.where(space.geometry == SET, space.size.astype(np.int64) + 1, 0)
    mass = np.ones_like(full) if euclidean else full
    return Points(
        values=values,
        kind=space.geometry,
        by_tree=(space.geometry == TREE) & by_tree,
        size=space.size.astype(np.int64),
        full=full,
        mass=mass,
        whole=int(mass.sum()),
        most=int((full * full).sum() if euclidean else full.sum()),
        euclidean=euclidean,
        start=np.concatenate([[0], np.cumsum(sets)]).astype(np.int64),
        tree_start=space.tree_start,
        node=space.node,
        node_cost=scaled(space.node_cost),
    )


@dataclass(slots=True, eq=False)
class Grove:
    """Records in parts, being cut further: part p holds the records ``ids[bounds[p]:bounds[p + 1]]``.

    Attributes
    ----------
    points : Points
    rules : Rules
    sensitive : int32[s, n]
    ids : int64[m]
        Any subset of the records.
    bounds : int64[parts + 1]
    """

    points: Points
    rules: Rules
    sensitive: NDArray[np.int32]
    ids: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @property
    def parts(self) -> int:
        """Number of parts."""
        return len(self.bounds) - 1

    def grow(self, plan: Plan, stage: Stage) -> None:
        """Cut every part by a tree of its own; `stage` advances once for every record."""
        from ..kernels.vp_tree import SAMPLE, grow_tree, grow_tree_parallel

        kernel = grow_tree_parallel if len(self.ids) >= _WORTH_THREADS else grow_tree
        first = np.zeros(len(self.ids) + 1, dtype=np.bool_)
        first[-1] = True
        waiting = np.column_stack([self.bounds[:-1], self.bounds[1:]])
        while len(waiting):
            sizes = waiting[:, 1] - waiting[:, 0]
            batches = np.cumsum(sizes) // _BATCH
            cut_nodes = []
            for nodes in np.split(waiting, np.flatnonzero(np.diff(batches)) + 1):
                cuts = kernel(plan, self.points, self.rules, self.sensitive, self.ids, nodes, first)
                stage.advance(int((nodes[:, 1] - nodes[:, 0])[cuts == 0].sum()))
                again, cuts = nodes[cuts > 0], cuts[cuts > 0]
                middle = again[:, 0] + cuts
                cut_nodes += [np.column_stack([again[:, 0], middle]), np.column_stack([middle, again[:, 1]])]
            waiting = np.concatenate(cut_nodes)
            waiting = waiting[np.argsort(waiting[:, 0])]
            first[waiting[:, 0]] = True
        self.bounds = np.flatnonzero(first).astype(np.int64)

    def labels(self, n: int) -> NDArray[np.int32]:
        """Return the part of each of `n` records, -1 for those that are in none."""
        found = np.full(n, -1, dtype=np.int32)
        found[self.ids] = np.repeat(np.arange(self.parts, dtype=np.int32), np.diff(self.bounds))
        return found
