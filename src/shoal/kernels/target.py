"""What classes tell of a target column: a loss that is added to that of their cells."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray


class Target(NamedTuple):
    """A column of labels that a reader of the release wants to predict; without labels there is none."""

    label: NDArray[np.int32]  # [n], or [0]
    labels: int  # how many different ones
    majority: bool  # a class loses the records outside its majority; else the entropy of its labels
    unit: float  # whole units for one such record, or for one nat


@njit(cache=True)
def _spread(count: int) -> float:
    """Return c * ln(c)."""
    return count * math.log(count) if count > 1 else 0.0


@njit(cache=True)
def label_loss(target: Target, counts: NDArray[np.int64], size: int) -> int:
    """Return what a class with these labels loses, all its records together."""
    most, told = np.int64(0), 0.0
    for count in counts:
        most = max(most, count)
        told += _spread(count)
    missing = float(size - most) if target.majority else max(_spread(size) - told, 0.0)
    return np.int64(np.rint(target.unit * missing))


@njit(cache=True)
def label_growth(target: Target, counts: NDArray[np.int64], size: int, growth: NDArray[np.int64]) -> None:
    """Write down, for every label, by how much the loss grows when a record with it joins, about."""
    most = np.int64(0)
    for count in counts:
        most = max(most, count)
    for v in range(len(counts)):
        more = 0.0 if counts[v] == most else 1.0
        if not target.majority:
            more = _spread(size + 1) - _spread(size) - _spread(counts[v] + 1) + _spread(counts[v])
        growth[v] = np.int64(target.unit * max(more, 0.0))


@njit(cache=True)
def label_losses(target: Target, order: NDArray[np.int32], offsets: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what every class loses."""
    counts, found = np.zeros(target.labels, np.int64), np.zeros(len(offsets) - 1, np.int64)
    for c in range(len(found)):
        counts[:] = 0
        for at in range(offsets[c], offsets[c + 1]):
            counts[target.label[order[at]]] += 1
        found[c] = label_loss(target, counts, offsets[c + 1] - offsets[c])
    return found
