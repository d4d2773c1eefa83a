"""Partition -> published table: every class becomes one row of cells, and every record takes its class's.

A cell says what the class holds: one value as itself, null only as null, null mixed with values as ``*``, and
several values in the column's form (`Form`). Texts that could be mistaken for a cell of another kind are
quoted as in JSON, so that two different cells never read the same.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

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
from .metrics.hulls import Hulls
from .noise import Draws, Extent, between, wrapped_around
from .partitions import Partition
from .pseudonyms import check_key, replace_identifier
from .schema import Action, Column, Form, Kind, Role

if TYPE_CHECKING:
    from .policy import Policy

CENTRES = (Form.MEAN, Form.MEDIAN, Form.MODE)
_LARGEST_TEXT = 2**31 - 1  # bytes that the offsets of Arrow's plain string type can reach


@dataclass(frozen=True, slots=True, eq=False)
class Published:
    """A published table, not verified yet.

    Attributes
    ----------
    table : pyarrow.Table
    rows : int64[published records]
        The row of the input that each published record was made from, ascending.
    seeded : bool
        Whether its noise, if it has any, came from a seed, which takes it away again.
    """

    table: pa.Table
    rows: NDArray[np.int64]
    seeded: bool = False


def publish(
    data: pa.Table,
    encoded: Encoded,
    partition: Partition,
    policy: Policy,
    *,
    key: bytes | None = None,
    noise_seed: int | None = None,
) -> Published:
    """Return the table as it would be published for a partition; the input's order is kept.

    Parameters
    ----------
    data : pyarrow.Table
        The input.
    encoded : Encoded
        Its integer view under the same policy.
    partition : Partition
        The class of every record; suppressed records are dropped, or kept with ``*`` if the policy says so.
    policy : Policy
        Resolved: the kinds of its columns are known.
    key : bytes, optional
        Secret for the pseudonyms of direct identifiers.
    noise_seed : int, optional
        Makes noise that can be drawn again, and so taken away; otherwise the operating system's randomness.

    Raises
    ------
    PolicyError
        When a pseudonym is asked for without a key, or a new column would take the name of another one.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, shoal
    >>> from shoal.encoding import encode
    >>> data = pa.table({"name": ["Ann", "Bob", "Cid"], "age": [31, 34, 52], "flu": [True, False, True]})
    >>> policy = shoal.Policy(identifiers=["name"], quasi=["age"], sensitive=["flu"]).resolved(data)
    >>> partition = shoal.Partition.from_labels(np.array([0, 0, 1]))
    >>> publish(data, encode(data, policy), partition, policy).table.to_pydict()
    {'age': ['[31, 34]', '[31, 34]', '52'], 'flu': [True, False, True]}
    """
    _check_names(data, policy)
    for column in policy.schema.identifiers:
        if column.action is Action.PSEUDONYM:
            check_key(column, key)
    starred = policy.suppressed == "star" and partition.suppressed > 0
    rows = np.arange(len(partition.labels)) if starred else np.flatnonzero(partition.labels >= 0)
    draws = Draws.fresh() if noise_seed is None else Draws.seeded(noise_seed)
    recoder = _Recoder.of(data, encoded, partition, rows.astype(np.int64), starred, draws)
    columns = {column.name: column for column in policy.schema.columns}
    made: dict[str, pa.Array | pa.ChunkedArray] = {}
    for name in data.column_names:
        column = columns.get(name, Column(name, Role.OTHER))
        if column.role is Role.QUASI:
            made.update(zip(column.published_names, recoder.cells(name), strict=True))
        elif column.role is not Role.IDENTIFIER:
            made[name] = without_unused_categories(data.column(name).take(pa.array(recoder.rows)))
        elif column.action is not Action.DROP:
            made[name] = replace_identifier(data.column(name).take(pa.array(recoder.rows)), column, key)
    seeded = noise_seed is not None and any(column.form.noisy for column in policy.schema.quasi)
    return Published(pa.table(made), recoder.rows, seeded)


def _check_names(data: pa.Table, policy: Policy) -> None:
    """Raise when the two columns that bounds are published in would hide another column."""
    for column in policy.schema.quasi:
        for name in column.published_names:
            if name != column.name and name in data.column_names:
                raise PolicyError(
                    f"the bounds of {column.name!r} would be published as {name!r}, a column already",
                    hint="Rename that column, or publish intervals.",
                )


@dataclass(frozen=True, slots=True, eq=False)
class _View:
    """One quasi-identifier, and what every class holds of it."""

    column: QuasiColumn
    form: Form
    codes: NDArray[np.int32]
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
class _Recoder:
    """Makes the cells of every class once, and hands them to the records."""

    data: pa.Table
    partition: Partition
    views: dict[str, _View]
    rows: NDArray[np.int64]
    row_class: pa.Array  # the class of each published record; one past the last for a starred one
    starred: bool
    draws: Draws

    @classmethod
    def of(
        cls,
        data: pa.Table,
        encoded: Encoded,
        partition: Partition,
        rows: NDArray[np.int64],
        starred: bool,
        draws: Draws,
    ) -> _Recoder:
        _check_levels(encoded, partition)
        encoded = _without_unused_trees(data, encoded)
        hulls = Hulls.of(encoded, partition)
        mixed = hulls.tells_nothing()
        views = {}
        for j, column in enumerate(encoded.quasi):
            views[column.name] = _View(
                column=column,
                form=_form(column),
                codes=encoded.codes[:, j],
                low=hulls.low[:, j],
                high=hulls.high[:, j],
                several=(hulls.distinct[:, j] > 1) & ~mixed[:, j],
                mixed=mixed[:, j],
                empty=hulls.distinct[:, j] == 0,
                level=partition.level(j),
            )
        labels = partition.labels[rows]
        row_class = pa.array(np.where(labels < 0, partition.classes, labels).astype(np.int64))
        return cls(data, partition, views, rows, row_class, starred, draws)

    def cells(self, name: str) -> list[pa.Array | pa.ChunkedArray]:
        """Return the published columns of one quasi-identifier: one, or two for bounds."""
        view = self.views[name]
        if view.form is Form.BOUNDS:
            return [self._typed(view, view.low), self._typed(view, view.high)]
        if view.form.noisy:
            return [self._noised(view)]
        if view.form in (Form.MEAN, Form.MEDIAN) and view.column.kind is not Kind.ORDINAL:
            return [self._spread(_typed_numbers(view, self._centre_numbers(view), view.empty | view.mixed))]
        if view.form is Form.MODE and view.column.spec.separator is not None:
            return [self._spread_texts(quoted(self._majority(view), OPENS_LIKE_A_CELL), view)]
        if view.form in CENTRES:
            codes = self._centre_codes(view)
            if not view.is_text:
                return [self._typed(view, codes)]
            cells = view.column.values.take(pa.array(codes, mask=view.empty | view.mixed))
            return [self._spread_texts(quoted(cells, OPENS_LIKE_A_CELL), view)]
        if not (self.starred or view.level or view.several.any() or view.mixed.any()):
            unchanged = self._unchanged(view)
            if unchanged is not None:
                return [unchanged]
        return [self._general(view)]

    def _unchanged(self, view: _View) -> pa.Array | pa.ChunkedArray | None:
        """Return a column that no class had to generalise, in its own type; None where texts need quotes."""
        if view.column.tree is None:
            strange = view.is_text and pc.any(pc.match_substring_regex(view.column.values, OPENS_LIKE_A_CELL))
            return None if strange and strange.as_py() else self._typed(view, view.low)
        source = self.data.column(view.column.name)
        if is_text(source.type):
            return None
        # Values a hierarchy does not know all became its root: publishing them as they were would undo that.
        leaves = np.unique(view.codes[view.codes < view.column.size])
        one_to_one = pc.count_distinct(without_nan(source)).as_py() == len(leaves)
        return source.take(pa.array(self.rows)) if one_to_one else None

    def _general(self, view: _View) -> pa.Array | pa.ChunkedArray:
        """Return a column of texts: intervals, value sets or nodes of the hierarchy."""
        if view.form is Form.ANCESTOR:
            return self._spread_texts(self._nodes(view), view)
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
        cells = pc.if_else(pa.array(view.several), wide, single.cast(wide.type))
        return self._spread_texts(cells, view)

    def _nodes(self, view: _View) -> pa.Array:
        """Return the label of the lowest common node of every class."""
        tree = view.column.tree
        assert tree is not None
        nodes = np.full(len(view.low), tree.root, dtype=np.int32)
        some = ~view.empty
        nodes[some] = tree.common_ancestors(view.low[some], view.high[some], view.level)
        return pa.array(node_texts(tree.labels, tree.root), type=pa.string()).take(pa.array(nodes))

    def _lists(self, view: _View, parts: pa.Array) -> pa.Array:
        """Return the values of every class as one text, in the column's order, with commas between."""
        classes, codes, _ = self._counts(view)
        listed = view.several[classes]
        lengths = np.bincount(classes[listed], minlength=self.partition.classes)
        offsets = np.concatenate([[0], np.cumsum(lengths)])
        values = parts.take(pa.array(codes[listed])).cast(pa.large_string())
        lists = pa.LargeListArray.from_arrays(pa.array(offsets), values)
        joined = pc.binary_join(lists, pa.scalar(", ", values.type))
        return joined if joined.nbytes > _LARGEST_TEXT else joined.cast(pa.string())

    def _counts(self, view: _View) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """Return (class, code, count) for every value in every class, sorted."""
        order = self.partition.order
        keys = self.partition.labels[order].astype(np.int64) * (view.column.size + 1) + view.codes[order]
        found, counts = np.unique(keys, return_counts=True)
        classes, codes = np.divmod(found, view.column.size + 1)
        return classes, codes, counts.astype(np.int64)

    def _majority(self, view: _View) -> pa.Array:
        """Return the set of every class: the items that more than half of its records have."""
        items, separator = view.column.items(), view.column.spec.separator
        assert items is not None
        assert separator is not None
        order = self.partition.order
        record, item = items.entries(view.codes[order])
        keys = self.partition.labels[order][record].astype(np.int64) * len(items.names) + item
        found, counts = np.unique(keys, return_counts=True)
        classes, held = np.divmod(found, max(len(items.names), 1))
        most = 2 * counts > self.partition.sizes[classes]
        texts: list[list[str]] = [[] for _ in range(self.partition.classes)]
        for c, at in zip(classes[most].tolist(), held[most].tolist(), strict=True):
            texts[c].append(items.names[at])
        made = [separator.join(own) for own in texts]
        return pa.array(made, pa.string(), mask=view.empty | view.mixed)

    def _centre_codes(self, view: _View) -> NDArray[np.int32]:
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
        return np.rint(np.where(view.empty | view.mixed, 0, self._means(view))).astype(np.int32)

    def _centre_numbers(self, view: _View) -> NDArray[np.float64]:
        """Return one number per class, its mean or median."""
        if view.form is Form.MEAN:
            return self._means(view)
        numbers = np.append(_numbers(view), np.nan)
        lower, upper = self._middle(view)
        middle: NDArray[np.float64] = numbers[lower] + (numbers[upper] - numbers[lower]) / 2
        return middle

    def _noised(self, view: _View) -> pa.Array:
        """Return a number drawn inside its class for every published record; null where that says nothing."""
        numbers = np.append(_numbers(view), np.nan)
        labels = self.partition.labels[self.rows]
        hidden = np.append(view.empty | view.mixed, True)[labels]
        low, high, mean = (
            np.where(hidden, 0.0, np.append(of_class, 0.0)[labels])
            for of_class in (numbers[view.low], numbers[view.high], self._means(view))
        )
        extent, drawn = Extent(low, high, mean), self.draws.take(len(labels))
        if view.form is Form.RANDOM:
            own = np.where(hidden, 0.0, numbers[view.codes[self.rows]])
            return _typed_numbers(view, wrapped_around(own, extent, drawn), hidden)
        return _typed_numbers(view, between(extent, view.column.spec.rho, drawn), hidden)

    def _means(self, view: _View) -> NDArray[np.float64]:
        numbers = np.append(_numbers(view), np.nan)
        if self.partition.classes == 0:
            return np.zeros(0)
        # Distances from the class's least value: sums of large numbers (seconds since 1970) stay exact, and
        # a class of one value gets that value.
        base = numbers[view.low]
        spread = numbers[view.codes[self.partition.order]] - np.repeat(base, self.partition.sizes)
        sums = np.add.reduceat(spread, self.partition.offsets[:-1])
        return np.asarray(base + sums / self.partition.sizes, dtype=np.float64)

    def _middle(self, view: _View) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
        """Return the lower and the upper middle code of every class."""
        order = self.partition.order
        codes = view.codes[order]
        codes = codes[np.lexsort((codes, self.partition.labels[order]))]
        start, sizes = self.partition.offsets[:-1], self.partition.sizes
        return codes[start + (sizes - 1) // 2], codes[start + sizes // 2]

    def _typed(self, view: _View, codes: NDArray[np.int32]) -> pa.Array | pa.ChunkedArray:
        """Return one value per record in the column's own type; null where a class says nothing."""
        source = self.data.column(view.column.name).type
        values = view.column.values
        chosen = pa.array(codes, mask=view.empty | view.mixed)
        if pa.types.is_dictionary(source) and source.value_type == values.type:
            spread = pa.DictionaryArray.from_arrays(self._spread(chosen), values, ordered=source.ordered)
            return without_unused_categories(spread)
        return self._spread(values.take(chosen))

    def _spread_texts(self, cells: pa.Array, view: _View) -> pa.Array:
        """Return the texts of the classes, one per published record, ``*`` where a class says nothing."""
        cells = marked(cells, mixed=view.mixed, empty=view.empty)
        if len(cells) and cells.nbytes / len(cells) * len(self.row_class) > _LARGEST_TEXT / 4:
            cells = cells.cast(pa.large_string())
        return self._spread(cells, star=STAR)

    def _spread(self, cells: pa.Array, star: str | None = None) -> pa.Array:
        """Return the cells of the classes, one per published record, `star` for the suppressed ones."""
        if self.starred:
            cells = pa.concat_arrays([cells, pa.array([star], type=cells.type)])
        return cells.take(self.row_class)


def without_unused_categories(column: pa.Array | pa.ChunkedArray) -> pa.Array | pa.ChunkedArray:
    """Return a column whose dictionary, if it has one, lists only the values that occur.

    A file keeps the whole dictionary, and with it the values of suppressed records.
    """
    if not pa.types.is_dictionary(column.type):
        return column
    if isinstance(column, pa.ChunkedArray):
        column = column.unify_dictionaries()
        column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
        column = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    used = np.unique(column.indices.drop_null().to_numpy(zero_copy_only=False)).astype(np.int64)
    place = np.zeros(len(column.dictionary), dtype=np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    absent = np.asarray(pc.is_null(column).to_numpy(zero_copy_only=False), dtype=bool)
    old = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
    new = place[old] if len(place) else np.zeros(len(old), dtype=np.int32)
    values = column.dictionary.take(pa.array(used))
    return pa.DictionaryArray.from_arrays(pa.array(new, mask=absent), values, ordered=column.type.ordered)


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


def _without_unused_trees(data: pa.Table, encoded: Encoded) -> Encoded:
    """Return the integer view in which only columns published as nodes have a hierarchy.

    The codes of a hierarchy follow its leaves; every other form needs the values and their own order.
    """
    quasi, codes = list(encoded.quasi), encoded.codes
    for j, column in enumerate(encoded.quasi):
        if column.tree is None or _form(column) is Form.ANCESTOR:
            continue
        codes = codes.copy(order="F") if codes is encoded.codes else codes
        codes[:, j], values = dictionary(data.column(column.name), column.spec)
        quasi[j] = replace(column, values=values, numbers=numbers_of(values, column.spec), tree=None)
    return replace(encoded, codes=codes, quasi=tuple(quasi))


def _numbers(view: _View) -> NDArray[np.float64]:
    """Return the numbers of a column, which the policy's own checks promise for these forms."""
    numbers = view.column.numbers
    if numbers is None:
        raise PolicyError(
            f"column {view.column.name!r} has no {view.form.value}: its values are not numbers",
            hint="Publish it as a set or as its mode, or set its kind.",
        )
    return numbers


def _typed_numbers(view: _View, numbers: NDArray[np.float64], hidden: NDArray[np.bool_]) -> pa.Array:
    """Return numbers as cells, dates for dates; null where hidden."""
    kind = view.column.values.type
    if view.column.kind is not Kind.DATE:
        return pa.array(numbers, mask=hidden)
    whole = np.floor(np.where(hidden, 0, numbers)).astype(np.int64)
    if pa.types.is_date32(kind):
        return pa.array(whole.astype(np.int32), mask=hidden).cast(kind)
    moments = pa.array(whole, mask=hidden).cast(pa.timestamp("us", getattr(kind, "tz", None)))
    return moments.cast(kind, safe=False)
