"""How much of the distribution of the original values the published cells still tell."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from .base import Measured, Metric


@dataclass(frozen=True)
class KullbackLeibler(Metric):
    """The divergence, in bits, of what a reader would reconstruct of each column from the original column.

    The reader gives each record in equal parts to all values its cell stands for (`Cells` says which); a
    suppressed cell stands for the whole domain. With p the original shares of the values and r the
    reconstructed ones, the divergence is the sum of p log2(p / r) over the values that occur. It is 0 when
    every column is published as it was and at most log2 of the size of the domain.

    References
    ----------
    Kifer and Gehrke (2006): Injecting utility into anonymized datasets.
    """

    name: ClassVar[str] = "kl"
    summary: ClassVar[str] = (
        "Kullback-Leibler divergence of each column, cells spread evenly over their values"
    )
    formula: ClassVar[str] = (
        "sum over values of p * log2(p / r), p the original share of the value and"
        " r = mean over records of (1 / values its cell stands for, if the value is among them)"
    )
    reference: ClassVar[str] = "Kifer and Gehrke 2006"
    span: ClassVar[str] = "0 to log2(domain)"

    def compute(self, measured: Measured) -> dict[str, float]:
        columns = measured.encoded.quasi
        return {column.name: self._of(measured, j) for j, column in enumerate(columns)}

    def _of(self, measured: Measured, j: int) -> float:
        cover, n = measured.covers[j], measured.records
        cells = cover.cells()
        domain = cells.domain
        share = cover.hulls.sizes / (n * cells.total(domain))
        rebuilt = cells.spread(share) + domain * measured.suppressed / (n * domain.sum())
        original = measured.value_counts(j) / n
        occurs = original > 0
        original, rebuilt = original[occurs], rebuilt[occurs]
        # No share is below this bound; rounding in the running sums behind `rebuilt` could make it so.
        rebuilt = np.maximum(rebuilt, original / domain.sum())
        return max(0.0, float((original * np.log2(original / rebuilt)).sum()))


@dataclass(frozen=True)
class NonUniformEntropy(Metric):
    """The bits missing to recover the original values, as a share of those missing after suppression.

    A cell misses -log2 of the share that its original value has among all records of the table whose original
    value the cell may stand for. Going up a hierarchy level by level adds up to the same number. It is 0 when
    nothing is generalised or every column is constant.

    References
    ----------
    Gionis and Tassa (2009): k-Anonymization with minimal loss of information.
    """

    name: ClassVar[str] = "non-uniform-entropy"
    summary: ClassVar[str] = "bits missing to recover the original values, as a share of those all cells hold"
    formula: ClassVar[str] = (
        "sum over cells of -log2(count(value) / count(cell)) / sum over cells of -log2(count(value) / n),"
        " count: records of the original table"
    )
    reference: ClassVar[str] = "Gionis and Tassa 2009"
    high: ClassVar[float] = 1.0

    def compute(self, measured: Measured) -> float:
        missing = whole = 0.0
        all_bits = np.log2(measured.records)
        for j in range(len(measured.encoded.quasi)):
            counts = measured.value_counts(j).astype(np.float64)
            occurring = counts[counts > 0]
            known = float(occurring @ np.log2(occurring))
            cover = measured.covers[j]
            told = np.log2(cover.cells().total(counts))
            missing += float(cover.hulls.sizes @ told) + measured.suppressed * all_bits - known
            whole += measured.records * all_bits - known
        return min(1.0, max(0.0, float(missing / whole))) if whole > 0 else 0.0
