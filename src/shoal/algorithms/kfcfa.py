"""KFCFA: fuzzy c-means whose centres fireflies look for."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..binary_view import BinaryView
from ..embedding import Embedding
from ..encoding import Encoded
from ..params import Flag, Integer, Optional, Real, param
from ..partitions import Partition
from ..progress import Run
from .adjustment import Adjustment, make_scene
from .base import Algorithm

if TYPE_CHECKING:
    from ..kernels.rules import Rules

_FUZZY_STEPS = 3  # of fuzzy c-means, before the fireflies start
_FADING = 0.9  # of the random step, from round to round


@dataclass(frozen=True)
class Kfcfa(Algorithm):
    """Fireflies look for the centres of classes.

    A firefly is a list of centres. Every record goes to its nearest centre; the smallest class of fewer than
    k records loses its centre, and again. The light of a firefly is less the greater are: what fuzzy c-means
    minimises (by that of the first firefly), the share of records in classes that were too small, the share
    of classes that break a promise, and the squared error of the classes (by that of the table). The first
    firefly starts where a few steps of fuzzy c-means lead, the others at records drawn as by k-means++. In
    every round each firefly flies towards every brighter one, by the share ``attraction * exp(-absorption *
    x)`` of the way, where x is their mean squared distance by the variance of the table, and a random step.

    Parameters
    ----------
    clusters : int, optional
        Centres of a firefly; records / k when none.
    fireflies, rounds : int
    attraction, absorption, step : float
    swap : bool
        Whether a class that breaks a promise may swap records with good ones, give them away or join
        another. The original changes sensitive values instead, which shoal never does.

    Notes
    -----
    Known at second hand: a reconstruction, which does not claim to give the authors' numbers. Made for small
    tables: a firefly costs records x centres x coordinates to look at.

    References
    ----------
    Langari, R. K., Sardar, S., Mousavi, S. A. A. and Radfar, R. (2020): Combined fuzzy clustering and firefly
    algorithm for privacy preserving in social networks. Expert Systems with Applications 141.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> encoded = shoal.encode({"age": [20, 60, 21, 61]}, policy)
    >>> shoal.partition(encoded, policy, algorithm="kfcfa").labels.tolist()
    [0, 1, 0, 1]
    """

    name: ClassVar[str] = "kfcfa"
    summary: ClassVar[str] = "fuzzy c-means whose centres fireflies look for; slow, for small tables"
    reference: ClassVar[str] = "after Langari et al. 2020"
    block: ClassVar[int | None] = 2_500

    clusters: int | None = param(Optional(Integer(1)), "centres; records / k when none", default=None)
    fireflies: int = param(Integer(1), "lists of centres that are tried at a time", default=8)
    rounds: int = param(Integer(0), "times they fly", default=10)
    attraction: float = param(Real(0), "share of the way to a brighter firefly", default=1.0)
    absorption: float = param(Real(0), "how fast light fades with distance", default=1.0)
    step: float = param(Real(0), "size of random steps, in standard deviations of the table", default=0.1)
    swap: bool = param(Flag(), "swap records of classes that break a promise", default=True)

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        n = encoded.records
        if n < 2 * rules.k:
            return Partition.single(n)
        points = Embedding.of(encoded, "min-max").points
        search = Search(self, points, encoded.flat_sensitive(), rules)
        labels = search.best(run)
        if self.swap and not rules.plain:
            with run.progress.stage("swapping records"):
                labels = self._settled(labels, encoded, rules, run)
        return Partition.from_labels(labels)

    def _settled(
        self, labels: NDArray[np.int64], encoded: Encoded, rules: Rules, run: Run
    ) -> NDArray[np.int64]:
        dense = np.unique(labels, return_inverse=True)[1].reshape(-1).astype(np.int64)
        adjustment = Adjustment(BinaryView.of_quasi(encoded), make_scene(encoded, rules), dense, run)
        adjustment.settle_failing(swap=True)
        adjustment.place_waiting()
        return adjustment.labels()


class Search:
    """The fireflies over one table."""

    def __init__(
        self, told: Kfcfa, points: NDArray[np.float64], sensitive: NDArray[np.int32], rules: Rules
    ) -> None:
        self.told, self.points, self.sensitive, self.rules = told, points, sensitive, rules
        mean = points.mean(axis=1, keepdims=True)
        self.deviation = np.sqrt(((points - mean) ** 2).mean(axis=1))
        self.scale = float((self.deviation**2).sum()) or 1.0
        self.unit = 0.0  # what fuzzy c-means minimises, at the first firefly
        self.brightest = -np.inf
        self.found = np.zeros(points.shape[1], dtype=np.int64)

    def best(self, run: Run) -> NDArray[np.int64]:
        """Return the class of every record at the brightest place that any firefly has been."""
        told, rng = self.told, run.rng()
        flies = self._start(rng)
        with run.progress.stage("letting fireflies fly", told.rounds + 1) as stage:
            light = [self.light(centres) for centres in flies]
            stage.advance()
            for at in range(told.rounds):
                for i in range(len(flies)):
                    for j in range(len(flies)):
                        if light[j] > light[i]:
                            flies[i] = self._flown(flies[i], flies[j], at, rng)
                            light[i] = self.light(flies[i])
                stage.advance()
        return self.found

    def light(self, centres: NDArray[np.float64]) -> float:
        """Return the brightness of a firefly, and remember its classes if there was none brighter."""
        from ..kernels.clusters import keep_promises
        from ..kernels.fuzzy import dissolve_small, spread_over

        n, k = self.points.shape[1], self.rules.k
        labels = np.zeros(n, dtype=np.int32)
        fuzzy, _ = spread_over(self.points, centres, labels)
        self.unit = self.unit or fuzzy or 1.0
        sizes = np.bincount(labels)
        small = int(sizes[sizes < k].sum()) / n
        dissolve_small(self.points, centres, labels, k)
        classes = Partition.from_labels(labels)
        good = keep_promises(self.rules, self.sensitive, classes.order, classes.offsets)
        lost = self._squared_error(classes) / (self.scale * n)
        # Rounded, so that the same centres in another order are no brighter.
        light: float = -round(fuzzy / self.unit + small + float((~good).mean()) + lost, 9)
        if light > self.brightest:
            self.brightest, self.found = light, labels.astype(np.int64)
        return light

    def _squared_error(self, classes: Partition) -> float:
        ordered = self.points[:, classes.order]
        sums = np.add.reduceat(ordered, classes.offsets[:-1], axis=1)
        means = np.repeat(sums / classes.sizes, classes.sizes, axis=1)
        return float(((ordered - means) ** 2).sum())

    def _start(self, rng: np.random.Generator) -> list[NDArray[np.float64]]:
        from ..kernels.fuzzy import move_fuzzy_centres
        from ..kernels.k_means import seed_centres

        wanted = min(self.told.clusters or self.points.shape[1] // self.rules.k, self.points.shape[1])
        flies = [seed_centres(self.points, rng.random(wanted), True) for _ in range(self.told.fireflies)]
        for _ in range(_FUZZY_STEPS):
            move_fuzzy_centres(self.points, flies[0])
        return flies

    def _flown(
        self, own: NDArray[np.float64], brighter: NDArray[np.float64], at: int, rng: np.random.Generator
    ) -> NDArray[np.float64]:
        told = self.told
        apart = float(((brighter - own) ** 2).sum()) / len(own) / self.scale
        pull = told.attraction * np.exp(-told.absorption * apart)
        random = told.step * _FADING**at * (rng.random(own.shape) - 0.5) * self.deviation
        return np.asarray(np.rint(own + pull * (brighter - own) + random))
