"""One checker for each privacy model: its published definition, applied to the published groups."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .distances import moved_mass
from .exact import NEAR, as_written, at_most, entropy_reaches, ratios, whole
from .groups import Counts, Examined, Unverifiable
from .population import population_counts

REFUSAL = 1e-12  # a comparison with a logarithm leans to refusal by this much


@dataclass(frozen=True, slots=True, eq=False)
class Checked:
    """The outcome of one promise: the numbers to report, and the groups that break it."""

    required: float
    achieved: float
    better: str
    failing: NDArray[np.int64]


Checker = Callable[[Any, Examined, str | None], Checked]


def _lowest(values: NDArray[Any]) -> float:
    return float(values.min()) if len(values) else math.inf


def _highest(values: NDArray[Any]) -> float:
    return float(values.max()) if len(values) else 0.0


def _small(examined: Examined, k: int) -> NDArray[np.int64]:
    return np.flatnonzero(examined.sizes < k)


def _column(examined: Examined, column: str | None) -> Counts:
    if column is None:
        raise Unverifiable("the model speaks about a sensitive column, and none is named")
    return examined.counts(column)


def k_anonymity(model: Any, examined: Examined, column: str | None) -> Checked:
    """Every group has at least k records (Samarati and Sweeney 1998)."""
    return Checked(model.k, _lowest(examined.sizes), "higher", _small(examined, model.k))


def k_map(model: Any, examined: Examined, column: str | None) -> Checked:
    """Every group's cells fit at least k records of the population (Sweeney 2002)."""
    fitting = population_counts(examined, model.population).least
    return Checked(model.k, _lowest(fitting), "higher", np.flatnonzero(fitting < model.k))


def delta_presence(model: Any, examined: Examined, column: str | None) -> Checked:
    """The share of the fitting population that is in the table is from low to high (Nergiz et al. 2007)."""
    fitting = population_counts(examined, model.population)
    low, high = as_written(model.low), as_written(model.high)
    held = at_most(examined.sizes, fitting.least, high)
    held &= (fitting.most > 0) & ~at_most(examined.sizes, fitting.most, low, strict=True)
    return Checked(
        model.high, _highest(ratios(examined.sizes, fitting.least)), "lower", np.flatnonzero(~held)
    )


def l_diversity(model: Any, examined: Examined, column: str | None) -> Checked:
    """Every group holds l well represented sensitive values (Machanavajjhala et al. 2007)."""
    counts = _column(examined, column)
    return {"distinct": _distinct, "entropy": _entropy, "recursive": _recursive}[model.kind](model, counts)


def _distinct(model: Any, counts: Counts) -> Checked:
    failing = counts.groups[counts.lengths < model.l]
    return Checked(model.l, _lowest(counts.lengths), "higher", failing)


def _entropy(model: Any, counts: Counts) -> Checked:
    sizes = counts.sizes.astype(np.float64)
    terms = counts.count * np.log(counts.count)
    entropies = np.log(sizes) - counts.sums(terms) / sizes
    holds = entropies >= math.log(model.l)
    lengths = counts.lengths
    settled: dict[bytes, bool] = {}
    for g in np.flatnonzero(np.abs(entropies - math.log(model.l)) <= NEAR):
        own = np.sort(counts.count[counts.starts[g] : counts.starts[g] + lengths[g]])
        key = own.tobytes()
        if key not in settled:
            settled[key] = entropy_reaches(own, model.l)
        holds[g] = settled[key]
    achieved = round(math.exp(_lowest(entropies)), 12)
    return Checked(model.l, achieved, "higher", counts.groups[~holds])


def _recursive(model: Any, counts: Counts) -> Checked:
    """r_1 < c (r_l + ... + r_m), the counts of a group in descending order."""
    order = np.lexsort((-counts.count, counts.group))
    place = np.arange(len(order)) - counts.each(counts.starts)
    descending = counts.count[order]
    largest = descending[counts.starts]
    tail = counts.sums(np.where(place >= int(model.l) - 1, descending, 0))
    holds = at_most(largest, tail, as_written(model.c), strict=True)
    return Checked(model.c, _highest(ratios(largest, tail)), "lower", counts.groups[~holds])


def t_closeness(model: Any, examined: Examined, column: str | None) -> Checked:
    """The earth mover's distance from every group to the table is at most t (Li et al. 2007)."""
    counts = _column(examined, column)
    moved, unit = moved_mass(counts, model.distance)
    greatest = counts.total**2 * unit
    possible = whole(counts.sizes, greatest) * (counts.total * unit)
    holds = at_most(moved, possible, as_written(model.t))
    return Checked(model.t, _highest(ratios(moved, possible)), "lower", counts.groups[~holds])


