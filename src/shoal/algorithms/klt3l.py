"""KLT3L: clusters by X-means, merged in three layers for k, l and t."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..embedding import Embedding
from ..encoding import Encoded
from ..params import Integer, param
from ..partitions import Partition
from ..progress import Run
from .adjustment import make_scene
from .base import Algorithm

if TYPE_CHECKING:
    from ..kernels.rules import Rules

_ITERATIONS = 20  # of the two centres of a split


@dataclass(frozen=True)
class Klt3l(Algorithm):
    """X-means for k, then classes merge with their nearest for l, and with one that helps most for t.

    First layer: the table is a cluster; each is split in two by 2-means for as long as the Bayesian
    information criterion of two round Gaussians is above that of one; then the smallest cluster of fewer than
    k records joins the one with the nearest mean, and again. Second layer: the first class with too few or
    too uneven sensitive values joins the class with the nearest mean, and again. Third layer: the first class
    that breaks any other promise joins, of the `near` classes with the nearest means, the one with which it
    comes nearest to the table, and again. Classes come out few and large, and keep every promise that merging
    can keep.

    Parameters
    ----------
    near : int
        Classes that one which is not t-close may join.

    Notes
    -----
    Known at second hand: a reconstruction, which does not claim to give the authors' numbers.

    References
    ----------
    Rahimi, M., Bateni, M. and Mohammadinejad, H. (2015): Extended k-anonymity model for privacy preserving on
    micro data. IJCNIS 7(12).

    Examples
    --------
    >>> import shoal
    >>> table = {"age": [20, 21, 60, 61], "ill": ["flu", "cold", "flu", "cold"]}
    >>> policy = shoal.Policy(quasi=["age"], sensitive=["ill"], models=[shoal.KAnonymity(2)])
    >>> shoal.partition(shoal.encode(table, policy), policy, algorithm="klt3l").labels.tolist()
    [0, 0, 1, 1]
    """

    name: ClassVar[str] = "klt3l"
    summary: ClassVar[str] = "X-means, then classes merge for k, for l and for t; few and large classes"
    reference: ClassVar[str] = "after Rahimi, Bateni and Mohammadinejad 2015"

    near: int = param(
        Integer(1), "nearest classes of which one that is not t-close joins the best", default=8
    )

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        from ..kernels.k_means import merge_small_parts
        from ..kernels.layers import heap_labels, make_heaps, merge_failing

        points = Embedding.of(encoded, "min-max").points
        with run.progress.stage("splitting clusters", encoded.records) as stage:
            parts = x_means(points, rules.k, run.rng())
            stage.advance(encoded.records)
        labels = np.empty(encoded.records, dtype=np.int32)
        for number, part in enumerate(parts):
            labels[part] = number
        merged = merge_small_parts(points, labels, len(parts), rules.k)[labels]
        used, dense = np.unique(merged, return_inverse=True)
        heaps = make_heaps(points, dense.reshape(-1).astype(np.int64), len(used))
        scene = make_scene(encoded, rules)
        with run.progress.stage("merging classes", 2) as stage:
            merge_failing(heaps, scene, second_layer(scene.rules), 1)
            stage.advance()
            merge_failing(heaps, scene, scene.rules, self.near)
            stage.advance()
        return Partition.from_labels(heap_labels(heaps))


def second_layer(rules: Rules) -> Rules:
    """Return the rules without closeness and without limits of single values: what is left is diversity."""
    never = np.full(len(rules.t_equal), np.inf)
    unbounded = np.zeros(len(never), dtype=np.bool_)
    return rules._replace(t_equal=never, t_ordered=never, t_tree=never, bounded=unbounded)


def x_means(points: NDArray[np.float64], k: int, rng: np.random.Generator) -> list[NDArray[np.int64]]:
    """Return the clusters of X-means, breadth first; clusters of fewer than 2k records are not split.

    References
    ----------
    Pelleg and Moore (2000): X-means: extending k-means with efficient estimation of the number of clusters.
    """
    waiting = [np.arange(points.shape[1])]
    found = []
    while waiting:
        part = waiting.pop(0)
        side = _halved(np.ascontiguousarray(points[:, part]), rng) if len(part) >= 2 * k else None
        if side is None:
            found.append(part)
        else:
            waiting += [part[side == 0], part[side == 1]]
    return found


def _halved(points: NDArray[np.float64], rng: np.random.Generator) -> NDArray[np.int32] | None:
    """Return the side of every point after a split in two, None where one cluster describes them better."""
    from ..kernels.k_means import assign, move_centres, seed_centres

    d, n = points.shape
    side = np.zeros(n, dtype=np.int32)
    centres = seed_centres(points, rng.random(2), True)
    if len(centres) < 2:
        return None
    assign(points, centres, side)
    for _ in range(_ITERATIONS):
        if not move_centres(points, side, centres):
            break
        assign(points, centres, side)
    sizes = np.bincount(side, minlength=2).tolist()
    one = criterion([n], _spread(points, np.zeros(n, dtype=np.int32)), d)
    return side if 0 not in sizes and criterion(sizes, _spread(points, side), d) > one else None


def _spread(points: NDArray[np.float64], side: NDArray[np.int32]) -> float:
    """Return the squared distance of all points from the mean of their side."""
    total = 0.0
    for number in range(int(side.max()) + 1):
        own = points[:, side == number]
        total += float(((own - own.mean(axis=1, keepdims=True)) ** 2).sum())
    return total


def criterion(sizes: list[int], spread: float, dimensions: int) -> float:
    """Return the Bayesian information criterion of round Gaussians with one common variance.

    Examples
    --------
    >>> criterion([2, 2], 1.0, 1) > criterion([4], 400.0, 1)
    True
    """
    n, count = sum(sizes), len(sizes)
    free = dimensions * (n - count)
    if spread <= 0 or free == 0:
        return math.inf
    likelihood = sum(size * math.log(size / n) for size in sizes)
    likelihood -= n * dimensions / 2 * math.log(2 * math.pi * spread / free) + free / 2
    return likelihood - count * (dimensions + 1) / 2 * math.log(n)
