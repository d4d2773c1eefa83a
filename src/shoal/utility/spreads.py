"""Spread: what the published cells of one column say about the values behind them.

A cell stands for every value it covers in equal parts, as anyone reads it who knows nothing else: an interval
for all of its length, a set for each member, a node for each leaf under it, ``*`` for every value there is.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..cell_texts import is_text, node_texts, value_texts
from ..distinct import distinct
from ..errors import DataError
from ..schema import Column, Form, Kind
from ..verification.cells import Cell, read_cell
from .lines import Line


@dataclass(frozen=True, slots=True, eq=False)
class Spread:
    """The distinct cells of one published column as stretches of its line; the last cell is null.

    Attributes
    ----------
    cell_of : int64[published records]
    counts : int64[cells]
        Records of each cell.
    null : bool[cells]
        Whether a cell is null: such a cell has no stretch.
    loss : float64[cells]
        From 0, one value, to 1, every value, as `gcp` charges it; 0 for null.
    cell : int64[stretches]
        Ascending: the cell of each stretch.
    low, high : float64[stretches]
        Values included: a stretch of whole values reaches half a value beyond the first and the last.
    share : float64[stretches]
        The part of its cell that lies in each stretch; they sum to 1 for each cell that is not null.
    """

    cell_of: NDArray[np.int64]
    counts: NDArray[np.int64]
    null: NDArray[np.bool_]
    loss: NDArray[np.float64]
    cell: NDArray[np.int64]
    low: NDArray[np.float64]
    high: NDArray[np.float64]
    share: NDArray[np.float64]

    @property
    def cells(self) -> int:
        """Number of distinct cells."""
        return len(self.null)

    def below(self, place: float) -> NDArray[np.float64]:
        """Return, per cell, the part of it that lies below a place."""
        return self.sums(self.share * self.parts(place))

    def parts(self, place: float) -> NDArray[np.float64]:
        """Return, per stretch, the part of it that lies below a place."""
        width = self.high - self.low
        inside = np.divide(place - self.low, width, out=np.zeros(len(width)), where=width > 0)
        return np.where(width > 0, np.clip(inside, 0.0, 1.0), self.low < place)

    def within(self, edges: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return float64[cells, edges - 1]: the part of each cell from one edge to the next."""
        return np.diff(np.stack([self.below(edge) for edge in edges], axis=1), axis=1)

    def sums(self, by_stretch: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return, per cell, the sum over its stretches."""
        return np.bincount(self.cell, weights=by_stretch, minlength=self.cells).astype(np.float64)

    def middles(self) -> NDArray[np.float64]:
        """Return, per cell, the mean of what it stands for; NaN for null."""
        found = self.sums(self.share * (self.low + self.high) / 2)
        found[self.null] = np.nan
        return found


def spread_of(line: Line, published: pa.Table) -> Spread:
    """Return what one published column says about the values behind its cells.

    Raises
    ------
    DataError
        When cells name values that the original does not have: the two tables do not belong together.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> from shoal.utility.lines import lines_of
    >>> policy = shoal.Policy(quasi={"age": "numeric"})
    >>> (line,) = lines_of(shoal.encode(pa.table({"age": [30, 20]}), policy))
    >>> found = spread_of(line, pa.table({"age": ["[20, 30]", "*"]}))
    >>> found.low.tolist(), found.high.tolist(), found.below(24.5).round(3).tolist()
    ([19.5, 19.5], [30.5, 30.5], [0.455, 0.455, 0.0])
    """
    if line.quasi and line.spec.form is Form.BOUNDS:
        return _bounds(line, published)
    indices, values = distinct(published.column(line.name), Column(line.name, kind=Kind.CATEGORICAL))
    cell_of = np.where(indices < 0, len(values), indices).astype(np.int64)
    counts = np.bincount(cell_of, minlength=len(values) + 1)
    if line.quasi and is_text(values.type):
        texts = value_texts(values)
        cells = _nodes(line, texts) if line.nodes else _texts(line, texts)
    elif line.nodes and not line.measured:
        cells = _nodes(line, value_texts(values))
    else:
        places = line.places_of(values)
        cells = _Stretches(np.arange(len(values)), places, places, np.zeros(len(values)))
    return _spread(line, cell_of, counts, cells)


@dataclass(frozen=True, slots=True, eq=False)
class _Stretches:
    """Stretches by the places of their first and last value; NaN where it has none on the line.

    `loss` is that of each cell that is not null.
    """

    cell: NDArray[np.int64]
    first: NDArray[np.float64]
    last: NDArray[np.float64]
    loss: NDArray[np.float64]


def _spread(line: Line, cell_of: NDArray[np.int64], counts: NDArray[np.int64], found: _Stretches) -> Spread:
    """Return the spread; cells without a stretch are null."""
    lost = np.isnan(found.first) | np.isnan(found.last)
    if lost.any():
        cells = int(counts[np.unique(found.cell[lost])].sum())
        raise DataError(
            f"{cells} published cells of column {line.name!r} name values that the original does not have",
            hint="Give the table that this release was made from, and its policy.",
        )
    low, high = found.first - line.half, found.last + line.half
    width = high - low if line.half else np.ones(len(low))
    total = np.bincount(found.cell, weights=width, minlength=len(counts))
    null = total == 0
    loss = np.append(found.loss, 0.0)
    return Spread(cell_of, counts, null, loss, found.cell, low, high, width / total[found.cell])


def _texts(line: Line, texts: pa.Array) -> _Stretches:
    """Return the stretches of cells written as values, intervals and sets."""
    read = [read_cell(text) for text in texts.to_pylist()]
    lengths = np.array([_stretches_in(cell) for cell in read], dtype=np.int64)
    owner = np.repeat(np.arange(len(read)), lengths)
    firsts = [text for cell in read for text in (cell.texts[:1] if cell.interval else cell.texts)]
    lasts = [text for cell in read for text in (cell.texts[1:] if cell.interval else cell.texts)]
    anything = np.array([cell.anything for cell in read], dtype=bool)[owner]
    first, last = (np.empty(len(owner)) for _ in range(2))
    first[anything], last[anything] = line.ends
    first[~anything], last[~anything] = (_places(line, said) for said in (firsts, lasts))
    loss = _losses(line, owner, first, last, len(read))
    loss[owner[anything]] = 1.0
    return _Stretches(owner, first, last, loss)


def _losses(
    line: Line, owner: NDArray[np.int64], first: NDArray[np.float64], last: NDArray[np.float64], cells: int
) -> NDArray[np.float64]:
    """Return the loss of cells: their reach over the column's where it has an order, else their values."""
    if line.ordered:
        low, high = np.full(cells, np.inf), np.full(cells, -np.inf)
        np.minimum.at(low, owner, first)
        np.maximum.at(high, owner, last)
        least, most = line.spec.domain or line.ends
        reach = np.where(high >= low, high - low, 0.0)
        return np.asarray(reach / (most - least) if most > least else np.zeros(cells), dtype=np.float64)
    values = np.bincount(owner, weights=last - first + 1, minlength=cells)
    return np.asarray((values - 1) / max(len(line.values) - 1, 1), dtype=np.float64)


def _stretches_in(cell: Cell) -> int:
    return 1 if cell.anything or cell.interval else len(cell.texts)


def _places(line: Line, texts: list[str]) -> NDArray[np.float64]:
    """Return the places of texts out of cells; NaN for what is no value of the column."""
    try:
        return line.places_of(pa.array(texts, pa.string()))
    except pa.ArrowException:
        return np.full(len(texts), np.nan)


def _nodes(line: Line, texts: pa.Array) -> _Stretches:
    """Return the stretches of cells written as labels of the hierarchy."""
    tree = line.tree
    assert tree is not None
    ends: dict[str, tuple[int, int]] = {"*": (0, tree.leaves - 1)}
    labels = node_texts(tree.labels, tree.root)
    for row in tree.nodes:
        nodes, first = np.unique(row, return_index=True)
        last = tree.leaves - 1 - np.unique(row[::-1], return_index=True)[1]
        for node, start, end in zip(nodes.tolist(), first.tolist(), last.tolist(), strict=True):
            was = ends.get(labels[node], (start, end))
            ends[labels[node]] = min(was[0], start), max(was[1], end)
    unknown = (-1, -1)
    found = np.array([ends.get(text, unknown) for text in texts.to_pylist()], dtype=np.int64).reshape(-1, 2)
    low, high = _reach(line)
    starts: NDArray[np.float64] = low[found[:, 0]]
    stops: NDArray[np.float64] = high[found[:, 1]]
    starts[found[:, 0] < 0] = np.nan
    loss = (found[:, 1] - found[:, 0]) / max(tree.leaves - 1, 1)
    return _Stretches(np.arange(len(texts)), starts, stops, loss)


def _reach(line: Line) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the least place from each leaf on, and the greatest up to it, over leaves that have one.

    Leaves of numbers ascend, and those that do not occur have no number: the nearest inside stands for them.
    """
    places = line.places
    low = np.asarray(np.fmin.accumulate(places[::-1])[::-1], dtype=np.float64)
    return low, np.asarray(np.fmax.accumulate(places), dtype=np.float64)


def _bounds(line: Line, published: pa.Table) -> Spread:
    """Return the spread of a column that is published as two, its bounds; null is read as null."""
    codes, ends = [], []
    for name in line.spec.published_names:
        indices, values = distinct(published.column(name), Column(name, kind=Kind.CATEGORICAL))
        codes.append(np.where(indices < 0, len(values), indices).astype(np.int64))
        ends.append(np.append(line.places_of(values), np.nan))
    keys, cell_of = np.unique(codes[0] * len(ends[1]) + codes[1], return_inverse=True)
    low, high = np.divmod(keys, len(ends[1]))
    some = np.flatnonzero((low < len(ends[0]) - 1) & (high < len(ends[1]) - 1))
    first, last = ends[0][low[some]], ends[1][high[some]]
    loss = np.zeros(len(keys))
    loss[some] = _losses(line, np.arange(len(some)), first, last, len(some))
    cell_of = cell_of.reshape(-1).astype(np.int64)
    counts = np.bincount(cell_of, minlength=len(keys) + 1)
    return _spread(line, cell_of, counts, _Stretches(some, first, last, loss))
