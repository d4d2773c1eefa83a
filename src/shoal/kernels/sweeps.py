"""Every boundary of a column, scored in one sweep up and one down.

A node is a run ``begin:end`` of distinct rows, held in the order of every column at once; cutting a node
parts those orders in place, so rows are sorted once for the whole tree. On the way up a sweep keeps what the
rows so far cover and notes the score of the lower side at every boundary; on the way down it adds that of the
upper side. All scores are whole numbers, so any number of threads finds the same cut.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .counting import count_bits
from .rules import Rules
from .space import LINE, SET, Space, tree_cost
from .stats import Stats, add_record, clear_stats, remove_record, stats_ok

NOTHING = np.int64(1) << 62  # score of no cut at all
PARTS = 1000  # the target's share of a score is given in these

_WORD = 64  # columns of fewer codes (null included) are counted as bits of one word


class Rows(NamedTuple):
    """The distinct rows, and the records of each."""

    codes: NDArray[np.int32]  # [m, q]
    order: NDArray[np.int32]  # [q, m] the rows by ascending code of every column, node by node
    records: NDArray[np.int64]  # [n] row by row
    first: NDArray[np.int64]  # [m + 1] where the records of a row begin
    side: NDArray[np.bool_]  # [m] scratch: whether a row goes to the lower side


class Goal(NamedTuple):
    """What a cut should make small: loss, and the entropy of a target column."""

    paper: bool  # ranges of LINE columns alone, whatever the sizes of the two sides
    parts: int  # share of the target's entropy in the score, in `PARTS`; 0 without a target
    target: NDArray[np.int32]  # [n] value of the target column of every record
    values: int  # number of those values
    logs: NDArray[np.int64]  # [n + 1] c * ln(c) in units in which the greatest entropy costs a whole row


class Side(NamedTuple):
    """What the rows met so far cover."""

    low: NDArray[np.int32]  # [q] extreme codes; null is the greatest code
    high: NDArray[np.int32]
    words: NDArray[np.uint64]  # [q] codes met, of SET columns with few of them
    distinct: NDArray[np.int64]  # [q] different codes met, of the other SET columns
    seen: NDArray[np.int64]  # [sum(size + 1)] the last sweep in which a code was met
    counts: NDArray[np.int64]  # [values] records of every value of the target


@njit(cache=True)
def make_side(space: Space, goal: Goal) -> Side:
    """Return the scratch space of one sweep."""
    q = len(space.size)
    marks = 0
    for j in range(q):
        if space.geometry[j] == SET and space.size[j] >= _WORD:
            marks = space.start[q]
    return Side(
        np.empty(q, np.int32),
        np.empty(q, np.int32),
        np.empty(q, np.uint64),
        np.zeros(q, np.int64),
        np.zeros(marks, np.int64),
        np.zeros(goal.values, np.int64),
    )


@njit(cache=True)
def _begin(side: Side, space: Space) -> None:
    for j in range(len(space.size)):
        side.low[j] = space.size[j]
        side.high[j] = -1
        side.words[j] = 0
        side.distinct[j] = 0
    side.counts[:] = 0


@njit(cache=True)
def _cover(
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    words: NDArray[np.uint64],
    distinct: NDArray[np.int64],
    seen: NDArray[np.int64],
    space: Space,
    row: NDArray[np.int32],
    mark: int,
) -> None:
    """Let a side cover one more row."""
    for j in range(len(row)):
        low[j] = min(low[j], row[j])
        high[j] = max(high[j], row[j])
    for j in range(len(row)):
        if space.geometry[j] == SET:
            if space.size[j] < _WORD:
                words[j] |= np.uint64(1) << np.uint64(row[j])
            else:
                at = space.start[j] + row[j]
                if seen[at] != mark:
                    seen[at] = mark
                    distinct[j] += 1


@njit(cache=True)
def _cost(
    low: NDArray[np.int32],
    high: NDArray[np.int32],
    words: NDArray[np.uint64],
    distinct: NDArray[np.int64],
    space: Space,
    lines_only: bool,
) -> int:
    """Return the cost per record of what a side covers."""
    total = np.int64(0)
    for j in range(len(low)):
        geometry = space.geometry[j]
        if lines_only and geometry != LINE:
            continue
        if high[j] == space.size[j]:
            total += 0 if low[j] == high[j] else space.full[j]
        elif geometry == LINE:
            at = space.start[j]
            total += space.position[at + high[j]] - space.position[at + low[j]]
        elif geometry == SET:
            met = count_bits(words[j]) if space.size[j] < _WORD else distinct[j]
            total += (met - 1) * np.int64(space.full[j]) // max(space.size[j] - 1, 1)
        else:
            total += tree_cost(space, j, low[j], high[j])
    return total


@njit(cache=True)
def _count_target(rows: Rows, goal: Goal, counts: NDArray[np.int64], row: int) -> int:
    """Count the target values of a row; return by how much their sum of c * ln(c) grows."""
    grown = np.int64(0)
    for at in range(rows.first[row], rows.first[row + 1]):
        value = goal.target[rows.records[at]]
        counts[value] += 1
        grown += goal.logs[counts[value]] - goal.logs[counts[value] - 1]
    return grown


@njit(cache=True)
def _score(side: Side, space: Space, goal: Goal, size: int, clogc: int) -> int:
    """Return what a side of `size` records adds to the score of a cut."""
    cost = _cost(side.low, side.high, side.words, side.distinct, space, goal.paper)
    if goal.paper:
        return cost
    if goal.parts == 0:
        return cost * size
    return (PARTS - goal.parts) * cost * size + goal.parts * (goal.logs[size] - clogc)


@njit(cache=True)
def better(score: int, larger: int, j: int, at: int, best: NDArray[np.int64]) -> bool:
    """Return whether a cut beats the best: by score, then more even sides, then the first one."""
    if score != best[0]:
        return score < best[0]
    if larger != best[1]:
        return larger < best[1]
    if j != best[2]:
        return j < best[2]
    return at < best[3]


@njit(cache=True)
def sweep_up(
    rows: Rows,
    space: Space,
    goal: Goal,
    side: Side,
    node: tuple[int, int, int],
    span: tuple[int, int, int],
    lower: NDArray[np.int64],
) -> None:
    """Note the score of the lower side at every boundary of a column; -1 where a side would be too small."""
    begin, end, total = node
    j, k, mark = span
    order = rows.order[j]
    _begin(side, space)
    size, clogc = np.int64(0), np.int64(0)
    for i in range(begin, end - 1):
        lower[i - begin] = -1
        row = order[i]
        _cover(side.low, side.high, side.words, side.distinct, side.seen, space, rows.codes[row], mark)
        size += rows.first[row + 1] - rows.first[row]
        if goal.parts > 0:
            clogc += _count_target(rows, goal, side.counts, row)
        if rows.codes[row, j] != rows.codes[order[i + 1], j] and size >= k and total - size >= k:
            lower[i - begin] = _score(side, space, goal, size, clogc)


@njit(cache=True)
def sweep_down(
    rows: Rows,
    space: Space,
    goal: Goal,
    side: Side,
    node: tuple[int, int, int],
    span: tuple[int, int, int],
    lower: NDArray[np.int64],
    best: NDArray[np.int64],
) -> None:
    """Improve `best` by the cuts of a column, whatever else is promised than sizes."""
    begin, end, total = node
    j, k, mark = span
    order = rows.order[j]
    _begin(side, space)
    size, clogc = np.int64(0), np.int64(0)
    for i in range(end - 1, begin, -1):
        row = order[i]
        _cover(side.low, side.high, side.words, side.distinct, side.seen, space, rows.codes[row], mark)
        size += rows.first[row + 1] - rows.first[row]
        if total - size < k:
            break
        if goal.parts > 0:
            clogc += _count_target(rows, goal, side.counts, row)
        below = lower[i - 1 - begin]
        if 0 <= below <= best[0]:
            score = below + _score(side, space, goal, size, clogc)
            if better(score, max(size, total - size), j, i - 1, best):
                best[0], best[1], best[2], best[3] = score, max(size, total - size), j, i - 1


@njit(cache=True)
def _move(rows: Rows, row: int, out: Stats, into: Stats, rules: Rules, sensitive: NDArray[np.int32]) -> None:
    for at in range(rows.first[row], rows.first[row + 1]):
        remove_record(out, rules, sensitive, rows.records[at])
        add_record(into, rules, sensitive, rows.records[at])


@njit(cache=True)
def fill_stats(
    rows: Rows, j: int, begin: int, end: int, stats: Stats, rules: Rules, sensitive: NDArray[np.int32]
) -> None:
    """Make `stats` those of the rows ``begin:end`` in the order of column j."""
    clear_stats(stats, rules)
    for i in range(begin, end):
        row = rows.order[j, i]
        for at in range(rows.first[row], rows.first[row + 1]):
            add_record(stats, rules, sensitive, rows.records[at])


@njit(cache=True)
def sweep_down_testing(
    rows: Rows,
    space: Space,
    goal: Goal,
    side: Side,
    node: tuple[int, int, int],
    span: tuple[int, int, int],
    lower: NDArray[np.int64],
    best: NDArray[np.int64],
    rules: Rules,
    sensitive: NDArray[np.int32],
    pair: tuple[Stats, Stats],
) -> None:
    """Improve `best` by those cuts of a column of which both sides keep every promise."""
    begin, end, total = node
    j, k, mark = span
    order = rows.order[j]
    below_stats, above_stats = pair
    fill_stats(rows, j, begin, end, below_stats, rules, sensitive)
    clear_stats(above_stats, rules)
    _begin(side, space)
    size, clogc = np.int64(0), np.int64(0)
    for i in range(end - 1, begin, -1):
        row = order[i]
        _cover(side.low, side.high, side.words, side.distinct, side.seen, space, rows.codes[row], mark)
        _move(rows, row, below_stats, above_stats, rules, sensitive)
        size += rows.first[row + 1] - rows.first[row]
        if total - size < k:
            break
        if goal.parts > 0:
            clogc += _count_target(rows, goal, side.counts, row)
        below = lower[i - 1 - begin]
        if 0 <= below <= best[0]:
            score = below + _score(side, space, goal, size, clogc)
            if (
                better(score, max(size, total - size), j, i - 1, best)
                and stats_ok(above_stats, rules)
                and stats_ok(below_stats, rules)
            ):
                best[0], best[1], best[2], best[3] = score, max(size, total - size), j, i - 1


@njit(cache=True)
def forget(best: NDArray[np.int64]) -> None:
    """Make `best` no cut at all."""
    best[0], best[1], best[2], best[3] = NOTHING, NOTHING, NOTHING, NOTHING
