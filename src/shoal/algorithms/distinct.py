"""Which records have the same quasi-identifiers: many tables have far fewer distinct rows than records."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded

_ROOM = 1 << 62


def distinct_rows(encoded: Encoded) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return (first, row): a record of every distinct quasi-identifier row, and the row of every record."""
    key = np.zeros(encoded.records, dtype=np.int64)
    room = 1
    for j, column in enumerate(encoded.quasi):
        values = column.size + 1
        if room * values > _ROOM:
            key = np.unique(key, return_inverse=True)[1].astype(np.int64)
            room = encoded.records
        key *= values
        key += encoded.codes[:, j]
        room *= values
    _, first, row = np.unique(key, return_index=True, return_inverse=True)
    return first.astype(np.int64), row.astype(np.int64)
