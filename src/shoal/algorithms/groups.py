"""Groups of records at a node of a lattice, made from those of a finer node."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from .ladders import Ladders, Node

if TYPE_CHECKING:
    from ..kernels.roll_up import Values
    from ..kernels.rules import Rules


@dataclass(frozen=True, slots=True, eq=False)
class Groups:
    """The groups of records at a node.

    Attributes
    ----------
    node : int8[q]
    member : int32[groups]
        One record of each group, which stands for all: they are alike at this node.
    count : int32[groups]
        Records of each group.
    values : Values, optional
        Their sensitive values, where the rules look at these.
    """

    node: NDArray[np.int8]
    member: NDArray[np.int32]
    count: NDArray[np.int32]
    values: Values | None

    @classmethod
    def records(cls, encoded: Encoded, rules: Rules, lowest: Node) -> Groups:
        """Return every record as a group of its own, finer than any node from `lowest` on."""
        values = None
        if not rules.plain:
            from ..kernels.roll_up import record_values

            values = record_values(encoded.flat_sensitive())
        everyone = np.arange(encoded.records, dtype=np.int32)
        return cls(np.array(lowest, dtype=np.int8), everyone, np.ones_like(everyone), values)

    def __len__(self) -> int:
        return len(self.member)

    def rolled_up(
        self, ladders: Ladders, node: Node, rules: Rules, most: int
    ) -> tuple[Groups, NDArray[np.int32]] | None:
        """Return (groups of a coarser node, the one each of these becomes part of); None if over `most`."""
        from ..kernels.roll_up import roll_up, roll_up_values

        keys = ladders.keys(node)
        found, parent, member, count = roll_up(ladders.kernel, keys, self.member, self.count, most)
        if found < 0:
            return None
        values = self.values
        if values is not None:
            values = roll_up_values(values, parent, found, len(rules.overall))
        return Groups(np.array(node, dtype=np.int8), member, count, values), parent

    def keeping(self, rules: Rules) -> NDArray[np.bool_]:
        """Return which groups keep every promise."""
        if self.values is None:
            return self.count >= rules.k
        from ..kernels.roll_up import groups_ok

        found: NDArray[np.bool_] = groups_ok(rules, self.values, self.count)
        return found

    def only(self, chosen: NDArray[np.bool_]) -> Groups:
        """Return some of these groups."""
        values = self.values
        if values is not None:
            lengths = np.diff(values.starts)
            listed = np.repeat(chosen, lengths)
            starts = np.concatenate([[0], np.cumsum(lengths[chosen])]).astype(np.int64)
            values = type(values)(starts, values.value[listed], values.count[listed])
        return Groups(self.node, self.member[chosen], self.count[chosen], values)
