"""What published numbers give away about the records behind them: linkage by distance, and intervals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np
from numpy.typing import NDArray

from ..embedding import grid_unit
from ..params import Choice, Integer, Real, param
from .base import Measured, Metric
from .masked import published_as_numbers, scaled_column

_WORTH_THREADS = 1 << 14  # records; below, starting the threads takes longer than the work
_WORTH_A_TREE = 4096  # records; below, comparing all with all is as fast
_PERCENTS = range(1, 11)
_EQUAL = 1e-9  # standard deviations between numbers that are equal but for rounding


@dataclass(frozen=True)
class _OfNumbers(Metric):
    needs: ClassVar[str] = (
        "a numeric quasi-identifier published as one number: a mean, a median or with noise"
    )
    better: ClassVar[Literal["higher", "lower"]] = "lower"
    high: ClassVar[float] = 1.0

    def applies(self, measured: Measured) -> bool:
        return bool(published_as_numbers(measured))


def _before_and_after(measured: Measured) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return float64[d, n] numbers of the kept records, original and published, standardised."""
    kept = measured.partition.labels >= 0

    def make() -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        pairs = [scaled_column(measured, j) for j in published_as_numbers(measured)]
        original = np.array([pair[0][kept] for pair in pairs])
        return original, np.array([pair[1][kept] for pair in pairs])

    return measured.keep("numbers before and after", make)


@dataclass(frozen=True)
class DistanceLinkedDisclosure(_OfNumbers):
    """The share of records whose original is the nearest or second nearest one to what is published.

    Over the numeric columns published as numbers, standardised by the original. Where r originals tie for the
    last places, each counts with its chance. Suppressed records are not linked. All original records that
    were not suppressed are candidates.

    References
    ----------
    Domingo-Ferrer, Mateo-Sanz and Torra (2001): Comparing SDC methods for microdata on the basis of
    information loss and disclosure risk.
    """

    name: ClassVar[str] = "dld"
    summary: ClassVar[str] = (
        "share of records that distance links to their original (distance linked disclosure)"
    )
    formula: ClassVar[str] = "records whose original is among the 2 nearest to the published one / n"
    reference: ClassVar[str] = "Domingo-Ferrer et al. 2001"

    ranks: int = param(Integer(1), "how many of the nearest originals count as linked", default=2)

    def compute(self, measured: Measured) -> float:
        original, published = _before_and_after(measured)
        if original.shape[1] == 0:
            return 0.0
        return float(link(original, published, self.ranks).sum() / measured.records)


def link(
    original: NDArray[np.float64], published: NDArray[np.float64], ranks: int = 2
) -> NDArray[np.float64]:
    """Return the chance of each record that its original is among the nearest to its published point.

    Parameters
    ----------
    original, published : float64[d, n]
        Column i of both is one record.
    ranks : int
        How many of the nearest count.

    Examples
    --------
    >>> import numpy as np
    >>> link(np.array([[0.0, 1.0, 5.0]]), np.array([[0.0, 0.0, 5.0]]), ranks=1).tolist()
    [1.0, 0.0, 1.0]
    """
    unit = grid_unit(np.hstack([original, published]))
    before, after = (np.ascontiguousarray(np.rint(numbers * unit)) for numbers in (original, published))
    n = before.shape[1]
    credits = np.zeros(n)
    if n <= _WORTH_A_TREE:
        _link_by_comparing(before, after, ranks, credits)
        return credits
    from ..kernels.kd_tree import make_tree
    from ..kernels.linkage import link_credits, link_credits_parallel

    kernel = link_credits_parallel if n >= _WORTH_THREADS else link_credits
    kernel(make_tree(before, np.arange(n)), before, after, ranks, credits)
    return credits


def _link_by_comparing(
    before: NDArray[np.float64], after: NDArray[np.float64], ranks: int, credits: NDArray[np.float64]
) -> None:
    for i in range(len(credits)):
        distances = ((before - after[:, i, None]) ** 2).sum(axis=0)
        closer = int((distances < distances[i]).sum())
        equal = int((distances == distances[i]).sum())
        credits[i] = min(1.0, max(0, ranks - closer) / equal)


@dataclass(frozen=True)
class IntervalDisclosure(_OfNumbers):
    """How often the original lies in a narrow interval around what is published.

    ``kind="deviation"``: the share of records all of whose numbers lie within `width` standard deviations of
    the published column. ``kind="rank"``: the share of numbers that lie between the published numbers p
    percent of the ranks below and above theirs, averaged over the columns and over p = 1 to 10. A published
    number stands in the middle of its equals. Nothing of a suppressed record is disclosed, and it counts.

    References
    ----------
    Domingo-Ferrer, Mateo-Sanz and Torra (2001): Comparing SDC methods for microdata on the basis of
    information loss and disclosure risk. Templ and Meindl (2008): Robust statistics meets SDC.
    """

    name: ClassVar[str] = "interval-disclosure"
    summary: ClassVar[str] = "share of records whose original lies in narrow intervals around the published"
    formula: ClassVar[str] = (
        "records with abs(original - published) <= width * deviation in all columns / n; by rank: numbers "
        "within p percent of the ranks around the published one / (n * columns), mean over p = 1 to 10"
    )
    reference: ClassVar[str] = "Domingo-Ferrer et al. 2001"

    kind: str = param(Choice(("deviation", "rank")), "how wide an interval is", default="deviation")
    width: float = param(Real(0), "half width in standard deviations, for kind 'deviation'", default=0.05)

    def compute(self, measured: Measured) -> float:
        original, published = _before_and_after(measured)
        kept = original.shape[1]
        if kept == 0:
            return 0.0
        share = (
            rank_disclosure(original, published)
            if self.kind == "rank"
            else deviation_disclosure(original, published, self.width)
        )
        return float(share * kept / measured.records)


def deviation_disclosure(
    original: NDArray[np.float64], published: NDArray[np.float64], width: float
) -> float:
    """Return the share of records all of whose numbers lie within `width` deviations of the published ones.

    Examples
    --------
    >>> deviation_disclosure(np.array([[0.0, 1.0, 5.0]]), np.array([[0.0, 2.0, 5.0]]), 0.05)
    0.6666666666666666
    """
    reach = width * published.std(axis=1) + _EQUAL
    return float((np.abs(original - published) <= reach[:, None]).all(axis=0).mean())


def rank_disclosure(original: NDArray[np.float64], published: NDArray[np.float64]) -> float:
    """Return the share of numbers inside the rank interval around their published one, over p = 1 to 10.

    Examples
    --------
    >>> ranks = np.arange(100.0)[None, :]
    >>> rank_disclosure(ranks, ranks), rank_disclosure(ranks, np.roll(ranks, 50))
    (1.0, 0.0)
    """
    n = original.shape[1]
    shares = []
    for before, after in zip(original, published, strict=True):
        ordered = np.sort(after)
        first = np.searchsorted(ordered, after, side="left")
        last = np.searchsorted(ordered, after, side="right") - 1
        middle = (first + last) / 2
        for percent in _PERCENTS:
            reach = percent * n / 100
            low = ordered[np.maximum(np.ceil(middle - reach).astype(np.int64), 0)]
            high = ordered[np.minimum(np.floor(middle + reach).astype(np.int64), n - 1)]
            shares.append(((before >= low - _EQUAL) & (before <= high + _EQUAL)).mean())
    return float(np.mean(shares))
