"""What the algorithms on vantage-point trees share: records as points, and trees grown batch by batch."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..progress import Run, Stage

if TYPE_CHECKING:
    from ..kernels.gower import Points
    from ..kernels.rules import Rules
    from ..kernels.vantage import Plan

VANTAGES = ("random", "farthest", "spread", "tightest")  # in the order of the kernel's constants
RADII = ("half", "multiple", "cheapest", "value")

_BATCH = 1 << 16  # records of a batch of nodes: the stretch between two looks at Ctrl-C
_WORTH_THREADS = 1 << 14  # records; below, starting the threads takes longer than the work


def make_points(
    encoded: Encoded, order: NDArray[np.int64], *, by_tree: bool = False, euclidean: bool = False
) -> Points:
    """Return the records in a given order as points.

    Parameters
    ----------
    encoded : Encoded
    order : int64[n]
        Point i is the record ``order[i]``; of equally near points the first wins.
    by_tree : bool
        Whether two values of a column with a hierarchy are as far apart as their common ancestor is dear;
        otherwise any two different values are as far apart as can be.
    euclidean : bool
        Whether the distance is Euclidean over the numeric, ordinal and date columns, and ignores all others.
    """
    from ..kernels.gower import NULL, Points
    from ..kernels.space import LINE, SET, TREE, UNIT

    space = encoded.space()
    largest = max(int(space.full.max()), 1)
    unit = min(UNIT, (1 << 30) // len(space.full))  # so that sums over all columns leave room for a record

    def scaled(costs: NDArray[np.int32]) -> NDArray[np.int64]:
        return costs.astype(np.int64) * unit // largest

    values = np.array(encoded.codes[order], dtype=np.int32, order="C")
    position = scaled(space.position).astype(np.int32)
    for j in range(values.shape[1]):
        codes = values[:, j].copy()
        if space.geometry[j] == LINE:
            values[:, j] = position[space.start[j] : space.start[j + 1]][codes]
        values[codes == space.size[j], j] = NULL
    full = scaled(space.full)
    lines = space.geometry == LINE
    sets = np.where(space.geometry == SET, space.size.astype(np.int64) + 1, 0)
    mass = lines.astype(np.int64) if euclidean else full
    return Points(
        values=values,
        kind=space.geometry,
        by_tree=(space.geometry == TREE) & by_tree,
        size=space.size.astype(np.int64),
        full=full,
        mass=mass,
        whole=int(mass.sum()),
        most=int((full * full)[lines].sum() if euclidean else full.sum()),
        euclidean=euclidean,
        start=np.concatenate([[0], np.cumsum(sets)]).astype(np.int64),
        tree_start=space.tree_start,
        node=space.node,
        node_cost=scaled(space.node_cost),
    )


@dataclass(frozen=True, slots=True, eq=False)
class Grove:
    """Points in parts that can be cut further: part p holds the points ``ids[bounds[p]:bounds[p + 1]]``.

    Attributes
    ----------
    points : Points
    rules : Rules
    sensitive : int32[s, n]
        Sensitive codes of the points.
    ids : int64[m]
        All points or some of them, ascending in each part.
    bounds : int64[parts + 1]
    """

    points: Points
    rules: Rules
    sensitive: NDArray[np.int32]
    ids: NDArray[np.int64]
    bounds: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        encoded: Encoded,
        rules: Rules,
        order: NDArray[np.int64],
        *,
        by_tree: bool = False,
        euclidean: bool = False,
    ) -> Self:
        """Return all records, in an order of their own, as one part."""
        n = encoded.records
        points = make_points(encoded, order, by_tree=by_tree, euclidean=euclidean)
        sensitive = np.ascontiguousarray(encoded.flat_sensitive()[:, order])
        return cls(points, rules, sensitive, np.arange(n), np.array([0, n]))

    @property
    def parts(self) -> int:
        """Number of parts."""
        return len(self.bounds) - 1

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of points of each part."""
        return np.diff(self.bounds)

    def part_of(self) -> NDArray[np.int64]:
        """Return the part of each of `ids`."""
        return np.repeat(np.arange(self.parts), self.sizes)

    def regrouped(self, part: NDArray[np.int64], ids: NDArray[np.int64] | None = None) -> Self:
        """Return these points, or others, in other parts: ``part[i]`` is where ``ids[i]`` belongs."""
        ids = self.ids if ids is None else ids
        order = np.lexsort((ids, part))
        begins = np.flatnonzero(np.diff(part[order], prepend=-1))
        return replace(self, ids=ids[order], bounds=np.append(begins, len(ids)).astype(np.int64))

    def only(self, keep: NDArray[np.bool_]) -> Self:
        """Return the points for which `keep`, which runs along `ids`, is true, in the parts they are in."""
        return self.regrouped(self.part_of()[keep], self.ids[keep])

    def holds_together(self) -> bool:
        """Return whether all points as one class would keep the rules."""
        from ..kernels.stats import class_ok, make_stats

        return bool(class_ok(self.rules, self.sensitive, self.ids, make_stats(self.rules)))

    def grown(self, plan: Plan, stage: Stage) -> Self:
        """Return the parts, each cut by a tree of its own; `stage` advances by one for every point."""
        from ..kernels.vp_tree import grow_tree, grow_tree_parallel

        kernel = grow_tree_parallel if len(self.ids) >= _WORTH_THREADS else grow_tree
        ids = self.ids.copy()
        first = np.zeros(len(ids), dtype=np.bool_)
        waiting = np.column_stack([self.bounds[:-1], self.bounds[1:]])
        while len(waiting):
            cut_nodes = []
            for nodes in _batches(waiting):
                cuts = kernel(plan, self.points, self.rules, self.sensitive, ids, nodes, first)
                stage.advance(int((nodes[:, 1] - nodes[:, 0])[cuts == 0].sum()))
                nodes, cuts = nodes[cuts > 0], cuts[cuts > 0]
                middle = nodes[:, 0] + cuts
                cut_nodes += [np.column_stack([nodes[:, 0], middle]), np.column_stack([middle, nodes[:, 1]])]
            waiting = np.concatenate(cut_nodes)
            waiting = waiting[np.argsort(waiting[:, 0])]
        return self.regrouped(np.cumsum(first), ids)

    def merged(self) -> Self:
        """Return the parts after each under k has joined the part with the point nearest to one of its."""
        from ..kernels.vp_tree import nearest_outside

        part, sizes = self.part_of(), self.sizes.copy()
        for small in np.flatnonzero(sizes < self.rules.k):
            if not 0 < sizes[small] < self.rules.k:
                continue
            own = part == small
            joined = int(nearest_outside(self.points, self.ids, part, self.ids[own]))
            if joined < 0:
                break
            part[own] = joined
            sizes[joined] += sizes[small]
            sizes[small] = 0
        return self.regrouped(part)

    def write_labels(self, labels: NDArray[np.int32], order: NDArray[np.int64]) -> None:
        """Fill in the labels of the records that the points stand for, above all labels that are there."""
        labels[order[self.ids]] = labels.max(initial=-1) + 1 + self.part_of()


def _batches(nodes: NDArray[np.int64]) -> list[NDArray[np.int64]]:
    """Return nodes in batches of about as many records."""
    reach = np.cumsum(nodes[:, 1] - nodes[:, 0])
    return list(np.split(nodes, np.flatnonzero(np.diff(reach // _BATCH)) + 1))


def make_plan(vantage: str, radius: str, candidates: int, k: int, run: Run) -> Plan:
    """Return how nodes are cut, down to parts of fewer than 2k records."""
    from ..kernels.vantage import Plan

    seed = np.uint64(np.random.SeedSequence(run.seed).generate_state(1, np.uint64)[0])
    return Plan(k, 2 * k, VANTAGES.index(vantage), RADII.index(radius), candidates, seed)
