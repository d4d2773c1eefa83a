"""COUNT queries: how far off is the answer of someone who counts in the published table?

Every query asks for a range or a set of values in a few quasi-identifiers and, where there is one, in one
sensitive column. The published answer is the expected one: a cell counts with the part of it that fits.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ParameterError, UnknownName
from ..grouping import Coded, combine, dense
from .lines import Line
from .spreads import Spread


@dataclass(frozen=True, slots=True)
class Workload:
    """Which COUNT queries are drawn.

    Attributes
    ----------
    queries : int
    columns : int
        Quasi-identifiers in each query, at most as many as there are.
    selectivity : float
        Share of the records that a query would find if its columns were independent.
    sanity : float
        Errors are relative to the true count, but at least to this share of the records.
    seed : int
    """

    queries: int = 1000
    columns: int = 3
    selectivity: float = 0.05
    sanity: float = 0.001
    seed: int = 0

    def __post_init__(self) -> None:
        if self.queries < 1 or self.columns < 1:
            raise ParameterError("a workload needs at least one query over one column")
        if not (0 < self.selectivity <= 1 and 0 < self.sanity <= 1):
            raise ParameterError("'selectivity' and 'sanity' of a workload must lie above 0 and not above 1")


def workload_of(seed: int, given: dict[str, Any]) -> Workload:
    """Return the workload with these settings, or raise naming the setting there is not.

    Examples
    --------
    >>> workload_of(3, {"queries": 100}).queries
    100
    """
    known = [field.name for field in fields(Workload) if field.name != "seed"]
    for name in given:
        if name not in known:
            raise UnknownName.nearest("setting of a workload", name, known)
    return Workload(seed=seed, **given)


@dataclass(frozen=True, slots=True)
class QueryError:
    """How far off the counts of a workload are.

    Attributes
    ----------
    workload : Workload
    columns : int
        Quasi-identifiers in each query.
    sensitive : bool
        Whether each query also asks for values of a sensitive column.
    selectivity : float
        Mean share of the records that the queries found in the original.
    median, mean, worst_tenth : float
        Relative error |published count - count| / max(count, sanity * records): its median, its mean, and the
        least error of the worst tenth.
    """

    workload: Workload
    columns: int
    sensitive: bool
    selectivity: float
    median: float
    mean: float
    worst_tenth: float

    def to_dict(self) -> dict[str, Any]:
        """Return the errors and the workload as plain values."""
        return {
            "queries": self.workload.queries,
            "columns": self.columns,
            "sensitive": self.sensitive,
            "selectivity_asked": self.workload.selectivity,
            "selectivity_found": self.selectivity,
            "sanity": self.workload.sanity,
            "seed": self.workload.seed,
            "median": self.median,
            "mean": self.mean,
            "worst_tenth": self.worst_tenth,
        }


@dataclass(frozen=True, slots=True, eq=False)
class Condition:
    """What a query asks of one column: a stretch of its line, or a set of codes.

    Attributes
    ----------
    column : int
        Place of the column among the lines.
    codes : bool[codes + 1]
        Which codes of the original fit; null never does.
    stretch : (low, high), optional
        From low up to, but without, high.
    """

    column: int
    codes: NDArray[np.bool_]
    stretch: tuple[float, float] | None


def query_error(lines: Sequence[Line], spreads: Sequence[Spread], workload: Workload) -> QueryError:
    """Return how far off the counts of a random workload are.

    References
    ----------
    Xiao and Tao (2006): Anatomy; LeFevre, DeWitt and Ramakrishnan (2008): Workload-aware anonymization
    techniques for large-scale datasets.
    """
    drawn = list(draw(lines, workload))
    n = len(lines[0].codes)
    truth = np.array([_truth(lines, query) for query in drawn])
    estimated = _Estimator(lines, spreads).counts(drawn)
    error = np.abs(estimated - truth) / np.maximum(truth, workload.sanity * n)
    quasi = sum(line.quasi for line in lines)
    return QueryError(
        workload,
        min(workload.columns, quasi),
        quasi < len(lines),
        float(truth.mean() / n),
        float(np.median(error)),
        float(error.mean()),
        float(np.quantile(error, 0.9)),
    )


def draw(lines: Sequence[Line], workload: Workload) -> list[tuple[Condition, ...]]:
    """Return the queries of a workload, the same for the same lines and seed.

    Each column is asked for about the same share of the records, so that all together would find the
    workload's selectivity if they were independent: of numbers and ranks a stretch between two records, of
    categories values in random order until they have that share.
    """
    rng = np.random.default_rng(workload.seed)
    quasi = [j for j, line in enumerate(lines) if line.quasi]
    rest = [j for j, line in enumerate(lines) if not line.quasi]
    asked = min(workload.columns, len(quasi))
    share = workload.selectivity ** (1 / (asked + bool(rest)))
    found = []
    for _ in range(workload.queries):
        chosen = sorted(rng.choice(quasi, asked, replace=False).tolist())
        if rest:
            chosen.append(int(rng.choice(rest)))
        found.append(tuple(_condition(j, lines[j], share, rng) for j in chosen))
    return found


def _condition(j: int, line: Line, share: float, rng: np.random.Generator) -> Condition:
    counts = line.counts[:-1]
    total = max(int(counts.sum()), 1)
    fits = np.zeros(len(counts) + 1, dtype=bool)
    if not line.ordered or (line.tree is not None and not line.quasi):
        mixed = rng.permutation(np.flatnonzero(counts))
        enough = np.searchsorted(np.cumsum(counts[mixed]), share * total) + 1
        fits[mixed[:enough]] = True
        return Condition(j, fits, None)
    order = np.argsort(np.nan_to_num(line.places, nan=np.inf), kind="stable")
    running = np.cumsum(counts[order])
    begin = rng.random() * (1 - share) * total
    first = min(int(np.searchsorted(running, begin, side="right")), len(order) - 1)
    last = min(int(np.searchsorted(running, min(begin + share * total, total))), len(order) - 1)
    fits[order[first : max(first, last) + 1]] = True
    low, high = line.places[order[first]], line.places[order[max(first, last)]]
    upper = high + line.half if line.half else np.nextafter(high, np.inf)
    return Condition(j, fits, (float(low - line.half), float(upper)))


def _truth(lines: Sequence[Line], query: tuple[Condition, ...]) -> int:
    fits = np.ones(len(lines[0].codes), dtype=bool)
    for condition in query:
        fits &= condition.codes[lines[condition.column].codes]
    return int(np.count_nonzero(fits))


class _Estimator:
    """Expected counts from published cells: records that agree in all generalised columns are kept once."""

    def __init__(self, lines: Sequence[Line], spreads: Sequence[Spread]) -> None:
        self.lines, self.spreads = lines, spreads
        quasi = [Coded(s.cell_of, s.cells) for line, s in zip(lines, spreads, strict=True) if line.quasi]
        joined = combine(quasi)
        classes = dense(joined.codes, joined.size)
        _, first = np.unique(classes.codes, return_index=True)
        self.cells = [spread.cell_of[first] for spread in spreads]  # of each class; quasi-identifiers only
        self.sizes = np.bincount(classes.codes, minlength=classes.size).astype(np.float64)
        self.pairs = {j: _class_counts(classes, spreads[j]) for j, line in enumerate(lines) if not line.quasi}

    def counts(self, queries: Sequence[tuple[Condition, ...]]) -> NDArray[np.float64]:
        """Return the expected count of each query."""
        return np.array([self._count(query) for query in queries])

    def _count(self, query: tuple[Condition, ...]) -> float:
        product: NDArray[np.float64] | None = None
        sensitive: NDArray[np.float64] | None = None
        for condition in query:
            j = condition.column
            parts = fitting(self.spreads[j], condition, self.lines[j])
            if self.lines[j].quasi:
                own = parts[self.cells[j]]
                product = own if product is None else product * own
            else:
                classes, cells, counts = self.pairs[j]
                sensitive = np.bincount(
                    classes, weights=counts * parts[cells], minlength=len(self.sizes)
                ).astype(np.float64)
        weights = self.sizes if sensitive is None else sensitive
        return float(weights.sum() if product is None else weights @ product)


def _class_counts(
    classes: Coded, spread: Spread
) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
    """Return (class, cell, records) of every cell of a sensitive column that a class has."""
    slots = classes.size * spread.cells
    keys = classes.codes * spread.cells + spread.cell_of
    numbered = dense(keys, slots)
    _, first = np.unique(numbered.codes, return_index=True)
    found, cells = np.divmod(keys[first], spread.cells)
    return found, cells, np.bincount(numbered.codes, minlength=numbered.size)


def fitting(spread: Spread, condition: Condition, line: Line) -> NDArray[np.float64]:
    """Return the part of each published cell that fits a condition."""
    if condition.stretch is not None:
        low, high = condition.stretch
        return spread.below(high) - spread.below(low)
    running = np.concatenate([[0], np.cumsum(condition.codes[:-1])])
    first = np.rint(spread.low + line.half).astype(np.int64)
    last = np.rint(spread.high - line.half).astype(np.int64)
    return spread.sums(spread.share * (running[last + 1] - running[first]) / (last - first + 1))
