"""delta-disclosure privacy: no sensitive value becomes much more or much less likely in a class."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..params import Choice, Real, param
from .base import SensitiveModel
from .compile import RulesDraft
from .limits import MARGIN
from .statistics import ClassStatistics


@dataclass(frozen=True)
class DeltaDisclosure(SensitiveModel):
    """Every value of share p in the table has a share q with abs(ln(q / p)) < delta in every class.

    A value that is missing from a class has q = 0 and breaks the published definition, whatever delta is;
    ``absent="ignore"`` tests only the values a class holds, as some programs do. Then a union of two good
    classes can be bad: a value that only one of them holds may become too rare. The table is all records that
    are not suppressed; null counts as a value.

    References
    ----------
    Brickell, J. and Shmatikov, V. (2008): The cost of privacy: destruction of data-mining utility in
    anonymized data publishing. KDD.

    Examples
    --------
    >>> print(DeltaDisclosure(1.5))
    delta-disclosure(delta=1.5)
    >>> DeltaDisclosure(1.5).monotone, DeltaDisclosure(1.5, absent="ignore").monotone
    (True, False)
    """

    name: ClassVar[str] = "delta-disclosure"
    summary: ClassVar[str] = (
        "no sensitive value is e^delta times more or less likely in a class than in the table"
    )
    reference: ClassVar[str] = "Brickell and Shmatikov 2008"
    way_out: ClassVar[str] = "Raise delta, or say absent='ignore'."
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    delta: float = param(Real(0, open_low=True), "what every absolute log ratio stays below")
    absent: str = param(Choice(("fail", "ignore")), "what a value missing from a class does", default="fail")

    @property
    def monotone(self) -> bool:
        """Whether a union of two classes that keep the promise keeps it too."""
        return self.absent == "fail"

    def tighten(self, draft: RulesDraft, column: int) -> None:
        overall = draft.counts(column)
        shares = overall / max(draft.records, 1)
        draft.require_caps(column, shares * math.exp(min(self.delta, 700.0)) * (1.0 - MARGIN))
        draft.require_floors(column, shares * math.exp(-self.delta) * (1.0 + MARGIN))
        if self.absent == "fail":
            draft.require_distinct(column, int((overall > 0).sum()))

    def achieved_by_class(self, statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
        """Return the greatest absolute log ratio; infinite where a value is missing, unless ignored."""
        counts = statistics.sensitive[column]
        expected = counts.overall[counts.values] * statistics.sizes[counts.classes].astype(np.float64)
        ratios = counts.counts * float(counts.overall.sum()) / expected
        achieved = statistics.per_class_max(column, np.abs(np.log(ratios)))
        if self.absent == "fail":
            achieved[statistics.distinct(column) < int((counts.overall > 0).sum())] = np.inf
        return achieved

    def holds(self, statistics: ClassStatistics, column: int) -> NDArray[np.bool_]:
        return self.achieved_by_class(statistics, column) < self.delta - MARGIN / 10.0

    def required(self) -> float:
        return self.delta
