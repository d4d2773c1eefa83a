"""Cutting clusters of records into classes by the best of all cuts: the driver of `kernels.cuts`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..partitions import Partition
from ..progress import Stage

if TYPE_CHECKING:
    from ..kernels.rules import Rules
    from ..kernels.sweeps import Goal, Rows

_LARGE = 4096  # rows of a node from which its columns are worth a thread each
_SHARES = 64  # a node of more than this part of all rows is cut by all threads together
_LEVELS = 20  # how often a row is looked at, roughly
_BATCHES = 50  # a batch is the stretch between two looks at Ctrl-C and two steps of the progress bar


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What is cut, and by which measure.

    Attributes
    ----------
    encoded : Encoded
    codes : int32[n, q]
        The codes in the order in which they are cut.
    rules : Rules
        What both sides of every cut must keep.
    paper : bool
        Score by the paper's local information loss instead of by the loss of all columns.
    target : str, optional
        Column whose entropy within classes should be small.
    target_weight : float
        Share of the score that this makes.
    parallel : bool
    """

    encoded: Encoded
    codes: NDArray[np.int32]
    rules: Rules
    paper: bool = False
    target: str | None = None
    target_weight: float = 0.0
    parallel: bool = True


def cut_clusters(
    task: Task, row: NDArray[np.int64], cluster: NDArray[np.int32], stage: Stage
) -> NDArray[np.int64]:
    """Return a class label for each record; -1 where a distinct row has no cluster.

    Parameters
    ----------
    task : Task
    row : int64[n]
        The distinct row of each record.
    cluster : int32[m]
        The cluster of each distinct row, -1 for none; no class spans two clusters.
    stage : Stage
        Told about every record that has its class.
    """
    rows, nodes = _rows(task, row, cluster)
    return _Cutter(task, rows, _goal(task), stage).cut(nodes)[row]


def score_of(task: Task, classes: Partition) -> int:
    """Return what classes cost by the measure that cuts make small; a suppressed record loses everything.

    The paper's objective is not additive, so classes are always judged by the loss of all columns.
    """
    from ..kernels.hulls import class_costs, class_hulls
    from ..kernels.sweeps import PARTS

    encoded, space, goal = task.encoded, task.encoded.space(), _goal(task)
    codes = np.ascontiguousarray(encoded.codes.T)
    hulls = class_hulls(codes, space.size, classes.order, classes.offsets)
    loss = int(class_costs(hulls, space, classes.sizes).sum())
    loss += classes.suppressed * int(space.full.sum())
    if goal.parts == 0:
        return loss
    pairs = classes.labels.astype(np.int64) * goal.values + goal.target
    counts = np.unique(pairs[classes.labels >= 0], return_counts=True)[1]
    entropy = int(goal.logs[classes.sizes].sum() - goal.logs[counts].sum())
    return (PARTS - goal.parts) * loss + goal.parts * entropy


class _Cutter:
    """Runs the kernels over nodes, and tells the stage about the records that have their class."""

    def __init__(self, task: Task, rows: Rows, goal: Goal, stage: Stage) -> None:
        self.rows, self.stage = rows, stage
        self.fixed = (rows, task.encoded.space(), task.rules, task.encoded.flat_sensitive(), goal)
        self.parallel = task.parallel and rows.order.shape[1] > _LARGE
        self.weight = np.diff(rows.first)
        self.labels = np.full(len(rows.codes), -1, dtype=np.int64)
        self.told = 0

    def cut(self, nodes: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the label of every row in the nodes, -1 for the others."""
        if self.parallel:
            self._cut_parallel(nodes)
        else:
            self._cut_serial(nodes)
        return self.labels

    def _cut_serial(self, nodes: NDArray[np.int64]) -> None:
        from ..kernels.cuts import WAITING, cut_nodes

        budget = max(_LARGE, self.rows.order.shape[1] * _LEVELS // _BATCHES)
        waiting = np.concatenate([nodes, np.zeros((WAITING, 2), dtype=np.int64)])
        count = len(nodes)
        while count > 0:
            count = cut_nodes(*self.fixed, waiting, count, budget, self.labels)
            self._tell()

    def _cut_parallel(self, nodes: NDArray[np.int64]) -> None:
        """Cut the large nodes column beside column, then the small ones node beside node."""
        from ..kernels.cuts import cut_large_node, cut_nodes_parallel

        rows = self.rows.order.shape[1]
        limit = max(_LARGE, rows // _SHARES)
        small, large = [], nodes.tolist()
        while large:
            begin, end = large.pop()
            if end - begin <= limit:
                small.append((begin, end))
                continue
            at = cut_large_node(*self.fixed, begin, end)
            if at < 0:
                self.labels[self.rows.order[0, begin:end]] = begin
            else:
                large += [(begin, at), (at, end)]
        ends = np.cumsum([end - begin for begin, end in small])
        batch_of = ends * _BATCHES // (rows + 1)
        for batch in np.unique(batch_of):
            cut_nodes_parallel(*self.fixed, np.array(small, dtype=np.int64)[batch_of == batch], self.labels)
            self._tell()

    def _tell(self) -> None:
        done = int(self.weight[self.labels >= 0].sum())
        self.stage.advance(done - self.told)
        self.told = done


def _rows(task: Task, row: NDArray[np.int64], cluster: NDArray[np.int32]) -> tuple[Rows, NDArray[np.int64]]:
    """Return the distinct rows in the orders of all columns, cluster by cluster, and where clusters lie."""
    from ..kernels.sweeps import Rows

    m = len(cluster)
    first = np.concatenate([[0], np.cumsum(np.bincount(row, minlength=m))]).astype(np.int64)
    records = np.argsort(row, kind="stable").astype(np.int64)
    codes = np.ascontiguousarray(task.codes[records[first[:-1]]])
    kept = np.flatnonzero(cluster >= 0)
    order = np.empty((codes.shape[1], len(kept)), dtype=np.int32)
    for j in range(codes.shape[1]):
        by_code = kept[np.argsort(codes[kept, j], kind="stable")]
        order[j] = by_code[np.argsort(cluster[by_code], kind="stable")]
    sizes = np.unique(cluster[kept], return_counts=True)[1]
    ends = np.cumsum(sizes)
    rows = Rows(codes, order, records, first, np.zeros(m, dtype=np.bool_))
    return rows, np.stack([ends - sizes, ends], axis=1).astype(np.int64)


def _goal(task: Task) -> Goal:
    """Return what cuts are scored by."""
    from ..kernels.sweeps import PARTS, Goal

    parts = 0 if task.target is None else round(task.target_weight * PARTS)
    if parts == 0 or task.target is None:
        nothing = np.zeros(0, dtype=np.int32)
        return Goal(task.paper, 0, nothing, 0, np.zeros(0, dtype=np.int64))
    codes, values = task.encoded.column_codes(task.target)
    full = sum(column.spec.weight for column in task.encoded.quasi)
    logs = entropy_units(task.encoded.records, values, full)
    return Goal(task.paper, parts, np.ascontiguousarray(codes), values, logs)


def entropy_units(records: int, values: int, full: float) -> NDArray[np.int64]:
    """Return c * ln(c) for c = 0..records, in units in which ln(values) costs as much as a whole row."""
    from ..kernels.space import UNIT

    counts = np.arange(records + 1, dtype=np.float64)
    scale = full * UNIT / np.log(max(values, 2))
    units: NDArray[np.int64] = np.rint(counts * np.log(np.maximum(counts, 1.0)) * scale).astype(np.int64)
    return units
