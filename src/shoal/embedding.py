"""Encoded -> points: records as vectors, for the algorithms that need distances and means.

Every quasi-identifier contributes the same variance (1, times its weight), whatever its kind:

- numbers, dates and ranks become one coordinate, standardised;
- categories become one coordinate a value (with a hierarchy: one a node, so that records differ by as many
  nodes as they lie below their common ancestor), scaled together; above `MOST` of them each gets a fixed
  vector of random signs instead, which keeps distances nearly (Johnson and Lindenstrauss 1984);
- sets become one coordinate an item: two sets are as far apart as many items only one of them has;
- null is a category of its own: one more coordinate beside a number, one more value beside categories.

Coordinates are whole numbers held in floats, on a grid so fine that no squared distance between two records
reaches 2^53. Sums are then exact in any order: kernels, their parallel twins and the plain oracle make the
same choices, ties included.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from .encoding import Encoded, QuasiColumn
from .schema import Form
from .sets import Items

Scale = Literal["z-score", "min-max"]

MOST = 32  # coordinates a categorical column may take
_DIAMETER = 2.0**26  # of the table on the grid, at most; its square is far enough from 2^53 for rounding
_VALUE_FORMS = (Form.AUTO, Form.ANCESTOR)


@dataclass(frozen=True, slots=True, eq=False)
class Embedding:
    """Records as points on a grid.

    Attributes
    ----------
    points : float64[d, n]
        Whole numbers; one contiguous row per coordinate. At least one coordinate.
    unit : float
        Grid steps per unit of the standardised coordinates: a power of two.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> from shoal.encoding import encode
    >>> encoded = encode(pa.table({"age": [20, 40, 30]}), shoal.Policy(quasi={"age": "numeric"}))
    >>> embedding = Embedding.of(encoded)
    >>> (embedding.points / embedding.unit).round(4).tolist()
    [[-1.2247, 1.2247, 0.0]]
    """

    points: NDArray[np.float64]
    unit: float

    @classmethod
    def of(cls, encoded: Encoded, scale: Scale = "z-score") -> Embedding:
        """Return the embedding of a table; with "min-max", a number runs from 0 to 1 instead."""
        rows = []
        for j, column in enumerate(encoded.quasi):
            by_code = _coordinates(column, encoded.codes[:, j], scale)
            rows += [coordinate[encoded.codes[:, j]] for coordinate in by_code]
        values = np.array(rows) if rows else np.zeros((1, encoded.records))
        unit = grid_unit(values)
        return cls(np.rint(values * unit), unit)


def grid_unit(values: NDArray[np.float64]) -> float:
    """Return the grid steps per unit that bring the diameter of the points below the largest allowed."""
    ranges = values.max(axis=1) - values.min(axis=1)
    diameter = float(np.sqrt((ranges**2).sum()))
    if diameter == 0:
        return 1.0
    return float(2.0 ** np.floor(np.log2(_DIAMETER / diameter)))


def _coordinates(column: QuasiColumn, codes: NDArray[np.int32], scale: Scale) -> list[NDArray[np.float64]]:
    """Return the coordinates of every code of a column, null (the last code) included; none if constant."""
    counts = np.bincount(codes, minlength=column.size + 1)
    line = _line(column)
    if line is None:
        vectors = _category_vectors(column, scale)
        return _scaled(vectors, counts, np.sqrt(column.spec.weight), scale)
    present = np.flatnonzero(counts[:-1])
    value = np.zeros(column.size + 1)
    if len(present):
        value[present] = line[present]
        value[-1] = np.average(line[present], weights=counts[present])
    found = _scaled([value], counts, np.sqrt(column.spec.weight), scale)
    if column.has_null:
        found += _scaled([np.r_[np.zeros(column.size), 1.0]], counts, np.sqrt(column.spec.weight), scale)
    return found


def _line(column: QuasiColumn) -> NDArray[np.float64] | None:
    """Return the place of every code where the column is treated as numbers, else None."""
    if column.positions is not None:
        return column.positions
    if column.numbers is None or column.spec.form in _VALUE_FORMS:
        return None
    return column.numbers


def _category_vectors(column: QuasiColumn, scale: Scale) -> list[NDArray[np.float64]]:
    """Return one coordinate per node (or `MOST` random ones), each over all codes, null being a leaf."""
    items = column.items()
    if items is not None:
        return _item_vectors(items, scale)
    levels = [np.arange(column.size + 1)]
    if column.tree is not None:
        # The root tells nothing apart. Null stands beside every node, so it differs on all levels.
        levels = [np.append(row, row.max() + 1) for row in column.tree.nodes[:-1]] or levels
    offsets = np.cumsum([0, *(int(level.max()) + 1 for level in levels)])
    used, nodes = np.unique(
        np.concatenate([level + offset for level, offset in zip(levels, offsets, strict=False)]),
        return_inverse=True,
    )
    nodes = nodes.reshape(len(levels), -1)
    if len(used) <= MOST:
        vectors = np.eye(len(used))
    else:
        signs = np.random.default_rng(0).integers(0, 2, (len(used), MOST))
        vectors = (2.0 * signs - 1) / np.sqrt(MOST)
    summed = vectors[nodes].sum(axis=0) * (np.sqrt(0.5 / len(levels)) if scale == "min-max" else 1.0)
    return list(summed.T)


def _item_vectors(items: Items, scale: Scale) -> list[NDArray[np.float64]]:
    """Return one coordinate per item of the sets of a column (or `MOST` random ones), null being an item."""
    count = len(items.names) + 1
    vectors = np.eye(count)
    if count > MOST:
        vectors = (2.0 * np.random.default_rng(0).integers(0, 2, (count, MOST)) - 1) / np.sqrt(MOST)
    summed = np.vstack([items.incidence() @ vectors[:-1], vectors[-1:]])
    return list((summed * (np.sqrt(0.5) if scale == "min-max" else 1.0)).T)


def _scaled(
    vectors: list[NDArray[np.float64]], counts: NDArray[np.int64], factor: float, scale: Scale
) -> list[NDArray[np.float64]]:
    """Return coordinates scaled together, those that tell no records apart left out.

    By z-score they have variance 1 in sum; by min-max a single coordinate runs from 0 to 1, and two
    categories without a hierarchy lie 1 apart.
    """
    weights = counts / counts.sum()
    centred = [vector - (vector * weights).sum() for vector in vectors]
    present = counts > 0
    centred = [v for v in centred if np.ptp(v[present]) > 1e-12 * max(1.0, float(np.abs(v).max()))]
    if not centred:
        return []
    if scale == "z-score":
        width = float(np.sqrt(sum((v**2 * weights).sum() for v in centred)))
    else:
        width = float(np.ptp(centred[0][present])) if len(vectors) == 1 else 1.0
    return [np.where(present, v, 0.0) * (factor / width) for v in centred]
