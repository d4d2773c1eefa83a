"""From levels of nested groups to a `Tree`: the one place where nodes get their numbers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .tree import ROOT_LABEL, Tree

TEXT = pa.large_string()


@dataclass(frozen=True, slots=True, eq=False)
class Level:
    """The groups of one level, as runs of depth-first leaves.

    Attributes
    ----------
    starts : int64[groups]
        First leaf of each group; ``starts[0]`` is 0. Every start is a start of the level below, too.
    labels : pyarrow.Array of large_string
        Label of each group.
    """

    starts: NDArray[np.int64]
    labels: pa.Array

    def equals(self, other: Level) -> bool:
        """Return whether both levels group and label the same."""
        return np.array_equal(self.starts, other.starts) and bool(self.labels.equals(other.labels))


def leaf_level(labels: pa.Array) -> Level:
    """Return the level in which every leaf is a group of its own."""
    return Level(np.arange(len(labels), dtype=np.int64), labels.cast(TEXT))


def root_level() -> Level:
    """Return the level that is one root ``*``."""
    return Level(np.zeros(1, dtype=np.int64), pa.array([ROOT_LABEL], type=TEXT))


def run_starts(keys: NDArray[np.generic]) -> NDArray[np.int64]:
    """Return where the runs of equal keys begin."""
    if len(keys) == 0:
        return np.zeros(0, dtype=np.int64)
    return np.append(0, np.flatnonzero(keys[1:] != keys[:-1]) + 1).astype(np.int64)


def assemble(levels: Sequence[Level]) -> Tree:
    """Return the tree of nested levels, leaves first; the last level is one group, the root.

    A group that holds one group of the level below, of the same label, is the same node repeated: that is how
    a shallow leaf reaches its parent. A level that only repeats adds nothing and is left out. Without any
    leaf the tree is a root alone.
    """
    if len(levels[0].labels) == 0:
        zero = np.zeros(1, dtype=np.int32)
        return Tree(zero.reshape(1, 1), (ROOT_LABEL,), zero + 1, zero)
    builder = _Builder(levels[0])
    for level in levels[1:]:
        builder.add(level)
    return builder.tree()


class _Builder:
    """A tree while it grows upwards, level by level."""

    def __init__(self, leaf: Level) -> None:
        self.leaves = len(leaf.labels)
        self.below = leaf
        self.node = np.arange(self.leaves, dtype=np.int64)  # of each group of the level below
        self.height = np.zeros(self.leaves, dtype=np.int64)
        self.count = self.leaves
        self.rows = [self.node.astype(np.int32)]
        self.labels = [leaf.labels]
        self.leaf_counts = [np.ones(self.leaves, dtype=np.int64)]
        self.heights = [self.height]

    def add(self, level: Level) -> None:
        """Put one more level on top."""
        first = np.searchsorted(self.below.starts, level.starts)
        children = np.diff(first, append=len(self.below.starts))
        child_labels = self.below.labels.take(pa.array(first))
        same_label = pc.equal(level.labels, child_labels).to_numpy(zero_copy_only=False)
        new = ~((children == 1) & same_label)
        node = np.where(new, self.count + np.cumsum(new) - 1, self.node[first])
        height = np.where(new, np.maximum.reduceat(self.height, first) + 1, self.height[first])
        self.below, self.node, self.height = level, node, height
        if not new.any():
            return
        size = np.diff(level.starts, append=self.leaves)
        self.count += int(new.sum())
        self.rows.append(np.repeat(node, size).astype(np.int32))
        self.labels.append(level.labels.filter(pa.array(new)))
        self.leaf_counts.append(size[new])
        self.heights.append(height[new])

    def tree(self) -> Tree:
        """Return what has been built."""
        labels = pa.concat_arrays(self.labels).to_numpy(zero_copy_only=False).tolist()
        return Tree(
            nodes=np.stack(self.rows),
            labels=tuple(labels),
            leaf_counts=np.concatenate(self.leaf_counts).astype(np.int32),
            heights=np.concatenate(self.heights).astype(np.int32),
        )


def with_root_leaf(tree: Tree) -> Tree:
    """Return the tree with one more leaf, the last, that is the root at every level.

    It stands for all values a hierarchy does not know: they cost what the root costs.
    """
    unknown = np.full((tree.levels, 1), tree.root, dtype=np.int32)
    leaf_counts = tree.leaf_counts.copy()
    leaf_counts[tree.root] += 1
    return Tree(np.concatenate([tree.nodes, unknown], axis=1), tree.labels, leaf_counts, tree.heights)
