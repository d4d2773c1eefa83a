"""The certificate of squared errors: no partition into classes of k records is published with less.

The squared error of a class of m records is the sum of the squared distances of its pairs, over m. Each
pair's is split between its two records, and a record is sure to bear the least that m - 1 pairs bring it.
Whatever the split, the sum bounds every partition; the split that bounds most is looked for. One column is
solved exactly. ``docs/explanation/certificate.md`` proves every step.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .encoding import Encoded
from .schema import Kind

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_TOGETHER = 64  # records whose neighbours are looked for together
_CELLS = 1 << 28  # of coordinates, up to which each record is compared with all: nothing has to be compiled
_CHUNK = 1 << 14  # runs whose squares are summed at a time
_MOST_NEAR = 60  # neighbours of each record whose pairs are split, unless k asks for more
_PAIRS = 1 << 21  # that are split, about, counted from both sides
_ROUNDS = 160  # of looking for a better split, at most
_WORK = 1 << 26  # pairs looked at in all rounds together, about
_STEP = 0.15  # of a pair's squared distance that a round shifts at most, at first
_COOLING = 20  # rounds after which steps are half as long
_MOMENTUM = 0.7
_ROUNDING = 1e-12  # of the sum is given up to rounding, many times what it can amount to


class SquaredBound(NamedTuple):
    """A squared error that no partition undercuts, on the scale of the points."""

    error: float
    how: str


def squared_bound(points: Floats, k: int, suppressed: int | None = None) -> SquaredBound:
    """Return a squared error that no partition of these points into classes of `k` or more undercuts.

    Parameters
    ----------
    points : float64[d, n]
        One row per column, each with its mean at 0; NaN for null.
    k : int
        The least size of a class.
    suppressed : int, optional
        Records that may be suppressed at most; any number when not given. A suppressed record has the squared
        error of the table's mean.

    Examples
    --------
    >>> import numpy as np
    >>> squared_bound(np.array([[-3.0, -2.0, 2.0, 3.0]]), 2, 0)
    SquaredBound(error=1.0, how='exact, one column')
    """
    n = points.shape[1]
    allowed = n if suppressed is None else min(suppressed, n)
    if k <= 1 or n == 0 or len(points) == 0:
        return SquaredBound(0.0, "nothing lost")
    if len(points) == 1 and allowed == 0 and n >= k and not np.isnan(points).any():
        return SquaredBound(least_on_a_line(points[0], k), "exact, one column")
    own = np.nansum(points**2, axis=0)
    if n < k:
        return SquaredBound(float(own.sum()), "too few for a class")
    pairs = _near_pairs(points, k)
    best = 0.0
    for borne in _splits(pairs, k, own, allowed):
        over = np.sort(np.maximum(borne - own, 0.0))[::-1]
        best = max(best, float(borne.sum() - over[:allowed].sum()))
    return SquaredBound(best * (1 - _ROUNDING), "split pairs")


def least_on_a_line(numbers: Floats, k: int) -> float:
    """Return the least squared error of all partitions of numbers into classes of `k` or more.

    The classes of an optimal partition are runs of k to 2k - 1 neighbours (Hansen and Mukherjee 2003).

    Examples
    --------
    >>> least_on_a_line(np.array([0.0, 1.0, 10.0, 11.0, 12.0]), 2)
    2.5
    """
    ascending = np.sort(numbers)
    n = len(ascending)
    sizes = np.arange(k, min(2 * k - 1, n) + 1)
    cost = np.full((len(sizes), n + 1), np.inf)  # of the run of this size that ends before this place
    for at, size in enumerate(map(int, sizes)):
        runs = np.lib.stride_tricks.sliding_window_view(ascending, size)
        for begin in range(0, len(runs), _CHUNK):
            part = runs[begin : begin + _CHUNK]
            squares = ((part - part.mean(axis=1, keepdims=True)) ** 2).sum(axis=1)
            cost[at, size + begin : size + begin + len(part)] = squares
    best = np.full(n + 1, np.inf)
    best[0] = 0.0
    for end in range(k, n + 1):
        able = sizes[: max(0, end - k + 1)]
        best[end] = (best[end - able] + cost[: len(able), end]).min()
    return float(best[n])


class _Pairs(NamedTuple):
    """Pairs of near records."""

    one: Integers
    other: Integers
    square: Floats  # distance, squared
    rest: Floats  # [n] squared distance that no pair of this record undercuts which is not listed


def _near_pairs(points: Floats, k: int) -> _Pairs:
    """Return each record's pairs with its nearest."""
    n = points.shape[1]
    near = min(n - 1, max(2 * k - 2, min(_MOST_NEAR, _PAIRS // n)))
    nearest = np.empty((n, near), dtype=np.int64)
    if n * n * len(points) > _CELLS and near < n - 1:
        rest = _nearest_in_a_tree(points, nearest)
    else:
        rest = _nearest_of_all(points, nearest)
    from_ = np.repeat(np.arange(n), near)
    to = nearest.ravel()
    key = np.unique(np.minimum(from_, to) * n + np.maximum(from_, to))
    one, other = key // n, key % n
    return _Pairs(one, other, _differences(points[:, one], points[:, other]), rest)


def _nearest_of_all(points: Floats, nearest: Integers) -> Floats:
    """Fill in the nearest records of each, compared with all; return the squared distance of the next."""
    n, near = nearest.shape
    rest = np.full(n, np.inf)
    everyone = np.arange(n)
    for begin in range(0, n, _TOGETHER):
        some = everyone[begin : begin + _TOGETHER]
        squares = _squares(points[:, some], points)
        squares[some[:, None] == everyone] = np.inf
        order = np.argpartition(squares, near, axis=1)
        nearest[some] = order[:, :near]
        rest[some] = np.take_along_axis(squares, order[:, near : near + 1], axis=1)[:, 0]
    return rest


def _nearest_in_a_tree(points: Floats, nearest: Integers) -> Floats:
    """Do the same for a large table, by the columns without nulls: no distance is less in all columns."""
    from .kernels.kd_tree import make_tree
    from .kernels.neighbours import nearest_points

    known = np.ascontiguousarray(points[~np.isnan(points).any(axis=1)])
    if len(known) == 0:
        known = np.zeros((1, points.shape[1]))
    return nearest_points(make_tree(known, np.arange(known.shape[1])), known, nearest)


def _squares(some: Floats, others: Floats) -> Floats:
    """Return the squared distance of each of some points to each of others; a null is no distance away."""
    found = np.zeros((some.shape[1], others.shape[1]))
    for column, row in zip(some, others, strict=True):
        found += _squared(column[:, None] - row[None, :])
    return found


def _differences(some: Floats, others: Floats) -> Floats:
    """Return the squared distance of each point to the other at the same place."""
    found = np.zeros(some.shape[1])
    for column, row in zip(some, others, strict=True):
        found += _squared(column - row)
    return found


def _squared(apart: Floats) -> Floats:
    """Square distances in place, 0 where one side is null."""
    apart *= apart
    if np.isnan(apart.sum()):
        apart[np.isnan(apart)] = 0.0
    return apart


class _Block(NamedTuple):
    """Records with about as many pairs each, and the places of their shares, filled up with the last."""

    records: Integers
    places: Integers


def _blocks(pairs: _Pairs) -> list[_Block]:
    """Return the shares of every record: share e is that of `one` in pair e, the others follow."""
    n, count = len(pairs.rest), len(pairs.one)
    owner = np.concatenate([pairs.one, pairs.other])
    by_owner = np.argsort(owner, kind="stable")
    degree = np.bincount(owner, minlength=n)
    start = np.cumsum(degree) - degree
    found = []
    width, least = 64, -1
    while least < degree.max(initial=0):
        records = np.flatnonzero((degree > least) & (degree <= width))
        if len(records):
            longest = int(degree[records].max())
            column = np.arange(longest)
            listed = column < degree[records, None]
            at = np.minimum(start[records, None] + column, max(2 * count - 1, 0))
            found.append(_Block(records, np.where(listed, by_owner[at] if count else 0, 2 * count)))
        width, least = 2 * width, width
    return found


def _splits(pairs: _Pairs, k: int, own: Floats, allowed: int) -> Iterator[Floats]:
    """Yield what each record bears at least in any class, split by split, each likely to add up to more."""
    count = len(pairs.one)
    blocks = _blocks(pairs)
    size = sum(block.places.size for block in blocks)
    share = pairs.square / 2
    drift = np.zeros(count)
    for turn in range(max(1, min(_ROUNDS, _WORK // max(size, 1)))):
        borne, taken = _borne(pairs, blocks, share, k)
        yield borne
        if allowed:  # who is better suppressed pays for nobody
            over = borne - own
            spared = over > max(0.0, np.sort(over)[-allowed - 1] if allowed < len(own) else 0.0)
            taken[:count][spared[pairs.one]] = 0
            taken[count:-1][spared[pairs.other]] = 0
        drift = _MOMENTUM * drift + taken[:count] - taken[count:-1]
        share = share + _STEP / (1 + turn / _COOLING) * drift * pairs.square


def _borne(pairs: _Pairs, blocks: list[_Block], share: Floats, k: int) -> tuple[Floats, Floats]:
    """Return what each record bears at least under a split, and 1 for each share that makes it up."""
    n, count = len(pairs.rest), len(pairs.one)
    shares = np.concatenate([share, pairs.square - share, [np.inf]])
    taken = np.zeros(2 * count + 1)
    borne = np.zeros(n)
    others = np.arange(k - 1, 2 * k - 1)  # in a class of k to 2k - 1
    for records, places in blocks:
        near = min(2 * k - 2, places.shape[1])
        there = shares[places]
        if near < places.shape[1]:
            first = np.argpartition(there, near - 1, axis=1)[:, :near]
            there, places = np.take_along_axis(there, first, 1), np.take_along_axis(places, first, 1)
        order = np.argsort(there, axis=1, kind="stable")
        there, places = np.take_along_axis(there, order, 1), np.take_along_axis(places, order, 1)
        rest = np.broadcast_to(pairs.rest[records, None] / 2, (len(records), 2 * k - 2))
        least = rest.copy()
        least[:, :near] = np.minimum(there, rest[:, :near])
        means = np.cumsum(least, axis=1)[:, others - 1] / (others + 1)
        choice = means.argmin(axis=1)
        borne[records] = means[np.arange(len(records)), choice]
        chosen = np.arange(near) < others[choice, None]
        taken[places[chosen]] = 1.0
    taken[-1] = 0.0
    return borne, taken


def centred_points(encoded: Encoded) -> Floats:
    """Return float64[d, n]: the numeric columns, as `il-sse` measures them: mean 0, variance 1; NaN for null.

    Columns of one value are left out: they lose nothing.

    Examples
    --------
    >>> import shoal
    >>> encoded = shoal.encode({"age": [20, 40], "job": ["a", "b"]}, shoal.Policy(quasi=["age", "job"]))
    >>> centred_points(encoded).tolist()
    [[-1.0, 1.0]]
    """
    from .metrics.masked import centred_column

    found = []
    for j, column in enumerate(encoded.quasi):
        if column.numbers is not None and column.kind is Kind.NUMERIC:
            found.append(centred_column(encoded, j))
    kept = [column for column in found if np.nanmax(np.abs(column), initial=0.0) > 0]
    return np.array(kept) if kept else np.zeros((0, encoded.records))
