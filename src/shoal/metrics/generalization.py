"""How much less precise the published cells are than the original ones."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from .base import Measured, Metric
from .covers import Cover


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
        return float(_mean_loss(measured).mean())


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
        return _by_name(measured, _mean_loss(measured))


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
        return float(measured.by_column(_flat_loss).mean())


@dataclass(frozen=True)
class LocalInformationLoss(Metric):
    """The local information loss of a record's class, as a mean over records and columns of numbers.

    The local information loss of a class is the sum of its ranges over those of the table, over numbers,
    dates and ranks; other columns do not enter. The paper adds it up over the two sides of a cut, whatever
    their sizes; over all classes that would be least for one class alone, so here every record counts once.

    References
    ----------
    Sharma, Kumar and Reddy: A density-driven anonymization framework for privacy preservation and data
    utility optimization, Eq. 3.
    """

    name: ClassVar[str] = "lil"
    summary: ClassVar[str] = "mean loss of the columns of numbers, dates and ranks"
    formula: ClassVar[str] = (
        "(sum over E of size(E) * LIL(E) + z * p) / (n * p),"
        " LIL(E) = sum over the p columns with an order of (max - min) / range"
    )
    needs: ClassVar[str] = "a column of numbers, dates or ranks without hierarchy"
    reference: ClassVar[str] = "Sharma, Kumar and Reddy, Eq. 3"
    high: ClassVar[float] = 1.0

    def applies(self, measured: Measured) -> bool:
        return any(column.positions is not None for column in measured.encoded.quasi)

    def compute(self, measured: Measured) -> float:
        numbers = [column.positions is not None for column in measured.encoded.quasi]
        return float(_mean_loss(measured)[numbers].mean())


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
        return float(measured.by_column(_share_covered).mean())


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
        return float(1 - measured.by_column(_share_climbed).mean())


def _by_name(measured: Measured, values: NDArray[np.float64]) -> dict[str, float]:
    names = [column.name for column in measured.encoded.quasi]
    return dict(zip(names, values.tolist(), strict=True))


def _mean_loss(measured: Measured) -> NDArray[np.float64]:
    return measured.keep("mean loss", lambda: measured.by_column(Cover.loss), large=False)


def _mean_height_loss(measured: Measured) -> NDArray[np.float64]:
    def losses() -> NDArray[np.float64]:
        return measured.by_column(lambda cover: cover.loss(heights=True))

    return measured.keep("mean height loss", losses, large=False)


def _flat_loss(cover: Cover) -> NDArray[np.float64]:
    loss = cover.loss()
    if cover.column.tree is None and cover.column.positions is None:
        loss = (cover.hulls.distinct[:, 0] > 1).astype(np.float64)
    loss[cover.nothing_told()] = 1.0
    return loss


def _share_covered(cover: Cover) -> NDArray[np.float64]:
    size = cover.column.size
    share: NDArray[np.float64] = (cover.cells().total(np.ones(size + 1)) - 1) / max(size, 1)
    share[cover.nothing_told()] = 1.0
    return share


def _share_climbed(cover: Cover) -> NDArray[np.float64]:
    share: NDArray[np.float64] = cover.hulls.climbed(0) / max(cover.column.top, 1)
    share[cover.nothing_told()] = 1.0
    return share
