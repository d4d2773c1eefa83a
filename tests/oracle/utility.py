"""Utility by its definitions, record by record and value by value, in plain slow Python.

A published cell here is the list of the places it covers, each with its part, or None for null. Columns are
whole numbers or codes, so that every place is one value.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from fractions import Fraction

Cell = list[int] | None


def total_variation(before: Sequence[int | None], after: Sequence[Cell]) -> float:
    """Return half the sum of the differences between the shares of all values, null among them."""
    was, now = shares([None if v is None else [v] for v in before]), shares(after)
    return float(
        sum((abs(was.get(v, Fraction(0)) - now.get(v, Fraction(0))) for v in {*was, *now}), Fraction(0)) / 2
    )


def shares(cells: Sequence[Cell]) -> dict[int | None, Fraction]:
    """Return the share of every value; a cell counts as each of its values in equal parts."""
    found: dict[int | None, Fraction] = {}
    for cell in cells:
        for value in [None] if cell is None else cell:
            part = Fraction(1, len(cells) * (1 if cell is None else len(cell)))
            found[value] = found.get(value, Fraction(0)) + part
    return found


def earth_mover(before: Sequence[int], after: Sequence[list[int]]) -> float:
    """Return the area between the cumulative distributions, whole values one wide, over the range."""
    low, high = min(before), max(before)
    if low == high:
        return 0.0
    was, now = shares([[v] for v in before]), shares(after)
    area, gap = Fraction(0), Fraction(0)
    for value in range(low, high + 1):
        step = was.get(value, Fraction(0)) - now.get(value, Fraction(0))
        nxt = gap + step
        if gap * nxt >= 0:
            area += (abs(gap) + abs(nxt)) / 2
        else:  # the difference crosses zero inside the value
            area += (gap * gap + nxt * nxt) / (2 * (abs(gap) + abs(nxt)))
        gap = nxt
    return float(area / (high - low))


def count(query: Sequence[tuple[int, set[int]]], rows: Sequence[Sequence[Cell]]) -> float:
    """Return the expected number of records that fit, columns spread independently within a record."""
    total = Fraction(0)
    for row in rows:
        product = Fraction(1)
        for column, values in query:
            cell = row[column]
            product *= Fraction(0) if cell is None else Fraction(len(values & set(cell)), len(cell))
        total += product
    return float(total)


def cramers_v(pairs: Sequence[tuple[dict[int, Fraction], dict[int, Fraction]]]) -> float:
    """Return Cramer's V with Bergsma's correction, each record a pair of spread values."""
    table: dict[tuple[int, int], Fraction] = {}
    for first, second in pairs:
        for a, part in first.items():
            for b, other in second.items():
                table[a, b] = table.get((a, b), Fraction(0)) + part * other
    rows = sorted({a for (a, _), n in table.items() if n})
    columns = sorted({b for (_, b), n in table.items() if n})
    n = float(sum(table.values(), Fraction(0)))
    r, c = len(rows), len(columns)
    if min(r, c) < 2 or n <= 1:
        return 0.0
    phi2 = 0.0
    for a in rows:
        for b in columns:
            row = float(sum(table.get((a, y), Fraction(0)) for y in columns))
            column = float(sum(table.get((x, b), Fraction(0)) for x in rows))
            expected = row * column / n
            phi2 += (float(table.get((a, b), Fraction(0))) - expected) ** 2 / expected / n
    corrected = max(0.0, phi2 - (r - 1) * (c - 1) / (n - 1))
    least = min(r - (r - 1) ** 2 / (n - 1), c - (c - 1) ** 2 / (n - 1)) - 1
    return min(1.0, math.sqrt(corrected / least)) if least > 0 else 0.0
