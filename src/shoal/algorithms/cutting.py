"""Cutting clusters of records into classes by the best of all cuts: the driver of `kernels.cuts`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..progress import Stage

if TYPE_CHECKING:
    from ..kernels.cuts import Goal, Rows
    from ..kernels.rules import Rules

_LARGE = 4096  # rows of a node from which its columns are worth a thread each
_SHARES = 64  # a node of more than this part of all rows is cut by all threads together
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
    rows, spans = _rows(task, row, cluster)
    goal = _goal(task)
    labels = np.full(len(cluster), -1, dtype=np.int64)
    _Cutter(task, rows, goal, stage).cut(spans, labels)
    return labels[row]


class _Cutter:
    """Runs the kernels over nodes: the large ones one by one, the others batch by batch."""

    def __init__(self, task: Task, rows: Rows, goal: Goal, stage: Stage) -> None:
        self.rows, self.stage = rows, stage
        self.fixed = (rows, task.encoded.space(), task.rules, task.encoded.flat_sensitive(), goal)
        self.parallel = task.parallel and len(rows.codes) > _LARGE
        self.weight = np.diff(rows.first)

    def cut(self, spans: list[tuple[int, int]], labels: NDArray[np.int64]) -> None:
        """Fill in the labels of all rows in the spans."""
        cut = sum(end - begin for begin, end in spans)
        batch: list[tuple[int, int]] = []
        held = 0
        for span in self._small(spans, labels, max(_LARGE, cut // _SHARES)):
            batch.append(span)
            held += span[1] - span[0]
            if held * _BATCHES >= cut:
                self._run(batch, labels)
                batch, held = [], 0
        if batch:
            self._run(batch, labels)

    def _small(
        self, spans: list[tuple[int, int]], labels: NDArray[np.int64], limit: int
    ) -> list[tuple[int, int]]:
        """Cut the large nodes until only small ones are left, and return those."""
        from ..kernels.cuts import cut_large_node, cut_one_node

        cut_it = cut_large_node if self.parallel else cut_one_node
        small, large = [], list(spans)
        while large:
            begin, end = large.pop()
            if end - begin <= limit:
                small.append((begin, end))
                continue
            at = cut_it(*self.fixed, begin, end)
            if at < 0:
                self._finish(begin, end, labels)
            else:
                large += [(begin, at), (at, end)]
        return sorted(small)

    def _finish(self, begin: int, end: int, labels: NDArray[np.int64]) -> None:
        members = self.rows.order[0, begin:end]
        labels[members] = begin
        self.stage.advance(int(self.weight[members].sum()))

    def _run(self, batch: list[tuple[int, int]], labels: NDArray[np.int64]) -> None:
        from ..kernels.cuts import cut_nodes, cut_nodes_parallel

        kernel = cut_nodes_parallel if self.parallel and len(batch) > 1 else cut_nodes
        kernel(*self.fixed, np.array(batch, dtype=np.int64), labels)
        rows = np.concatenate([self.rows.order[0, begin:end] for begin, end in batch])
        self.stage.advance(int(self.weight[rows].sum()))


def _rows(
    task: Task, row: NDArray[np.int64], cluster: NDArray[np.int32]
) -> tuple[Rows, list[tuple[int, int]]]:
    """Return the distinct rows in the orders of all columns, cluster by cluster, and where clusters lie."""
    from ..kernels.cuts import Rows

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
    bounds = np.concatenate([[0], np.cumsum(sizes)]).tolist()
    rows = Rows(codes, order, records, first, np.zeros(m, dtype=np.bool_))
    return rows, list(zip(bounds[:-1], bounds[1:], strict=True))


def _goal(task: Task) -> Goal:
    """Return what cuts are scored by."""
    from ..kernels.cuts import PARTS, Goal

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
    return np.rint(counts * np.log(np.maximum(counts, 1.0)) * scale).astype(np.int64)
