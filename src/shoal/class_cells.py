"""What every class of a partition publishes in every quasi-identifier: one cell per class and column.

A cell says what the class holds: one value as itself, null only as null, null mixed with values as ``*``, and
several values in the column's form (`Form`). Texts that could be mistaken for a cell of another kind are
quoted as in JSON, so that two different cells never read the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .cell_texts import (
    BREAKS_A_LIST,
    OPENS_LIKE_A_CELL,
    STAR,
    is_text,
    marked,
    node_texts,
    quoted,
    value_texts,
)
from .encoding import Encoded, QuasiColumn, dictionary, numbers_of
from .errors import PolicyError
from .inference import without_nan
from .metrics.cells import class_values
from .metrics.covers import Covers
from .packed import count_codes
from .partitions import Partition
from .schema import Column, Form, Kind

_BY_CELL = (Form.INTERVAL, Form.SET, Form.ANCESTOR, Form.BOUNDS)  # follow from what a class holds alone
CENTRES = (Form.MEAN, Form.MEDIAN, Form.MODE)
_LARGEST_TEXT = 2**31 - 1  # bytes that the offsets of Arrow's plain string type can reach


class Origin(Protocol):
    """What has to be known of the input beside its integer view."""

    def kind(self, name: str) -> pa.DataType:
        """Return the type of a column."""

    def codes(self, spec: Column) -> tuple[NDArray[np.int32], pa.Array]:
        """Return a column's codes and values without its hierarchy, as `encoding.dictionary` has them."""

    def distinct(self, name: str) -> int:
        """Return the number of different values of a column, null left out."""


@dataclass(frozen=True, slots=True, eq=False)
class TableOrigin:
    """An input that is held as a table."""

    data: pa.Table

    def kind(self, name: str) -> pa.DataType:
        """Return the type of a column."""
        return self.data.column(name).type

    def codes(self, spec: Column) -> tuple[NDArray[np.int32], pa.Array]:
        """Return a column's codes and values without its hierarchy."""
        return dictionary(self.data.column(spec.name), spec)

    def distinct(self, name: str) -> int:
        """Return the number of different values of a column, null left out."""
        return int(pc.count_distinct(without_nan(self.data.column(name))).as_py())


@dataclass(frozen=True, slots=True, eq=False)
class View:
    """One quasi-identifier, and what its cells hold: the different ones, or one for every class.

    `number` is the cell of each class, None where every class has its own.
    """

    j: int
    column: QuasiColumn
    form: Form
    number: NDArray[np.int32] | None
    low: NDArray[np.int32]
    high: NDArray[np.int32]
    several: NDArray[np.bool_]  # more than one value, no null
    mixed: NDArray[np.bool_]  # null beside values
    empty: NDArray[np.bool_]  # nothing but null
    level: int  # the least level of its hierarchy that it is published at

    @property
    def is_text(self) -> bool:
        """Whether the values themselves are texts, which could look like a cell."""
        return is_text(self.column.values.type)


