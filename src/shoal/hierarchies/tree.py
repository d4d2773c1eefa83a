"""Tree: a hierarchy bound to the values of one column, as rectangular integer arrays."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

ROOT_LABEL = "*"


@dataclass(frozen=True, slots=True, eq=False)
class Tree:
    """A bound hierarchy. Leaves are numbered in depth-first order, so any node covers a run of them.

    Attributes
    ----------
    nodes : int32[levels, leaves]
        Node of each leaf at each level: row 0 the leaf itself, the last row the root everywhere.
        A shallow leaf repeats its node upwards until its parent's level. Where values unknown to the
        hierarchy are let in, the last leaf stands for them and is the root at every level.
    labels : tuple of str
        Published label of each node.
    leaf_counts : int32[node]
        Leaves under each node; 1 for a leaf.
    heights : int32[node]
        Longest way down from each node to a leaf; 0 for a leaf.
    """

    nodes: NDArray[np.int32]
    labels: tuple[str, ...]
    leaf_counts: NDArray[np.int32]
    heights: NDArray[np.int32]

    @property
    def levels(self) -> int:
        """Number of levels, leaf and root included."""
        return len(self.nodes)

    @property
    def leaves(self) -> int:
        """Number of leaves."""
        return int(self.nodes.shape[1])

    @property
    def root(self) -> int:
        """Id of the root node."""
        return int(self.nodes[-1, 0])

    def node_losses(self) -> NDArray[np.float64]:
        """Return (leaves under the node - 1) / (leaves - 1) for every node, the loss shoal charges."""
        return (self.leaf_counts - 1) / max(self.leaves - 1, 1)

    def node_height_losses(self) -> NDArray[np.float64]:
        """Return height(node) / height(tree) for every node, the loss of Byun et al. (2006)."""
        return self.heights / max(int(self.heights[self.root]), 1)

    def common_ancestors(
        self, low: NDArray[np.integer], high: NDArray[np.integer], least: int = 0
    ) -> NDArray[np.int32]:
        """Return the lowest common ancestor, at `least` or above, of all leaves from `low` to `high`."""
        found = np.full(len(low), self.root, dtype=np.int32)
        for level in range(self.levels - 1, least - 1, -1):
            same = self.nodes[level, low] == self.nodes[level, high]
            found[same] = self.nodes[level, low[same]]
        return found
