"""Attacks by their definitions, person by person and record by record, on tables as lists of dicts.

The columns are those of `strategies.random_tables`: age is numeric, job a set of values, town a prefix tree
of one digit. Positions are rounded to 2^-20 of the range, logarithms to 2^-16, as the library says it does.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

Rows = Sequence[dict[str, Any]]
UNIT = 1 << 20


def position(value: float, ages: Sequence[float]) -> int:
    """Return where an age lies on the range of all ages."""
    low, high = min(ages), max(ages)
    if high == low:
        return round(UNIT * min(max(value - low, -0.99), 1))
    return round((value - low) / (high - low) * UNIT)


def distance(name: str, value: Any, cell: Any, people: Rows) -> int:
    """Return how far a value is from a published cell, in units of 2^-20."""
    if cell == "*":
        return 0
    if value is None or cell is None:
        return 0 if value is None and cell is None else UNIT
    text = str(cell)
    if name == "age":
        ages = [row["age"] for row in people if row["age"] is not None]
        ends = [float(end) for end in text.strip("[]").split(", ")]
        low, high, at = position(ends[0], ages), position(ends[-1], ages), position(value, ages)
        return min(max(low - at, at - high, 0), UNIT)
    if name == "town":
        return 0 if value.startswith(text.rstrip("*")) else UNIT
    return 0 if value in text.strip("{}").split(", ") else UNIT


def breadth(record: dict[str, Any], known: Sequence[str], people: Rows) -> int:
    """Return the logarithm of how many people the cells of a published record fit, column by column."""
    total = 0
    for name in known:
        fitting = sum(distance(name, row[name], record[name], people) == 0 for row in people)
        total += round(math.log(max(fitting, 1)) * (1 << 16))
    return total


def nearest(person: dict[str, Any], published: Rows, known: Sequence[str], people: Rows) -> list[int]:
    """Return the published records at the least distance from what is known of a person."""
    away = [sum(distance(name, person[name], record[name], people) for name in known) for record in published]
    return [i for i, d in enumerate(away) if d == min(away)]


def fits(person: dict[str, Any], published: Rows, known: Sequence[str], people: Rows) -> bool:
    """Return whether some published record fits what is known of a person."""
    return any(
        all(distance(name, person[name], record[name], people) == 0 for name in known) for record in published
    )


def likeliest(candidates: list[int], published: Rows, known: Sequence[str], people: Rows) -> list[int]:
    """Return those of the candidates whose cells fit fewest people."""
    wide = {i: breadth(published[i], known, people) for i in candidates}
    return [i for i in candidates if wide[i] == min(wide.values())]


def linkage(
    people: Rows, published: Rows, rows: Sequence[int], known: Sequence[str], *, likely: bool
) -> list[float]:
    """Return each person's chance that the record guessed is theirs."""
    found = []
    for i, person in enumerate(people):
        candidates = nearest(person, published, known, people)
        if likely:
            candidates = likeliest(candidates, published, known, people)
        own = [j for j in candidates if rows[j] == i]
        found.append(len(own) / len(candidates))
    return found


def weights(
    i: int, people: Rows, published: Rows, known: Sequence[str], secret: str, leave_out: Sequence[int] = ()
) -> dict[Any, float]:
    """Return the weight of each secret value among a person's candidates, some records left out."""
    candidates = nearest(people[i], published, known, people)
    wide = {j: breadth(published[j], known, people) for j in candidates}
    found: dict[Any, float] = {}
    for j in candidates:
        if j not in leave_out:
            value = published[j][secret]
            found[value] = found.get(value, 0.0) + math.exp((min(wide.values()) - wide[j]) / (1 << 16))
    return found


def best_guess(weight: dict[Any, float], truth: Any) -> float:
    """Return the chance that a value of greatest weight is the true one."""
    if not weight:
        return 0.0
    near = [value for value, w in weight.items() if w >= max(weight.values()) * (1 - 1e-9)]
    return (truth in near) / len(near)


def homogeneity(weight: dict[Any, float], truth: Any) -> float:
    """Return whether only one value is left and it is the true one."""
    return float(len(weight) == 1 and truth in weight)


def background(weight: dict[Any, float], truth: Any, b: int) -> float:
    """Return the chance to be named once the b heaviest wrong values are ruled out; chance breaks ties."""
    if truth not in weight:
        return 0.0
    own = weight[truth]
    above = sum(w > own * (1 + 1e-9) for w in weight.values())
    equal = sum(abs(w - own) <= 1e-9 * own for w in weight.values())
    return min(max((b + 1 - above) / equal, 0.0), 1.0)


def skewness(
    weight: dict[Any, float], truth: Any, shares: dict[Any, float], times: float
) -> tuple[float, float]:
    """Return (the chance to be named, the chance that anyone is by the same claim)."""
    total = sum(weight.values())
    rise = {value: w / total / shares[value] for value, w in weight.items()}
    if not rise or max(rise.values()) < times * (1 - 1e-9):
        return 0.0, 0.0
    near = [value for value, r in rise.items() if r >= max(rise.values()) * (1 - 1e-9)]
    return (truth in near) / len(near), sum(shares[value] for value in near) / len(near)


def shares(published: Rows, secret: str) -> dict[Any, float]:
    """Return the share of each secret value in the published table."""
    counts = Counter(record[secret] for record in published)
    return {value: count / len(published) for value, count in counts.items()}


def singled_out(record: dict[str, Any], people: Rows, names: Sequence[str], secret: str) -> bool:
    """Return whether exactly one person fits all cells of a record, its secret value included."""
    fitting = [
        person
        for person in people
        if person[secret] == record[secret]
        and all(distance(name, person[name], record[name], people) == 0 for name in names)
    ]
    return len(fitting) == 1


def linkability(people: Rows, published: Rows, first: Sequence[str], second: Sequence[str]) -> list[float]:
    """Return each person's chance to be joined with themselves through a shared nearest record."""
    one = [set(nearest(person, published, first, people)) for person in people]
    two = [set(nearest(person, published, second, people)) for person in people]
    found = []
    for i in range(len(people)):
        partners = [j for j in range(len(people)) if one[i] & two[j]]
        found.append((i in partners) / max(len(partners), 1))
    return found
