"""beta-likeness: no sensitive value becomes much more likely in a class than it is in the table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..params import Flag, Real, param
from .base import SensitiveModel
from .compile import RulesDraft
from .limits import MARGIN, limits, rational
from .statistics import ClassStatistics


@dataclass(frozen=True)
class BetaLikeness(SensitiveModel):
    """A value of share p in the table has at most the share (1 + beta) p in any class.

    Enhanced: at most (1 + min(beta, -ln p)) p, which also binds frequent values. The table is all records
    that are not suppressed; null counts as a value. Values rarer in a class than in the table are free.

    References
    ----------
    Cao, J. and Karras, P. (2012): Publishing microdata with a robust privacy guarantee. PVLDB 5(11).

    Examples
    --------
    >>> print(BetaLikeness(1, enhanced=True))
    beta-likeness(beta=1.0, enhanced=True)
    """

    name: ClassVar[str] = "beta-likeness"
    summary: ClassVar[str] = (
        "no sensitive value is more than 1 + beta times as likely in a class as in the table"
    )
    reference: ClassVar[str] = "Cao and Karras 2012"
    way_out: ClassVar[str] = "Raise beta."
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    beta: float = param(Real(0, open_low=True), "greatest relative gain of a value")
    enhanced: bool = param(Flag(), "bind each value by -ln of its share as well", default=False)

    def tighten(self, draft: RulesDraft, column: int) -> None:
        draft.require_caps(column, self._caps(draft.counts(column)))

    def achieved_by_class(self, statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
        """Return the greatest relative gain; infinite where no beta would do for the enhanced model."""
        counts = statistics.sensitive[column]
        expected = counts.overall[counts.values] * statistics.sizes[counts.classes].astype(np.float64)
        total = float(counts.overall.sum())
        gains = (counts.counts * total - expected) / expected
        achieved = statistics.per_class_max(column, gains)
        if self.enhanced:
            caps = _natural_caps(counts.overall.astype(np.float64))
            achieved[~statistics.within(column, np.zeros(len(caps)), caps)] = np.inf
        return achieved

    def holds(self, statistics: ClassStatistics, column: int) -> NDArray[np.bool_]:
        caps = self._caps(statistics.sensitive[column].overall.astype(np.float64))
        return statistics.within(column, np.zeros(len(caps)), caps)

    def required(self) -> float:
        return self.beta

    def _caps(self, overall: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the greatest share of each value in a class, from its count in the table."""
        total = max(int(overall.sum()), 1)
        factor = 1 + rational(self.beta)
        caps = limits(float(factor.numerator) * overall, float(factor.denominator) * total, total)
        return np.minimum(caps, _natural_caps(overall)) if self.enhanced else caps


def _natural_caps(overall: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return (1 - ln p) p for each value, rounded towards refusal; the share p itself is always within."""
    total = max(int(overall.sum()), 1)
    shares = overall / total
    logs = np.log(shares, out=np.zeros(len(shares)), where=shares > 0)
    return np.maximum((1.0 - logs) * shares * (1.0 - MARGIN), limits(overall, total, total))
