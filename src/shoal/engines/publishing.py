"""Cells of classes -> published parts: what every class publishes is made once, records take it by number."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..class_cells import ClassCells
from ..errors import ParameterError
from ..pseudonyms import check_key, replace_identifier
from ..recode import check_names, without_unused_categories
from ..schema import Action, Column, Role
from .encoding import codes_of

if TYPE_CHECKING:
    from ..io.blocks import Blocks
    from ..policy import Policy


@dataclass(frozen=True, slots=True, eq=False)
class BlockOrigin:
    """An input that is read block by block, as what recoding asks of it."""

    blocks: Blocks
    order: Callable[[], NDArray[np.int32]]  # of the records, where it is asked for

    def kind(self, name: str) -> pa.DataType:
        """Return the type of a column."""
        return self.blocks.schema.field(name).type

    def codes(self, spec: Column) -> tuple[NDArray[np.int32], pa.Array]:
        """Return a column's codes and values without its hierarchy."""
        codes, values = codes_of(self.blocks, spec)
        return codes[self.order()], values

    def distinct(self, name: str) -> int:
        """Return the number of different values of a column, null left out."""
        return len(codes_of(self.blocks, Column(name))[1])


@dataclass(frozen=True, slots=True, eq=False)
class ClassColumn:
    """One published column of a quasi-identifier: which of the distinct cells every class shows.

    Attributes
    ----------
    name : str
    kind : pyarrow.DataType
    number : int32[classes + 1]
        A cell per class, and one for suppressed records that stay.
    cells : pyarrow.Array
        All different; null, where it occurs, is the last.
    """

    name: str
    kind: pa.DataType
    number: NDArray[np.int32]
    cells: pa.Array

    @classmethod
    def of(cls, name: str, made: pa.Array, number: NDArray[np.integer] | None) -> ClassColumn:
        """Return the column from its cells and the cell of each class, None where each has its own."""
        is_dictionary = pa.types.is_dictionary(made.type)
        encoded = without_unused_categories(made) if is_dictionary else made.dictionary_encode()
        cells = encoded.dictionary
        place = (
            encoded.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
        )
        if encoded.null_count:
            cells = pa.concat_arrays([cells, pa.nulls(1, cells.type)])
        return cls(name, made.type, place if number is None else place[number], cells)

    @property
    def as_dictionary(self) -> bool:
        """Whether records get the number of a cell, and not the cell itself."""
        return bool(pa.types.is_string(self.kind) or pa.types.is_dictionary(self.kind))

    def take(self, classes: NDArray[np.int64]) -> pa.Array:
        """Return the cells of some records by their classes."""
        number = self.number[classes]
        if not self.as_dictionary:
            return self.cells.take(pa.array(number))
        if pa.types.is_dictionary(self.kind):  # one dictionary for all parts: its order may mean something
            cells, place, ordered = self.cells, number, self.kind.ordered
        else:
            used = np.zeros(len(self.cells), dtype=bool)
            used[number] = True
            cells, place = (
                self.cells.take(pa.array(np.flatnonzero(used))),
                np.cumsum(used, dtype=np.int32) - 1,
            )
            place, ordered = place[number], False
        mask = None
        if cells.null_count:
            cells = cells.slice(0, len(cells) - 1)
            mask = place == len(cells)
        return pa.DictionaryArray.from_arrays(pa.array(place, mask=mask), cells, ordered=ordered)


@dataclass(frozen=True, slots=True, eq=False)
class Plan:
    """How every published column of a table is made, in the order of the input.

    Attributes
    ----------
    schema : pyarrow.Schema
        Of the published table as a reader sees it.
    made : dict of name to ClassColumn
    through : tuple of str
        Input columns that records keep: all but quasi-identifiers and dropped identifiers.
    identifiers : dict of name to Column
        Those among them that are masked or become pseudonyms.
    key : bytes or None
    classes : int
    """

    schema: pa.Schema
    made: dict[str, ClassColumn]
    through: tuple[str, ...]
    identifiers: dict[str, Column]
    key: bytes | None
    classes: int

    def part(
        self, labels: NDArray[np.int32], through: pa.Table, hidden: dict[str, NDArray[np.bool_]]
    ) -> pa.Table:
        """Return some published records.

        Parameters
        ----------
        labels : int32[m]
            The class of each.
        through : pyarrow.Table
            The columns they keep.
        hidden : dict of name to bool[m]
            Where a kept column is to be null.
        """
        classes = np.where(labels < 0, self.classes, labels)
        columns = []
        for name in self.schema.names:
            if name in self.made:
                columns.append(self.made[name].take(classes))
                continue
            column = through.column(name)
            if name in self.identifiers:
                column = replace_identifier(column, self.identifiers[name], self.key)
            if name in hidden:
                shown = pa.array(np.arange(len(labels)), mask=hidden[name])
                column = column.take(shown)
            columns.append(column if self.of_categories(name) else without_unused_categories(column))
        return pa.table(columns, names=self.schema.names)

    def of_categories(self, name: str) -> bool:
        """Return whether a column is one of categories, which are the same ones in all parts."""
        return bool(pa.types.is_dictionary(self.schema.field(name).type))


def check_streamable(policy: Policy, schema: pa.Schema, key: bytes | None) -> None:
    """Raise when a table cannot be published block by block under a policy, before any work is done."""
    policy.schema.check_present(schema.names)
    check_names(schema.names, policy)
    for column in policy.schema.identifiers:
        if column.action is Action.PSEUDONYM:
            check_key(column, key)
    noisy = [column.name for column in policy.schema.quasi if column.form.noisy]
    nested = [
        column.name for column in policy.schema.quasi if pa.types.is_nested(schema.field(column.name).type)
    ]
    if nested:
        raise ParameterError(
            f"column {nested[0]!r} holds lists, which are not read block by block",
            hint="Leave --stream out, or write the lists as texts with a separator.",
        )
    if noisy:
        raise ParameterError(
            f"{noisy[0]!r} is published with noise, which only a table in memory can be verified with",
            hint="Leave --stream out, or publish the column in another form.",
        )


def make_plan(blocks: Blocks, cells: ClassCells, policy: Policy, *, starred: bool, key: bytes | None) -> Plan:
    """Return how the table is published with these cells of its classes."""
    roles = {column.name: column for column in policy.schema.columns}
    made: dict[str, ClassColumn] = {}
    through, identifiers, fields = [], {}, []
    places = {column.name: j for j, column in enumerate(policy.schema.quasi)}
    for name in blocks.schema.names:
        column = roles.get(name, Column(name, Role.OTHER))
        if column.role is Role.QUASI:
            view = cells.view(places[name])
            texts = cells.cells(view, starred=starred)
            if texts is not None:
                number = view.number
                if number is not None and starred:
                    number = np.append(number, len(texts[0]) - 1)
                pairs = zip(column.published_names, texts, strict=True)
                own = [ClassColumn.of(n, cells_of, number) for n, cells_of in pairs]
                made.update((one.name, one) for one in own)
                fields += [pa.field(one.name, one.kind) for one in own]
                continue
        elif column.role is Role.IDENTIFIER:
            if column.action is Action.DROP:
                continue
            identifiers[name] = column
        through.append(name)
        fields.append(pa.field(name, pa.string() if name in identifiers else blocks.schema.field(name).type))
    return Plan(pa.schema(fields), made, tuple(through), identifiers, key, cells.partition.classes)
