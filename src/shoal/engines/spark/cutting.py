"""Cutting the whole table into cells that fit a task: Mondrian on counts per bin, one job a level.

The driver sees how many records of each cell fall into each bin of each column, and how many have each
sensitive value; it never sees a record. Cells are boxes of bins, so a row's cell follows from its own values.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as sf

from ...encoding import QuasiColumn
from .cells import looked_up, numbers, sensitive_codes, settle_worker
from .whole import Whole, _quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

_BINS = 256
_TAKEN = 1 << 17  # records that are packed together
_TOGETHER = 512  # cells that are counted by one job: what reaches the driver does not grow with the table
_LEAST_SHARE = 0.05  # of a cell: cuts that take off less than this are left to the tasks


@dataclass(frozen=True, slots=True, eq=False)
class Bins:
    """How one quasi-identifier is seen by the driver: at most 256 bins in its own order, null in the last.

    Attributes
    ----------
    of_code : int32[size + 1], optional
        The bin of each code, for columns with a dictionary.
    edges : float64[bins - 2], optional
        Else: the bin of a number is how many edges lie below it.
    place : float64[bins]
        Where each bin lies on [0, 1]; a cell is as wide as the bins it holds are apart.
    """

    of_code: NDArray[np.int32] | None
    edges: NDArray[np.float64] | None
    place: NDArray[np.float64]

    @property
    def count(self) -> int:
        """Number of bins, that of null included."""
        return len(self.place)


def bins_of(whole: Whole, column: QuasiColumn) -> Bins:
    """Return the bins of a quasi-identifier: its values where they are few, else about equally full."""
    if column.name in whole.edges:
        edges = whole.edges[column.name]
        inner = edges[1:-1] if len(edges) > 2 else edges[:0]
        low, high = edges[0], edges[-1]
        middle = np.concatenate([[low], inner, [high]])
        place = (middle[:-1] + middle[1:]) / 2 - low
        return Bins(None, inner, np.append(place / max(high - low, 1e-300), 1.0))
    weights = whole.weights[column.name][: column.size + 1].astype(np.float64)
    if column.size < _BINS:
        of_code = np.arange(column.size + 1)
    else:
        upper = np.cumsum(weights[: column.size])
        filled = ((upper - weights[: column.size] / 2) / max(upper[-1], 1) * (_BINS - 1)).astype(np.int64)
        of_code = np.append(np.unique(np.minimum(filled, _BINS - 2), return_inverse=True)[1], 0)
        of_code[-1] = of_code[:-1].max() + 1
    own = np.arange(column.size) / max(column.size - 1, 1) if column.positions is None else column.positions
    bins = int(of_code[-1]) + 1
    place = np.ones(bins)
    first = np.unique(of_code[:-1], return_index=True)[1] if column.size else np.zeros(0, dtype=np.int64)
    place[: bins - 1] = own[first]
    return Bins(of_code.astype(np.int32), None, place)


@dataclass(slots=True, eq=False)
class Cuts:
    """A tree of cuts; node 0 is the whole table, leaves are cells.

    Attributes
    ----------
    column, bin : list of int
        A row goes left where its bin of that column is at most `bin`; column -1 marks a leaf.
    left : list of int
        The left child; the right one follows it.
    """

    column: list[int] = field(default_factory=lambda: [-1])
    bin: list[int] = field(default_factory=lambda: [0])
    left: list[int] = field(default_factory=lambda: [0])

    def cut(self, node: int, column: int, at: int) -> tuple[int, int]:
        """Cut a leaf in two and return both."""
        first = len(self.column)
        self.column[node], self.bin[node], self.left[node] = column, at, first
        self.column += [-1, -1]
        self.bin += [0, 0]
        self.left += [0, 0]
        return first, first + 1

    @property
    def cells(self) -> int:
        """Number of leaves that can be reached."""
        inner = [0]
        count = 0
        while inner:
            node = inner.pop()
            if self.column[node] < 0:
                count += 1
            else:
                inner += [self.left[node], self.left[node] + 1]
        return count

    def undo(self, node: int) -> None:
        """Make a node a leaf again; its children are no longer reached."""
        self.column[node] = -1

    def leaves_of(self, bins: NDArray[np.uint8]) -> NDArray[np.int32]:
        """Return the leaf of every row of bins[q, n]."""
        from ...kernels.cells import walk

        return walk(bins, np.array(self.column), np.array(self.bin), np.array(self.left))


def cut_table(table: DataFrame, whole: Whole, records: int) -> tuple[Cuts, tuple[Bins, ...]]:
    """Return cuts into cells of at most `records` records where the policy and the data allow.

    A cut is undone, and its node a cell for good, when a side turns out to break the policy. Both sides of a
    cut are counted by the same job.
    """
    binned = tuple(bins_of(whole, column) for column in whole.skeleton.quasi)
    cuts = Cuts()
    active: list[int] = [0]
    parents: dict[int, int] = {}
    if whole.records <= records:
        return cuts, binned
    rows = _packed(table, whole, binned).persist()
    try:
        while active:
            now, active = active[:_TOGETHER], active[_TOGETHER:]
            found = _counted(rows, whole, binned, cuts, now)
            bad = {parents[node] for node in now if node in parents and not _keeps(whole, found[node])}
            for node in bad:
                cuts.undo(node)
            for node in now:
                if parents.get(node) in bad or found[node].records <= records:
                    continue
                chosen = _choose(whole, binned, found[node])
                if chosen is not None:
                    children = cuts.cut(node, *chosen)
                    parents |= dict.fromkeys(children, node)
                    active += children
    finally:
        rows.unpersist()
    return cuts, binned


@dataclass(frozen=True, slots=True, eq=False)
class _Found:
    """What was counted in one cell."""

    records: int
    bins: list[NDArray[np.int64]]  # per quasi-identifier
    sensitive: NDArray[np.int64]  # over all values of all sensitive columns


def _packed(table: DataFrame, whole: Whole, binned: tuple[Bins, ...]) -> DataFrame:
    """Return the table as a few rows of bytes, each many records' bins and sensitive codes.

    They are read once for every level of cuts: a byte a cell, and no cost per record on the way to a task.
    """
    names = [*(c.name for c in whole.skeleton.quasi), *(c.name for c in whole.skeleton.sensitive)]

    def pack(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle_worker()
        for rows in _gathered(batches):
            bins = bins_in(rows, whole, binned)
            sensitive = (sensitive_codes(rows, whole) + whole.rules.start[:-1]).T.astype(np.int32)
            blob = bins.tobytes() + np.ascontiguousarray(sensitive).tobytes()
            yield pa.RecordBatch.from_pydict(
                {"records": pa.array([rows.num_rows]), "cells": pa.array([blob])}
            )

    return table.select(*[sf.col(_quoted(name)) for name in names]).mapInArrow(
        pack, "records long, cells binary"
    )


def _gathered(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.Table]:
    """Yield batches by the hundred thousand records."""
    held: list[pa.RecordBatch] = []
    records = 0
    for batch in batches:
        held.append(batch)
        records += batch.num_rows
        if records >= _TAKEN:
            yield pa.Table.from_batches(held)
            held, records = [], 0
    if records:
        yield pa.Table.from_batches(held)


def bins_in(rows: pa.RecordBatch | pa.Table, whole: Whole, binned: tuple[Bins, ...]) -> NDArray[np.uint8]:
    """Return the bin of every quasi-identifier of every row, uint8[q, n]."""
    found = np.empty((len(binned), rows.num_rows), dtype=np.uint8)
    for j, (column, bins) in enumerate(zip(whole.skeleton.quasi, binned, strict=True)):
        cells = rows.column(column.name)
        if bins.of_code is not None:
            found[j] = bins.of_code[looked_up(cells, whole.lookups[column.name], column.name)]
        else:
            own = numbers(cells)
            assert bins.edges is not None
            found[j] = np.where(np.isnan(own), bins.count - 1, np.searchsorted(bins.edges, own))
    return found


def _counted(
    rows: DataFrame, whole: Whole, binned: tuple[Bins, ...], cuts: Cuts, active: list[int]
) -> dict[int, _Found]:
    """Return the counts of the active cells, by one job: counted inside partitions, then added up."""
    starts = np.concatenate([[0], np.cumsum([b.count for b in binned])]).astype(np.int64)
    width = int(starts[-1] + len(whole.rules.overall))
    q, s = len(binned), len(whole.skeleton.sensitive)
    numbered = np.full(len(cuts.column), -1, dtype=np.int64)
    numbered[active] = np.arange(len(active))

    def count(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        from ...kernels.cells import count_cells

        settle_worker()
        total = np.zeros((len(active), width), dtype=np.int64)
        for batch in batches:
            for n, blob in zip(*(column.to_pylist() for column in batch.columns), strict=True):
                # Copies: writable and aligned, so that there is one compiled kernel for all callers.
                bins = np.frombuffer(blob, np.uint8, q * n).reshape(q, n).copy()
                sensitive = np.frombuffer(blob, np.int32, s * n, q * n).reshape(s, n).copy()
                count_cells(numbered[cuts.leaves_of(bins)], bins, sensitive, starts, total)
        flat = total.ravel()
        keys = np.flatnonzero(flat)
        yield pa.RecordBatch.from_arrays([pa.array(keys), pa.array(flat[keys])], ["key", "count"])

    counted = rows.mapInArrow(count, "key long, count long").groupBy("key")
    answer = counted.agg(sf.sum("count").alias("count")).toArrow()
    total = np.zeros((len(active), width), dtype=np.int64)
    total.ravel()[answer.column("key").to_numpy()] = answer.column("count").to_numpy()
    found = {}
    for node, line in zip(active, total, strict=True):
        bins = [line[starts[j] : starts[j + 1]] for j in range(q)]
        found[node] = _Found(int(bins[0].sum()), bins, line[starts[-1] :])
    return found


def _keeps(whole: Whole, found: _Found) -> bool:
    from ...kernels.stats import counts_ok

    return bool(counts_ok(whole.rules, found.records, found.sensitive))


def _choose(whole: Whole, binned: tuple[Bins, ...], found: _Found) -> tuple[int, int] | None:
    """Return the column in which a cell is widest, and the boundary nearest to its middle; None for none."""
    widths = []
    for column, bins, counts in zip(whole.skeleton.quasi, binned, found.bins, strict=True):
        held = np.flatnonzero(counts)
        spread = bins.place[held[-1]] - bins.place[held[0]] if len(held) > 1 else 0.0
        widths.append(spread * column.spec.weight)
    for j in np.argsort(-np.array(widths), kind="stable"):
        if widths[j] <= 0:
            break
        below = np.cumsum(found.bins[j])[:-1]
        least = max(whole.rules.k, int(_LEAST_SHARE * found.records))
        able = np.flatnonzero((below >= least) & (found.records - below >= least))
        if len(able):
            return int(j), int(able[np.argmin(np.abs(below[able] - found.records / 2))])
    return None
