"""Levels of hierarchies that a policy asks for: how far cells have to be generalised, and may be."""

from __future__ import annotations

from .encoding import Encoded
from .errors import PolicyUnsatisfiable
from .metrics.hulls import Hulls
from .partitions import Partition


def at_least(partition: Partition, encoded: Encoded) -> Partition:
    """Return the partition with every column published at the policy's least level or above."""
    least = tuple(column.lowest for column in encoded.quasi)
    return partition if partition.levels or not any(least) else partition.with_levels(least)


def check_most(partition: Partition, encoded: Encoded) -> None:
    """Raise when a class generalises a column further than the policy allows."""
    limited = [j for j, column in enumerate(encoded.quasi) if column.highest < column.top]
    if not limited:
        return
    hulls = Hulls.of(encoded, partition)
    for j in limited:
        column = encoded.quasi[j]
        above = int((hulls.climbed(j) > column.highest).sum())
        if above:
            raise PolicyUnsatisfiable(
                f"{above} of {partition.classes} classes generalise {column.name!r} above its most_level",
                hint="Use lattice, datafly or local, which keep to levels; raise most_level, or the limit on "
                "suppression.",
            )
