"""The types of CSV columns: typed only when no value loses anything by it."""

from __future__ import annotations

import contextlib
from dataclasses import InitVar, dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from ..errors import DataError
from .spellings import Spelling, spellings

# A number would lose these: zip codes (01234), phone numbers (+46), hexadecimal (0x1F).
_NOT_A_NUMBER = r"^(\+|-?0[0-9xX])"
# A float keeps 15 digits; identifiers longer than that would run into each other.
_TOO_LONG = r"[0-9]{16,}"
_FEW = 1000
_TRUTH = pa.array(["true", "false", "True", "False", "TRUE", "FALSE"])


def typed(column: pa.ChunkedArray, *, commas: bool = False) -> pa.ChunkedArray:
    """Return a column of texts as whole numbers, numbers, truth values, dates or times, else as it is.

    An empty quoted field in a column of anything but texts is null there: it cannot be anything else.
    With `commas`, numbers may have a decimal comma: where a comma does not separate fields.

    Examples
    --------
    >>> import pyarrow as pa
    >>> columns = ["1", None], ["01"], ["1.5", "NaN"], ["2024-02-29"]
    >>> [str(typed(pa.chunked_array([column])).type) for column in columns]
    ['int64', 'string', 'double', 'date32[day]']
    """
    if column.null_count == len(column):
        return column
    found = _typed(column, commas)
    if found is not None:
        return found
    empty = pc.equal(column, "")
    if pc.any(empty).as_py() and not pc.all(empty).as_py():
        found = _typed(pc.if_else(empty, pa.scalar(None, column.type), column), commas)
    return column if found is None else found


def _typed(column: pa.ChunkedArray, commas: bool) -> pa.ChunkedArray | None:
    numbers = _numbers(column)
    if numbers is not None:
        return numbers
    if pc.all(pc.is_in(column.slice(0, _FEW).drop_null(), _TRUTH)).as_py():
        return column.cast(pa.bool_()) if pc.all(pc.is_in(column.drop_null(), _TRUTH)).as_py() else None
    for kind in (pa.date32(), pa.timestamp("us"), pa.timestamp("us", "UTC")):
        found = _cast(column, kind)
        if found is not None:
            return found
    for family in spellings(commas=commas):
        fitting = [values for way in family if (values := _spelled(column, way)) is not None]
        if len(fitting) == 1:
            return fitting[0]
    return None


def _spelled(column: pa.ChunkedArray, way: Spelling) -> pa.ChunkedArray | None:
    """Return a column as what it says when written this way, None where a value forbids it."""
    return _respelled(column, way) if way.proved(column) else None


def _respelled(column: pa.ChunkedArray, way: Spelling) -> pa.ChunkedArray | None:
    if way.plain(column.slice(0, _FEW)) is None:
        return None
    plain = way.plain(column)
    return None if plain is None else _cast(plain, way.kind)


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
    families: list[list[Spelling]] = field(init=False)
    proved: set[Spelling] = field(default_factory=set)
    commas: InitVar[bool] = False

    def __post_init__(self, commas: bool) -> None:
        self.families = [list(family) for family in spellings(commas=commas)]

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
        self.families = [
            [way for way in family if _respelled(column, way) is not None] for family in self.families
        ]
        self.proved.update(way for family in self.families for way in family if way.proved(column))

    def _rule_out(self, *kinds: pa.DataType) -> None:
        self.possible = [kind for kind in self.possible if kind not in kinds]

    def kind(self) -> pa.DataType:
        """Return the type of the column."""
        plain = self._plain()
        way = self.way()
        return plain if plain is not None else way.kind if way is not None else pa.string()

    def way(self) -> Spelling | None:
        """Return how the values are written, None where Arrow reads them as they are."""
        if not self.some or self._plain() is not None:
            return None
        for family in self.families:
            fitting = [way for way in family if way in self.proved]
            if len(fitting) == 1:
                return fitting[0]
        return None

    def _plain(self) -> pa.DataType | None:
        if not self.some:
            return pa.string()
        if self.long or not self.finite:
            self._rule_out(pa.float64())
        return self.possible[0] if self.possible else None


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
