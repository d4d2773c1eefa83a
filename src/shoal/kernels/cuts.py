"""The best of all cuts: every boundary of every column, scored in one sweep up and one down.

A node is a run ``begin:end`` of distinct rows, held in the order of every column at once; cutting a node parts
those orders in place, so rows are sorted once for the whole tree. On the way up a sweep keeps what the rows so
far cover and notes the score of the lower side at every boundary; on the way down it adds that of the upper
side. All scores are whole numbers and ties are decided by rules, so any number of threads finds the same cut.

Promises are tested last: the best cut by score alone mostly keeps them, and only where it does not are they
looked at boundary by boundary, and then only at boundaries that would be an improvement.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .counting import count_bits
from .rules import Rules
from .space import LINE, SET, Space, tree_cost
from .stats import Stats, add_record, clear_stats, make_stats, remove_record, stats_ok

NOTHING = np.int64(1) << 62  # score of no cut at all
PARTS = 1000  # the target's share of a score is given in these

_WORD = 64  # columns of fewer codes (null included) are counted as bits of one word
_WAITING = 128  # nodes waiting at most: the smaller side is always cut first


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
        if low[j] == high[j] or (lines_only and geometry != LINE):
            continue
        if high[j] == space.size[j]:
            total += space.full[j]
        elif geometry == LINE:
            at = space.start[j]
            total += space.position[at + high[j]] - space.position[at + low[j]]
        elif geometry == SET:
            met = count_bits(words[j]) if space.size[j] < _WORD else distinct[j]
            total += (met - 1) * np.int64(space.full[j]) // (space.size[j] - 1)
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
def _better(score: int, larger: int, j: int, at: int, best: NDArray[np.int64]) -> bool:
    """Return whether a cut beats the best: by score, then more even sides, then the first one."""
    if score != best[0]:
        return score < best[0]
    if larger != best[1]:
        return larger < best[1]
    if j != best[2]:
        return j < best[2]
    return at < best[3]


@njit(cache=True)
def _sweep_up(
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
def _sweep_down(
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
            if _better(score, max(size, total - size), j, i - 1, best):
                best[0], best[1], best[2], best[3] = score, max(size, total - size), j, i - 1


@njit(cache=True)
def _move(
    rows: Rows, row: int, out: Stats, into: Stats, rules: Rules, sensitive: NDArray[np.int32]
) -> None:
    for at in range(rows.first[row], rows.first[row + 1]):
        remove_record(out, rules, sensitive, rows.records[at])
        add_record(into, rules, sensitive, rows.records[at])


@njit(cache=True)
def _fill(
    rows: Rows, j: int, begin: int, end: int, stats: Stats, rules: Rules, sensitive: NDArray[np.int32]
) -> None:
    """Make `stats` those of the rows ``begin:end`` in the order of column j."""
    clear_stats(stats, rules)
    for i in range(begin, end):
        row = rows.order[j, i]
        for at in range(rows.first[row], rows.first[row + 1]):
            add_record(stats, rules, sensitive, rows.records[at])


@njit(cache=True)
def _sweep_down_testing(
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
    _fill(rows, j, begin, end, below_stats, rules, sensitive)
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
                _better(score, max(size, total - size), j, i - 1, best)
                and stats_ok(above_stats, rules)
                and stats_ok(below_stats, rules)
            ):
                best[0], best[1], best[2], best[3] = score, max(size, total - size), j, i - 1


@njit(cache=True)
def _forget(best: NDArray[np.int64]) -> None:
    best[0], best[1], best[2], best[3] = NOTHING, NOTHING, NOTHING, NOTHING


@njit(cache=True)
def _varies(rows: Rows, j: int, begin: int, end: int) -> bool:
    return rows.codes[rows.order[j, begin], j] != rows.codes[rows.order[j, end - 1], j]


@njit(cache=True)
def _keeps(
    rows: Rows,
    best: NDArray[np.int64],
    begin: int,
    end: int,
    rules: Rules,
    sensitive: NDArray[np.int32],
    stats: Stats,
) -> bool:
    """Return whether both sides of the best cut keep every promise."""
    if rules.plain:
        return True
    j, at = best[2], best[3] + 1
    _fill(rows, j, begin, at, stats, rules, sensitive)
    if not stats_ok(stats, rules):
        return False
    _fill(rows, j, at, end, stats, rules, sensitive)
    return stats_ok(stats, rules)


@njit(cache=True)
def _weigh(rows: Rows, begin: int, end: int) -> int:
    """Return the number of records of a node."""
    total = np.int64(0)
    for i in range(begin, end):
        row = rows.order[0, i]
        total += rows.first[row + 1] - rows.first[row]
    return total


@njit(cache=True)
def _part(rows: Rows, j: int, begin: int, end: int, buffer: NDArray[np.int32]) -> None:
    """Bring the rows of the lower side to the front of a node, in the order of column j, keeping that."""
    order = rows.order[j]
    front, back = begin, 0
    for i in range(begin, end):
        row = order[i]
        if rows.side[row]:
            order[front] = row
            front += 1
        else:
            buffer[back] = row
            back += 1
    for i in range(back):
        order[front + i] = buffer[i]


@njit(cache=True)
def _mark(rows: Rows, best: NDArray[np.int64], begin: int, end: int) -> int:
    """Mark which rows go to the lower side of a cut, and return where the upper side begins."""
    order = rows.order[best[2]]
    for i in range(begin, end):
        rows.side[order[i]] = i <= best[3]
    return best[3] + 1


@njit(cache=True)
def cut_node(
    rows: Rows,
    space: Space,
    rules: Rules,
    sensitive: NDArray[np.int32],
    goal: Goal,
    span: tuple[int, int],
    side: Side,
    scratch: tuple[NDArray[np.int64], NDArray[np.int32], NDArray[np.int64]],
    pair: tuple[Stats, Stats],
    marks: NDArray[np.int64],
) -> int:
    """Cut a node at its best boundary and return where the upper side begins, -1 when there is none."""
    begin, end = span
    lower, buffer, best = scratch
    total = _weigh(rows, begin, end)
    if total < 2 * rules.k:
        return -1
    node = (begin, end, total)
    for testing in (False, True):
        _forget(best)
        for j in range(len(space.size)):
            if not _varies(rows, j, begin, end):
                continue
            marks[0] += 1
            _sweep_up(rows, space, goal, side, node, (j, rules.k, marks[0]), lower)
            marks[0] += 1
            down = (j, rules.k, marks[0])
            if testing:
                _sweep_down_testing(
                    rows, space, goal, side, node, down, lower, best, rules, sensitive, pair
                )
            else:
                _sweep_down(rows, space, goal, side, node, down, lower, best)
        if best[0] == NOTHING:
            return -1
        if testing or _keeps(rows, best, begin, end, rules, sensitive, pair[0]):
            break
    at = _mark(rows, best, begin, end)
    for j in range(len(space.size)):
        if j != best[2]:
            _part(rows, j, begin, end, buffer)
    return at


@njit(cache=True)
def _cut_inner(
    rows: Rows,
    space: Space,
    rules: Rules,
    sensitive: NDArray[np.int32],
    goal: Goal,
    span: tuple[int, int],
    labels: NDArray[np.int64],
) -> None:
    """Cut a node and what comes of it as long as that is possible; a class is labelled by where it begins."""
    length = span[1] - span[0]
    side = make_side(space, goal)
    scratch = (np.empty(length, np.int64), np.empty(length, np.int32), np.empty(4, np.int64))
    pair = (make_stats(rules), make_stats(rules))
    marks = np.zeros(1, np.int64)
    waiting = np.empty((_WAITING, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = span
    count = 1
    while count > 0:
        count -= 1
        begin, end = waiting[count, 0], waiting[count, 1]
        at = cut_node(rows, space, rules, sensitive, goal, (begin, end), side, scratch, pair, marks)
        if at < 0:
            for i in range(begin, end):
                labels[rows.order[0, i]] = begin
            continue
        larger_first = at - begin >= end - at
        waiting[count, 0], waiting[count, 1] = (begin, at) if larger_first else (at, end)
        waiting[count + 1, 0], waiting[count + 1, 1] = (at, end) if larger_first else (begin, at)
        count += 2


@njit(cache=True)
def cut_nodes(
    rows: Rows,
    space: Space,
    rules: Rules,
    sensitive: NDArray[np.int32],
    goal: Goal,
    spans: NDArray[np.int64],
    labels: NDArray[np.int64],
) -> None:
    """Cut the nodes ``spans[:, 0]:spans[:, 1]`` down to classes and label their rows."""
    for i in range(len(spans)):
        _cut_inner(rows, space, rules, sensitive, goal, (spans[i, 0], spans[i, 1]), labels)


@njit(cache=True, parallel=True)
def cut_nodes_parallel(
    rows: Rows,
    space: Space,
    rules: Rules,
    sensitive: NDArray[np.int32],
    goal: Goal,
    spans: NDArray[np.int64],
    labels: NDArray[np.int64],
) -> None:
    """Do what `cut_nodes` does, node beside node; not to be entered from several Python threads."""
    for i in prange(len(spans)):
        _cut_inner(rows, space, rules, sensitive, goal, (spans[i, 0], spans[i, 1]), labels)


@njit(cache=True)
def _column_best(
    rows: Rows,
    space: Space,
    rules: Rules,
    sensitive: NDArray[np.int32],
    goal: Goal,
    node: tuple[int, int, int],
    j: int,
    testing: bool,
    best: NDArray[np.int64],
) -> None:
    """Fill in the best cut of one column of a node."""
    _forget(best)
    if not _varies(rows, j, node[0], node[1]):
        return
    side = make_side(space, goal)
    lower = np.empty(node[1] - node[0], np.int64)
    _sweep_up(rows, space, goal, side, node, (j, rules.k, 1), lower)
    if testing:
        pair = (make_stats(rules), make_stats(rules))
        _sweep_down_testing(
            rows, space, goal, side, node, (j, rules.k, 2), lower, best, rules, sensitive, pair
        )
    else:
        _sweep_down(rows, space, goal, side, node, (j, rules.k, 2), lower, best)


@njit(cache=True, parallel=True)
def cut_large_node(
    rows: Rows,
    space: Space,
    rules: Rules,
    sensitive: NDArray[np.int32],
    goal: Goal,
    begin: int,
    end: int,
) -> int:
    """Do what `cut_node` does, column beside column; not to be entered from several Python threads."""
    q = len(space.size)
    total = _weigh(rows, begin, end)
    if total < 2 * rules.k:
        return -1
    bests = np.empty((q, 4), np.int64)
    best = np.empty(4, np.int64)
    node = (begin, end, total)
    for testing in (False, True):
        for j in prange(q):
            _column_best(rows, space, rules, sensitive, goal, node, j, testing, bests[j])
        _forget(best)
        for j in range(q):
            if _better(bests[j, 0], bests[j, 1], bests[j, 2], bests[j, 3], best):
                best[:] = bests[j]
        if best[0] == NOTHING:
            return -1
        if testing or _keeps(rows, best, begin, end, rules, sensitive, make_stats(rules)):
            break
    at = _mark(rows, best, begin, end)
    for j in prange(q):
        if j != best[2]:
            _part(rows, j, begin, end, np.empty(end - begin, np.int32))
    return at


@njit(cache=True)
def cut_one_node(
    rows: Rows,
    space: Space,
    rules: Rules,
    sensitive: NDArray[np.int32],
    goal: Goal,
    begin: int,
    end: int,
) -> int:
    """Cut one node as `cut_node` does, with scratch space of its own."""
    scratch = (np.empty(end - begin, np.int64), np.empty(end - begin, np.int32), np.empty(4, np.int64))
    pair = (make_stats(rules), make_stats(rules))
    marks = np.zeros(1, np.int64)
    return cut_node(
        rows, space, rules, sensitive, goal, (begin, end), make_side(space, goal), scratch, pair, marks
    )
