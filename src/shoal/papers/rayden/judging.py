"""How the rows of the RAYDEN paper's experiments are compared: means over samples, curves, algorithms."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from itertools import pairwise
from typing import Any

import numpy as np

from ..base import Results
from .experiments import MIXED, OTHERS, PAPER, REPAIRED

Check = Callable[[Results], tuple[bool, str]]
Curve = dict[int, float]


def curve(results: Results, experiment: str, value: str, **conditions: Any) -> Curve:
    """Return the mean of a value over samples, by k."""
    found: dict[int, list[float]] = {}
    for row in results.where(experiment, **conditions):
        found.setdefault(row["k"], []).append(row[value])
    return {k: float(np.mean(numbers)) for k, numbers in found.items()}


def curves(results: Results, value: str, setting: str) -> dict[str, Curve]:
    """Return every algorithm's curve of experiments 1 and 2."""
    names = {row["algorithm"]: None for row in results.where("utility", setting=setting)}
    return {name: curve(results, "utility", value, setting=setting, algorithm=name) for name in names}


def at_most(ours: Curve, theirs: Iterable[Curve]) -> tuple[bool, str]:
    """Return whether a curve is the lowest at every k, and how it stands to the lowest other."""
    best = {k: min(other[k] for other in theirs) for k in ours}
    lowest = sum(ours[k] <= best[k] for k in ours)
    ratios = [ours[k] / best[k] for k in ours]
    return lowest == len(ours), f"{lowest} of {len(ours)} k, {span(ratios)} times the best other"


def span(numbers: Iterable[float], form: str = ".2f") -> str:
    """Return the least and the greatest number as words."""
    found = list(numbers)
    low, high = format(min(found), form), format(max(found), form)
    return low if low == high else f"{low} to {high}"


def lowest(value: str, settings: tuple[str, ...] = MIXED) -> Check:
    """Return a check: is RAYDEN, as printed, lower than all others in every setting and at every k?"""

    def check(results: Results) -> tuple[bool, str]:
        held, texts = True, []
        for setting in settings:
            found = curves(results, value, setting)
            others = [found[name] for name in OTHERS]
            printed, words = at_most(found[PAPER], others)
            held &= printed
            texts.append(f"{setting}: lowest at {words} (repaired: {at_most(found[REPAIRED], others)[1]})")
        return held, "; ".join(texts)

    return check


def every(*checks: Check) -> Check:
    """Return a check that holds when all of these do, with the words of each."""

    def check(results: Results) -> tuple[bool, str]:
        found = [one(results) for one in checks]
        return all(held for held, _ in found), "; ".join(words for _, words in found)

    return check


def rises(curves_: Iterable[Curve]) -> tuple[int, int]:
    """Return (steps that do not go down, steps) along k."""
    steps = [b >= a for found in curves_ for (_, a), (_, b) in pairwise(sorted(found.items()))]
    return sum(steps), len(steps)


def gaps(results: Results, value: str, setting: str, name: str = PAPER) -> Curve:
    """Return by which share the best other algorithm is above RAYDEN (below 0: it is better), by k."""
    found = curves(results, value, setting)
    return {k: min(found[other][k] for other in OTHERS) / ours - 1 for k, ours in found[name].items()}
