"""The values of a column and the cells it was published as, on one scale: numbers, texts or nodes."""

from __future__ import annotations

import datetime
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..inference import infer_kind
from ..schema import Column, Form, Kind
from .cells import Cell, read_cell

_EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.UTC)


def is_node(column: Column) -> bool:
    """Return whether a column is published as nodes of its hierarchy."""
    return column.hierarchy is not None and column.form in (Form.AUTO, Form.ANCESTOR)


def node_reader(column: Column, values: pa.Array, scale: Scale) -> Callable[[Any], NDArray[np.bool_]]:
    """Return a function from a published label to the values of the population that lie under it."""
    assert column.hierarchy is not None
    known = values.drop_null()
    tree, leaf_of = column.hierarchy.bind(known, column.name, unknown="root")
    places = np.flatnonzero(~scale.null)
    nodes = tree.nodes[:, leaf_of]
    named: dict[str, list[int]] = {}
    for node in np.unique(nodes):
        named.setdefault(tree.labels[node], []).append(int(node))

    def read(cell: Any) -> NDArray[np.bool_]:
        text = cell if isinstance(cell, str) else text_of(cell)
        if text == "*":
            return scale.anything()
        if text.startswith('"'):
            text = (read_cell(text).texts or (text,))[0]
        fit = np.zeros(len(values), dtype=bool)
        fit[places] = np.isin(nodes, named.get(text, [])).any(axis=0)
        return fit

    return read


@dataclass(frozen=True, slots=True, eq=False)
class Scale:
    """The distinct values of a column of people, as what they are compared by: numbers or texts."""

    column: Column
    keys: NDArray[Any]
    null: NDArray[np.bool_]

    @classmethod
    def of(cls, column: Column, values: pa.Array) -> Scale:
        """Return distinct values as what a column's kind compares them by."""
        column = column if column.kind else Column(column.name, kind=infer_kind(pa.chunked_array([values])))
        listed = values.to_pylist()
        null = np.array([value is None for value in listed], dtype=bool)
        keys = [None if value is None else key_of(column, value) for value in listed]
        if column.kind is Kind.CATEGORICAL:
            return cls(column, np.array(keys, dtype=object), null)
        numbers = np.array([np.nan if key is None else key for key in keys], dtype=np.float64)
        return cls(column, numbers, null)

    def anything(self) -> NDArray[np.bool_]:
        """Return that every value fits."""
        return np.ones(len(self.keys), dtype=bool)

    def between(self, low: Any, high: Any) -> NDArray[np.bool_]:
        """Return which values lie between two ends, both included."""
        ends = key_of(self.column, low), key_of(self.column, high)
        if ends[0] is None or ends[1] is None or self.column.kind is Kind.CATEGORICAL:
            return np.zeros(len(self.keys), dtype=bool)
        return np.asarray((self.keys >= ends[0]) & (self.keys <= ends[1]))

    def fits(self, cell: Any) -> NDArray[np.bool_]:
        """Return which values fit a published cell that is not null."""
        said = read_cell(cell) if isinstance(cell, str) else Cell((text_of(cell),))
        if said.anything:
            return self.anything()
        if said.interval:
            return self.between(*said.texts)
        keys = [key for key in (key_of(self.column, text) for text in said.texts) if key is not None]
        return np.isin(self.keys, np.array(keys, dtype=self.keys.dtype)) & ~self.null


def key_of(column: Column, value: Any) -> Any:
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
    return text_of(value)


def _moment(value: Any) -> float:
    if isinstance(value, str):
        value = datetime.datetime.fromisoformat(value)
    if not isinstance(value, datetime.datetime):
        value = datetime.datetime(value.year, value.month, value.day)
    aware = value if value.tzinfo else value.replace(tzinfo=datetime.UTC)
    return float((aware - _EPOCH) // datetime.timedelta(microseconds=1))


def text_of(value: Any) -> str:
    """Return a value as the text that stands for it in published cells."""
    text = pa.scalar(value).cast(pa.string()).as_py()
    return str(text)
