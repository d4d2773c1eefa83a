"""Attribute inference: what is this person's sensitive value? Five ways to conclude it from the candidates.

The candidates are the published records nearest to what the attacker knows; one that fits counts the more the
fewer people it fits. The control repeats the conclusion without the person's own record: what then remains is
what the table teaches about people in general, and would have taught had the person not taken part.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..params import Integer, Real, param
from ..risk.estimate import Estimate
from .base import Attack, AttackResult, CannotRun, Scene, knowing, percent, share
from .scenes import asked, candidates_of, own_rows, secret_of, truthful, weights_of

Weights = NDArray[np.float64]  # [person, value]
Values = NDArray[np.int64]


@dataclass(frozen=True, slots=True, eq=False)
class Conclusion:
    """What an attack makes of the candidates: each person's chance to be named, and guessing as often.

    `claims` are the people about whom the attacker says anything at all.
    """

    credits: NDArray[np.float64]
    guessed: NDArray[np.float64]
    claims: NDArray[np.bool_]


Concluding = Callable[[Weights, Values, NDArray[np.float64]], Conclusion]


class Inference(Attack):
    """Runs one way to conclude over every sensitive column the attacker does not know."""

    certain: ClassVar[bool] = False  # whether he only speaks where records fit, not merely come near
    what: ClassVar[str] = "the "
    ending: ClassVar[str] = ""  # of the verdict's first half
    guess: ClassVar[str] = "guessing names"

    def conclude(self, weights: Weights, truth: Values, shares: NDArray[np.float64]) -> Conclusion:
        """Return whose value is named; `shares` are those of the values in the whole published table."""
        raise NotImplementedError

    def lens(self, scene: Scene, name: str) -> Concluding:
        """Return how to conclude about one column."""
        return self.conclude

    def details(self, found: Conclusion, weights: Weights, truth: Values) -> dict[str, Any]:
        """Return more numbers of this attack."""
        return {"claims": float(found.claims.mean())}

    def run(self, scene: Scene, known: tuple[str, ...]) -> Iterator[AttackResult]:
        """Yield one result per sensitive column."""
        columns = [name for name in scene.sensitive if name not in known]
        if not columns:
            raise CannotRun("the policy names no sensitive column that the attacker does not know")
        if self.certain and not truthful(scene, known):
            raise CannotRun("cells are means or noise, which come near a person and fit nobody for certain")
        for name in columns:
            yield self._on(scene, known, name)

    def heard(self, scene: Scene, known: tuple[str, ...], name: str, weights: Weights) -> Weights:
        """Return the weights of the candidates that the attacker concludes from."""
        if not self.certain:
            return weights
        people = asked(scene, secret_of(scene, name).shown.size)
        heard: Weights = weights * (candidates_of(scene, known, people).distance == 0)[:, None]
        return heard

    def _on(self, scene: Scene, known: tuple[str, ...], name: str) -> AttackResult:
        secret = secret_of(scene, name)
        weights = self.heard(scene, known, name, weights_of(scene, known, name))
        truth, shares = secret.truth[asked(scene, secret.shown.size)], secret.shares()
        conclude = self.lens(scene, name)
        found = conclude(weights, truth, shares)
        success, baseline = share(found.credits, scene.seed), share(found.guessed, scene.seed)
        control, control_of = self._control(scene, known, name)
        verdict = (
            f"{knowing(scene, known)} names {self.what}{name} of {percent(success.value)} of the "
            f"people{self.ending}; {self.guess} {percent(baseline.value)}"
        )
        if control is not None:
            verdict += f"; {control_of}, {percent(control.value)}"
        return AttackResult(
            self.name,
            known,
            name,
            success,
            baseline,
            control,
            control_of,
            verdict=verdict,
            details=self.details(found, weights, truth),
        )

    def _control(self, scene: Scene, known: tuple[str, ...], name: str) -> tuple[Estimate | None, str]:
        """Return the same conclusions where the person's own record cannot help, and whom they are about.

        About people who are not in the table, where there are any; else without everyone's own record. None
        where nobody knows which that is.
        """
        try:
            if scene.control is not None:
                others = scene.keep("control", lambda: strangers(scene))
                weights = weights_of(others, known, name)
                truth = secret_of(others, name).truth[asked(others, weights.shape[1])]
                who, where = "of people who are not in the table", others
            else:
                weights, truth = weights_without_own(scene, known, name)
                who, where = "had they not taken part", scene
        except CannotRun:
            return None, ""
        weights = self.heard(where, known, name, weights)
        found = self.lens(where, name)(weights, truth, secret_of(where, name).shares())
        return share(found.credits, scene.seed), who


def strangers(scene: Scene) -> Scene:
    """Return the scene with the people of the control table attacked instead."""
    assert scene.control is not None
    people = scene.generator("control").permutation(scene.control.num_rows)[: len(scene.people)]
    return replace(
        scene, original=scene.control, people=people.astype(np.int64), rows=None, control=None, _kept={}
    )


def weights_without_own(scene: Scene, known: tuple[str, ...], name: str) -> tuple[Weights, Values]:
    """Return the weights with every person's own record taken out, and the true values."""
    secret = secret_of(scene, name)
    people = asked(scene, secret.shown.size)
    truth = secret.truth[people]

    def make() -> Weights:
        own, candidates = own_rows(scene, people), candidates_of(scene, known, people)
        weights, group = weights_of(scene, known, name).copy(), np.where(own >= 0, candidates.group[own], -1)
        mine = np.flatnonzero(candidates.holds(group) & secret.told[own])
        breadth = candidates.cells.breadth
        least = candidates_of(scene, known, people, by_breadth=True).found[candidates.person[mine], 1]
        weight = np.exp(np.maximum((least - breadth[group[mine]]) / (1 << 16), -500.0))
        value = secret.shown.codes[own[mine]]
        left = weights[mine, value] - weight
        weights[mine, value] = np.where(left > 1e-9 * weight, left, 0.0)
        return weights

    return scene.keep(("weights without own", known, name), make), truth


