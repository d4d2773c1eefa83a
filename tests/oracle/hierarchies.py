"""Hierarchies by their plain definition: rows of labels, walked one node at a time."""

from __future__ import annotations

import datetime as dt
import math
from fractions import Fraction
from itertools import pairwise


class PlainTree:
    """A tree from rows ``leaf, level 1, ..., root``; a node is a (level, label).

    A node above exactly one node of the same label is that node again, so only the lowest of such a chain
    counts as a node.
    """

    def __init__(self, rows: list[list[str]]) -> None:
        self.height_of_rows = len(rows[0])
        self.parent: dict[tuple[int, str], tuple[int, str]] = {}
        self.children: dict[tuple[int, str], list[tuple[int, str]]] = {}
        self.leaves: list[tuple[int, str]] = []
        for row in rows:
            path = list(enumerate(row))
            if path[0] not in self.leaves:
                self.leaves.append(path[0])
            for child, parent in pairwise(path):
                self.parent[child] = parent
                below = self.children.setdefault(parent, [])
                if child not in below:
                    below.append(child)
        self.root = (len(rows[0]) - 1, rows[0][-1])

    def same_as_below(self, node: tuple[int, str]) -> bool:
        """Whether the node only repeats the one below it."""
        below = self.children.get(node, [])
        return len(below) == 1 and below[0][1] == node[1]

    def real(self, node: tuple[int, str]) -> tuple[int, str]:
        """Return the node itself, not one of its repetitions."""
        while self.same_as_below(node):
            node = self.children[node][0]
        return node

    def nodes(self) -> list[tuple[int, str]]:
        """Return all nodes, repetitions left out."""
        every = [*self.leaves, *self.children]
        return [node for node in every if not self.same_as_below(node)]

    def leaves_under(self, node: tuple[int, str]) -> list[str]:
        """Return the labels of the leaves under a node, depth first in the order of the rows."""
        if node not in self.children:
            return [node[1]]
        found = []
        for child in self.children[node]:
            found += self.leaves_under(child)
        return found

    def height(self, node: tuple[int, str]) -> int:
        """Return the longest way down, in edges between different nodes."""
        if node not in self.children:
            return 0
        highest = max(self.height(child) for child in self.children[node])
        return highest if self.same_as_below(node) else highest + 1

    def common_ancestor(self, labels: set[str]) -> tuple[int, str]:
        """Walk up from one of the leaves until all of them are below."""
        node = next(leaf for leaf in self.leaves if leaf[1] in labels)
        while not labels <= set(self.leaves_under(node)):
            node = self.parent[node]
        return self.real(node)


def interval(number: Fraction, width: Fraction, start: Fraction) -> tuple[Fraction, Fraction]:
    """Return the interval [low, high) of equal width that holds the number, found by walking."""
    low = start
    while number >= low + width:
        low += width
    while number < low:
        low -= width
    return low, low + width


def quantile_groups(ascending: list[float], groups: int) -> list[list[float]]:
    """Deal ascending values out: value i of n goes to group i * groups // n; empty groups are dropped."""
    dealt: list[list[float]] = [[] for _ in range(groups)]
    for i, value in enumerate(ascending):
        dealt[i * groups // len(ascending)].append(value)
    return [group for group in dealt if group]


def masked(text: str, shown: int, full: int, mask: str) -> str:
    """Return a text with only its first characters shown; one that is shorter stands as it is."""
    return text if len(text) < shown else text[:shown] + mask * (full - shown)


def calendar(day: dt.date, level: str) -> str:
    """Return the label of the day, month, ... of a date."""
    if level == "day":
        return day.isoformat()
    if level == "month":
        return day.isoformat()[:7]
    if level == "quarter":
        return f"{day.year:04d}-Q{(day.month + 2) // 3}"
    if level == "year":
        return f"{day.year:04d}"
    return f"{day.year:04d}"[:3] + "0s"


def without_repeats(path: list[str]) -> list[str]:
    """Return a path of labels with neighbours of equal label taken once."""
    return [label for i, label in enumerate(path) if i == 0 or label != path[i - 1]]


def between(
    number: Fraction, bounds: list[Fraction], repeat: bool
) -> tuple[Fraction | None, Fraction | None]:
    """Return the interval [low, high) by hand that holds a number; None for an end that is open."""
    period = bounds[-1] - bounds[0]
    shift = Fraction(0)
    while repeat and number < bounds[0] + shift:
        shift -= period
    while repeat and number >= bounds[-1] + shift:
        shift += period
    ends = [None, *(bound + shift for bound in bounds), None]
    for low, high in pairwise(ends):
        if (low is None or low <= number) and (high is None or number < high):
            return low, high
    raise AssertionError("some interval holds every number")


def lost_bits(own: list[object], other: list[object]) -> float:
    """Return what is lost about a target by telling two groups of it as one: records times bits."""

    def bits(values: list[object]) -> float:
        shares = [values.count(value) / len(values) for value in set(values)]
        return -len(values) * sum(share * math.log2(share) for share in shares)

    return bits(own + other) - bits(own) - bits(other)
