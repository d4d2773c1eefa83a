"""How many people are unique in the population a table was drawn from, estimated from the table alone.

Everything is read from one histogram: how many groups of each size there are. When a table is the whole
population, there is nothing to estimate and the sample's own uniques are the answer.

References
----------
Zayatz (1991): Estimation of the number of unique population elements using a sample. Chen and Keller-McNulty
(1998): Estimation of identification disclosure risk in microdata (the slide negative binomial model, with
Shlosser's estimate of the number of groups). Hoshino (2001): Applying Pitman's sampling formula to microdata
disclosure risk assessment. Dankar, El Emam, Neisa and Roffey (2012): Estimating the re-identification risk of
clinical data sets (the rule).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .estimate import Estimate, between, exactly

_STEPS = 48  # golden sections: intervals shrink by 10^-10
_GOLDEN = (math.sqrt(5) - 1) / 2
_REPLICATES = 40
_SMALL_FRACTION = 0.1  # of the rule


@dataclass(frozen=True, slots=True, eq=False)
class Histogram:
    """How many groups of each size a table has.

    Attributes
    ----------
    sizes, groups : int64[m]
        Ascending sizes that occur, and the number of groups of each.
    """

    sizes: NDArray[np.int64]
    groups: NDArray[np.int64]

    @classmethod
    def of(cls, group_sizes: NDArray[np.integer]) -> Histogram:
        """Return the histogram of the sizes of all groups.

        Examples
        --------
        >>> import numpy as np
        >>> found = Histogram.of(np.array([1, 1, 3]))
        >>> found.count(1), found.records, found.total
        (2, 5, 3)
        """
        sizes, groups = np.unique(group_sizes, return_counts=True)
        return cls(sizes.astype(np.int64), groups.astype(np.int64))

    @property
    def records(self) -> int:
        """Number of records."""
        return int((self.sizes * self.groups).sum())

    @property
    def total(self) -> int:
        """Number of groups."""
        return int(self.groups.sum())

    def count(self, size: int) -> int:
        """Return the number of groups of one size."""
        return int(self.groups[self.sizes == size].sum())

    def resampled(self, rng: np.random.Generator) -> Histogram:
        """Return the histogram of as many groups drawn with replacement."""
        groups = rng.multinomial(self.total, self.groups / self.total)
        return Histogram(self.sizes[groups > 0], groups[groups > 0].astype(np.int64))


def zayatz(table: Histogram, fraction: float) -> float:
    """Return the number of population uniques after Zayatz (1991).

    The sizes of groups in the population are taken to be distributed as those in the table; by Bayes, so many
    of the table's uniques come from groups of one.
    """
    population = table.records / fraction

    def drawn_once(size: int) -> float:
        """Return the probability that exactly one of a group of `size` is in the table (hypergeometric)."""
        n, rest = table.records, population - size
        if rest - n + 1 < 0:
            return 1.0 if size == 1 else 0.0
        return float(size) * math.exp(_log_choose(rest, n - 1) - _log_choose(population, n))

    weights = np.array([drawn_once(int(size)) for size in table.sizes]) * table.groups
    if weights.sum() <= 0 or table.count(1) == 0:
        return 0.0
    return float(table.count(1) * weights[table.sizes == 1].sum() / weights.sum() / fraction)


def _log_choose(n: float, k: float) -> float:
    return math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)


def pitman(table: Histogram, fraction: float) -> float:
    """Return the number of population uniques after Hoshino (2001): Pitman's sampling formula.

    Its likelihood is maximised over alpha in (0, 1) and theta above 0; NaN where the maximum lies at alpha 0,
    where the formula has no uniques to offer in a large population.
    """
    u, n, population = table.total, table.records, table.records / fraction
    if table.count(1) == 0:
        return 0.0
    if u < 2 or table.count(1) == n:
        return math.nan  # one group, or nothing but uniques: the likelihood has no maximum inside

    def by_alpha(alpha: float) -> tuple[float, float]:
        """Return (likelihood, theta) of the best theta for this alpha."""
        one = math.lgamma(1 - alpha)
        inside = sum(
            g * (math.lgamma(size - alpha) - one)
            for size, g in zip(table.sizes.tolist(), table.groups.tolist(), strict=True)
        )

        def likelihood(log_theta: float) -> float:
            theta = math.exp(log_theta)
            rising = (u - 1) * math.log(alpha) + math.lgamma(theta / alpha + u)
            falling = math.lgamma(theta / alpha + 1) + math.lgamma(theta + n) - math.lgamma(theta + 1)
            return float(rising - falling + inside)

        best = _maximum(likelihood, -10.0, math.log(n) + 12.0)
        return likelihood(best), math.exp(best)

    alpha = _maximum(lambda a: by_alpha(a)[0], 1e-4, 1 - 1e-6)
    if alpha < 2e-4:
        return math.nan
    theta = by_alpha(alpha)[1]
    log_uniques = math.lgamma(theta + 1) - math.lgamma(theta + alpha) + alpha * math.log(population)
    return min(math.exp(log_uniques), population) if log_uniques < 700 else population


def snb(table: Histogram, fraction: float) -> float:
    """Return the number of population uniques after Chen and Keller-McNulty (1998): slide negative binomial.

    Two parameters are set so that the expected numbers of groups of one and of two in the table are those
    observed; NaN where no parameters do that.
    """
    one, two, f = table.count(1), table.count(2), fraction
    if one == 0:
        return 0.0
    if two == 0 or f >= 1:
        return math.nan if f < 1 else float(one)
    groups = _shlosser(table, f)

    def off(point: NDArray[np.float64]) -> NDArray[np.float64]:
        a, b = math.exp(point[0]), 1 / (1 + math.exp(-point[1]))
        first, second = small_groups(groups, f, a, b)
        if first <= 0 or second <= 0:
            return np.array([math.inf, math.inf])
        return np.array([math.log(first / one), math.log(second / two)])

    found = [_newton(off, np.array([math.log(a), math.log(b / (1 - b))])) for a, b in _STARTS]
    solved = [point for point in found if point is not None]
    if not solved:
        return math.nan
    a, b = math.exp(float(solved[0][0])), 1 / (1 + math.exp(-float(solved[0][1])))
    return float(min(groups * b**a, table.records / f))


def small_groups(groups: float, f: float, a: float, b: float) -> tuple[float, float]:
    """Return how many groups of one and of two a table is expected to have.

    Groups in the population have one record more than a negative binomial variable with `a` and `b`, and each
    record is in the table with probability `f`.
    """
    gap = (1 - f) * (1 - b)
    first = groups * f * (b / (1 - gap)) ** a * (a * gap / (1 - gap) + 1)
    second = groups * a * b**a * f * f * (1 - b) / (2 * (1 - gap) ** (a + 2)) * (2 - (1 - a) * gap)
    return first, second


_STARTS = ((1.0, 0.5), (0.2, 0.2), (0.05, 0.05), (0.5, 0.9), (2.0, 0.8), (5.0, 0.95), (0.1, 0.001))


def _shlosser(table: Histogram, f: float) -> float:
    """Return Shlosser's estimate of the number of groups in the population, as in Haas and Stokes (1998)."""
    sizes, groups = table.sizes.astype(np.float64), table.groups.astype(np.float64)
    missed = (groups * (1 - f) ** sizes).sum()
    found_once = (groups * sizes * f * (1 - f) ** (sizes - 1)).sum()
    top = (groups * sizes * f * f * (1 - f * f) ** (sizes - 1)).sum()
    below = (groups * (1 - f) ** sizes * ((1 + f) ** sizes - 1)).sum()
    if found_once == 0 or below == 0:
        return float(table.total)
    return float(table.total + table.count(1) * (top / below) * (missed / found_once) ** 2)


