"""How far a release is from the least loss there is: a bound that no partition undercuts, and the gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..certificate import LOSSES, Certificate, certify
from ..params import Choice, param
from .base import Measured, Metric
from .class_sizes import least_size
from .generalization import GlobalCertaintyPenalty, LossMetric, NormalisedInformationLoss

_ACHIEVED = {
    "gcp": GlobalCertaintyPenalty(),
    "lm": LossMetric(),
    "il-normalised": NormalisedInformationLoss(),
}


@dataclass(frozen=True)
class _Certified(Metric):
    """What is known of the least loss of this table under the policy's k."""

    needs: ClassVar[str] = "a k: from the policy's models"
    high: ClassVar[float] = 1.0

    loss: str = param(Choice(LOSSES), "the metric that is bounded", default="gcp")

    def applies(self, measured: Measured) -> bool:
        return least_size(measured.policy) is not None

    def certificate(self, measured: Measured) -> Certificate:
        """Return the certificate, made once for each loss."""
        k = least_size(measured.policy) or 1
        return measured.keep(f"certificate of {self.loss}", lambda: certify(measured.encoded, k, self.loss))


@dataclass(frozen=True)
class LossBound(_Certified):
    """A loss that no partition of this table into classes of k records undercuts, found without a partition.

    It depends on the table, the k and the least levels of the policy alone, not on the release.
    """

    name: ClassVar[str] = "bound"
    costly: ClassVar[bool] = True
    summary: ClassVar[str] = "loss that no partition of this table into classes of k records can undercut"
    formula: ClassVar[str] = "a lower bound on gcp over all partitions with size(E) >= k"
    better: ClassVar = "higher"

    def compute(self, measured: Measured) -> float:
        return self.certificate(measured).bound


@dataclass(frozen=True)
class OptimalityGap(_Certified):
    """The share of the loss that is not proved unavoidable: 0 says that no partition loses less.

    A gap above 0 says nothing against a release: part of it is the weakness of the bound.
    """

    name: ClassVar[str] = "gap"
    costly: ClassVar[bool] = True
    summary: ClassVar[str] = "share of the loss that is not proved unavoidable; 0 for the least loss there is"
    formula: ClassVar[str] = "1 - bound / gcp; 0 if gcp is 0"

    def compute(self, measured: Measured) -> float:
        achieved = _ACHIEVED[self.loss].compute(measured)
        assert isinstance(achieved, float)
        return self.certificate(measured).gap(achieved)
