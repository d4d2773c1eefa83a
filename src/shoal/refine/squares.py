"""Squared errors: what classes of points cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..embedding import Embedding
from ..encoding import Encoded
from ..partitions import Partition
from .losses import Losses
from .settings import Refine
from .targets import TargetLoss

if TYPE_CHECKING:
    from ..kernels.refining import Points

_LINE_STEPS = 1 << 20  # of the widest coordinate, where near points are looked for
_SQUARES = 1 << 50  # whole units of all squared distances from the mean of the table


class SquaredError(Losses):
    """The squared error of class means, of all squared distances from the mean of the table.

    Near records are found, and large classes divided, by the sum of the distances along the coordinates.
    """

    def __init__(self, encoded: Encoded, refine: Refine) -> None:
        from ..kernels.k_member_index import Columns
        from ..kernels.space import LINE

        self.embedded = Embedding.of(encoded).points
        low = self.embedded.min(axis=1, keepdims=True)
        widest = float((self.embedded - low).max(initial=0.0))
        step = _LINE_STEPS / widest if widest > 0 else 0.0
        self.values = np.ascontiguousarray(np.rint((self.embedded - low) * step).T.astype(np.int32))
        d, nothing = len(self.embedded), np.zeros(0, dtype=np.int32)
        one = np.ones(d, dtype=np.int64)
        full = one * _LINE_STEPS
        start = np.zeros(d + 1, dtype=np.int64)
        kind = np.full(d, LINE, dtype=np.int8)
        self.columns = Columns(kind, one, full, full, start, start[:-1], nothing, nothing)
        self.records = encoded.records
        self.target = TargetLoss(encoded, refine, 0)  # none: refused by `Refine`
        self.around = self.embedded - self.embedded.mean(axis=1, keepdims=True)
        self.total = float((self.around**2).sum())
        self.cells = _SQUARES

    def fixed(self, suppressed: int) -> int:
        """Return the loss that no rearrangement changes: the mean share of those who are suppressed."""
        return int(self.cells * suppressed / self.records)

    def points(self) -> Points:
        """Return the records as points."""
        from ..kernels.refining import Points

        scale = self.cells / self.total if self.total > 0 else 0.0
        return Points(np.ascontiguousarray(self.around.T), scale)

    def by_class(self, partition: Partition) -> NDArray[np.int64]:
        """Return the squared error of every class."""
        from ..kernels.squaring import class_squares

        found: NDArray[np.int64] = class_squares(self.points(), partition.order, partition.offsets)
        return found
