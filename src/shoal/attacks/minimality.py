"""Minimality: a class that was not cut gives away why not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..params import Integer, param
from ..risk.candidates import looks_of
from ..risk.reading import Known, Line
from .base import Attack, AttackResult, CannotRun, Scene, knowing, percent, share
from .scenes import candidates_of, columns_of, secret_of, truthful

_LEAST_ACCEPTED = 20  # shuffles that explain the class, below which the attacker concludes nothing
Fails = Callable[[NDArray[np.int64]], NDArray[np.bool_]]


@dataclass(frozen=True)
class Minimality(Attack):
    """The attacker knows whom cells fit, the policy, and that classes are cut where they can be.

    For a class that k alone would have let be cut in two at the median of a column, he concludes that one of
    the halves has too few different sensitive values, and shuffles the class's values in mind: those shuffles
    in which every such cut fails tell how likely each person has each value. The control concludes from the
    same classes without that thought. Only classes whose members he can tell from their cells are attacked.

    References
    ----------
    Wong, Fu, Wang and Pei (2007): Minimality attack in privacy preserving data publishing.
    """

    name: ClassVar[str] = "minimality"
    summary: ClassVar[str] = "concludes sensitive values from classes that were not cut further"
    reference: ClassVar[str] = "Wong et al. 2007"
    answer: ClassVar[str] = (
        "algorithms that do not cut as far as they can; t-closeness limits what is learned"
    )

    classes: int = param(Integer(1), "how many classes are attacked at most", default=300)
    shuffles: int = param(Integer(1), "how often the values of a class are shuffled", default=400)

    def run(self, scene: Scene, known: tuple[str, ...]) -> Iterator[AttackResult]:
        """Yield one result per sensitive column that a promise of diversity speaks about."""
        if scene.raw or not truthful(scene, known):
            raise CannotRun("it needs classes that were generalised, not means or noise")
        promised = [(name, _fails(model)) for model, name in scene.policy.promises() if name is not None]
        checks = [(name, fails) for name, fails in promised if fails is not None and name not in known]
        if not checks:
            raise CannotRun("no promise of l-diversity, p-sensitive or (alpha, k) could have stopped a cut")
        for name, fails in checks:
            yield self._on(scene, known, name, fails)

    def _on(self, scene: Scene, known: tuple[str, ...], name: str, fails: Fails) -> AttackResult:
        secret, rng = secret_of(scene, name), scene.generator(self.name + name)
        shares, k = secret.shares(), _least_size(scene)
        credits, plain, guessed, attacked = [], [], [], 0
        for members, values in _classes(scene, known, name, 4 * self.classes, rng):
            cuts = _cuts(columns_of(scene, known), members, k)
            if not cuts:
                continue
            counts = np.bincount(values, minlength=len(shares)).astype(np.float64)
            truth, attacked = secret.truth[members], attacked + 1
            even = np.broadcast_to(counts / counts.sum(), (len(members), len(counts)))
            likely = self._likely(values, cuts, fails, (len(counts), rng))
            credits.append(_named(even if likely is None else likely, truth))
            plain.append(_named(even, truth))
            guessed.append(_named(np.broadcast_to(shares, even.shape), truth))
            if attacked == self.classes:
                break
        if not attacked:
            raise CannotRun("no class whose members can be told could have been cut by k alone")
        success, control, baseline = (
            share(np.concatenate(each), scene.seed) for each in (credits, plain, guessed)
        )
        verdict = (
            f"{knowing(scene, known)} and that classes are cut where they can be names the {name} of "
            f"{percent(success.value)} of the people in {attacked:,} classes that were not cut; without that "
            f"thought {percent(control.value)}; guessing names {percent(baseline.value)}"
        )
        return AttackResult(
            self.name,
            known,
            name,
            success,
            baseline,
            control,
            "the same classes, without the thought that they could not be cut",
            verdict=verdict,
            details={"classes": attacked},
        )

    def _likely(
        self,
        values: NDArray[np.int64],
        cuts: list[NDArray[np.bool_]],
        fails: Fails,
        means: tuple[int, np.random.Generator],
    ) -> NDArray[np.float64] | None:
        """Return how likely each member has each value, given that every cut fails; None if nobody knows."""
        distinct, rng = means
        drawn = rng.permuted(np.tile(values, (self.shuffles, 1)), axis=1)
        explains = np.ones(len(drawn), dtype=bool)
        for left in cuts:
            halves = [fails(_count(drawn[:, side], distinct)) for side in (left, ~left)]
            explains &= halves[0] | halves[1]
        if explains.sum() < _LEAST_ACCEPTED:
            return None
        kept = drawn[explains]
        return np.stack([(kept == value).mean(axis=0) for value in range(distinct)], axis=1)


def _count(values: NDArray[np.int64], distinct: int) -> NDArray[np.int64]:
    """Return int64[shuffle, value]: how often each value occurs."""
    keys = np.arange(len(values))[:, None] * distinct + values
    return np.bincount(keys.ravel(), minlength=len(values) * distinct).reshape(len(values), distinct)


def _named(likely: NDArray[np.float64], truth: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return each person's chance to be named by a likeliest value."""
    near = likely >= likely.max(axis=1, keepdims=True) - 1e-12
    found: NDArray[np.float64] = near[np.arange(len(truth)), truth] / near.sum(axis=1)
    return found


