"""Microaggregation from its definitions, in plain Python on points with whole coordinates."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence

Point = tuple[int, ...]


def distance(a: Sequence[int], b: Sequence[int]) -> int:
    return sum((x - y) ** 2 for x, y in zip(a, b, strict=True))


def mean(points: Sequence[Point]) -> Point:
    return tuple(round(sum(column) / len(points)) for column in zip(*points, strict=True))


def farthest(points: Sequence[Point], among: Iterable[int], query: Point) -> int:
    return min(among, key=lambda i: (-distance(points[i], query), i))


def nearest(points: Sequence[Point], among: Iterable[int], query: Point, count: int) -> list[int]:
    return sorted(among, key=lambda i: (distance(points[i], query), i))[:count]


def take_around(points: Sequence[Point], left: list[int], seed: int, k: int) -> list[int]:
    others = [i for i in left if i != seed]
    made = [seed, *nearest(points, others, points[seed], k - 1)]
    left[:] = [i for i in left if i not in made]
    return made


def mdav(points: Sequence[Point], k: int) -> list[list[int]]:
    left = list(range(len(points)))
    classes = []
    while len(left) >= 3 * k:
        first = farthest(points, left, mean([points[i] for i in left]))
        second = farthest(points, left, points[first])
        classes.append(take_around(points, left, first, k))
        if second not in left:
            second = farthest(points, left, points[first])
        classes.append(take_around(points, left, second, k))
    if len(left) >= 2 * k:
        first = farthest(points, left, mean([points[i] for i in left]))
        classes.append(take_around(points, left, first, k))
    return [*classes, left] if left else classes


def v_mdav(points: Sequence[Point], k: int, gamma: float) -> list[list[int]]:
    left = list(range(len(points)))
    if len(left) < k:
        return [left]
    centre = mean(points)
    classes: list[list[int]] = []
    while len(left) >= k:
        made = take_around(points, left, farthest(points, left, centre), k)
        while len(made) < 2 * k - 1 and left:
            to_class = {i: min(distance(points[i], points[m]) for m in made) for i in left}
            found = min(left, key=lambda i: (to_class[i], i))
            others = [i for i in left if i != found]
            outside = min((distance(points[i], points[found]) for i in others), default=math.inf)
            if gamma == 0 or not to_class[found] < gamma * gamma * outside:
                break
            made.append(found)
            left.remove(found)
        classes.append(made)
    centres = [mean([points[i] for i in made]) for made in classes]
    sizes = [len(made) for made in classes]
    for i in left:
        best = min(range(len(sizes)), key=lambda c: (distance(points[i], centres[c]), c))
        classes[best].append(i)
    return classes


def farthest_pair(points: Sequence[Point], exact: int = 2000) -> tuple[int, int]:
    m = len(points)
    if m <= exact:
        pairs = [(a, b) for a in range(m) for b in range(a + 1, m)]
        return min(pairs, key=lambda pair: (-distance(points[pair[0]], points[pair[1]]), pair))
    rim = farthest(points, range(m), mean(points))
    across = farthest(points, range(m), points[rim])
    return (min(rim, across), max(rim, across)) if rim != across else (rim, rim + 1)


def split(points: Sequence[Point], k: int, by_mean: bool, exact: int = 2000) -> list[list[int]]:
    pair = farthest_pair(points, exact)
    free = [i for i in range(len(points)) if i not in pair]
    groups: list[list[int]] = []
    for seed in pair:
        near = nearest(points, free, points[seed], k - 1)
        groups.append([seed, *near])
        free = [i for i in free if i not in near]
    seeds = [mean([points[i] for i in group]) if by_mean else points[group[0]] for group in groups]
    for i in free:
        groups[0 if distance(points[i], seeds[0]) <= distance(points[i], seeds[1]) else 1].append(i)
    return [sorted(group) for group in groups]


def top_down(points: Sequence[Point], ids: list[int], k: int, by_mean: bool) -> list[list[int]]:
    if len(ids) < 2 * k:
        return [ids]
    found: list[list[int]] = []
    for group in split([points[i] for i in ids], k, by_mean):
        found += top_down(points, [ids[place] for place in group], k, by_mean)
    return found


def bottom_up(
    points: Sequence[Point], ids: list[int], k: int, draws: Sequence[float], by_mean: bool
) -> list[list[int]]:
    groups = [[i] for i in ids]
    turn = 0
    while len(groups) > 1 and any(len(group) < k for group in groups):
        small = sorted((group for group in groups if len(group) < k), key=min)
        chosen = small[int(draws[turn] * len(small))]
        turn += 1
        open_to = [group for group in (small if len(small) > 1 else groups) if group is not chosen]
        centre = mean([points[i] for i in chosen])
        partner = min(open_to, key=lambda g: (distance(mean([points[i] for i in g]), centre), min(g)))
        groups = [group for group in groups if group is not chosen and group is not partner]
        union = sorted(chosen + partner)
        if len(union) < 2 * k:
            groups.append(union)
        else:
            groups += [[union[p] for p in half] for half in split([points[i] for i in union], k, by_mean)]
    return groups


def k_means(
    points: Sequence[Point], k: int, draws: Sequence[float], squared: bool, iterations: int
) -> list[list[int]]:
    """Seeds by roulette wheel, then moving centres, then parts of fewer than k joined to their nearest."""
    centres = [points[int(draws[0] * len(points))]]
    weigh: Callable[[float], float] = float if squared else math.sqrt
    for draw in draws[1:]:
        weights = [weigh(min(distance(p, c) for c in centres)) for p in points]
        total = 0.0
        for weight in weights:
            total += weight
        if total == 0:
            break
        reached, chosen = 0.0, 0
        for i, weight in enumerate(weights):
            reached += weight
            if weight > 0:
                chosen = i
                if reached > draw * total:
                    break
        centres.append(points[chosen])
    for _ in range(iterations + 1):
        parts: list[list[int]] = [[] for _ in centres]
        for i, point in enumerate(points):
            parts[min(range(len(centres)), key=lambda c: (distance(point, centres[c]), c))].append(i)
        moved = [mean([points[i] for i in part]) if part else centres[c] for c, part in enumerate(parts)]
        if moved == centres:
            break
        centres = moved
    while sum(bool(part) for part in parts) > 1:
        small = min((c for c, part in enumerate(parts) if part), key=lambda c: (len(parts[c]), c))
        if len(parts[small]) >= k:
            break
        own = mean([points[i] for i in parts[small]])
        others = [c for c, part in enumerate(parts) if part and c != small]
        best = min(others, key=lambda c: (distance(mean([points[i] for i in parts[c]]), own), c))
        parts[best] = sorted(parts[best] + parts[small])
        parts[small] = []
    return [part for part in parts if part]


def squared_error(points: Sequence[Sequence[float]], classes: Iterable[Sequence[int]]) -> float:
    total = 0.0
    for members in classes:
        for column in zip(*(points[i] for i in members), strict=True):
            centre = sum(column) / len(column)
            total += sum((value - centre) ** 2 for value in column)
    return total


def least_cut(points: Sequence[Sequence[float]], k: int) -> float:
    """The least squared error of any cut of an order into runs of at least k, by trying all of them."""
    n = len(points)
    best = [math.inf] * (n + 1)
    best[0] = 0.0
    for end in range(k, n + 1):
        for begin in range(end - k + 1):
            best[end] = min(best[end], best[begin] + squared_error(points, [range(begin, end)]))
    return best[n]


def all_partitions(n: int, k: int) -> Iterable[list[list[int]]]:
    """Every partition of n records into classes of at least k."""

    def grow(i: int, classes: list[list[int]]) -> Iterable[list[list[int]]]:
        if i == n:
            if all(len(members) >= k for members in classes):
                yield [list(members) for members in classes]
            return
        for members in classes:
            members.append(i)
            yield from grow(i + 1, classes)
            members.pop()
        yield from grow(i + 1, [*classes, [i]])

    return grow(0, [])


def tour(points: Sequence[Point]) -> list[int]:
    left = list(range(len(points)))
    order = [farthest(points, left, mean(points))]
    left.remove(order[0])
    while left:
        order += nearest(points, left, points[order[-1]], 1)
        left.remove(order[-1])
    return order
