"""The privacy models in plain Python, straight from their definitions, with exact fractions.

A class is a list of sensitive values, a table a list of classes; None is a value like any other. Parameters
are fractions.
"""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

NEVER = math.inf


def shares(values):
    """Share of each value in a list."""
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def whole(classes):
    return [value for members in classes for value in members]


def distinct_l(members):
    return len(set(members))


def entropy_holds(members, l):  # noqa: E741
    """H >= ln l for a fraction l = a/b, exactly: n^n b^n >= a^n * prod c^c."""
    n = len(members)
    counts = Counter(members).values()
    return (n * l.denominator) ** n >= l.numerator**n * math.prod(c**c for c in counts)


def entropy_l(members):
    return math.exp(-sum(float(q) * math.log(q) for q in shares(members).values()))


def recursive_c(members, l):  # noqa: E741
    """Least c that is not enough: r_1 < c (r_l + ... + r_m) is needed."""
    counts = sorted(Counter(members).values(), reverse=True)
    tail = sum(counts[l - 1 :])
    return Fraction(counts[0], tail) if tail else NEVER


def emd_equal(members, table):
    p, q = shares(table), shares(members)
    return sum(abs(q.get(v, Fraction(0)) - p[v]) for v in p) / 2


def emd_ordered(members, table, order):
    """Ranks over the values of the table in their order."""
    p, q = shares(table), shares(members)
    values = [value for value in order if value in p]
    if len(values) < 2:
        return Fraction(0)
    total = Fraction(0)
    for i in range(len(values) - 1):
        total += abs(sum(q.get(v, Fraction(0)) - p[v] for v in values[: i + 1]))
    return total / (len(values) - 1)


def height(tree):
    return 0 if not isinstance(tree, dict) else 1 + max(height(child) for child in tree.values())


def emd_tree(members, table, tree):
    """Li et al.: bottom up, the mass that meets at a node costs height(node) / height(tree)."""
    p, q = shares(table), shares(members)

    def walk(name, node):
        """Return (extra of the node, cost under it)."""
        if not isinstance(node, dict):
            return q.get(name, Fraction(0)) - p.get(name, Fraction(0)), Fraction(0)
        children = [walk(label, child) for label, child in node.items()]
        positive = sum(extra for extra, _ in children if extra > 0)
        negative = -sum(extra for extra, _ in children if extra < 0)
        met = Fraction(height(node), height(tree)) * min(positive, negative)
        return sum(extra for extra, _ in children), met + sum(cost for _, cost in children)

    return walk(None, tree)[1]


def emd_transport(members, table, distance):
    """Earth mover's distance by linear programming's dual-free brute force: successive shortest paths."""
    p, q = shares(table), shares(members)
    supply = {v: q.get(v, Fraction(0)) - p[v] for v in p}
    flow, values = {}, list(p)
    while any(extra > 0 for extra in supply.values()):
        # Bellman-Ford over the residual graph, from all values with too much to any with too little.
        cost = {v: (Fraction(0) if supply[v] > 0 else None) for v in values}
        before = dict.fromkeys(values)
        for _ in values:
            for a in values:
                for b in values:
                    if a == b or cost[a] is None:
                        continue
                    back = flow.get((b, a), Fraction(0)) > 0
                    step = -distance(b, a) if back else distance(a, b)
                    if cost[b] is None or cost[a] + step < cost[b]:
                        cost[b], before[b] = cost[a] + step, a
        end = min((v for v in values if supply[v] < 0), key=lambda v: cost[v])
        path, at = [end], end
        while before[at] is not None:
            at = before[at]
            path.append(at)
        path.reverse()
        amount = min(supply[path[0]], -supply[end])
        for a, b in pairwise(path):
            if flow.get((b, a), Fraction(0)) > 0:
                amount = min(amount, flow[b, a])
        for a, b in pairwise(path):
            if flow.get((b, a), Fraction(0)) > 0:
                flow[b, a] -= amount
            else:
                flow[a, b] = flow.get((a, b), Fraction(0)) + amount
        supply[path[0]] -= amount
        supply[end] += amount
    return sum(distance(a, b) * amount for (a, b), amount in flow.items())


def largest_share(members, limited=None):
    return max(
        (q for v, q in shares(members).items() if limited is None or v in limited), default=Fraction(0)
    )


def beta_gain(members, table):
    p = shares(table)
    return max([Fraction(0)] + [(q - p[v]) / p[v] for v, q in shares(members).items() if q > p[v]])


def enhanced_holds(members, table, beta):
    p = shares(table)
    for value, q in shares(members).items():
        if q > p[value] and (q - p[value]) / p[value] > min(beta, -math.log(p[value])):
            return False
    return True


def delta(members, table, absent):
    p, q = shares(table), shares(members)
    if absent == "fail" and len(q) < len(p):
        return NEVER
    return max(abs(math.log(q[v] / p[v])) for v in q)


def cell_holds(cell, value):
    """Whether a published cell, made by `cell`, holds a population value."""
    kind, content = cell
    if kind == "all":
        return True
    if kind == "null" or value is None:
        return kind == "null" and value is None
    if kind == "interval":
        return content[0] <= value <= content[1]
    return value in content


def cell(values, kind, leaves_under=None):
    """Published cell of a class: null, everything, interval, set, or the leaves under the common ancestor."""
    known = {value for value in values if value is not None}
    if not known:
        return "null", None
    if len(known) < len(set(values)):
        return "all", None
    if kind == "interval":
        return "interval", (min(known), max(known))
    return "set", leaves_under(known) if leaves_under else known


def leaves_under_ancestor(tree, known):
    """Leaves under the lowest node of a nested dict that holds all of `known`."""

    def leaves(name, node):
        if not isinstance(node, dict):
            return {name}
        return set().union(*(leaves(label, child) for label, child in node.items()))

    node, name = tree, None
    while True:
        if not isinstance(node, dict):
            return {name}
        inside = [(label, child) for label, child in node.items() if known <= leaves(label, child)]
        if not inside:
            return leaves(name, node)
        name, node = inside[0]


def population_count(cells, population):
    return sum(all(cell_holds(c, v) for c, v in zip(cells, row, strict=True)) for row in population)
