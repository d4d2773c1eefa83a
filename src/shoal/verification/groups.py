"""What an outsider sees in a published table: records with the same quasi-identifiers, and their values."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..inference import complete, without_nan
from ..schema import Column, Form, Kind

if TYPE_CHECKING:
    from ..policy import Policy

STAR = "*"
_NULL_SAYS_NOTHING = (
    Form.MEAN,
    Form.MEDIAN,
    Form.MODE,
    Form.CENTROID,
    Form.RHO_NOISE,
    Form.RANDOM,
    Form.BOUNDS,
)


class Unverifiable(Exception):  # noqa: N818  (it never leaves this package)
    """A promise cannot be checked on this table, and therefore does not hold."""


@dataclass(frozen=True, slots=True, eq=False)
class Counts:
    """How often each value of one sensitive column occurs in each group, as sorted triples without zeros.

    A star group whose sensitive values were starred as well gives nothing away and takes no part.

    Attributes
    ----------
    column : Column
        With its kind.
    values : pyarrow.Array
        The value of each number in `value`, in the column's order; null, where it occurs, is the last.
    group, value, count : int64[triples]
        Sorted by group, then by value.
    starts : int64[groups that take part]
        Where each group's triples begin.
    overall : int64[values]
        Occurrences over all groups that take part.
    """

    column: Column
    values: pa.Array
    group: NDArray[np.int64]
    value: NDArray[np.int64]
    count: NDArray[np.int64]
    starts: NDArray[np.int64]
    overall: NDArray[np.int64]

    @property
    def total(self) -> int:
        """Number of records that take part."""
        return int(self.overall.sum())

    @property
    def groups(self) -> NDArray[np.int64]:
        """The groups that take part."""
        return self.group[self.starts]

    @property
    def sizes(self) -> NDArray[np.int64]:
        """Number of records of each of these groups."""
        return self.sums(self.count)

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of different values of each of these groups."""
        return np.diff(np.append(self.starts, len(self.group)))

    def sums(self, terms: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the sum of one term per triple over each group, in the type of the terms."""
        return np.add.reduceat(terms, self.starts) if len(self.starts) else terms[:0]

    def greatest(self, terms: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the greatest of one term per triple over each group."""
        return np.maximum.reduceat(terms, self.starts) if len(self.starts) else terms[:0]

    def each(self, by_group: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return one number per group repeated for each of its triples."""
        return np.repeat(by_group, self.lengths)


@dataclass(slots=True, eq=False)
class Examined:
    """A published table under examination.

    Attributes
    ----------
    table : pyarrow.Table
    policy : Policy
    ids : int64[n]
        The group of each record.
    sizes : int64[groups]
    star : bool[n]
        Whether a record belongs to the suppressed ones that were kept with every quasi-identifier ``*``.
    """

    table: pa.Table
    policy: Policy
    ids: NDArray[np.int64]
    sizes: NDArray[np.int64]
    star: NDArray[np.bool_]
    _counts: dict[str, Counts] = field(default_factory=dict)

    @classmethod
    def of(cls, table: pa.Table, policy: Policy, classes: NDArray[np.integer] | None = None) -> Examined:
        """Return a table with its records grouped by the published quasi-identifiers, null being a value.

        With `classes`, records are grouped by these instead.
        """
        table = with_sets(table, policy)
        names = [name for column in policy.schema.quasi for name in column.published_names]
        ids = group_rows(table, names) if classes is None else _dense(np.asarray(classes, np.int64))[0]
        return cls(table, policy, ids, np.bincount(ids), star_rows(table, policy))

    def counts(self, name: str) -> Counts:
        """Return the counts of one sensitive column."""
        if name not in self._counts:
            column = next(column for column in self.policy.schema.sensitive if column.name == name)
            self._counts[name] = self._count(complete(column, self.table))
        return self._counts[name]

    def _count(self, column: Column) -> Counts:
        codes, values = distinct(self.table.column(column.name))
        ids = self.ids
        null = np.asarray(pc.is_null(values).to_numpy(zero_copy_only=False), dtype=bool)[codes]
        if self.star.any() and null[self.star].all():
            codes, ids = codes[~self.star], ids[~self.star]
        rank = rank_values(values, column)
        keys, count = np.unique(ids * len(values) + rank[codes], return_counts=True)
        group, value = np.divmod(keys, max(len(values), 1))
        starts = np.flatnonzero(np.diff(group, prepend=-1))
        overall = np.bincount(rank[codes], minlength=len(values)).astype(np.int64)
        ordered = values.take(pa.array(np.argsort(rank)))
        return Counts(column, ordered, group, value, count.astype(np.int64), starts, overall)


def with_sets(table: pa.Table, policy: Policy) -> pa.Table:
    """Return the table with equal sets written alike: lists as texts, items in order and once."""
    for column in policy.schema.quasi:
        if column.separator is None or column.name not in table.column_names:
            continue
        cells = plain_column(table.column(column.name))
        if pa.types.is_nested(cells.type):
            made = [
                None if items is None else _one_set(items, column.separator) for items in cells.to_pylist()
            ]
        else:
            texts = cells.cast(pa.large_string()).to_pylist()
            made = [text if text is None else _set_text(text, column.separator) for text in texts]
        table = table.set_column(
            table.column_names.index(column.name), column.name, pa.array(made, pa.string())
        )
    return table


def _set_text(text: str, separator: str) -> str:
    """Return the text of one set in order; several sets and texts in quotes stay as they are."""
    return text if text[:1] in ("{", '"', STAR) else _one_set(text.split(separator), separator)


def _one_set(items: Sequence[str | None], separator: str) -> str:
    return separator.join(sorted({str(item).strip() for item in items if item is not None} - {""}))


def group_rows(table: pa.Table, names: list[str]) -> NDArray[np.int64]:
    """Return a dense group number per record: equal cells in all columns, null being equal to null only."""
    ids, width = np.zeros(table.num_rows, dtype=np.int64), 1
    for name in names:
        codes, values = distinct(table.column(name))
        if width * max(len(values), 1) >= 2**62:
            ids, width = _dense(ids)
        ids, width = ids * len(values) + codes, width * max(len(values), 1)
    return _dense(ids)[0]


def _dense(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    encoded = pc.dictionary_encode(pa.array(ids))
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


def distinct(column: pa.ChunkedArray) -> tuple[NDArray[np.int64], pa.Array]:
    """Return (number of each record's value, the distinct values); null is one of them where it occurs."""
    plain = plain_column(column)
    if pa.types.is_null(plain.type):
        return np.zeros(len(plain), dtype=np.int64), pa.nulls(min(len(plain), 1))
    encoded = pc.dictionary_encode(plain, null_encoding="encode")
    return encoded.indices.to_numpy(zero_copy_only=False).astype(np.int64), encoded.dictionary


def plain_column(column: pa.ChunkedArray) -> pa.Array:
    """Return a column as one array, without Arrow's dictionaries and with NaN as null."""
    if pa.types.is_dictionary(column.type):
        column = column.cast(column.type.value_type)
    flat = without_nan(column).combine_chunks()
    return pa.concat_arrays(flat.chunks) if isinstance(flat, pa.ChunkedArray) else flat


def star_rows(table: pa.Table, policy: Policy) -> NDArray[np.bool_]:
    """Return which records say nothing in any quasi-identifier, if the policy keeps suppressed records."""
    found = np.full(table.num_rows, policy.suppressed == "star" and bool(policy.schema.quasi))
    if not found.any():
        return found
    for column in policy.schema.quasi:
        for name in column.published_names:
            cells = plain_column(table.column(name))
            nothing = pc.is_null(cells) if column.form in _NULL_SAYS_NOTHING else pa.scalar(False)
            if pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type):
                nothing = pc.or_(pc.fill_null(pc.equal(cells, STAR), False), nothing)
            if isinstance(nothing, pa.Scalar):
                return np.zeros(table.num_rows, dtype=bool)
            found &= np.asarray(nothing.to_numpy(zero_copy_only=False), dtype=bool)
    return found


def rank_values(values: pa.Array, column: Column) -> NDArray[np.int64]:
    """Return the place of each distinct value in the column's order; null comes last."""
    place = np.empty(len(values), dtype=np.int64)
    place[_sorted_indices(values, column)] = np.arange(len(values))
    return place


def _sorted_indices(values: pa.Array, column: Column) -> NDArray[np.int64]:
    if column.kind is Kind.ORDINAL and column.order:
        known = {text: rank for rank, text in enumerate(column.order)}
        texts = ["" if value is None else str(value) for value in values.to_pylist()]
        missing = pc.is_null(values).to_pylist()
        if any(text not in known and not null for text, null in zip(texts, missing, strict=True)):
            raise Unverifiable(f"the ordinal column {column.name!r} holds values that are not in its order")
        ranks = [len(known) if null else known[text] for text, null in zip(texts, missing, strict=True)]
        return np.argsort(ranks, kind="stable")
    if column.kind is Kind.NUMERIC and not _is_number(values.type):
        try:
            values = values.cast(pa.float64())
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
            raise Unverifiable(
                f"the numeric column {column.name!r} holds values that are not numbers"
            ) from None
    return np.asarray(pc.sort_indices(values).to_numpy(), dtype=np.int64)


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))
