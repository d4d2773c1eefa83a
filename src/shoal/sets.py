"""Cells that hold several values at once: sets, such as the employers of a person.

A set is written as its items in order with the column's separator between them, each once: ``lab|shop``. To
whom it is one value it is that text; to whom it is several, `items` takes it apart.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .errors import DataError
from .schema import Column, Kind

SEPARATOR = "|"


def is_list(kind: pa.DataType) -> bool:
    """Return whether a column of this type holds lists of plain values."""
    lists = pa.types.is_list(kind) or pa.types.is_large_list(kind) or pa.types.is_fixed_size_list(kind)
    return bool(lists and not pa.types.is_nested(kind.value_type))


def as_text(items: Iterable[Any], separator: str) -> str:
    """Return a set as its text: items as texts, blanks around them and empty ones left out, in order.

    Examples
    --------
    >>> as_text(["shop", "lab ", "shop", ""], "|")
    'lab|shop'
    """
    texts = {str(item).strip() for item in items if item is not None}
    return separator.join(sorted(texts - {""}))


def canonical(texts: pa.Array, separator: str) -> pa.Array:
    """Return texts of sets with the same text for the same set; null stays null.

    Examples
    --------
    >>> canonical(pa.array(["b|a", "a|b|a", "", None]), "|").to_pylist()
    ['a|b', 'a|b', '', None]
    """
    made = [None if text is None else as_text(text.split(separator), separator) for text in texts.to_pylist()]
    return pa.array(made, pa.string())


def texts_of_lists(column: pa.ChunkedArray, separator: str, name: str) -> pa.ChunkedArray:
    """Return a column of lists as texts of sets.

    Raises
    ------
    DataError
        When an item holds the separator.
    """
    made = []
    for items in column.to_pylist():
        if items is not None and any(separator in str(item) for item in items if item is not None):
            raise DataError(
                f"items of the lists in column {name!r} hold {separator!r}, which is to stand between items",
                hint="Give the column another separator: shoal.Column(..., separator=';').",
            )
        made.append(None if items is None else as_text(items, separator))
    return pa.chunked_array([pa.array(made, pa.string())])


def with_texts(data: pa.Table, columns: Iterable[Column]) -> pa.Table:
    """Return the table in which lists in columns of sets have become texts; a column of texts stays.

    A quasi-identifier that holds lists, and of which nothing else is said, is a column of sets.

    Examples
    --------
    >>> column = Column("jobs", kind="set")
    >>> with_texts(pa.table({"jobs": [["lab", "bar"], None]}), [column])["jobs"].to_pylist()
    ['bar|lab', None]
    """
    for column in columns:
        if column.name not in data.column_names or not is_list(data.column(column.name).type):
            continue
        if column.separator is not None or (column.kind in (None, Kind.CATEGORICAL) and not column.hierarchy):
            made = texts_of_lists(data.column(column.name), column.separator or SEPARATOR, column.name)
            data = data.set_column(data.column_names.index(column.name), column.name, made)
    return data


@dataclass(frozen=True, slots=True, eq=False)
class Items:
    """The items of the distinct sets of a column.

    Attributes
    ----------
    names : tuple of str
        All items, in order.
    offsets : int64[sets + 1]
        Set c has the items ``item[offsets[c]:offsets[c + 1]]``.
    item : int32[entries]
        Ascending within a set.
    """

    names: tuple[str, ...]
    offsets: NDArray[np.int64]
    item: NDArray[np.int32]

    @classmethod
    def of(cls, values: pa.Array, separator: str) -> Items:
        """Return the items of canonical texts.

        Examples
        --------
        >>> found = Items.of(pa.array(["a|b", "", "b"]), "|")
        >>> found.names, found.offsets.tolist(), found.item.tolist()
        (('a', 'b'), [0, 2, 2, 3], [0, 1, 1])
        """
        sets = [text.split(separator) if text else [] for text in values.to_pylist()]
        names = sorted({item for items in sets for item in items})
        place = {name: at for at, name in enumerate(names)}
        flat = [sorted(place[item] for item in items) for items in sets]
        offsets = np.concatenate([[0], np.cumsum([len(items) for items in flat])]).astype(np.int64)
        return cls(tuple(names), offsets, np.array([at for items in flat for at in items], dtype=np.int32))

    @property
    def lengths(self) -> NDArray[np.int64]:
        """Number of items of each set."""
        return np.diff(self.offsets)

    def incidence(self) -> NDArray[np.int64]:
        """Return int64[sets, items]: whether a set has an item."""
        made = np.zeros((len(self.offsets) - 1, len(self.names)), dtype=np.int64)
        made[np.repeat(np.arange(len(made)), self.lengths), self.item] = 1
        return made

    def entries(self, codes: NDArray[np.int32]) -> tuple[NDArray[np.int64], NDArray[np.int32]]:
        """Return (record, item) for every item of every record; codes beyond the last set have none."""
        lengths = np.append(self.lengths, 0)[np.minimum(codes, len(self.lengths))]
        record = np.repeat(np.arange(len(codes)), lengths)
        within = np.arange(len(record)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        return record, self.item[np.append(self.offsets[:-1], 0)[codes[record]] + within]
