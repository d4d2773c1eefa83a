"""Random numbers that any number of threads can draw: a state of one word for whoever draws."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def draw(state: NDArray[np.uint64], below: int) -> int:
    """Return a whole number from 0 to `below` - 1, and advance the generator (splitmix64)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    z ^= z >> np.uint64(31)
    return np.int64((z >> np.uint64(32)) * np.uint64(below) >> np.uint64(32))


@njit(cache=True)
def chance(state: NDArray[np.uint64]) -> float:
    """Return a number above 0 and below 1."""
    return (draw(state, 1 << 30) + 0.5) / (1 << 30)