def _maximum(function: Callable[[float], float], low: float, high: float) -> float:
    """Return where a function with one peak is greatest, by golden sections."""
    left, right = high - _GOLDEN * (high - low), low + _GOLDEN * (high - low)
    at_left, at_right = function(left), function(right)
    for _ in range(_STEPS):
        if at_left >= at_right:
            high, right, at_right = right, left, at_left
            left = high - _GOLDEN * (high - low)
            at_left = function(left)
        else:
            low, left, at_left = left, right, at_right
            right = low + _GOLDEN * (high - low)
            at_right = function(right)
    return (low + high) / 2


def _newton(
    function: Callable[[NDArray[np.float64]], NDArray[np.float64]], start: NDArray[np.float64]
) -> NDArray[np.float64] | None:
    """Return a root near `start`, or None; steps are halved until they come nearer."""
    point, value = start, function(start)
    for _ in range(60):
        if not np.isfinite(value).all():
            return None
        if np.abs(value).max() < 1e-10:
            return point
        sides = [(function(point + h) - function(point - h)) / 2e-6 for h in 1e-6 * np.eye(2)]
        slope = np.stack(sides, axis=1)
        if not np.isfinite(slope).all() or abs(np.linalg.det(slope)) < 1e-14:
            return None
        step = np.linalg.solve(slope, -value)
        step *= min(1.0, 2.0 / float(np.abs(step).max()))
        for _ in range(30):
            moved = function(point + step) if np.abs(point + step).max() < 30 else np.array([np.inf] * 2)
            if np.isfinite(moved).all() and np.abs(moved).sum() < np.abs(value).sum():
                break
            step = step / 2
        else:
            return None
        point, value = point + step, moved
    return None


