"""What the cheapest class of k records costs that holds a given one: exactly, or a lower bound on it.

`docs/explanation/certificate.md` says why the sum over all records bounds every partition. The search looks
at the nearest rows first and at sets of them by branch and bound; where it is stopped, what it returns is the
least that any set it has not seen can cost.
"""

from __future__ import annotations

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .box_tree import BoxTree, Walk, begin_walk, make_walk, visit
from .gauge import Gauge, costs_to, pair_cost
from .space import SET

CHUNKS = 64
_CANDIDATES = 2048  # rows that sets are made of, at most
_TRIED = 4  # times k rows are looked at for a first class that is cheap


@njit(cache=True)
def _note(
    nearest: NDArray[np.float64], records: NDArray[np.int64], kept: int, cost: float, weight: int
) -> int:
    """Put `weight` records at `cost` into the ascending list of the nearest; return how many entries it has.

    The list is as short as the number of records asked for, which is its length, allows.
    """
    need, at, before = len(nearest), kept, 0
    while at > 0 and nearest[at - 1] > cost:
        at -= 1
    for i in range(at):
        before += records[i]
    if before >= need:
        return kept
    last = min(kept, need - 1)
    for i in range(last, at, -1):
        nearest[i], records[i] = nearest[i - 1], records[i - 1]
    nearest[at], records[at] = cost, weight
    for i in range(at, last + 1):
        before += records[i]
        if before >= need:
            return i + 1
    return last + 1


@njit(cache=True)
def _joined(
    gauge: Gauge,
    values: NDArray[np.float64],
    chosen: NDArray[np.int64],
    rows: NDArray[np.int64],
    found: NDArray[np.float64],
) -> None:
    """Fill `found` with what a class of the chosen rows costs together with each of these rows."""
    held = np.empty(len(chosen))
    found[: len(rows)] = 0.0
    for j in range(len(values)):
        low, high, different = np.inf, -np.inf, 0
        for row in chosen:
            value = values[j, row]
            low, high = min(low, value), max(high, value)
            new = True
            for at in range(different):
                new = new and held[at] != value
            if new:
                held[different] = value
                different += 1
        if gauge.kind[j] != SET:
            for i in range(len(rows)):
                value = values[j, rows[i]]
                found[i] += pair_cost(gauge, j, min(low, value), max(high, value))
            continue
        step, null = gauge.step[j], gauge.null[j]
        same = 0.0 if different == 1 else 1.0 if high == null else min((different - 1) * step, 1.0)
        more = 1.0 if high == null else min(different * step, 1.0)
        for i in range(len(rows)):
            value = values[j, rows[i]]
            new = True
            for at in range(different):
                new = new and held[at] != value
            found[i] += same if not new else 1.0 if value == null else more


@njit(cache=True)
def _settled(
    costs: NDArray[np.float64], rows: NDArray[np.int64], weight: NDArray[np.int64], need: int, best: float
) -> float:
    """Return a lower bound on sets with `need` records of these rows, ascending by cost; at most `best`."""
    for at in range(len(costs)):
        need -= weight[rows[at]]
        if need <= 0:
            return min(best, costs[at])
    return best


@njit(cache=True)
def _branch(
    gauge: Gauge,
    tree: BoxTree,
    chosen: NDArray[np.int64],
    rows: NDArray[np.int64],
    costs: NDArray[np.float64],
    need: int,
    best: float,
    effort: int,
) -> float:
    """Return the least of `best` and what ``chosen[0]`` costs with `need` of these records, or a lower bound.

    `rows` and `costs` are [need, m]; their first line holds the candidates, ascending by what each costs
    together with the chosen row, the others are room for the sets that begin with one, two, ... of them. Once
    `effort` rows have been looked at, sets not seen yet count as cheap as they could be.
    """
    count, at, left = np.zeros(need, np.int64), np.zeros(need, np.int64), np.zeros(need, np.int64)
    count[0], left[0] = rows.shape[1], need
    level, unseen = 0, best
    while level >= 0:
        begin, end = at[level], count[level]
        least = _settled(costs[level, begin:end], rows[level, begin:end], tree.weight, left[level], best)
        if least >= best or effort <= 0:
            unseen = min(unseen, least)
            level -= 1
            continue
        row = rows[level, begin]
        if tree.weight[row] >= left[level]:
            best = costs[level, begin]
            level -= 1
            continue
        at[level] += 1
        chosen[level + 1] = row
        end = begin + 1 + np.searchsorted(costs[level, begin + 1 : end], best)
        later = rows[level, begin + 1 : end]
        then = np.empty(len(later))
        _joined(gauge, tree.values, chosen[: level + 2], later, then)
        effort -= len(later)
        near = np.flatnonzero(then < best)
        order = near[np.argsort(then[near], kind="mergesort")]
        rows[level + 1, : len(order)] = later[order]
        costs[level + 1, : len(order)] = then[order]
        left[level + 1] = left[level] - tree.weight[row]
        count[level + 1], at[level + 1] = len(order), 0
        level += 1
    return min(best, unseen)


@njit(cache=True)
def _greedy(
    gauge: Gauge, tree: BoxTree, chosen: NDArray[np.int64], rows: NDArray[np.int64], need: int, limit: float
) -> float:
    """Return what a class costs that takes up the cheapest of these rows again and again, at most `limit`."""
    costs = np.empty(len(rows))
    depth, cost = 1, limit
    while need > 0:
        if len(rows) == 0:
            return limit
        _joined(gauge, tree.values, chosen[:depth], rows, costs)
        best = np.argmin(costs[: len(rows)])
        cost, chosen[depth] = costs[best], rows[best]
        need -= tree.weight[rows[best]]
        depth += 1
        rows = np.concatenate((rows[:best], rows[best + 1 :]))
    return min(cost, limit)


