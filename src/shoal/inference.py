"""What kind a column is of, judged from its type and values, when the policy does not say."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from .schema import Column, Kind, Role
from .sets import SEPARATOR, is_list


def without_nan(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column with NaN turned into null: there is one kind of missing value.

    Examples
    --------
    >>> import pyarrow as pa
    >>> without_nan(pa.chunked_array([[1.5, float("nan")]])).to_pylist()
    [1.5, None]
    """
    if pa.types.is_floating(column.type) and pc.any(pc.is_nan(column)).as_py():
        return pc.if_else(pc.is_nan(column), pa.scalar(None, column.type), column)
    return column


def infer_kind(column: pa.ChunkedArray) -> Kind:
    """Return the kind of a column by its Arrow type.

    Examples
    --------
    >>> import pyarrow as pa
    >>> str(infer_kind(pa.chunked_array([[1, 2]]))), str(infer_kind(pa.chunked_array([["a"]])))
    ('numeric', 'categorical')
    """
    kind = column.type
    if pa.types.is_dictionary(kind):
        return Kind.ORDINAL if kind.ordered else Kind.CATEGORICAL
    if pa.types.is_integer(kind) or pa.types.is_floating(kind) or pa.types.is_decimal(kind):
        return Kind.NUMERIC
    if pa.types.is_date(kind) or pa.types.is_timestamp(kind):
        return Kind.DATE
    return Kind.CATEGORICAL


def complete(column: Column, data: pa.Table) -> Column:
    """Return a column of a policy with its kind and order filled in from the table."""
    return complete_from(column, data.column(column.name))


def complete_from(column: Column, values: pa.ChunkedArray) -> Column:
    """Return a column of a policy with its kind and order filled in from its values.

    Examples
    --------
    >>> import pyarrow as pa
    >>> stage = complete_from(Column("stage", kind=Kind.ORDINAL), pa.chunked_array([[2.0, 1.0, None]]))
    >>> stage.order
    ('1.0', '2.0')
    >>> complete_from(Column("stage", order=("2", "1")), pa.chunked_array([[2.0, 1.0, None]])).order
    ('2.0', '1.0')
    """
    loose = column.kind in (None, Kind.CATEGORICAL) and column.role is Role.QUASI
    if column.separator is None and loose and column.hierarchy is None and is_list(values.type):
        column = replace(column, separator=SEPARATOR)
    if column.separator is not None:
        return replace(column, kind=Kind.CATEGORICAL)
    kind = column.kind or (Kind.ORDINAL if column.order is not None else infer_kind(values))
    order = column.order
    if kind is Kind.ORDINAL:
        distinct = _in_order(values)
        order = tuple(map(str, distinct.to_pylist())) if order is None else spelled(order, distinct)
    return replace(column, kind=kind, order=order)


def spelled(order: Iterable[object], values: pa.Array) -> tuple[str, ...]:
    """Return an order in the spelling of the values' own texts: 1 as 1.0 among floats, true as True.

    An entry that is none of the values stays as it is: the order may know more than the table holds.
    """
    if pa.types.is_string(values.type) or pa.types.is_large_string(values.type):
        return tuple(map(str, order))
    known = {_loosely(value): str(value) for value in values.to_pylist()}
    return tuple(known.get(_loosely(entry), str(entry)) for entry in order)


def _loosely(value: object) -> str:
    return str(value).lower().removesuffix(".0")


def _in_order(values: pa.ChunkedArray) -> pa.Array:
    """Return the distinct values of an ordinal column: in its categories' order, or ascending without one."""
    if not pa.types.is_dictionary(values.type):
        found = pc.unique(without_nan(values)).drop_null()
        return found.take(pc.sort_indices(found))
    categories = dict.fromkeys(value for chunk in values.chunks for value in chunk.dictionary.to_pylist())
    categories.pop(None, None)
    return pa.array(list(categories), values.type.value_type)
