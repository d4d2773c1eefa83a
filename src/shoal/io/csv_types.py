"""The types of CSV columns: typed only when no value loses anything by it."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import DataError

# A number would lose these: zip codes (01234), phone numbers (+46), hexadecimal (0x1F).
_NOT_A_NUMBER = r"^(\+|-?0[0-9xX])"
# A float keeps 15 digits; identifiers longer than that would run into each other.
_TOO_LONG = r"[0-9]{16,}"
_FEW = 1000
_TRUTH = pa.array(["true", "false", "True", "False", "TRUE", "FALSE"])


def typed(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column of texts as whole numbers, numbers, truth values, dates or times, else as it is.

    An empty quoted field in a column of anything but texts is null there: it cannot be anything else.

    Examples
    --------
    >>> import pyarrow as pa
    >>> columns = ["1", None], ["01"], ["1.5", "NaN"], ["2024-02-29"]
    >>> [str(typed(pa.chunked_array([column])).type) for column in columns]
    ['int64', 'string', 'double', 'date32[day]']
    """
    if column.null_count == len(column):
        return column
    found = _typed(column)
    if found is not None:
        return found
    empty = pc.equal(column, "")
    if pc.any(empty).as_py() and not pc.all(empty).as_py():
        found = _typed(pc.if_else(empty, pa.scalar(None, column.type), column))
    return column if found is None else found


def _typed(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    numbers = _numbers(column)
    if numbers is not None:
        return numbers
    if pc.all(pc.is_in(column.slice(0, _FEW).drop_null(), _TRUTH)).as_py():
        return column.cast(pa.bool_()) if pc.all(pc.is_in(column.drop_null(), _TRUTH)).as_py() else None
    for kind in (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")):
        found = _cast(column, kind)
        if found is not None:
            return found
    return None


def _cast(column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray | None:
    """Return the column as another type, None where a value forbids it."""
    with contextlib.suppress(pa.ArrowException):
        column.slice(0, _FEW).cast(kind)  # most refusals show here, for a thousandth of the work
        return column.cast(kind)
    return None


def _numbers(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    numbers = _cast(column, pa.int64())
    numbers = _cast(column, pa.float64()) if numbers is None else numbers
    if numbers is None or pc.any(pc.match_substring_regex(column, _NOT_A_NUMBER)).as_py():
        return None
    if pa.types.is_integer(numbers.type):
        return numbers
    if not pc.any(pc.is_finite(numbers)).as_py():
        return None  # nothing but "nan" and "inf": words
    whole = pc.match_substring_regex(column, r"^-?[0-9]+$")
    if pc.any(pc.and_(whole, pc.match_substring_regex(column, _TOO_LONG))).as_py():
        return None
    return pc.if_else(pc.is_nan(numbers), pa.scalar(None, pa.float64()), numbers)


_KINDS: tuple[pa.DataType, ...] = (
    pa.int64(),
    pa.float64(),
    pa.bool_(),
    pa.date32(),
    pa.timestamp("us"),
    pa.timestamp("us", "UTC"),
)


@dataclass(slots=True)
class Guess:
    """What a column of texts can still be, as its blocks pass by: in the end, what `typed` would make of it.

    Examples
    --------
    >>> guess = Guess()
    >>> guess.see(pa.array(["1", None])); guess.see(pa.array(["2.5", ""]))
    >>> guess.kind()
    DataType(double)
    """

    some: bool = False  # a value that is not empty was seen
    finite: bool = False
    long: bool = False
    possible: list[pa.DataType] = field(default_factory=lambda: list(_KINDS))

    def see(self, values: pa.Array) -> None:
        """Look at some values of the column; how often each occurs says nothing."""
        values = values.drop_null().cast(pa.string())
        values = values.filter(pc.not_equal(values, ""))
        if not len(values):
            return
        self.some = True
        column = pa.chunked_array([values])
        numeric = [kind for kind in (pa.int64(), pa.float64()) if kind in self.possible]
        if numeric and pc.any(pc.match_substring_regex(values, _NOT_A_NUMBER)).as_py():
            self._rule_out(*numeric)
        self.possible = [kind for kind in self.possible if _fits(column, kind)]
        if pa.float64() in self.possible:
            whole = pc.match_substring_regex(values, r"^-?[0-9]+$")
            self.long |= bool(pc.any(pc.and_(whole, pc.match_substring_regex(values, _TOO_LONG))).as_py())
            self.finite |= bool(pc.any(pc.is_finite(values.cast(pa.float64()))).as_py())

    def _rule_out(self, *kinds: pa.DataType) -> None:
        self.possible = [kind for kind in self.possible if kind not in kinds]

    def kind(self) -> pa.DataType:
        """Return the type of the column."""
        if not self.some:
            return pa.string()
        if self.long or not self.finite:
            self._rule_out(pa.float64())
        return self.possible[0] if self.possible else pa.string()


def _fits(column: pa.ChunkedArray, kind: pa.DataType) -> bool:
    if pa.types.is_boolean(kind):
        return bool(pc.all(pc.is_in(column, _TRUTH)).as_py())
    return _cast(column, kind) is not None


def as_type(name: str, column: pa.ChunkedArray, kind: pa.DataType) -> pa.ChunkedArray:
    """Return a column of texts as a type it is known to have."""
    target = kind.value_type if pa.types.is_dictionary(kind) else kind
    if pa.types.is_null(target) and column.null_count == len(column):
        return pa.chunked_array([pa.nulls(len(column))])
    with contextlib.suppress(pa.ArrowException):
        if pa.types.is_time(target):  # Arrow reads times of day only as a part of a moment
            day = pa.scalar("1970-01-01T", column.type)
            moments = pc.binary_join_element_wise(day, column, pa.scalar("", column.type))
            return moments.cast(pa.timestamp(target.unit)).cast(target)
        return column.cast(target)
    raise DataError(
        f"column {name!r} holds values that are not of type {target}",
        hint="Leave it out of the schema to read it as it is.",
    )
