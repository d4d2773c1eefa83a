"""The four algorithms that GCAA is compared with, in plain Python on points with whole coordinates."""

from __future__ import annotations

import math

import numpy as np

from .microaggregation import distance, farthest, mean


def p_sensitive(points, values, wanted, k):
    """`values` are the sensitive values of each record, `wanted` how many a class must have."""
    left, classes = list(range(len(points))), []
    while len(left) >= k:
        seed = farthest(points, left, mean([points[i] for i in left]))
        others = sorted((i for i in left if i != seed), key=lambda i: (distance(points[i], points[seed]), i))
        made = [seed]
        lacking = _lacking(made, values, wanted)
        for i in others:
            if any(values[i][j] not in {values[m][j] for m in made} for j in lacking):
                made.append(i)
                lacking = _lacking(made, values, wanted)
        if lacking:
            break
        made += [i for i in others if i not in made][: max(0, k - len(made))]
        classes.append(made)
        left = [i for i in left if i not in made]
    if not classes:
        return [left]
    return _join(points, classes, left, [mean([points[i] for i in made]) for made in classes])


def _lacking(made, values, wanted):
    return [j for j, count in enumerate(wanted) if len({values[i][j] for i in made}) < count]


def _join(points, classes, left, centres):
    joined = [list(made) for made in classes]
    for i in left:
        joined[min(range(len(centres)), key=lambda c: (distance(points[i], centres[c]), c))].append(i)
    return joined


def fuzzy_k_member(points, k, fuzziness):
    n = len(points)
    if n < 2 * k:
        return [list(range(n))]
    prototype = mean(points)
    scale = sum(distance(p, prototype) for p in points) / n or 1.0
    rest = dict.fromkeys(range(n), 1.0)  # what is left of the records without a class
    classes, prototypes = [], []
    while sum(share > 0.5 for share in rest.values()) >= k:
        whole = [i for i, share in rest.items() if share > 0.5]
        made = [farthest(points, whole, prototype)]
        while len(made) < k:
            cost = {i: sum(distance(points[i], points[m]) for m in made) / rest[i] for i in whole}
            made.append(min((i for i in whole if i not in made), key=lambda i: (cost[i], i)))
        shares = [rest.pop(i) for i in made]
        prototype = tuple(
            round(sum(s * points[i][j] for s, i in zip(shares, made, strict=True)) / sum(shares))
            for j in range(len(points[0]))
        )
        for i in rest:
            away = distance(points[i], prototype)
            rest[i] *= 1 - round(1024 * float(np.exp(-fuzziness * away / scale))) / 1024
        classes.append(made)
        prototypes.append(prototype)
    return _join(points, classes, sorted(rest), prototypes)


def criterion(clusters):
    """The Bayesian information criterion of round Gaussians of one variance, each a list of points."""
    n, d, count = sum(map(len, clusters)), len(clusters[0][0]), len(clusters)
    spread = 0.0
    for points in clusters:
        centre = [sum(column) / len(points) for column in zip(*points, strict=True)]
        spread += sum((x - c) ** 2 for p in points for x, c in zip(p, centre, strict=True))
    if spread == 0 or n == count:
        return math.inf
    variance = spread / (d * (n - count))
    found = 0.0
    for points in clusters:
        found += len(points) * math.log(len(points) / n)
    return (
        found
        - n * d / 2 * math.log(2 * math.pi * variance)
        - d * (n - count) / 2
        - count * (d + 1) / 2 * math.log(n)
    )


def two_means(points, ids, draws, iterations):
    """The two sides of a split; one where all points coincide."""
    centres = [points[ids[int(draws[0] * len(ids))]]]
    weights = [distance(points[i], centres[0]) for i in ids]
    if not any(weights):
        return [ids]
    reached = 0.0
    for i, weight in zip(ids, weights, strict=True):
        reached += weight
        if weight > 0:
            second = i
            if reached > draws[1] * sum(weights):
                break
    centres.append(points[second])
    for _ in range(iterations + 1):
        sides = [[], []]
        for i in ids:
            sides[distance(points[i], centres[1]) < distance(points[i], centres[0])].append(i)
        moved = [
            mean([points[i] for i in side]) if side else c for side, c in zip(sides, centres, strict=True)
        ]
        if moved == centres:
            break
        centres = moved
    return [side for side in sides if side]


def x_means(points, k, draw, iterations=20):
    """`draw` returns two numbers in [0, 1) every time."""
    waiting, found = [list(range(len(points)))], []
    while waiting:
        part = waiting.pop(0)
        sides = two_means(points, part, draw(), iterations) if len(part) >= 2 * k else [part]
        whole, halves = ([[points[i] for i in side] for side in of] for of in ([part], sides))
        if len(sides) == 2 and criterion(halves) > criterion(whole):
            waiting += sides
        else:
            found.append(part)
    return found


