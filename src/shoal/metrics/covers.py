"""Covers: the different cells of each quasi-identifier, and which of them every class publishes.

Most classes publish what other classes publish too, column by column: a million classes may hold a few
thousand intervals of age. What depends on the cell alone (its text, its loss, the values it stands for) is
made once for each of them, and weighted with its records.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..encoding import Encoded, QuasiColumn
from ..partitions import Partition
from .cells import Cells, ClassValues, class_values
from .hulls import WORTH_THREADS, Hulls

_WORD = 64  # columns of at most so many codes, null included: the set of a class fits into the bits of a word
_SOME = 1 << 16  # words that are taken apart at a time


@dataclass(frozen=True, slots=True, eq=False)
class Cover:
    """What classes hold of one quasi-identifier.

    Attributes
    ----------
    hulls : Hulls
        Of this column alone: one row for each different cell, `sizes` being the records of its classes. Of
        nulls it tells only whether there are any.
    number : int32[g]
        The cell of each class.
    listed : ClassValues or None
        The values of each cell, where the column publishes value sets.
    """

    hulls: Hulls
    number: NDArray[np.int32]
    listed: ClassValues | None

    @classmethod
    def of(cls, encoded: Encoded, partition: Partition, j: int) -> Cover:
        """Return the cover of column `j`.

        Examples
        --------
        >>> import numpy as np, shoal
        >>> encoded = shoal.encode({"age": [20, 30, 40, 30, 20]}, shoal.Policy(quasi={"age": "numeric"}))
        >>> cover = Cover.of(encoded, shoal.Partition.from_labels(np.array([0, 0, 1, 2, 2])), 0)
        >>> cover.number.tolist(), cover.hulls.sizes.tolist(), cover.loss().tolist()
        ([0, 1, 0], [4, 1], [0.5, 0.0])
        """
        column = encoded.quasi[j]
        is_set = column.tree is None and column.positions is None
        if not is_set:
            return cls._of_extremes(encoded, partition, j)
        if column.size < _WORD:
            return cls._of_words(encoded, partition, j)
        whole = _column_hulls(encoded, partition, j)
        values = class_values(encoded.column(j), column.size + 1, partition)
        return cls(whole, np.arange(partition.classes, dtype=np.int32), values)

    @classmethod
    def _of_extremes(cls, encoded: Encoded, partition: Partition, j: int) -> Cover:
        """Return the cover of a column whose cells follow from their ends, and from whether there is null."""
        whole = _column_hulls(encoded, partition, j)
        keys = whole.low[:, 0].astype(np.int64)
        keys *= encoded.quasi[j].size + 1
        keys += whole.high[:, 0]
        keys *= 2
        keys += whole.nulls[:, 0] > 0
        number, keys = _numbered(keys)
        ends, null = np.divmod(keys, 2)
        low, high = (end.astype(np.int32) for end in np.divmod(ends, encoded.quasi[j].size + 1))
        distinct = np.where(low == encoded.quasi[j].size, 0, np.where(low == high, 1, 2))
        sizes = _records(number, partition, len(keys))
        planes = (low, high, distinct.astype(np.int32), null.astype(np.int32))
        return cls(_one_column(whole.quasi[0], sizes, planes, partition.level(j)), number, None)

    @classmethod
    def _of_words(cls, encoded: Encoded, partition: Partition, j: int) -> Cover:
        """Return the cover of a column of sets whose values are few enough to be the bits of a word."""
        from ..kernels.hulls import class_words

        column = encoded.quasi[j]
        by_class = class_words(encoded.column(j), partition.order, partition.offsets)
        number, words = _numbered(by_class.view(np.int64))
        cells, values = _bits(words)
        held = values < column.size
        distinct = np.bincount(cells[held], minlength=len(words)).astype(np.int32)
        starts = np.flatnonzero(np.diff(cells, prepend=-1))
        low = values[starts].astype(np.int32)
        last = np.append(starts, len(values))[1:] - 1
        null = values[last] == column.size
        high = np.where(distinct > 0, values[last - (null & (distinct > 0))], column.size).astype(np.int32)
        sizes = _records(number, partition, len(words))
        hulls = _one_column(column, sizes, (low, high, distinct, null.astype(np.int32)), partition.level(j))
        return cls(hulls, number, ClassValues(cells, values, np.ones(len(cells), dtype=np.int64)))

    @property
    def column(self) -> QuasiColumn:
        """The quasi-identifier."""
        return self.hulls.quasi[0]

    def loss(self, *, heights: bool = False) -> NDArray[np.float64]:
        """Return, per cell, what a record loses, as `Hulls.loss`."""
        return self.hulls.loss(heights=heights)[:, 0]

    def nothing_told(self) -> NDArray[np.bool_]:
        """Return, per cell, whether it says nothing."""
        return self.hulls.nothing_told(0)

    def cells(self) -> Cells:
        """Return the sets of values that the cells may stand for."""
        return Cells.of(self.hulls, 0, self.listed)


@dataclass(frozen=True, slots=True, eq=False)
class Covers:
    """The covers of all columns of a partition, each made when it is first asked for."""

    encoded: Encoded
    partition: Partition
    _made: dict[int, Cover] = field(default_factory=dict)

    def __getitem__(self, j: int) -> Cover:
        self.make(j)
        return self._made[j]

    def make(self, j: int) -> None:
        """Make the cover of column `j`, unless it is made already."""
        if j not in self._made:
            self._made[j] = Cover.of(self.encoded, self.partition, j)

    def recoded(self, encoded: Encoded) -> Covers:
        """Return the covers under other dictionaries of some columns; those of the others stay."""
        pairs = enumerate(zip(self.encoded.quasi, encoded.quasi, strict=True))
        same = [j for j, (old, new) in pairs if old is new]
        return Covers(encoded, self.partition, {j: self._made[j] for j in same if j in self._made})


def _column_hulls(encoded: Encoded, partition: Partition, j: int) -> Hulls:
    """Return the hulls of all classes in one column."""
    codes = encoded.column(j)
    planes = tuple(plane[:, 0] for plane in class_planes(codes, encoded.quasi[j].size, partition))
    return _one_column(encoded.quasi[j], partition.sizes, planes, partition.level(j))


def _one_column(
    column: QuasiColumn, sizes: NDArray[np.int64], planes: tuple[NDArray[np.int32], ...], level: int
) -> Hulls:
    low, high, distinct, nulls = (plane[:, None] for plane in planes)
    return Hulls((column,), sizes, low, high, distinct, nulls, (level,))


def class_planes(codes: NDArray[np.int32], size: int, partition: Partition) -> NDArray[np.int32]:
    """Return int32[4, g, 1]: least and greatest code, different ones and nulls of every class."""
    from ..kernels.hulls import class_hulls, class_hulls_parallel

    kernel = class_hulls_parallel if len(codes) >= WORTH_THREADS else class_hulls
    sizes = np.array([size], dtype=np.int32)
    return kernel(np.ascontiguousarray(codes)[None, :], sizes, partition.order, partition.offsets)


def _numbered(keys: NDArray[np.int64]) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return (number of each key, different keys) in order of first appearance."""
    encoded = pa.array(keys).dictionary_encode()
    return encoded.indices.to_numpy().copy(), encoded.dictionary.to_numpy()  # builders take too much room


def _records(number: NDArray[np.int32], partition: Partition, cells: int) -> NDArray[np.int64]:
    """Return how many records have each cell."""
    return np.bincount(number, weights=partition.sizes, minlength=cells).astype(np.int64)


def _bits(words: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (word, bit) of every bit that is set, sorted."""
    found = [(np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64))]
    for begin in range(0, len(words), _SOME):
        part = words[begin : begin + _SOME].astype("<i8").view(np.uint8).reshape(-1, 8)
        word, bit = np.nonzero(np.unpackbits(part, axis=1, bitorder="little"))
        found.append((word + begin, bit))
    word, bit = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return word, bit
