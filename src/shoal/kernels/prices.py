"""Prices of records: the dual of covering a table by classes, raised row by row as far as every class allows.

A class S of k to 2k - 1 records may charge its records together no more than it loses: the sum of their
prices is at most size(S) times the cost of S. Then the sum of all prices bounds every partition. Prices start
at what the cheapest class of each record costs. A record far from others can raise its own to nearly k times
that, since whoever shares a class with it pays as well.
"""

from __future__ import annotations

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .box_tree import BoxTree
from .gauge import Gauge, costs_to, pair_cost
from .space import LINE

PARTED = 6  # columns by which classes are told apart: all of its records agree in one, or not
_SLACK = 1e-12


@njit(cache=True)
def _parted(gauge: Gauge) -> NDArray[np.int64]:
    """Return the first few columns of values that are not numbers."""
    found, count = np.empty(PARTED, np.int64), 0
    for j in range(len(gauge.kind)):
        if gauge.kind[j] != LINE and count < PARTED:
            found[count] = j
            count += 1
    return found[:count]


@njit(cache=True)
def _steps(gauge: Gauge, query: NDArray[np.float64], columns: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return [columns, 2]: what each costs a class with this row if all agree, and at least if they do not.

    The nearest code of another value is the one before or after.
    """
    found = np.zeros((len(columns), 2))
    for at in range(len(columns)):
        j = columns[at]
        value = query[j]
        found[at, 0] = pair_cost(gauge, j, value, value)
        least = 1.0  # with null
        if value != gauge.null[j]:
            if value > 0:
                least = min(least, pair_cost(gauge, j, value, value - 1.0))
            if value + 1.0 < gauge.size[j]:
                least = min(least, pair_cost(gauge, j, value, value + 1.0))
        found[at, 1] = least
    return found


@njit(cache=True)
def _insert(top: NDArray[np.float64], kept: int, price: float, records: int) -> int:
    """Put the price of some records into the descending list of the highest; return its length."""
    for _ in range(min(records, len(top))):
        if kept < len(top):
            at = kept
            kept += 1
        elif top[kept - 1] < price:
            at = kept - 1
        else:
            return kept
        while at > 0 and top[at - 1] < price:
            top[at] = top[at - 1]
            at -= 1
        top[at] = price
    return kept


@njit(cache=True)
def _allowed(top: NDArray[np.float64], kept: int, own: int, k: int, cost: float, limit: float) -> float:
    """Return the most that each of up to `own` like records may be priced at beside these, at most `limit`.

    The class has k to 2k - 1 records and costs `cost`; the others in it are the dearest there are.
    """
    for like in range(1, min(own, 2 * k - 1) + 1):
        others = 0.0
        for at in range(min(kept, 2 * k - 1 - like) + 1):
            if like + at >= k:
                limit = min(limit, ((like + at) * cost - others) / like)
            if at < kept:
                others += top[at]
    return limit


@njit(cache=True)
def _price(
    gauge: Gauge,
    tree: BoxTree,
    i: int,
    k: int,
    least: NDArray[np.float64],
    prices: NDArray[np.float64],
    scan: NDArray[np.float64],
    limit: float,
) -> float:
    """Return the most that row `i` may be priced at, looking at classes that cost less than `limit`."""
    query = tree.values[:, i].copy()
    costs_to(gauge, tree.values, 0, len(scan), query, scan)
    rows = np.flatnonzero(scan < limit)
    columns = _parted(gauge)
    steps = _steps(gauge, query, columns)
    costs, agree = scan[rows], np.zeros(len(rows), np.int64)
    for c in range(len(columns)):
        values, value = tree.values[columns[c]], query[columns[c]]
        for at in range(len(rows)):
            same = values[rows[at]] == value
            agree[at] |= same << c
            costs[at] -= steps[c, 0] if same else steps[c, 1]
    order = np.argsort(costs, kind="mergesort")
    rows, costs, agree = rows[order], costs[order], agree[order]
    seen = len(rows)
    top = np.empty(2 * k - 2)
    for mask in range(1 << len(columns)):
        base = 0.0
        for c in range(len(columns)):
            base += steps[c, 0] if mask >> c & 1 else steps[c, 1]
        cost, kept, at = max(least[i], base), 0, 0
        while cost < limit:
            before, changed = kept, tree.weight[i] >= k
            while at < seen and base + costs[at] <= cost + _SLACK:
                row = rows[at]
                if row != i and agree[at] & mask == mask:
                    changed = changed or kept < len(top) or top[kept - 1] < prices[row]
                    kept = _insert(top, kept, prices[row], tree.weight[row])
                at += 1
            if changed or kept > before:
                limit = _allowed(top, kept, tree.weight[i], k, cost, limit)
            while at < seen and agree[at] & mask != mask:
                at += 1
            if at >= seen:
                break
            cost = max(cost, base + costs[at])
    return limit


@njit(cache=True)
def raise_prices(
    gauge: Gauge, tree: BoxTree, k: int, least: NDArray[np.float64], limit: float
) -> NDArray[np.float64]:
    """Return a price for each row of the tree, not below `least`, what its cheapest class costs at least.

    No price is raised above `limit`. So classes that cost `limit` or more need not be looked at: no price in
    them exceeds what they cost.
    """
    prices = least.copy()
    scan = np.empty(len(least))
    for i in np.argsort(least, kind="mergesort"):
        if least[i] < limit:
            prices[i] = max(prices[i], _price(gauge, tree, i, k, least, prices, scan, limit))
    return prices


@njit(cache=True)
def price_limit(gauge: Gauge, tree: BoxTree, visits: int, ceiling: float) -> float:
    """Return the cost within which the rows have about `visits` pairs of neighbours together."""
    n = len(tree.weight)
    looked = min(n, 64)
    found = np.empty((looked, n))
    for at in range(looked):
        costs_to(gauge, tree.values, 0, n, tree.values[:, at * n // looked].copy(), found[at])
    ascending = np.sort(found.ravel())
    wanted = visits * looked // n
    return ceiling if wanted >= len(ascending) else min(ascending[wanted], ceiling)
