"""What a privacy model is: a promise about every class of a release."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..params import Names, Parameterised, param

if TYPE_CHECKING:
    from .compile import RulesDraft
    from .statistics import ClassStatistics


@dataclass(frozen=True)
class Model(Parameterised):
    """A privacy model.

    A model that speaks about sensitive columns (`per_column`) is checked for each of them by itself; the
    other sensitive columns are ignored then, neither known to the attacker nor protected by this check.

    Class attributes
    ----------------
    name, summary, reference : str
        The registered name, one sentence, and the publication that defines the model.
    way_out : str
        What to change when a table cannot keep the promise.
    better : "higher" or "lower"
        Which direction of `achieved` protects more.
    per_column : bool
        Whether the model speaks about sensitive columns.
    by_rules : bool
        Whether `tighten` says all of the promise.
    """

    reference: ClassVar[str] = ""
    way_out: ClassVar[str] = ""
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    per_column: ClassVar[bool] = False
    by_rules: ClassVar[bool] = True

    @property
    def monotone(self) -> bool:
        """Whether a union of two classes that keep the promise keeps it too."""
        return True

    @property
    def lasting(self) -> bool:
        """Whether a class that keeps the promise keeps it whoever joins it and whoever else is suppressed."""
        return False

    @abstractmethod
    def tighten(self, draft: RulesDraft, column: int) -> None:
        """Tighten the thresholds of a draft by this model, for one sensitive column (-1 if not `per_column`).

        A model whose condition is not a threshold over class statistics leaves the draft alone; `enforce`
        then repairs what an algorithm made, by `holds`.
        """

    @abstractmethod
    def achieved_by_class(self, statistics: ClassStatistics, column: int) -> NDArray[np.float64]:
        """Return the strength every class reaches, in the unit of the requirement."""

    @abstractmethod
    def holds(self, statistics: ClassStatistics, column: int) -> NDArray[np.bool_]:
        """Return whether each class keeps the promise."""

    @abstractmethod
    def required(self) -> float:
        """Return the number that `achieved_by_class` is compared with."""

    def achieved(self, statistics: ClassStatistics, column: int) -> float:
        """Return the strength of the weakest class."""
        by_class = self.achieved_by_class(statistics, column)
        if len(by_class) == 0:
            return float("inf") if self.better == "higher" else 0.0
        return float(by_class.min() if self.better == "higher" else by_class.max())

    def sensitive_columns(self, available: tuple[str, ...]) -> tuple[str, ...]:
        """Return the sensitive columns this model speaks about, out of those the policy has."""
        chosen: tuple[str, ...] = getattr(self, "columns", ())
        return chosen or available

    def __str__(self) -> str:
        shown = ", ".join(f"{key}={_shown(value)}" for key, value in self.to_dict().items())
        return f"{self.name}({shown})"


@dataclass(frozen=True, kw_only=True)
class SensitiveModel(Model):
    """A model that speaks about sensitive columns: all of the policy's, or the ones named in `columns`.

    `columns` is keyword-only, so that the strength of a model comes first: ``LDiversity(2)``.
    """

    per_column: ClassVar[bool] = True

    columns: tuple[str, ...] = param(Names(), "sensitive columns it speaks about; all when empty", default=())


def _shown(value: Any) -> str:
    return "[" + ", ".join(map(str, value)) + "]" if isinstance(value, list) else f"{value}"
