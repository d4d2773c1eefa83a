"""How often each code occurs in each class: counted, class by class, with no sort over all records."""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

Triples = tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]


@njit(cache=True)
def count_class_values(
    codes: NDArray[np.int32], size: int, order: NDArray[np.int32], offsets: NDArray[np.int64]
) -> Triples:
    """Return (class, code, count) for every code in every class, by class and then by code.

    `codes` are below `size`; class c holds the records ``order[offsets[c]:offsets[c + 1]]``.
    """
    classes = len(offsets) - 1
    starts = np.zeros(classes + 1, np.int64)
    marks = np.full(size, -1, np.int64)
    for c in range(classes):
        found = 0
        for i in range(offsets[c], offsets[c + 1]):
            code = codes[order[i]]
            if marks[code] != c:
                marks[code] = c
                found += 1
        starts[c + 1] = starts[c] + found
    group = np.empty(starts[classes], np.int64)
    value = np.empty(starts[classes], np.int64)
    count = np.empty(starts[classes], np.int64)
    held = np.zeros(size, np.int64)
    for c in range(classes):
        at = starts[c]
        for i in range(offsets[c], offsets[c + 1]):
            code = codes[order[i]]
            if held[code] == 0:
                value[at] = code
                at += 1
            held[code] += 1
        value[starts[c] : at].sort()
        for place in range(starts[c], at):
            group[place] = c
            count[place] = held[value[place]]
            held[value[place]] = 0
    return group, value, count


@njit(cache=True)
def most_frequent(
    codes: NDArray[np.int32], size: int, order: NDArray[np.int32], offsets: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return how often the most frequent code of each class occurs in it."""
    most = np.zeros(len(offsets) - 1, np.int64)
    held = np.zeros(size, np.int64)
    for c in range(len(most)):
        for i in range(offsets[c], offsets[c + 1]):
            code = codes[order[i]]
            held[code] += 1
            most[c] = max(most[c], held[code])
        for i in range(offsets[c], offsets[c + 1]):
            held[codes[order[i]]] = 0
    return most
