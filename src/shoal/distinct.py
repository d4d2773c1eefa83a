"""The distinct values of a column, in the type its kind asks for, and which of them every record has."""

from __future__ import annotations

import contextlib

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .errors import DataError
from .schema import Column, Kind
from .sets import canonical, is_list, texts_of_lists

_NUMBER = r"^[+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?$"
_WHOLE = r"^-?[0-9]+$"


def distinct(column: pa.ChunkedArray, spec: Column) -> tuple[NDArray[np.int32], pa.Array]:
    """Return (indices, values): each record's place among the distinct values, -1 for null.

    The values are in no particular order, all different, none null, and all of them occur.

    Raises
    ------
    DataError
        When the values are not of the column's kind, or of a type that cannot be compared at all.
    """
    if spec.separator is not None and is_list(column.type):
        column = texts_of_lists(column, spec.separator, spec.name)
    encoded = _encoded(column, spec)
    indices = encoded.indices.fill_null(-1).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    values = _as_kind(encoded.dictionary, spec)
    if values is encoded.dictionary and not values.null_count and not pa.types.is_dictionary(column.type):
        return indices, values
    # Values may have become equal or null, or not occur: number them once more.
    merged = values.dictionary_encode()
    place = np.append(merged.indices.fill_null(-1).to_numpy(zero_copy_only=False), -1).astype(np.int32)
    indices = place[indices]
    values = merged.dictionary.drop_null()
    used = np.zeros(len(values) + 1, dtype=bool)
    used[indices] = True
    used = used[: len(values)]
    if used.all():
        return indices, values
    renumbered = np.append(np.cumsum(used, dtype=np.int32) - 1, -1).astype(np.int32)
    return renumbered[indices], values.filter(pa.array(used))


def _encoded(column: pa.ChunkedArray, spec: Column) -> pa.DictionaryArray:
    """Return a column as one dictionary array; its dictionary may still hold nulls and repetitions."""
    kind = column.type
    if not len(column):
        nothing = pa.array([], kind.value_type if pa.types.is_dictionary(kind) else kind)
        return pa.DictionaryArray.from_arrays(pa.array([], pa.int32()), nothing)
    if pa.types.is_dictionary(kind):
        with contextlib.suppress(pa.ArrowException):  # dictionaries with nulls cannot be unified
            return column.unify_dictionaries().combine_chunks()
        column = column.cast(kind.value_type)
    elif kind == pa.string_view():
        column = column.cast(pa.large_string())
    if pa.types.is_nested(kind) or pa.types.is_binary(kind) or pa.types.is_large_binary(kind):
        raise DataError(
            f"column {spec.name!r} holds values that cannot be generalised ({kind})",
            hint="Turn them into texts or numbers, or leave the column out of the policy.",
        )
    return column.dictionary_encode().combine_chunks()


def _as_kind(values: pa.Array, spec: Column) -> pa.Array:
    """Return values in the type their kind asks for; the very same array when nothing changes."""
    if spec.separator is not None:
        return canonical(values.cast(pa.string()), spec.separator)
    if spec.kind is Kind.NUMERIC and not _is_number(values.type):
        values = _numbers(values, spec)
    elif spec.kind is Kind.DATE and not (pa.types.is_date(values.type) or pa.types.is_timestamp(values.type)):
        values = _dates(values, spec)
    if not pa.types.is_floating(values.type):
        return values
    floats = values.to_numpy(zero_copy_only=False)
    if not (np.isnan(floats) | ((floats == 0) & np.signbit(floats))).any():
        return values
    return pa.array(floats + 0.0, values.type, from_pandas=True)  # -0.0 + 0.0 is 0.0


def _is_number(kind: pa.DataType) -> bool:
    return bool(pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind))


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind))


def _numbers(values: pa.Array, spec: Column) -> pa.Array:
    if pa.types.is_boolean(values.type) or pa.types.is_null(values.type):
        return values.cast(pa.int64())
    if not _is_text(values.type):
        raise _wrong_kind(spec, len(values), "Set its kind to 'date' or 'categorical'.")
    texts = _trimmed(values)
    wrong = pc.sum(pc.invert(pc.match_substring_regex(texts, _NUMBER))).as_py() or 0
    if wrong:
        raise _wrong_kind(
            spec, wrong, "Write decimals with a point, clean the column, or set its kind to 'categorical'."
        )
    if pc.all(pc.match_substring_regex(texts, _WHOLE)).as_py():
        with contextlib.suppress(pa.ArrowException):  # more digits than 64 bits hold
            return texts.cast(pa.int64())
    return texts.cast(pa.float64())


def _dates(values: pa.Array, spec: Column) -> pa.Array:
    if pa.types.is_null(values.type):
        return values.cast(pa.date32())
    if not _is_text(values.type):
        raise _wrong_kind(spec, len(values), "Set its kind to 'numeric' or 'categorical'.")
    texts = _trimmed(values)
    for kind in (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")):
        with contextlib.suppress(pa.ArrowException):
            return texts.cast(kind)
    wrong = sum(not _is_moment(text) for text in texts)
    raise _wrong_kind(
        spec,
        wrong,
        "Write dates as 2024-02-29, all with a time zone or none, or set its kind to 'categorical'.",
    )


def _trimmed(values: pa.Array) -> pa.Array:
    """Return texts without blanks around them; nothing but blanks is null."""
    texts = pc.utf8_trim_whitespace(values)
    return pc.if_else(pc.equal(texts, ""), pa.scalar(None, texts.type), texts)


def _is_moment(text: pa.Scalar) -> bool:
    with contextlib.suppress(pa.ArrowException):
        text.cast(pa.timestamp("us"))
        return True
    return False


def _wrong_kind(spec: Column, count: int, hint: str) -> DataError:
    values = "1 distinct value" if count == 1 else f"{count} distinct values"
    return DataError(
        f"column {spec.name!r} is said to be of kind {str(spec.kind)!r} but holds {values} that are not",
        hint=hint,
    )
