"""RAYDEN, CANON and Mondrian with COF by definition: trees of balls and outlier factors over lists of points.

A point is a record's place in the order that decides ties: of equally near points the first wins. What is
random comes from outside: ``draw(begin, end, turn, below)`` is the number drawn for a node that begins and
ends at these places.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .costs import OracleColumn, OracleTable
from .mondrian import mondrian

Part = list[int]
Admissible = Callable[[Part], bool]
SAMPLE = 1024  # points that stand for a larger node while vantage points are compared


def as_points(table: OracleTable, order: list[int]) -> OracleTable:
    """Return the records in this order, costs scaled so that the dearest column costs 2^20 or less."""
    largest = max(1, *(column.full for column in table.columns))
    unit = min(1 << 20, (1 << 30) // len(table.columns))

    def scaled(cost: int) -> int:
        return cost * unit // largest

    columns = [
        OracleColumn(
            column.size,
            scaled(column.full),
            column.positions and [scaled(place) for place in column.positions],
            column.levels,
            column.node_costs and [[scaled(cost) for cost in level] for level in column.node_costs],
        )
        for column in table.columns
    ]
    return OracleTable(columns, [table.rows[i] for i in order])


@dataclass(frozen=True)
class Distance:
    """Gower's distance, times what all columns count together; or Euclidean over those that are lines."""

    points: OracleTable
    by_tree: bool = False
    euclidean: bool = False

    @property
    def most(self) -> int:
        """Distance of two points that share no column."""
        if self.euclidean:
            return math.isqrt(sum(c.full**2 for c in self.points.columns if c.positions is not None))
        return sum(c.full for c in self.points.columns)

    def __call__(self, a: int, b: int) -> int:
        total, shared, whole = 0, 0, 0
        for j, column in enumerate(self.points.columns):
            if self.euclidean and column.positions is None:
                continue
            counts = 1 if self.euclidean else column.full
            whole += counts
            pair = self.points.codes([a, b], j)
            if None not in pair:
                shared += counts
                total += self._column(column, *pair) ** (2 if self.euclidean else 1)
        if shared == 0:
            return self.most
        mean = total * whole // shared
        return math.isqrt(mean) if self.euclidean else mean

    def _column(self, column: OracleColumn, a: int, b: int) -> int:
        if column.positions is not None:
            return abs(column.positions[a] - column.positions[b])
        if a == b:
            return 0
        if self.by_tree and column.levels is not None:
            return column.node_costs[column.common_level({a, b})][a]
        return column.full


