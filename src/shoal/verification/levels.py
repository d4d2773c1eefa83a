"""Whether published cells stand at the levels of their hierarchies where they should, value by value.

The nodes are looked up anew, by the text of the original values; nothing that made the cells is used.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..hierarchies.texts import is_text, numbers, texts
from ..schema import Column, Kind
from .groups import STAR, distinct, star_rows

if TYPE_CHECKING:
    from ..policy import Policy

Range = tuple[int, int | None]  # least and greatest level; None: up to the root


def level_problems(
    published: pa.Table,
    original: pa.Table,
    rows: NDArray[np.int64],
    policy: Policy,
    ranges: Sequence[Range],
) -> list[str]:
    """Return in which quasi-identifiers cells do not stand at the levels they should.

    Parameters
    ----------
    published : pyarrow.Table
    original : pyarrow.Table
        What it was made from, all records of it: some hierarchies depend on the values that occur.
    rows : int64[published records]
        The original record of each published one.
    policy : Policy
        With the hierarchies.
    ranges : per quasi-identifier, (least, greatest)
        The levels its cells may stand at. A column without hierarchy has level 0, its values, and 1, ``*``.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, shoal
    >>> policy = shoal.Policy(quasi={"age": shoal.Hierarchy.intervals(widths=[10])})
    >>> ages, cells = pa.table({"age": [21, 25, 34]}), pa.table({"age": ["[20, 29]", "25", "[30, 39]"]})
    >>> level_problems(cells, ages, np.arange(3), policy, [(1, 1)])
    ["1 cells of column 'age' do not stand at level 1 of its hierarchy"]
    """
    kept = ~star_rows(published, policy)
    found = []
    for column, (least, most) in zip(policy.schema.quasi, ranges, strict=True):
        if (least, most) == (0, None) or column.published_names != (column.name,):
            continue
        codes, values = distinct(original.column(column.name))
        shown, cells = distinct(published.column(column.name))
        keys = codes[rows[kept]] * len(cells) + shown[kept]
        found += column_level_problems(column, policy.unknown_values, (least, most), keys, (values, cells))
    return found


def column_level_problems(
    column: Column,
    unknown: str,
    span: Range,
    keys: NDArray[np.int64],
    texts: tuple[pa.Array, pa.Array],
) -> list[str]:
    """Return whether cells of one column stand at the levels they should.

    Parameters
    ----------
    column : Column
    unknown : str
        What becomes of values that the hierarchy does not know.
    span : (least, greatest) level
    keys : int64[records]
        ``value * number of cells + cell`` of every record.
    texts : (values, cells)
        The distinct original values and the distinct published cells.
    """
    values, cells = texts
    pairs, counts = np.unique(keys, return_counts=True)
    pair = _Pairs(column, values, *np.divmod(pairs, max(len(cells), 1)), _unquoted(cells))
    least, most = span
    wrong = int(counts[~pair.stand(unknown, least, most)].sum())
    if not wrong:
        return []
    last = "the root" if most is None else most
    shown = f"level {least}" if least == most else f"level {least} to {last}"
    return [f"{wrong} cells of column {column.name!r} do not stand at {shown} of its hierarchy"]


def _unquoted(cells: pa.Array) -> pa.Array:
    """Return published cells as texts; those that were quoted as what they say."""
    shown = texts(cells)
    quoted = pc.fill_null(pc.starts_with(shown, '"'), False)
    said = [_said(cell) for cell in shown.filter(quoted).to_pylist()]
    return pc.replace_with_mask(shown, quoted, pa.array(said, type=shown.type))


def _said(cell: str) -> str:
    try:
        return str(json.loads(cell))
    except ValueError:
        return cell


@dataclass(frozen=True, slots=True, eq=False)
class _Pairs:
    """What a column's values were published as, each combination once."""

    column: Column
    values: pa.Array
    value: NDArray[np.int64]
    cell: NDArray[np.int64]
    cells: pa.Array

    def stand(self, unknown: str, least: int, most: int | None) -> NDArray[np.bool_]:
        """Return whether each cell stands at a level of its value from `least` to `most`."""
        shown = self.cells.take(pa.array(self.cell))
        star = _true(pc.equal(shown, STAR))
        if self.column.hierarchy is None:
            if least > 0:
                return star
            return self._unchanged() if most == 0 else np.ones(len(star), dtype=bool)
        absent = _true(pc.is_null(self.values, nan_is_null=True))
        tree, leaf_of = self.column.hierarchy.bind(self._present(absent), self.column.name, unknown=unknown)
        leaf = np.zeros(len(absent), dtype=np.int64)
        leaf[~absent] = leaf_of
        leaf, absent = leaf[self.value], absent[self.value]
        top = tree.levels - 1
        last = top if most is None else min(most, top)
        labels = pa.array(tree.labels, type=shown.type)
        good = star & (last == top)
        for level in range(min(least, last), last + 1):
            good |= ~absent & _true(pc.equal(labels.take(pa.array(tree.nodes[level, leaf])), shown))
        if least == 0:
            good |= ~absent & _true(pc.equal(texts(self.values).take(pa.array(self.value)), shown))
        if 0 < top <= least and len(np.unique(self.cell)) > 1:
            good[:] = False  # a column at its root says the same of everyone
        return np.asarray(np.where(absent & (least < max(top, 1)), good | _true(pc.is_null(shown)), good))

    def _present(self, absent: NDArray[np.bool_]) -> pa.Array:
        present = self.values.filter(pa.array(~absent))
        numeric = self.column.kind is Kind.NUMERIC and is_text(present.type)
        return pa.array(numbers(present)[0]) if numeric else present

    def _unchanged(self) -> NDArray[np.bool_]:
        """Return whether each value has a cell of its own."""
        once = np.bincount(self.value)[self.value] == 1
        return np.asarray(once & (np.bincount(self.cell)[self.cell] == 1))


def _true(mask: pa.Array) -> NDArray[np.bool_]:
    return np.asarray(pc.fill_null(mask, False).to_numpy(zero_copy_only=False), dtype=bool)
