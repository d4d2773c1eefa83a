"""Candidates: the published records that come nearest to what an attacker knows of each person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..grouping import Coded, combine, dense
from ..kernels.matching import Cells, count_nearest, distances, list_nearest, tally
from .reading import Known, Line, Same

_LISTED = 1 << 24  # candidate groups held at once
_COUNTED = 1 << 24  # counts of values held at once


@dataclass(frozen=True, slots=True, eq=False)
class Candidates:
    """The groups of published records nearest to each of a few people.

    Attributes
    ----------
    group : int64[published records]
        Records with the same cells in the known columns are one group.
    cells : Cells
    known : int32[people, columns]
        What the attacker knows of each person, as the cells are compared with it.
    person : int64[asked]
        The row of `known` that each person asked about has: people who look alike are looked up once.
    found : int64[people, 4]
        Distance of the nearest groups, what they allow, how many groups, how many records.
    by_breadth : bool
    """

    group: NDArray[np.int64]
    cells: Cells
    known: NDArray[np.int32]
    person: NDArray[np.int64]
    found: NDArray[np.int64]
    by_breadth: bool

    @property
    def distance(self) -> NDArray[np.int64]:
        """Distance of the nearest groups from each person asked about."""
        away: NDArray[np.int64] = self.found[self.person, 0]
        return away

    @property
    def rows(self) -> NDArray[np.int64]:
        """Number of nearest records of each person asked about."""
        rows: NDArray[np.int64] = self.found[self.person, 3]
        return rows

    def holds(self, own: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return whether a group of each person asked about, negative for none, is among the nearest."""
        asked = np.flatnonzero(own >= 0)
        person, group = self.person[asked], own[asked]
        away = np.empty(len(asked), dtype=np.int64)
        distances(self.cells, self.known[person], group, away)
        near = away == self.found[person, 0]
        if self.by_breadth:
            near &= self.cells.breadth[group] == self.found[person, 1]
        inside = np.zeros(len(own), dtype=bool)
        inside[asked] = near
        return inside

    def lists(self) -> list[tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int32]]]:
        """Return (people, starts, groups) in pieces that fit into memory; people are rows of `known`."""
        pieces, first = [], 0
        ends = np.cumsum(self.found[:, 2])
        while first < len(self.found):
            before = ends[first - 1] if first else 0
            last = max(int(np.searchsorted(ends, before + _LISTED, side="right")), first + 1)
            counted = np.ascontiguousarray(self.found[first:last])
            starts = np.concatenate([[0], np.cumsum(counted[:, 2])])
            listed = np.empty(starts[-1], dtype=np.int32)
            list_nearest(self.cells, self.known[first:last], self.by_breadth, counted, listed)
            pieces.append((np.arange(first, last), starts, listed))
            first = last
        return pieces


def find_candidates(
    columns: Sequence[Known], people: NDArray[np.int64], *, by_breadth: bool = False
) -> Candidates:
    """Return the published records nearest to each of these people.

    Parameters
    ----------
    columns : sequence of Known
        What the attacker knows.
    people : int64[asked]
    by_breadth : bool
        Whether to keep only those that allow least, of several at the same distance.
    """
    group, first, rows = _groups(columns)
    cells = cells_of(columns, [column.cell[first] for column in columns], rows)
    looks = Looks.of(columns, people)
    found = np.empty((len(looks.known), 4), dtype=np.int64)
    count_nearest(cells, looks.known, by_breadth, found)
    return Candidates(group, cells, looks.known, looks.person, found, by_breadth)


@dataclass(frozen=True, slots=True, eq=False)
class Looks:
    """The different things that are known of people, sorted, first column first.

    Attributes
    ----------
    known : int32[looks, columns]
        As cells are compared with it.
    person : int64[asked]
        The look of each person.
    """

    known: NDArray[np.int32]
    person: NDArray[np.int64]

    @classmethod
    def of(cls, columns: Sequence[Known], people: NDArray[np.int64]) -> Looks:
        """Return the looks of these people."""
        known, coded = [], []
        for column in columns:
            look = looks_of(column, people)
            different, rank = np.unique(look, return_inverse=True)
            known.append(look)
            coded.append(Coded(rank.reshape(-1).astype(np.int64), len(different)))
        together = combine(coded)  # which keeps the order
        _, first = np.unique(together.codes, return_index=True)
        return cls(np.ascontiguousarray(np.stack(known, axis=1)[first]), together.codes)

    def skips(self) -> NDArray[np.int32]:
        """Return, per column and look, the next look that differs in a column up to this one."""
        return skips(self.known.T)


