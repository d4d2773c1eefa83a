"""Utility: everything a published table is still good for, in one object."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..encoding import Encoded, encode
from ..errors import DataError, PolicyError
from ..models.k_anonymity import KAnonymity
from ..schema import Role
from .association import Association, association
from .bars import bars_of
from .distributions import Distribution, distribution
from .learning import Learning, Tables, check_target, learn
from .lines import Line, lines_of
from .queries import QueryError, Workload, query_error
from .spreads import Spread, spread_of

if TYPE_CHECKING:
    from ..policy import Policy

_LEAST_SHOWN = 5  # records behind the thinnest bar, whatever the policy's k


@dataclass(frozen=True, slots=True)
class Utility:
    """What a published table is still good for. Its labels name no value that fewer than k records have.

    Attributes
    ----------
    records, published : int
        Records of the original and of the published table.
    k : int
        Values that fewer records have are not shown by themselves.
    loss : dict of str to float
        Per quasi-identifier, from 0, nothing, to 1, everything; suppressed records count 1. Columns published
        as one number for a class have none unless it is known which records share a class.
    distributions : tuple of Distribution
        Every quasi-identifier, then every sensitive column.
    association : Association
    queries : QueryError
    learning : Learning, optional
        Where a target was named.

    Examples
    --------
    >>> import shoal
    >>> from shoal.demo import patients
    >>> release = shoal.anonymize(patients(500), quasi=["age", "sex"], sensitive=["diagnosis"], k=5)
    >>> utility = release.utility(queries=50)
    >>> sorted(utility.loss), utility.queries.median < 0.5
    (['age', 'sex'], True)
    """

    records: int
    published: int
    k: int
    loss: Mapping[str, float]
    distributions: tuple[Distribution, ...]
    association: Association
    queries: QueryError
    learning: Learning | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return everything as plain values, for JSON."""
        return {
            "records": self.records,
            "published": self.published,
            "bars_hold_at_least": self.k,
            "loss": dict(self.loss),
            "distributions": [each.to_dict() for each in self.distributions],
            "association": self.association.to_dict(),
            "queries": self.queries.to_dict(),
            "learning": None if self.learning is None else self.learning.to_dict(),
        }

    def _repr_html_(self) -> str:
        from ..notebook.views import utility_view

        return utility_view(self)

    def __str__(self) -> str:
        lines = [f"{self.published:,} of {self.records:,} records published", "loss by column (0 to 1)"]
        lines += [f"  {name}: {loss:.4f}" for name, loss in self.loss.items()]
        lines.append("distance of the distributions (total variation)")
        lines += [f"  {each.column}: {each.total_variation:.4f}" for each in self.distributions]
        lines.append(f"association of pairs: {self.association.difference:.4f} off on average")
        counts = self.queries
        lines.append(
            f"COUNT queries: {counts.median:.1%} off in the median, {counts.mean:.1%} on average"
            f" ({counts.workload.queries:,} over {counts.columns} columns)"
        )
        for score in self.learning.scores if self.learning else ():
            lines.append(
                f"{score.model}: accuracy {score.published:.3f} trained on the published table,"
                f" {score.original:.3f} on the original, {score.majority:.3f} by guessing"
            )
        return "\n".join(lines)


@dataclass(frozen=True, slots=True, eq=False)
class Known:
    """What is known beside the two tables when the release was made just now.

    Attributes
    ----------
    encoded : Encoded, optional
        The original's integer view.
    rows : int64[published records], optional
        The original row of each published record.
    loss : mapping of name to float, optional
        Loss by column from the classes themselves.
    """

    encoded: Encoded | None = None
    rows: NDArray[np.int64] | None = None
    loss: Mapping[str, float] = field(default_factory=dict)


def measure_utility(
    original: pa.Table,
    published: pa.Table,
    policy: Policy,
    *,
    target: str | None = None,
    workload: Workload | None = None,
    known: Known | None = None,
) -> Utility:
    """Return what a published table is still good for.

    Everything but the loss of centroids and the split for `target` is read from the two tables alone, so the
    order of their rows does not matter.

    Raises
    ------
    DataError
        When the two tables do not belong together.
    """
    known, workload = known or Known(), workload or Workload()
    policy = policy.resolved(original)
    if not policy.schema.quasi:
        raise PolicyError("the policy names no quasi-identifier", hint="There is nothing to measure.")
    check_published(published, policy)
    tables = Tables(original, published, known.rows)
    if target is not None:
        check_target(target, tables, policy)
    encoded = known.encoded if known.encoded is not None else encode(original, policy)
    lines = lines_of(encoded)
    spreads = [spread_of(line, published) for line in lines]
    k = least_shown(policy)
    bars = [bars_of(line, k) for line in lines]
    return Utility(
        original.num_rows,
        published.num_rows,
        k,
        dict(known.loss) or losses(lines, spreads),
        tuple(distribution(*each) for each in zip(lines, spreads, bars, strict=True)),
        association(lines, spreads, bars),
        query_error(lines, spreads, workload),
        None if target is None else learn(target, tables, lines, spreads, bars, workload.seed),
    )


def least_shown(policy: Policy) -> int:
    """Return how many records must have a value before it is shown by itself: k, and at least 5."""
    given = [model.k for model in policy.models if isinstance(model, KAnonymity)]
    return max([_LEAST_SHOWN, *given])


def losses(lines: tuple[Line, ...], spreads: list[Spread]) -> dict[str, float]:
    """Return the loss of each quasi-identifier whose cells show what they cover."""
    found = {}
    for line, spread in zip(lines, spreads, strict=True):
        if line.generalised:
            gone = max(len(line.codes) - int(spread.counts.sum()), 0)
            found[line.name] = float((spread.counts @ spread.loss + gone) / max(len(line.codes), 1))
    return found


def check_published(published: pa.Table, policy: Policy) -> None:
    """Raise unless a table has every column that a release of the policy has."""
    named = [c for c in policy.schema.columns if c.role in (Role.QUASI, Role.SENSITIVE)]
    missing = [n for c in named for n in c.published_names if n not in published.column_names]
    if missing:
        raise DataError(
            "the published table lacks " + ", ".join(repr(name) for name in missing),
            hint="Give the release of this policy.",
        )
