"""(alpha, k)-anonymity: k records in every class, and no sensitive value too frequent in it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..encoding import SensitiveColumn
from ..errors import PolicyError
from ..params import Integer, Names, Real, param
from .base import SensitiveModel
from .compile import RulesDraft
from .limits import limits, rational
from .statistics import ClassStatistics


@dataclass(frozen=True)
class AlphaK(SensitiveModel):
    """Every class has at least `k` records, and no value takes more than the share `alpha` of it.

    Without `values` every value is limited (the general model), with them only those (the simple model).
    Null counts as a value of the general model.

    References
    ----------
    Wong, R. C.-W., Li, J., Fu, A. W.-C. and Wang, K. (2006): (alpha, k)-anonymity: an enhanced k-anonymity
    model for privacy preserving data publishing. KDD.

    Examples
    --------
    >>> print(AlphaK(0.5, 5))
    alpha-k(alpha=0.5, k=5)
    """

    name: ClassVar[str] = "alpha-k"
    summary: ClassVar[str] = (
        "every class holds at least k records, and no sensitive value beyond the share alpha"
    )
    reference: ClassVar[str] = "Wong et al. 2006"
    way_out: ClassVar[str] = (
        "Raise alpha, lower k, or limit only the values that are sensitive (values=[...])."
    )
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    alpha: float = param(Real(0, 1, open_low=True), "greatest share of one value in a class")
    k: int = param(Integer(1), "least number of records in a class")
    values: tuple[str, ...] = param(
        Names(), "the values that are limited, written as text; all when empty", default=()
    )

    def tighten(self, draft: RulesDraft, column: int) -> None:
        self._check_values(draft)
        draft.require_size(self.k)
        draft.require_caps(column, self._caps(draft.encoded.sensitive[column], draft.records))

    def achieved_by_class(self, statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
        """Return the share of the most frequent limited value; infinite for a class below `k` records."""
        counts = statistics.sensitive[column]
        shares = counts.counts / statistics.sizes[counts.classes]
        shares = np.where(self._limited(counts.column)[counts.values], shares, 0.0)
        return np.where(statistics.sizes >= self.k, statistics.per_class_max(column, shares), np.inf)

    def holds(self, statistics: ClassStatistics, column: int) -> NDArray[np.bool_]:
        caps = self._caps(statistics.sensitive[column].column, int(statistics.sizes.sum()))
        return (statistics.sizes >= self.k) & statistics.within(column, np.zeros(len(caps)), caps)

    def required(self) -> float:
        return self.alpha

    def _caps(self, column: SensitiveColumn, records: int) -> NDArray[np.float64]:
        alpha = rational(self.alpha)
        cap = limits(alpha.numerator, alpha.denominator, records)
        return np.where(self._limited(column), cap, np.inf)

    def _limited(self, column: SensitiveColumn) -> NDArray[np.bool_]:
        if not self.values:
            return np.ones(column.size, dtype=bool)
        texts = column.values.cast(pa.string()).to_pylist()
        return np.array([text in self.values for text in texts], dtype=bool)

    def _check_values(self, draft: RulesDraft) -> None:
        """Raise when no listed value occurs at all: a misspelt value would protect nothing."""
        names = self.sensitive_columns(tuple(column.name for column in draft.encoded.sensitive))
        chosen = [column for column in draft.encoded.sensitive if column.name in names]
        if not any(self._limited(column).any() for column in chosen):
            raise PolicyError(
                f"none of the {len(self.values)} 'values' of {self.name} occurs in "
                + ", ".join(repr(column.name) for column in chosen),
                hint="Write them as they stand in the table.",
            )
