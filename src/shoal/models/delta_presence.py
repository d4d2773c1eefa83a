"""delta-presence: nobody learns with certainty that a person of the population is in the table, or is not."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..params import Real, param
from .compile import RulesDraft
from .limits import limits, rational
from .population import PopulationModel
from .statistics import ClassStatistics


@dataclass(frozen=True, repr=False)
class DeltaPresence(PopulationModel):
    """Of the population records that fit a class, a share between `low` and `high` is in the table.

    The population must hold the people of the table. A class that fewer population records fit than it has
    members itself breaks the promise, and so does one that none fit. Not monotone: the cells of a union can
    reach beyond those of its parts.

    References
    ----------
    Nergiz, M. E., Atzori, M. and Clifton, C. (2007): Hiding the presence of individuals from shared
    databases. SIGMOD.

    Examples
    --------
    >>> DeltaPresence(0, 0.5, population="people.parquet")
    DeltaPresence(population='people.parquet', low=0.0, high=0.5)
    """

    name: ClassVar[str] = "delta-presence"
    summary: ClassVar[str] = "the share of the population that a class takes lies between two bounds"
    reference: ClassVar[str] = "Nergiz et al. 2007"
    way_out: ClassVar[str] = "Widen the bounds, or give a larger population."
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    low: float = param(Real(0, 1), "least share of fitting population records that are in the table")
    high: float = param(Real(0, 1), "greatest share of fitting population records that are in the table")

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.low > self.high:
            raise ParameterError(f"'low' of {self.name} must not be above 'high'")

    @property
    def monotone(self) -> bool:
        """Whether a union of two classes that keep the promise keeps it too."""
        return False

    def tighten(self, draft: RulesDraft, column: int) -> None:
        """Leave the draft alone: the condition is not one on the statistics of a class."""

    def achieved_by_class(self, statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
        """Return the share of the fitting population records that are in the class; infinite below `low`."""
        counts = self.population_counts(statistics)
        shares = np.full(len(counts), np.inf)
        np.divide(statistics.sizes, counts, out=shares, where=counts > 0)
        shares[~self._enough(statistics.sizes, counts)] = np.inf
        return shares

    def holds(self, statistics: ClassStatistics, column: int) -> NDArray[np.bool_]:
        counts = self.population_counts(statistics)
        high = rational(self.high)
        most = limits(high.numerator, high.denominator, int(counts.max(initial=1)))
        within = statistics.sizes <= most * counts  # high is at most 1, so the class fits into the population
        return np.asarray(within & self._enough(statistics.sizes, counts))

    def _enough(self, sizes: NDArray[np.int64], counts: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Return the classes whose share reaches `low`."""
        rest = 1 - rational(self.low)  # a share of at least low is a rest of at most 1 - low
        most = limits(rest.numerator, rest.denominator, int(counts.max(initial=1)))
        return np.asarray(counts - sizes <= most * counts)

    def required(self) -> float:
        return self.high
