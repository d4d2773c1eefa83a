"""How exposed people are, before and after: the prosecutor's, the journalist's and the marketer's risk.

Records are classed by the cells that are published, whatever made them. Where cells are noise, records of one
class differ in them, and the classes have to be told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import DataError, ParameterError, PolicyError
from ..grouping import Coded
from ..inference import complete
from ..params import Integer, Optional, Parameter, Real
from ..policy import Policy
from ..verification.groups import distinct, group_rows
from .candidates import find_candidates
from .population import PopulationUniques, population_uniques
from .reading import VAGUE, read_columns
from .records import RiskSummary, expected_one_in, group_sizes, histogram, one_in
from .uniques import Uniques, find_uniques

_FRACTION = Parameter(
    "fraction", Optional(Real(0, 1, open_low=True)), "share of the population in the table", None
)
_SEED = Parameter("seed", Integer(0), "of the intervals", 0)


@dataclass(frozen=True, slots=True, eq=False)
class Exposure:
    """How exposed the people of one table are. Only `risks` is about single records.

    Attributes
    ----------
    records, classes : int
    prosecutor : RiskSummary
        Of an attacker who knows that the person is in the table: 1 / records of the class.
    journalist : RiskSummary or None
        Of one who knows the population, not who is in the table: 1 / people who fit the class.
    journalist_by : str
        How those people were counted: "population table", "negative binomial model" or "".
    sizes : list of dict
        Share of records by the size of their class.
    population : PopulationUniques or None
        How many people are unique in the population.
    how : str
        "published" when classes were read from the cells, "construction" when they were told.
    risks : float64[records]
        The prosecutor's risk of every record of the original; of every published one where it is not known
        whose it is. 0 for who was suppressed.
    """

    records: int
    classes: int
    prosecutor: RiskSummary
    journalist: RiskSummary | None
    journalist_by: str
    sizes: list[dict[str, Any]]
    population: PopulationUniques | None
    how: str
    risks: NDArray[np.float64]

    @property
    def marketer(self) -> RiskSummary:
        """The risks whose mean is the share of people a marketer names: the population's where known."""
        return self.prosecutor if self.journalist is None else self.journalist

    def to_dict(self) -> dict[str, Any]:
        """Return all but the single records as plain values, for JSON."""
        return {
            "records": self.records,
            "classes": self.classes,
            "how": self.how,
            "prosecutor": self.prosecutor.to_dict(),
            "journalist": None if self.journalist is None else self.journalist.to_dict(),
            "journalist_by": self.journalist_by,
            "marketer": self.marketer.mean.to_dict(),
            "class_sizes": self.sizes,
            "population_uniques": None if self.population is None else self.population.to_dict(),
        }


@dataclass(frozen=True, slots=True, eq=False)
class Risk:
    """How exposed people are before and after. Its `to_dict` holds no cell values.

    Attributes
    ----------
    quasi : tuple of str
    before : Exposure
        Of the original as it is.
    after : Exposure or None
        Of the published table.
    uniques : Uniques
        Who stands out in the original, and by which columns.
    fraction : float or None
        Share of the population that is in the table.
    seed : int
    """

    quasi: tuple[str, ...]
    before: Exposure
    after: Exposure | None
    uniques: Uniques
    fraction: float | None
    seed: int

    def to_dict(self) -> dict[str, Any]:
        """Return the risks as plain values, for JSON."""
        uniques = self.uniques.to_dict()
        if self.fraction is not None:
            disclosive = self.uniques.disclosive(self.fraction)
            uniques["highest_dis_score"] = float(disclosive.max(initial=0.0))
        return {
            "quasi": list(self.quasi),
            "fraction": self.fraction,
            "seed": self.seed,
            "before": self.before.to_dict(),
            "after": None if self.after is None else self.after.to_dict(),
            "uniques": uniques,
        }

    def _repr_html_(self) -> str:
        from ..notebook.views import risk_view

        return risk_view(self)

    def __str__(self) -> str:
        lines = []
        for word, found in (("before", self.before), ("after", self.after)):
            if found is not None:
                highest, mean = found.prosecutor.highest, found.marketer.mean.value
                lines.append(
                    f"{word}: {found.prosecutor.uniques:,} of {found.records:,} records are alone in their "
                    f"class; highest risk {highest:.3g}, mean {mean:.3g}"
                )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Surroundings:
    """What is known beside the tables.

    Attributes
    ----------
    fraction : float, optional
        Share of the population that is in the table, above 0 and at most 1.
    population : pyarrow.Table, optional
        The population, the people of the table among them; holds the quasi-identifiers.
    rows : int64[published], optional
        The record of the original behind each published one.
    classes : int64[published], optional
        The class of each published record; only used where cells are noise.
    seed : int
    """

    fraction: float | None = None
    population: pa.Table | None = None
    rows: NDArray[np.int64] | None = None
    classes: NDArray[np.integer[Any]] | None = None
    seed: int = 0


