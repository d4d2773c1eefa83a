"""The one door for frames: in from any library as an Arrow table, out again as the kind that came in."""

from __future__ import annotations

import contextlib
import re
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Any, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .errors import DataError

_LARGEST_STRING_COLUMN = 2**31 - 1  # bytes that 32-bit offsets can address
_UNNAMED_INDEX = re.compile(r"__index_level_\d+__")
_NULL_TYPES = frozenset({"NoneType", "NaTType", "NAType"})
_NESTED = (list, dict, np.ndarray)
_UNLISTED = (str, bytes, Mapping, Set)  # they have items too, but not one per record, or in no order
_ACCEPTED = "a pandas or polars DataFrame, a pyarrow Table, or a dict of lists"


class Origin(Protocol):
    """Where a table came from; knows how to make the same kind of frame again."""

    def restore(self, data: pa.Table, rows: NDArray[np.integer] | None) -> Any:
        """Return `data` as that kind of frame; `rows` are the input's row numbers of its records."""


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Table:
    """A table as every stage reads it: an Arrow table of plain types, and the way back to the caller's frame.

    Column names are texts, all different. NaN, NaT and None are null. Texts are ``string`` (``large_string``
    above 2 GB), categories a dictionary whose ``ordered`` says whether their order means something. Nested
    columns stay as they are. An unnamed pandas index that travelled as a column is dropped: it numbers the
    records and would link them to their source.

    Attributes
    ----------
    data : pyarrow.Table
    origin : Origin

    Examples
    --------
    >>> table = Table.from_any({"age": [30, 41, None], "city": ["Lund", "Lund", "Ystad"]})
    >>> table
    Table(records=3, columns=['age', 'city'])
    >>> table.give_back(table.data.slice(0, 1), None)
    {'age': [30], 'city': ['Lund']}
    """

    data: pa.Table
    origin: Origin

    @classmethod
    def from_any(cls, obj: Any) -> Table:
        """Return the table held by a frame of any library.

        Parameters
        ----------
        obj : pandas.DataFrame, polars.DataFrame or LazyFrame, pyarrow.Table or RecordBatch, dict of lists
            Or anything else with ``__arrow_c_stream__``. A LazyFrame is collected.

        Raises
        ------
        DataError
            For anything else, for repeated column names, and for columns that no privacy model can treat.
        """
        if isinstance(obj, cls):
            return obj
        data, origin = _taken_in(obj)
        refuse_repeated(data.column_names)
        columns = {
            name: _normalised(name, data.column(name))
            for name in data.column_names
            if not _UNNAMED_INDEX.fullmatch(name)
        }
        return cls(pa.table(columns), origin)

    def give_back(self, data: pa.Table, rows: NDArray[np.integer] | None = None) -> Any:
        """Return a table as the kind of frame this one came from.

        Parameters
        ----------
        data : pyarrow.Table
            The table to return.
        rows : int[data.num_rows], optional
            The row number in the input of every record, so that a pandas index can follow its records.
            None when `data` has the input's records in the input's order; records that come from nowhere in
            particular (their number differs) get a fresh index.
        """
        return self.origin.restore(data, rows)

    def __repr__(self) -> str:
        return f"Table(records={self.data.num_rows}, columns={self.data.column_names})"


def _taken_in(obj: Any) -> tuple[pa.Table, Origin]:
    library = _library(obj)
    if library == "pandas" and hasattr(obj, "iloc") and hasattr(obj, "columns"):
        return _from_pandas(obj)
    if library == "polars" and (hasattr(obj, "collect") or hasattr(obj, "get_columns")):
        return _from_polars(obj)
    if isinstance(obj, pa.Table):
        return obj, _Arrow()
    if isinstance(obj, pa.RecordBatch):
        return pa.Table.from_batches([obj]), _ArrowBatch()
    if isinstance(obj, Mapping):
        return _from_mapping(obj), _Lists()
    single = hasattr(obj, "to_frame") or isinstance(obj, pa.ChunkedArray)
    if hasattr(obj, "__arrow_c_stream__") and not single:
        with contextlib.suppress(pa.ArrowException, TypeError, ValueError):
            return pa.table(obj), _Arrow()
    hint = f"Give {_ACCEPTED}."
    if hasattr(obj, "to_frame"):
        hint = "It is a single column: call .to_frame() on it first."
    elif isinstance(obj, str) or hasattr(obj, "__fspath__"):
        hint = "To read a file, call shoal.io.read(path) first."
    raise DataError(f"a {type(obj).__name__} is not a table", hint=hint)


