"""The DOP paper by definition: density clusters record by record, and every cut tried in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from .costs import OracleTable

Point = tuple[int, ...]


def apart(a: Point, b: Point) -> int:
    """Return the squared distance of two records."""
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def dbscan(points: list[Point], reach: int, enough: int, rank: list[int]) -> tuple[list[int], list[bool]]:
    """Return the cluster of every record (-1: noise), and which are dense.

    Clusters are numbered by their dense record of least rank. A record that is not dense goes to the nearest
    dense one within reach, among equally near ones to the first cluster.
    """
    n = len(points)
    near = [[j for j in range(n) if apart(points[i], points[j]) <= reach] for i in range(n)]
    dense = [len(near[i]) >= enough for i in range(n)]
    cluster = [-1] * n
    made = 0
    for first in sorted((i for i in range(n) if dense[i]), key=lambda i: rank[i]):
        if cluster[first] >= 0:
            continue
        waiting = [first]
        while waiting:
            i = waiting.pop()
            if cluster[i] < 0:
                cluster[i] = made
                waiting += [j for j in near[i] if dense[j]]
        made += 1
    labels = list(cluster)
    for i in range(n):
        reachable = [j for j in near[i] if dense[j]]
        if not dense[i] and reachable:
            labels[i] = min((apart(points[i], points[j]), cluster[j]) for j in reachable)[1]
    return labels, dense


def reach_of(points: list[Point], i: int, enough: int) -> int:
    """Return the least squared distance within which `enough` records lie, the record itself included."""
    return sorted(apart(points[i], other) for other in points)[enough - 1]


def attach(points: list[Point], labels: list[int], admissible: Callable[[list[int]], bool]) -> list[int]:
    """Return the labels after every cluster that could not be a class has joined the nearest that could."""
    labels = list(labels)
    while len(set(labels) - {-1}) > 1:
        members = {c: [i for i, label in enumerate(labels) if label == c] for c in sorted(set(labels) - {-1})}
        valid = [c for c in members if admissible(members[c])]
        failing = [c for c in members if c not in valid]
        if not failing:
            break
        if not valid:
            return [min(label, 0) for label in labels]
        centre = {
            c: [sum(x) / len(m) for x in zip(*(points[i] for i in m), strict=True)]
            for c, m in members.items()
        }
        for c in failing:
            target = min(
                valid, key=lambda v: (sum((x - y) ** 2 for x, y in zip(centre[c], centre[v], strict=True)), v)
            )
            for i in members[c]:
                labels[i] = target
    return labels


class Cuts:
    """Every cut of every column, scored as the paper or shoal does."""

    def __init__(
        self,
        table: OracleTable,
        places: list[tuple[int, ...]],
        admissible: Callable[[list[int]], bool],
        *,
        paper: bool = False,
        target: list[int] | None = None,
        parts: int = 0,
        logs: list[int] | None = None,
    ) -> None:
        self.table, self.places, self.admissible = table, places, admissible
        self.paper, self.target, self.parts, self.logs = paper, target, parts, logs

    def score(self, side: list[int]) -> int:
        """Return what one side of a cut adds to the score."""
        if self.paper:
            columns = enumerate(self.table.columns)
            return sum(c.cost(self.table.codes(side, j)) for j, c in columns if c.positions is not None)
        loss = len(side) * self.table.cost(side)
        if self.parts == 0:
            return loss
        counts = Counter(self.target[i] for i in side)
        entropy = self.logs[len(side)] - sum(self.logs[c] for c in counts.values())
        return (1000 - self.parts) * loss + self.parts * entropy

    def best(self, records: list[int]) -> tuple[list[int], list[int]] | None:
        """Return the two sides of the best cut; ties go to even sides, the first column, the least value."""
        found = []
        for j in range(len(self.table.columns)):
            for place in sorted({self.places[i][j] for i in records})[:-1]:
                low = [i for i in records if self.places[i][j] <= place]
                high = [i for i in records if self.places[i][j] > place]
                if self.admissible(low) and self.admissible(high):
                    total = self.score(low) + self.score(high)
                    found.append(((total, max(len(low), len(high)), j, place), low, high))
        return min(found)[1:] if found else None

    def classes(self, cluster: list[int]) -> set[frozenset[int]]:
        """Return the classes that come of cutting every cluster as long as that is possible."""
        final: set[frozenset[int]] = set()
        for c in set(cluster):
            record_lists = [[i for i, label in enumerate(cluster) if label == c]]
            while record_lists:
                records = record_lists.pop()
                cut = self.best(records)
                if cut is None:
                    final.add(frozenset(records))
                else:
                    record_lists += cut
        return final