def merge_small(points, parts, k):
    parts = [list(part) for part in parts]
    while len([p for p in parts if p]) > 1:
        small = min((c for c, p in enumerate(parts) if p), key=lambda c: (len(parts[c]), c))
        if len(parts[small]) >= k:
            break
        best = _nearest_others(points, parts, small)[0]
        parts[best], parts[small] = parts[best] + parts[small], []
    return parts


def _nearest_others(points, parts, c):
    centres = {y: mean([points[i] for i in part]) for y, part in enumerate(parts) if part}
    own = centres.pop(c)
    return sorted(centres, key=lambda y: (distance(centres[y], own), y))


def merge_failing(points, parts, keeps, away, among):
    """`keeps` and `away` judge a list of records: all promises kept, distance from the table."""
    parts = [list(part) for part in parts]
    while sum(map(bool, parts)) > 1:
        failing = [c for c, part in enumerate(parts) if part and not keeps(part)]
        if not failing:
            break
        c = failing[0]
        near = _nearest_others(points, parts, c)[:among]
        best = min(near, key=lambda y: (away(parts[c] + parts[y]), near.index(y)))
        parts[best], parts[c] = parts[best] + parts[c], []
    return parts


def klt3l(points, k, draw, diverse, good, away, among):
    parts = merge_small(points, x_means(points, k, draw), k)
    parts = [part for part in parts if part]
    for keeps, count in ((diverse, 1), (good, among)):
        parts = merge_failing(points, parts, keeps, away, count)
    return [part for part in parts if part]


def fuzzy_objective(points, centres):
    """Fuzzy c-means with m = 2: the sum of membership squared times squared distance."""
    total = 0.0
    for p in points:
        apart = [distance(p, c) for c in centres]
        if 0 not in apart:
            shares = [(1 / x) / sum(1 / y for y in apart) for x in apart]
            total += sum(u * u * x for u, x in zip(shares, apart, strict=True))
    return total


def fuzzy_step(points, centres):
    """The centres after one step of fuzzy c-means; a record on centres belongs to the first of them alone."""
    shares = []
    for p in points:
        apart = [distance(p, c) for c in centres]
        if 0 in apart:
            shares.append([float(c == apart.index(0)) for c in range(len(centres))])
        else:
            shares.append([(1 / x) / sum(1 / y for y in apart) for x in apart])
    moved = []
    for c, centre in enumerate(centres):
        weights = [share[c] ** 2 for share in shares]
        total = sum(weights)
        moved.append(
            [sum(w * p[j] for w, p in zip(weights, points, strict=True)) / total for j in range(len(centre))]
            if total
            else list(centre)
        )
    return moved


def crisp(points, centres, k):
    """The classes of a firefly's centres, and how many records were in classes that were too small."""
    count = len(centres)
    to = [min(range(count), key=lambda c: (distance(p, centres[c]), c)) for p in points]
    small = sum(to.count(c) < k for c in to)
    taken = set(to)
    while len(taken) > 1:
        least = min(taken, key=lambda c: (to.count(c), c))
        if to.count(least) >= k:
            break
        taken.remove(least)
        for i, p in enumerate(points):
            if to[i] == least:
                to[i] = min(taken, key=lambda c: (distance(p, centres[c]), c))
    return [[i for i, c in enumerate(to) if c == own] for own in sorted(taken)], small


def fireflies(points, flies, good, k, told, rng):
    """The classes at the brightest place; `flies` are lists of centres, `good` judges a list of records."""
    n, dimensions = len(points), len(points[0])
    centre = [sum(column) / n for column in zip(*points, strict=True)]
    variance = [sum((p[j] - centre[j]) ** 2 for p in points) / n for j in range(dimensions)]
    scale = sum(variance) or 1.0
    unit = fuzzy_objective(points, flies[0]) or 1.0
    seen = []

    def light(centres):
        classes, small = crisp(points, centres, k)
        lost = 0.0
        for members in classes:
            own = [sum(points[i][j] for i in members) / len(members) for j in range(dimensions)]
            lost += sum((points[i][j] - own[j]) ** 2 for i in members for j in range(dimensions))
        failing = sum(not good(members) for members in classes) / len(classes)
        found = -round(fuzzy_objective(points, centres) / unit + small / n + failing + lost / (scale * n), 9)
        seen.append((found, classes))
        return found

    lights = [light(fly) for fly in flies]
    for at in range(told.rounds):
        for i in range(len(flies)):
            for j in range(len(flies)):
                if lights[j] > lights[i]:
                    own, other = np.array(flies[i], dtype=float), np.array(flies[j], dtype=float)
                    pull = told.attraction * math.exp(
                        -told.absorption * ((other - own) ** 2).sum() / len(own) / scale
                    )
                    random = told.step * 0.9**at * (rng.random(own.shape) - 0.5) * np.sqrt(variance)
                    flies[i] = np.rint(own + pull * (other - own) + random).tolist()
                    lights[i] = light(flies[i])
    return max(seen, key=lambda pair: pair[0])[1]
