"""What a metric is: a number (or one per column) computed from the encoded table and its partition."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Literal

from ..encoding import Encoded
from ..params import Parameterised
from ..partitions import Partition

if TYPE_CHECKING:
    from ..policy import Policy
    from .hulls import Hulls


@dataclass(frozen=True, slots=True, eq=False)
class Measured:
    """What a metric may look at."""

    encoded: Encoded
    partition: Partition
    hulls: Hulls
    policy: Policy


@dataclass(frozen=True)
class Metric(Parameterised):
    """A metric; `formula` is shown in the documentation, `low` and `high` are its range."""

    formula: ClassVar[str] = ""
    reference: ClassVar[str] = ""
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    low: ClassVar[float] = 0.0
    high: ClassVar[float] = float("inf")

    def applies(self, measured: Measured) -> bool:
        """Return whether the metric has a meaning for this table and policy."""
        return True

    @abstractmethod
    def compute(self, measured: Measured) -> float | dict[str, float]:
        """Return the value, or one value per column."""
