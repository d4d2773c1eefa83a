"""The privacy models as their papers define them, on a published table as a list of records: slow and plain.

A record is a tuple (quasi-identifier cells, sensitive value). None is a value like any other. A number stands
for the decimal fraction it is written as: 0.3 is three tenths.
"""

from __future__ import annotations

import math
from collections import Counter, defaultdict
from collections.abc import Callable, Hashable, Iterable, Sequence
from fractions import Fraction
from typing import Any

Record = tuple[Hashable, Any]
Groups = dict[Hashable, list[Any]]


def exact(number: float) -> Fraction:
    """Return the number as it is written."""
    return Fraction(repr(float(number)))


def groups_of(records: Iterable[Record]) -> Groups:
    """Return the sensitive values of all records that share their cells."""
    found: Groups = defaultdict(list)
    for cells, value in records:
        found[cells].append(value)
    return dict(found)


def shares(values: Sequence[Any]) -> dict[Any, Fraction]:
    """Return the share of every value."""
    return {value: Fraction(count, len(values)) for value, count in Counter(values).items()}


def table_of(groups: Groups) -> list[Any]:
    """Return all sensitive values together."""
    return [value for members in groups.values() for value in members]


def k_anonymity(groups: Groups, k: int) -> bool:
    return all(len(members) >= k for members in groups.values())


def distinct_l(groups: Groups, l: float) -> bool:  # noqa: E741
    return all(len(set(members)) >= l for members in groups.values())


def entropy_l(groups: Groups, l: float) -> bool:  # noqa: E741
    """Shannon entropy >= ln(l), compared as n^n >= l^n * prod(c^c)."""
    for members in groups.values():
        n, bound = len(members), exact(l)
        if Fraction(n**n) < bound**n * math.prod(c**c for c in Counter(members).values()):
            return False
    return True


def recursive_l(groups: Groups, l: int, c: float) -> bool:  # noqa: E741
    for members in groups.values():
        counts = sorted(Counter(members).values(), reverse=True)
        if not counts[0] < exact(c) * sum(counts[l - 1 :]):
            return False
    return True


def distance_equal(own: dict[Any, Fraction], table: dict[Any, Fraction]) -> Fraction:
    return sum((abs(own.get(v, Fraction(0)) - p) for v, p in table.items()), Fraction(0)) / 2


def distance_ordered(
    own: dict[Any, Fraction], table: dict[Any, Fraction], order: Callable[[Any], Any]
) -> Fraction:
    """Return the distance when values lie as far apart as their ranks; None ranks last."""
    ranked = sorted(table, key=lambda value: (value is None, None if value is None else order(value)))
    below, moved = Fraction(0), Fraction(0)
    for value in ranked[:-1]:
        below += own.get(value, Fraction(0)) - table[value]
        moved += abs(below)
    return moved / max(len(ranked) - 1, 1)


def distance_tree(own: dict[Any, Fraction], table: dict[Any, Fraction], tree: Any) -> Fraction:
    """Return the distance in a nested dict: mass meets at the lowest node, at the price of its height."""

    def height(node: Any) -> int:
        return 0 if not node else 1 + max(height(child) for child in node.values())

    def walk(name: Any, node: Any) -> tuple[Fraction, Fraction]:
        if not node:
            return own.get(name, Fraction(0)) - table.get(name, Fraction(0)), Fraction(0)
        below = [walk(child, inner) for child, inner in node.items()]
        surplus = sum((max(extra, Fraction(0)) for extra, _ in below), Fraction(0))
        lack = sum((max(-extra, Fraction(0)) for extra, _ in below), Fraction(0))
        return surplus - lack, sum((cost for _, cost in below), height(node) * min(surplus, lack))

    return walk(None, tree)[1] / height(tree)


def t_closeness(groups: Groups, t: float, distance: Callable[..., Fraction], *extra: Any) -> bool:
    table = shares(table_of(groups))
    return all(distance(shares(members), table, *extra) <= exact(t) for members in groups.values())


def p_sensitive(groups: Groups, p: int, k: int) -> bool:
    return k_anonymity(groups, k) and distinct_l(groups, p)


def alpha_k(groups: Groups, alpha: float, k: int, listed: Sequence[str] = ()) -> bool:
    for members in groups.values():
        for value, share in shares(members).items():
            if (not listed or value in listed) and share > exact(alpha):
                return False
    return k_anonymity(groups, k)


def beta_likeness(groups: Groups, beta: float, *, enhanced: bool = False) -> bool:
    table = shares(table_of(groups))
    for members in groups.values():
        for value, q in shares(members).items():
            gain = (q - table[value]) / table[value]
            if gain > exact(beta) or (enhanced and gain > 0 and float(gain) > -math.log(table[value])):
                return False
    return True


def delta_disclosure(groups: Groups, delta: float, *, absent: str = "fail") -> bool:
    table = shares(table_of(groups))
    for members in groups.values():
        own = shares(members)
        if absent == "fail" and set(own) != set(table):
            return False
        if any(not abs(math.log(q / table[value])) < delta for value, q in own.items()):
            return False
    return True
