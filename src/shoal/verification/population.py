"""How many records of a population fit the published cells of each group: for k-map and delta-presence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..inference import complete
from ..schema import Column, Form
from .groups import Examined, Unverifiable, distinct, group_rows
from .scales import Scale, is_node, node_reader

_SINGLE_NUMBERS = (Form.MEAN, Form.MEDIAN, Form.MODE, Form.CENTROID, Form.RHO_NOISE, Form.RANDOM)


@dataclass(frozen=True, slots=True, eq=False)
class Fitting:
    """Records of the population that fit each group.

    They differ only where bounds are published as nulls, which says either null or nothing at all: `least`
    reads it as null, `most` as nothing.
    """

    least: NDArray[np.int64]
    most: NDArray[np.int64]


def population_counts(examined: Examined, population: Any) -> Fitting:
    """Return how many records of the population fit the cells of each group."""
    table = _as_table(population)
    quasi = examined.policy.schema.quasi
    for column in quasi:
        if column.form in _SINGLE_NUMBERS:
            raise Unverifiable(
                f"{column.name!r} is published as {column.form.value}, which no population can fit"
            )
        if column.name not in table.column_names:
            raise Unverifiable(f"the population lacks the column {column.name!r}")
    rows = group_rows(table, [column.name for column in quasi])
    _, first, weights = np.unique(rows, return_index=True, return_counts=True)
    people = table.take(pa.array(first))
    _, samples = np.unique(examined.ids, return_index=True)
    shown = examined.table.take(pa.array(samples))
    readers = [_reader(column, shown, people) for column in quasi]
    counted = [
        np.array([_fitting(readers, g, weights, generous) for g in range(len(samples))], dtype=np.int64)
        for generous in ((False, True) if any(column.form is Form.BOUNDS for column in quasi) else (False,))
    ]
    return Fitting(counted[0], counted[-1])


def _as_table(population: Any) -> pa.Table:
    if isinstance(population, pa.Table):
        return population
    if isinstance(population, str):
        from ..io import read

        return read(population)
    from ..table import Table

    return Table.from_any(population).data


def _fitting(readers: list[_Reader], group: int, weights: NDArray[np.int64], generous: bool) -> int:
    people: NDArray[np.int64] | None = None
    for reader in readers:
        people = reader.narrow(group, people, generous)
        if len(people) == 0:
            return 0
    return int(weights.sum() if people is None else weights[people].sum())


@dataclass(frozen=True, slots=True, eq=False)
class _Reader:
    """One quasi-identifier: for each kind of cell, which distinct values of the population fit it."""

    cell_of: NDArray[np.int64]  # [group]
    fits: list[NDArray[np.bool_]]  # [cell][value]
    fits_generously: list[NDArray[np.bool_]]
    value_of: NDArray[np.int64]  # [person]
    first: dict[tuple[int, bool], NDArray[np.int64]]  # people who fit a cell, for the first column

    def narrow(self, group: int, people: NDArray[np.int64] | None, generous: bool) -> NDArray[np.int64]:
        """Return those of the people (all when None) who fit the group's cell."""
        cell = int(self.cell_of[group])
        fits = (self.fits_generously if generous else self.fits)[cell]
        if people is not None:
            return people[fits[self.value_of[people]]]
        if (cell, generous) not in self.first:
            self.first[cell, generous] = np.flatnonzero(fits[self.value_of])
        return self.first[cell, generous]


def _reader(column: Column, shown: pa.Table, people: pa.Table) -> _Reader:
    value_of, values = distinct(people.column(column.name))
    column = column if column.kind else complete(column, people)
    scale = Scale.of(column, values)
    if column.form is Form.BOUNDS:
        low, high = (shown.column(name) for name in column.published_names)
        pairs = group_rows(shown, list(column.published_names))
        _, first = np.unique(pairs, return_index=True)
        ends = zip(low.take(pa.array(first)).to_pylist(), high.take(pa.array(first)).to_pylist(), strict=True)
        cells: list[Any] = [None if a is None or b is None else (a, b) for a, b in ends]
        fits = [scale.null if pair is None else scale.between(*pair) for pair in cells]
        generous = [scale.anything() if pair is None else fit for pair, fit in zip(cells, fits, strict=True)]
        return _Reader(pairs, fits, generous, value_of, {})
    cell_of, found = distinct(shown.column(column.name))
    read = node_reader(column, values, scale) if is_node(column) else scale.fits
    fits = [scale.null if cell is None else read(cell) for cell in found.to_pylist()]
    return _Reader(cell_of, fits, fits, value_of, {})
