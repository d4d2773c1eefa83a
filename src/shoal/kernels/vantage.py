"""Where the balls of a vantage-point tree are centred: records drawn, ranked and compared.

Whatever is random about a node is drawn from the seed and the node's place in `ids`, so nodes may be looked
at in any order, by any number of threads.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .gower import Points, Sweep, distances, make_sweep
from .rules import Rules
from .stats import Stats, make_stats

RANDOM, FARTHEST, SPREAD, TIGHTEST = range(4)  # how the vantage point is chosen
HALF, MULTIPLE, CHEAPEST, VALUE = range(4)  # how large the ball is

SAMPLE = 1024  # records that stand for a larger node when vantage points are compared
SHIFT = np.int64(31)  # bits of a key that name the record; the distance stands above them
_RECORD = np.int64((1 << 31) - 1)


class Plan(NamedTuple):
    """How nodes are cut."""

    k: int  # least size of a class
    stop: int  # nodes of fewer records are parts
    vantage: int  # RANDOM, FARTHEST, SPREAD or TIGHTEST
    radius: int  # HALF, MULTIPLE, CHEAPEST or VALUE
    candidates: int  # vantage points that SPREAD and TIGHTEST choose from
    seed: np.uint64


class Scratch(NamedTuple):
    """Space for looking at one node; one a chunk, so that chunks do not meet."""

    sweep: Sweep
    stats: Stats
    sample: NDArray[np.int64]  # [SAMPLE]
    lists: NDArray[np.int64]  # [4, SAMPLE] keys, order, and the costs of both sides
    tried: NDArray[np.int64]  # [3, candidates] vantage points, their scores, the sizes of their balls


@njit(cache=True)
def make_scratch(plan: Plan, points: Points, rules: Rules) -> Scratch:
    return Scratch(
        make_sweep(points),
        make_stats(rules),
        np.empty(SAMPLE, np.int64),
        np.empty((4, SAMPLE), np.int64),
        np.empty((3, plan.candidates), np.int64),
    )


@njit(cache=True)
def drawn(seed: int, begin: int, end: int, turn: int, below: int) -> int:
    """Return a number in [0, below) that depends on nothing but the arguments (splitmix64)."""
    mixed = np.uint64(seed)
    for word in (begin, end, turn):
        mixed += np.uint64(0x9E3779B97F4A7C15) * (np.uint64(word) + np.uint64(1))
        mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        mixed ^= mixed >> np.uint64(31)
    return np.int64((mixed >> np.uint64(32)) % np.uint64(below))


@njit(cache=True)
def rank(
    points: Points,
    vantage: int,
    records: NDArray[np.int64],
    keys: NDArray[np.int64],
    order: NDArray[np.int64],
) -> None:
    """Fill `order` with the records by (distance from `vantage`, record), and `keys` with both in one."""
    distances(points, vantage, records, keys)
    for i in range(len(records)):
        keys[i] = keys[i] << SHIFT | records[i]
    keys.sort()
    for i in range(len(records)):
        order[i] = keys[i] & _RECORD


@njit(cache=True)
def take_sample(plan: Plan, ids: NDArray[np.int64], begin: int, end: int, sample: NDArray[np.int64]) -> int:
    """Fill `sample` with all records of a small node, or with one drawn from each stretch of a large one."""
    m = end - begin
    if m <= SAMPLE:
        sample[:m] = ids[begin:end]
        return m
    for i in range(SAMPLE):
        sample[i] = ids[begin + i * m // SAMPLE + drawn(plan.seed, begin, end, -1 - i, m // SAMPLE)]
    return SAMPLE


@njit(cache=True)
def vantage_point(plan: Plan, points: Points, sample: NDArray[np.int64], turn: int, choice: int) -> int:
    """Return a vantage point: the record drawn, or the record of the sample that is farthest from it."""
    if plan.vantage != FARTHEST and not (plan.vantage == TIGHTEST and turn % 2 == 1):
        return sample[choice]
    away = np.empty(len(sample), np.int64)
    distances(points, sample[choice], sample, away)
    best = 0
    for i in range(1, len(sample)):
        if away[i] > away[best] or (away[i] == away[best] and sample[i] < sample[best]):
            best = i
    return sample[best]


@njit(cache=True)
def distance_spread(points: Points, keys: NDArray[np.int64]) -> int:
    """Return the variance of the distances in `keys` times their number squared, in coarser units."""
    most = np.int64(math.sqrt(points.most)) if points.euclidean else points.most
    shift = SHIFT
    while most >> (shift - SHIFT) >= 1 << 20:  # so that the squares fit
        shift += 1
    total, squares = np.int64(0), np.int64(0)
    for key in keys:
        total += key >> shift
        squares += (key >> shift) * (key >> shift)
    return len(keys) * squares - total * total
