"""What an attacker reads: the published cells of the columns he knows, on one scale with the people's values.

A cell fits the values it may stand for. The distance of a value that it fits is 0. Outside an interval or
beside a single number, date or rank it is the gap, as a share of the column's range among the people; for any
other cell it is 1. ``*`` fits everything, null included; a null cell fits null. A mean, median, mode or noisy
cell that is null says nothing, so it fits everything, and so do two bounds that are null.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import DataError, UnknownName
from ..inference import complete
from ..policy import Policy
from ..schema import Column, Form, Kind, Role
from ..verification.cells import Cell, read_cell
from ..verification.groups import distinct, group_rows
from ..verification.scales import Scale, is_node, key_of, node_reader, text_of

UNIT = 1 << 20  # the distance of one whole column
_BELOW, _NOWHERE = -2 * UNIT, 4 * UNIT  # positions of null, and of cells that fit nobody
_LARGEST_TABLE = 1 << 31  # cells x values
_FINE = 1 << 16  # breadths are whole numbers of 1 / _FINE nats
# Forms whose cells need not fit the values behind them, and whose null says nothing.
VAGUE = (Form.MEAN, Form.MEDIAN, Form.MODE, Form.CENTROID, Form.RHO_NOISE, Form.RANDOM)


@dataclass(frozen=True, slots=True, eq=False)
class Line:
    """A column of numbers, dates or ranks: where people and the ends of cells lie, null below everything."""

    position: NDArray[np.int32]  # [distinct value of the people]
    low: NDArray[np.int32]  # [cell]
    high: NDArray[np.int32]

    def fitting(self, people: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many people fit each cell, from how many have each value."""
        order = np.argsort(self.position, kind="stable")
        ends = np.concatenate([[0], np.cumsum(people[order])])
        placed = self.position[order]
        first = np.searchsorted(placed, self.low, side="left")
        return np.asarray(ends[np.searchsorted(placed, self.high, side="right")] - ends[first])


