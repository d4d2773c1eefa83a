"""t-closeness: the sensitive values of every class are distributed almost as in the whole table."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..encoding import SensitiveColumn
from ..errors import PolicyError
from ..params import Choice, Real, param
from ..schema import Kind
from .base import SensitiveModel
from .compile import RulesDraft
from .distances import moved_equal, moved_ordered, moved_tree
from .limits import limits, rational
from .statistics import ClassStatistics


@dataclass(frozen=True)
class TCloseness(SensitiveModel):
    """The earth mover's distance between every class and the table is at most `t`.

    The ground distance between two values is 1 (``equal``), the difference of their ranks over the greatest
    possible one (``ordered``; null ranks last), or the height of their lowest common ancestor over the height
    of the hierarchy (``hierarchical``). The table is all records that are not suppressed.

    References
    ----------
    Li, N., Li, T. and Venkatasubramanian, S. (2007): t-closeness: Privacy beyond k-anonymity and l-diversity.
    ICDE.

    Examples
    --------
    >>> print(TCloseness(0.3))
    t-closeness(t=0.3)
    """

    name: ClassVar[str] = "t-closeness"
    summary: ClassVar[str] = "sensitive values are distributed in every class almost as in the whole table"
    reference: ClassVar[str] = "Li et al. 2007"
    way_out: ClassVar[str] = "Raise t."
    better: ClassVar[Literal["higher", "lower"]] = "lower"

    t: float = param(Real(0, 1), "greatest distance between a class and the table")
    distance: str = param(
        Choice(("equal", "ordered", "hierarchical")), "how far apart two values are", default="equal"
    )

    def tighten(self, draft: RulesDraft, column: int) -> None:
        self._check(draft.encoded.sensitive[column])
        overall = draft.counts(column)
        unit = self._unit(draft.encoded.sensitive[column], int((overall > 0).sum()))
        thresholds = {"equal": draft.t_equal, "ordered": draft.t_ordered, "hierarchical": draft.t_tree}
        draft.require_at_most(thresholds[self.distance], column, self._limit(draft.records, unit))
        if self.distance == "equal":
            # A class of c records lacks all but c values: it is at least as far as what those c leave over.
            reach = np.cumsum(np.sort(overall)[::-1]) / max(draft.records, 1)
            draft.require_size(int(np.searchsorted(reach, 1 - self.t - 1e-9)) + 1)

    def achieved_by_class(self, statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
        total = int(statistics.sizes.sum())
        return self._moved(statistics, column) / (
            statistics.sizes * float(total * self._scale(statistics, column))
        )

    def holds(self, statistics: ClassStatistics, column: int) -> NDArray[np.bool_]:
        limit = self._limit(int(statistics.sizes.sum()), self._scale(statistics, column))
        return self._moved(statistics, column) <= limit * statistics.sizes

    def required(self) -> float:
        return self.t

    def _check(self, column: SensitiveColumn) -> None:
        """Raise when the column has not what the distance needs."""
        if self.distance == "ordered" and column.spec.kind is Kind.CATEGORICAL:
            raise PolicyError(
                f"{self.name} with distance 'ordered' needs an order, which column {column.name!r} lacks",
                hint="Give the column an order (kind 'ordinal'), or use distance 'equal'.",
            )
        if self.distance == "hierarchical" and column.tree is None:
            raise PolicyError(
                f"{self.name} with distance 'hierarchical' needs a hierarchy for column {column.name!r}",
                hint="Give the sensitive column a hierarchy, or use distance 'equal'.",
            )

    def _unit(self, column: SensitiveColumn, values: int) -> int:
        """Return how many units the farthest two values lie apart, in the units in which mass is moved."""
        if self.distance == "ordered":
            return max(values - 1, 1)
        if self.distance == "hierarchical" and column.tree is not None:
            return 2 * max(int(column.tree.heights[column.tree.root]), 1)
        return 1

    def _scale(self, statistics: ClassStatistics, column: int) -> int:
        counts = statistics.sensitive[column]
        return self._unit(counts.column, int((counts.overall > 0).sum()))

    def _limit(self, records: int, unit: int) -> float:
        t = rational(self.t)
        greatest = float(records) ** 2 * (unit + 1)
        return float(limits(t.numerator * records * unit, t.denominator, records, greatest=greatest))

    def _moved(self, statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
        self._check(statistics.sensitive[column].column)
        move = {"equal": moved_equal, "ordered": moved_ordered, "hierarchical": moved_tree}
        return move[self.distance](statistics, column)
