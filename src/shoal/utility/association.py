"""Association: how much two columns tell about each other, for every pair, before and after.

One measure for all kinds: Cramer's V with the bias correction of Bergsma, over the bars a column is shown in.
It is 0 where two columns have nothing to do with each other and 1 where one gives the other away.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .bars import Bars
from .lines import Line
from .spreads import Spread

_AT_ONCE = 1 << 16  # records whose rows are held in memory together
_DIGITS = 4


@dataclass(frozen=True, slots=True)
class Association:
    """The association of every pair of columns.

    Attributes
    ----------
    columns : tuple of str
    before, after : tuple of tuple of float
        Bias-corrected Cramer's V; 1 on the diagonal.
    difference : float
        Mean of the absolute differences over all pairs.

    References
    ----------
    Bergsma (2013): A bias-correction for Cramer's V and Tschuprow's T.
    """

    columns: tuple[str, ...]
    before: tuple[tuple[float, ...], ...]
    after: tuple[tuple[float, ...], ...]
    difference: float

    def to_dict(self) -> dict[str, Any]:
        """Return the matrices as plain values."""
        return {
            "measure": "Cramer's V, bias-corrected, over the bars of each column",
            "columns": list(self.columns),
            "before": [list(row) for row in self.before],
            "after": [list(row) for row in self.after],
            "mean_absolute_difference": self.difference,
        }


def association(lines: Sequence[Line], spreads: Sequence[Spread], bars: Sequence[Bars]) -> Association:
    """Return the association of all pairs of columns before and after.

    A published cell counts in every bar it reaches into, with the part of it that lies there; within a record
    the columns are taken to be spread independently. So published tables show what is left of an association
    to someone who knows nothing but the cells.
    """
    sizes = [len(bar.labels) for bar in bars]
    rows_before = [_one_hot(bar) for bar in bars]
    rows_after = [bar.shares(spread) for bar, spread in zip(bars, spreads, strict=True)]
    before = _tables(rows_before, [line.codes for line in lines])
    after = _tables(rows_after, [spread.cell_of for spread in spreads])
    found = [_matrix(tables, sizes) for tables in (before, after)]
    upper = np.triu_indices(len(sizes), 1)
    difference = np.abs(found[0] - found[1])[upper]
    was, now = (tuple(tuple(row) for row in each.round(_DIGITS).tolist()) for each in found)
    return Association(
        tuple(line.name for line in lines), was, now, float(difference.mean()) if len(difference) else 0.0
    )


def _one_hot(bar: Bars) -> NDArray[np.float64]:
    """Return float64[codes + 1, bars]: the bar of each code; a row of zeros for one without a bar."""
    found: NDArray[np.float64] = np.eye(len(bar.labels) + 1)[bar.group, :-1]
    return found


def _tables(rows: Sequence[NDArray[np.float64]], places: Sequence[NDArray[Any]]) -> NDArray[np.float64]:
    """Return all contingency tables as the blocks of one matrix, summed over records a part at a time."""
    width = sum(row.shape[1] for row in rows)
    total = np.zeros((width, width))
    for start in range(0, len(places[0]), _AT_ONCE):
        part = slice(start, start + _AT_ONCE)
        joined = np.concatenate([row[place[part]] for row, place in zip(rows, places, strict=True)], axis=1)
        total += joined.T @ joined
    return total


def _matrix(tables: NDArray[np.float64], sizes: Sequence[int]) -> NDArray[np.float64]:
    ends = np.cumsum(sizes)
    blocks = [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]
    found = np.eye(len(sizes))
    for i, a in enumerate(blocks):
        for j, b in enumerate(blocks[:i]):
            found[i, j] = found[j, i] = cramers_v(tables[a, b])
    return found


def cramers_v(table: NDArray[np.float64]) -> float:
    """Return the bias-corrected Cramer's V of a contingency table; 0 where a side has one value only.

    Examples
    --------
    >>> import numpy as np
    >>> cramers_v(np.array([[50.0, 0.0], [0.0, 50.0]])), cramers_v(np.ones((2, 3)))
    (1.0, 0.0)
    """
    table = table[table.sum(axis=1) > 0][:, table.sum(axis=0) > 0]
    n = table.sum()
    r, c = table.shape
    if min(r, c) < 2 or n <= 1:
        return 0.0
    expected = np.outer(table.sum(axis=1), table.sum(axis=0)) / n
    phi2 = float(((table - expected) ** 2 / expected).sum() / n)
    corrected = max(0.0, phi2 - (r - 1) * (c - 1) / (n - 1))
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return float(min(1.0, np.sqrt(corrected / least))) if least > 0 else 0.0
