"""A target column that classes should tell much of, as a loss in the units of the others."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..errors import PolicyError
from ..partitions import Partition
from .settings import Refine

if TYPE_CHECKING:
    from ..kernels.target import Target

_LABELS = 256  # of a target, at most: they are counted for every class that is tried


class TargetLoss:
    """What a partition loses of a target column: `cm`, or 1 - `information-gain`."""

    def __init__(self, encoded: Encoded, refine: Refine, full: int) -> None:
        from ..kernels.target import Target

        weight = refine.target_weight / (1 - refine.target_weight) if refine.target is not None else 0.0
        self.weight = round(weight * full)
        self.unit = self.weight  # of a record that is suppressed
        label, labels, majority, unit = np.zeros(0, dtype=np.int32), 0, True, float(self.unit)
        if refine.target is not None:
            label, counts = _labels(encoded, refine.target)
            labels, majority = len(counts), refine.target_loss == "cm"
            if not majority and labels == 1:
                self.unit, unit = 0, 0.0
            elif not majority:
                share = counts / encoded.records
                unit /= -float((share * np.log(share)).sum())
        self.kernel: Target = Target(label, labels, majority, unit)

    def by_class(self, partition: Partition) -> NDArray[np.int64]:
        """Return the loss of every class, all its records together."""
        from ..kernels.target import label_losses

        if self.kernel.labels == 0:
            return np.zeros(partition.classes, dtype=np.int64)
        found: NDArray[np.int64] = label_losses(self.kernel, partition.order, partition.offsets)
        return found

    def share(self, partition: Partition) -> float:
        """Return the mean loss of a record: what `cm` or 1 - `information-gain` say of a partition."""
        lost = int(self.by_class(partition).sum()) + partition.suppressed * self.unit
        return lost / (self.unit * partition.records) if self.unit > 0 else 0.0


def _labels(encoded: Encoded, name: str) -> tuple[NDArray[np.int32], NDArray[np.int64]]:
    """Return the labels of a column, numbered from 0, and how many records have each."""
    codes, _size = encoded.column_codes(name)
    _, label, counts = np.unique(codes, return_inverse=True, return_counts=True)
    if len(counts) > _LABELS:
        raise PolicyError(
            f"{name!r} has {len(counts):,} different values, too many for the target of refining",
            hint=f"A target may have up to {_LABELS}: name a column of labels, or one in bands.",
        )
    return label.astype(np.int32), counts.astype(np.int64)
