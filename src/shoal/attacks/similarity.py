"""The similarity attack: the candidates' sensitive values differ, and still mean nearly the same."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..params import Integer, Real, param
from ..risk.reading import column_of
from ..schema import Column, Kind
from ..verification.scales import Scale
from .base import CannotRun, Scene
from .inference import Concluding, Conclusion, Homogeneity, Inference, Values, Weights
from .scenes import Secret, secret_of


@dataclass(frozen=True)
class Similarity(Inference):
    """The attacker is certain of what kind of value it is, or of about how much.

    With a hierarchy: all candidates lie under one node at `level`. Numbers, dates and ranks: all lie within a
    part `within` of the column's range. The baseline names the most common node, or the best interval of that
    width, for the same people.

    References
    ----------
    Li, Li and Venkatasubramanian (2007): t-closeness.
    """

    name: ClassVar[str] = "similarity"
    summary: ClassVar[str] = "names the kind of sensitive value for certain, or about how much"
    reference: ClassVar[str] = "Li et al. 2007"
    answer: ClassVar[str] = "t-closeness with an ordered or hierarchical distance"
    certain: ClassVar[bool] = True
    what: ClassVar[str] = "the kind of "
    ending: ClassVar[str] = " for certain"
    guess: ClassVar[str] = "guessing about the same people names"

    level: int = param(Integer(1), "level of the sensitive column's hierarchy", default=1)
    within: float = param(Real(0, 1), "part of the range that numbers may differ by", default=0.05)

    def lens(self, scene: Scene, name: str) -> Concluding:
        column, secret = column_of(scene.policy, scene.original, name), secret_of(scene, name)
        if column.hierarchy is not None:
            return _by_node(_nodes(column, secret, self.level))
        if column.kind is Kind.CATEGORICAL:
            raise CannotRun(f"{name!r} has neither an order nor a hierarchy: no two values are similar")
        return _by_range(Scale.of(column, secret.values).keys.astype(np.float64), self.within)

    def details(self, found: Conclusion, weights: Weights, truth: Values) -> dict[str, Any]:
        return {"claims": float(found.claims.mean()), "level": self.level, "within": self.within}


def _nodes(column: Column, secret: Secret, level: int) -> NDArray[np.int64]:
    """Return the node of each value at a level; null is one of its own."""
    assert column.hierarchy is not None
    null = np.asarray(pc.is_null(secret.values).to_numpy(zero_copy_only=False), dtype=bool)
    tree, leaf_of = column.hierarchy.bind(secret.values.drop_null(), column.name, unknown="root")
    if level >= tree.levels - 1:
        raise CannotRun(f"the hierarchy of {column.name!r} has no level {level} between values and root")
    nodes = np.full(len(null), -1, dtype=np.int64)
    nodes[~null] = tree.nodes[level, leaf_of]
    return np.unique(nodes, return_inverse=True)[1].reshape(-1).astype(np.int64)


def _by_node(node: NDArray[np.int64]) -> Concluding:
    member = np.zeros((len(node), int(node.max(initial=0)) + 1))
    member[np.arange(len(node)), node] = 1.0

    def conclude(weights: Weights, truth: Values, shares: NDArray[np.float64]) -> Conclusion:
        return Homogeneity().conclude(weights @ member, node[truth], shares @ member)

    return conclude


def _by_range(keys: NDArray[np.float64], within: float) -> Concluding:
    known = np.isfinite(keys)
    width = within * float(np.ptp(keys[known])) if known.any() else 0.0

    def conclude(weights: Weights, truth: Values, shares: NDArray[np.float64]) -> Conclusion:
        held = weights > 0
        low = np.where(held & known, keys, np.inf).min(axis=1, initial=np.inf)
        high = np.where(held & known, keys, -np.inf).max(axis=1, initial=-np.inf)
        claims = (high - low <= width) & (low <= high) & ~held[:, ~known].any(axis=1)
        own = keys[truth]
        start, end = _best_interval(keys[known], shares[known], width)
        guessed = claims & (own >= start) & (own <= end)
        return Conclusion(
            (claims & (own >= low) & (own <= high)).astype(float), guessed.astype(float), claims
        )

    return conclude


def _best_interval(
    keys: NDArray[np.float64], shares: NDArray[np.float64], width: float
) -> tuple[float, float]:
    """Return the interval of a width that holds most."""
    if len(keys) == 0:
        return 0.0, 0.0
    order = np.argsort(keys)
    placed, held = keys[order], np.concatenate([[0.0], np.cumsum(shares[order])])
    inside = held[np.searchsorted(placed, placed + width, side="right")] - held[:-1]
    start = float(placed[inside.argmax()])
    return start, start + width
