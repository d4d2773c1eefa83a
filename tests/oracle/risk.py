"""Risk by its definitions: plain loops over rows, sums over populations, products over groups."""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Sequence
from typing import Any

Rows = Sequence[dict[str, Any]]


def class_sizes(rows: Rows, names: Sequence[str]) -> list[int]:
    """Return, per record, how many records have its values in some columns."""
    keys = [tuple(row[name] for name in names) for row in rows]
    counts = Counter(keys)
    return [counts[key] for key in keys]


def minimal_uniques(rows: Rows, names: Sequence[str], largest: int) -> list[list[tuple[str, ...]]]:
    """Return every record's minimal sample uniques: sets that single it out, without a part that does."""
    sets = [s for size in range(1, largest + 1) for s in itertools.combinations(names, size)]
    sizes = {chosen: class_sizes(rows, chosen) for chosen in sets}
    found: list[list[tuple[str, ...]]] = []
    for i in range(len(rows)):
        alone = [chosen for chosen in sets if sizes[chosen][i] == 1]
        found.append([s for s in alone if not any(set(part) < set(s) for part in alone)])
    return found


def suda(rows: Rows, names: Sequence[str], largest: int) -> list[float]:
    """Return every record's SUDA score: the sum of (q - m)! over its minimal sample uniques of m columns."""
    q = len(names)
    return [
        float(sum(math.factorial(q - len(found)) for found in own))
        for own in minimal_uniques(rows, names, largest)
    ]


def dis_suda(rows: Rows, names: Sequence[str], largest: int, fraction: float) -> list[float]:
    """Return every record's DIS-SUDA score."""
    sizes, scores = class_sizes(rows, names), suda(rows, names, largest)
    unique, pairs = sizes.count(1), sizes.count(2)
    if unique == 0:
        return [0.0] * len(rows)
    chance = unique * fraction / (unique * fraction + pairs * (1 - fraction))
    power = 1 + (8 - len(names)) / 20
    total = sum(score**-power for score in scores if score > 0)
    return [
        1 / (1 + (unique / chance - unique) / (score**power * total)) if score > 0 else 0.0
        for score in scores
    ]


def expected_one_in(size: int, p: float) -> float:
    """Return E(1 / F), F being how many draws it takes to get `size` successes of probability p."""
    return sum(
        math.exp(
            math.lgamma(f) - math.lgamma(size) - math.lgamma(f - size + 1)
            + size * math.log(p) + (f - size) * math.log(1 - p)
        ) / f
        for f in range(size, size + round(60 * (size + 5) / p))
    )  # fmt: skip


def zayatz(sizes: Sequence[int], population: int) -> float:
    """Return Zayatz's number of population uniques, from group sizes and whole-number binomials."""
    n, groups = sum(sizes), Counter(sizes)

    def once(size: int) -> float:
        if population - size < n - 1:
            return 0.0
        return size * math.comb(population - size, n - 1) / math.comb(population, n)

    weights = {size: count / len(sizes) * once(size) for size, count in groups.items()}
    total = sum(weights.values())
    return groups[1] * (weights.get(1, 0.0) / total) * population / n if total else 0.0


def pitman_likelihood(sizes: Sequence[int], theta: float, alpha: float) -> float:
    """Return the logarithm of Pitman's sampling formula, up to what does not depend on the parameters."""
    u, n = len(sizes), sum(sizes)
    found = sum(math.log(theta + i * alpha) for i in range(1, u))
    found -= sum(math.log(theta + i) for i in range(1, n))
    return found + sum(math.log(i - alpha) for size in sizes for i in range(1, size))


def pitman(sizes: Sequence[int], population: float) -> float:
    """Return Pitman's number of population uniques, its parameters found by looking everywhere."""
    grid = [(10 ** (t / 20), a / 200) for t in range(-40, 100) for a in range(1, 200)]
    theta, alpha = max(grid, key=lambda point: pitman_likelihood(sizes, *point))
    return math.exp(math.lgamma(theta + 1) - math.lgamma(theta + alpha)) * population**alpha


def snb_expected(groups: float, f: float, a: float, b: float) -> tuple[float, float]:
    """Return how many groups of one and of two the slide negative binomial expects in the table.

    By summing over the sizes of groups in the population: one more than a negative binomial, thinned by f.
    """
    one = two = 0.0
    for extra in range(4000):
        size = extra + 1
        chance = math.exp(
            math.lgamma(extra + a) - math.lgamma(a) - math.lgamma(extra + 1)
            + a * math.log(b) + (extra * math.log(1 - b) if extra else 0.0)
        )  # fmt: skip
        one += chance * size * f * (1 - f) ** (size - 1)
        two += chance * size * (size - 1) / 2 * f * f * (1 - f) ** (size - 2) if size > 1 else 0.0
    return groups * one, groups * two


def shlosser(sizes: Sequence[int], f: float) -> float:
    """Return the modified Shlosser estimate of the number of groups (Haas and Stokes 1998, D_Sh3)."""
    missed = sum((1 - f) ** i for i in sizes)
    once = sum(i * f * (1 - f) ** (i - 1) for i in sizes)
    top = sum(i * f**2 * (1 - f**2) ** (i - 1) for i in sizes)
    below = sum((1 - f) ** i * ((1 + f) ** i - 1) for i in sizes)
    return len(sizes) + list(sizes).count(1) * top / below * (missed / once) ** 2