def _split_greatest(weights: Weights, truth: Values) -> NDArray[np.float64]:
    """Return each person's chance to be named by a value of greatest weight."""
    greatest = weights.max(axis=1, initial=0.0)
    near = weights >= greatest[:, None] * (1 - 1e-9)
    named = near[np.arange(len(truth)), truth] & (greatest > 0)
    return np.asarray(named / np.maximum(near.sum(axis=1), 1), dtype=np.float64)


def _by_shares(shares: NDArray[np.float64], truth: Values) -> NDArray[np.float64]:
    """Return each person's chance to be named by the most common value."""
    return _split_greatest(np.broadcast_to(shares, (len(truth), len(shares))), truth)


@dataclass(frozen=True)
class BestGuess(Inference):
    """The attacker names the value with most weight among the candidates.

    Without the table he would name the most common value of all.
    """

    name: ClassVar[str] = "inference"
    summary: ClassVar[str] = "names the likeliest sensitive value of the records that fit a person"
    reference: ClassVar[str] = "Giomi et al. 2022"
    answer: ClassVar[str] = "t-closeness"

    def conclude(self, weights: Weights, truth: Values, shares: NDArray[np.float64]) -> Conclusion:
        return Conclusion(
            _split_greatest(weights, truth), _by_shares(shares, truth), weights.max(axis=1, initial=0.0) > 0
        )


@dataclass(frozen=True)
class Homogeneity(Inference):
    """All records that fit have one value: the attacker is certain of it.

    Where none fits, he knows that the person was left out, and says nothing.

    The baseline names the most common value for the same people.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007): l-diversity.
    """

    name: ClassVar[str] = "homogeneity"
    summary: ClassVar[str] = "names a sensitive value for certain, where all records that fit agree on it"
    reference: ClassVar[str] = "Machanavajjhala et al. 2007"
    answer: ClassVar[str] = "l-diversity, p-sensitive"
    certain: ClassVar[bool] = True
    ending: ClassVar[str] = " for certain"
    guess: ClassVar[str] = "guessing about the same people names"

    def conclude(self, weights: Weights, truth: Values, shares: NDArray[np.float64]) -> Conclusion:
        certain = (weights > 0).sum(axis=1) == 1
        credits = certain * _split_greatest(weights, truth)
        return Conclusion(credits, certain * _by_shares(shares, truth), certain)


