"""Comparisons that no rounding can turn: whole numbers against a parameter as it was written."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
from numpy.typing import NDArray

SAFE = 2**62  # products below this fit int64
NEAR = 1e-9  # closer than this, floating point does not decide
_EXACT_BITS = 1 << 22  # size of the integers that settle a near tie of entropies


def as_written(value: float) -> Fraction:
    """Return a parameter as the decimal fraction it was written as: 0.3 means three tenths.

    Examples
    --------
    >>> as_written(0.3)
    Fraction(3, 10)
    """
    return Fraction(repr(float(value)))


def whole(values: NDArray[np.int64], greatest: int) -> NDArray[Any]:
    """Return whole numbers in a type in which results up to `greatest` do not overflow."""
    return values if greatest < SAFE else values.astype(object)


def at_most(
    numerators: NDArray[Any], denominators: NDArray[Any], limit: Fraction, *, strict: bool = False
) -> NDArray[np.bool_]:
    """Return whether each ratio is at most `limit`, or below it when `strict`; both given as whole numbers.

    A denominator of 0 stands for an infinite ratio.

    Examples
    --------
    >>> import numpy as np
    >>> at_most(np.array([3, 4, 1]), np.array([10, 10, 0]), Fraction(3, 10)).tolist()
    [True, False, False]
    """
    largest = max([1, *map(int, (numerators.max(initial=0), denominators.max(initial=0)))])
    greatest = largest * max(limit.numerator, limit.denominator)
    left = whole(numerators, greatest) * limit.denominator
    right = whole(denominators, greatest) * limit.numerator
    holds = (left < right) if strict else (left <= right)
    return np.asarray(holds & (denominators > 0), dtype=bool)


def ratios(numerators: NDArray[Any], denominators: NDArray[Any]) -> NDArray[np.float64]:
    """Return each ratio as a float, infinite where the denominator is 0."""
    top, bottom = numerators.astype(np.float64), denominators.astype(np.float64)
    found = np.full(len(top), np.inf)
    np.divide(top, bottom, out=found, where=bottom > 0)
    return found


def entropy_reaches(counts: NDArray[np.int64], l: float) -> bool:  # noqa: E741  (the literature's own letter)
    """Return whether the Shannon entropy of counts is at least ln(l), settled exactly where it is a near tie.

    H >= ln(l) means n^n >= l^n * prod(c^c), a comparison of whole numbers. Counts are divided by their common
    divisor first. Where the numbers would still be too long, a near tie is refused.

    Examples
    --------
    >>> import numpy as np
    >>> entropy_reaches(np.array([5, 5]), 2), entropy_reaches(np.array([5, 4]), 2)
    (True, False)
    """
    parts = [int(count) // int(np.gcd.reduce(counts)) for count in counts]
    n = sum(parts)
    entropy = math.log(n) - math.fsum(c * math.log(c) for c in parts) / n
    if abs(entropy - math.log(l)) > NEAR:
        return entropy > math.log(l)
    bound = as_written(l)
    if n * max(n.bit_length(), bound.numerator.bit_length()) > _EXACT_BITS:
        return False
    return bool(n**n * bound.denominator**n >= bound.numerator**n * math.prod(c**c for c in parts))
