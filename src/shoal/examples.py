"""Before and after: rows of a table beside what a release made of them, invented ones or real ones.

An invented row is nobody's: its values come from different records of one class, numbers from anywhere
between its least and greatest, and a combination that some record has is not used. What it shows is true all
the same: a record with these values would be published so.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .policy import Policy
from .schema import Column, Kind, Role

_ATTEMPTS = 20


@dataclass(frozen=True, slots=True)
class Pair:
    """One row before and after.

    Attributes
    ----------
    before, after : dict of column name to text
        None for null. `after` has the published columns.
    shared_by : int
        Records of the same class.
    """

    before: dict[str, str | None]
    after: dict[str, str | None]
    shared_by: int


@dataclass(frozen=True, slots=True, eq=False)
class Sides:
    """A table, its release in the table's order, and which record is which.

    Attributes
    ----------
    table, published : pyarrow.Table
    labels : int32[records]
        The class of every record of the table; -1 suppressed.
    policy : Policy
    """

    table: pa.Table
    published: pa.Table
    labels: NDArray[np.int32]
    policy: Policy

    @property
    def rows(self) -> NDArray[np.int64]:
        """The record of the table that each published row belongs to."""
        whole = len(self.labels) == self.published.num_rows
        return np.arange(len(self.labels)) if whole else np.flatnonzero(self.labels >= 0)


def real_pairs(sides: Sides, count: int, seed: int) -> list[Pair]:
    """Return rows of real people, from classes drawn at random."""
    sizes = np.bincount(sides.labels[sides.labels >= 0], minlength=1)
    rows = sides.rows
    chosen = np.random.default_rng(seed).permutation(len(rows))[:count]
    return [
        Pair(
            _texts(sides.table, int(rows[i])),
            _texts(sides.published, int(i)),
            int(sizes[label]) if (label := sides.labels[rows[i]]) >= 0 else 0,
        )
        for i in chosen
    ]


def invented_pairs(sides: Sides, count: int, seed: int) -> list[Pair]:
    """Return rows of nobody, each as the class it would belong to is published.

    Fewer than `count` where classes are so alike inside that nothing can be invented.
    """
    rng = np.random.default_rng(seed)
    places = np.flatnonzero(sides.labels[sides.rows] >= 0)
    found: list[Pair] = []
    for place in rng.permutation(places)[: count * _ATTEMPTS]:
        if len(found) == count:
            break
        label = sides.labels[sides.rows[place]]
        pair = _invented(sides, np.flatnonzero(sides.labels == label), int(place), rng)
        if pair is not None:
            found.append(pair)
    return found


def _invented(sides: Sides, members: NDArray[np.int64], place: int, rng: np.random.Generator) -> Pair | None:
    held = sides.table.take(pa.array(members))
    columns = {column.name: column for column in sides.policy.schema.columns}
    known = [column.name for column in sides.policy.schema.quasi]
    for _ in range(_ATTEMPTS):
        row = {name: _mixed(held.column(name), columns.get(name), rng) for name in held.column_names}
        if known and not _occurs(sides.table, {name: row[name] for name in known}):
            before = {name: _text(value) for name, value in row.items()}
            after = _texts(sides.published, place)
            return Pair(before, {**after, **_as_is(before, sides.policy, after)}, len(members))
    return None


def _as_is(
    before: dict[str, str | None], policy: Policy, after: dict[str, str | None]
) -> dict[str, str | None]:
    """Return what is published as it is: the invented row's own, not that of the record beside it."""
    changed = {
        name
        for column in policy.schema.columns
        if column.role in (Role.QUASI, Role.IDENTIFIER)
        for name in (column.name, *column.published_names)
    }
    return {name: before[name] for name in after if name in before and name not in changed}


def _mixed(values: pa.ChunkedArray, column: Column | None, rng: np.random.Generator) -> Any:
    """Return a value from some record, or a number between the least and the greatest."""
    if column is not None and column.role is Role.IDENTIFIER:
        return "(invented)"
    present = values.drop_null()
    if not len(present):
        return None
    if column is not None and column.kind is Kind.NUMERIC and pa.types.is_integer(values.type):
        ends = pc.min_max(present)
        return int(rng.integers(ends["min"].as_py(), ends["max"].as_py() + 1))
    return present[int(rng.integers(len(present)))].as_py()


def _occurs(table: pa.Table, row: dict[str, Any]) -> bool:
    """Return whether some record of the table has all of these values."""
    left = table.select(list(row))
    for name, value in row.items():
        column = left.column(name)
        same = pc.is_null(column) if value is None else pc.equal(column, pa.scalar(value, column.type))
        left = left.filter(same)
    return bool(left.num_rows)


def _texts(table: pa.Table, place: int) -> dict[str, str | None]:
    return {name: _text(table.column(name)[place].as_py()) for name in table.column_names}


def _text(value: Any) -> str | None:
    return None if value is None else f"{value:.6g}" if isinstance(value, float) else str(value)