@njit(cache=True)
def _least(
    gauge: Gauge, tree: BoxTree, i: int, k: int, work: tuple[int, int], walk: Walk, ceiling: float
) -> float:
    """Return what the cheapest class of `k` records costs that holds row `i`, or a lower bound on it."""
    own = 0.0
    for j in range(len(tree.values)):
        own += pair_cost(gauge, j, tree.values[j, i], tree.values[j, i])
    need = k - tree.weight[i]
    if need <= 0:
        return own
    nearest, records = np.empty(need), np.empty(need, np.int64)
    patience, effort = work
    begin_walk(gauge, tree, i, walk)
    kept, noted, seen, waiting, visited = 0, 0, 0, 1, 0
    reach, count = ceiling, 0  # the need-th nearest record, and how many records were seen so near
    while waiting > 0 and walk.heap[0] < reach and visited < patience:
        seen, waiting = visit(gauge, tree, walk, seen, waiting, ceiling)
        visited += 1
        for at in range(noted, seen):
            if walk.rows[at] != i and walk.costs[at] < reach:
                weight = tree.weight[walk.rows[at]]
                count += weight
                kept = _note(nearest, records, kept, walk.costs[at], weight)
                if count >= need:
                    reach = nearest[kept - 1]
        noted = seen
    open_from = walk.heap[0] if waiting > 0 else ceiling
    if effort == 0 or open_from < reach:
        return min(reach, open_from)
    chosen = np.empty(k, np.int64)
    chosen[0] = i
    rows = _within(walk, seen, i, reach, True)[: _TRIED * k]
    best = _greedy(gauge, tree, chosen, rows, need, ceiling)
    while waiting > 0 and walk.heap[0] < best and visited < patience:
        seen, waiting = visit(gauge, tree, walk, seen, waiting, best)
        visited += 1
    best = min(best, walk.heap[0]) if waiting > 0 else best
    if best <= reach:
        return reach
    rows = _within(walk, seen, i, best, False)
    costs = np.empty(len(rows))
    _joined(gauge, tree.values, chosen[:1], rows, costs)
    order = np.argsort(costs, kind="mergesort")
    if len(order) > _CANDIDATES:  # a set with any other row costs at least what the first of those does
        best = min(best, costs[order[_CANDIDATES]])
        order = order[:_CANDIDATES]
    sets, spent = np.empty((need, len(order)), np.int64), np.empty((need, len(order)))
    sets[0], spent[0] = rows[order], costs[order]
    return max(reach, _branch(gauge, tree, chosen, sets, spent, need, best, effort))


@njit(cache=True)
def _within(walk: Walk, seen: int, i: int, limit: float, including: bool) -> NDArray[np.int64]:
    """Return the rows seen, other than `i`, that cost less than `limit`, or as much."""
    found, count = np.empty(seen, np.int64), 0
    for at in range(seen):
        near = walk.costs[at] < limit or (including and walk.costs[at] == limit)
        if near and walk.rows[at] != i:
            found[count] = walk.rows[at]
            count += 1
    return found[:count]


@njit(cache=True)
def least_costs(
    gauge: Gauge, tree: BoxTree, k: int, work: tuple[int, int], ceiling: float, span: tuple[int, int]
) -> NDArray[np.float64]:
    """Return, for these rows of the tree, what the cheapest class of `k` records with it in costs at least.

    `work` limits the boxes visited and the rows looked at while sets are compared, for each row; with nothing
    for the latter it is the cost with the (k-1)-th nearest other record. Never more than `ceiling`.
    """
    found, walk = np.empty(span[1] - span[0]), make_walk(tree, work[0])
    for i in range(span[0], span[1]):
        found[i - span[0]] = _least(gauge, tree, i, k, work, walk, ceiling)
    return found


@njit(cache=True, parallel=True)
def least_costs_parallel(
    gauge: Gauge, tree: BoxTree, k: int, work: tuple[int, int], ceiling: float
) -> NDArray[np.float64]:
    """Return what `least_costs` returns for all rows; not to be entered from several Python threads."""
    n = len(tree.weight)
    found = np.empty(n)
    for chunk in prange(CHUNKS):
        span = (chunk * n // CHUNKS, (chunk + 1) * n // CHUNKS)
        found[span[0] : span[1]] = least_costs(gauge, tree, k, work, ceiling, span)
    return found


@njit(cache=True)
def nearest_costs(gauge: Gauge, tree: BoxTree, k: int, ceiling: float) -> NDArray[np.float64]:
    """Return what each row of the tree costs with its (k-1)-th nearest other record, at most `ceiling`.

    Every row is compared with every other: up to some ten thousand rows that is faster than a search.
    """
    n = len(tree.weight)
    found, scan = np.empty(n), np.empty(n)
    for i in range(n):
        query = tree.values[:, i].copy()
        costs_to(gauge, tree.values, 0, n, query, scan)
        need = k - tree.weight[i]
        if need <= 0:
            found[i] = scan[i]
            continue
        nearest, records = np.empty(need), np.empty(need, np.int64)
        kept, count, reach = 0, 0, ceiling
        for at in range(n):
            if scan[at] < reach and at != i:
                count += tree.weight[at]
                kept = _note(nearest, records, kept, scan[at], tree.weight[at])
                if count >= need:
                    reach = nearest[kept - 1]
        found[i] = reach
    return found
