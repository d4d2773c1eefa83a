"""Which records a table of classes would do better without, within the policy's limit of suppression."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..models.base import Model
from ..models.compile import compile_rules
from ..partitions import Partition
from ..progress import Run

if TYPE_CHECKING:
    from ..kernels.rules import Rules
    from ..kernels.space import Space


def outliers(partition: Partition, encoded: Encoded, space: Space, most: int) -> NDArray[np.bool_]:
    """Return which records to suppress, at most so many: one a class, where the loss falls by it.

    A suppressed record counts as fully generalised. The greatest gains come first, ties by record.
    """
    from ..kernels.sparing import gains_without

    gain, record = gains_without(encoded.codes, space, partition.order, partition.offsets)
    best = np.lexsort((record, -gain))[:most]
    found = np.zeros(partition.records, dtype=np.bool_)
    found[record[best[gain[best] > 0]]] = True
    return found


def rules_of(kept: NDArray[np.bool_], encoded: Encoded, rules: Rules, run: Run) -> Rules:
    """Return the rules over the records that are kept."""
    models: dict[int, Model] = {id(model): model for model, _ in run.promises}
    return compile_rules(tuple(models.values()), encoded, kept) if models else rules


def total_cost(partition: Partition, encoded: Encoded, space: Space) -> int:
    """Return the loss of all records in whole numbers, suppressed ones as fully generalised."""
    from ..kernels.merging import make_hull

    hull = make_hull(space, np.ascontiguousarray(encoded.codes.T), partition.order, partition.offsets)
    return int((hull.size * hull.cost).sum()) + partition.suppressed * int(space.full.sum())
