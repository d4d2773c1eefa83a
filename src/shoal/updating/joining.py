"""Which new records can be published by now: those that join classes or make new ones, enough at a time.

What is added to a class is a class of its own to everyone who compares two releases. So records join a class
only together: those who join it with one release keep the whole policy by themselves.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..encoding import encode
from ..enforce import failures
from ..errors import PolicyUnsatisfiable
from ..models.statistics import class_statistics
from ..partitions import Partition
from ..recode import publish
from ..risk.candidates import find_candidates
from ..risk.reading import read_columns
from ..verification.groups import group_rows

if TYPE_CHECKING:
    from ..policy import Policy

_ONE = "shoal one"  # a column for policies that are judged by sensitive values and sizes alone


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """A policy, what is published under it, and the records that wait.

    Attributes
    ----------
    policy : Policy
        Resolved.
    previous : pyarrow.Table
        As published; cells of quasi-identifiers are texts.
    waiting : pyarrow.Table
        Originals.
    same_values : bool
        A record joins a class only if the class shows its sensitive values already.
    distinct : int
        m of m-invariance; 0 where it is not asked for. Then classes never grow, and those who make a new one
        all have different sensitive values, m of them at least.
    """

    policy: Policy
    previous: pa.Table
    waiting: pa.Table
    same_values: bool
    distinct: int

    @property
    def columns(self) -> list[str]:
        """Published names of the quasi-identifiers."""
        return [name for column in self.policy.schema.quasi for name in column.published_names]

    def homes(self) -> NDArray[np.int64]:
        """Return, per waiting record, a published row whose class it fits best, -1 for none."""
        n = self.waiting.num_rows
        homes = np.full(n, -1, dtype=np.int64)
        if self.distinct or n == 0 or self.previous.num_rows == 0:
            return homes
        names = [column.name for column in self.policy.schema.quasi]
        known = read_columns(self.policy, self.waiting, self.previous, names)
        found = find_candidates(known, np.arange(n), by_breadth=True)
        _, row_of = np.unique(found.group, return_index=True)
        nearest = np.full(len(found.known), -1, dtype=np.int64)
        for people, starts, listed in found.lists():
            nearest[people] = row_of[listed[starts[:-1]]]
        homes[:] = np.where(found.distance == 0, nearest[found.person], -1)
        if self.same_values:
            homes[~self._shown(homes)] = -1
        return homes

    def _shown(self, homes: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return which records' sensitive values all occur in the class they fit."""
        ids = group_rows(self.previous, self.columns)
        good = homes >= 0
        for column in self.policy.schema.sensitive:
            old = self.previous.column(column.name).to_pylist()
            shown = set(zip(ids.tolist(), map(_text, old), strict=True))
            new = self.waiting.column(column.name).to_pylist()
            pairs = zip(ids[homes].tolist(), map(_text, new), strict=True)
            good &= np.array([pair in shown for pair in pairs], dtype=bool)
        return good

    def cells_at(self, rows: NDArray[np.int64], homes: NDArray[np.int64]) -> pa.Table:
        """Return waiting records as published with the cells of the rows they join."""
        made = self.waiting.take(pa.array(rows))
        at = self.previous.take(pa.array(homes[rows]))
        return self._published(made, {name: at.column(name) for name in self.columns})

    def new_classes(
        self, rows: NDArray[np.int64], partition: Callable[[pa.Table], Any]
    ) -> tuple[pa.Table, Any]:
        """Return (published records, which of `rows` they are): classes that they make by themselves."""
        if not len(rows):
            return self.previous.slice(0, 0), rows
        table = self.waiting.take(pa.array(rows))
        try:
            prepared, classes = partition(table)
        except PolicyUnsatisfiable:
            return self.previous.slice(0, 0), rows[:0]
        labels = classes.labels.copy()
        if self.distinct:
            labels = self._all_different(prepared, labels)
        kept = np.flatnonzero(labels >= 0)
        made = publish(
            prepared.table.data, prepared.encoded, classes.relabelled(labels), prepared.policy
        ).table
        cells = {name: _as_texts(made.column(name)) for name in self.columns}
        if made.num_rows != len(kept):  # suppressed records that a policy keeps with stars wait here instead
            cells = {name: column.take(pa.array(kept)) for name, column in cells.items()}
        return self._published(table.take(pa.array(kept)), cells), rows[kept]

    def _all_different(self, prepared: Any, labels: NDArray[np.int32]) -> NDArray[np.int32]:
        """Return the classes with one record for each sensitive value; those of fewer than m are left."""
        labels = labels.copy()
        for j in range(len(prepared.encoded.sensitive)):
            pair = labels.astype(np.int64) << 32 | prepared.encoded.sensitive_column(j)
            first = np.zeros(len(labels), dtype=bool)
            first[np.unique(pair, return_index=True)[1]] = True
            labels[~first] = -1
        sizes = np.bincount(labels[labels >= 0], minlength=int(labels.max(initial=-1)) + 1)
        labels[(labels >= 0) & (sizes[labels] < self.distinct)] = -1
        return labels

    def _published(self, originals: pa.Table, cells: dict[str, Any]) -> pa.Table:
        """Return originals in the columns and types of what is published, with these cells."""
        columns = {}
        for field in self.previous.schema:
            column = cells[field.name] if field.name in cells else originals.column(field.name)
            columns[field.name] = column if column.type == field.type else column.cast(field.type)
        return pa.table(columns)

    def breaking(self, published: pa.Table, added: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which rows are in classes that break a promise, in all rows or among those `added` alone."""
        ids = group_rows(published, self.columns)
        broken = self._failing(published, ids)
        rows = np.flatnonzero(added)
        if len(rows):
            broken[rows] |= self._failing(published.take(pa.array(rows)), ids[rows])
        return broken

    def _failing(self, published: pa.Table, ids: NDArray[np.int64]) -> NDArray[np.bool_]:
        found = np.zeros(len(ids), dtype=bool)
        if not len(ids):
            return found
        sensitive = [column for column in self.policy.schema.columns if column.role == "sensitive"]
        judged = self.policy.with_columns([replace(self.policy.schema.quasi[0], **_PLAIN), *sensitive])
        table = pa.table(
            {_ONE: pa.array(np.zeros(len(ids), dtype=np.int64))}
            | {column.name: published.column(column.name) for column in sensitive}
        )
        partition = Partition.from_labels(ids)
        statistics = class_statistics(encode(table, judged.resolved(table)), partition)
        for failure in failures(statistics, judged):
            found |= failure.failing[partition.labels]
        return found


_PLAIN: dict[str, Any] = {"name": _ONE, "kind": None, "hierarchy": None, "domain": None, "order": None}


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def _as_texts(column: Any) -> Any:
    from ..hierarchies.texts import texts

    chunked = column if isinstance(column, pa.ChunkedArray) else pa.chunked_array([column])
    flat = chunked.combine_chunks()
    return texts(pa.concat_arrays(flat.chunks) if isinstance(flat, pa.ChunkedArray) else flat)
