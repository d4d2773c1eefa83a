"""Earth mover's distances between every group and the table, in whole units of mass times distance.

With c records of a value in a group of n, and o in the table of N, a group has ``c * N - o * n`` too much of
it: an integer. The distance is what must be moved, over ``n * N * unit``.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..schema import Kind
from .exact import whole
from .groups import Counts, Unverifiable

_CHUNK = 1 << 22  # cells of a dense block of groups by leaves


def moved_mass(counts: Counts, distance: str) -> tuple[NDArray[Any], int]:
    """Return (mass moved times distance for each group, the greatest distance between two values).

    References
    ----------
    Li, N., Li, T. and Venkatasubramanian, S. (2007): t-closeness: Privacy beyond k-anonymity and l-diversity.
    """
    if not len(counts.starts):
        return np.zeros(0, dtype=np.int64), 1
    if distance == "equal":
        return _equal(counts), 1
    if distance == "ordered":
        return _ordered(counts), max(int(np.count_nonzero(counts.overall)) - 1, 1)
    return _hierarchical(counts)


def _equal(counts: Counts) -> NDArray[Any]:
    """All values lie 1 apart: the surplus is moved, and only values a group holds have one."""
    greatest = counts.total**2
    sizes = whole(counts.each(counts.sizes), greatest)
    surplus = whole(counts.count, greatest) * counts.total - counts.overall[counts.value] * sizes
    return counts.sums(np.maximum(surplus, 0))


def _ordered(counts: Counts) -> NDArray[Any]:
    """Values lie as far apart as their ranks: the sum over ranks of |records below too many or too few|.

    Between two values of a group its own share below stays constant while the table's grows, so the sum over
    such a run is two pieces, before and after the table overtakes, each from prefix sums of the table.
    """
    if counts.column.kind is Kind.CATEGORICAL:
        raise Unverifiable(f"column {counts.column.name!r} has no order for distance 'ordered'")
    ranks, greatest = len(counts.overall), counts.total**2 * max(len(counts.overall), 1)
    below = np.cumsum(counts.overall)
    prefix = np.concatenate([[0], np.cumsum(below)])
    last = np.append(counts.starts[1:], len(counts.group)) - 1
    begin, end = counts.value, np.append(counts.value[1:], ranks)
    end[last] = ranks
    running = np.cumsum(counts.count)
    own = running - counts.each(running[counts.starts] - counts.count[counts.starts])
    sizes = counts.each(counts.sizes)
    reached = np.clip(np.searchsorted(below, own * counts.total // sizes, side="right"), begin, end)
    own, sizes = whole(own, greatest) * counts.total, whole(sizes, greatest)
    early = own * (reached - begin) - sizes * (prefix[reached] - prefix[begin])
    late = sizes * (prefix[end] - prefix[reached]) - own * (end - reached)
    moved = early + late
    moved[counts.starts] += sizes[counts.starts] * prefix[begin[counts.starts]]
    return counts.sums(moved)


def _hierarchical(counts: Counts) -> tuple[NDArray[Any], int]:
    """Values lie as far apart as their lowest common node is high; mass meets at the lowest it can."""
    name = counts.column.name
    if counts.column.hierarchy is None:
        raise Unverifiable(f"column {name!r} has no hierarchy for distance 'hierarchical'")
    if counts.values.null_count:
        raise Unverifiable(f"column {name!r} holds nulls, which have no place in its hierarchy")
    tree, leaf_of = counts.column.hierarchy.bind(counts.values, name, unknown="refuse")
    unit = max(int(tree.heights[tree.root]), 1)
    leaf = np.asarray(leaf_of, dtype=np.int64)[counts.value]
    overall = np.bincount(leaf_of, weights=counts.overall, minlength=tree.leaves).astype(np.int64)
    greatest = counts.total**2 * unit * 2
    dense = whole(np.zeros(0, dtype=np.int64), greatest).dtype
    moved = np.zeros(len(counts.starts), dtype=dense)
    position = counts.each(np.arange(len(counts.starts)))
    step = max(_CHUNK // max(tree.leaves, 1), 1)
    for begin in range(0, len(moved), step):
        sizes = counts.sizes[begin : begin + step].astype(dense)
        extra = -np.multiply.outer(sizes, overall.astype(dense))
        inside = (position >= begin) & (position < begin + step)
        np.add.at(
            extra, (position[inside] - begin, leaf[inside]), counts.count[inside].astype(dense) * counts.total
        )
        moved[begin : begin + step] = _lifted(tree, extra)
    return moved, unit


def _lifted(tree: Any, extra: NDArray[Any]) -> NDArray[Any]:
    """Return the cost of levelling out surpluses [group, leaf]: mass that meets at each node, times height.

    Leaves are numbered depth first: the leaves under a node are a run, and so are the nodes under a parent.
    """
    moved = np.zeros(len(extra), dtype=extra.dtype)
    begins = np.arange(tree.leaves)
    mass = extra
    for level in range(1, tree.levels):
        nodes = tree.nodes[level][begins]
        starts = np.flatnonzero(np.diff(nodes, prepend=-1))
        surplus = np.add.reduceat(np.maximum(mass, 0), starts, axis=1)
        lack = np.add.reduceat(np.maximum(-mass, 0), starts, axis=1)
        moved += (np.minimum(surplus, lack) * tree.heights[nodes[starts]].astype(np.int64)).sum(axis=1)
        mass, begins = surplus - lack, begins[starts]
    return moved


__all__ = ["moved_mass"]
