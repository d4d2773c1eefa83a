"""attack_tables: every attack on a published table, with the original as the truth."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from .. import registry
from ..errors import DataError, ParameterError, PolicyError, UnknownName
from ..params import Integer, Parameter
from ..policy import Policy
from ..progress import Progress
from ..schema import Column, Schema
from ..sets import with_texts
from ..table import Table
from .base import Attack, AttackResult, Attacks, CannotRun, NotRun, Scene

_PEOPLE = Parameter("sample", Integer(1), "how many people are attacked", 10_000)
_SEED = Parameter("seed", Integer(0), "of the sample", 0)


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Target:
    """What is attacked, and with which means.

    Attributes
    ----------
    original, published : pyarrow.Table
    policy : Policy
    rows : int[published], optional
        The record of the original behind each published one. Without it, that is inferred from which cells
        fit whom, which means and noise do not allow.
    control : pyarrow.Table, optional
        People who are not in the original; attribute inference is then tried on them as well.
    other : pyarrow.Table, optional
        A second release about the same people.
    other_policy : Policy, optional
        The one it was published under; the same as `policy` when not given.
    sample : int
        At most so many people are attacked, drawn at random.
    seed : int
    """

    original: pa.Table
    published: pa.Table
    policy: Policy
    rows: NDArray[np.int64] | None = None
    control: pa.Table | None = None
    other: pa.Table | None = None
    other_policy: Policy | None = None
    sample: int = 10_000
    seed: int = 0

    def scene(self) -> Scene:
        """Return the scene, its people drawn."""
        sample = _PEOPLE.check("attack", self.sample)
        seed = _SEED.check("attack", self.seed)
        n = self.original.num_rows
        if n == 0:
            raise DataError("the table has no records")
        if not self.policy.schema.quasi:
            raise PolicyError(
                "the policy names no quasi-identifier",
                hint="List the columns that could identify someone: quasi=[...].",
            )
        rows = None if self.rows is None else np.asarray(self.rows, dtype=np.int64)
        if rows is not None and (
            len(rows) != self.published.num_rows or rows.min(initial=0) < 0 or rows.max(initial=-1) >= n
        ):
            raise ParameterError(
                "'rows' of attack must give one record of the original per published record",
                hint=f"There are {self.published.num_rows} published records of {n}.",
            )
        people = np.random.default_rng(seed).permutation(n)[:sample].astype(np.int64)
        policy = self.policy.resolved(self.original)
        for what, table in (("control", self.control), ("other", self.other)):
            if table is not None and table.num_rows == 0:
                raise DataError(f"the {what} table has no records")
        if self.control is not None:
            wanted = [column.name for column in (*policy.schema.quasi, *policy.schema.sensitive)]
            Schema(tuple(map(Column, wanted))).check_present(self.control.column_names)
        if self.other is None and self.other_policy is not None:
            raise ParameterError("'other_policy' of attack is that of 'other'", hint="Give both or neither.")
        return Scene(
            self.original,
            self.published,
            policy,
            people,
            seed,
            rows,
            self.control,
            self.other,
            None if self.other_policy is None else self.other_policy.resolved(self.original),
            raw=self.published is self.original,
        )

    def raw(self) -> Target:
        """Return the same with the original published as it is."""
        return replace(
            self,
            published=self.original,
            rows=np.arange(self.original.num_rows),
            other=None,
            other_policy=None,
        )


def target_of(original: Any, published: Any, policy: Policy, means: dict[str, Any]) -> Target:
    """Return the target made of frames of any library, refusing means that there are not."""
    known = ["rows", "control", "other", "other_policy", "sample", "seed"]
    for name in means:
        if name not in known:
            raise UnknownName.nearest("parameter of attack", name, known)
    frames = {name: means[name] for name in ("control", "other") if means.get(name) is not None}
    rest = {name: means[name] for name in ("rows", "other_policy", "sample", "seed") if name in means}
    data = Table.from_any(original).data
    sets = policy.resolved(data).schema.quasi
    return Target(
        original=with_texts(data, sets),
        published=Table.from_any(published).data,
        policy=policy.resolved(data),
        **{name: Table.from_any(frame).data for name, frame in frames.items()},
        **rest,
    )


def attack_tables(
    target: Target,
    attacks: Iterable[str | Attack] | None = None,
    known: Sequence[str] | Sequence[Sequence[str]] | None = None,
    *,
    before: bool = False,
    progress: Progress | None = None,
) -> Attacks:
    """Return how often each attack succeeds.

    Parameters
    ----------
    target : Target
    attacks : iterable of str or Attack, optional
        All of them when not given.
    known : list of column names, or list of such lists, optional
        What the attacker knows of everyone; every attack is run with each list. All quasi-identifiers when
        not given.
    before : bool
        Whether to run each attack on the original too, as if it had been published as it is.
    progress : Progress, optional

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> people = pa.table({"age": [31, 34, 52, 55], "ill": ["flu", "flu", "flu", "cold"]})
    >>> shown = pa.table({"age": ["[31, 34]", "[31, 34]", "[52, 55]", "[52, 55]"], "ill": people["ill"]})
    >>> policy = shoal.Policy(quasi=["age"], sensitive=["ill"], models=[shoal.KAnonymity(2)])
    >>> found = attack_tables(Target(original=people, published=shown, policy=policy), ["homogeneity"])
    >>> found.results[0].verdict
    'an attacker who knows age names the ill of 50% of the people for certain; guessing about the same...'
    """
    chosen = [_attack(given) for given in (registry.names("attacks") if attacks is None else attacks)]
    scene, progress = target.scene(), progress or Progress()
    sets = _known_sets(scene, known)
    raw = target.raw().scene() if before else None
    results: list[AttackResult] = []
    not_run: list[NotRun] = []
    for attack in chosen:
        with progress.stage(f"attacking by {attack.name}"):
            for columns in sets:
                try:
                    results += _before_and_after(attack, scene, raw, columns)
                except CannotRun as reason:
                    not_run.append(NotRun(attack.name, str(reason)))
    return Attacks(
        tuple(results),
        tuple(dict.fromkeys(not_run)),
        scene.original.num_rows,
        scene.published.num_rows,
        len(scene.people),
        scene.seed,
        "cells" if scene.rows is None else "rows",
    )


def _attack(given: str | Attack) -> Attack:
    if isinstance(given, Attack):
        return given
    made: Attack = registry.get("attacks", given)()
    return made


def _known_sets(scene: Scene, known: Sequence[str] | Sequence[Sequence[str]] | None) -> list[tuple[str, ...]]:
    if known is None:
        return [scene.quasi]
    given = [known] if isinstance(known, str) else list(known)
    alone = tuple(name for name in given if isinstance(name, str))
    sets = [alone] if len(alone) == len(given) else [tuple(names) for names in given]
    available = scene.original.column_names
    for names in sets:
        if not names:
            raise ParameterError("'known' of attack must name at least one column")
        for name in names:
            if name not in available:
                raise UnknownName.nearest("column", name, available)
            if name in [column.name for column in scene.policy.schema.identifiers]:
                raise PolicyError(
                    f"{name!r} names a person by itself and is not published",
                    hint="Name columns that are in the published table.",
                )
    return sets


def _before_and_after(
    attack: Attack, scene: Scene, raw: Scene | None, known: tuple[str, ...]
) -> Iterator[AttackResult]:
    results = list(attack.run(scene, known))
    if raw is None:
        return iter(results)
    try:
        first = {(r.column, r.details.get("level")): r.success for r in attack.run(raw, known)}
    except CannotRun:
        first = {}
    return (replace(r, before=first.get((r.column, r.details.get("level")))) for r in results)
