"""Audit: what a table gives away as it is, before anything is done to it.

Every number is about groups of records that agree on quasi-identifiers; null is a value of its own. An audit
holds column names and counts, never values.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass, field, replace
from typing import Any

import numpy as np
import pyarrow as pa

from .encoding import dictionary
from .errors import DataError, PolicyError
from .grouping import ClassCounts, Coded, combine, dense, pair, singles
from .inference import complete
from .policy import Policy
from .risk.exposure import Risk, Surroundings, risk_of_tables
from .schema import Column, Kind, Role, Schema

_SMALL_CLASS = 5
_LARGEST_SET = 3
_SEARCHED_COLUMNS = 16  # their sets of up to three columns number 696
_REPORTED_SETS = 10
_THRESHOLDS = (0.01, 0.05, 0.2, 0.5, 0.8)


@dataclass(frozen=True, slots=True)
class ColumnSet:
    """What knowing a few columns gives away.

    Attributes
    ----------
    columns : tuple of str
    singled_out : int
        Records that no other record shares these values with.
    share : float
        The same as a share of all records.
    """

    columns: tuple[str, ...]
    singled_out: int
    share: float


@dataclass(frozen=True, slots=True)
class SensitiveRisk:
    """What the classes give away about one sensitive column.

    Attributes
    ----------
    column : str
    certain : int
        Records that share their class with others, all of which have the same value: who knows that someone
        is in such a class knows the value without telling the records apart (homogeneity attack).
    certain_share : float
    certain_alone : int
        Records that are alone in their class, whose value is certain all the more.
    l : int
        Least number of distinct values in a class.
    t : float
        Greatest distance between the distribution in a class and that of the table.
    distance : str
        "ordered" for columns with an order, else "equal".
    revealing : tuple of str
        The one or two quasi-identifiers that, known alone, make the value certain for most records that share
        those with others.
    revealed : int
        Records it makes certain.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007): l-diversity; Li, Li and Venkatasubramanian
    (2007): t-closeness.
    """

    column: str
    certain: int
    certain_share: float
    certain_alone: int
    l: int  # noqa: E741  (the literature's own letter)
    t: float
    distance: str
    revealing: tuple[str, ...]
    revealed: int


@dataclass(frozen=True, slots=True)
class Audit:
    """What a table gives away as it is. Holds no cell values.

    Attributes
    ----------
    records, classes : int
        Records, and groups of them that agree on every quasi-identifier.
    smallest_class : int
        The k of k-anonymity that the table has already.
    unique, unique_share : int, float
        Records that are alone in their class.
    small, small_share : int, float
        Records in classes of fewer than 5.
    quasi : tuple of str
        The quasi-identifiers.
    identifying : tuple of ColumnSet
        Sets of up to three columns that single out most records, most first.
    smallest_sets : tuple of (share, ColumnSet)
        For a few shares of the records, the smallest set of columns that singles out at least as many.
    searched : tuple of str
        The columns the sets were looked for in: those with most distinct values when there are many.
    sensitive : tuple of SensitiveRisk
    risk : Risk
        The risk of every record, special uniques and, given a sampling fraction, population uniques.
    """

    records: int
    classes: int
    smallest_class: int
    unique: int
    unique_share: float
    small: int
    small_share: float
    quasi: tuple[str, ...]
    identifying: tuple[ColumnSet, ...]
    smallest_sets: tuple[tuple[float, ColumnSet], ...]
    searched: tuple[str, ...]
    sensitive: tuple[SensitiveRisk, ...]
    risk: Risk | None = field(default=None, repr=False, compare=False)

    def to_dict(self) -> dict[str, Any]:
        """Return the audit as plain values, for JSON."""
        return {
            **asdict(replace(self, risk=None)),
            "smallest_sets": [
                {"threshold": threshold, **asdict(found)} for threshold, found in self.smallest_sets
            ],
            "risk": None if self.risk is None else self.risk.to_dict(),
        }

    def _repr_html_(self) -> str:
        from .notebook.views import audit_view

        return audit_view(self)

    def __str__(self) -> str:
        lines = [
            f"{self.records:,} records, {self.classes:,} classes on {', '.join(self.quasi)}",
            f"  smallest class              {self.smallest_class:,}",
            f"  unique records              {self.unique:,} ({self.unique_share:.1%})",
            f"  in classes of fewer than {_SMALL_CLASS}  {self.small:,} ({self.small_share:.1%})",
            "most identifying column sets",
            *(f"  {_set_line(found)}" for found in self.identifying),
            "smallest sets that single out a share of the records",
            *(f"  {share:4.0%}: {_set_line(found)}" for share, found in self.smallest_sets),
        ]
        if self.risk is not None:
            lines += ["how exposed people are", *(f"  {line}" for line in exposure_lines(self.risk))]
        for risk in self.sensitive:
            lines += [f"sensitive column {risk.column}", *(f"  {line}" for line in _risk_lines(risk))]
        return "\n".join(lines)


def _set_line(found: ColumnSet) -> str:
    return f"{', '.join(found.columns)}: {found.singled_out:,} records ({found.share:.1%})"


def exposure_lines(risk: Risk) -> Iterator[str]:
    """Yield what the risk before says, in plain words."""
    uniques, n = risk.uniques, risk.before.records
    special = int(uniques.special.sum())
    yield f"{special:,} records ({special / n:.1%}) stand out by fewer columns than all: special uniques"
    population = risk.before.population
    if population is None:
        return
    share = population.share
    yield (
        f"an estimated {share.value:.2%} of the population are unique in it ({population.chosen}, 95%: "
        f"{share.low:.2%} to {share.high:.2%})"
    )
    alone = int(uniques.unique.sum())
    if alone:
        both = min(share.value * n / alone, 1.0)
        yield f"of the {alone:,} unique records, about {both:.0%} are unique in the population too"


def _risk_lines(risk: SensitiveRisk) -> Iterator[str]:
    yield f"certain for {risk.certain:,} records that share their class ({risk.certain_share:.1%})"
    yield f"certain for {risk.certain_alone:,} records that are alone in theirs"
    if risk.revealed:
        yield f"{' and '.join(risk.revealing)} alone make it certain for {risk.revealed:,} records"
    yield f"l = {risk.l} (distinct), t = {risk.t:.3f} ({risk.distance} distance)"


def audit_table(
    data: pa.Table,
    quasi: Sequence[str],
    sensitive: Sequence[str] = (),
    *,
    fraction: float | None = None,
    seed: int = 0,
) -> Audit:
    """Return what a table gives away as it is.

    Parameters
    ----------
    data : pyarrow.Table
        The table, untouched.
    quasi : sequence of str
        Columns that an attacker may know about someone.
    sensitive : sequence of str
        Columns that nobody should learn.
    fraction : float, optional
        Share of the population that is in the table: adds estimates about the population.
    seed : int
        Of their intervals.

    Examples
    --------
    >>> import pyarrow as pa
    >>> table = pa.table({"age": [30, 30, 41], "illness": ["flu", "flu", "gout"]})
    >>> found = audit_table(table, ["age"], ["illness"])
    >>> found.smallest_class, found.unique, found.sensitive[0].certain
    (1, 1, 2)
    """
    specs = _specs(data, quasi, sensitive)
    columns = {spec.name: _codes(data, spec) for spec in specs}
    n = data.num_rows
    searched = _searched([columns[name] for name in quasi], quasi)
    classes = combine([columns[name] for name in quasi])
    sizes = np.bincount(classes.codes, minlength=classes.size)
    unique, small = int((sizes == 1).sum()), int(sizes[sizes < _SMALL_CLASS].sum())
    sets = [ColumnSet(names, found, found / n) for names, found in _singled_out(columns, searched)]
    return Audit(
        records=n,
        classes=len(sizes),
        smallest_class=int(sizes.min()),
        unique=unique,
        unique_share=unique / n,
        small=small,
        small_share=small / n,
        quasi=tuple(quasi),
        identifying=tuple(sorted(sets, key=lambda s: (-s.singled_out, len(s.columns)))[:_REPORTED_SETS]),
        smallest_sets=tuple(_smallest_sets(sets)),
        searched=searched,
        sensitive=tuple(
            _risk(spec, columns, searched, classes) for spec in specs if spec.role is Role.SENSITIVE
        ),
        risk=risk_of_tables(data, None, Policy(quasi=quasi), Surroundings(fraction=fraction, seed=seed)),
    )


def _specs(data: pa.Table, quasi: Sequence[str], sensitive: Sequence[str]) -> list[Column]:
    repeated = [name for name, count in Counter(data.column_names).items() if count > 1]
    if repeated:
        raise DataError(
            "the table has several columns named " + ", ".join(repr(name) for name in repeated),
            hint="Rename them so that every name occurs once.",
        )
    schema = Schema(
        (
            *(Column(name, Role.QUASI) for name in quasi),
            *(Column(name, Role.SENSITIVE) for name in sensitive),
        )
    )
    schema.check_present(data.column_names)
    if not quasi:
        raise PolicyError("an audit needs a quasi-identifier", hint="Name columns that others may know.")
    if data.num_rows == 0:
        raise DataError("the table has no records")
    return [complete(column, data) for column in schema.columns]


def _codes(data: pa.Table, spec: Column) -> Coded:
    codes, values = dictionary(data.column(spec.name), spec)
    has_null = bool((codes == len(values)).any())
    return Coded(codes.astype(np.int64), len(values) + has_null)


def _searched(columns: Sequence[Coded], names: Sequence[str]) -> tuple[str, ...]:
    """Return the columns to look for identifying sets in, in the order given."""
    by_size = sorted(range(len(names)), key=lambda j: -columns[j].size)[:_SEARCHED_COLUMNS]
    return tuple(names[j] for j in sorted(by_size))


def _singled_out(columns: dict[str, Coded], names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], int]]:
    """Yield, for every set of up to three columns, the records it singles out."""
    for name in names:
        yield (name,), singles(columns[name].codes, columns[name].size)
    for i, j in itertools.combinations(range(len(names)), 2):
        keys, slots = pair(columns[names[i]], columns[names[j]])
        yield (names[i], names[j]), singles(keys, slots)
        if _LARGEST_SET < 3 or j + 1 == len(names):
            continue
        both = dense(keys, slots)
        for third in names[j + 1 :]:
            yield (names[i], names[j], third), singles(*pair(both, columns[third]))


def _smallest_sets(sets: list[ColumnSet]) -> Iterator[tuple[float, ColumnSet]]:
    ranked = sorted(sets, key=lambda s: (len(s.columns), -s.singled_out))
    for threshold in _THRESHOLDS:
        reaching = next((found for found in ranked if found.share >= threshold), None)
        if reaching is not None:
            yield threshold, reaching


def _risk(
    spec: Column, columns: dict[str, Coded], searched: tuple[str, ...], classes: Coded
) -> SensitiveRisk:
    values = columns[spec.name]
    counts = ClassCounts.of(classes, values)
    certain, alone = counts.certain()
    revealing, revealed = _most_revealing(columns, searched, values)
    ordered = spec.kind is not Kind.CATEGORICAL
    distances = counts.ordered_distances() if ordered else counts.equal_distances()
    return SensitiveRisk(
        column=spec.name,
        certain=certain,
        certain_share=certain / len(values.codes),
        certain_alone=alone,
        l=int(counts.distinct.min()),
        t=float(distances.max()),
        distance="ordered" if ordered else "equal",
        revealing=revealing,
        revealed=revealed,
    )


def _most_revealing(
    columns: dict[str, Coded], names: tuple[str, ...], values: Coded
) -> tuple[tuple[str, ...], int]:
    """Return the set of up to two columns whose classes of at least two records make most values certain."""
    best: tuple[tuple[str, ...], int] = ((), 0)
    sets = itertools.chain(itertools.combinations(names, 1), itertools.combinations(names, 2))
    for chosen in sets:
        classes = combine([columns[name] for name in chosen])
        certain, _alone = ClassCounts.of(classes, values).certain()
        if certain > best[1]:
            best = (chosen, certain)
    return best
