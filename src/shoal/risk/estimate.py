"""Estimate: a number with how sure of it one can be."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_Z95 = 1.959963984540054  # two-sided 95% of the normal distribution


@dataclass(frozen=True, slots=True)
class Estimate:
    """A measured number, its 95% interval, how many records it rests on, and the seed that drew them.

    Attributes
    ----------
    value, low, high : float
        Where every record was looked at, the three are equal.
    n : int
    seed : int or None
        None where nothing was drawn at random.

    Examples
    --------
    >>> share_of(5, 100)
    Estimate(value=0.05, low=0.0215..., high=0.1117..., n=100, seed=None)
    """

    value: float
    low: float
    high: float
    n: int
    seed: int | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the estimate as plain values, what is not a number as None."""
        found = {"value": self.value, "low": self.low, "high": self.high}
        plain: dict[str, Any] = {key: x if math.isfinite(x) else None for key, x in found.items()}
        return {**plain, "n": self.n, "seed": self.seed}


def exactly(value: float, n: int) -> Estimate:
    """Return the estimate of something that was counted over all `n` records."""
    return Estimate(float(value), float(value), float(value), n)


def share_of(successes: float, n: int, seed: int | None = None) -> Estimate:
    """Return a share with its Wilson score interval.

    Successes may be fractions of records (a guess among three counts a third): the variance of such a sum is
    at most that of whole successes, so the interval is no narrower than it should be.

    References
    ----------
    Wilson (1927): Probable inference, the law of succession, and statistical inference.
    """
    if n == 0:
        return Estimate(0.0, 0.0, 1.0, 0, seed)
    share, z2 = successes / n, _Z95**2
    centre = (share + z2 / (2 * n)) / (1 + z2 / n)
    half = _Z95 * math.sqrt(share * (1 - share) / n + z2 / (4 * n * n)) / (1 + z2 / n)
    return Estimate(share, max(0.0, min(share, centre - half)), min(1.0, max(share, centre + half)), n, seed)


def between(value: float, replicates: NDArray[np.float64], n: int, seed: int) -> Estimate:
    """Return an estimate with the 95% percentile interval of its bootstrap replicates."""
    found = replicates[np.isfinite(replicates)]
    if len(found) == 0 or not math.isfinite(value):
        return Estimate(value, math.nan, math.nan, n, seed)
    low, high = np.percentile(found, [2.5, 97.5])
    return Estimate(value, float(min(low, value)), float(max(high, value)), n, seed)
