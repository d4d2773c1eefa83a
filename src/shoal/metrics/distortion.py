"""How many values change when every class is published as its most frequent values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from ..params import Choice, param
from .base import Measured, Metric


@dataclass(frozen=True)
class AverageDistortionRatio(Metric):
    """The share of values that change when each class is published as its most frequent value per column.

    The publication counts in the one-hot table: the d columns "is value v" of all values of all
    quasi-identifiers together, null being a value. A changed cell turns two of its entries over. A suppressed
    cell counts as changed to another value, where its column has one. ``denominator="cells"`` counts changed
    cells among the n * q cells instead.

    References
    ----------
    Ahmadi Khatir, Izadkhah and Razmara (2023): Designing a novel approach using a greedy and
    information-theoretic clustering-based algorithm for anonymizing microdata sets, Eq. 16.
    """

    name: ClassVar[str] = "adr"
    summary: ClassVar[str] = "share of one-hot entries that change when classes publish their modes"
    formula: ClassVar[str] = (
        "2 * changed cells / (n * d), d = sum of domain sizes; or changed cells / (n * q)"
    )
    reference: ClassVar[str] = "Ahmadi Khatir et al. 2023, Eq. 16"
    high: ClassVar[float] = 1.0

    denominator: str = param(Choice(("values", "cells")), "count one-hot entries, or cells", default="values")

    def compute(self, measured: Measured) -> float:
        columns = measured.encoded.quasi
        kept = len(measured.partition.order)
        changed = np.array([kept - measured.class_values(c.name).most().sum() for c in columns])
        if self.denominator == "cells":
            return float(
                (changed.sum() + measured.suppressed * len(columns)) / (measured.records * len(columns))
            )
        domain = np.array([column.size + column.has_null for column in columns])
        flipped = 2 * changed + measured.suppressed * np.minimum(2, domain)
        return float(flipped.sum() / (measured.records * domain.sum()))
