"""What kind a column is of, judged from its type and values, when the policy does not say."""

from __future__ import annotations

from dataclasses import replace

import pyarrow as pa
import pyarrow.compute as pc

from .schema import Column, Kind


def without_nan(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the column with NaN turned into null: there is one kind of missing value."""
    if pa.types.is_floating(column.type):
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
    values = data.column(column.name)
    kind = column.kind or infer_kind(values)
    order = column.order
    if kind is Kind.ORDINAL and order is None:
        order = _category_order(values)
    return replace(column, kind=kind, order=order)


def _category_order(values: pa.ChunkedArray) -> tuple[str, ...]:
    """Return the order of an ordinal column: its categories', or ascending where it has none of its own."""
    if pa.types.is_dictionary(values.type):
        categories = values.unify_dictionaries().chunk(0).dictionary if values.num_chunks else pa.array([])
    else:
        categories = pc.unique(without_nan(values)).drop_null()
        categories = categories.take(pc.sort_indices(categories))
    return tuple(str(value) for value in categories.to_pylist())
