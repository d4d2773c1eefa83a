"""Greedy k-member by definition (Byun et al. 2007, figure 8), one record at a time, O(n^2)."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field

from .costs import OracleTable

UNIT = 1 << 20
UNFAIR, FORBIDDEN = 1 << 44, 1 << 52


@dataclass
class Column:
    """A column that promises speak about: the values of the records, and whether a class keeps them."""

    values: list[int]
    holds: Callable[[list[int]], bool]
    least_distinct: int = 1

    def short(self, held: Counter, share: Counter, target: int, total: int, value: int) -> int:
        """Return how many of a value a class of `target` records lacks, times the records of the table."""
        return target * share[value] - held[value] * total

    def completes(self, members: list[int], supply: list[int], target: int) -> bool:
        """Return whether a class of these values can be filled up from the supply, in one of two orders."""
        everyone = Counter(self.values)
        for balanced in (False, True):
            grown, left = list(members), Counter(supply)
            while len(grown) < target:
                held = Counter(grown)
                able = [v for v in sorted(left) if left[v] > 0]
                if len(held) < self.least_distinct:
                    able = [v for v in able if not held[v]]
                if not able:
                    break

                def rank(v: int, held: Counter = held, balanced: bool = balanced) -> tuple[int, int]:
                    lack = -held[v] if balanced else self.short(held, everyone, target, len(self.values), v)
                    return (-lack, -everyone[v])

                pick = min(able, key=rank)
                grown.append(pick)
                left[pick] -= 1
            if len(grown) == target and self.holds(grown):
                return True
        return False

    def fair(self, value: int, supply: list[int], target: int) -> bool:
        """Return whether the classes to come can spare a record with this value."""
        left, everyone = Counter(supply), Counter(self.values)
        others = len(supply) - 1
        spare = left[value] - 1
        if others == 0 or spare * len(self.values) >= everyone[value] * others:
            return True
        held = Counter({value: target * spare // others})
        while held.total() < target:
            able = [v for v in sorted(left) if v != value and left[v] > held[v]]
            if not able:
                return True
            held[min(able, key=lambda v: -(target * left[v] - others * held[v]))] += 1
        return self.holds(list(held.elements()))


@dataclass
class Steering:
    """What steers the growth beside the loss: promises, and penalties that depend on a class and a record."""

    columns: list[Column] = field(default_factory=list)
    penalties: list[Callable[[list[int], int], int]] = field(default_factory=list)
    price: int = UNIT

    def keeps(self, members: list[int]) -> bool:
        """Return whether a class of these records keeps all promises, its size apart."""
        return all(column.holds([column.values[i] for i in members]) for column in self.columns)

    def penalty(self, grown: list[int], record: int) -> int:
        """Return what a record costs beside the loss, promises apart."""
        return sum(penalty(grown, record) // (len(grown) + 1) for penalty in self.penalties)

    def forbidden(self, grown: list[int], record: int, remaining: set[int], target: int) -> int:
        """Return how many columns a class could not be completed in with a record."""
        bad = 0
        for column in self.columns:
            have = [column.values[i] for i in (*grown, record)]
            supply = [column.values[i] for i in remaining if i != record]
            bad += not column.completes(have, supply, target)
        return bad

    def unfair(self, record: int, remaining: set[int], target: int) -> int:
        """Return in how many columns the classes to come cannot spare a record."""
        supply = [[column.values[i] for i in remaining] for column in self.columns]
        return sum(
            not column.fair(column.values[record], values, target)
            for column, values in zip(self.columns, supply, strict=True)
        )


def wider(target: int) -> int:
    return target + max(1, target // 8)


def k_member(
    table: OracleTable,
    k: int,
    priority: list[int],
    from_last: bool = False,
    steering: Steering | None = None,
) -> set[frozenset[int]]:
    """Return the classes of a table; among equals the record with the least priority is taken."""
    steering = steering or Steering()
    remaining = set(range(len(table.rows)))
    if len(remaining) < 2 * k:
        return {frozenset(remaining)}
    classes: list[list[int]] = []
    left_over: set[int] = set()
    reference = priority.index(0)
    while len(remaining) >= k:
        seed = min(remaining, key=lambda i: (-table.cost([reference, i]), priority[i]))
        grown, done = _grow(table, k, priority, seed, remaining, steering)
        remaining -= set(grown)
        if done:
            classes.append(grown)
        else:
            left_over |= set(grown)
        reference = grown[-1] if from_last else seed
    if not classes:
        return {frozenset(remaining | left_over)}
    for record in sorted(remaining | left_over, key=lambda i: priority[i]):
        able = [c for c, members in enumerate(classes) if steering.keeps([*members, record])]
        able = able or range(len(classes))
        target = min(able, key=lambda c: (_increase(table, classes[c], record), c))
        classes[target].append(record)
    return {frozenset(members) for members in classes}


def _grow(
    table: OracleTable, k: int, priority: list[int], seed: int, remaining: set[int], steering: Steering
) -> tuple[list[int], bool]:
    """Return the records of a class and whether it could be completed."""
    left = remaining - {seed}
    grown = [seed]
    limit = min(_limit(k, seed, steering, len(table.rows)), len(remaining))
    target = _reachable(k, limit, grown, left, steering)
    while target is not None and len(grown) < target:
        pick = _pick(table, priority, grown, left, steering, target)
        if pick is None:
            return grown, False
        if pick < 0:
            target = _reachable(wider(target), limit, grown, left, steering)
            continue
        left.remove(pick)
        grown.append(pick)
    return grown, target is not None


def _pick(
    table: OracleTable, priority: list[int], grown: list[int], left: set[int], steering: Steering, target: int
) -> int | None:
    """Return the cheapest record; -1 where the class can be completed with none, None if too dear."""
    if not left:
        return -1
    cost = {i: table.cost([*grown, i]) + steering.penalty(grown, i) for i in left}
    free = min(cost.values())
    full = {
        i: cost[i]
        + FORBIDDEN * steering.forbidden(grown, i, left, target)
        + UNFAIR * steering.unfair(i, left, target)
        for i in left
    }
    pick = min(left, key=lambda i: (full[i], priority[i]))
    if full[pick] >= FORBIDDEN:
        return -1
    return None if (cost[pick] - free) * target > steering.price else pick


def _limit(k: int, seed: int, steering: Steering, n: int) -> int:
    """Return twice the size that a class begun by this record would need if nothing were taken."""
    limit = 2 * k
    for column in steering.columns:
        supply = list(column.values)
        supply.remove(column.values[seed])
        targets = itertools.takewhile(lambda m: m <= n, _sizes(k))
        found = [m for m in targets if column.completes([column.values[seed]], supply, m)]
        if not found:
            return 0
        limit = max(limit, 2 * found[0])
    return limit


def _sizes(k: int) -> list[int]:
    found = [k]
    while found[-1] < 10_000:
        found.append(wider(found[-1]))
    return found


def _reachable(start: int, limit: int, grown: list[int], left: set[int], steering: Steering) -> int | None:
    """Return the first size from `start` on at which the class could keep all promises."""
    target = start
    while target <= limit:
        if all(
            column.completes([column.values[i] for i in grown], [column.values[i] for i in left], target)
            for column in steering.columns
        ):
            return target
        target = wider(target)
    return None


def _increase(table: OracleTable, members: list[int], record: int) -> int:
    """Return how much the loss of a class, its size times its cost per record, grows by one record."""
    return (len(members) + 1) * table.cost([*members, record]) - len(members) * table.cost(members)


def knn(table: OracleTable, k: int, priority: list[int]) -> set[frozenset[int]]:
    """Return the classes of the first record by priority and its k - 1 nearest, again and again."""
    remaining = sorted(range(len(table.rows)), key=lambda i: priority[i])
    if len(remaining) < 2 * k:
        return {frozenset(remaining)}
    classes = []
    while len(remaining) >= k:
        first, *others = remaining
        near = sorted(others, key=lambda i: (table.cost([first, i]), priority[i]))[: k - 1]
        classes.append([first, *near])
        remaining = [i for i in others if i not in near]
    for record in remaining:
        target = min(range(len(classes)), key=lambda c: (_increase(table, classes[c], record), c))
        classes[target].append(record)
    return {frozenset(members) for members in classes}
