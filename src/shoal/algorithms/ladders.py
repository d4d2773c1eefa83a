"""Ladders: how every quasi-identifier climbs level by level, and what its cells still tell at each."""

from __future__ import annotations

from dataclasses import dataclass
from math import prod
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded, QuasiColumn

if TYPE_CHECKING:
    from ..kernels.roll_up import Keys, Levels

Node = tuple[int, ...]  # a level for each quasi-identifier

LOSSES = ("leaves", "height", "levels", "entropy")
_ROOM = 1 << 62  # keys below this are numbers, above they are hashes
_HASHES = 5  # seed of the factors of hashes: any will do, since equal hashes are looked at again


@dataclass(frozen=True, slots=True, eq=False)
class Ladders:
    """The levels of all quasi-identifiers, and what they tell, in whole units of `kernels.space.UNIT`.

    A cell tells its weight minus its loss, so it tells less at every level and nothing when suppressed; the
    loss of a table is what it tells as it is minus what its cells still tell.

    Attributes
    ----------
    low, high : Node
        The least and greatest level that each column may be published at.
    nodes : per column, int64[levels]
        Number of nodes of each level, null being one of its own below the top.
    occurring : per column, int64[levels]
        Number of those that hold records.
    told : per column, int64[levels]
        What the whole column tells at each level.
    bits : per column, float64[levels]
        Entropy of the column at each level.
    full : int
        What the table tells as it is.
    kernel : Levels
        The same for kernels, cell by cell.
    """

    low: Node
    high: Node
    nodes: tuple[NDArray[np.int64], ...]
    occurring: tuple[NDArray[np.int64], ...]
    told: tuple[NDArray[np.int64], ...]
    bits: tuple[NDArray[np.float64], ...]
    full: int
    kernel: Levels

    @classmethod
    def of(cls, encoded: Encoded, loss: str) -> Ladders:
        """Return the ladders of a table under one of `LOSSES`."""
        from ..kernels.roll_up import Levels
        from ..kernels.space import UNIT

        counts = [np.bincount(encoded.codes[:, j], minlength=c.size + 1) for j, c in enumerate(encoded.quasi)]
        numbers = [level_nodes(column) for column in encoded.quasi]
        told = [
            np.rint(_TOLD[loss](column, count) * (UNIT * column.spec.weight)).astype(np.int64)
            for column, count in zip(encoded.quasi, counts, strict=True)
        ]
        width = np.array([number.shape[1] for number in numbers], dtype=np.int64)
        sizes = [number.size for number in numbers]
        kernel = Levels(
            codes=np.ascontiguousarray(encoded.codes),
            at=np.concatenate([[0], np.cumsum(sizes)])[:-1].astype(np.int64),
            width=width,
            node=np.concatenate([number.ravel() for number in numbers]).astype(np.int32),
            told=np.concatenate([t.ravel() for t in told]).astype(np.int64),
        )
        return cls(
            low=tuple(column.lowest for column in encoded.quasi),
            high=tuple(column.highest for column in encoded.quasi),
            nodes=tuple(number.max(axis=1).astype(np.int64) + 1 for number in numbers),
            occurring=tuple(_occurring(number, count) for number, count in zip(numbers, counts, strict=True)),
            told=tuple(t @ count for t, count in zip(told, counts, strict=True)),
            bits=tuple(_entropies(number, count) for number, count in zip(numbers, counts, strict=True)),
            full=sum(
                int(np.rint(_worth(loss, count) * (UNIT * column.spec.weight)) @ count)
                for column, count in zip(encoded.quasi, counts, strict=True)
            ),
            kernel=kernel,
        )

    @property
    def shape(self) -> tuple[int, ...]:
        """Number of levels that each column may be published at."""
        return tuple(high - low + 1 for low, high in zip(self.low, self.high, strict=True))

    @property
    def size(self) -> int:
        """Number of nodes of the lattice."""
        return prod(self.shape)

    def told_at(self, node: Node) -> int:
        """Return what the table tells at a node when nothing is suppressed."""
        return sum(int(told[level]) for told, level in zip(self.told, node, strict=True))

    def gain(self, j: int, level: int, effort: float) -> float:
        """Return what column `j` tells more a level below, per bit that it then sets records apart more.

        With `effort` 0 bits do not count, with 1 they count in full.
        """
        gained = float(self.told[j][level - 1] - self.told[j][level])
        bits = max(float(self.bits[j][level - 1] - self.bits[j][level]), 1e-9)
        return float(gained / bits**effort)

    def keys(self, node: Node) -> Keys:
        """Return how records are told apart at a node."""
        from ..kernels.roll_up import Keys

        at = self.kernel.at + np.array(node, dtype=np.int64) * self.kernel.width
        sizes = [int(nodes[level]) for nodes, level in zip(self.nodes, node, strict=True)]
        room = prod(sizes)
        if room < _ROOM:
            factors = np.array([prod(sizes[j + 1 :]) for j in range(len(sizes))], dtype=np.uint64)
            return Keys(at, factors, room)
        drawn = np.random.default_rng(_HASHES).integers(0, 1 << 63, len(sizes), dtype=np.uint64)
        return Keys(at, drawn * np.uint64(2) + np.uint64(1), 0)


