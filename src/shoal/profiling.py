"""Profiles: what every column of a table looks like, in counts, for whoever has to give it a role."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .inference import infer_kind, without_nan
from .schema import Kind

_BARS = 24


@dataclass(frozen=True, slots=True)
class ColumnProfile:
    """What one column looks like. Holds no cell values.

    Attributes
    ----------
    name : str
    type_name : str
        Its Arrow type.
    records, nulls, distinct : int
    unique : int
        Records whose value no other record has.
    bars : tuple of int
        For numbers and dates: records in intervals of equal width over the range. Else: records of each of
        the most frequent values, most first, and at the end those of all others, if there are any.
    ordered : bool
        Whether the bars are such intervals.
    rest : int
        Records in the last bar that stand for all other values; 0 where every value has a bar.

    Examples
    --------
    >>> profile(pa.table({"age": [20, 30, 40, 40]}))[0].unique
    2
    """

    name: str
    type_name: str
    records: int
    nulls: int
    distinct: int
    unique: int
    bars: tuple[int, ...]
    ordered: bool
    rest: int


def profile(table: pa.Table) -> tuple[ColumnProfile, ...]:
    """Return the profile of every column of a table."""
    return tuple(_profile(name, without_nan(table.column(name))) for name in table.column_names)


def _profile(name: str, values: pa.ChunkedArray) -> ColumnProfile:
    present = values.drop_null()
    try:
        counts = pc.value_counts(present).field("counts").to_numpy() if len(present) else np.zeros(0, int)
    except pa.ArrowNotImplementedError:  # nested cells cannot be counted, nor be anything but "other"
        counts = np.zeros(0, int)
    ordered = infer_kind(values) in (Kind.NUMERIC, Kind.DATE)
    bars, rest = (_intervals(present), 0) if ordered else _most_frequent(counts)
    return ColumnProfile(
        name=name,
        type_name="categories" if pa.types.is_dictionary(values.type) else str(values.type),
        records=len(values),
        nulls=values.null_count,
        distinct=len(counts),
        unique=int((counts == 1).sum()),
        bars=tuple(int(bar) for bar in bars),
        ordered=ordered,
        rest=rest,
    )


def _intervals(present: pa.ChunkedArray) -> list[int]:
    if not len(present):
        return []
    kind = present.type
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        present = present.cast(pa.int32() if pa.types.is_date32(kind) else pa.int64())
    numbers = present.cast(pa.float64(), safe=False).to_numpy()
    numbers = numbers[np.isfinite(numbers)]
    if not len(numbers):
        return []
    distinct = len(np.unique(numbers[:100_000]))
    return [int(n) for n in np.histogram(numbers, bins=min(_BARS, max(distinct, 1)))[0]]


def _most_frequent(counts: np.ndarray[tuple[int], np.dtype[np.int64]]) -> tuple[list[int], int]:
    ranked = np.sort(counts)[::-1]
    if len(ranked) <= _BARS:
        return [int(n) for n in ranked], 0
    rest = int(ranked[_BARS - 1 :].sum())
    return [*(int(n) for n in ranked[: _BARS - 1]), rest], rest
