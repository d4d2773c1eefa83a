"""How many records of a population fit the published cells of each group: for k-map and delta-presence."""

from __future__ import annotations

import datetime
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..inference import complete, infer_kind
from ..schema import Column, Form, Kind
from .cells import Cell, read_cell
from .groups import Examined, Unverifiable, distinct, group_rows

_SINGLE_NUMBERS = (Form.MEAN, Form.MEDIAN, Form.MODE, Form.CENTROID, Form.RHO_NOISE, Form.RANDOM)
_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


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
    scale = _Scale.of(column, values)
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
    read = _node_reader(column, values, scale) if _is_node(column) else scale.fits
    fits = [scale.null if cell is None else read(cell) for cell in found.to_pylist()]
    return _Reader(cell_of, fits, fits, value_of, {})


def _is_node(column: Column) -> bool:
    return column.hierarchy is not None and column.form in (Form.AUTO, Form.ANCESTOR)


def _node_reader(column: Column, values: pa.Array, scale: _Scale) -> Any:
    """Return a function from a published label to the values of the population that lie under it."""
    assert column.hierarchy is not None
    known = values.drop_null()
    tree, leaf_of = column.hierarchy.bind(known, column.name, unknown="root")
    places = np.flatnonzero(~scale.null)
    under: dict[str, NDArray[np.bool_]] = {}
    for nodes in tree.nodes:
        for node in np.unique(nodes):
            fit = under.setdefault(tree.labels[node], np.zeros(len(values), dtype=bool))
            fit[places[nodes[leaf_of] == node]] = True

    def read(cell: Any) -> NDArray[np.bool_]:
        text = cell if isinstance(cell, str) else _text(cell)
        if text == "*":
            return scale.anything()
        if text.startswith('"'):
            text = (read_cell(text).texts or (text,))[0]
        return under.get(text, np.zeros(len(values), dtype=bool))

    return read


@dataclass(frozen=True, slots=True, eq=False)
class _Scale:
    """The distinct values of a population's column, as what they are compared by: numbers or texts."""

    column: Column
    keys: NDArray[Any]
    null: NDArray[np.bool_]

    @classmethod
    def of(cls, column: Column, values: pa.Array) -> _Scale:
        column = column if column.kind else Column(column.name, kind=infer_kind(pa.chunked_array([values])))
        listed = values.to_pylist()
        null = np.array([value is None for value in listed], dtype=bool)
        keys = [None if value is None else _key(column, value) for value in listed]
        if column.kind is Kind.CATEGORICAL:
            return cls(column, np.array(keys, dtype=object), null)
        numbers = np.array([np.nan if key is None else key for key in keys], dtype=np.float64)
        return cls(column, numbers, null)

    def anything(self) -> NDArray[np.bool_]:
        return np.ones(len(self.keys), dtype=bool)

    def between(self, low: Any, high: Any) -> NDArray[np.bool_]:
        ends = _key(self.column, low), _key(self.column, high)
        if ends[0] is None or ends[1] is None or self.column.kind is Kind.CATEGORICAL:
            return np.zeros(len(self.keys), dtype=bool)
        return np.asarray((self.keys >= ends[0]) & (self.keys <= ends[1]))

    def fits(self, cell: Any) -> NDArray[np.bool_]:
        """Return which values fit a published cell that is not null."""
        said = read_cell(cell) if isinstance(cell, str) else Cell((_text(cell),))
        if said.anything:
            return self.anything()
        if said.interval:
            return self.between(*said.texts)
        keys = [key for key in (_key(self.column, text) for text in said.texts) if key is not None]
        return np.isin(self.keys, np.array(keys, dtype=self.keys.dtype)) & ~self.null


def _key(column: Column, value: Any) -> Any:
    """Return what a value is compared by: a number, a moment, a rank or its text; None when it is none."""
    try:
        if column.kind is Kind.NUMERIC:
            return float(value)
        if column.kind is Kind.DATE:
            return _moment(value)
        if column.kind is Kind.ORDINAL and column.order is not None:
            return float(column.order.index(str(value)))
    except ValueError:
        return None
    return _text(value)


def _moment(value: Any) -> float:
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value)
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    aware = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
    return float((aware - _EPOCH) // datetime.timedelta(microseconds=1))


def _text(value: Any) -> str:
    text = pa.scalar(value).cast(pa.string()).as_py()
    return str(text)