def _library(obj: Any) -> str:
    """Return "pandas" or "polars" when the object is one of theirs, without importing either."""
    roots = [kind.__module__.partition(".")[0] for kind in type(obj).__mro__]
    return next((root for root in roots if root in ("pandas", "polars")), "")


def refuse_repeated(names: Iterable[str], label: str = "the table") -> None:
    """Raise when two columns have one name."""
    repeated = [name for name, count in Counter(names).items() if count > 1]
    if repeated:
        raise DataError(
            f"{label} has more than one column named " + ", ".join(repr(name) for name in repeated),
            hint="Rename them so that every column has a name of its own.",
        )


# --- Arrow ---


def _normalised(name: str, column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column in one of the plain types that the rest of shoal handles."""
    kind = column.type
    if pa.types.is_duration(kind) or pa.types.is_interval(kind):
        raise DataError(
            f"column {name!r} holds spans of time ({kind}), which have no published form",
            hint="Turn it into a number, such as days, or leave it out.",
        )
    with contextlib.suppress(pa.ArrowException):
        return _plain(column)
    raise DataError(
        f"column {name!r} has a type that cannot be handled ({kind})",
        hint="Convert it to numbers, texts or dates, or leave it out.",
    )


def _plain(column: pa.ChunkedArray) -> pa.ChunkedArray:
    kind = column.type
    if isinstance(kind, pa.BaseExtensionType):
        return _plain(pa.chunked_array([chunk.storage for chunk in column.chunks], kind.storage_type))
    if pa.types.is_run_end_encoded(kind):
        return _plain(
            pa.chunked_array([pc.run_end_decode(chunk) for chunk in column.chunks], kind.value_type)
        )
    if pa.types.is_dictionary(kind):
        return _plain_dictionary(column)
    target = _plain_type(kind, _size(column))
    column = column if target == kind else column.cast(target, safe=False)
    if pa.types.is_floating(target) and pc.any(pc.is_nan(column)).as_py():
        return pc.if_else(pc.is_nan(column), pa.scalar(None, target), column)
    return column


def _size(column: pa.ChunkedArray) -> int:
    """Return the bytes of a column; of views those of their buffers, which pyarrow before 24 cannot count."""
    if column.type in (pa.string_view(), pa.binary_view()):
        return int(column.get_total_buffer_size())
    return int(column.nbytes)


def _plain_type(kind: pa.DataType, size: int) -> pa.DataType:
    if pa.types.is_string(kind) or pa.types.is_large_string(kind) or kind == pa.string_view():
        return pa.string() if size < _LARGEST_STRING_COLUMN else pa.large_string()
    if kind == pa.binary_view():
        return pa.large_binary()
    if pa.types.is_float16(kind):
        return pa.float32()
    if pa.types.is_date64(kind):
        return pa.date32()
    if pa.types.is_decimal(kind) and kind.bit_width < 128:
        return pa.decimal128(kind.precision, kind.scale)
    return kind


def _plain_dictionary(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a dictionary column with one dictionary of plain, different, non-null values."""
    ordered = column.type.ordered
    chunks = []
    for chunk in column.chunks:
        values = _plain(pa.chunked_array([chunk.dictionary])).combine_chunks()
        distinct = values.dictionary_encode()  # merges repeated values; null and NaN become a null index
        indices = distinct.indices.take(chunk.indices.cast(pa.int64()))
        chunks.append(pa.DictionaryArray.from_arrays(indices, distinct.dictionary, ordered=ordered))
    empty_values = _plain(pa.chunked_array([], column.type.value_type)).type
    kind = pa.dictionary(pa.int32(), empty_values, ordered)
    return pa.chunked_array(chunks, kind if not chunks else chunks[0].type).unify_dictionaries()


@dataclass(frozen=True, slots=True)
class _Arrow:
    def restore(self, data: pa.Table, rows: NDArray[np.integer] | None) -> Any:
        return data


@dataclass(frozen=True, slots=True)
class _ArrowBatch:
    def restore(self, data: pa.Table, rows: NDArray[np.integer] | None) -> Any:
        batches = data.combine_chunks().to_batches()
        return batches[0] if batches else pa.RecordBatch.from_pylist([], schema=data.schema)


@dataclass(frozen=True, slots=True)
class _Lists:
    def restore(self, data: pa.Table, rows: NDArray[np.integer] | None) -> Any:
        return data.to_pydict()


def _from_mapping(columns: Mapping[Any, Any]) -> pa.Table:
    arrays = {}
    names = [str(name) for name in columns]
    refuse_repeated(names)
    for name, values in zip(names, columns.values(), strict=True):
        if isinstance(values, (pa.Array, pa.ChunkedArray)):
            arrays[name] = values
        elif isinstance(values, _UNLISTED) or not isinstance(values, Iterable):
            raise DataError(f"column {name!r} is not a list of values", hint="Give one list per column.")
        else:
            arrays[name] = _from_objects(name, list(values))
    if len({len(array) for array in arrays.values()}) > 1:
        raise DataError("the columns differ in length", hint="Give every column one value per record.")
    return pa.table(arrays)


# --- Python objects ---


def _from_objects(name: str, values: Sequence[Any]) -> pa.Array:
    """Return Python objects as an Arrow array: typed where they agree, else as the texts of categories."""
    kinds = {kind for kind in set(map(type, values)) if kind.__name__ not in _NULL_TYPES}
    if float in kinds and len(kinds) > 1 and not any(type(v) is float and v == v for v in values):
        kinds.discard(float)  # a NaN among texts is a null, not a number
    nested = any(issubclass(kind, _NESTED) for kind in kinds)
    if nested or _agree(kinds):
        with contextlib.suppress(pa.ArrowException, OverflowError, TypeError, ValueError):
            return pa.array(values, from_pandas=True)
    texts: dict[Any, str | None] = {}
    with contextlib.suppress(TypeError):  # unhashable
        for value in values:
            key = (type(value), value)
            if key not in texts:
                texts[key] = None if _is_null(value) else _text(value)
        return pa.array([texts[type(value), value] for value in values], pa.string())
    raise DataError(
        f"column {name!r} mixes values that cannot be compared, such as lists or sets",
        hint="Turn them into texts, tuples or frozensets, or leave the column out.",
    )


def _agree(kinds: set[type]) -> bool:
    """Return whether values of these types are one kind of value for Arrow, without any loss."""
    if any(issubclass(kind, (tuple, frozenset, set)) for kind in kinds):
        return False
    if len(kinds) <= 1:
        return True
    return all(issubclass(kind, (int, float, np.integer, np.floating)) and kind is not bool for kind in kinds)


def _is_null(value: Any) -> bool:
    if type(value).__name__ in _NULL_TYPES:
        return True
    return isinstance(value, (float, np.floating, Decimal)) and value != value


def _text(value: Any) -> str:
    """Return the text of a category; equal sets have equal texts whatever order they iterate in."""
    if isinstance(value, frozenset):
        return "{" + ", ".join(sorted(map(_text, value))) + "}"
    if isinstance(value, tuple):
        return "(" + ", ".join(map(_text, value)) + ")"
    return str(value)


# --- pandas ---


@dataclass(frozen=True, slots=True, repr=False)
class _Pandas:
    index: Any
    labels: dict[str, Hashable]
    types: dict[str, tuple[Any, pa.DataType]]  # column -> (its dtype, the Arrow type it became)

    def restore(self, data: pa.Table, rows: NDArray[np.integer] | None) -> Any:
        import pandas as pd

        series = {name: self._series(name, data.column(name)) for name in data.column_names}
        frame = pd.DataFrame(series) if series else pd.DataFrame(index=range(data.num_rows))
        frame.columns = pd.Index([self.labels.get(name, name) for name in data.column_names])
        if rows is not None:
            frame.index = self.index.take(rows)
        elif data.num_rows == len(self.index):
            frame.index = self.index
        return frame

    def _series(self, name: str, values: pa.ChunkedArray) -> Any:
        """Return a column with the dtype it came with, if it is still of that type."""
        import pandas as pd

        dtype, arrow_type = self.types.get(name, (None, None))
        if values.type == arrow_type and hasattr(dtype, "__from_arrow__"):
            return pd.Series(dtype.__from_arrow__(values))
        if pa.types.is_integer(values.type) and values.null_count:  # a float would not hold long numbers
            name = str(values.type).replace("uint", "UInt").replace("int", "Int")
            nullable: Any = pd.api.types.pandas_dtype(name)
            return pd.Series(nullable.__from_arrow__(values))
        return values.to_pandas()


def _from_pandas(frame: Any) -> tuple[pa.Table, Origin]:
    from pandas.api.types import is_string_dtype

    if frame.columns.nlevels > 1:
        raise DataError(
            "the table has columns of several levels",
            hint="Flatten them: df.columns = ['_'.join(map(str, c)) for c in df.columns].",
        )
    names = [str(label) for label in frame.columns]
    refuse_repeated(names)
    arrays: dict[str, Any] = {}
    types = {}
    for j, name in enumerate(names):
        series = frame.iloc[:, j]
        arrays[name] = _pandas_column(name, series)
        arrow_type = _normalised(name, _chunked(arrays[name])).type
        if not pa.types.is_string(arrow_type) or is_string_dtype(series.dtype):  # not a period made a text
            types[name] = (series.dtype, arrow_type)
    labels = dict(zip(names, frame.columns, strict=True))
    return pa.table(arrays), _Pandas(frame.index, labels, types)


def _chunked(array: pa.Array | pa.ChunkedArray) -> pa.ChunkedArray:
    return array if isinstance(array, pa.ChunkedArray) else pa.chunked_array([array])


def _pandas_column(name: str, series: Any) -> pa.Array | pa.ChunkedArray:
    if hasattr(series, "cat"):
        codes = series.cat.codes.to_numpy()
        categories = _combined(_pandas_column(name, series.cat.categories.to_series()))
        indices = pa.array(codes, mask=codes < 0)
        return pa.DictionaryArray.from_arrays(indices, categories, ordered=bool(series.cat.ordered))
    if series.dtype != object:
        with contextlib.suppress(pa.ArrowException, TypeError, ValueError, OverflowError):
            array = pa.array(series, from_pandas=True)
            if not isinstance(array.type, pa.BaseExtensionType):  # periods and pandas intervals become texts
                return array
    return _from_objects(name, series.astype(object).tolist())


def _combined(array: pa.Array | pa.ChunkedArray) -> pa.Array:
    return array.combine_chunks() if isinstance(array, pa.ChunkedArray) else array


# --- polars ---


@dataclass(frozen=True, slots=True)
class _Polars:
    def restore(self, data: pa.Table, rows: NDArray[np.integer] | None) -> Any:
        import polars as pl

        frame = pl.DataFrame(pl.from_arrow(data))
        ordered = {
            name: pl.Enum(data.column(name).unify_dictionaries().chunk(0).dictionary.to_pylist())
            for name in data.column_names
            if _is_ordered_text(data.column(name)) and data.num_rows
        }
        return frame.with_columns(pl.col(name).cast(kind) for name, kind in ordered.items())


def _is_ordered_text(column: pa.ChunkedArray) -> bool:
    kind = column.type
    return bool(pa.types.is_dictionary(kind) and kind.ordered and pa.types.is_string(kind.value_type))


def _in_order(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return the categories of an Enum as ordered: polars before 2.0 does not say so."""
    if column.type.ordered:
        return column
    chunks = [
        pa.DictionaryArray.from_arrays(chunk.indices, chunk.dictionary, ordered=True)
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, pa.dictionary(column.type.index_type, column.type.value_type, True))


def _from_polars(frame: Any) -> tuple[pa.Table, Origin]:
    frame = frame.collect() if hasattr(frame, "collect") else frame
    arrays = {}
    for name in frame.columns:
        kind = frame.schema[name].base_type().__name__  # its full name would list the categories
        with contextlib.suppress(Exception):  # polars raises its own tree of errors
            if kind != "Object":  # which leaves polars as addresses in memory
                column = frame.get_column(name).to_frame().to_arrow().column(0)
                arrays[name] = _in_order(column) if kind == "Enum" else column
        if name not in arrays:
            raise DataError(
                f"column {name!r} has a type that cannot be handled ({kind})",
                hint="Convert it to numbers, texts or dates, or leave it out.",
            )
    return pa.table(arrays), _Polars()
