"""Earth mover's distances of all classes at once, in whole units of mass times distance.

One unit of mass is one record of the class times one record of the table, so nothing is rounded as long as
the products stay below 2**53.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from .compile import tree_steps
from .statistics import ClassStatistics


def moved_equal(statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
    """Return the mass every class has too much of: all that must be moved when all values are 1 apart."""
    counts = statistics.sensitive[column]
    total = float(counts.overall.sum())
    surplus = counts.counts * total - counts.overall[counts.values] * _size_of(statistics, counts.classes)
    return statistics.per_class_sum(column, np.maximum(surplus, 0.0))


def moved_ordered(statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
    """Return the mass moved times the ranks it is moved over, for every class.

    Between two values that a class holds, the share of the class below is constant and that of the table only
    grows. The absolute difference of the two is summed over such a run in two parts, split where the table
    overtakes the class, from prefix sums of the table: no class ever walks over all ranks.
    """
    counts = statistics.sensitive[column]
    ranked = counts.overall[counts.overall > 0]
    rank = np.cumsum(counts.overall > 0) - 1
    below = np.cumsum(ranked).astype(np.float64)  # records of the table up to each rank
    prefix = np.concatenate([[0.0], np.cumsum(below)])
    first = (
        np.r_[True, counts.classes[1:] != counts.classes[:-1]] if len(counts.classes) else np.zeros(0, bool)
    )
    last = np.r_[first[1:], True][: len(first)]
    begin = rank[counts.values]
    end = np.where(last, len(ranked), np.r_[begin[1:], 0][: len(begin)])
    own = np.cumsum(counts.counts)
    own = own - np.repeat((own - counts.counts)[first], np.diff(np.r_[np.flatnonzero(first), len(first)]))
    size = _size_of(statistics, counts.classes)
    mass = own * float(counts.overall.sum())
    overtaken = np.clip(np.searchsorted(below, np.floor(mass / size), side="right"), begin, end)
    ahead = mass * (overtaken - begin) - size * (prefix[overtaken] - prefix[begin])
    behind = size * (prefix[end] - prefix[overtaken]) - mass * (end - overtaken)
    before = np.where(first, size * prefix[begin], 0.0)  # ranks below the first value of the class
    return statistics.per_class_sum(column, ahead + behind + before)


def moved_tree(statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
    """Return the mass moved times twice the levels it is lifted, for every class."""
    counts = statistics.sensitive[column]
    tree = counts.column.tree
    assert tree is not None
    steps = tree_steps(tree.nodes, tree.heights)
    total = float(counts.overall.sum())
    moved = np.zeros(statistics.classes)
    for level in range(tree.levels - 1):
        node = tree.nodes[level].astype(np.int64)
        width = len(tree.labels)
        step = np.zeros(width)
        step[node] = steps[level]
        table = np.bincount(node, weights=counts.overall, minlength=width)
        keys, where = np.unique(counts.classes * width + node[counts.values], return_inverse=True)
        own = np.bincount(where, weights=counts.counts, minlength=len(keys))
        classes, nodes = np.divmod(keys, width)
        expected = table[nodes] * _size_of(statistics, classes)
        # A node a class does not reach lacks all it should have; only those it reaches need a correction.
        correction = (np.abs(own * total - expected) - expected) * step[nodes]
        moved += np.bincount(classes, weights=correction, minlength=statistics.classes)
        moved += statistics.sizes * float((table * step).sum())
    return moved


def _size_of(statistics: ClassStatistics, classes: NDArray[np.int64]) -> NDArray[np.float64]:
    return statistics.sizes[classes].astype(np.float64)
