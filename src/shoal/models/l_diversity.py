"""l-diversity: every class holds several sensitive values, well mixed."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError
from ..params import Choice, Optional, Real, param
from .base import SensitiveModel
from .compile import RulesDraft
from .limits import MARGIN, limits, rational
from .statistics import ClassStatistics


@dataclass(frozen=True)
class LDiversity(SensitiveModel):
    """Every class has at least `l` well represented sensitive values, in one of three senses.

    ``distinct``: at least `l` different values. ``entropy``: the Shannon entropy of the values is at least
    ln(l). ``recursive``: with the counts in descending order r_1, r_2, ..., r_1 < c (r_l + r_(l+1) + ...).
    Null counts as a value.

    References
    ----------
    Machanavajjhala, A., Kifer, D., Gehrke, J. and Venkitasubramaniam, M. (2007): l-diversity: Privacy beyond
    k-anonymity. ACM TKDD 1(1).

    Examples
    --------
    >>> print(LDiversity(2))
    l-diversity(l=2)
    >>> print(LDiversity(3, kind="recursive", c=2))
    l-diversity(l=3, kind=recursive, c=2.0)
    """

    name: ClassVar[str] = "l-diversity"
    summary: ClassVar[str] = "every class holds at least l well represented sensitive values"
    reference: ClassVar[str] = "Machanavajjhala et al. 2007"
    way_out: ClassVar[str] = (
        "Lower l (or raise c), or leave the column out by naming the others in 'columns'."
    )

    l: float = param(Real(1), "number of values; whole unless kind is entropy")  # noqa: E741
    kind: str = param(
        Choice(("distinct", "entropy", "recursive")), "what well represented means", default="distinct"
    )
    c: float | None = param(
        Optional(Real(0, open_low=True)), "for recursive: how dominant one value may be", default=None
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.kind != "entropy":
            if not float(self.l).is_integer():
                raise ParameterError(f"'l' of {self.name} must be a whole number when kind is {self.kind!r}")
            object.__setattr__(self, "l", int(self.l))
        if self.kind == "recursive" and self.c is None:
            raise ParameterError(
                f"{self.name} of kind 'recursive' needs 'c'",
                hint="For example c=3: no value more than three times as frequent as the rest.",
            )
        if self.kind != "recursive" and self.c is not None:
            raise ParameterError(f"'c' of {self.name} has a meaning only when kind is 'recursive'")

    @property
    def lasting(self) -> bool:
        """Whether a class that keeps the promise keeps it whoever joins it and whoever else is suppressed."""
        return self.kind == "distinct"

    def tighten(self, draft: RulesDraft, column: int) -> None:
        draft.require_distinct(column, math.ceil(self.l))
        if self.kind == "entropy":
            draft.min_entropy[column] = max(draft.min_entropy[column], math.log(self.l))
        elif self.kind == "recursive":
            c = rational(self.c or 0)
            draft.recursive_l[column] = max(draft.recursive_l[column], int(self.l))
            draft.require_at_most(draft.recursive_c, column, self._limit(draft.records))
            # Most favourable are classes of different values: 1 < c (n - l + 1).
            draft.require_size(int(self.l) + int(1 / c))

    def _limit(self, records: int) -> float:
        c = rational(self.c or 0)
        return float(limits(c.numerator, c.denominator, records, strict=True))

    def achieved_by_class(self, statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
        """Return distinct values, exp(entropy), or for recursive the least number that c must stay above."""
        if self.kind == "distinct":
            return statistics.distinct(column).astype(np.float64)
        if self.kind == "entropy":
            return np.asarray(np.exp(_entropies(statistics, column)))
        largest, tail = statistics.tails(column, int(self.l))
        ratios = np.full(len(tail), np.inf)
        np.divide(largest, tail, out=ratios, where=tail > 0)
        return ratios

    def holds(self, statistics: ClassStatistics, column: int) -> NDArray[np.bool_]:
        distinct = statistics.distinct(column)
        enough = distinct >= self.l
        if self.kind == "distinct":
            return enough
        if self.kind == "entropy":
            uniform = statistics.largest(column) * distinct == statistics.sizes
            mixed = _entropies(statistics, column) >= math.log(self.l) * (1.0 + MARGIN)
            return np.asarray(enough & (uniform | mixed))
        largest, tail = statistics.tails(column, int(self.l))
        return np.asarray(enough & (largest < self._limit(int(statistics.sizes.sum())) * tail))

    def required(self) -> float:
        return float(self.c or 0) if self.kind == "recursive" else float(self.l)


def _entropies(statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
    """Return the Shannon entropy of every class, in natural units."""
    counts = statistics.sensitive[column]
    shares = counts.counts / statistics.sizes[counts.classes]
    return statistics.per_class_sum(column, -shares * np.log(shares))
