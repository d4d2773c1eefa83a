"""What several attacks need of a scene: candidates, whose record is whose, and sensitive values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..grouping import Coded, combine
from ..hierarchies.texts import texts
from ..risk.candidates import Candidates, find_candidates, value_counts
from ..risk.reading import VAGUE, Known, read_columns
from ..verification.groups import distinct
from .base import CannotRun, Scene

# Comparisons of a person with a record that one search may take. Where cells fit people, few are looked at.
_CHECKS, _CHECKS_OF_NUMBERS = 1 << 34, 1 << 31
_COUNTS = 1 << 24  # people x values counted at once
_LEAST = 200  # people asked however large the table


def columns_of(scene: Scene, known: tuple[str, ...]) -> list[Known]:
    """Return the known columns as people have them and as they are published."""
    return scene.keep(
        ("columns", known),
        lambda: read_columns(scene.policy, scene.original, scene.published, known, plain=scene.raw),
    )


def asked(scene: Scene, values: int = 1) -> NDArray[np.int64]:
    """Return the people who are attacked: fewer where each has to be compared with very much."""
    checks = _CHECKS if truthful(scene, scene.quasi) else _CHECKS_OF_NUMBERS
    most = min(checks // max(scene.published.num_rows, 1), _COUNTS // max(values, 1))
    return scene.people[: max(most, _LEAST)]


def candidates_of(
    scene: Scene, known: tuple[str, ...], people: NDArray[np.int64], *, by_breadth: bool = False
) -> Candidates:
    """Return the published records nearest to what is known of each person asked about."""
    if scene.published.num_rows == 0:
        raise CannotRun("nothing is published")
    return scene.keep(
        ("candidates", known, len(people), by_breadth),
        lambda: find_candidates(columns_of(scene, known), people, by_breadth=by_breadth),
    )


def truthful(scene: Scene, known: tuple[str, ...]) -> bool:
    """Return whether the cells of these columns fit the values behind them, as means and noise do not."""
    forms = {column.name: column.form for column in scene.policy.schema.quasi}
    return scene.raw or not any(forms.get(name) in VAGUE for name in known)


@dataclass(frozen=True, slots=True, eq=False)
class Secret:
    """One sensitive column: the values that people have and those that are published, under one numbering.

    Attributes
    ----------
    truth : int64[original records]
    shown : Coded
        Of the published records; null, where no person has it, is not a value but means that none is given.
    told : bool[published records]
        Whether a value is given.
    values : pyarrow.Array
        The value of each number.
    """

    truth: NDArray[np.int64]
    shown: Coded
    told: NDArray[np.bool_]
    values: pa.Array

    def shares(self) -> NDArray[np.float64]:
        """Return the share of each value in the published table, which everyone knows who has it."""
        counts = np.bincount(self.shown.codes[self.told], minlength=self.shown.size)
        return np.asarray(counts / max(counts.sum(), 1), dtype=np.float64)


def secret_of(scene: Scene, name: str) -> Secret:
    """Return one sensitive column, people's values beside the published ones."""
    return scene.keep(("secret", name), lambda: read_secret(scene.original, scene.published, name))


def read_secret(original: pa.Table, published: pa.Table, name: str) -> Secret:
    """Return a sensitive column of both tables under one numbering."""
    if name not in published.column_names:
        raise CannotRun(f"{name!r} is not published")
    truth, values = distinct(original.column(name))
    shown, cells = distinct(published.column(name))
    place = pc.index_in(texts(cells), value_set=texts(values)).fill_null(-1).to_numpy(zero_copy_only=False)
    if values.null_count and cells.null_count:
        place = place.copy()
        place[np.flatnonzero(pc.is_null(cells))] = np.flatnonzero(pc.is_null(values))[0]
    codes = place.astype(np.int64)[shown] if len(cells) else shown
    return Secret(truth, Coded(np.maximum(codes, 0), len(values)), codes >= 0, values)


def weights_of(scene: Scene, known: tuple[str, ...], name: str) -> NDArray[np.float64]:
    """Return, per person asked about, the weight of every value among the candidates."""
    secret = secret_of(scene, name)
    people = asked(scene, secret.shown.size)
    return scene.keep(
        ("weights", known, name),
        lambda: value_counts(candidates_of(scene, known, people), secret.shown, secret.told),
    )


def own_rows(scene: Scene, people: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the published record of each person, -1 where there is none.

    Where it was not told, it is drawn among the records whose cells fit the person and whose sensitive values
    are the person's: with what is published, they cannot be told apart.
    """
    return scene.keep(("own", len(people)), lambda: _own_rows(scene, people))


def _own_rows(scene: Scene, people: NDArray[np.int64]) -> NDArray[np.int64]:
    if scene.rows is not None:
        row = np.full(scene.original.num_rows, -1, dtype=np.int64)
        row[scene.rows] = np.arange(len(scene.rows))
        return row[people]
    if not truthful(scene, scene.quasi):
        raise CannotRun("cells are means or noise, so whose record is whose has to be told (rows)")
    candidates = candidates_of(scene, scene.quasi, people)
    mine, theirs = _signatures(scene)
    order = np.lexsort((theirs, candidates.group))
    keys = (
        candidates.group[order] * (int(max(mine.max(initial=0), theirs.max(initial=0))) + 1) + theirs[order]
    )
    found = np.full(len(candidates.person), -1, dtype=np.int64)
    asked_by = _by_look(candidates)
    rng, width = scene.generator("own rows"), int(max(mine.max(initial=0), theirs.max(initial=0))) + 1
    for looks, starts, listed in candidates.lists():
        for look, start, end in zip(looks.tolist(), starts[:-1].tolist(), starts[1:].tolist(), strict=True):
            if candidates.found[look, 0] > 0:
                continue
            groups = listed[start:end].astype(np.int64)
            for i in asked_by[look]:
                wanted = groups * width + mine[people[i]]
                first, last = (np.searchsorted(keys, wanted, side=side) for side in ("left", "right"))
                found[i] = _drawn(order, first, last, candidates.cells.breadth[groups], rng)
    return found


def _drawn(
    order: NDArray[np.int64],
    first: NDArray[Any],
    last: NDArray[Any],
    breadth: NDArray[np.int64],
    rng: np.random.Generator,
) -> int:
    """Return one of the records in the runs, likelier where cells allow less; -1 when there is none."""
    weight = (last - first) * np.exp((breadth.min() - breadth) / (1 << 16))
    if weight.sum() <= 0:
        return -1
    run = int(rng.choice(len(weight), p=weight / weight.sum()))
    return int(order[rng.integers(first[run], last[run])])


def _by_look(candidates: Candidates) -> list[NDArray[np.int64]]:
    """Return, per distinct look, the people asked about who have it."""
    order = np.argsort(candidates.person, kind="stable")
    ends = np.cumsum(np.bincount(candidates.person, minlength=len(candidates.known)))
    return np.split(order, ends[:-1])


def _signatures(scene: Scene) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the sensitive values of people and of published records together, under one numbering."""
    mine, theirs = [], []
    for name in scene.sensitive:
        if name not in scene.published.column_names:
            continue
        secret = secret_of(scene, name)
        theirs.append(np.where(secret.told, secret.shown.codes, secret.shown.size))
        mine.append(secret.truth)
    n = scene.original.num_rows
    if not mine:
        return np.zeros(n, dtype=np.int64), np.zeros(scene.published.num_rows, dtype=np.int64)
    both = [np.concatenate(pair) for pair in zip(mine, theirs, strict=True)]
    coded = combine([Coded(each, int(each.max(initial=0)) + 1) for each in both])
    return coded.codes[:n], coded.codes[n:]
