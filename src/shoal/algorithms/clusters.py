"""Density clusters of the records: the driver of `kernels.density`."""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..progress import Run

if TYPE_CHECKING:
    from ..kernels.density import Points
    from ..kernels.rules import Rules

WEIGHTS = ("inverse", "uniform", "cardinality")
UNIT = 1 << 20  # coordinate of a distance of 1
NOISE = -1

_NULL_AT = 2.0  # null lies one whole range above the greatest value
_SAMPLE = 4096  # records whose k-distance the elbow is read from
_BATCHES = 25
_PARALLEL = 1 << 14  # rows; below, starting the threads takes longer than the work
_ANYWHERE = 1 << 62


@dataclass(frozen=True, slots=True)
class Density:
    """The parameters of a density clustering.

    Attributes
    ----------
    weights : str
        "uniform"; "cardinality", the share of a column's values among those of all columns, as the paper's
        Equation 1; or "inverse", that turned round.
    eps : float, optional
        Reach of a record; read from the table when not given.
    min_samples : int
        Records within reach, itself included, that make a record dense.
    parallel : bool
    """

    weights: str
    eps: float | None
    min_samples: int
    parallel: bool = True


@dataclass(frozen=True, slots=True, eq=False)
class Clustering:
    """The clusters of the distinct rows.

    Attributes
    ----------
    labels : int32[m]
        0 to the number of clusters - 1; NOISE for the others.
    dense : bool[m]
        Which rows are dense.
    eps : float
        The reach that was used.
    neighbourhood : Neighbourhood
        To ask for the nearest cluster of other rows.
    """

    labels: NDArray[np.int32]
    dense: NDArray[np.bool_]
    eps: float
    neighbourhood: Neighbourhood


def coordinates(encoded: Encoded, codes: NDArray[np.int32], weights: str) -> NDArray[np.int32]:
    """Return where every row of codes lies: whole numbers whose Euclidean distance is the paper's Equation 2.

    Every column is brought to [0, 1] first, numbers by their range and categories by their rank, then times
    the root of its weight. Without that the unit of a column would decide, and no reach would fit two tables.

    Parameters
    ----------
    encoded : Encoded
        Where the columns come from.
    codes : int32[m, q]
        Rows of codes, categories in the order that is to count.
    weights : str
        As in `Density`.
    """
    places = np.empty(codes.shape, dtype=np.int32)
    roots = np.sqrt(column_weights(encoded, weights))
    for j, column in enumerate(encoded.quasi):
        place = column.positions
        if place is None:
            place = np.arange(column.size) / max(column.size - 1, 1)
        place = np.append(place, _NULL_AT)
        places[:, j] = np.rint(place * (roots[j] * UNIT)).astype(np.int32)[codes[:, j]]
    return places


def column_weights(encoded: Encoded, weights: str) -> NDArray[np.float64]:
    """Return the weight of every column in the squared distance; they sum to 1."""
    if weights == "uniform":
        return np.full(len(encoded.quasi), 1.0 / len(encoded.quasi))
    values = np.array([max(c.size + c.has_null, 1) for c in encoded.quasi], dtype=np.float64)
    found = values if weights == "cardinality" else 1.0 / values
    return np.asarray(found / found.sum())


