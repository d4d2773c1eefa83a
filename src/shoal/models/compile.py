"""All models of a policy -> one `Rules`: thresholds that kernels compare class statistics with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded

if TYPE_CHECKING:
    from ..kernels.rules import Rules
    from .base import Model


@dataclass(slots=True, eq=False)
class RulesDraft:
    """Thresholds being tightened, model by model. The fields are those of `Rules`, before they are frozen."""

    encoded: Encoded
    k: int
    start: NDArray[np.int64]
    min_distinct: NDArray[np.int64]
    min_entropy: NDArray[np.float64]
    recursive_l: NDArray[np.int64]
    recursive_c: NDArray[np.float64]
    t_equal: NDArray[np.float64]
    t_ordered: NDArray[np.float64]
    t_tree: NDArray[np.float64]
    share: NDArray[np.float64]
    floor: NDArray[np.float64]
    cap: NDArray[np.float64]

    def values(self, column: int) -> slice:
        """Return where the values of a sensitive column lie in the arrays over all values."""
        return slice(int(self.start[column]), int(self.start[column + 1]))


def compile_rules(
    models: tuple[Model, ...], encoded: Encoded, kept: NDArray[np.bool_] | None = None
) -> Rules:
    """Return the thresholds of all models together, over the records in `kept` (all when None)."""
    raise NotImplementedError
