"""The last records of greedy clustering, too few for a class: each joins the class whose loss grows least."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .rules import Rules
from .space import LINE, SET, TREE, Space, spread_cost
from .stats import Stats, add_record, clear_stats, make_stats, stats_ok

_FAR = np.int64(1) << 62


class Classes(NamedTuple):
    """The classes that are joined: class c holds ``members[offsets[c]:offsets[c + 1]]``."""

    members: NDArray[np.int64]
    offsets: NDArray[np.int64]


class Asked(NamedTuple):
    """What a class is asked to keep when a record joins."""

    rules: Rules
    sensitive: NDArray[np.int32]
    stats: Stats
    strict: NDArray[np.bool_]  # [1] whether it is asked at all


class Summaries(NamedTuple):
    """What every class covers, nulls left out of all but their count."""

    size: NDArray[np.int64]  # [classes]
    cost: NDArray[np.int64]  # [classes] per record, all columns together
    low: NDArray[np.int32]  # [classes, q]
    high: NDArray[np.int32]  # [classes, q]
    distinct: NDArray[np.int32]  # [classes, q] of SET columns
    nulls: NDArray[np.int32]  # [classes, q]


@njit(cache=True)
def _add(
    summaries: Summaries, space: Space, c: int, record: NDArray[np.int32], fresh: NDArray[np.bool_]
) -> None:
    """Add a record to a class; `fresh` tells in which SET columns its value is new there."""
    summaries.size[c] += 1
    total = np.int64(0)
    for j in range(len(record)):
        code = record[j]
        if code == space.size[j]:
            summaries.nulls[c, j] += 1
        else:
            summaries.low[c, j] = min(summaries.low[c, j], code)
            summaries.high[c, j] = max(summaries.high[c, j], code)
            if fresh[j]:
                summaries.distinct[c, j] += 1
        total += spread_cost(
            space,
            j,
            summaries.low[c, j],
            summaries.high[c, j],
            summaries.distinct[c, j],
            summaries.nulls[c, j],
            summaries.size[c],
        )
    summaries.cost[c] = total


@njit(cache=True)
def _summarise(codes: NDArray[np.int32], space: Space, classes: Classes) -> Summaries:
    count, q = len(classes.offsets) - 1, codes.shape[1]
    summaries = Summaries(
        np.zeros(count, np.int64),
        np.zeros(count, np.int64),
        np.full((count, q), space.size.max(), np.int32),
        np.zeros((count, q), np.int32),
        np.zeros((count, q), np.int32),
        np.zeros((count, q), np.int32),
    )
    seen = np.full(space.start[q], -1, np.int64)
    fresh = np.zeros(q, np.bool_)
    for c in range(count):
        for i in range(classes.offsets[c], classes.offsets[c + 1]):
            record = codes[classes.members[i]]
            for j in range(q):
                at = space.start[j] + record[j]
                fresh[j] = seen[at] != c
                seen[at] = c
            _add(summaries, space, c, record, fresh)
    return summaries


@njit(cache=True)
def _takes(asked: Asked, classes: Classes, c: int, joined: NDArray[np.int64], record: int) -> bool:
    """Return whether a class keeps every promise with one more record, or need not."""
    if not asked.strict[0]:
        return True
    rules, sensitive, stats = asked.rules, asked.sensitive, asked.stats
    clear_stats(stats, rules)
    add_record(stats, rules, sensitive, record)
    for i in range(classes.offsets[c], classes.offsets[c + 1]):
        add_record(stats, rules, sensitive, classes.members[i])
    other = joined[c]
    while other >= 0:
        add_record(stats, rules, sensitive, other)
        other = joined[len(joined) - sensitive.shape[1] + other]
    return stats_ok(stats, rules)


@njit(cache=True)
def _holds(
    codes: NDArray[np.int32], classes: Classes, c: int, joined: NDArray[np.int64], j: int, code: int
) -> bool:
    """Return whether a record of the class has this code."""
    for i in range(classes.offsets[c], classes.offsets[c + 1]):
        if codes[classes.members[i], j] == code:
            return True
    other = joined[c]
    while other >= 0:
        if codes[other, j] == code:
            return True
        other = joined[len(joined) - len(codes) + other]
    return False


@njit(cache=True)
def _find_best(
    codes: NDArray[np.int32],
    space: Space,
    classes: Classes,
    summaries: Summaries,
    record: int,
    joined: NDArray[np.int64],
    asked: Asked,
    guess: int,
) -> int:
    """Return the class whose loss grows least by a record, of those that are then as asked; -1 for none.

    `guess` is looked at first: a good one saves most of the work, and changes nothing else.
    """
    geometry, domain, full, start, position = (
        space.geometry,
        space.size,
        space.full,
        space.start,
        space.position,
    )
    levels, tree_start, node, node_cost = space.levels, space.tree_start, space.node, space.node_cost
    sizes, costs = summaries.size, summaries.cost
    lows, highs, distincts, nulls = summaries.low, summaries.high, summaries.distinct, summaries.nulls
    own = codes[record]
    q = len(own)
    best, least = -1, _FAR
    for turn in range(-1, len(sizes)):
        c = guess if turn < 0 else turn
        if c < 0 or (turn >= 0 and c == guess) or costs[c] > least:
            continue
        size = sizes[c]
        before = size * costs[c]
        most = (least + before) // (size + 1)  # what the class may cost per record to be no worse
        total = np.int64(0)
        for j in range(q):
            code, low, high = own[j], lows[c, j], highs[c, j]
            if code == domain[j]:
                if nulls[c, j] < size:
                    total += full[j]
            elif nulls[c, j] > 0:
                total += full[j]
            elif geometry[j] == LINE:
                total += position[start[j] + max(high, code)] - position[start[j] + min(low, code)]
            elif geometry[j] == TREE:
                low, high = min(low, code), max(high, code)
                at = tree_start[j]
                for _level in range(levels[j] - 1):
                    if node[at + low] == node[at + high]:
                        break
                    at += domain[j]
                total += node_cost[at + low]
            elif domain[j] > 1:
                more = distincts[c, j]
                if code < low or code > high or not _holds(codes, classes, c, joined, j, code):
                    more += 1
                total += (more - 1) * np.int64(full[j]) // (domain[j] - 1)
            if total > most:
                break
        if total > most:
            continue
        increase = (size + 1) * total - before
        better = increase < least or (increase == least and c < best)
        if better and _takes(asked, classes, c, joined, record):
            best, least = c, increase
    return best


@njit(cache=True)
def place_leftovers(
    codes: NDArray[np.int32],
    space: Space,
    classes: Classes,
    leftovers: NDArray[np.int64],
    rules: Rules,
    sensitive: NDArray[np.int32],
    labels: NDArray[np.int32],
) -> None:
    """Fill in the labels of `leftovers`, in their order: the class that grows least, if it keeps the rules.

    The loss of a class is its size times its cost per record; ties go to the first class. Where no class
    would keep the rules, a record joins the one that grows least.
    """
    count, q = len(classes.offsets) - 1, codes.shape[1]
    summaries = _summarise(codes, space, classes)
    asked = Asked(rules, sensitive, make_stats(rules), np.ones(1, np.bool_))
    joined = np.full(count + len(codes), -1, np.int64)  # who joined a class last, who joined before a record
    fresh = np.zeros(q, np.bool_)
    guess = -1
    for record in leftovers:
        asked.strict[0] = not rules.plain
        best = _find_best(codes, space, classes, summaries, record, joined, asked, guess)
        if best < 0:
            asked.strict[0] = False
            best = _find_best(codes, space, classes, summaries, record, joined, asked, guess)
        for j in range(q):
            fresh[j] = space.geometry[j] == SET and not _holds(
                codes, classes, best, joined, j, codes[record, j]
            )
        labels[record] = best
        joined[count + record] = joined[best]
        joined[best] = record
        _add(summaries, space, best, codes[record], fresh)
        guess = best
