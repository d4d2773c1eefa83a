"""Mondrian with COF: Mondrian's classes, their outliers set aside, and Mondrian once more over those."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..params import Choice, Integer, Optional, Real, param
from ..partitions import Partition
from ..progress import Run
from .mondrian import Mondrian
from .outliers import CHAINS, MARK, Detection, own_limits, suppressed_within
from .vantage import Grove
from .variants import Varied, by_variant

if TYPE_CHECKING:
    from ..kernels.rules import Rules


@dataclass(frozen=True)
class MondrianCof(Varied):
    """Mondrian's classes without their outliers, and the classes Mondrian makes of the outliers alone.

    Parameters
    ----------
    variant : "repaired" or "paper"
        Sets `chain` where it is none: set-based, or sorted.
    threshold : float, optional
        A record is an outlier above this factor; none: above mean + `alpha` * standard deviation of all
        records, one threshold for the whole table.
    alpha : float
        See `threshold`.
    neighbours : int, optional
        Neighbours of the outlier factor; k when none.
    chain : "set-based" or "sorted"
        As in `Rayden`.
    unrecovered : "suppress" or "return"
        What becomes of fewer than k outliers: suppressed within the policy's limit, or back to their class.

    Notes
    -----
    Known from its abstract and from the comparison in the RAYDEN paper only: that the threshold is one for
    the whole table, and that outliers are recovered like RAYDEN's, is a reconstruction. Outliers are given
    back, the least outlying first, until their class keeps the policy without the rest.

    References
    ----------
    Kara, B. C. and Eyupoglu, C. (2023): A new privacy-preserving data publishing algorithm utilizing
    connectivity-based outlier factor and Mondrian techniques. Computers, Materials and Continua 76(2).

    Examples
    --------
    >>> MondrianCof(threshold=1.5).to_dict()
    {'threshold': 1.5}
    """

    name: ClassVar[str] = "mondrian-cof"
    summary: ClassVar[str] = "mondrian, with classes of their own for outliers"
    reference: ClassVar[str] = "Kara and Eyupoglu 2023"
    variants: ClassVar[dict[str, dict[str, Any]]] = {
        "repaired": {"chain": "set-based"},
        "paper": {"chain": "sorted"},
    }

    threshold: float | None = param(
        Optional(Real(0)), "factor above which a record is an outlier; by alpha when none", default=None
    )
    alpha: float = param(Real(0), "standard deviations above the mean of all records", default=2.0)
    neighbours: int | None = param(
        Optional(Integer(1)), "neighbours of the outlier factor; k when none", default=None
    )
    chain: str | None = by_variant(Choice(CHAINS), "path through the neighbours")
    unrecovered: str = param(
        Choice(("suppress", "return")), "what becomes of fewer than k outliers", default="suppress"
    )

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        labels = Mondrian().partition(encoded, rules, run).labels.copy()
        order = np.arange(encoded.records)
        classes = Grove.of(encoded, rules, order).regrouped(labels.astype(np.int64))
        with run.progress.stage("outliers", total=encoded.records) as stage:
            chain = self.chosen.chain
            assert chain is not None
            detection = Detection(self.neighbours or rules.k, chain)
            scores = detection.scores(classes, stage)
            leaves = detection.leaving(classes, scores, self._limits(classes, scores))
        outlier = np.zeros(encoded.records, dtype=np.bool_)
        outlier[classes.ids] = leaves
        pool = np.flatnonzero(outlier)
        if classes.regrouped(np.zeros(len(pool), dtype=np.int64), pool).holds_together():
            recovered = Mondrian().partition(_records(encoded, pool), rules, run)
            labels[pool] = labels.max() + 1 + recovered.labels
        elif self.unrecovered == "suppress" and len(pool) < rules.k:
            allowance = int(run.suppression * encoded.records)
            labels[classes.ids[suppressed_within(leaves, scores, allowance)]] = -1
        return Partition.from_labels(labels).with_marks({MARK: outlier})

    def _limits(self, classes: Grove, scores: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return the one threshold, for every class."""
        if self.threshold is not None:
            return np.full(classes.parts, self.threshold)
        together = replace(classes, bounds=np.array([0, len(classes.ids)]))
        return np.full(classes.parts, own_limits(together, scores, self.alpha)[0])


def _records(encoded: Encoded, records: NDArray[np.int64]) -> Encoded:
    """Return some of the records as a table of their own."""
    return replace(
        encoded,
        codes=np.asfortranarray(encoded.codes[records]),
        sensitive_codes=np.asfortranarray(encoded.sensitive_codes[records]),
    )
