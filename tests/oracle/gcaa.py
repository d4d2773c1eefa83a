"""GCAA by definition (Ahmadi Khatir et al. 2023, Algorithms 1 to 3), cluster by cluster, all pairs anew."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

import numpy as np

UNIT = 1 << 20


@dataclass(frozen=True)
class Table:
    """Records as dictionaries from feature to mass.

    `quasi` and `sensitive` hold one dictionary a record; `group`, `weight` and `several` describe the
    features of the former. `distance` and `good` judge a list of records, `values` are the sensitive ones of
    a record, and `k` is the least size of a class.
    """

    quasi: list[dict[int, int]]
    sensitive: list[dict[int, int]]
    mass: int
    sensitive_mass: int
    group: list[int]
    weight: list[int]
    several: list[bool]
    distance: object
    good: object
    values: object
    k: int


@dataclass(frozen=True)
class Settings:
    """What the algorithm is told."""

    most: int
    diversity: float = 1.0
    guarded: bool = True
    literal: bool = False
    gamma: float = math.inf
    swap: bool = True


def phi(amount, total, weight=1.0):
    return round(weight * UNIT * amount / total * float(np.log2(amount))) if amount else 0


def lost(rows, total, a, b, weight=1.0):
    """Return n times Equation 12 in whole units: what the union of two lists of records loses."""
    one, two = (sum((Counter(rows[i]) for i in members), Counter()) for members in (a, b))
    both = one + two
    parts = sum(phi(v, total, weight) for counts in (one, two) for v in counts.values())
    parts -= sum(phi(v, total, weight) for v in both.values())
    whole = [phi(len(members) * total, total, weight) for members in (a, b)]
    return parts - sum(whole) + phi((len(a) + len(b)) * total, total, weight)


def loss(table, settings, a, b):
    """Equation 13."""
    found = lost(table.quasi, table.mass, a, b)
    if table.sensitive_mass:
        found -= lost(table.sensitive, table.sensitive_mass, a, b, settings.diversity)
    return found


def grade(table, settings, a, b):
    """How welcome a union is: None if it must not be."""
    if not settings.guarded:
        return 0
    found, low, high = table.distance(a + b), *sorted([table.distance(a), table.distance(b)])
    if settings.literal:
        return 0 if found < low else None
    return 0 if found <= low else 1 if found <= high else 2


def clusters(table, settings):
    """Algorithm 1: lists of records, each cluster at the place of its first one."""
    found = {i: [i] for i in range(len(table.quasi))}
    before = None
    while True:
        pairs = []
        for x, a in found.items():
            for y, b in found.items():
                if x < y and max(len(a), len(b)) < table.k and len(a) + len(b) <= settings.most:
                    welcome = grade(table, settings, a, b)
                    if welcome is not None:
                        pairs.append((welcome, loss(table, settings, a, b), x, y))
        if not pairs:
            break
        _, least, x, y = min(pairs)
        bits = least / (UNIT * len(table.quasi))
        if settings.literal and before is not None and bits - before > settings.gamma:
            break
        if not settings.literal:
            apart = lost(table.quasi, table.mass, found[x], found[y])
            if apart / (UNIT * (len(found[x]) + len(found[y]))) > settings.gamma:
                break
        before = bits
        found[x] = found[x] + found.pop(y)
    return list(found.values())


def changed(table, members):
    """Entries that change when the records become their centre."""
    counts = Counter(f for i in members for f in table.quasi[i])
    total = 0
    for g, weight in enumerate(table.weight):
        own = [count for f, count in counts.items() if table.group[f] == g]
        if table.several[g]:
            total += weight * sum(min(count, len(members) - count) for count in own)
        else:
            total += 2 * weight * (len(members) - max(own, default=0))
    return total


class Adjustment:
    """Algorithms 2 and 3, with the choices of the documentation."""

    def __init__(self, table, found, turn, settings):
        self.table, self.settings = table, settings
        self.classes = [sorted(members) for members in found]
        self.turn = turn
        self.waiting = []

    def run(self):
        table = self.table
        while True:
            small = [c for c, members in enumerate(self.classes) if 0 < len(members) < table.k]
            if not small:
                break
            self.dissolve(min(small, key=lambda c: (-table.distance(self.classes[c]), c)), True)
        while True:
            failing = [c for c, m in enumerate(self.classes) if len(m) >= table.k and not table.good(m)]
            if not failing:
                break
            self.settle(min(failing, key=lambda c: (-table.distance(self.classes[c]), c)))
        waiting, self.waiting = self.waiting, []
        for record in waiting:
            self.place(record, False)
        return {frozenset(members) for members in self.classes if members} | {
            frozenset([record]) for record in self.waiting
        }

    def dissolve(self, c, among_small):
        members = sorted(self.classes[c], key=lambda i: self.turn[i])
        self.classes[c] = []
        for record in members:
            self.place(record, among_small)

    def place(self, record, among_small):
        target = self.literal_class(record) if self.settings.literal else None
        if target is None:
            target = self.best_class(record)
        if target is None and among_small:
            target = self.small_class(record)
        if target is None:
            self.waiting.append(record)
        else:
            self.classes[target] = [*self.classes[target], record]

    def more(self, c, record):
        members = self.classes[c]
        return changed(self.table, [*members, record]) - changed(self.table, members)

    def literal_class(self, record):
        distance = self.table.distance
        some = [c for c, m in enumerate(self.classes) if m and distance([*m, record]) < distance(m)]
        return min(some, key=lambda c: (-distance(self.classes[c]), c), default=None)

    def best_class(self, record):
        table = self.table
        some = []
        for c, members in enumerate(self.classes):
            if len(members) < table.k:
                continue
            after = [*members, record]
            found = table.distance(after)
            if table.good(after) if table.good(members) else found <= table.distance(members):
                some.append((self.more(c, record), found, c))
        return min(some)[-1] if some else None

    def small_class(self, record):
        some = [c for c, members in enumerate(self.classes) if 0 < len(members) < self.table.k]
        return min(some, key=lambda c: (self.more(c, record), c), default=None)

    def total(self):
        return sum(changed(self.table, members) for members in self.classes)

    def settle(self, c):
        members = self.classes[c]
        target, joining, good = self.union(c)
        if target is None:
            self.waiting += sorted(members, key=lambda i: self.turn[i])
            self.classes[c] = []
            return
        before, waiting = [list(m) for m in self.classes], list(self.waiting)
        start = self.total()
        self.dissolve(c, False)
        leaving, stranded = self.total() - start, len(self.waiting) > len(waiting)
        given_away = self.classes
        if self.settings.literal and not stranded:
            return
        self.classes, self.waiting = [list(m) for m in before], waiting
        joins = stranded or (good and joining < leaving)
        if self.settings.swap and self.swap(c, joining if joins else leaving):
            return
        self.classes = before
        if joins:
            self.classes[target] = self.classes[target] + members
            self.classes[c] = []
        else:
            self.classes = given_away

    def union(self, c):
        table, own = self.table, self.classes[c]
        some = []
        for y, members in enumerate(self.classes):
            if y == c or not members:
                continue
            together = own + members
            more = changed(table, together) - changed(table, own) - changed(table, members)
            good = table.good(together)
            some.append((not good, 0.0 if good else table.distance(together), more, y))
        if not some:
            return None, 0, False
        failing, _, more, y = min(some)
        return y, more, not failing

    def swap(self, c, most):
        spent = 0
        while not self.table.good(self.classes[c]):
            best = self.best_swap(c)
            if best is None or spent + best[0] > most:
                return False
            spent += best[0]
            _, _, a, b, y = best
            self.classes[c] = [i for i in self.classes[c] if i != a] + [b]
            self.classes[y] = [i for i in self.classes[y] if i != b] + [a]
        return True

    def best_swap(self, c):
        table, own = self.table, self.classes[c]
        some = []
        for a in own:
            if not self.too_often(own, a):
                continue
            for y, members in enumerate(self.classes):
                if y == c or not members or not table.good(members):
                    continue
                for b in members:
                    mine = [i for i in own if i != a] + [b]
                    theirs = [i for i in members if i != b] + [a]
                    found = table.distance(mine)
                    if found < table.distance(own) and table.good(theirs):
                        change = changed(table, mine) + changed(table, theirs)
                        change -= changed(table, own) + changed(table, members)
                        some.append((change, found, a, b, y))
        return min(some) if some else None

    def too_often(self, own, record):
        """Whether a sensitive value of the record is more frequent in its class than in the table."""
        n = len(self.table.quasi)
        for column, value in enumerate(self.table.values(record)):
            here = sum(self.table.values(i)[column] == value for i in own)
            overall = sum(self.table.values(i)[column] == value for i in range(n))
            if here * n > overall * len(own):
                return True
        return False


def gcaa(table, settings, turn):
    """Return the classes; `turn` is the place of every record in the order in which they are moved."""
    if len(table.quasi) < 2 * table.k:
        return {frozenset(range(len(table.quasi)))}
    return Adjustment(table, clusters(table, settings), turn, settings).run()