@dataclass(frozen=True, slots=True, eq=False)
class Same:
    """A column of single values that nobody has generalised: the value of the people that each cell is."""

    value: NDArray[np.int32]  # [cell]; -1 for one that nobody has

    def fitting(self, people: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many people fit each cell, from how many have each value."""
        return np.asarray(np.append(people, 0)[self.value])

    def fits_cell(self, cell: int, values: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which values fit a cell."""
        return np.asarray(values == self.value[cell])


@dataclass(frozen=True, slots=True, eq=False)
class Choice:
    """Any other column: which distinct values of the people each cell fits."""

    fits: NDArray[np.uint8]  # [cell, value]

    def fitting(self, people: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return how many people fit each cell, from how many have each value."""
        return np.asarray(self.fits @ people, dtype=np.int64)

    def fits_cell(self, cell: int, values: NDArray[np.int32]) -> NDArray[np.bool_]:
        """Return which values fit a cell."""
        return np.asarray(self.fits[cell, values], dtype=bool)


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """One column as people have it and as it is published.

    Attributes
    ----------
    name : str
    value : int64[people]
        The distinct value of each person.
    cell : int64[published records]
        The distinct cell of each published record.
    scale : Line, Same or Choice
    """

    name: str
    value: NDArray[np.int64]
    cell: NDArray[np.int64]
    scale: Line | Same | Choice

    def breadth(self) -> NDArray[np.int64]:
        """Return, per cell, the logarithm of how many people it fits, in whole numbers."""
        fitting = self.scale.fitting(np.bincount(self.value))
        found: NDArray[np.int64] = np.rint(np.log(np.maximum(fitting, 1)) * _FINE).astype(np.int64)
        return found


def column_of(policy: Policy, original: pa.Table, name: str) -> Column:
    """Return what the policy says about a column; one it does not name is published as it is."""
    named = {column.name: column for column in policy.schema.columns}
    column = named.get(name, Column(name, Role.OTHER))
    return column if column.kind is not None else complete(column, original)


def read_column(
    policy: Policy, original: pa.Table, published: pa.Table, name: str, *, plain: bool = False
) -> Known:
    """Return one column of the people and of the published table on one scale.

    With `plain`, cells are values: nobody has generalised them.
    """
    if name not in original.column_names:
        raise UnknownName.nearest("column", name, original.column_names)
    column = column_of(policy, original, name)
    if plain:
        column = Column(name, Role.OTHER, kind=column.kind, order=column.order)
    shown = column.published_names if column.role is Role.QUASI else (name,)
    if any(part not in published.column_names for part in shown):
        raise UnknownName.nearest("published column", name, published.column_names)
    value, values = distinct(original.column(name))
    if len(shown) > 1:
        cell = group_rows(published, list(shown))
        _, first = np.unique(cell, return_index=True)
        ends = [published.column(part).take(pa.array(first)).to_pylist() for part in shown]
        return Known(name, value, cell, _bounds(Scale.of(column, values), *ends))
    cell, cells = distinct(published.column(name))
    return Known(name, value, cell, _scale(column, values, cells.to_pylist()))


def _scale(column: Column, values: pa.Array, cells: list[Any]) -> Line | Same | Choice:
    scale = Scale.of(column, values)
    published_as_values = column.role is not Role.QUASI
    if is_node(column) and not published_as_values:
        read = node_reader(column, values, scale)
        rows = [scale.null if cell is None else read(cell) for cell in cells]
        return Choice(np.array(rows, dtype=np.uint8).reshape(len(cells), len(values)))
    said = [_said(cell, plain=published_as_values) for cell in cells]
    numeric = column.kind is not Kind.CATEGORICAL and scale.keys.dtype != object
    if numeric and all(cell is None or cell.interval or len(cell.texts) <= 1 for cell in said):
        return _line(scale, said, nothing=column.form in VAGUE)
    if all(cell is None or len(cell.texts) == 1 for cell in said) and column.form not in VAGUE:
        return _same(scale, said)
    if len(said) * len(scale.keys) > _LARGEST_TABLE:
        raise DataError(
            f"column {column.name!r} has too many values and cells to compare every two",
            hint="Give it a hierarchy, or leave it out of what is known.",
        )
    return _choice(scale, said, nothing=column.form in VAGUE)


def _places(scale: Scale) -> dict[Any, int]:
    return {key: i for i, key in enumerate(scale.keys.tolist()) if not scale.null[i]}


def _same(scale: Scale, said: list[Cell | None]) -> Same:
    place = _places(scale)
    null = int(np.flatnonzero(scale.null)[0]) if scale.null.any() else -1
    found = [null if cell is None else place.get(key_of(scale.column, cell.texts[0]), -1) for cell in said]
    return Same(np.array(found, dtype=np.int32))


def _said(cell: Any, *, plain: bool) -> Cell | None:
    """Return what a cell says; None for null. Texts of a column that is published as it is are values."""
    if cell is None:
        return None
    return read_cell(cell) if isinstance(cell, str) and not plain else Cell((_as_text(cell),))


def _as_text(cell: Any) -> str:
    return cell if isinstance(cell, str) else text_of(cell)


def _ends(scale: Scale) -> tuple[float, float]:
    known = scale.keys[np.isfinite(scale.keys)]
    return (float(known.min()), float(known.max())) if len(known) else (0.0, 0.0)


def _positions(numbers: NDArray[np.float64], ends: tuple[float, float]) -> NDArray[np.int32]:
    """Return numbers as whole positions, the people's range being one `UNIT`."""
    span = ends[1] - ends[0]
    placed = (numbers - ends[0]) / span if span > 0 else np.sign(numbers - ends[0])
    found: NDArray[np.int32] = np.rint(np.clip(np.nan_to_num(placed), -0.99, 2.99) * UNIT).astype(np.int32)
    return found


def _line(scale: Scale, said: list[Cell | None], *, nothing: bool) -> Line:
    ends = _ends(scale)
    position = np.where(scale.null, _BELOW, _positions(scale.keys, ends)).astype(np.int32)
    low, high = np.full((2, len(said)), np.nan)
    everything, empty = np.zeros((2, len(said)), dtype=bool)
    for i, cell in enumerate(said):
        everything[i] = nothing if cell is None else cell.anything
        empty[i] = cell is None
        if cell is not None and not cell.anything:
            keys = [key_of(scale.column, text) for text in cell.texts]
            if None not in keys:
                low[i], high[i] = keys[0], keys[-1]
    nowhere = ~np.isfinite(low + high)
    placed = [np.where(nowhere, _NOWHERE, _positions(end, ends)) for end in (low, high)]
    placed = [np.where(empty, _BELOW, end) for end in placed]
    return Line(
        position,
        np.where(everything, _BELOW, placed[0]).astype(np.int32),
        np.where(everything, _NOWHERE, placed[1]).astype(np.int32),
    )


def _bounds(scale: Scale, low: list[Any], high: list[Any]) -> Line:
    said: list[Cell | None] = [
        Cell(anything=True) if a is None or b is None else Cell((_as_text(a), _as_text(b)), interval=True)
        for a, b in zip(low, high, strict=True)
    ]
    return _line(scale, said, nothing=True)


def _choice(scale: Scale, said: list[Cell | None], *, nothing: bool) -> Choice:
    place = _places(scale)
    fits = np.zeros((len(said), len(scale.keys)), dtype=np.uint8)
    for i, cell in enumerate(said):
        if cell is None:
            fits[i] = 1 if nothing else scale.null
        elif cell.anything:
            fits[i] = 1
        elif cell.interval:
            fits[i] = scale.between(*cell.texts)
        else:
            keys = [key_of(scale.column, text) for text in cell.texts]
            fits[i, [place[key] for key in keys if key in place]] = 1
    return Choice(fits)


def read_columns(
    policy: Policy, original: pa.Table, published: pa.Table, names: Sequence[str], *, plain: bool = False
) -> list[Known]:
    """Return several columns, those with fewest cells first: one look at a cell settles many records."""
    found = [read_column(policy, original, published, name, plain=plain) for name in names]
    return sorted(found, key=lambda known: int(known.cell.max(initial=0)))
