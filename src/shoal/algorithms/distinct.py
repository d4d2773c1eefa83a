"""Which records have the same quasi-identifiers: many tables have far fewer distinct rows than records."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded

_ROOM = 1 << 62


def distinct_rows(
    encoded: Encoded, more: Sequence[tuple[NDArray[np.int32], int]] = ()
) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (first, row): a record of every distinct quasi-identifier row, and the row of every record.

    `more` are further columns that rows may differ in: their codes, and how many there can be.
    """
    columns = [(encoded.column(j), column.size + 1) for j, column in enumerate(encoded.quasi)]
    key = np.zeros(encoded.records, dtype=np.int64)
    room = 1
    for codes, values in (*columns, *more):
        if room * values > _ROOM:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            room = encoded.records
        key *= values
        key += codes
        room *= values
    _, first, row = np.unique(key, return_index=True, return_inverse=True)
    return first.astype(np.int64), row.astype(np.int64)
