"""Numbers published with bounded noise: what is drawn, and how it becomes cells.

Such noise hides which record of a class a row belongs to, and nothing more; docs/explanation/noise.md says
what it does not do.

Draws are whole numbers below 2^53 from the operating system's source of randomness. From a known seed anyone
can draw the same numbers and take the noise away, so a seed is only for those who ask for one.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

_STEPS = 1 << 53  # places a number can take between the extremes of its class


@dataclass(slots=True)
class Draws:
    """A source of evenly distributed whole numbers below 2^53.

    Examples
    --------
    >>> bool((Draws.seeded(1).take(3) == Draws.seeded(1).take(3)).all())
    True
    """

    generator: np.random.Generator | None

    @classmethod
    def fresh(cls) -> Draws:
        """Return the operating system's source."""
        return cls(None)

    @classmethod
    def seeded(cls, seed: int) -> Draws:
        """Return a source that can be repeated."""
        return cls(np.random.default_rng(seed))

    def take(self, count: int) -> NDArray[np.uint64]:
        """Return this many numbers."""
        if self.generator is not None:
            return self.generator.integers(0, _STEPS, count, dtype=np.uint64)
        words = np.frombuffer(secrets.token_bytes(8 * count), dtype="<u8").astype(np.uint64)
        return words >> np.uint64(11)


@dataclass(frozen=True, slots=True, eq=False)
class Extent:
    """What the class of every record covers in one column.

    Attributes
    ----------
    low, high, mean : float64[records]
        Least, greatest and mean number of the record's class.
    """

    low: NDArray[np.float64]
    high: NDArray[np.float64]
    mean: NDArray[np.float64]


def between(extent: Extent, rho: float, draws: NDArray[np.uint64]) -> NDArray[np.float64]:
    """Return a number per record, even between mean + rho (low - mean) and mean + rho (high - mean).

    It depends on the class alone: nothing of the record itself goes in.

    References
    ----------
    Yang: Random Aggregation, Algorithm 4.

    Examples
    --------
    >>> extent = Extent(np.array([0.0]), np.array([8.0]), np.array([2.0]))
    >>> [float(between(extent, 0.5, np.array([u], dtype=np.uint64))[0]) for u in (0, 2**52)]
    [1.0, 3.0]
    """
    least = extent.mean + rho * (extent.low - extent.mean)
    greatest = extent.mean + rho * (extent.high - extent.mean)
    drawn = least + draws.astype(np.float64) / _STEPS * (greatest - least)
    return np.clip(drawn, least, greatest)


def wrapped_around(
    numbers: NDArray[np.float64], extent: Extent, draws: NDArray[np.uint64]
) -> NDArray[np.float64]:
    """Return each number moved by up to half the width of its class and wrapped around inside it.

    Places between the extremes are whole numbers, added modulo their count as in a one-time pad: whatever the
    record's number is, each place is as likely as any other, to the last bit.

    References
    ----------
    Song, Ma, Tian and Al-Rodhaan (2019): A new method of privacy protection: random k-anonymous.

    Examples
    --------
    >>> extent = Extent(np.zeros(2), np.full(2, 8.0), np.full(2, 4.0))
    >>> wrapped_around(np.array([1.0, 7.0]), extent, np.full(2, 2**52 + 2**51, dtype=np.uint64)).tolist()
    [3.0, 1.0]
    """
    width = extent.high - extent.low
    share = np.divide(numbers - extent.low, width, out=np.zeros(len(numbers)), where=width > 0)
    place = np.minimum(share * _STEPS, _STEPS - 1).astype(np.uint64)
    # A draw of half the steps moves nothing: steps reach from minus to plus half the width.
    moved = (place + draws + np.uint64(_STEPS // 2)) % np.uint64(_STEPS)
    found = extent.low + moved.astype(np.float64) / _STEPS * width
    return np.asarray(np.clip(found, extent.low, extent.high))