def _fails(model: Any) -> Fails | None:
    """Return the test whether counts of sensitive values break a promise; None if it is not about them."""
    if model.name == "p-sensitive":
        return lambda counts: (counts > 0).sum(axis=1) < model.p
    if model.name == "alpha-k":
        return lambda counts: counts.max(axis=1) > model.alpha * counts.sum(axis=1) + 1e-9
    if model.name != "l-diversity":
        return None
    if model.kind == "distinct":
        return lambda counts: (counts > 0).sum(axis=1) < model.l
    return lambda counts: ~_diverse(model, counts)


def _diverse(model: Any, counts: NDArray[np.int64]) -> NDArray[np.bool_]:
    if model.kind == "entropy":
        shares = counts / counts.sum(axis=1, keepdims=True)
        entropy = -(shares * np.log(np.where(shares > 0, shares, 1.0))).sum(axis=1)
        return np.asarray(entropy >= np.log(model.l) - 1e-12)
    ordered = -np.sort(-counts, axis=1)
    return np.asarray(ordered[:, 0] < model.c * ordered[:, int(model.l) - 1 :].sum(axis=1))


def _least_size(scene: Scene) -> int:
    """Return the records that a half must have: the greatest k of the policy's promises."""
    return max((int(getattr(model, "k", 1)) for model in scene.policy.models), default=1)


def _classes(
    scene: Scene, known: tuple[str, ...], name: str, most: int, rng: np.random.Generator
) -> Iterator[tuple[NDArray[np.int64], NDArray[np.int64]]]:
    """Yield (people, published values) of classes that fit as many people as they have records, shuffled.

    No more than `most` classes that are large enough to be cut are looked at.
    """
    secret, candidates = secret_of(scene, name), candidates_of(scene, known, scene.people[:1])
    columns = columns_of(scene, known)[::-1]  # those with most cells first: few people are left after one
    everyone = np.arange(scene.original.num_rows)
    looks = scene.keep(("looks", known), lambda: [looks_of(column, everyone) for column in columns])
    order, sizes = np.argsort(candidates.group, kind="stable"), candidates.cells.rows
    ends = np.concatenate([[0], np.cumsum(sizes)])
    large = np.flatnonzero(sizes >= 2 * _least_size(scene))
    for group in rng.permutation(large)[:most]:
        rows = order[ends[group] : ends[group + 1]]
        if not secret.told[rows].all():
            continue
        members = _fitting(columns, looks, int(rows[0]))
        if len(members) == len(rows):
            yield members, secret.shown.codes[rows]


def _fitting(columns: list[Known], looks: list[NDArray[np.int32]], row: int) -> NDArray[np.int64]:
    """Return the people who fit the cells of a published record."""
    people = np.arange(len(looks[0]))
    for i, (column, known) in enumerate(zip(columns, looks, strict=True)):
        look, cell = known[people] if i else known, column.cell[row]
        if isinstance(column.scale, Line):
            fits = (look >= column.scale.low[cell]) & (look <= column.scale.high[cell])
        else:
            fits = column.scale.fits_cell(int(cell), look)
        people = people[fits]
    return people


def _cuts(columns: list[Known], members: NDArray[np.int64], k: int) -> list[NDArray[np.bool_]]:
    """Return, per cut at the median of a column that leaves `k` on both sides, who lies on the left."""
    cuts = []
    for column in columns:
        look = looks_of(column, members)
        middle = np.sort(look)[(len(look) - 1) // 2]
        left = look <= middle if (look > middle).any() else look < middle
        if k <= left.sum() <= len(look) - k:
            cuts.append(left)
    return cuts
