"""The least loss there is, by trying every partition, and what every record loses at least."""

from __future__ import annotations

from itertools import combinations

from .metrics import Column, cell_loss

CATEGORIES = {"gcp": "set", "lm": "flat", "il-normalised": "height"}


def class_loss(columns: list[Column], members: list[int], loss: str) -> float:
    """What one record of a class loses, all columns together."""
    return sum(cell_loss(column, members, CATEGORIES[loss]) for column in columns)


def least_class(columns: list[Column], record: int, k: int, loss: str) -> float:
    """What a record loses at least in a class of k records; everything where there are not as many."""
    others = [other for other in range(len(columns[0].values)) if other != record]
    classes = ([record, *chosen] for chosen in combinations(others, k - 1))
    return min((class_loss(columns, members, loss) for members in classes), default=float(len(columns)))


def least_loss(columns: list[Column], k: int, loss: str, suppressed: int = 0) -> float:
    """The mean loss of the best partition into classes of k that suppresses no more records than that.

    The lowest record that is left is suppressed, or joins a class with any of the others that are left.
    """
    n = len(columns[0].values)
    cost: dict[int, float] = {}
    for members in range(1 << n):
        if members.bit_count() >= k:
            listed = [i for i in range(n) if members >> i & 1]
            cost[members] = len(listed) * class_loss(columns, listed, loss)
    best = {(0, z): 0.0 for z in range(suppressed + 1)}
    for left in range(1, 1 << n):
        lowest = left & -left
        rest = left ^ lowest
        for z in range(suppressed + 1):
            found = best[rest, z - 1] + len(columns) if z else float("inf")
            others = rest
            while True:
                members = others | lowest
                if members in cost:
                    found = min(found, cost[members] + best[left ^ members, z])
                if not others:
                    break
                others = (others - 1) & rest
            best[left, z] = found
    return best[(1 << n) - 1, suppressed] / (n * len(columns))