def p_sensitive(model: Any, examined: Examined, column: str | None) -> Checked:
    """Every group has at least k records and p different sensitive values (Truta and Vinay 2006)."""
    counts = _column(examined, column)
    poor = counts.groups[counts.lengths < model.p]
    failing = np.union1d(poor, _small(examined, model.k))
    return Checked(model.p, _lowest(counts.lengths), "higher", failing)


def alpha_k(model: Any, examined: Examined, column: str | None) -> Checked:
    """Every group has at least k records, and no (listed) value a share above alpha (Wong et al. 2006)."""
    counts = _column(examined, column)
    if model.values:
        listed = np.array(
            [_as_text(value) in model.values for value in counts.values.to_pylist()], dtype=bool
        )
    else:
        listed = np.ones(len(counts.values), dtype=bool)
    sizes = counts.each(counts.sizes)
    concerned = listed[counts.value]
    broken = concerned & ~at_most(counts.count, sizes, as_written(model.alpha))
    failing = np.union1d(counts.group[broken], _small(examined, model.k))
    shares = ratios(counts.count, sizes)[concerned]
    return Checked(model.alpha, _highest(shares), "lower", failing)


def beta_likeness(model: Any, examined: Examined, column: str | None) -> Checked:
    """No value gains more than beta, relative to its share in the table (Cao and Karras 2012).

    The enhanced form bounds the gain by -ln(share in the table) as well.
    """
    counts = _column(examined, column)
    overall = counts.overall[counts.value]
    expected = whole(overall, counts.total**2) * counts.each(counts.sizes)
    gained = whole(counts.count, counts.total**2) * counts.total - expected
    holds = at_most(np.maximum(gained, 0), expected, as_written(model.beta))
    gains = np.maximum(ratios(gained, expected), 0.0)
    if model.enhanced:
        # The bound is irrational unless it is 0, so nothing but rounding can make a tie.
        bound = -np.log(overall / max(counts.total, 1))
        allowed = (gains <= bound * (1 - REFUSAL)) | (gains == 0.0)
        holds &= allowed
        gains = np.where(allowed, gains, np.inf)
    return Checked(model.beta, _highest(gains), "lower", np.unique(counts.group[~holds]))


def delta_disclosure(model: Any, examined: Examined, column: str | None) -> Checked:
    """|ln(share in the group / share in the table)| < delta for every value (Brickell and Shmatikov 2008)."""
    counts = _column(examined, column)
    own = counts.count / counts.each(counts.sizes)
    distance = np.abs(np.log(own / (counts.overall[counts.value] / max(counts.total, 1))))
    by_group = counts.greatest(distance)
    if model.absent == "fail":
        by_group = np.where(counts.lengths < np.count_nonzero(counts.overall), np.inf, by_group)
    holds = by_group < model.delta * (1 - REFUSAL)
    return Checked(model.delta, _highest(by_group), "lower", counts.groups[~holds])


def _as_text(value: object) -> str | None:
    return None if value is None else str(value)


CHECKERS: dict[str, Checker] = {
    "k-anonymity": k_anonymity,
    "k-map": k_map,
    "l-diversity": l_diversity,
    "t-closeness": t_closeness,
    "p-sensitive": p_sensitive,
    "alpha-k": alpha_k,
    "beta-likeness": beta_likeness,
    "delta-disclosure": delta_disclosure,
    "delta-presence": delta_presence,
}


def check(model: Any, examined: Examined, column: str | None) -> Checked:
    """Return the outcome of one promise.

    A model from elsewhere brings its own checker as ``verify_groups(examined, column)``, which returns
    (required, achieved, better, failing groups).

    Raises
    ------
    Unverifiable
        When there is no checker, or the table lacks what it needs.
    """
    if column is not None and column not in examined.table.column_names:
        raise Unverifiable(f"the sensitive column {column!r} is missing")
    checker = CHECKERS.get(model.name)
    if checker is not None:
        return checker(model, examined, column)
    own = getattr(model, "verify_groups", None)
    if own is None:
        raise Unverifiable(f"{model.name} has no checker: give the model a method 'verify_groups'")
    return Checked(*own(examined, column))


__all__ = ["CHECKERS", "Checked", "Checker", "check"]