def level_nodes(column: QuasiColumn) -> NDArray[np.int32]:
    """Return int32[levels, codes]: dense numbers of the nodes of each level, null being the last code."""
    found = np.empty((column.top + 1, column.size + 1), dtype=np.int32)
    for level in range(column.top + 1):
        if column.tree is not None:
            nodes, numbers = np.unique(column.tree.nodes[level], return_inverse=True)
            found[level] = np.append(numbers[: column.size], 0 if column.starred(level) else len(nodes))
        else:
            found[level] = 0 if column.starred(level) else np.arange(column.size + 1)
    return found


def _occurring(numbers: NDArray[np.int32], counts: NDArray[np.int64]) -> NDArray[np.int64]:
    return np.array([len(np.unique(row[counts > 0])) for row in numbers], dtype=np.int64)


def _entropies(numbers: NDArray[np.int32], counts: NDArray[np.int64]) -> NDArray[np.float64]:
    shares = [np.bincount(row, weights=counts) / counts.sum() for row in numbers]
    return np.array([-float(some @ np.log2(some)) for some in (share[share > 0] for share in shares)])


def _worth(loss: str, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return what every value of a column tells as long as it is published as it is."""
    return _bits(counts, counts) if loss == "entropy" else np.ones(len(counts))


def _bits(counts: NDArray[np.int64], alike: NDArray[np.number]) -> NDArray[np.float64]:
    """Return log2(records / records with the same cell) as a share of its greatest value."""
    n = int(counts.sum())
    bits: NDArray[np.float64] = np.log2(n / np.maximum(alike, 1)) / max(np.log2(n), 1.0)
    return bits


def _by_loss(losses: NDArray[np.float64], column: QuasiColumn) -> NDArray[np.float64]:
    """Return 1 minus the loss of every cell: null loses nothing below the top, what is starred everything."""
    told = np.ones((column.top + 1, column.size + 1))
    told[:, : column.size] -= losses
    told[[column.starred(level) for level in range(column.top + 1)]] = 0.0
    return told


def _leaves(column: QuasiColumn, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    if column.tree is None:
        return _by_loss(np.zeros((2, column.size)), column)
    return _by_loss(column.tree.node_losses()[column.tree.nodes[:, : column.size]], column)


def _height(column: QuasiColumn, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    if column.tree is None:
        return _by_loss(np.zeros((2, column.size)), column)
    return _by_loss(column.tree.node_height_losses()[column.tree.nodes[:, : column.size]], column)


def _levels(column: QuasiColumn, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    climbed = np.arange(column.top + 1, dtype=np.float64) / max(column.top, 1)
    losses = np.repeat(climbed[:, None], column.size, axis=1)
    if column.tree is not None:  # values the hierarchy does not know are at the root from the start
        losses[:, column.tree.nodes[0, : column.size] == column.tree.root] = 1.0
    return _by_loss(losses, column)


def _entropy(column: QuasiColumn, counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the bits that each cell tells, as a share of log2 of the number of records."""
    alike = np.stack([np.bincount(row, weights=counts)[row] for row in level_nodes(column)])
    if column.tree is not None:
        alike[:, : column.size][column.tree.nodes[:, : column.size] == column.tree.root] = counts.sum()
    return _bits(counts, alike)


_TOLD = {"leaves": _leaves, "height": _height, "levels": _levels, "entropy": _entropy}
