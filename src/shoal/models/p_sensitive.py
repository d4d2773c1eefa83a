"""p-sensitive k-anonymity: k records and p different sensitive values in every class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..params import Integer, param
from .base import SensitiveModel
from .compile import RulesDraft
from .statistics import ClassStatistics


@dataclass(frozen=True)
class PSensitive(SensitiveModel):
    """Every class has at least `k` records and at least `p` different values of each sensitive column.

    References
    ----------
    Truta, T. M. and Vinay, B. (2006): Privacy protection: p-sensitive k-anonymity property. ICDE Workshops.

    Examples
    --------
    >>> print(PSensitive(2, 5))
    p-sensitive(p=2, k=5)
    """

    name: ClassVar[str] = "p-sensitive"
    summary: ClassVar[str] = "every class holds at least k records and p different sensitive values"
    reference: ClassVar[str] = "Truta and Vinay 2006"
    way_out: ClassVar[str] = "Lower p or k, or leave the column out by naming the others in 'columns'."

    p: int = param(Integer(1), "least number of different sensitive values in a class")
    k: int = param(Integer(1), "least number of records in a class")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.p > self.k:
            raise ParameterError(
                f"'p' of {self.name} must be at most k: {self.k} records cannot hold {self.p} values"
            )

    @property
    def lasting(self) -> bool:
        """Whether a class that keeps the promise keeps it whoever joins it and whoever else is suppressed."""
        return True

    def tighten(self, draft: RulesDraft, column: int) -> None:
        draft.require_size(self.k)
        draft.require_distinct(column, self.p)

    def achieved_by_class(self, statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
        """Return the number of different values; 0 for a class of fewer than `k` records."""
        return np.where(statistics.sizes >= self.k, statistics.distinct(column), 0).astype(np.float64)

    def holds(self, statistics: ClassStatistics, column: int) -> NDArray[np.bool_]:
        return (statistics.sizes >= self.k) & (statistics.distinct(column) >= self.p)

    def required(self) -> float:
        return float(self.p)


def most_classes(p: int, columns: Sequence[NDArray[np.integer]]) -> int:
    """Return how many classes a p-sensitive table can have at most: the necessary conditions of the paper.

    A class needs ``i`` records outside the ``p - i`` most frequent values, for each ``i`` below p, so the
    records outside them, divided by ``i``, bound the number of classes. 0 means that p cannot be reached.

    Parameters
    ----------
    p : int
        Values asked for in every class.
    columns : sequence of arrays
        How often each value of each sensitive column occurs.

    Examples
    --------
    >>> import numpy as np
    >>> most_classes(2, [np.array([7, 2, 1])])
    3
    """
    bound = min(int(np.sum(counts)) for counts in columns)
    for counts in columns:
        descending = np.sort(counts[counts > 0])[::-1]
        if len(descending) < p:
            return 0
        covered = np.cumsum(descending)
        for i in range(1, p):
            bound = min(bound, int(covered[-1] - covered[p - i - 1]) // i)
    return bound
