"""k-map: every record of the release could be one of at least k people of a population."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..params import Integer, param
from .compile import RulesDraft
from .population import PopulationModel
from .statistics import ClassStatistics


@dataclass(frozen=True, repr=False)
class KMap(PopulationModel):
    """At least `k` records of a population fit the published cells of every class.

    Protects against an attacker who knows the population but not who is in the table, so a class may be
    smaller than `k`. The population should hold the people of the table too.

    References
    ----------
    Sweeney, L. (2001): Computational disclosure control: a primer on data privacy protection. MIT.

    Examples
    --------
    >>> KMap(5, population={"age": [30, 31, 40]})
    KMap(population='<table>', k=5)
    """

    name: ClassVar[str] = "k-map"
    summary: ClassVar[str] = "every record could be one of at least k people of a population"
    reference: ClassVar[str] = "Sweeney 2001"
    way_out: ClassVar[str] = "Lower k, or give a larger population."

    k: int = param(Integer(1), "least number of population records that fit a class")

    @property
    def lasting(self) -> bool:
        """Whether a class that keeps the promise keeps it whoever joins it and whoever else is suppressed."""
        return True

    def tighten(self, draft: RulesDraft, column: int) -> None:
        """Leave the draft alone: the condition is not one on the statistics of a class."""

    def achieved_by_class(self, statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
        return self.population_counts(statistics).astype(np.float64)

    def holds(self, statistics: ClassStatistics, column: int) -> NDArray[np.bool_]:
        return self.population_counts(statistics) >= self.k

    def required(self) -> float:
        return float(self.k)
