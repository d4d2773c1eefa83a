"""k-anonymity: every record shares its quasi-identifiers with at least k - 1 others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..params import Integer, param
from .base import Model
from .compile import RulesDraft
from .statistics import ClassStatistics


@dataclass(frozen=True)
class KAnonymity(Model):
    """Every class has at least `k` records.

    References
    ----------
    Samarati, P. and Sweeney, L. (1998): Protecting privacy when disclosing information.

    Examples
    --------
    >>> print(KAnonymity(5))
    k-anonymity(k=5)
    """

    name: ClassVar[str] = "k-anonymity"
    summary: ClassVar[str] = "every record hides among at least k records with the same quasi-identifiers"
    reference: ClassVar[str] = "Samarati and Sweeney 1998"
    way_out: ClassVar[str] = "Lower k."

    k: int = param(Integer(1), "least number of records in a class")

    @property
    def lasting(self) -> bool:
        """Whether a class that keeps the promise keeps it whoever joins it and whoever else is suppressed."""
        return True

    def tighten(self, draft: RulesDraft, column: int) -> None:
        draft.require_size(self.k)

    def achieved_by_class(self, statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
        return statistics.sizes.astype(np.float64)

    def holds(self, statistics: ClassStatistics, column: int) -> NDArray[np.bool_]:
        return statistics.sizes >= self.k

    def required(self) -> float:
        return float(self.k)
