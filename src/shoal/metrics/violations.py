"""How many classes break a promise, whatever the policy makes of it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from .. import registry
from ..params import Integer, Optional, Real, param
from .base import Measured, Metric
from .class_sizes import least_size

if TYPE_CHECKING:
    from ..models.base import Model


@dataclass(frozen=True)
class SizeViolations(Metric):
    """The number of classes with fewer than k records.

    References
    ----------
    Ahmadi Khatir, Izadkhah and Razmara (2023): Designing a novel approach using a greedy and
    information-theoretic clustering-based algorithm for anonymizing microdata sets, section 5 (P_KA).
    """

    name: ClassVar[str] = "p-ka"
    summary: ClassVar[str] = "number of classes with fewer than k records"
    formula: ClassVar[str] = "number of E with size(E) < k"
    reference: ClassVar[str] = "Ahmadi Khatir et al. 2023, section 5"
    needs: ClassVar[str] = "a k: from the policy's models or as a parameter"
    span: ClassVar[str] = "0 to g"

    k: int | None = param(Optional(Integer(1)), "the k to compare with; the policy's if none", default=None)

    def applies(self, measured: Measured) -> bool:
        return (self.k or least_size(measured.policy)) is not None

    def compute(self, measured: Measured) -> float:
        k = self.k or least_size(measured.policy) or 1
        return float((measured.partition.sizes < k).sum())


@dataclass(frozen=True)
class ClosenessViolations(Metric):
    """The number of classes that are not t-close in every sensitive column the promise speaks about.

    Without `t`, the policy's own t-closeness models decide, with their distances; with it, t-closeness under
    equal distance in every sensitive column.

    References
    ----------
    Ahmadi Khatir, Izadkhah and Razmara (2023): Designing a novel approach using a greedy and
    information-theoretic clustering-based algorithm for anonymizing microdata sets, section 5 (P_TC).
    """

    name: ClassVar[str] = "p-tc"
    summary: ClassVar[str] = "number of classes that are not t-close"
    formula: ClassVar[str] = "number of E with distance(E, table) > t for a sensitive column"
    reference: ClassVar[str] = "Ahmadi Khatir et al. 2023, section 5"
    needs: ClassVar[str] = "a sensitive column, and a t: from the policy's models or as a parameter"
    span: ClassVar[str] = "0 to g"

    t: float | None = param(Optional(Real(0, 1)), "the t to compare with; the policy's if none", default=None)

    def applies(self, measured: Measured) -> bool:
        return bool(self._promises(measured))

    def compute(self, measured: Measured) -> float:
        kept = np.ones(measured.partition.classes, dtype=bool)
        for model, column in self._promises(measured):
            kept &= model.holds(measured.statistics, measured.encoded.sensitive_index(column))
        return float((~kept).sum())

    def _promises(self, measured: Measured) -> list[tuple[Model, str]]:
        if self.t is not None:
            model = registry.get("models", "t-closeness")(self.t)
            return [(model, column.name) for column in measured.encoded.sensitive]
        promises = measured.policy.promises()
        return [(model, name) for model, name in promises if name and model.name == "t-closeness"]