@dataclass(frozen=True, slots=True, eq=False)
class ClassCells:
    """Makes the cells of every class, column by column.

    Attributes
    ----------
    origin : Origin
    encoded : Encoded
    partition : Partition
    covers : Covers
    """

    origin: Origin
    encoded: Encoded
    partition: Partition
    covers: Covers

    @classmethod
    def of(
        cls, origin: Origin, encoded: Encoded, partition: Partition, covers: Covers | None = None
    ) -> ClassCells:
        """Return the cells of a partition, or raise when a column cannot be published in its form.

        `covers` are the partition's, where they are known already.
        """
        _check_levels(encoded, partition)
        used = _without_unused_trees(origin, encoded)
        covers = Covers(encoded, partition) if covers is None else covers
        return cls(origin, used, partition, covers if used is encoded else covers.recoded(used))

    def view(self, j: int) -> View:
        """Return what the cells of one quasi-identifier hold."""
        cover, form = self.covers[j], _form(self.encoded.quasi[j])
        hulls, mixed = cover.hulls, cover.nothing_told()
        low, high, distinct = hulls.low[:, 0], hulls.high[:, 0], hulls.distinct[:, 0]
        held: list[NDArray[Any]] = [low, high, (distinct > 1) & ~mixed, mixed, distinct == 0]
        number: NDArray[np.int32] | None = cover.number
        by_cell = form in _BY_CELL and not (form is Form.SET and cover.listed is None)
        if not by_cell:  # what a class publishes depends on more than what its cell says
            held, number = [of_cell[number] for of_cell in held], None
        column, level = self.encoded.quasi[j], self.partition.level(j)
        return View(j, column, form, number, held[0], held[1], held[2], held[3], held[4], level)

    def codes(self, view: View) -> NDArray[np.int32]:
        """Return the codes of all records in one quasi-identifier."""
        return self.encoded.column(view.j)

    def cells(self, view: View, *, starred: bool) -> list[pa.Array] | None:
        """Return the published columns of one quasi-identifier, cell by cell: one column, or two for bounds.

        None for a column that is published exactly as it was read. With `starred`, a last cell follows that
        suppressed records show: no value in its own type, ``*`` among texts.
        """
        if view.form is Form.BOUNDS:
            return [self._typed(view, end, starred) for end in (view.low, view.high)]
        if view.form in (Form.MEAN, Form.MEDIAN) and view.column.kind is not Kind.ORDINAL:
            numbers = typed_numbers(view, self._centre_numbers(view), view.empty | view.mixed)
            return [_with_last(numbers, None, starred)]
        if view.form is Form.MODE and view.column.spec.separator is not None:
            cells = quoted(self._majority(view), OPENS_LIKE_A_CELL)
            return [_with_last(_marked(cells, view), STAR, starred)]
        if view.form in CENTRES:
            codes = self._centre_codes(view)
            if not view.is_text:
                return [self._typed(view, codes, starred)]
            cells = view.column.values.take(pa.array(codes, mask=view.empty | view.mixed))
            return [_with_last(_marked(quoted(cells, OPENS_LIKE_A_CELL), view), STAR, starred)]
        if not (starred or view.level or view.several.any() or view.mixed.any()):
            if view.column.tree is not None:
                if self._as_read(view):
                    return None
            elif not _has_strange_texts(view):
                return [self._typed(view, view.low, starred)]
        return [_with_last(_marked(self._general(view), view), STAR, starred)]

    def _as_read(self, view: View) -> bool:
        """Return whether a column with a hierarchy, which no class had to generalise, can stay as it was."""
        if is_text(self.origin.kind(view.column.name)):
            return False
        # Values a hierarchy does not know all became its root: publishing them as they were would undo that.
        present = count_codes(self.encoded.stored(view.j), view.column.size + 1)[: view.column.size]
        return self.origin.distinct(view.column.name) == np.count_nonzero(present)

    def _general(self, view: View) -> pa.Array:
        """Return texts, one per cell: intervals, value sets or nodes of the hierarchy."""
        if view.form is Form.ANCESTOR:
            return self._nodes(view)
        texts = value_texts(view.column.values)
        single = texts.take(pa.array(view.low, mask=view.empty))
        if view.is_text:
            single, texts = quoted(single, OPENS_LIKE_A_CELL), quoted(texts, BREAKS_A_LIST)
        if view.form is Form.INTERVAL:
            low, high = (texts.take(pa.array(end, mask=view.empty)) for end in (view.low, view.high))
            wide = pc.binary_join_element_wise("[", low, ", ", high, "]", "")
        else:
            lists = self._lists(view, texts)
            opened, closed, nothing = (pa.scalar(mark, lists.type) for mark in ("{", "}", ""))
            wide = pc.binary_join_element_wise(opened, lists, closed, nothing)
        return pc.if_else(pa.array(view.several), wide, single.cast(wide.type))

    def _nodes(self, view: View) -> pa.Array:
        """Return the label of the lowest common node of every cell."""
        tree = view.column.tree
        assert tree is not None
        nodes = np.full(len(view.low), tree.root, dtype=np.int32)
        some = ~view.empty
        nodes[some] = tree.common_ancestors(view.low[some], view.high[some], view.level)
        return pa.array(node_texts(tree.labels, tree.root), type=pa.string()).take(pa.array(nodes))

    def _lists(self, view: View, parts: pa.Array) -> pa.Array:
        """Return the values of every cell as one text, in the column's order, with commas between."""
        held = self.covers[view.j].listed
        if held is None:  # a column with an order, which is to be published as sets
            held = class_values(self.encoded.column(view.j), view.column.size + 1, self.partition)
        listed = view.several[held.classes]
        lengths = np.bincount(held.classes[listed], minlength=len(view.low))
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        values = parts.take(pa.array(held.values[listed])).cast(pa.large_string())
        lists = pa.LargeListArray.from_arrays(pa.array(offsets), values)
        joined = pc.binary_join(lists, pa.scalar(", ", values.type))
        return joined if joined.nbytes > _LARGEST_TEXT else joined.cast(pa.string())

    def _counts(self, view: View) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return (class, code, count) for every value in every class, sorted."""
        found = class_values(self.codes(view), view.column.size + 1, self.partition)
        return found.classes, found.values, found.counts

    def _majority(self, view: View) -> pa.Array:
        """Return the set of every class: the items that more than half of its records have."""
        items, separator = view.column.items(), view.column.spec.separator
        assert items is not None
        assert separator is not None
        order = self.partition.order
        record, item = items.entries(self.codes(view)[order])
        keys = self.partition.labels[order][record].astype(np.int64) * len(items.names) + item
        found, counts = np.unique(keys, return_counts=True)
        classes, held = np.divmod(found, max(len(items.names), 1))
        most = 2 * counts > self.partition.sizes[classes]
        texts: list[list[str]] = [[] for _ in range(self.partition.classes)]
        for c, at in zip(classes[most].tolist(), held[most].tolist(), strict=True):
            texts[c].append(items.names[at])
        made = [separator.join(own) for own in texts]
        return pa.array(made, pa.string(), mask=view.empty | view.mixed)

    def _centre_codes(self, view: View) -> NDArray[np.int32]:
        """Return one code per class: the mode, or for ranks the median or the rank nearest to the mean."""
        if view.form is Form.MODE:
            classes, codes, counts = self._counts(view)
            overall = np.bincount(codes, weights=counts, minlength=view.column.size + 1)
            # The most frequent; among equals the one that is more frequent in the table, then the first.
            ranked = np.lexsort((codes, -overall[codes], -counts, classes))
            first = np.flatnonzero(np.r_[True, np.diff(classes[ranked]) > 0]) if len(ranked) else ranked
            return codes[ranked[first]].astype(np.int32)
        if view.form is Form.MEDIAN:
            return self._middle(view)[0]
        return np.rint(np.where(view.empty | view.mixed, 0, self.means(view))).astype(np.int32)

    def _centre_numbers(self, view: View) -> NDArray[np.float64]:
        """Return one number per class, its mean or median."""
        if view.form is Form.MEAN:
            return self.means(view)
        numbers = np.append(numbers_in(view), np.nan)
        lower, upper = self._middle(view)
        middle: NDArray[np.float64] = numbers[lower] + (numbers[upper] - numbers[lower]) / 2
        return middle

    def means(self, view: View) -> NDArray[np.float64]:
        """Return the mean of every class."""
        numbers = np.append(numbers_in(view), np.nan)
        if self.partition.classes == 0:
            return np.zeros(0)
        # Distances from the class's least value: sums of large numbers (seconds since 1970) stay exact, and
        # a class of one value gets that value.
        base = numbers[view.low]
        spread = numbers[self.codes(view)[self.partition.order]] - np.repeat(base, self.partition.sizes)
        sums = np.add.reduceat(spread, self.partition.offsets[:-1])
        return np.asarray(base + sums / self.partition.sizes, dtype=np.float64)

    def _middle(self, view: View) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the lower and the upper middle code of every class."""
        order = self.partition.order
        codes = self.codes(view)[order]
        codes = codes[np.lexsort((codes, self.partition.labels[order]))]
        start, sizes = self.partition.offsets[:-1], self.partition.sizes
        return codes[start + (sizes - 1) // 2], codes[start + sizes // 2]

    def _typed(self, view: View, codes: NDArray[np.int32], starred: bool) -> pa.Array:
        """Return one value per cell in the column's own type; null where it says nothing."""
        source = self.origin.kind(view.column.name)
        values = view.column.values
        chosen = _with_last(pa.array(codes, mask=view.empty | view.mixed), None, starred)
        if pa.types.is_dictionary(source) and source.value_type == values.type:
            return pa.DictionaryArray.from_arrays(chosen, values, ordered=source.ordered)
        return values.take(chosen)


def _with_last(cells: pa.Array, last: str | None, starred: bool) -> pa.Array:
    return pa.concat_arrays([cells, pa.array([last], type=cells.type)]) if starred else cells


def _marked(cells: pa.Array, view: View) -> pa.Array:
    return marked(cells, mixed=view.mixed, empty=view.empty)


def _has_strange_texts(view: View) -> bool:
    """Return whether a value, published as it is, would read as another kind of cell."""
    if not view.is_text:
        return False
    return bool(pc.any(pc.match_substring_regex(view.column.values, OPENS_LIKE_A_CELL)).as_py())


def _form(column: QuasiColumn) -> Form:
    """Return the form a column is published in, AUTO decided."""
    if column.spec.form is Form.CENTROID:
        return {Kind.CATEGORICAL: Form.MODE, Kind.ORDINAL: Form.MEDIAN}.get(column.kind, Form.MEAN)
    if column.spec.form is not Form.AUTO:
        return column.spec.form
    if column.tree is not None:
        return Form.ANCESTOR
    return Form.SET if column.numbers is None else Form.INTERVAL


def _check_levels(encoded: Encoded, partition: Partition) -> None:
    """Raise when a column is to be published at a level of its hierarchy and not as one of its nodes."""
    for j, column in enumerate(encoded.quasi):
        fixed = partition.uniform or partition.level(j) > 0
        if column.tree is not None and fixed and _form(column) is not Form.ANCESTOR:
            raise PolicyError(
                f"column {column.name!r} is to be published at a level of its hierarchy and as "
                f"{column.spec.form.value}",
                hint="Leave its form out: nodes of the hierarchy are published.",
            )


def _without_unused_trees(origin: Origin, encoded: Encoded) -> Encoded:
    """Return the integer view in which only columns published as nodes have a hierarchy.

    The codes of a hierarchy follow its leaves; every other form needs the values and their own order.
    """
    quasi, codes = list(encoded.quasi), {}
    for j, column in enumerate(encoded.quasi):
        if column.tree is None or _form(column) is Form.ANCESTOR:
            continue
        codes[j], values = origin.codes(column.spec)
        quasi[j] = replace(column, values=values, numbers=numbers_of(values, column.spec), tree=None)
    return encoded.recoded(tuple(quasi), codes) if codes else encoded


def numbers_in(view: View) -> NDArray[np.float64]:
    """Return the numbers of a column, which the policy's own checks promise for these forms."""
    numbers = view.column.numbers
    if numbers is None:
        raise PolicyError(
            f"column {view.column.name!r} has no {view.form.value}: its values are not numbers",
            hint="Publish it as a set or as its mode, or set its kind.",
        )
    return numbers


def typed_numbers(view: View, numbers: NDArray[np.float64], hidden: NDArray[np.bool_]) -> pa.Array:
    """Return numbers as cells, dates for dates; null where hidden."""
    kind = view.column.values.type
    if view.column.kind is not Kind.DATE:
        return pa.array(numbers, mask=hidden)
    whole = np.floor(np.where(hidden, 0, numbers)).astype(np.int64)
    if pa.types.is_date32(kind):
        return pa.array(whole.astype(np.int32), mask=hidden).cast(kind)
    moments = pa.array(whole, mask=hidden).cast(pa.timestamp("us", getattr(kind, "tz", None)))
    return moments.cast(kind, safe=False)
