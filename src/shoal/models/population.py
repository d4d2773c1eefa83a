"""How many people of a population fit the published cells of each class."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..encoding import QuasiColumn, dictionary, numbers_of
from ..errors import DataError, PolicyError
from ..hierarchies.texts import texts
from ..params import Frame, param
from ..schema import Column, Form, Kind
from .base import Model
from .statistics import ClassStatistics

_CELLS = 1 << 24  # class x population-row pairs looked at together


@dataclass(frozen=True, kw_only=True, repr=False)
class PopulationModel(Model):
    """A model that compares classes with a population table, which holds the same quasi-identifiers."""

    by_rules: ClassVar[bool] = False

    population: Any = param(Frame(), "the population: a table, or the path of a file")  # noqa: RUF009

    def __repr__(self) -> str:
        # The generated one would print the table.
        return f"{type(self).__name__}({', '.join(f'{k}={v!r}' for k, v in self.to_dict().items())})"

    def population_counts(self, statistics: ClassStatistics) -> NDArray[np.int64]:
        """Return the number of population records that lie in the published cells of each class."""
        return population_counts(statistics, _read(self.population))


def _read(population: str | pa.Table) -> pa.Table:
    if isinstance(population, str):
        from ..io import read

        return read(population)
    return population


def population_counts(statistics: ClassStatistics, population: pa.Table) -> NDArray[np.int64]:
    """Return, for each class, how many records of the population lie in all of its published cells.

    An interval holds the numbers between its ends; a value set only its values; a hierarchy node the leaves
    under it; a null cell only nulls; a cell that mixes null with values is fully generalised and holds
    everything. Averages (mean, median, mode) hold what the interval or set of their class would.
    """
    quasi = statistics.encoded.quasi
    missing = [column.name for column in quasi if column.name not in population.column_names]
    if missing:
        raise PolicyError(
            "the population table lacks " + ", ".join(repr(name) for name in missing),
            hint="It must hold every quasi-identifier of the policy.",
        )
    if population.num_rows == 0 or statistics.classes == 0:
        return np.zeros(statistics.classes, dtype=np.int64)
    level = statistics.partition.level
    bound = [_Bound.of(column, population.column(column.name), level(j)) for j, column in enumerate(quasi)]
    rows, weights = np.unique(np.stack([b.codes for b in bound], axis=1), axis=0, return_counts=True)
    counts = np.zeros(statistics.classes, dtype=np.int64)
    chunk = max(_CELLS // len(rows), 1)
    for first in range(0, statistics.classes, chunk):
        last = min(first + chunk, statistics.classes)
        inside = np.ones((last - first, len(rows)), dtype=bool)
        for j, column in enumerate(bound):
            inside &= column.held(_held_codes(statistics, j, first, last))[:, rows[:, j]]
        counts[first:last] = inside @ weights
    return counts


def _held_codes(statistics: ClassStatistics, j: int, first: int, last: int) -> NDArray[np.bool_]:
    """Return which codes of a quasi-identifier (null the last) each class of a range holds."""
    partition = statistics.partition
    records = partition.order[partition.offsets[first] : partition.offsets[last]]
    held = np.zeros((last - first, statistics.encoded.quasi[j].size + 1), dtype=bool)
    held[partition.labels[records] - first, statistics.encoded.column(j)[records]] = True
    return held


@dataclass(frozen=True, slots=True, eq=False)
class _Bound:
    """The distinct values of one population column, and how they relate to the table's codes.

    `codes` numbers the population's values, null last. Exactly one of the others says where each lies:
    `numbers` and the table's `ends` for intervals, `nodes` for hierarchies; `match`, the table's code of each
    value or -1, serves value sets and is always there.
    """

    codes: NDArray[np.int64]
    match: NDArray[np.int64]
    numbers: NDArray[np.float64] | None = None
    ends: NDArray[np.float64] | None = None
    nodes: NDArray[np.int32] | None = None  # [level, table's codes, then population's values]
    least: int = 0  # the level that cells of a hierarchy are published at, at least
    starred: bool = False  # whether all cells are ``*``

    @classmethod
    def of(cls, column: QuasiColumn, population: pa.ChunkedArray, level: int = 0) -> _Bound:
        """Return the population column bound to the table's dictionary, published at `level` or above."""
        return replace(cls._of(column, population), least=level, starred=column.starred(level))

    @classmethod
    def _of(cls, column: QuasiColumn, population: pa.ChunkedArray) -> _Bound:
        codes, values = _distinct(column, population)
        match = np.asarray(
            pc.fill_null(pc.index_in(texts(values), value_set=texts(column.values)), -1), dtype=np.int64
        )
        form = column.spec.form
        numeric = form not in (Form.AUTO, Form.SET, Form.ANCESTOR)
        if column.tree is not None and not (numeric or form is Form.SET):
            return cls(codes, match, nodes=_nodes(column, values))
        if column.numbers is not None and form is not Form.SET:
            return cls(codes, match, *_on_one_scale(column, values))
        return cls(codes, match)

    def held(self, codes: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Return which population values (null the last) the cell of each class holds, from its codes."""
        known, null = codes[:, :-1], codes[:, -1]
        if known.shape[1] == 0:  # the table's column holds nothing but nulls
            inside = np.zeros((len(known), len(self.match)), dtype=bool)
        elif self.numbers is not None and self.ends is not None:
            low = np.where(known, self.ends, np.inf).min(axis=1, initial=np.inf)
            high = np.where(known, self.ends, -np.inf).max(axis=1, initial=-np.inf)
            inside = (self.numbers >= low[:, None]) & (self.numbers <= high[:, None])
        elif self.nodes is not None:
            inside = self._under_ancestor(self.nodes, known)
        else:
            inside = (self.match >= 0) & known[:, self.match]
        inside = np.concatenate([inside, null[:, None]], axis=1)
        inside[(null & known.any(axis=1)) | self.starred] = True
        return inside

    def _under_ancestor(self, nodes: NDArray[np.int32], known: NDArray[np.bool_]) -> NDArray[np.bool_]:
        size = known.shape[1]
        low, high = known.argmax(axis=1), size - 1 - known[:, ::-1].argmax(axis=1)
        inside = np.zeros((len(known), nodes.shape[1] - size), dtype=bool)
        open_ = known.any(axis=1)
        for level in nodes[self.least :]:
            met = open_ & (level[low] == level[high])
            inside[met] = level[size:] == level[low[met], None]
            open_ &= ~met
        return inside


def _distinct(column: QuasiColumn, population: pa.ChunkedArray) -> tuple[NDArray[np.int64], pa.Array]:
    """Return (codes, values) of a population column, read like the table's column."""
    spec = Column(column.name, kind=Kind.CATEGORICAL)
    if column.kind is Kind.DATE and column.tree is None and population.type != column.values.type:
        population = _cast(population, column)
    codes, values = dictionary(population, spec)
    return codes.astype(np.int64), values


def _cast(population: pa.ChunkedArray, column: QuasiColumn) -> pa.ChunkedArray:
    with contextlib.suppress(pa.ArrowInvalid, pa.ArrowNotImplementedError):
        return population.cast(column.values.type)
    # Raised here, since Arrow's own error may quote a value and would stay attached.
    raise DataError(
        f"column {column.name!r} of the population holds no dates like the table's",
        hint="Give both columns the same type.",
    )


def _on_one_scale(column: QuasiColumn, values: pa.Array) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the numbers of the population's values and of the table's codes; NaN compares with nothing."""
    assert column.numbers is not None
    if column.kind is not Kind.ORDINAL:
        return _numbers(column, values), column.numbers
    order = column.spec.order or tuple(texts(column.values).to_pylist())
    rank = {text: float(place) for place, text in enumerate(order)}
    return (
        np.array([rank.get(text, np.nan) for text in texts(values).to_pylist()], dtype=np.float64),
        np.array([rank.get(text, np.nan) for text in texts(column.values).to_pylist()], dtype=np.float64),
    )


def _numbers(column: QuasiColumn, values: pa.Array) -> NDArray[np.float64]:
    numbers = numbers_of(values, replace(column.spec, order=None))
    assert numbers is not None  # the kind is not categorical, as the table's column has numbers
    return numbers


def _nodes(column: QuasiColumn, values: pa.Array) -> NDArray[np.int32]:
    """Return, per level, the node of each of the table's codes and of each population value; -1: nowhere.

    A rule such as a prefix mask makes its nodes from the values it sees, so the hierarchy is bound once more
    to the table's and the population's values together. Where that changes the table's own nodes (quantiles
    do move), a number belongs to the node that holds both of its neighbours in the table.
    """
    tree, hierarchy = column.tree, column.spec.hierarchy
    assert tree is not None
    assert hierarchy is not None
    own = texts(column.values)
    strangers = texts(values).filter(pc.invert(pc.is_in(texts(values), value_set=own)))
    together, leaf_of = hierarchy.bind(pa.concat_arrays([own, strangers]), column.name, unknown="root")
    leaves = leaf_of[np.asarray(pc.index_in(texts(values), value_set=pa.concat_arrays([own, strangers])))]
    mine = together.nodes[: tree.levels, leaf_of[: len(own)]]
    labels = np.array(together.labels, dtype=object)
    if np.array_equal(labels[mine], np.array(tree.labels, dtype=object)[tree.nodes]):
        return np.concatenate([together.nodes[:, leaf_of[: len(own)]], together.nodes[:, leaves]], axis=1)
    between = _nodes_between(column, tree.nodes, values)
    between[-1] = tree.root  # published as ``*``, which holds everything
    return np.concatenate([tree.nodes, between], axis=1)


def _nodes_between(column: QuasiColumn, nodes: NDArray[np.int32], values: pa.Array) -> NDArray[np.int32]:
    """Return, per level, the node that holds both table neighbours of each value, or -1 where two differ."""
    if column.numbers is None:
        match = np.asarray(pc.fill_null(pc.index_in(texts(values), value_set=texts(column.values)), -1))
        return np.where(match >= 0, nodes[:, match], -1).astype(np.int32)
    numbers = _numbers(column, values)
    known = np.argsort(column.numbers)[: int(np.isfinite(column.numbers).sum())]  # NaN sorts last
    above = np.searchsorted(column.numbers[known], numbers, side="left")
    below = np.searchsorted(column.numbers[known], numbers, side="right") - 1
    inside = (below >= 0) & (above < len(known))
    lower = nodes[:, known[np.maximum(below, 0)]]
    upper = nodes[:, known[np.minimum(above, len(known) - 1)]]
    return np.where(inside & (lower == upper), lower, -1).astype(np.int32)
