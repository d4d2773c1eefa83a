"""Exact comparisons of counts with a limit, done in floating point without a doubt.

Every promise about shares says that a whole number ``x`` (a count, a mass moved) is at most ``ratio * n`` for
a class of ``n`` records. Both sides are rational, so the smallest ``x`` that breaks the promise lies at least
one part in the ratio's denominator beyond it. A limit put half way between cannot be crossed by rounding.
A parameter written 0.3 means three tenths.
"""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from numpy.typing import ArrayLike, NDArray

MARGIN = 1e-12  # what is given away where numbers are too large to be told apart
_EXACT = 2.0**48


def rational(value: float) -> Fraction:
    """Return a parameter as the fraction its shortest decimal form means.

    Examples
    --------
    >>> rational(0.3)
    Fraction(3, 10)
    """
    return Fraction(repr(float(value)))


def limits(
    numerators: ArrayLike, denominator: float, records: int, *, strict: bool = False, greatest: float = 0.0
) -> NDArray[np.float64]:
    """Return limits such that ``x <= limit * n`` holds exactly when ``x <= numerator / denominator * n``.

    Parameters
    ----------
    numerators : array_like
        Whole numbers.
    denominator : float
        Of all of them.
    records : int
        The greatest class size that will be compared.
    strict : bool
        Whether ``x < ...`` is meant. Compare with ``<`` then.
    greatest : float
        The greatest whole number met while ``x`` is computed.

    Examples
    --------
    >>> limit = limits(3, 10, 1000)
    >>> bool(3 <= limit * 10), bool(300 <= limit * 1000), bool(301 <= limit * 1000)
    (True, True, False)
    """
    numerators = np.asarray(numerators, dtype=np.float64)
    n = max(records, 1)
    if n * float(numerators.max(initial=0.0)) < _EXACT and max(greatest, denominator) < 2.0**53:
        half = 0.5 / n
        return (numerators - half if strict else numerators + half) / denominator
    return numerators * (1.0 - MARGIN) / denominator