def risk_of_tables(
    original: pa.Table, published: pa.Table | None, policy: Policy, known: Surroundings | None = None
) -> Risk:
    """Return how exposed people are in the original and, if it is given, in a published table.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> ages, shown = pa.table({"age": [31, 34, 52, 52]}), pa.table({"age": ["[31, 34]"] * 2 + ["52"] * 2})
    >>> print(risk_of_tables(ages, shown, policy))
    before: 2 of 4 records are alone in their class; highest risk 1, mean 0.75
    after: 0 of 4 records are alone in their class; highest risk 0.5, mean 0.5
    """
    known = known or Surroundings()
    _FRACTION.check("risk", known.fraction)
    _SEED.check("risk", known.seed)
    quasi = tuple(column.name for column in policy.schema.quasi)
    if not quasi:
        raise PolicyError(
            "the policy names no quasi-identifier",
            hint="List the columns that could identify someone: quasi=[...].",
        )
    if original.num_rows == 0:
        raise DataError("the table has no records")
    policy = policy.with_columns(
        complete(column, original) if column.name in quasi else column for column in policy.schema.columns
    )
    if known.population is not None:
        missing = [name for name in quasi if name not in known.population.column_names]
        if missing:
            raise ParameterError(
                "the population table lacks " + ", ".join(map(repr, missing)),
                hint="It must hold every quasi-identifier of the policy.",
            )
    raw = replace(known, rows=np.arange(original.num_rows), classes=None)
    before = _Classed.by_values(original, policy, raw).exposure(original.num_rows)
    after = None
    if published is not None:
        people = published.num_rows if known.rows is None else original.num_rows
        after = _Classed.by_cells(published, policy, known).exposure(people)
    uniques = find_uniques([_coded(original, name) for name in quasi], quasi)
    return Risk(quasi, before, after, uniques, known.fraction, known.seed)


def _coded(table: pa.Table, name: str) -> Coded:
    codes, values = distinct(table.column(name))
    return Coded(codes, max(len(values), 1))


@dataclass(frozen=True, slots=True, eq=False)
class _Classed:
    """A table whose records are classed by what it shows."""

    table: pa.Table
    policy: Policy
    known: Surroundings
    classes: NDArray[np.int64]
    told: bool
    raw: bool

    @classmethod
    def by_values(cls, table: pa.Table, policy: Policy, known: Surroundings) -> _Classed:
        """Return the original."""
        classes = group_rows(table, [column.name for column in policy.schema.quasi])
        return cls(table, policy, known, classes, told=False, raw=True)

    @classmethod
    def by_cells(cls, table: pa.Table, policy: Policy, known: Surroundings) -> _Classed:
        """Return a published table; its classes as they were told where cells are noise."""
        names = [name for column in policy.schema.quasi for name in column.published_names]
        missing = [name for name in names if name not in table.column_names]
        if missing:
            raise DataError("the published table lacks the columns " + ", ".join(map(repr, missing)))
        told = known.classes is not None and any(column.form.noisy for column in policy.schema.quasi)
        if not told:
            return cls(table, policy, known, group_rows(table, names), told=False, raw=False)
        # Suppressed records are -1, and one class of their own where they are published.
        given = np.asarray(known.classes, dtype=np.int64)
        classes = np.unique(given, return_inverse=True)[1].reshape(-1)
        return cls(table, policy, known, classes, told=True, raw=False)

    def exposure(self, people: int) -> Exposure:
        """Return the risks of so many people, 0 for those who have no record in the table."""
        sizes = group_sizes(self.classes)
        fitting = self._fitting()
        risks, fraction, seed = self._placed(one_in(sizes), people), self.known.fraction, self.known.seed
        journalist, counted_by, population = None, "", None
        if fitting is not None:
            counted_by = "population table"
            journalist = RiskSummary.of(self._placed(one_in(np.maximum(fitting, sizes)), people))
        elif fraction is not None:
            counted_by = "negative binomial model"
            journalist = RiskSummary.of(self._placed(expected_one_in(sizes, fraction), people))
        if fraction is not None and len(sizes):
            population = population_uniques(np.bincount(self.classes), fraction, seed)
        return Exposure(
            records=len(sizes),
            classes=int(self.classes.max(initial=-1)) + 1,
            prosecutor=RiskSummary.of(risks),
            journalist=journalist,
            journalist_by=counted_by,
            sizes=histogram(sizes),
            population=population,
            how="construction" if self.told else "published",
            risks=risks,
        )

    def _placed(self, risks: NDArray[np.float64], people: int) -> NDArray[np.float64]:
        """Return one risk per person, from one per record of the table."""
        if self.known.rows is None:
            return risks
        found = np.zeros(people)
        found[self.known.rows] = risks
        return found

    def _fitting(self) -> NDArray[np.int64] | None:
        """Return how many people of the population fit the cells of every record; None where nobody knows."""
        population, quasi = self.known.population, self.policy.schema.quasi
        vague = not self.raw and any(column.form in VAGUE for column in quasi)
        if population is None or vague or min(population.num_rows, self.table.num_rows) == 0:
            return None
        names = [column.name for column in quasi]
        columns = read_columns(self.policy, population, self.table, names, plain=self.raw)
        found = find_candidates(columns, np.arange(population.num_rows))
        people = np.bincount(found.person, minlength=len(found.known))
        people[found.found[:, 0] > 0] = 0
        fitting = np.zeros(len(found.cells.rows), dtype=np.int64)
        for looks, starts, listed in found.lists():
            np.add.at(fitting, listed, np.repeat(people[looks], np.diff(starts)))
        return np.asarray(fitting[found.group])
