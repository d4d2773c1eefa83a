"""Intersection: two releases about the same people, each harmless, name someone together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..risk.estimate import Estimate
from .base import Attack, AttackResult, CannotRun, Scene, knowing, percent, share
from .inference import BestGuess, Homogeneity, Values, Weights
from .scenes import asked, secret_of, truthful, weights_of


@dataclass(frozen=True)
class Intersection(Attack):
    """The attacker looks a person up in two releases and keeps the sensitive values that both allow.

    He is certain when one value is left. The control is the better of the two releases by itself, so what
    is above it is due to the second release.

    References
    ----------
    Ganta, Kasiviswanathan and Smith (2008): Composition attacks and auxiliary information in data privacy.
    """

    name: ClassVar[str] = "intersection"
    summary: ClassVar[str] = "names a sensitive value for certain by comparing two releases"
    reference: ClassVar[str] = "Ganta et al. 2008"
    answer: ClassVar[str] = "publish once; or the same classes in every release"

    def run(self, scene: Scene, known: tuple[str, ...]) -> Iterator[AttackResult]:
        """Yield one result per sensitive column."""
        if scene.other is None:
            raise CannotRun("it takes a second release about the same people (other)")
        columns = [name for name in scene.sensitive if name not in known]
        if not columns:
            raise CannotRun("the policy names no sensitive column that the attacker does not know")
        if not truthful(scene, known):
            raise CannotRun("cells are means or noise, which come near a person and fit nobody for certain")
        second = scene.keep("second release", lambda: _second(scene))
        there = tuple(name for name in known if name in second.quasi)
        columns = [name for name in columns if name in second.sensitive]
        if not there or not columns:
            raise CannotRun("the other release shares no known or no sensitive column with this one")
        if not truthful(second, there):
            raise CannotRun("cells of the other release are means or noise, which fit nobody for certain")
        for name in columns:
            yield self._on(((scene, known), (second, there)), name)

    def _on(
        self, scenes: tuple[tuple[Scene, tuple[str, ...]], tuple[Scene, tuple[str, ...]]], name: str
    ) -> AttackResult:
        scene, known = scenes[0]
        secret = secret_of(scene, name)
        both = [Homogeneity().heard(each, own, name, weights_of(each, own, name)) for each, own in scenes]
        people = min(len(each) for each in both)
        one, two = (each[:people] for each in both)
        truth, shares = secret.truth[asked(scene, secret.shown.size)][:people], secret.shares()
        together = one * two
        found = Homogeneity().conclude(together, truth, shares)
        alone = [self._certain(each, truth, shares, scene.seed) for each in (one, two)]
        control = max(alone, key=lambda estimate: estimate.value)
        success, baseline = share(found.credits, scene.seed), share(found.guessed, scene.seed)
        verdict = (
            f"{knowing(scene, known)} names the {name} of {percent(success.value)} of the people for certain "
            f"from both releases, {percent(control.value)} from one; guessing about the same people names "
            f"{percent(baseline.value)}"
        )
        guess = BestGuess().conclude(together, truth, shares).credits
        return AttackResult(
            self.name,
            known,
            name,
            success,
            baseline,
            control,
            "the better of the two releases by itself",
            verdict=verdict,
            details={
                "best_guess": float(guess.mean()),
                "contradicted": float((~together.any(axis=1)).mean()),
            },
        )

    def _certain(self, weights: Weights, truth: Values, shares: NDArray[np.float64], seed: int) -> Estimate:
        return share(Homogeneity().conclude(weights, truth, shares).credits, seed)


def _second(scene: Scene) -> Scene:
    """Return the scene of the other release, read by the policy it was published under."""
    assert scene.other is not None
    policy = scene.policy if scene.other_policy is None else scene.other_policy
    return replace(
        scene, published=scene.other, policy=policy, other=None, other_policy=None, rows=None, _kept={}
    )
