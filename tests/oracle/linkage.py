"""Disclosure of published numbers from the definitions, on plain lists of records."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import permutations

Record = Sequence[float]
EQUAL = 1e-9  # numbers this close differ by rounding only


def squared(a: Record, b: Record) -> float:
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def linked(original: Sequence[Record], published: Sequence[Record], ranks: int) -> list[float]:
    """Each record's chance to be among the nearest, equals standing in every order equally often."""
    found = []
    for i, shown in enumerate(published):
        distances = [squared(record, shown) for record in original]
        closer = [j for j, distance in enumerate(distances) if distance < distances[i]]
        equal = [j for j, distance in enumerate(distances) if distance == distances[i]]
        orders = list(permutations(equal))
        hits = sum(i in [*closer, *order][:ranks] for order in orders)
        found.append(hits / len(orders))
    return found


def inside_deviation(original: Sequence[Record], published: Sequence[Record], width: float) -> float:
    reach = []
    for column in zip(*published, strict=True):
        centre = sum(column) / len(column)
        reach.append(width * (sum((v - centre) ** 2 for v in column) / len(column)) ** 0.5 + EQUAL)
    hits = [
        all(abs(a - b) <= r for a, b, r in zip(before, after, reach, strict=True))
        for before, after in zip(original, published, strict=True)
    ]
    return sum(hits) / len(hits)


def inside_ranks(original: Sequence[Record], published: Sequence[Record]) -> float:
    """For p = 1 to 10: the original lies between published numbers at most p% of the ranks away."""
    n = len(published)
    hits = []
    for before, after in zip(zip(*original, strict=True), zip(*published, strict=True), strict=True):
        ranked = sorted(after)
        for percent in range(1, 11):
            for value, shown in zip(before, after, strict=True):
                equals = [rank for rank, other in enumerate(ranked) if other == shown]
                middle = sum(equals) / len(equals)
                near = [ranked[rank] for rank in range(n) if 100 * abs(rank - middle) <= percent * n]
                hits.append(min([shown, *near]) - EQUAL <= value <= max([shown, *near]) + EQUAL)
    return sum(hits) / len(hits)
