"""The integer view of a large table: every column in as few bytes a cell as its codes need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .encoding import Encoded, QuasiColumn, SensitiveColumn

_PART = 1 << 20  # records that are moved or counted at a time
Codes = NDArray[np.uint8] | NDArray[np.uint16] | NDArray[np.int32]


def narrowest(highest: int) -> type[np.uint8] | type[np.uint16] | type[np.int32]:
    """Return the smallest type that holds the codes of a column up to the highest one.

    Examples
    --------
    >>> narrowest(255).__name__, narrowest(256).__name__, narrowest(70_000).__name__
    ('uint8', 'uint16', 'int32')
    """
    return np.uint8 if highest < 1 << 8 else np.uint16 if highest < 1 << 16 else np.int32


class PackedEncoded(Encoded):
    """An integer view that holds its columns one by one, each in 1, 2 or 4 bytes a cell.

    What reads column by column (`column`, `sensitive_column`) needs 4 bytes a record beside it. `codes` and
    `sensitive_codes` are made anew whenever they are asked for, and take 4 bytes for every cell.

    Attributes
    ----------
    columns, sensitive_columns : tuple of uint8[n], uint16[n] or int32[n]
    quasi, sensitive
        As in `Encoded`.

    Examples
    --------
    >>> import shoal
    >>> encoded = shoal.encode({"age": [40, None, 20]}, shoal.Policy(quasi=["age"]))
    >>> packed = PackedEncoded.of(encoded)
    >>> packed.columns[0].dtype.name, packed.column(0).dtype.name, packed.codes.T.tolist()
    ('uint8', 'int32', [[1, 2, 0]])
    """

    __slots__ = ("columns", "sensitive_columns")

    columns: tuple[Codes, ...]
    sensitive_columns: tuple[Codes, ...]

    def __init__(
        self,
        columns: tuple[Codes, ...],
        quasi: tuple[QuasiColumn, ...],
        sensitive_columns: tuple[Codes, ...],
        sensitive: tuple[SensitiveColumn, ...],
    ) -> None:
        for name, value in (
            ("columns", columns),
            ("quasi", quasi),
            ("sensitive_columns", sensitive_columns),
            ("sensitive", sensitive),
        ):
            object.__setattr__(self, name, value)

    @classmethod
    def of(cls, encoded: Encoded) -> PackedEncoded:
        """Return a view in as few bytes as it needs."""
        columns = [pack(encoded.column(j), c.size) for j, c in enumerate(encoded.quasi)]
        sensitive = [pack(encoded.sensitive_column(j), c.size) for j, c in enumerate(encoded.sensitive)]
        return cls(tuple(columns), encoded.quasi, tuple(sensitive), encoded.sensitive)

    @property
    def codes(self) -> NDArray[np.int32]:
        """The codes of all quasi-identifiers as `Encoded` has them, made anew."""
        return _table(self.columns, self.records)

    @property
    def sensitive_codes(self) -> NDArray[np.int32]:
        """The codes of all sensitive columns as `Encoded` has them, made anew."""
        return _table(self.sensitive_columns, self.records)

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.columns[0])

    @property
    def nbytes(self) -> int:
        """Number of bytes of all codes."""
        return sum(codes.nbytes for codes in (*self.columns, *self.sensitive_columns))

    def stored(self, j: int) -> Codes:
        """Return the codes of one quasi-identifier as they are held."""
        return self.columns[j]

    def column(self, j: int) -> NDArray[np.int32]:
        """Return the codes of one quasi-identifier."""
        return self.columns[j].astype(np.int32, copy=False)

    def sensitive_column(self, j: int) -> NDArray[np.int32]:
        """Return the codes of one sensitive column."""
        return self.sensitive_columns[j].astype(np.int32, copy=False)

    def take(self, records: NDArray[np.integer]) -> Encoded:
        """Return some records under the same dictionaries, 4 bytes a cell."""
        columns, sensitive = ([c[records] for c in held] for held in (self.columns, self.sensitive_columns))
        m = len(records)
        return Encoded(_table(columns, m), self.quasi, _table(sensitive, m), self.sensitive)

    def reorder(self, order: NDArray[np.integer]) -> None:
        """Put the records into another order, a column at a time."""
        for codes in (*self.columns, *self.sensitive_columns):
            moved = np.empty_like(codes)
            for begin in range(0, len(order), _PART):
                moved[begin : begin + _PART] = codes[order[begin : begin + _PART]]
            codes[:] = moved

    def recoded(self, quasi: tuple[QuasiColumn, ...], codes: Mapping[int, NDArray[np.int32]]) -> Encoded:
        """Return the view with other dictionaries, and other codes of some quasi-identifiers."""
        columns = list(self.columns)
        for j, own in codes.items():
            columns[j] = pack(own, quasi[j].size)
        return PackedEncoded(tuple(columns), quasi, self.sensitive_columns, self.sensitive)

    def whole(self) -> Encoded:
        """Return the view as one table of 4 bytes a cell."""
        return Encoded(self.codes, self.quasi, self.sensitive_codes, self.sensitive)


def pack(codes: NDArray[np.int32], highest: int) -> Codes:
    """Return codes in the smallest type that holds the highest one."""
    return cast("Codes", codes.astype(narrowest(highest)))


def count_codes(codes: NDArray[Any], size: int) -> NDArray[np.int64]:
    """Return how many records have each of `size` codes; counting all at once would take 8 bytes a record.

    Examples
    --------
    >>> count_codes(np.array([2, 0, 2], dtype=np.uint8), 4).tolist()
    [1, 0, 2, 0]
    """
    found = np.zeros(size, dtype=np.int64)
    for begin in range(0, len(codes), _PART):
        found += np.bincount(codes[begin : begin + _PART], minlength=size)
    return found


def _table(columns: tuple[Codes, ...] | list[Codes], records: int) -> NDArray[np.int32]:
    table = np.empty((records, len(columns)), dtype=np.int32, order="F")
    for j, codes in enumerate(columns):
        table[:, j] = codes
    return table
