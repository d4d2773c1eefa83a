"""How people write numbers and dates: 57,5 and 1.234,50; 29.02.2024 and 02/29/2024."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

_DAY_OR_MONTH = "([0-9]{1,2})"
_YEAR = "([0-9]{4})"
_TIME = "([ T][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:[.][0-9]{1,6})?)?)"


@dataclass(frozen=True, slots=True)
class Spelling:
    """A way of writing values that Arrow reads once each text is rewritten.

    Attributes
    ----------
    kind : pyarrow.DataType
        What the values are.
    shape : str
        A regular expression that every text must match.
    rewrites : sequence of pairs
        Patterns and what replaces them, one after the other.
    proof : str
        A regular expression that one text at least must match, or else the column may mean something else.
    """

    kind: pa.DataType
    shape: str
    rewrites: tuple[tuple[str, str], ...]
    proof: str = ""

    def plain(self, texts: pa.ChunkedArray) -> pa.ChunkedArray | None:
        """Return texts as Arrow reads them, None where one has another shape."""
        if not pc.all(pc.match_substring_regex(texts, self.shape)).as_py():
            return None
        for pattern, replacement in self.rewrites:
            texts = pc.replace_substring_regex(texts, pattern, replacement)
        return texts

    def proved(self, texts: pa.ChunkedArray) -> bool:
        """Return whether a text says that this is how the column is written."""
        return not self.proof or bool(pc.any(pc.match_substring_regex(texts, self.proof)).as_py())


def _commas() -> Spelling:
    """Numbers with a decimal comma, and perhaps points between thousands.

    "1,234" alone may be a thousand and more, so one comma must stand before other than three digits. What a
    number would not keep (a leading zero, more digits than it holds) stays text, as everywhere.
    """
    return Spelling(
        pa.float64(),
        r"^-?(0|[1-9][0-9]{0,14}|[1-9][0-9]{0,2}([.][0-9]{3}){1,4})(,[0-9]+)?$",
        ((r"[.]", ""), (",", ".")),
        proof=r",([0-9]{1,2}|[0-9]{4,})$",
    )


def _dates(separator: str, order: str, kind: pa.DataType) -> Spelling:
    parts = {"d": _DAY_OR_MONTH, "m": _DAY_OR_MONTH, "y": _YEAR}
    mark = f"[{separator}]"
    time = "" if pa.types.is_date(kind) else _TIME
    shape = "^" + mark.join(parts[part] for part in order) + time + "$"
    year, month, day = (1 + order.index(part) for part in "ymd")
    rest = "" if not time else r"\4"
    return Spelling(
        kind,
        shape,
        (
            (shape, rf"\{year}-\{month}-\{day}{rest}"),
            (r"^([0-9]{4})-([0-9])-", r"\1-0\2-"),
            (r"^([0-9]{4}-[0-9]{2})-([0-9])($|[ T])", r"\1-0\2\3"),
        ),
    )


_ORDERS = ((".", ("dmy",)), ("/", ("dmy", "mdy")), ("-", ("dmy", "mdy")), ("/", ("ymd",)))

# Texts of one shape, each by one of these spellings. Two that both fit a column say nothing about it:
# 03/04/2024 is in March or in April, and stays a text unless another value of the column settles it.
_FAMILIES: tuple[tuple[Spelling, ...], ...] = (
    (_commas(),),
    *(
        tuple(_dates(separator, order, kind) for order in orders)
        for kind in (pa.date32(), pa.timestamp("us"))
        for separator, orders in (
            (".", ("dmy",)),
            ("/", ("dmy", "mdy")),
            ("-", ("dmy", "mdy")),
            ("/", ("ymd",)),
        )
    ),
)


def spellings(*, commas: bool) -> Iterator[tuple[Spelling, ...]]:
    """Yield the families of spellings, with or without decimal commas."""
    for family in _FAMILIES:
        if commas or not pa.types.is_floating(family[0].kind):
            yield family
