"""Outliers within parts: who scores too high to stay, by the connectivity-based outlier factor."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from ..progress import Stage
from .vantage import Grove

CHAINS = ("set-based", "sorted")  # in the order of the kernel's constants
MARK = "outliers"  # the name under which a partition carries them

_BATCH = 1 << 14  # points between two looks at Ctrl-C
_WORTH_THREADS = 1 << 12  # points


@dataclass(frozen=True, slots=True)
class Detection:
    """How outliers are told.

    Attributes
    ----------
    neighbours : int
        Nearest others in the part that a point's chain runs through.
    chain : str
        One of `CHAINS`.
    step : int
        Points leave a part by multiples of this number.
    """

    neighbours: int
    chain: str
    step: int = 1

    def scores(self, grove: Grove, stage: Stage) -> NDArray[np.float64]:
        """Return the outlier factor of each of the grove's points within its part."""
        from ..kernels.cof import score_parts, score_parts_parallel

        found = np.empty(len(grove.ids))
        chain = CHAINS.index(self.chain)
        last = np.searchsorted(grove.bounds, np.arange(_BATCH, len(grove.ids), _BATCH))
        stops = np.unique(np.append(last, grove.parts))
        begin = 0
        for stop in stops:
            bounds = grove.bounds[begin : stop + 1]
            records = int(bounds[-1] - bounds[0])
            kernel = score_parts_parallel if records >= _WORTH_THREADS and len(bounds) > 2 else score_parts
            kernel(grove.points, grove.ids, bounds, self.neighbours, chain, found)
            stage.advance(records)
            begin = stop
        return found

    def leaving(
        self, grove: Grove, scores: NDArray[np.float64], limits: NDArray[np.float64]
    ) -> NDArray[np.bool_]:
        """Return which of the grove's points score above their part's limit and can be spared by the rest."""
        from ..kernels.cof import leave_parts

        found: NDArray[np.bool_] = leave_parts(
            grove.ids, grove.bounds, scores, limits, self.step, grove.rules, grove.sensitive
        )
        return found


def own_limits(grove: Grove, scores: NDArray[np.float64], alpha: float) -> NDArray[np.float64]:
    """Return mean + alpha * standard deviation of the scores of each part."""
    from ..kernels.cof import thresholds

    found: NDArray[np.float64] = thresholds(scores, grove.bounds, alpha)
    return found


def suppressed_within(
    outside: NDArray[np.bool_], scores: NDArray[np.float64], allowance: int
) -> NDArray[np.bool_]:
    """Return which points outside all classes are suppressed: the most outlying, as many as allowed."""
    suppressed = np.zeros(len(outside), dtype=np.bool_)
    ranked = np.argsort(-np.where(outside, scores, -1.0), kind="stable")
    suppressed[ranked[: min(allowance, int(outside.sum()))]] = True
    return suppressed
