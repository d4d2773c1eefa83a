"""How values of a column are read: as text for matching labels, as numbers for grouping by size."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import HierarchyError
from .levels import TEXT

_NUMBER = r"^\s*[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?\s*$"


def plain(values: Any) -> pa.Array:
    """Return values (a list or any Arrow array) as one Arrow array without dictionary encoding."""
    if not isinstance(values, pa.Array | pa.ChunkedArray):
        values = pa.array(values)
    if isinstance(values, pa.ChunkedArray):
        values = values.combine_chunks()
    if isinstance(values, pa.ChunkedArray):  # what is still chunked after combining has no chunk at all
        values = pa.concat_arrays(values.chunks) if values.num_chunks else pa.nulls(0, values.type)
    return values.dictionary_decode() if pa.types.is_dictionary(values.type) else values


def texts(values: pa.Array) -> pa.Array:
    """Return the text of each value: ``34`` for the number 34.0, ISO for dates, ``true`` for true.

    Examples
    --------
    >>> texts(pa.array([34.0, 0.5])).to_pylist()
    ['34', '0.5']
    """
    kind = values.type
    if pa.types.is_timestamp(kind):
        return _timestamp_texts(values)
    if pa.types.is_floating(kind):
        return _float_texts(values)
    if pa.types.is_decimal(kind):
        written = values.cast(TEXT)
        trimmed = pc.utf8_rtrim(pc.utf8_rtrim(written, characters="0"), characters=".")
        return pc.if_else(pc.match_substring(written, "."), trimmed, written)
    try:
        return values.cast(TEXT)
    except (pa.ArrowInvalid, pa.ArrowNotImplementedError):
        failed = str(kind)
    # Outside of the handler: Arrow's own error may quote a value and would stay attached.
    raise HierarchyError(
        f"values of type {failed} cannot be read as text", hint="Convert the column to texts or numbers."
    )


def _float_texts(values: pa.Array) -> pa.Array:
    numbers = values.cast(pa.float64()).to_numpy(zero_copy_only=False)
    whole = (np.floor(numbers) == numbers) & (np.abs(numbers) < 2.0**63)
    digits = pa.array(np.where(whole, numbers, 0.0).astype(np.int64)).cast(TEXT)
    return pc.if_else(pa.array(whole), digits, values.cast(TEXT))


def _timestamp_texts(values: pa.Array) -> pa.Array:
    local = pc.local_timestamp(values) if values.type.tz else values
    ticks = local.cast(pa.int64()).to_numpy(zero_copy_only=False)
    second = {"s": 1, "ms": 10**3, "us": 10**6, "ns": 10**9}[values.type.unit]
    if not (ticks % (86_400 * second)).any():
        return local.cast(pa.date32()).cast(TEXT)
    if not (ticks % second).any():
        local = local.cast(pa.timestamp("s"))
    return local.cast(TEXT)


def spellings(values: pa.Array) -> list[pa.Array]:
    """Return the texts by which a label may name each value, the likeliest first."""
    text = texts(values)
    kind = values.type
    if pa.types.is_boolean(kind):
        return [text, pc.utf8_capitalize(text), pc.utf8_upper(text)]
    if is_number(kind):
        whole = pc.match_substring_regex(text, r"^-?\d+$")
        with_point = pc.binary_join_element_wise(text, pa.scalar(".0", TEXT), pa.scalar("", TEXT))
        return [text, pc.if_else(whole, with_point, text)]
    if pa.types.is_timestamp(kind):
        midnight = pc.replace_substring_regex(text, r" 00:00:00$", "")
        at_midnight = pc.replace_substring_regex(text, r"^(\d{4}-\d{2}-\d{2})$", r"\1 00:00:00")
        forms = [text, midnight, at_midnight]
        return [*forms, *(pc.replace_substring(form, " ", "T") for form in forms)]
    return [text]


def find(values: pa.Array, labels: pa.Array) -> NDArray[np.int64]:
    """Return the index of the label that names each value; -1 where none does."""
    found = np.full(len(values), -1, dtype=np.int64)
    for spelling in spellings(values):
        missing = np.flatnonzero(found < 0)
        if len(missing) == 0:
            break
        index = pc.index_in(spelling.take(pa.array(missing)), value_set=labels).fill_null(-1)
        found[missing] = index.to_numpy(zero_copy_only=False)
    return found


def numbers(values: pa.Array) -> tuple[NDArray[np.int64] | NDArray[np.float64], NDArray[np.bool_]]:
    """Return (numbers, known): int64 where the type allows, else float64; what is no number is not known.

    Texts that are written numbers count as numbers.
    """
    kind = values.type
    if pa.types.is_integer(kind):
        if kind != pa.uint64() or len(values) == 0 or pc.max(values).as_py() < 2**63:
            whole = values.cast(pa.int64()).to_numpy(zero_copy_only=False)
            return whole, np.ones(len(values), dtype=bool)
        found = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    elif pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        found = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    elif is_text(kind):
        written = pc.match_substring_regex(values.cast(TEXT), _NUMBER)
        text = pc.utf8_trim_whitespace(pc.if_else(written, values.cast(TEXT), pa.scalar("nan", TEXT)))
        text = pc.utf8_ltrim(text, characters="+")  # Arrow reads no plus sign
        found = text.cast(pa.float64()).to_numpy(zero_copy_only=False)
    else:
        found = np.full(len(values), np.nan)
    return found, np.isfinite(found)


def is_text(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of its string types."""
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_string_view(kind))


def is_number(kind: pa.DataType) -> bool:
    """Return whether an Arrow type is one of its numeric types."""
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def plain_number(number: Any) -> float:
    """Return a number as a plain int where it is whole, else as a float."""
    return int(number) if float(number).is_integer() else float(number)
