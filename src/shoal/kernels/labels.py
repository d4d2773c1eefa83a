"""Class labels in linear time: renumbered in order of first appearance, and records grouped by them."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray


@njit(cache=True)
def renumber(labels: NDArray[np.int32], highest: int) -> tuple[NDArray[np.int32], int]:
    """Return dense labels in order of each one's first record, and how many; negative ones become -1."""
    place = np.full(highest + 1, -1, dtype=np.int32)
    dense = np.empty(len(labels), dtype=np.int32)
    classes = 0
    for record in range(len(labels)):
        label = labels[record]
        if label < 0:
            dense[record] = -1
            continue
        if place[label] < 0:
            place[label] = classes
            classes += 1
        dense[record] = place[label]
    return dense, classes


@njit(cache=True)
def group(dense: NDArray[np.int32], classes: int) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return (order, offsets): the records class by class, ascending within each; -1 takes no part."""
    offsets = np.zeros(classes + 1, dtype=np.int64)
    for label in dense:
        if label >= 0:
            offsets[label + 1] += 1
    for c in range(classes):
        offsets[c + 1] += offsets[c]
    at = offsets[:-1].copy()
    order = np.empty(offsets[classes], dtype=np.int32)
    for record in range(len(dense)):
        label = dense[record]
        if label >= 0:
            order[at[label]] = record
            at[label] += 1
    return order, offsets
