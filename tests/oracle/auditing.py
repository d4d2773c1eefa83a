"""What an audit reports, by its definitions: plain loops over rows."""

from __future__ import annotations

import itertools
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import Any

Rows = Sequence[dict[str, Any]]


def classes(rows: Rows, names: Sequence[str]) -> list[list[int]]:
    """Return the records that agree on `names`, group by group; null agrees with null."""
    groups: dict[tuple[Any, ...], list[int]] = defaultdict(list)
    for i, row in enumerate(rows):
        groups[tuple(row[name] for name in names)].append(i)
    return list(groups.values())


def singled_out(rows: Rows, names: Sequence[str]) -> int:
    """Return the records alone in their group."""
    return sum(len(group) == 1 for group in classes(rows, names))


def column_sets(names: Sequence[str]) -> list[tuple[str, ...]]:
    """Return every set of one to three columns."""
    return [chosen for size in (1, 2, 3) for chosen in itertools.combinations(names, size)]


def certain(rows: Rows, names: Sequence[str], sensitive: str) -> tuple[int, int]:
    """Return the records of one-valued groups: in groups of two or more, and alone."""
    shared = alone = 0
    for group in classes(rows, names):
        if len({rows[i][sensitive] for i in group}) == 1:
            if len(group) == 1:
                alone += 1
            else:
                shared += len(group)
    return shared, alone


def distinct_l(rows: Rows, names: Sequence[str], sensitive: str) -> int:
    """Return the least number of different values in a group."""
    return min(len({rows[i][sensitive] for i in group}) for group in classes(rows, names))


def _in_order(values: Sequence[Any]) -> list[Any]:
    present = sorted({value for value in values if value is not None})
    return present + ([None] if None in values else [])


def worst_t(rows: Rows, names: Sequence[str], sensitive: str, *, ordered: bool) -> float:
    """Return the greatest earth mover's distance of a group from the table."""
    values = [row[sensitive] for row in rows]
    order = _in_order(values)
    table = Counter(values)
    worst = 0.0
    for group in classes(rows, names):
        here = Counter(rows[i][sensitive] for i in group)
        difference = [here[v] / len(group) - table[v] / len(rows) for v in order]
        if ordered:
            moved = [abs(sum(difference[: j + 1])) for j in range(len(order) - 1)]
            distance = sum(moved) / (len(order) - 1) if len(order) > 1 else 0.0
        else:
            distance = sum(abs(d) for d in difference) / 2
        worst = max(worst, distance)
    return worst
