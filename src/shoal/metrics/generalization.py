"""How much less precise the published cells are than the original ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .base import Measured, Metric


@dataclass(frozen=True)
class GlobalCertaintyPenalty(Metric):
    """The mean loss over records and quasi-identifiers: 0 is the original, 1 is nothing left.

    The loss of a cell is that of `Hulls.loss`. Weights of columns do not enter.

    References
    ----------
    Xu et al. (2006): Utility-based anonymization using local recoding; Ghinita et al. (2007): Fast data
    anonymization with low information loss.
    """

    name: ClassVar[str] = "gcp"
    summary: ClassVar[str] = "mean loss over records and quasi-identifiers: 0 is the original, 1 nothing left"
    formula: ClassVar[str] = "(sum over E, columns of size(E) * loss(E, column) + z * q) / (n * q)"
    reference: ClassVar[str] = "Xu et al. 2006; Ghinita et al. 2007"
    high: ClassVar[float] = 1.0

    def compute(self, measured: Measured) -> float:
        return float(measured.mean_by_column(measured.loss).mean())


@dataclass(frozen=True)
class CertaintyPenalty(Metric):
    """The mean loss of each quasi-identifier over all records; `gcp` is the mean of these.

    References
    ----------
    Xu et al. (2006): Utility-based anonymization using local recoding.
    """

    name: ClassVar[str] = "ncp"
    summary: ClassVar[str] = "mean loss of each quasi-identifier over all records"
    formula: ClassVar[str] = "(sum over E of size(E) * loss(E, column) + z) / n, for each column"
    reference: ClassVar[str] = "Xu et al. 2006"
    high: ClassVar[float] = 1.0

    def compute(self, measured: Measured) -> dict[str, float]:
        return _by_name(measured, measured.mean_by_column(measured.loss))


@dataclass(frozen=True)
class InformationLoss(Metric):
    """Total-IL of Byun et al. (2006), Definitions 7 and 8, where categories lose by height in their taxonomy.

    A column without hierarchy is a taxonomy of height 1: it loses 1 as soon as two values meet. A suppressed
    cell and one that mixes null with values lose 1.

    References
    ----------
    Byun, Kamra, Bertino and Li (2006): Efficient k-anonymization using clustering techniques.
    """

    name: ClassVar[str] = "il"
    summary: ClassVar[str] = "information loss with taxonomy heights, summed over all cells"
    formula: ClassVar[str] = (
        "sum over E of size(E) * (sum over numeric of (max - min) / range"
        " + sum over categorical of height(lca) / height(tree)) + z * q"
    )
    reference: ClassVar[str] = "Byun et al. 2006, Definitions 7 and 8"
    span: ClassVar[str] = "0 to n * q"

    def compute(self, measured: Measured) -> float:
        return float(_mean_height_loss(measured).sum() * measured.records)


@dataclass(frozen=True)
class NormalisedInformationLoss(Metric):
    """Total-IL of Byun et al. (2006) over the number of cells: the mean loss with taxonomy heights.

    References
    ----------
    Byun, Kamra, Bertino and Li (2006): Efficient k-anonymization using clustering techniques.
    """

    name: ClassVar[str] = "il-normalised"
    summary: ClassVar[str] = "information loss with taxonomy heights, mean over all cells"
    formula: ClassVar[str] = "il / (n * q)"
    reference: ClassVar[str] = "Byun et al. 2006, Definitions 7 and 8"
    high: ClassVar[float] = 1.0

    def compute(self, measured: Measured) -> float:
        return float(_mean_height_loss(measured).mean())


@dataclass(frozen=True)
class LossMetric(Metric):
    """Iyengar's loss metric: as `gcp`, but a column without hierarchy is a flat taxonomy.

    In a flat taxonomy two values only meet at the root, so that they lose 1 however many others there are.

    References
    ----------
    Iyengar (2002): Transforming data to satisfy privacy constraints.
    """

    name: ClassVar[str] = "lm"
    summary: ClassVar[str] = "mean loss where two categories without hierarchy meet at the root"
    formula: ClassVar[str] = (
        "mean over cells of (upper - lower) / range, or (leaves - 1) / (domain - 1); 1 for a suppressed cell"
    )
    reference: ClassVar[str] = "Iyengar 2002"
    high: ClassVar[float] = 1.0

    def compute(self, measured: Measured) -> float:
        loss = measured.loss.copy()
        for j, column in enumerate(measured.encoded.quasi):
            if column.tree is None and column.positions is None:
                loss[:, j] = measured.hulls.distinct[:, j] > 1
        loss[measured.hulls.tells_nothing()] = 1.0
        return float(measured.mean_by_column(loss).mean())


@dataclass(frozen=True)
class ILoss(Metric):
    """The mean share of its column's domain that a cell covers beyond its own value.

    The domain of a numeric, ordinal or date column are its different values; null does not count. Cells that
    are suppressed or mix null with values lose 1.

    References
    ----------
    Xiao and Tao (2006): Personalized privacy preservation.
    """

    name: ClassVar[str] = "iloss"
    summary: ClassVar[str] = "mean share of the domain that a cell covers beyond its own value"
    formula: ClassVar[str] = "mean over cells of (values the cell stands for - 1) / domain; 1 if suppressed"
    reference: ClassVar[str] = "Xiao and Tao 2006"
    high: ClassVar[float] = 1.0

    def compute(self, measured: Measured) -> float:
        loss = np.empty(measured.hulls.low.shape)
        for j, column in enumerate(measured.encoded.quasi):
            covered = measured.cells(j).total(np.ones(column.size + 1))
            loss[:, j] = (covered - 1) / max(column.size, 1)
        loss[measured.hulls.tells_nothing()] = 1.0
        return float(measured.mean_by_column(loss).mean())


@dataclass(frozen=True)
class Precision(Metric):
    """1 minus the mean share of its hierarchy's levels that a cell has climbed.

    A column without hierarchy has one level to climb: from the value to anything wider. Cells that are
    suppressed or mix null with values have climbed all levels.

    References
    ----------
    Sweeney (2002): Achieving k-anonymity privacy protection using generalization and suppression.
    """

    name: ClassVar[str] = "precision"
    summary: ClassVar[str] = "1 minus the mean share of hierarchy levels climbed"
    formula: ClassVar[str] = "1 - mean over cells of level / height of the column's hierarchy"
    reference: ClassVar[str] = "Sweeney 2002"
    better: ClassVar[Literal["higher", "lower"]] = "higher"
    high: ClassVar[float] = 1.0

    def compute(self, measured: Measured) -> float:
        quasi = measured.encoded.quasi
        climbed = np.stack(
            [measured.hulls.climbed(j) / max(column.top, 1) for j, column in enumerate(quasi)], axis=1
        )
        climbed[measured.hulls.tells_nothing()] = 1.0
        return float(1 - measured.mean_by_column(climbed).mean())


def _by_name(measured: Measured, values: NDArray[np.float64]) -> dict[str, float]:
    names = [column.name for column in measured.encoded.quasi]
    return dict(zip(names, values.tolist(), strict=True))


def _mean_height_loss(measured: Measured) -> NDArray[np.float64]:
    return measured.keep(
        "mean height loss", lambda: measured.mean_by_column(measured.hulls.loss(heights=True))
    )
