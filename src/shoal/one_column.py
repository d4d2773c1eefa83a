"""The least loss in a single column: exact classes of numbers in a range, and of values in a hierarchy.

The classes of least loss need not be neighbours in order: {0, 10} and {5, 5, 5} lose less than any cut of the
five. But at most two classes need to cover any gap between neighbours, the inner one a run of neighbours; so
dynamic programming finds the best. In a hierarchy, what counts is how many records each node passes on to the
one above. ``docs/explanation/certificate.md`` proves both.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from .encoding import Encoded, QuasiColumn

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

_ALIKE = 9  # times k records of one number are enough to find the best classes of all
_STEPS = 200_000  # records times k, up to which numbers are solved in a few seconds
_CELLS = 1 << 26  # choices remembered
_PASSED = 20_000  # records in values of less than k, up to which a hierarchy is solved in a few seconds
_DROPPED = 255


class Solved(NamedTuple):
    """A partition of least loss.

    Attributes
    ----------
    cost : float
        What all records lose together, each between 0 and 1.
    labels : int64[n]
        Their classes; -1 for a suppressed record.
    """

    cost: float
    labels: Integers


def solve_column(encoded: Encoded, k: int, loss: str = "gcp", *, dropping: bool = False) -> Solved | None:
    """Return the partition that loses least in the only column of a table that loses anything.

    None where several do, where nulls are among numbers, where two of three or more categories without a
    hierarchy lose less than all of them, or where it would take long.

    Examples
    --------
    >>> import shoal
    >>> encoded = shoal.encode({"age": [20, 25, 25, 25, 30]}, shoal.Policy(quasi=["age"]))
    >>> solve_column(encoded, 2)
    Solved(cost=2.0, labels=array([0, 1, 1, 1, 0]))
    """
    only = only_column(encoded)
    if only is None:
        return None
    column, codes = encoded.quasi[only], encoded.stored(only)
    if column.positions is not None:
        known = codes < column.size
        return least_range(column.positions[codes], k, dropping=dropping) if known.all() else None
    if column.tree is None and loss == "gcp" and column.size > 2:
        return None
    return least_climb(codes, *_levels(column, loss), k, dropping=dropping)


def only_column(encoded: Encoded) -> int | None:
    """Return the only quasi-identifier of which anything may be published, None where there are others."""
    free = [j for j, column in enumerate(encoded.quasi) if not column.starred(column.lowest)]
    return free[0] if len(free) == 1 else None


def _levels(column: QuasiColumn, loss: str) -> tuple[list[Integers], Floats]:
    """Return the node of each value on every level and its cost; only the last puts null beside values."""
    values = np.arange(column.size + 1)
    levels, losses = [values], [np.zeros(column.size + 1)]
    if column.tree is not None:
        by_node = column.tree.node_height_losses() if loss == "il-normalised" else column.tree.node_losses()
        nodes = column.tree.nodes[column.lowest :]
        levels = [np.append(row, len(by_node)) for row in nodes]
        losses = [np.append(by_node[row], 0.0) for row in nodes]
    return [*levels, np.zeros_like(values)], np.array([*losses, np.ones(column.size + 1)])


def least_range(numbers: Floats, k: int, *, dropping: bool = False) -> Solved | None:
    """Return classes of `k` or more numbers whose records pay for the range of their class, the least in all.

    Parameters
    ----------
    numbers : float64[n]
        On a scale on which no two are more than 1 apart.
    k : int
        The least size of a class.
    dropping : bool
        Whether any number of records may be suppressed, at a cost of 1 each.

    Returns
    -------
    Solved or None
        None for a table that would take long, or with less than `k` records.

    Examples
    --------
    >>> least_range(np.array([0.0, 0.5, 0.5, 0.5, 1.0]), 2)
    Solved(cost=2.0, labels=array([0, 1, 1, 1, 0]))
    """
    order = np.argsort(numbers, kind="stable")
    ascending = numbers[order]
    new = np.append(True, ascending[1:] != ascending[:-1]) if len(numbers) else np.zeros(0, dtype=bool)
    value = np.cumsum(new) - 1
    place = np.arange(len(numbers)) - np.flatnonzero(new)[value] if len(numbers) else value
    kept = place < _ALIKE * k
    count = int(kept.sum())
    if k <= 1 or count < k or count * k > _STEPS or count * 2 * k * k > _CELLS or k > 100:
        return None
    cost, few = _Line(ascending[kept], k, dropping).solve()
    labels = np.empty(len(numbers), dtype=np.int64)
    labels[order[kept]] = few
    alone = _alone(few, value[kept])
    labels[order[~kept]] = alone[value[~kept]]
    return Solved(cost, labels)


def _alone(labels: Integers, value: Integers) -> Integers:
    """Return for each value a class of nothing else, -1 where there is none."""
    kept = labels >= 0
    labels, value = labels[kept], value[kept]
    classes = int(labels.max(initial=-1)) + 1
    least, most = np.full(classes, len(value) + 1), np.full(classes, -1)
    np.minimum.at(least, labels, value)
    np.maximum.at(most, labels, value)
    found = np.full(int(value.max(initial=-1)) + 1, -1, dtype=np.int64)
    pure = np.flatnonzero(least == most)
    found[least[pure]] = pure
    return found


class _Line:
    """Dynamic programming over ascending numbers, with up to one class open around a run of neighbours.

    ``closed[t]`` is the least cost of the first t records in finished classes. An open class of m records, c
    of them taken so far, has paid m for every step since, so that where it began need not be known.
    """

    def __init__(self, numbers: Floats, k: int, dropping: bool) -> None:
        self.x, self.k, self.dropping = numbers, k, dropping
        self.sizes = np.arange(k, 2 * k - 1)  # of an open class: less than that of the runs inside
        n = len(numbers)
        self.closed = np.full(n + 1, np.inf)
        self.closed[0] = 0.0
        self.closed_by = np.zeros(n + 1, dtype=np.int64)  # a run's size, minus that of a class, 0 if dropped
        self.open_by = np.zeros((n + 1, len(self.sizes), 2 * k - 2), dtype=np.uint8)
        self.open: list[Floats] = [np.full((len(self.sizes), 2 * k - 2), np.inf)]

    def solve(self) -> tuple[float, Integers]:
        """Return the least cost and a class for every record."""
        for t in range(1, len(self.x) + 1):
            self._close(t)
            self._open(t)
        return float(self.closed[-1]), self._labels()

    def _close(self, t: int) -> None:
        """Find the least cost of t records in finished classes."""
        x, k = self.x, self.k
        runs = np.arange(k, min(2 * k - 1, t) + 1)
        best, by = np.inf, 0
        if len(runs):
            costs = self.closed[t - runs] + runs * (x[t - 1] - x[t - runs])
            at = int(costs.argmin())
            best, by = float(costs[at]), int(runs[at])
        if t > 1 and len(self.sizes):
            ended = self.open[-1][np.arange(len(self.sizes)), self.sizes - 2]
            costs = ended + self.sizes * (x[t - 1] - x[t - 2])
            at = int(costs.argmin())
            if costs[at] < best:
                best, by = float(costs[at]), -int(self.sizes[at])
        if self.dropping and self.closed[t - 1] + 1 < best:
            best, by = self.closed[t - 1] + 1, 0
        self.closed[t], self.closed_by[t] = best, by

    def _open(self, t: int) -> None:
        """Find the least cost of t records with a class open, for each size and number of records taken."""
        x, k = self.x, self.k
        step = (self.sizes * (x[t - 1] - x[t - 2]))[:, None] if t > 1 else 0.0
        found, by = np.empty_like(self.open[-1]), self.open_by[t]
        found[:, 1:] = (self.open[-1] + step)[:, :-1]
        found[:, 0] = self.closed[t - 1]
        by[:] = 1
        found[np.arange(found.shape[1]) >= self.sizes[:, None] - 1] = np.inf
        for run in range(k + 1, min(2 * k - 1, t - 1) + 1):
            inside = run - k
            before = self.open[-run][:inside]
            paid = self.sizes[:inside] * (x[t - 1] - x[t - run - 1]) + run * (x[t - 1] - x[t - run])
            self._take(found[:inside], by[:inside], before + paid[:, None], run)
        if self.dropping:
            self._take(found, by, self.open[-1] + step + 1, _DROPPED)
        self.open.append(found)
        if len(self.open) > 2 * k:
            self.open.pop(0)

    @staticmethod
    def _take(found: Floats, by: NDArray[np.uint8], costs: Floats, how: int) -> None:
        """Put lower costs in place, and how they came about."""
        lower = costs < found
        found[lower] = costs[lower]
        by[lower] = how

    def _labels(self) -> Integers:
        """Go back from the end and name the classes met."""
        labels = np.full(len(self.x), -1, dtype=np.int64)
        t, label, outer = len(self.x), 0, 0
        size = taken = 0  # of the open class
        while t > 0:
            if size == 0:
                by = int(self.closed_by[t])
                if by < 0:
                    size, taken, outer, label = -by, -by - 1, label, label + 1
                    labels[t - 1], t = outer, t - 1
                    continue
                run = by
            else:
                run = int(self.open_by[t, size - self.k, taken - 1])
                if run == 1:
                    labels[t - 1], t, taken = outer, t - 1, taken - 1
                    size = size if taken else 0
                    continue
                run = 0 if run == _DROPPED else run
            if run:
                labels[t - run : t] = label
                label += 1
            t -= run or 1
        return labels


class _Pool(NamedTuple):
    """What a part of a hierarchy may pass on to the node above: what it costs by the number of records."""

    costs: Floats
    value: int = -1  # of a pool of one value
    parts: tuple[_Pool, ...] = ()  # one whose records may stay together here, or two that are put together
    taken: Integers = np.zeros(0, dtype=np.int64)  # records that the first part passes on, for each number


def least_climb(
    codes: NDArray[np.integer], levels: list[Integers], losses: Floats, k: int, *, dropping: bool = False
) -> Solved | None:
    """Return classes of `k` or more values of a hierarchy, each record paying for the node of its class.

    Parameters
    ----------
    codes : int[n]
        The value of each record.
    levels : list of int64[values]
        The node of each value, from the values up; all are under one node on the last.
    losses : float64[levels, values]
        What a record loses whose class is published at the node of this value on a level.
    k : int
        The least size of a class.
    dropping : bool
        Whether any number of records may be suppressed, at what the last level costs.

    Returns
    -------
    Solved or None
        None for a table that would take long, or with less than `k` records.

    Examples
    --------
    >>> levels = [np.array([0, 1, 2]), np.array([0, 0, 0])]
    >>> least_climb(np.array([0, 0, 0, 1, 2, 2]), levels, np.array([[0.0] * 3, [1.0] * 3]), 2)
    Solved(cost=2.0, labels=array([2, 1, 1, 2, 0, 0]))
    """
    counts = np.bincount(codes, minlength=len(levels[0]))
    passed = 2 * k - 2  # records that a node passes on to any one above it, at most
    if k <= 1 or len(codes) < k or int(np.minimum(counts, passed * len(levels)).sum()) > _PASSED:
        return None
    above = len(levels) - 1
    pools = {
        int(v): _value(int(v), int(counts[v]), losses[0, v], k, passed * above)
        for v in np.flatnonzero(counts)
    }
    members = {v: v for v in pools}  # a value of each pool
    for level in range(1, len(levels)):
        nodes: dict[int, list[int]] = {}
        for key, value in members.items():
            nodes.setdefault(int(levels[level][value]), []).append(key)
        last = level == above
        gathered = {
            node: _gathered(
                _together([pools[key] for key in keys]),
                float(losses[level, members[keys[0]]]),
                1 if last and dropping else k,
                passed * (above - level),
            )
            for node, keys in nodes.items()
        }
        members = {node: members[keys[0]] for node, keys in nodes.items()}
        pools = gathered
    (whole,) = pools.values()
    return _Climb(codes, k).solved(whole)


def _value(value: int, count: int, loss: float, k: int, most: int) -> _Pool:
    """Return the pool of one value: those that stay are none, or `k` or more."""
    passed = np.arange(min(count, most) + 1)
    stay = count - passed
    return _Pool(np.where((stay == 0) | (stay >= k), stay * loss, np.inf), value)


def _together(pools: list[_Pool]) -> _Pool:
    """Return what several pools pass on together, put together two by two."""
    while len(pools) > 1:
        pairs = [_put_together(*pools[at : at + 2]) for at in range(0, len(pools) - 1, 2)]
        pools = pairs + pools[2 * len(pairs) :]
    return pools[0]


def _put_together(one: _Pool, other: _Pool) -> _Pool:
    """Return what two pools pass on together."""
    few, many = sorted((one, other), key=lambda pool: len(pool.costs))
    length = len(many.costs)
    costs = np.full(length + len(few.costs) - 1, np.inf)
    taken = np.zeros(len(costs), dtype=np.int64)
    for count in np.flatnonzero(np.isfinite(few.costs)).tolist():
        there = many.costs + few.costs[count]
        lower = np.flatnonzero(there < costs[count : count + length])
        costs[count + lower], taken[count + lower] = there[lower], count
    return _Pool(costs, parts=(few, many), taken=taken)


def _gathered(pool: _Pool, loss: float, least: int, most: int) -> _Pool:
    """Return what a node passes on of what its parts pass on to it, if the others stay as one class."""
    number = np.arange(len(pool.costs))
    whole = pool.costs + number * loss
    ending = np.minimum.accumulate(whole[::-1])[::-1]  # the least from here on
    where = np.flatnonzero(whole == ending)
    passed = number[: most + 1]
    costs, taken = pool.costs[passed].copy(), passed.copy()
    from_ = passed + least
    able = np.flatnonzero(from_ < len(whole))
    staying = ending[from_[able]] - passed[able] * loss
    lower = able[staying < costs[able]]
    costs[lower] = ending[from_[lower]] - passed[lower] * loss
    taken[lower] = where[np.searchsorted(where, from_[lower])]
    return _Pool(costs, parts=(pool,), taken=taken)


class _Climb:
    """Finds the records of the pools again."""

    def __init__(self, codes: NDArray[np.integer], k: int) -> None:
        order = np.argsort(codes, kind="stable")
        ends = np.cumsum(np.bincount(codes))
        self.records = {
            value: order[end - count : end]
            for value, (end, count) in enumerate(zip(ends.tolist(), np.bincount(codes).tolist(), strict=True))
        }
        self.k, self.labels, self.next = k, np.full(len(codes), -1, dtype=np.int64), 0

    def solved(self, whole: _Pool) -> Solved | None:
        """Return the partition of the pool of all records, of which none is passed on."""
        if not np.isfinite(whole.costs[0]):
            return None
        self._pass(whole, 0)
        return Solved(float(whole.costs[0]), self.labels)

    def _pass(self, pool: _Pool, count: int) -> Integers:
        """Return that many records of a pool, after the others were put in their classes."""
        if pool.value >= 0:
            return self._keep(self.records[pool.value], count)
        taken = int(pool.taken[count])
        if len(pool.parts) == 1:
            return self._keep(self._pass(pool.parts[0], taken), count)
        few, many = pool.parts
        return np.concatenate([self._pass(few, taken), self._pass(many, count - taken)])

    def _keep(self, records: Integers, count: int) -> Integers:
        """Make a class of all but the first few, which are returned; too few for a class are suppressed."""
        staying = records[count:]
        if len(staying) >= self.k:
            self.labels[staying] = self.next
            self.next += 1
        return records[:count]