def _groups(columns: Sequence[Known]) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (group of each published record, a record of each group, its size)."""
    together = Coded(columns[0].cell, int(columns[0].cell.max(initial=-1)) + 1)
    for column in columns[1:]:
        size = int(column.cell.max(initial=-1)) + 1
        together = dense(together.codes * size + column.cell, together.size * size)
    _, first, rows = np.unique(together.codes, return_index=True, return_counts=True)
    return together.codes, first, rows.astype(np.int64)


def looks_of(column: Known, people: NDArray[np.int64]) -> NDArray[np.int32]:
    """Return what is known of these people in one column, as cells are compared with it."""
    value = column.value[people]
    found = column.scale.position[value] if isinstance(column.scale, Line) else value
    return np.asarray(found, dtype=np.int32)


def cells_of(
    columns: Sequence[Known], chosen: Sequence[NDArray[np.int64]], rows: NDArray[np.int64] | None = None
) -> Cells:
    """Return groups that have the `chosen` cells, per column, and so many `rows`, one each if not given."""
    rows = np.ones(len(chosen[0]), dtype=np.int64) if rows is None else rows
    low, high = np.zeros((2, len(columns), len(rows)), dtype=np.int32)
    width, start = np.zeros((2, len(columns)), dtype=np.int64)
    breadth, tables, length = np.zeros(len(rows), dtype=np.int64), [np.zeros(0, dtype=np.uint8)], 0
    for j, (column, cell) in enumerate(zip(columns, chosen, strict=True)):
        breadth += column.breadth()[cell]
        if isinstance(column.scale, Line):
            low[j], high[j] = column.scale.low[cell], column.scale.high[cell]
            continue
        if isinstance(column.scale, Same):
            low[j], width[j] = column.scale.value[cell], -1
            continue
        low[j], width[j], start[j] = cell, column.scale.fits.shape[1], length
        tables.append(column.scale.fits.ravel())
        length += column.scale.fits.size
    skip = skips(chosen)
    return Cells(low, high, width, start, np.concatenate(tables), breadth, rows, skip)


def skips(cells: Sequence[NDArray[np.integer[Any]]] | NDArray[np.int32]) -> NDArray[np.int32]:
    """Return, per column and group, the next group whose cells differ in a column up to this one."""
    groups = len(cells[0])
    skip = np.empty((len(cells), groups), dtype=np.int32)
    differs = np.zeros(groups, dtype=bool)
    for j, cell in enumerate(cells):
        differs[1:] |= cell[1:] != cell[:-1]
        starts = np.append(np.flatnonzero(differs), groups)
        skip[j] = starts[np.searchsorted(starts, np.arange(groups), side="right")]
    return skip


def value_counts(
    candidates: Candidates, values: Coded, known_values: NDArray[np.bool_]
) -> NDArray[np.float64]:
    """Return, per person asked about, the weight of each value among the candidates.

    A candidate counts the more the less its cells allow: one over the product of the shares of people that
    fit them, which is how likely it is, among those that fit, to be the person's own.

    Parameters
    ----------
    candidates : Candidates
    values : Coded
        The value of each published record.
    known_values : bool[published records]
        Records whose value is published at all.
    """
    held = _held(candidates, values, known_values)
    counts = np.zeros((len(candidates.known), values.size))
    for people, starts, listed in candidates.lists():
        owner = np.repeat(people, np.diff(starts))
        breadth = candidates.cells.breadth[listed].astype(np.float64) / (1 << 16)
        least = np.full(len(candidates.known), np.inf)
        np.minimum.at(least, owner, breadth)
        weights = np.exp(np.maximum(least[owner] - breadth, -500.0))
        tally(starts, listed, weights, held, counts[people[0] : people[-1] + 1])
    return counts[candidates.person]


def _held(
    candidates: Candidates, values: Coded, known_values: NDArray[np.bool_]
) -> tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]]:
    """Return which values the groups hold: (start of each group, value, count)."""
    keys = candidates.group[known_values] * values.size + values.codes[known_values]
    found, count = np.unique(keys, return_counts=True)
    group, value = np.divmod(found, max(values.size, 1))
    start = np.searchsorted(group, np.arange(len(candidates.cells.rows) + 1))
    return start.astype(np.int64), value.astype(np.int32), count.astype(np.int64)