@dataclass(frozen=True)
class Skewness(Inference):
    """A value is far more common among the candidates than in the table: the attacker claims it.

    He claims the value whose share rose by the greatest factor, if that is at least `times`. The baseline
    makes the same claims of people drawn at random.

    References
    ----------
    Li, Li and Venkatasubramanian (2007): t-closeness.
    """

    name: ClassVar[str] = "skewness"
    summary: ClassVar[str] = "claims a sensitive value that is much more common among the records that fit"
    reference: ClassVar[str] = "Li et al. 2007"
    answer: ClassVar[str] = "t-closeness, beta-likeness, delta-disclosure"
    ending: ClassVar[str] = " because it is much more common among people like them"
    guess: ClassVar[str] = "the same claims about anyone name"

    times: float = param(Real(1, open_low=True), "how much more common a value must be", default=2.0)

    def conclude(self, weights: Weights, truth: Values, shares: NDArray[np.float64]) -> Conclusion:
        total = weights.sum(axis=1, keepdims=True)
        here = np.divide(weights, total, out=np.zeros_like(weights), where=total > 0)
        rise = np.divide(here, shares, out=np.zeros_like(here), where=shares > 0)
        claims = rise.max(axis=1, initial=0.0) >= self.times * (1 - 1e-9)
        near = rise >= rise.max(axis=1, initial=0.0)[:, None] * (1 - 1e-9)
        chance = (near * shares).sum(axis=1) / np.maximum(near.sum(axis=1), 1)
        return Conclusion(claims * _split_greatest(rise, truth), claims * chance, claims)

    def lens(self, scene: Scene, name: str) -> Concluding:
        """Return how to conclude about one column."""
        return self.conclude

    def details(self, found: Conclusion, weights: Weights, truth: Values) -> dict[str, Any]:
        claims = int(found.claims.sum())
        return {
            "claims": float(found.claims.mean()),
            "claims_that_are_right": float(found.credits.sum() / claims) if claims else None,
            "times": self.times,
        }


@dataclass(frozen=True)
class Background(Inference):
    """The attacker can rule out `b` wrong values, the worst to lose, and names the likeliest of the rest.

    So a person is named when the true value is among the `b` + 1 likeliest.

    References
    ----------
    Machanavajjhala, Kifer, Gehrke and Venkitasubramaniam (2007): l-diversity.
    """

    name: ClassVar[str] = "background"
    summary: ClassVar[str] = "names a sensitive value after ruling out b others by what is known elsewhere"
    reference: ClassVar[str] = "Machanavajjhala et al. 2007"
    answer: ClassVar[str] = "l-diversity with l above b + 1"
    ending: ClassVar[str] = " after ruling out the worst wrong values"

    b: int = param(Integer(0), "how many wrong values the attacker can rule out", default=1)

    def conclude(self, weights: Weights, truth: Values, shares: NDArray[np.float64]) -> Conclusion:
        broad = np.broadcast_to(shares, weights.shape)
        some = weights.max(axis=1, initial=0.0) > 0
        return Conclusion(self._among_first(weights, truth), self._among_first(broad, truth), some)

    def _among_first(self, weights: Weights, truth: Values) -> NDArray[np.float64]:
        own = weights[np.arange(len(truth)), truth]
        above = (weights > own[:, None] * (1 + 1e-9)).sum(axis=1)
        equal = (np.abs(weights - own[:, None]) <= 1e-9 * own[:, None]).sum(axis=1)
        chance = np.clip((self.b + 1 - above) / np.maximum(equal, 1), 0.0, 1.0)
        return np.where(own > 0, chance, 0.0)

    def lens(self, scene: Scene, name: str) -> Concluding:
        """Return how to conclude about one column."""
        return self.conclude

    def details(self, found: Conclusion, weights: Weights, truth: Values) -> dict[str, Any]:
        own = weights[np.arange(len(truth)), truth] > 0
        alone = own & ((weights > 0).sum(axis=1) <= self.b + 1)
        return {"b": self.b, "no_other_value_left": float(alone.mean())}
