"""Partition -> published table: every class becomes one row of cells, and every record takes its class's.

A cell says what the class holds: one value as itself, null only as null, null mixed with values as ``*``, and
several values in the column's form (`Form`). Texts that could be mistaken for a cell of another kind are
quoted as in JSON, so that two different cells never read the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .class_cells import ClassCells, TableOrigin, View, numbers_in, typed_numbers
from .encoding import Encoded
from .errors import PolicyError
from .noise import Draws, Extent, between, wrapped_around
from .partitions import Partition
from .pseudonyms import check_key, replace_identifier
from .schema import Action, Column, Form, Role

if TYPE_CHECKING:
    from .policy import Policy

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
    check_names(data.column_names, policy)
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


def check_names(names: Sequence[str], policy: Policy) -> None:
    """Raise when the two columns that bounds are published in would hide another column."""
    for column in policy.schema.quasi:
        for name in column.published_names:
            if name != column.name and name in names:
                raise PolicyError(
                    f"the bounds of {column.name!r} would be published as {name!r}, a column already",
                    hint="Rename that column, or publish intervals.",
                )


@dataclass(frozen=True, slots=True, eq=False)
class _Recoder:
    """Hands the cells of the classes to the records."""

    data: pa.Table
    classes: ClassCells
    rows: NDArray[np.int64]
    row_class: NDArray[np.int64]  # of each published record; one past the last for a starred one
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
        labels = partition.labels[rows]
        row_class = np.where(labels < 0, partition.classes, labels).astype(np.int64)
        classes = ClassCells.of(TableOrigin(data), encoded, partition)
        return cls(data, classes, rows, row_class, starred, draws)

    def cells(self, name: str) -> list[pa.Array | pa.ChunkedArray]:
        """Return the published columns of one quasi-identifier: one, or two for bounds."""
        view = self.classes.view([column.name for column in self.classes.encoded.quasi].index(name))
        if view.form.noisy:
            return [self._noised(view)]
        made = self.classes.cells(view, starred=self.starred)
        if made is None:
            return [self.data.column(name).take(pa.array(self.rows))]
        return [self._spread(view, cells) for cells in made]

    def _noised(self, view: View) -> pa.Array:
        """Return a number drawn inside its class for every published record; null where that says nothing."""
        numbers = np.append(numbers_in(view), np.nan)
        labels = self.classes.partition.labels[self.rows]
        hidden = np.append(view.empty | view.mixed, True)[labels]
        low, high, mean = (
            np.where(hidden, 0.0, np.append(of_class, 0.0)[labels])
            for of_class in (numbers[view.low], numbers[view.high], self.classes.means(view))
        )
        extent, drawn = Extent(low, high, mean), self.draws.take(len(labels))
        if view.form is Form.RANDOM:
            own = np.where(hidden, 0.0, numbers[self.classes.codes(view)[self.rows]])
            return typed_numbers(view, wrapped_around(own, extent, drawn), hidden)
        return typed_numbers(view, between(extent, view.column.spec.rho, drawn), hidden)

    def _spread(self, view: View, cells: pa.Array) -> pa.Array | pa.ChunkedArray:
        """Return the cells of the classes, one per published record."""
        number = (
            self.row_class if view.number is None else np.append(view.number, len(cells) - 1)[self.row_class]
        )
        if pa.types.is_string(cells.type):
            lengths = pc.fill_null(pc.binary_length(cells), 0).to_numpy()
            if lengths @ np.bincount(number, minlength=len(cells)) > _LARGEST_TEXT / 4:
                cells = cells.cast(pa.large_string())
        return without_unused_categories(cells.take(pa.array(number)))


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
    occurs = np.zeros(len(column.dictionary), dtype=bool)
    occurs[column.indices.drop_null().to_numpy(zero_copy_only=False)] = True
    used = np.flatnonzero(occurs)
    place = np.zeros(len(column.dictionary), dtype=np.int32)
    place[used] = np.arange(len(used), dtype=np.int32)
    absent = np.asarray(pc.is_null(column).to_numpy(zero_copy_only=False), dtype=bool)
    old = column.indices.fill_null(0).to_numpy(zero_copy_only=False)
    new = place[old] if len(place) else np.zeros(len(old), dtype=np.int32)
    values = column.dictionary.take(pa.array(used))
    return pa.DictionaryArray.from_arrays(pa.array(new, mask=absent), values, ordered=column.type.ordered)
