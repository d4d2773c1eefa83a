"""The public calls that look at tables without changing them: audit, verify, risk, attack and report."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any, Unpack

from .policy import Policy

if TYPE_CHECKING:
    from .attacks.base import Attack, Attacks
    from .auditing import Audit
    from .evidence import Evidence
    from .progress import Progress
    from .report.build import Report
    from .report.wanted import ReportOptions
    from .risk.exposure import Risk


def audit(
    data: Any,
    *,
    quasi: Iterable[str],
    sensitive: Iterable[str] = (),
    fraction: float | None = None,
    seed: int = 0,
) -> Audit:
    """Return what a table gives away as it is.

    With `fraction`, the share of the population that is in the table, it also says how many people are unique
    in the population; `seed` is that of the intervals.

    Examples
    --------
    >>> import shoal
    >>> shoal.audit({"age": [31, 31, 52], "job": ["a", "a", "b"]}, quasi=["age", "job"]).smallest_class
    1
    """
    from .auditing import audit_table
    from .schema import Column
    from .sets import with_texts
    from .table import Table

    names = tuple(quasi)
    table = with_texts(Table.from_any(data).data, map(Column, names))
    return audit_table(table, names, tuple(sensitive), fraction=fraction, seed=seed)


def verify(data: Any, policy: Policy) -> Evidence:
    """Return the evidence for a published table, recomputed from its cells.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> shoal.verify({"age": ["[20, 29]", "[20, 29]", "30"]}, policy).holds
    False
    """
    from .table import Table
    from .verification import verify_table

    return verify_table(Table.from_any(data).data, policy)


def risk(
    original: Any,
    published: Any = None,
    policy: Policy | None = None,
    *,
    fraction: float | None = None,
    population: Any = None,
    rows: Any = None,
    seed: int = 0,
    quasi: Iterable[str] = (),
) -> Risk:
    """Return how exposed people are in a table and in what was published of it.

    Parameters
    ----------
    original, published : frame
        Without `published`, only the risk before is measured.
    policy : Policy, optional
        Or its `quasi` alone.
    fraction : float, optional
        Share of the population that is in the table: adds the journalist's risk by a model, and estimates of
        how many people are unique in the population.
    population : frame, optional
        The population itself, the people of the table among them: the journalist's risk is then counted.
    rows : list of int, optional
        The record of the original behind each published one, where that is known; suppressed people then
        count as people without risk.
    seed : int
        Of the intervals.

    Examples
    --------
    >>> import shoal
    >>> found = shoal.risk({"age": [31, 34, 52, 52]}, {"age": ["[31, 34]"] * 2 + ["52"] * 2}, quasi=["age"])
    >>> found.before.prosecutor.highest, found.after.prosecutor.highest, found.uniques.to_dict()["unique"]
    (1.0, 0.5, 2)
    """
    from .risk.exposure import Surroundings, risk_of_tables
    from .sets import with_texts
    from .table import Table

    policy = Policy(quasi=tuple(quasi)) if policy is None else policy
    before, after, people = (
        None if frame is None else with_texts(Table.from_any(frame).data, policy.schema.quasi)
        for frame in (original, published, population)
    )
    known = Surroundings(fraction=fraction, population=people, rows=rows, seed=seed)
    return risk_of_tables(before, after, policy, known)


def attack(
    original: Any,
    published: Any,
    policy: Policy,
    *,
    known: Any = None,
    attacks: Iterable[str | Attack] | None = None,
    before: bool = False,
    progress: Progress | None = None,
    **means: Any,
) -> Attacks:
    """Return how often attacks on a published table succeed, the original being the truth.

    Parameters
    ----------
    original, published : frame
    policy : Policy
        What the published table was made under.
    known : list of column names, or list of such lists, optional
        What the attacker knows of everyone; all quasi-identifiers when not given.
    attacks : iterable of str or Attack, optional
        Names out of ``shoal.attacks()``; all of them when not given.
    before : bool
        Whether to run them on the original too, as if it had been published as it is.
    progress : Progress, optional
    **means
        `rows`, the record of the original behind each published one; `control`, a table of people who are
        not in the original; `other`, a second release about the same people; `sample`, how many people are
        attacked at most, and `seed`, which draws them.

    Examples
    --------
    >>> import shoal
    >>> people = {"age": [31, 34, 52, 55], "ill": ["flu", "flu", "flu", "cold"]}
    >>> policy = shoal.Policy(quasi=["age"], sensitive=["ill"], models=[shoal.KAnonymity(2)])
    >>> shown = shoal.anonymize(people, policy, algorithm="mondrian").table
    >>> found = shoal.attack(people, shown, policy, attacks=["linkage"])
    >>> found.results[0].success.value, found.results[0].baseline.value
    (0.5, 0.25)
    """
    from .attacks.run import attack_tables, target_of

    target = target_of(original, published, policy, means)
    return attack_tables(target, attacks, known, before=before, progress=progress)


def report(original: Any, published: Any, policy: Policy, **options: Unpack[ReportOptions]) -> Report:
    """Return the report on a published table, whoever made it, against the table it was made from.

    Parameters
    ----------
    original, published : frame
    policy : Policy
        What was promised.
    **options
        Those of `ReportOptions`: `target`, a column that models are trained to predict; `fraction`, the share
        of the population that is in the table; `attacks`, whether they are run; `seed`; `input_hash`, whether
        the hash of the original is told; `files` to name, with their SHA-256; `progress`; and of COUNT
        queries `queries`, `columns`, `selectivity` and `sanity`.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi={"age": "numeric"}, models=[shoal.KAnonymity(2)])
    >>> shoal.report({"age": [20, 29]}, {"age": ["[20, 29]", "[20, 29]"]}, policy, queries=10)
    Report(holds, promises=1)
    """
    from .report.build import report_tables
    from .report.wanted import Wanted
    from .sets import with_texts
    from .table import Table

    before = with_texts(Table.from_any(original).data, policy.schema.quasi)
    return report_tables(before, Table.from_any(published).data, policy, Wanted.of(options))
