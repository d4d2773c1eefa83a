"""Numbers and sentences as a report writes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

HOW = {
    "published": "recomputed from the published table",
    "construction": "holds for the classes; the published values alone cannot show it",
    "proof": "proved of the mechanism",
}


def percent(share: float | None) -> str:
    """Return a share as people say it; a small one never reads as none.

    Examples
    --------
    >>> [percent(x) for x in (0.0, 0.00001, 0.0042, 0.2512, 1.0, None)]
    ['0%', 'under 0.01%', '0.42%', '25.1%', '100%', 'unknown']
    """
    if share is None:
        return "unknown"
    if share in (0.0, 1.0):
        return f"{share:.0%}"
    if share < 0.0001:
        return "under 0.01%"
    return f"{share:.2%}" if share < 0.01 else f"{share:.1%}"


def number(value: float | int | None) -> str:
    """Return a number with as many digits as are worth reading.

    Examples
    --------
    >>> [number(x) for x in (12345, 12345.678, 0.03391, 5.0, None)]
    ['12,345', '12,346', '0.0339', '5', '-']
    """
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if value == int(value):
        return f"{int(value):,}"
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}"


def counted(count: int, one: str, more: str = "") -> str:
    """Return a count with its noun.

    Examples
    --------
    >>> counted(1, "class", "classes"), counted(2000, "record")
    ('1 class', '2,000 records')
    """
    return f"{count:,} {one if count == 1 else more or one + 's'}"


def listed(names: Sequence[Any]) -> str:
    """Return names as a list to read.

    Examples
    --------
    >>> listed(["age", "sex", "zip"]), listed(["age"])
    ('age, sex and zip', 'age')
    """
    texts = [str(name) for name in names]
    return " and ".join(filter(None, [", ".join(texts[:-1]), *texts[-1:]]))


def capital(text: str) -> str:
    """Return a sentence with a capital letter at its start and a full stop at its end."""
    text = text[:1].upper() + text[1:]
    return text if not text or text.endswith((".", "!", "?")) else f"{text}."
