"""How far a release is from the least loss there is: a bound that no partition undercuts, and the gap."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from ..certificate import LOSSES, SQUARES, Certificate, certify
from ..params import Choice, param
from ..schema import Form, Kind
from .base import Measured, Metric
from .class_sizes import least_size
from .generalization import GlobalCertaintyPenalty, LossMetric, NormalisedInformationLoss
from .squares import SquaredErrorShare

_ACHIEVED = {
    "gcp": GlobalCertaintyPenalty(),
    "lm": LossMetric(),
    "il-normalised": NormalisedInformationLoss(),
    SQUARES: SquaredErrorShare(),
}

_MEANS = (Form.MEAN, Form.CENTROID)
_MOST = 1 << 19  # records; above, finding the nearest of each takes longer than everything else


@dataclass(frozen=True)
class _Certified(Metric):
    """What is known of the least loss of this table under the policy's k."""

    needs: ClassVar[str] = "a k: from the policy's models"
    high: ClassVar[float] = 1.0

    def applies(self, measured: Measured) -> bool:
        return least_size(measured.policy) is not None

    def certificate(self, measured: Measured, loss: str) -> Certificate:
        """Return the certificate, made once for each loss."""
        k = least_size(measured.policy) or 1
        allowed = max(int(measured.policy.suppression * measured.records), measured.suppressed)
        return measured.keep(
            f"certificate of {loss}", lambda: certify(measured.encoded, k, loss, suppressed=allowed)
        )


@dataclass(frozen=True)
class _CertifiedLoss(_Certified):
    """What is known of the least loss, by a metric of generalization."""

    loss: str = param(Choice(LOSSES), "the metric that is bounded", default="gcp")


@dataclass(frozen=True)
class _CertifiedSquares(_Certified):
    """What is known of the least squared error, where all quasi-identifiers are published as means."""

    needs: ClassVar[str] = "a k, and nothing but numbers published as means, of up to half a million records"
    costly: ClassVar[bool] = True

    def applies(self, measured: Measured) -> bool:
        quasi = measured.encoded.quasi
        means = all(c.kind is Kind.NUMERIC and c.numbers is not None and c.spec.form in _MEANS for c in quasi)
        return super().applies(measured) and means and len(quasi) > 0 and measured.records <= _MOST


@dataclass(frozen=True)
class LossBound(_CertifiedLoss):
    """A loss that no partition of this table into classes of k records undercuts, found without a partition.

    It depends on the table, the k and the least levels of the policy alone, not on the release.
    """

    name: ClassVar[str] = "bound"
    costly: ClassVar[bool] = True
    summary: ClassVar[str] = "loss that no partition of this table into classes of k records can undercut"
    formula: ClassVar[str] = "a lower bound on gcp over all partitions with size(E) >= k"
    better: ClassVar = "higher"

    def compute(self, measured: Measured) -> float:
        return self.certificate(measured, self.loss).bound


@dataclass(frozen=True)
class OptimalityGap(_CertifiedLoss):
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
        return self.certificate(measured, self.loss).gap(achieved)


@dataclass(frozen=True)
class SquaredErrorBound(_CertifiedSquares):
    """A squared error that no partition of this table into classes of k records undercuts.

    No more records are suppressed than the policy allows. It depends on the table, the k and that limit.
    """

    name: ClassVar[str] = "il-sse-bound"
    summary: ClassVar[str] = "squared error that no partition into classes of k records undercuts, in percent"
    formula: ClassVar[str] = "a lower bound on il-sse over all partitions with size(E) >= k"
    high: ClassVar[float] = 100.0
    better: ClassVar = "higher"

    def compute(self, measured: Measured) -> float:
        return self.certificate(measured, SQUARES).bound


@dataclass(frozen=True)
class SquaredErrorGap(_CertifiedSquares):
    """The share of the squared error that is not proved unavoidable: 0 says that no partition has less."""

    name: ClassVar[str] = "il-sse-gap"
    summary: ClassVar[str] = "share of the squared error that is not proved unavoidable"
    formula: ClassVar[str] = "1 - il-sse-bound / il-sse; 0 if il-sse is 0"

    def compute(self, measured: Measured) -> float:
        achieved = _ACHIEVED[SQUARES].compute(measured)
        assert isinstance(achieved, float)
        return self.certificate(measured, SQUARES).gap(achieved)