@dataclass(frozen=True, slots=True)
class PopulationUniques:
    """Estimates of the share of the population that is unique, and the one the rule picks.

    Attributes
    ----------
    fraction : float
        Share of the population that is in the table.
    shares : dict of str to Estimate
        By model, as shares of the population; NaN where a model has no answer.
    chosen : str
        The rule's model.
    """

    fraction: float
    shares: dict[str, Estimate]
    chosen: str

    @property
    def share(self) -> Estimate:
        """The rule's estimate."""
        return self.shares[self.chosen]

    def to_dict(self) -> dict[str, Any]:
        """Return the estimates as plain values."""
        shares = {name: estimate.to_dict() for name, estimate in self.shares.items()}
        return {"fraction": self.fraction, "shares": shares, "chosen": self.chosen}


_MODELS: dict[str, Callable[[Histogram, float], float]] = {"pitman": pitman, "zayatz": zayatz, "snb": snb}


def population_uniques(group_sizes: NDArray[np.integer], fraction: float, seed: int = 0) -> PopulationUniques:
    """Return estimates of the share of the population that is unique.

    Intervals are percentiles over groups drawn again with replacement.

    Parameters
    ----------
    group_sizes : int[groups]
        Number of records of each group of the table.
    fraction : float
        Share of the population that is in the table, above 0 and at most 1.
    seed : int

    Examples
    --------
    >>> import numpy as np
    >>> found = population_uniques(np.repeat([1, 2, 3, 8], [80, 12, 5, 2]), 0.5)
    >>> found.chosen, 0.3 < found.share.value < 0.6
    ('snb', True)
    """
    table, rng = Histogram.of(group_sizes), np.random.default_rng(seed)
    again = [table.resampled(rng) for _ in range(_REPLICATES)] if fraction < 1 else []
    shares = {}
    for name, model in _MODELS.items():
        if fraction >= 1:
            shares[name] = exactly(table.count(1) / table.records, table.records)
            continue
        replicates = np.array([model(each, fraction) * fraction / each.records for each in again])
        value = model(table, fraction) * fraction / table.records
        shares[name] = between(value, replicates, table.records, seed)
    return PopulationUniques(fraction, shares, _rule(shares, fraction))


def _rule(shares: dict[str, Estimate], fraction: float) -> str:
    """Return the model to believe: Pitman's for small fractions, else the lower of SNB and Zayatz."""
    if fraction <= _SMALL_FRACTION:
        return "pitman" if math.isfinite(shares["pitman"].value) else "zayatz"
    if math.isfinite(shares["snb"].value) and shares["snb"].value <= shares["zayatz"].value:
        return "snb"
    return "zayatz"
