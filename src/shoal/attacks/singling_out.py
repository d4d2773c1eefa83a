"""Singling out: a description read off the published table that fits exactly one person."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..kernels.matching import count_fitting
from ..params import Flag, Integer, param
from ..risk.candidates import Looks, cells_of
from ..risk.reading import Known, Line
from .base import Attack, AttackResult, CannotRun, Scene, listed, percent, share
from .scenes import columns_of, truthful


@dataclass(frozen=True)
class SinglingOut(Attack):
    """The attacker takes a published record and describes it by its cells, sensitive values included.

    He has singled someone out when exactly one record of the original fits the description. A mean, a median
    or a noisy number is described by "at least" above the published median and "at most" below it. The
    baseline makes descriptions whose cells come from published records at random, column by column.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2022): A unified framework for quantifying privacy risk in
    synthetic data. Article 29 Working Party (2014): Opinion 05/2014 on anonymisation techniques.
    """

    name: ClassVar[str] = "singling-out"
    summary: ClassVar[str] = "describes a published record so that exactly one person fits"
    reference: ClassVar[str] = "Giomi et al. 2022"
    answer: ClassVar[str] = "k-anonymity, for the quasi-identifiers alone"

    claims: int = param(Integer(1), "how many descriptions are tried", default=2000)
    sensitive: bool = param(Flag(), "whether sensitive values are part of descriptions", default=True)

    def run(self, scene: Scene, known: tuple[str, ...]) -> Iterator[AttackResult]:
        """Yield one result."""
        if scene.published.num_rows == 0:
            raise CannotRun("nothing is published")
        shown = [name for name in scene.sensitive if name in scene.published.column_names]
        names = tuple(dict.fromkeys([*known, *(shown if self.sensitive else [])]))
        columns = [
            column if truthful(scene, (column.name,)) else _halves(column)
            for column in columns_of(scene, names)
        ]
        looks = Looks.of(columns, np.arange(scene.original.num_rows))
        rng = scene.generator(self.name)
        drawn = rng.integers(0, scene.published.num_rows, (self.claims, len(columns)))
        alone = _alone(columns, np.repeat(drawn[:, :1], len(columns), axis=1), looks)
        success = share(alone, scene.seed)
        baseline = share(_alone(columns, drawn, looks), scene.seed)
        verdict = (
            f"an attacker who describes published records by {listed(names)} singles out one person with "
            f"{percent(success.value)} of the descriptions; cells put together at random do with "
            f"{percent(baseline.value)}"
        )
        details = {"described_by": list(names), "descriptions": self.claims}
        yield AttackResult(self.name, known, None, success, baseline, verdict=verdict, details=details)


def _alone(columns: list[Known], rows: NDArray[np.int64], looks: Looks) -> NDArray[np.bool_]:
    """Return which descriptions fit exactly one person; `rows` says whose cell each takes, by column."""
    cells = cells_of(columns, [column.cell[rows[:, j]] for j, column in enumerate(columns)])
    counts = np.empty(len(rows), dtype=np.int64)
    count_fitting(cells, looks.known, np.bincount(looks.person), looks.skips(), counts)
    return np.asarray(counts == 1)


def _halves(column: Known) -> Known:
    """Return a column of single numbers as half lines: away from the middle of what is published."""
    line = column.scale
    if not isinstance(line, Line):
        return column
    single = line.low == line.high
    middle = np.median(line.low[column.cell][single[column.cell]]) if single.any() else 0
    above = line.low >= middle
    ends = np.iinfo(np.int32)
    low = np.where(single & ~above, ends.min, line.low).astype(np.int32)
    high = np.where(single & above, ends.max, line.high).astype(np.int32)
    return replace(column, scale=Line(line.position, low, high))
