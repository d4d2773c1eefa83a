"""update: new records join the classes of a release, make classes of their own, or wait."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..errors import DataError, PolicyError, PolicyUnsatisfiable
from ..evidence import Evidence
from ..progress import Progress, Run
from ..schema import Action, Form
from ..table import Table
from ..verification import verify_table
from ..verification.groups import group_rows
from .exposure import Exposure, exposures
from .joining import Growth
from .state import State

if TYPE_CHECKING:
    import os

    from ..policy import Policy

_READABLE = (Form.AUTO, Form.INTERVAL, Form.SET, Form.ANCESTOR)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Update:
    """A release that has grown, verified as a whole and in what was added.

    Attributes
    ----------
    published : pyarrow.Table
        What was published before, as it was, and what was added.
    added : pyarrow.Table
        The rows that were added.
    waiting : pyarrow.Table
        Originals that cannot be published yet. Keep them in the house, and give them to the next update.
    joined : int
        How many of the added rows joined classes that were there.
    state : State
        To be given to the next update.
    evidence : Evidence
        Of the whole table.
    added_evidence : Evidence
        Of the added rows alone, which is what two releases show when they are compared.
    policy : Policy
    """

    published: pa.Table
    added: pa.Table
    waiting: pa.Table
    joined: int
    state: State
    evidence: Evidence
    added_evidence: Evidence
    policy: Policy

    def __repr__(self) -> str:
        return (
            f"Update(added={self.added.num_rows}, joined={self.joined}, waiting={self.waiting.num_rows}, "
            f"records={self.published.num_rows})"
        )

    @property
    def exposures(self) -> list[Exposure]:
        """What comparing all releases so far tells an attacker who knows when a person first appeared."""
        return exposures(self.state)

    def to_dict(self) -> dict[str, Any]:
        """Return what happened as plain values; no cell values."""
        return {
            "records": self.published.num_rows,
            "added": self.added.num_rows,
            "joined": self.joined,
            "waiting": self.waiting.num_rows,
            "releases": self.state.releases,
            "evidence": self.evidence.to_dict(),
            "added_evidence": self.added_evidence.to_dict(),
            "exposures": [exposure.to_dict() for exposure in self.exposures],
        }

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        state: str | os.PathLike[str] | None = None,
        waiting: str | os.PathLike[str] | None = None,
    ) -> Evidence:
        """Write the release, read it back and verify it, then the state and the records that wait.

        All rows are shuffled together, so that their order does not tell which were added.
        """
        import secrets

        from ..io import write as write_table
        from ..writing import write_verified

        turned = np.random.default_rng(secrets.randbits(256)).permutation(self.published.num_rows)
        table = self.published.take(pa.array(turned))
        evidence = write_verified(table, path, self.policy, {"update": self.to_dict()})
        if state is not None:
            self.state.write(state)
        if waiting is not None:
            write_table(self.waiting, waiting)
        return evidence


def update(
    new: Any,
    previous: Any,
    policy: Policy,
    *,
    state: State | None = None,
    waiting: Any = None,
    m_invariance: int | None = None,
    same_values: bool = False,
    algorithm: str = "auto",
    seed: int = 0,
    progress: Progress | None = None,
) -> Update:
    """Return a published table grown by new records, with nothing changed that was published before.

    A new record joins the narrowest class whose cells it fits; records that fit none make classes of their
    own. Either happens only where those who come together keep the whole policy by themselves, for whoever
    compares two releases sees who came. All others wait for the next update.

    Parameters
    ----------
    new : any frame
        Originals.
    previous : any frame
        The table as it was published.
    policy : Policy
        The one it was published under.
    state : State, optional
        What the last update returned; made from `previous` where that is the first release.
    waiting : any frame, optional
        The records that waited after the last update.
    m_invariance : int, optional
        Xiao and Tao's m-invariance: classes never grow, and every class has at least m records, all with
        different sensitive values. The previous table must be so already.
    same_values : bool
        A weaker wish: a record joins a class only if the class shows its sensitive values already.
    algorithm : str
        Of new classes.
    seed : int
    progress : Progress, optional

    References
    ----------
    Xiao and Tao (2007): m-invariance: towards privacy preserving re-publication of dynamic datasets.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi={"age": "numeric"}, models=[shoal.KAnonymity(2)])
    >>> first = {"age": ["[20, 29]", "[20, 29]", "[50, 61]", "[50, 61]"]}
    >>> grown = shoal.update({"age": [21, 24, 33]}, first, policy)
    >>> grown, grown.waiting["age"].to_pylist()
    (Update(added=2, joined=2, waiting=1, records=6), [33])
    """
    originals = _together(Table.from_any(new).data, waiting)
    published = Table.from_any(previous).data
    policy = policy.resolved(originals)
    _check(policy, originals, published)
    published = _with_texts(published, policy)
    state = State.of(published, policy) if state is None else state
    state.check(published)
    growth = Growth(policy, published, originals, same_values, m_invariance or 0)
    if m_invariance:
        _check_all_different(published, policy, m_invariance)
    run = Run(seed, progress or Progress())
    with run.progress.stage("growing the release"):
        return _grown(growth, state, _Maker(policy, algorithm, run))


@dataclass(frozen=True, slots=True)
class _Maker:
    """Makes classes of records that fit none."""

    policy: Policy
    algorithm: str
    run: Run

    def __call__(self, table: pa.Table) -> Any:
        from .. import api

        prepared = api.prepare(table, self.policy)
        made = api.partition_prepared(prepared, api.make_algorithm(self.algorithm, {}), self.run)
        return prepared, made


def _grown(growth: Growth, state: State, make: _Maker) -> Update:
    homes = growth.homes()
    joining = np.flatnonzero(homes >= 0)
    rows = np.concatenate([np.full(growth.previous.num_rows, -1), joining])
    grown = pa.concat_tables([growth.previous, growth.cells_at(joining, homes)])
    grown, rows = _settled(growth, grown, rows)
    left = np.setdiff1d(np.arange(growth.waiting.num_rows), rows)
    fresh, fresh_rows = growth.new_classes(left, make)
    published, rows = _settled(
        growth, pa.concat_tables([grown, fresh]), np.concatenate([rows, fresh_rows]).astype(np.int64)
    )
    come = rows >= 0
    added = published.filter(pa.array(come))
    stays = np.ones(growth.waiting.num_rows, dtype=bool)
    stays[rows[come]] = False
    evidence = verify_table(published, growth.policy)
    evidence.require()
    added_evidence = verify_table(added, growth.policy)
    if added.num_rows:
        added_evidence.require()
    return Update(
        published=published,
        added=added,
        waiting=growth.waiting.filter(pa.array(stays)),
        joined=int((~np.isin(rows[come], fresh_rows)).sum()),
        state=state.with_release(added),
        evidence=evidence,
        added_evidence=added_evidence,
        policy=growth.policy,
    )


def _settled(
    growth: Growth, published: pa.Table, rows: NDArray[np.int64]
) -> tuple[pa.Table, NDArray[np.int64]]:
    """Return the table without those new rows that would break a promise; `rows` are -1 for old ones."""
    while True:
        broken = growth.breaking(published, rows >= 0)
        if not broken.any():
            return published, rows
        ids = group_rows(published, growth.columns)
        out = np.isin(ids, np.unique(ids[broken])) & (rows >= 0)
        if not out.any():
            classes = len(np.unique(ids[broken]))
            raise PolicyUnsatisfiable(
                f"{classes} published classes break the policy by now: new records shift what is compared",
                hint="Weaken the promise, or make a fresh release of all records.",
            )
        published, rows = published.filter(pa.array(~out)), rows[~out]


def _together(new: pa.Table, waiting: Any) -> pa.Table:
    if waiting is None:
        return new
    old = Table.from_any(waiting).data
    if sorted(old.column_names) != sorted(new.column_names):
        raise DataError(
            "the new records and those that wait have different columns", hint="Give them the same columns."
        )
    try:
        return pa.concat_tables([old.select(new.column_names), new], promote_options="permissive")
    except pa.ArrowException:
        pass
    raise DataError("a column of the new records is of another type than that of those that wait")


def _check(policy: Policy, originals: pa.Table, published: pa.Table) -> None:
    """Refuse what cannot grow."""
    if not policy.models:
        raise PolicyError("the policy promises nothing", hint="Use the policy of the published table.")
    for column in policy.schema.quasi:
        if column.form not in _READABLE:
            raise PolicyError(
                f"{column.name!r} is published as {column.form.value}: what fits a class cannot be told",
                hint="Only intervals, sets and nodes of hierarchies can grow.",
            )
        if column.least_level or column.most_level is not None:
            raise PolicyError(
                f"{column.name!r} is bound to levels", hint="Make a fresh release of all records."
            )
    for model in policy.models:
        if hasattr(model, "population"):
            raise PolicyError(
                f"{model.name} cannot be kept while a table grows", hint="Make a fresh release."
            )
    kept = [c.name for c in policy.schema.identifiers if c.action is not Action.DROP]
    if kept:
        raise PolicyError(f"the identifier {kept[0]!r} is published", hint="Drop it to let a table grow.")
    expected = set(originals.column_names) - {c.name for c in policy.schema.identifiers}
    if set(published.column_names) != expected:
        raise DataError(
            "the published table has other columns than the new records would be published with",
            hint="Give the table as it was published, and new records with all columns of the first ones.",
        )


def _with_texts(published: pa.Table, policy: Policy) -> pa.Table:
    """Return a published table whose quasi-identifiers are texts, even where nothing was generalised."""
    from ..hierarchies.texts import texts

    for column in policy.schema.quasi:
        at = published.column_names.index(column.name)
        cells = published.column(column.name).combine_chunks()
        flat = pa.concat_arrays(cells.chunks) if isinstance(cells, pa.ChunkedArray) else cells
        published = published.set_column(at, column.name, texts(flat).cast(pa.string()))
    return published


def _check_all_different(published: pa.Table, policy: Policy, m: int) -> None:
    columns = [column.name for column in policy.schema.quasi]
    ids = group_rows(published, columns)
    for column in policy.schema.sensitive:
        pairs = group_rows(published, [*columns, column.name])
        if len(np.unique(pairs)) < len(pairs) or np.bincount(ids).min(initial=m) < m:
            raise PolicyUnsatisfiable(
                f"the published table is not {m}-unique: a class has fewer than {m} records or repeats a "
                f"value of {column.name!r}",
                hint="m-invariance has to be kept from the first release on.",
            )


__all__ = ["Update", "update"]