@dataclass(frozen=True)
class Tree:
    """How nodes are cut; `plain` says that nothing but the number of records matters."""

    apart: Distance
    admissible: Admissible
    plain: bool
    k: int
    vantage: str
    radius: str
    candidates: int
    draw: Callable[[int, int, int, int], int]

    def grown(self, parts: list[Part], stop: int) -> list[Part]:
        """Return the parts, each cut until its pieces have fewer than `stop` points or cannot be cut."""
        found, begin = [], 0
        for part in parts:
            found += self._leaves(part, begin, max(stop, 2 * self.k))
            begin += len(part)
        return [sorted(part) for part in found]

    def merged(self, parts: list[Part]) -> list[Part]:
        """Return the parts after each under k has joined the part with the point nearest to one of its."""
        parts = list(parts)
        for small in [p for p in range(len(parts)) if len(parts[p]) < self.k]:
            own = parts[small]
            others = [(q, i) for q in range(len(parts)) if q != small for i in parts[q]]
            if len(own) < self.k and others:
                home = min(others, key=lambda other: (min(self.apart(i, other[1]) for i in own), other[1]))[0]
                parts[home], parts[small] = sorted(parts[home] + own), []
        return [part for part in parts if part]

    def _leaves(self, node: Part, begin: int, stop: int) -> list[Part]:
        cut, ranked = self._split(node, begin) if len(node) >= stop else (0, node)
        if cut == 0:
            return [node]
        return self._leaves(ranked[:cut], begin, stop) + self._leaves(ranked[cut:], begin + cut, stop)

    def _split(self, node: Part, begin: int) -> tuple[int, Part]:
        end = begin + len(node)
        sample = self._sample(node, begin)
        tried = []
        for turn in range(self.candidates if self.vantage in ("spread", "tightest") else 1):
            at = self._vantage_point(sample, turn, self.draw(begin, end, turn, len(sample)))
            score, guess = self._score(at, sample, len(node))
            tried.append((score, turn, at, guess))
        for score, _, at, guess in sorted(tried):
            ranked = self._ranked(at, node)
            cut = self._settled(at, ranked, guess) if score < math.inf else 0
            if cut:
                return cut, ranked
        return 0, node

    def _sample(self, node: Part, begin: int) -> Part:
        m = len(node)
        if m <= SAMPLE:
            return node
        drawn = [self.draw(begin, begin + m, -1 - i, m // SAMPLE) for i in range(SAMPLE)]
        return [node[i * m // SAMPLE + drawn[i]] for i in range(SAMPLE)]

    def _vantage_point(self, sample: Part, turn: int, choice: int) -> int:
        if self.vantage == "farthest" or (self.vantage == "tightest" and turn % 2 == 1):
            return min(sample, key=lambda i: (-self.apart(sample[choice], i), i))
        return sample[choice]

    def _ranked(self, at: int, points: Part) -> Part:
        return sorted(points, key=lambda i: (self.apart(at, i), i))

    def _score(self, at: int, sample: Part, size: int) -> tuple[float, int]:
        """Return (what a vantage point is judged by, the ball it suggests); the least is the best."""
        if self.vantage in ("random", "farthest"):
            return 0, 0
        ranked = self._ranked(at, sample)
        if self.vantage == "spread":
            coarse = max(0, self.apart.most.bit_length() - 20)
            away = [self.apart(at, i) >> coarse for i in ranked]
            return sum(away) ** 2 - len(away) * sum(x * x for x in away), 0
        if len(sample) == size:
            return self._cheapest(ranked, self._cuts(at, ranked))
        half, eighth = len(ranked) // 2, len(ranked) // 8
        if self.radius != "cheapest":
            return self._cost(ranked[:half]) + self._cost(ranked[half:]), 0
        best, cut = min(
            (self._cost(ranked[:cut]) + self._cost(ranked[cut:]), cut)
            for cut in range(eighth, len(ranked) - eighth + 1)
        )
        near = (cut * size // len(ranked) + self.k // 2) // self.k * self.k
        return best, min(max(near, self.k), size - self.k)

    def _settled(self, at: int, ranked: Part, guess: int) -> int:
        """Return the size of the ball: as suggested where that is allowed."""
        suggested = self._cheapest(ranked, [guess])[1] if guess else 0
        return suggested or self._cheapest(ranked, self._cuts(at, ranked))[1]

    def _cuts(self, at: int, ranked: Part) -> list[int]:
        """Return the sizes a ball may have."""
        m, k = len(ranked), self.k
        if self.radius == "cheapest":
            return list(range(k, m - k + 1, k))
        if self.radius == "half":
            return [(m + 1) // 2]
        if self.radius == "multiple":
            return [(m + k) // (2 * k) * k]
        away = [self.apart(at, i) for i in ranked]
        cut = sum(x <= away[(m + 1) // 2 - 1] for x in away)
        return [cut] if cut < m else []

    def _cheapest(self, ranked: Part, cuts: list[int]) -> tuple[float, int]:
        allowed = [
            cut
            for cut in cuts
            if self.plain or (self.admissible(ranked[:cut]) and self.admissible(ranked[cut:]))
        ]
        found = [(self._cost(ranked[:cut]) + self._cost(ranked[cut:]), cut) for cut in allowed]
        return min(found, default=(math.inf, 0))

    def _cost(self, points: Part) -> int:
        return len(points) * self.apart.points.cost(points)


def factors(apart: Distance, part: Part, neighbours: int, chain: str) -> list[float]:
    """Return the connectivity-based outlier factor of each point of a part (Tang et al. 2002)."""
    k = min(neighbours, len(part) - 1)
    if k == 0:
        return [1.0] * len(part)
    near = {a: sorted(set(part) - {a}, key=lambda b, a=a: (apart(a, b), b))[:k] for a in part}
    lengths = {
        a: sum((k - i) * edge for i, edge in enumerate(_edges(apart, a, near[a], chain))) for a in part
    }
    found = []
    for a in part:
        around = sum(lengths[b] for b in near[a])
        if around == 0:
            found.append(1.0 if lengths[a] == 0 else float(lengths[a] * k))
        else:
            found.append(lengths[a] * k / around)
    return found


def _edges(apart: Distance, a: int, near: Part, chain: str) -> list[int]:
    """Return the edges of a point's path through its neighbours."""
    if chain == "sorted":
        return [apart(b, c) for b, c in zip([a, *near], near, strict=False)]
    path, left, edges = [a], list(near), []
    while left:
        gaps = [min(apart(b, c) for b in path) for c in left]
        edges.append(min(gaps))
        path.append(left.pop(gaps.index(min(gaps))))
    return edges


def limit_of(scores: list[float], alpha: float) -> float:
    """Return mean + alpha * standard deviation, summed in order."""
    total, squares = 0.0, 0.0
    for score in scores:
        total += score
    mean = total / len(scores)
    for score in scores:
        squares += (score - mean) * (score - mean)
    return mean + alpha * math.sqrt(squares / len(scores))


def leaving(part: Part, scores: list[float], limit: float, step: int, admissible: Admissible) -> Part:
    """Return the points above the limit, without the least outlying that the rest cannot do without."""
    by_score = sorted(range(len(part)), key=lambda i: -scores[i])
    gone = [part[i] for i in by_score if scores[i] > limit]
    while gone and (len(gone) % step or not admissible([i for i in part if i not in gone])):
        gone.pop()
    return gone


@dataclass
class Outcome:
    """Classes of points, the points once set aside as outliers, and those that are in no class."""

    classes: list[Part] = field(default_factory=list)
    outliers: set[int] = field(default_factory=set)
    suppressed: set[int] = field(default_factory=set)


@dataclass(frozen=True)
class Outliers:
    """How outliers are told, and how many records may be suppressed."""

    alpha: float | None
    neighbours: int
    chain: str
    wide: bool
    suppress: bool
    allowance: int


def rayden(tree: Tree, told: Outliers) -> Outcome:
    """Cut, set outliers aside, cut those, cut what is left to the end."""
    found = Outcome()
    wide = told.wide and told.alpha is not None
    everything = list(range(len(tree.apart.points.rows)))
    parts = _cut(tree, [everything], max(2 * tree.k, min(64 * tree.k, 1024)) if wide else 2 * tree.k)
    if told.alpha is not None:
        scored = [factors(tree.apart, part, told.neighbours, told.chain) for part in parts]
        step = tree.k if wide else 1
        gone = [
            set(leaving(part, scores, limit_of(scores, told.alpha), step, tree.admissible))
            for part, scores in zip(parts, scored, strict=True)
        ]
        found.outliers = set().union(*gone)
        recovered, together = _recovered(tree, sorted(found.outliers))
        found.classes = recovered
        lost = found.outliers - {i for part in recovered for i in part}
        if told.suppress and (together or len(lost) < tree.k):
            found.suppressed = _most_outlying(lost, parts, scored, told.allowance)
        back = lost - found.suppressed
        parts = [[i for i in part if i not in found.outliers or i in back] for part in parts]
    found.classes = found.classes + (_cut(tree, parts, 2 * tree.k) if wide else parts)
    return found


def _cut(tree: Tree, parts: list[Part], stop: int) -> list[Part]:
    grown = tree.grown([part for part in parts if part], stop)
    return tree.merged(grown) if tree.radius == "value" else grown


def _recovered(tree: Tree, pool: Part) -> tuple[list[Part], bool]:
    """Return the classes among the outliers, and whether all of them together could be a class."""
    if not pool or not tree.admissible(pool):
        return [], False
    return [part for part in tree.grown([pool], 2 * tree.k) if len(part) >= tree.k], True


def _most_outlying(lost: set[int], parts: list[Part], scored: list[list[float]], allowance: int) -> set[int]:
    ranked = [
        (-score, at, i)
        for at, (part, scores) in enumerate(zip(parts, scored, strict=True))
        for i, score in zip(part, scores, strict=True)
        if i in lost
    ]
    return {i for _, _, i in sorted(ranked)[:allowance]}


def mondrian_cof(
    table: OracleTable, admissible: Admissible, k: int, told: Outliers, threshold: float | None
) -> Outcome:
    """Return Mondrian's classes without outliers, and Mondrian's classes of the outliers alone."""
    apart = Distance(as_points(table, list(range(len(table.rows)))))
    parts = sorted(sorted(members) for members in mondrian(table, admissible))
    scored = [factors(apart, part, told.neighbours, told.chain) for part in parts]
    if threshold is None:
        threshold = limit_of([score for scores in scored for score in scores], told.alpha)
    gone = [
        leaving(part, scores, threshold, 1, admissible) for part, scores in zip(parts, scored, strict=True)
    ]
    pool = sorted(i for part in gone for i in part)
    found = Outcome(outliers=set(pool))
    back: set[int] = set()
    if pool and admissible(pool):
        inside = replace(table, rows=[table.rows[i] for i in pool])
        for members in mondrian(inside, lambda records: admissible([pool[i] for i in records])):
            found.classes.append([pool[i] for i in members])
    else:
        if told.suppress and len(pool) < k:
            found.suppressed = _most_outlying(found.outliers, parts, scored, told.allowance)
        back = set(pool) - found.suppressed
    found.classes += [[i for i in part if i not in pool or i in back] for part in parts]
    return found