class Neighbourhood:
    """The distinct rows in space: which are dense, and which cluster is nearest."""

    def __init__(self, at: NDArray[np.int32], weight: NDArray[np.int64], parallel: bool) -> None:
        from ..kernels.density import Points, measure_boxes
        from ..kernels.k_member_index import Columns, build_tree
        from ..kernels.space import LINE

        m, q = at.shape
        wide = np.full(q, UNIT, dtype=np.int64)
        nothing = np.zeros(0, dtype=np.int32)
        lines = Columns(np.full(q, LINE, np.int8), wide, wide, wide, wide, wide, nothing, nothing)
        self.slots, nodes, _ = build_tree(at, lines)
        begin, end, left, right, _ = nodes
        boxes = len(begin)
        self.points: Points = Points(
            at=np.ascontiguousarray(at[self.slots]),
            weight=weight[self.slots],
            begin=begin,
            end=end,
            left=left,
            right=right,
            low=np.empty((boxes, q), dtype=np.int32),
            high=np.empty((boxes, q), dtype=np.int32),
            total=np.empty(boxes, dtype=np.int64),
        )
        measure_boxes(self.points)
        self.slot_of = np.empty(m, dtype=np.int64)
        self.slot_of[self.slots] = np.arange(m)
        self.parallel = parallel and m >= _PARALLEL

    def dense(self, reach: int, enough: int) -> NDArray[np.bool_]:
        """Return which slots have enough records within reach."""
        from ..kernels.density import dense_rows, dense_rows_parallel

        kernel = dense_rows_parallel if self.parallel else dense_rows
        bounds = self._batches()
        found = [kernel(self.points, reach, enough, a, b) for a, b in itertools.pairwise(bounds)]
        return np.concatenate(found)

    def connected(self, dense: NDArray[np.bool_], reach: int) -> NDArray[np.int32]:
        """Return the slot that stands for the cluster of every dense slot."""
        from ..kernels.density import connect, settle_boxes

        leader = np.arange(len(dense), dtype=np.int32)
        holds = np.empty(len(self.points.left), dtype=np.int32)
        bounds = self._batches()
        for a, b in itertools.pairwise(bounds):
            settle_boxes(self.points, dense, reach, leader, holds)
            connect(self.points, dense, reach, leader, holds, a, b)
        while (leader != leader[leader]).any():
            leader = leader[leader]
        return leader

    def nearest(
        self,
        known: NDArray[np.bool_],
        labels: NDArray[np.int32],
        rows: NDArray[np.int64],
        reach: int = _ANYWHERE,
    ) -> NDArray[np.int32]:
        """Return the label of the nearest known row of each of `rows`, -1 where none lies within reach."""
        from ..kernels.density import nearest_clusters, nearest_clusters_parallel

        kernel = nearest_clusters_parallel if self.parallel else nearest_clusters
        found = kernel(self.points, known[self.slots], labels[self.slots], reach, self.slot_of[rows])
        return np.asarray(found, dtype=np.int32)

    def _batches(self) -> list[int]:
        """Return where the stretches between two looks at Ctrl-C begin and end."""
        m = len(self.slots)
        parts = _BATCHES if m > _PARALLEL else 1
        return [m * part // parts for part in range(parts + 1)]


def density_clusters(at: NDArray[np.int32], row: NDArray[np.int64], density: Density, run: Run) -> Clustering:
    """Return the clusters of DBSCAN (Ester et al. 1996) over distinct rows, each as heavy as its records.

    Parameters
    ----------
    at : int32[m, q]
        Where the distinct rows lie, as `coordinates` says.
    row : int64[n]
        The distinct row of each record.
    density : Density
    run : Run
        Draws the records whose k-distance is looked at when eps is not given.
    """
    near = Neighbourhood(at, np.bincount(row, minlength=len(at)), density.parallel)
    enough = min(density.min_samples, len(row))
    eps = density.eps
    if eps is None:
        eps = as_eps(elbow(k_distances(near, row, enough, run)))
    return clusters_within(near, eps, enough)


def clusters_within(near: Neighbourhood, eps: float, enough: int) -> Clustering:
    """Return the clusters of one reach.

    A row that is not dense belongs to the cluster of the nearest dense row within reach (the original leaves
    it to the order of the records), and is noise when there is none. Clusters are numbered by their first
    dense row.
    """
    reach = round(eps * UNIT) ** 2
    dense = near.dense(reach, enough)
    leader = near.connected(dense, reach)
    m = len(dense)
    labels = np.full(m, NOISE, dtype=np.int32)
    labels[near.slots[dense]] = leader[dense]
    labels = _by_first_row(labels)
    dense_row = np.empty(m, dtype=np.bool_)
    dense_row[near.slots] = dense
    others = np.flatnonzero(~dense_row)
    labels[others] = near.nearest(dense_row, labels, others, reach)
    return Clustering(labels, dense_row, eps, near)


def _by_first_row(labels: NDArray[np.int32]) -> NDArray[np.int32]:
    """Renumber clusters from 0 in the order of their first rows; NOISE stays."""
    found, first, inverse = np.unique(labels, return_index=True, return_inverse=True)
    first = np.where(found == NOISE, -1, first)
    rank = np.empty(len(found), dtype=np.int32)
    rank[np.argsort(first, kind="stable")] = np.arange(len(found), dtype=np.int32)
    return np.asarray(rank[inverse] - (found[0] == NOISE), dtype=np.int32)


def k_distances(near: Neighbourhood, row: NDArray[np.int64], enough: int, run: Run) -> NDArray[np.float64]:
    """Return, ascending, how far `enough` records reach, of all records or a sample of them."""
    from ..kernels.density import reaches

    n = len(row)
    sample = np.arange(n) if n <= _SAMPLE else run.rng().choice(n, _SAMPLE, replace=False)
    squares = reaches(near.points, near.slot_of[row[sample]], enough)
    return np.sqrt(np.sort(squares).astype(np.float64))


def as_eps(distance: float) -> float:
    """Return a distance of coordinates as eps, rounded up, so that its record is within reach."""
    return math.ceil(distance) / UNIT


def elbow(ascending: NDArray[np.float64]) -> float:
    """Return where an ascending curve bends up: the value furthest below the chord from end to end.

    Where that is 0, the least value above 0 is returned, if there is one.

    References
    ----------
    Satopaa et al. (2011): Finding a "kneedle" in a haystack.

    Examples
    --------
    >>> import numpy as np
    >>> elbow(np.array([0.1, 0.1, 0.2, 0.2, 5.0]))
    0.2
    """
    rise = ascending[-1] - ascending[0]
    if rise > 0:
        along = np.arange(len(ascending)) / (len(ascending) - 1)
        found = ascending[int(np.argmax(along - (ascending - ascending[0]) / rise))]
    else:
        found = ascending[0]
    positive = ascending[ascending > 0]
    return float(positive[0] if found == 0 and len(positive) else found)


def attach_failing(
    clustering: Clustering,
    at: NDArray[np.int32],
    row: NDArray[np.int64],
    rules: Rules,
    sensitive: NDArray[np.int32],
) -> NDArray[np.int32]:
    """Return the labels after every cluster that could not be a class has joined the nearest that could.

    Nearest is the centre, the mean of all records. Where no cluster could be a class, they all become one.
    Where joining breaks a promise (possible for promises that are not monotone), the union looks further.
    """
    from ..kernels.clusters import keep_promises, nearest_centres

    labels = clustering.labels.copy()
    while labels.max(initial=NOISE) > 0:
        by_record = labels[row]
        order = np.argsort(by_record, kind="stable")[int((by_record < 0).sum()) :]
        sizes = np.bincount(by_record[order])
        offsets = np.concatenate([[0], np.cumsum(sizes)])
        good = keep_promises(rules, sensitive, order, offsets)
        failing, valid = np.flatnonzero(~good), np.flatnonzero(good)
        if len(failing) == 0:
            break
        if len(valid) == 0:
            labels[labels >= 0] = 0
            break
        sums = [np.bincount(by_record[order], weights=at[row[order], j]) for j in range(at.shape[1])]
        centres = np.stack(sums, axis=1) / sizes[:, None]
        target = np.arange(len(sizes))
        target[failing] = nearest_centres(centres, failing, valid)
        kept = labels >= 0
        labels[kept] = target[labels[kept]]
        labels = _by_first_row(labels)
    return labels
