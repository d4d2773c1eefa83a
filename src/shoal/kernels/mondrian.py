"""Mondrian's recursive cuts, in place on a row-major copy of the codes, each in as few bytes as it needs.

A node is a run of rows. Every cut is "codes up to a threshold go left": null has the greatest code, so a
threshold just below it separates null from values; with a hierarchy the children of the common ancestor are
runs of leaves, so cutting at the last leaf of each child splits a node into all of them.

The functions called for every node take single arrays rather than all of `Work`: Numba counts the references
of every array of a tuple at every call, which would take longer than cutting a small node.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .counting import count_codes, sort_numbers
from .rows import DISTINCT, HIGH, LOW, Rows, collect_columns, gather_codes
from .rules import Rules
from .space import LINE, SET, TREE, Space, tree_cost
from .stats import Stats, add_record, clear_stats, make_stats, stats_ok

_STRAYS = 4096  # rows on the wrong side of a cut that are listed at a time
_WIDTH = 3  # the row of `Work.columns` behind those that `collect_columns` fills in


class Work(NamedTuple):
    """The rows being cut and the scratch space of one node; `ids[i]` is the record that row i holds."""

    rows: Rows
    ids: NDArray[np.int32]  # [n]
    columns: NDArray[np.int64]  # [4, q] extreme codes (null included), distinct codes (-1 unknown), cost
    bits: NDArray[np.uint64]  # [q] bit c is set where code c occurs
    seen: NDArray[np.int32]  # [sum(size + 1)] the last node in which a code was met
    codes: NDArray[np.int32]  # [n] one column of the node, row by row
    values: NDArray[np.int32]  # [m] the codes of one column in the node, ascending
    counts: NDArray[np.int32]  # [m] records of each of them
    histogram: NDArray[np.int32]  # [max(size + 1)] zero between uses
    bounds: NDArray[np.int64]  # [n // k + 2] where the parts of the node begin and end
    strays: NDArray[np.int32]  # [2, _STRAYS] rows on the wrong side of a cut
    waiting: NDArray[np.int64]  # [n // k + 2, 2] nodes that wait to be cut, begin and end
    state: NDArray[np.int64]  # [3] how many wait, classes made, nodes seen


@njit(cache=True)
def make_work(rows: Rows, space: Space, k: int, relaxed: bool) -> Work:
    """Return the work on a table that is one node still; `rows` will be permuted.

    What may stay untouched is left empty: memory that nobody writes to is never taken.
    """
    n, q = len(rows.bytes), len(rows.width)
    waiting = np.empty((n // k + 2, 2), np.int64)
    waiting[0, 0], waiting[0, 1] = 0, n
    most = space.size.max() + 1
    room = n if relaxed else min(n, most)  # records that tie are sorted here as well
    ids = np.empty(n, np.int32)
    for i in range(n):
        ids[i] = i
    return Work(
        rows,
        ids,
        np.zeros((4, q), np.int64),
        np.zeros(q, np.uint64),
        np.zeros(space.start[q], np.int32),
        np.empty(n, np.int32),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.zeros(most, np.int32),
        np.empty(n // k + 2, np.int64),
        np.empty((2, _STRAYS), np.int32),
        waiting,
        np.array([1, 0, 0], np.int64),
    )


@njit(cache=True)
def _count_distinct(work: Work, space: Space, j: int, begin: int, end: int, mark: int) -> None:
    """Count the different codes of column `j` in a node, null included, unless that is known."""
    if work.columns[DISTINCT, j] >= 0:
        return
    most = work.columns[HIGH, j] - work.columns[LOW, j] + 1
    start = space.start[j]
    distinct = 0
    for code in gather_codes(work.rows, j, begin, end, work.codes):
        at = start + code
        if work.seen[at] != mark:
            work.seen[at] = mark
            distinct += 1
            if distinct == most:
                break
    work.columns[DISTINCT, j] = distinct


@njit(cache=True)
def _measure(work: Work, space: Space, begin: int, end: int, mark: int) -> None:
    """Fill in the extremes and the cost of every column: `spread_cost`, without a call for each."""
    collect_columns(work.rows, begin, end, space.size, work.bits, work.columns)
    low, high, distinct, width = work.columns
    for j in range(len(width)):
        full = np.int64(space.full[j])
        if low[j] == high[j]:
            width[j] = 0
        elif high[j] == space.size[j]:
            width[j] = full
        elif space.geometry[j] == LINE:
            at = space.start[j]
            width[j] = space.position[at + high[j]] - space.position[at + low[j]]
        elif space.geometry[j] == SET:
            if distinct[j] < 0:
                _count_distinct(work, space, j, begin, end, mark)
            width[j] = (distinct[j] - 1) * full // (space.size[j] - 1)
        else:
            width[j] = tree_cost(space, j, low[j], high[j])


@njit(cache=True)
def _widest(work: Work, space: Space, begin: int, end: int, mark: int) -> int:
    """Return the column with the greatest share of its full cost, -1 when all are 0.

    Ties go to the column with more distinct codes, then to the first.
    """
    distinct, width = work.columns[DISTINCT], work.columns[_WIDTH]
    best = -1
    for j in range(len(width)):
        if width[j] == 0:
            continue
        if best < 0:
            best = j
            continue
        mine = width[j] * np.int64(space.full[best])
        other = width[best] * np.int64(space.full[j])
        if mine > other:
            best = j
        elif mine == other:
            _count_distinct(work, space, best, begin, end, mark)
            _count_distinct(work, space, j, begin, end, mark)
            if distinct[j] > distinct[best]:
                best = j
    return best


@njit(cache=True)
def _divide(
    words: NDArray[np.int32],
    ids: NDArray[np.int32],
    codes: NDArray[np.int32],
    strays: NDArray[np.int32],
    span: tuple[int, int, int, int],
    code: int,
    last: int,
) -> int:
    """Move codes below `code` left, and `code` itself for records up to `last`; return the boundary.

    `codes` are those of the rows from `first` on, and move along; `span` is that `first`, the begin of what
    is divided, the boundary, which the counts told, and the end. Rows on the wrong side are listed, some at a
    time, and then swapped: which side a row is on is a coin's toss, and a processor guesses it badly.
    """
    first, at, boundary, end = span
    other = boundary
    lefts = rights = done_left = done_right = 0
    while True:
        while done_left == lefts and at < boundary:
            until = min(boundary, at + _STRAYS)
            done_left = lefts = 0
            for i in range(at, until):
                strays[0, lefts] = i
                found = codes[i - first]
                lefts += (found > code) | ((found == code) & (ids[i] > last))
            at = until
        while done_right == rights and other < end:
            until = min(end, other + _STRAYS)
            done_right = rights = 0
            for i in range(other, until):
                strays[1, rights] = i
                found = codes[i - first]
                rights += (found < code) | ((found == code) & (ids[i] <= last))
            other = until
        pairs = min(lefts - done_left, rights - done_right)
        if pairs == 0:
            return boundary
        for place in range(pairs):
            a, b = strays[0, done_left + place], strays[1, done_right + place]
            ids[a], ids[b] = ids[b], ids[a]
            codes[a - first], codes[b - first] = codes[b - first], codes[a - first]
            for c in range(words.shape[1]):
                words[a, c], words[b, c] = words[b, c], words[a, c]
        done_left += pairs
        done_right += pairs


@njit(cache=True)
def _children_row(node: NDArray[np.int32], size: int, low: int, high: int) -> int:
    """Return where the level below the common ancestor of two leaves begins: it has one node per child."""
    row = 0
    while node[row + low] != node[row + high]:
        row += size
    return row - size


@njit(cache=True)
def _gather_children(
    node: NDArray[np.int32],
    size: int,
    k: int,
    runs: int,
    values: NDArray[np.int32],
    counts: NDArray[np.int32],
) -> int:
    """Put the last code of every child of the common ancestor, and its records, at the front of the arrays.

    `node` is the tree of the column, level after level. Returns the number of children that occur, 0 when
    one of them has fewer than `k` records.
    """
    row = _children_row(node, size, values[0], values[runs - 1])
    parts = 0
    held = 0
    for run in range(runs):
        held += counts[run]
        if run + 1 < runs and node[row + values[run]] == node[row + values[run + 1]]:
            continue
        if held < k:
            return 0
        counts[parts] = held
        held = 0
        values[parts] = values[run]
        parts += 1
    return parts


@njit(cache=True)
def _middle_child(
    node: NDArray[np.int32],
    size: int,
    m: int,
    runs: int,
    values: NDArray[np.int32],
    counts: NDArray[np.int32],
) -> tuple[int, int]:
    """Return the last run of the child after which the halves are most even, and the records up to there.

    `m` is the number of records; ties go to the first such child.
    """
    if runs < 2:
        return 0, 0
    row = _children_row(node, size, values[0], values[runs - 1])
    best, best_left, uneven = 0, np.int64(0), np.int64(m)
    left = np.int64(0)
    for run in range(runs - 1):
        left += counts[run]
        if node[row + values[run]] != node[row + values[run + 1]] and abs(2 * left - m) < uneven:
            best, best_left, uneven = run, left, abs(2 * left - m)
    return best, best_left


@njit(cache=True)
def _last_tied(work: Work, codes: NDArray[np.int32], begin: int, code: int, wanted: int) -> int:
    """Return the record up to which `wanted` records of a node with this code are found."""
    found = 0
    for place in range(len(codes)):
        if codes[place] == code:
            work.values[found] = work.ids[begin + place]
            found += 1
    sort_numbers(work.values[:found], work.counts, 0, len(work.ids))
    return work.values[wanted - 1]


@njit(cache=True)
def _propose_special(work: Work, space: Space, k: int, j: int, begin: int, end: int) -> int:
    """Separate null from values, or the children of the common ancestor; return the number of parts or 0."""
    low, high = work.columns[LOW, j], work.columns[HIGH, j]
    values, counts, codes = work.values, work.counts, gather_codes(work.rows, j, begin, end, work.codes)
    runs = count_codes(codes, low, high, values, counts, work.histogram)
    if high == space.size[j]:
        nulls = counts[runs - 1]
        parts = 2 if nulls >= k and end - begin - nulls >= k else 0
        values[0] = high - 1
        counts[0] = end - begin - nulls
    else:
        tree = space.node[space.tree_start[j] :]
        parts = _gather_children(tree, space.size[j], k, runs, values, counts)
    work.bounds[0] = begin
    for part in range(parts - 1):
        span = (begin, work.bounds[part], work.bounds[part] + counts[part], end)
        work.bounds[part + 1] = _divide(
            work.rows.words, work.ids, codes, work.strays, span, values[part], len(work.ids)
        )
    work.bounds[parts] = end
    return parts


@njit(cache=True)
def _median_run(runs: int, half: int, counts: NDArray[np.int32]) -> tuple[int, int]:
    """Return the run that holds the lower median, and the records up to its end."""
    run = 0
    left = np.int64(counts[0])
    while left < half:
        run += 1
        left += counts[run]
    return run, left


@njit(cache=True)
def _propose_median(work: Work, space: Space, k: int, j: int, begin: int, end: int, relaxed: bool) -> int:
    """Cut near the middle; return the number of parts, 0 when one has fewer than `k` records."""
    values, counts, codes = work.values, work.counts, gather_codes(work.rows, j, begin, end, work.codes)
    low, high = work.columns[LOW, j], work.columns[HIGH, j]
    runs = count_codes(codes, low, high, values, counts, work.histogram)
    m = end - begin
    half = (m + 1) // 2
    last = len(work.ids)
    if space.geometry[j] == TREE:
        valued = runs - 1 if high == space.size[j] else runs
        tree = space.node[space.tree_start[j] :]
        run, left = _middle_child(tree, space.size[j], m, valued, values, counts)
    else:
        run, left = _median_run(runs, half, counts)
        if relaxed:
            wanted = half - (left - counts[run])
            left = half
            code = values[run]
            last = _last_tied(work, codes, begin, code, wanted)
            values[run] = code
        elif run == runs - 1:
            left -= counts[run]
            run -= 1
    if left < k or m - left < k:
        return 0
    work.bounds[0] = begin
    span = (begin, begin, begin + left, end)
    work.bounds[1] = _divide(work.rows.words, work.ids, codes, work.strays, span, values[run], last)
    work.bounds[2] = end
    return 2


@njit(cache=True)
def _all_hold(work: Work, parts: int, sensitive: NDArray[np.int32], stats: Stats, rules: Rules) -> bool:
    """Return whether every part could be a class."""
    for part in range(parts):
        for i in range(work.bounds[part], work.bounds[part + 1]):
            add_record(stats, rules, sensitive, work.ids[i])
        holds = stats_ok(stats, rules)
        clear_stats(stats, rules)
        if not holds:
            return False
    return True


@njit(cache=True)
def cut_some(
    work: Work,
    sensitive: NDArray[np.int32],
    space: Space,
    rules: Rules,
    relaxed: bool,
    labels: NDArray[np.int32],
    budget: int,
) -> int:
    """Cut waiting nodes until classes of `budget` records are done, and label these; return their number.

    Fewer than `budget` records mean that no node waits any more.
    """
    stats = make_stats(rules)
    waiting, classes, nodes = work.state
    done = 0
    while waiting > 0 and done < budget:
        waiting -= 1
        begin, end = work.waiting[waiting, 0], work.waiting[waiting, 1]
        nodes += 1
        parts = 0
        j = -1
        if end - begin >= 2 * rules.k:
            _measure(work, space, begin, end, nodes)
            j = _widest(work, space, begin, end, nodes)
        while j >= 0:
            if space.geometry[j] == TREE or work.columns[HIGH, j] == space.size[j]:
                parts = _propose_special(work, space, rules.k, j, begin, end)
                if parts > 0 and (rules.plain or _all_hold(work, parts, sensitive, stats, rules)):
                    break
            parts = _propose_median(work, space, rules.k, j, begin, end, relaxed)
            if parts > 0 and (rules.plain or _all_hold(work, parts, sensitive, stats, rules)):
                break
            parts = 0
            work.columns[_WIDTH, j] = 0
            j = _widest(work, space, begin, end, nodes)
        for part in range(parts):
            work.waiting[waiting, 0], work.waiting[waiting, 1] = work.bounds[part], work.bounds[part + 1]
            waiting += 1
        if parts == 0:
            for i in range(begin, end):
                labels[work.ids[i]] = classes
            classes += 1
            done += end - begin
    work.state[:] = (waiting, classes, nodes)
    return done
