"""How far a class lies from the whole table: the greatest earth mover's distance of its sensitive columns.

Masses and sizes are whole numbers below 2^53, and a quotient is rounded correctly, so that equal distances
are equal numbers.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .rules import Rules
from .stats import Stats, moved_equal, moved_level, moved_ordered

EQUAL = 0
ORDERED = 1
NESTED = 2


class Grounds(NamedTuple):
    """How far apart the values of each sensitive column are."""

    kind: NDArray[np.int8]  # [s] EQUAL, ORDERED or NESTED (by the hierarchy)
    unit: NDArray[np.float64]  # [s] distance of the farthest two values, in the units mass is moved by


@njit(cache=True)
def distance_to_table(stats: Stats, rules: Rules, grounds: Grounds) -> float:
    """Return the greatest distance of a class over all sensitive columns, from 0 to 1."""
    size = float(stats.size[0])
    greatest = 0.0
    for j in range(len(grounds.kind)):
        first, end = rules.start[j], rules.start[j + 1]
        counts, overall = stats.counts[first:end], rules.overall[first:end]
        moved = 0.0
        if grounds.kind[j] == EQUAL:
            found = stats.present[first : first + stats.distinct[j]]
            moved = moved_equal(stats.counts, found, size, rules.overall, rules.total)
        elif grounds.kind[j] == ORDERED:
            moved = moved_ordered(counts, size, overall, rules.total)
        else:
            for level in range(rules.tree_levels[j] - 1):
                at = rules.tree_start[j] + level * (end - first)
                node = rules.tree_node[at : at + end - first]
                step = rules.tree_step[at : at + end - first]
                moved += moved_level(counts, size, overall, rules.total, node, step)
        greatest = max(greatest, moved / (size * rules.total * grounds.unit[j]))
    return greatest
