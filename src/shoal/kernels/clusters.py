"""Whole clusters: which of them could be a class, and which lies nearest."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .rules import Rules
from .stats import class_ok, make_stats


@njit(cache=True)
def keep_promises(
    rules: Rules, sensitive: NDArray[np.int32], order: NDArray[np.integer], offsets: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Return which of the clusters ``order[offsets[c]:offsets[c + 1]]`` keep every promise."""
    stats = make_stats(rules)
    good = np.empty(len(offsets) - 1, np.bool_)
    for c in range(len(good)):
        good[c] = class_ok(rules, sensitive, order[offsets[c] : offsets[c + 1]], stats)
    return good


@njit(cache=True)
def nearest_centres(
    centres: NDArray[np.float64], failing: NDArray[np.int64], valid: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return, for each failing cluster, the valid one with the nearest centre; ties: the first."""
    found = np.empty(len(failing), np.int64)
    for i in range(len(failing)):
        nearest = np.inf
        for other in valid:
            away = 0.0
            for j in range(centres.shape[1]):
                step = centres[failing[i], j] - centres[other, j]
                away += step * step
                if away >= nearest:
                    break
            if away < nearest:
                nearest = away
                found[i] = other
    return found
