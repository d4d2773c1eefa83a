"""Full-domain generalization by its plain definition: every combination of levels, one after another.

A ladder is one column's levels, the values themselves first: a dict from each value (None among them where it
occurs) to (what is published, loss).
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

UNIT = 2**20
STAR = "*"

Ladder = list[dict[Any, tuple[Hashable, float]]]
Fails = Callable[[list[int], list[int]], bool]  # (records of a class, all records that are left)


def ladder(values: Sequence[Any], levels: Sequence[Callable[[Any], Hashable]]) -> Ladder:
    """Return the ladder with these functions from a value to its node; the root is added.

    The loss is (values under the node - 1) / (all values - 1). Null stands for itself below the root.
    """
    known = {value for value in values if value is not None}
    null = {None: (None, 0.0)} if None in values else {}
    if not known:
        return [null]
    found: Ladder = []
    for node in [lambda value: value, *levels]:
        under = {v: sum(node(w) == node(v) for w in known) for v in known}
        found.append({v: (node(v), (under[v] - 1) / max(len(known) - 1, 1)) for v in known} | null)
    root = 1.0 if len(known) > 1 or null else 0.0
    return [*found, dict.fromkeys([*known, *null], (STAR, root))]


def flat_ladder(values: Sequence[Any]) -> Ladder:
    """Return the ladder of a column without hierarchy: its values, and ``*``."""
    return [{v: (v, 0.0) for v in values}, dict.fromkeys(values, (STAR, 1.0))]


@dataclass(frozen=True)
class Outcome:
    """A node that keeps the policy."""

    node: tuple[int, ...]
    suppressed: frozenset[int]
    told: int


def outcomes(
    columns: Sequence[Sequence[Any]],
    ladders: Sequence[Ladder],
    weights: Sequence[float],
    fails: Fails,
    limit: int,
) -> Iterator[Outcome]:
    """Yield every node that keeps the policy; classes are suppressed until none fails on what is left."""
    n = len(columns[0])
    for node in product(*(range(len(ladder)) for ladder in ladders)):
        steps = [ladder[level] for ladder, level in zip(ladders, node, strict=True)]
        cells = [
            tuple(step[column[i]][0] for step, column in zip(steps, columns, strict=True)) for i in range(n)
        ]
        left = list(range(n))
        while True:
            classes: dict[Any, list[int]] = {}
            for i in left:
                classes.setdefault(cells[i], []).append(i)
            fallen = {i for members in classes.values() if fails(members, left) for i in members}
            left = [i for i in left if i not in fallen]
            if not fallen or n - len(left) > limit:
                break
        if left and n - len(left) <= limit:
            told = sum(
                round((1 - step[column[i]][1]) * UNIT * weight)
                for i in left
                for step, column, weight in zip(steps, columns, weights, strict=True)
            )
            yield Outcome(node, frozenset(range(n)) - set(left), told)


def best(found: Sequence[Outcome]) -> list[Outcome]:
    """Return the outcomes, those that tell most first, then by their levels."""
    return sorted(found, key=lambda outcome: (-outcome.told, outcome.node))


def datafly(
    columns: Sequence[Sequence[Any]], ladders: Sequence[Ladder], possible: set[tuple[int, ...]]
) -> Any:
    """Climb with the column of most values until the node is possible; None at the very top."""
    node = [0] * len(columns)
    while tuple(node) not in possible:
        open_ones = [j for j, ladder in enumerate(ladders) if node[j] < len(ladder) - 1]
        if not open_ones:
            return None
        values = {j: len({ladders[j][node[j]][v][0] for v in columns[j]}) for j in open_ones}
        node[max(open_ones, key=lambda j: (values[j], -j))] += 1
    return tuple(node)


def local(
    columns: Sequence[Sequence[Any]], ladders: Sequence[Ladder], weights: Sequence[float], fails: Fails
) -> list[set[int]]:
    """Return the classes of local recoding: nodes from the one that tells most; last, who found no class."""
    n = len(columns[0])
    everyone = list(range(n))

    def cell(node: tuple[int, ...], i: int) -> Any:
        return tuple(
            ladder[level][column[i]] for ladder, level, column in zip(ladders, node, columns, strict=True)
        )

    def told(node: tuple[int, ...]) -> int:
        return sum(
            round((1 - loss) * UNIT * weight)
            for i in everyone
            for (_, loss), weight in zip(cell(node, i), weights, strict=True)
        )

    nodes = product(*(range(len(ladder)) for ladder in ladders))
    left, found = everyone, []
    for node in sorted(nodes, key=lambda node: (-told(node), node)):
        classes: dict[Any, list[int]] = {}
        for i in left:
            classes.setdefault(tuple(label for label, _ in cell(node, i)), []).append(i)
        made = [members for members in classes.values() if not fails(members, everyone)]
        found += [set(members) for members in made]
        left = [i for i in left if not any(i in members for members in made)]
    return [*found, set(left)] if left else found
