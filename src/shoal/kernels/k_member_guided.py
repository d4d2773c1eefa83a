"""Greedy k-member that looks at other columns than the quasi-identifiers: penalties, and promises as rules.

What guides the growth are further columns of the tree of boxes, behind the quasi-identifiers. For every pick
each of them says which of its values are free; the others cost its penalty. A promise's penalty is beyond
any loss, and whether a value is free is found out when the nearest record has it, not before.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .k_member import ClassState, furthest, include, nearest
from .k_member_index import Columns, Index, take
from .rules import Rules
from .stats import Stats, add_count, clear_stats, column_ok

EQUAL = 0  # not the value that all records of the class have
TRULY = 1  # the same, where that value is a truly sensitive one
LABEL = 2  # a most frequent value of the class
RULE = 3  # a value with which the class can still come to keep the policy
FAIR = 4  # a value that the classes to come can spare

FORBIDDEN = np.int64(1) << 52  # more than any row costs, unfair ones among them
UNFAIR = np.int64(1) << 44  # more than any row costs that is neither

_WIDER = 8  # a class that cannot be completed is given room for one in so many more records
TOO_DEAR = -2

_PATIENCE = 2  # times the size that it would need if nothing were taken yet


class Guides(NamedTuple):
    """The guiding columns; their values are numbered as `ClassState.member`, less `origin`."""

    kind: NDArray[np.int8]  # [g]
    penalty: NDArray[np.int64]  # [g] in units, for one more record
    column: NDArray[np.int64]  # [g] sensitive column of a RULE or of what is FAIR
    start: NDArray[np.int64]  # [g + 1]
    truly: NDArray[np.bool_]  # [values] which values are truly sensitive
    count: NDArray[np.int64]  # [values] records of the class being grown
    distinct: NDArray[np.int64]  # [g]
    largest: NDArray[np.int64]  # [g]


class Promises(NamedTuple):
    """The policy, the class being grown as it sees it, and what could still join."""

    rules: Rules
    stats: Stats
    trial: Stats
    supply: NDArray[np.int64]  # [v] records of each sensitive value that are in no class
    everyone: NDArray[np.int64]  # [v] the same before the first class
    price: int  # what a class may lose for a pick that the promises force, before it is given up
    limit: NDArray[np.int64]  # [v] size up to which a class begun by this value may grow; 0: not known yet


class Groups(NamedTuple):
    """What has been grown: group i is ``members[end[i - 1]:end[i]]``, and a class if ``done[i]``."""

    members: NDArray[np.int64]  # [n]
    end: NDArray[np.int64]  # [n]
    done: NDArray[np.bool_]  # [n]
    filled: NDArray[np.int64]  # [2] groups and records


@njit(cache=True)
def _begin(guides: Guides, promises: Promises) -> None:
    guides.count[:] = 0
    guides.distinct[:] = 0
    guides.largest[:] = 0
    clear_stats(promises.stats, promises.rules)


@njit(cache=True)
def _join(guides: Guides, promises: Promises, values: NDArray[np.int32]) -> None:
    """Count a record, given by its values of the guiding columns, into the class and out of the supply."""
    promises.stats.size[0] += 1
    for g in range(len(values)):
        at = guides.start[g] + values[g]
        guides.count[at] += 1
        guides.distinct[g] += guides.count[at] == 1
        guides.largest[g] = max(guides.largest[g], guides.count[at])
        if guides.kind[g] == RULE:
            j = guides.column[g]
            value = promises.rules.start[j] + values[g]
            add_count(promises.stats, promises.rules, j, value, 1)
            promises.supply[value] -= 1


@njit(cache=True)
def _set_free(columns: Columns, state: ClassState, j: int, value: int, free: bool) -> None:
    state.member[columns.start[j] + value] = state.serial[0] if free else -1


@njit(cache=True)
def _note(columns: Columns, state: ClassState, j: int) -> None:
    """Note in the mask of a guiding column which bits stand for a free value."""
    mask = np.int64(0)
    for value in range(columns.size[j]):
        if state.member[columns.start[j] + value] == state.serial[0]:
            mask |= np.int64(1) << (value & 63)
    state.mask[j] = mask


@njit(cache=True)
def _open(guides: Guides, promises: Promises, columns: Columns, state: ClassState) -> None:
    """Say for the next pick which values are free; RULE and FAIR find that out later."""
    size = promises.stats.size[0]
    first = len(columns.kind) - len(guides.kind)
    for g in range(len(guides.kind)):
        j = first + g
        for value in range(columns.size[j]):
            at = guides.start[g] + value
            held = guides.count[at]
            free = True
            if guides.kind[g] == LABEL:
                free = held == guides.largest[g]
            elif guides.kind[g] < LABEL and guides.distinct[g] == 1 and held > 0:
                free = guides.kind[g] == TRULY and not guides.truly[at]
            _set_free(columns, state, j, value, free)
        _note(columns, state, j)
        state.cost[j] = 0
        if guides.kind[g] == RULE:
            state.grown[j] = FORBIDDEN
        elif guides.kind[g] == FAIR:
            state.grown[j] = UNFAIR
        else:
            state.grown[j] = guides.penalty[g] // (size + 1)


@njit(cache=True)
def _fill(
    promises: Promises, supply: NDArray[np.int64], j: int, free: int, target: int, balanced: bool
) -> bool:
    """Add `free` records to the trial in the order that should serve the promises; return whether there are.

    Values that are missing for diversity come first. Among the others, the one that the class holds least of
    (`balanced`), or that it is most short of beside the whole table.
    """
    rules, trial = promises.rules, promises.trial
    first, stop = rules.start[j], rules.start[j + 1]
    for _more in range(free):
        best = -1
        best_short, best_share = 0.0, 0.0
        missing = trial.distinct[j] < rules.min_distinct[j]
        for value in range(first, stop):
            held = trial.counts[value]
            if supply[value] <= held - promises.stats.counts[value] or (missing and held > 0):
                continue
            share = rules.overall[value]
            short = -float(held) if balanced else target * share - held * rules.total
            if best < 0 or short > best_short or (short == best_short and share > best_share):
                best, best_short, best_share = value, short, share
        if best < 0:
            return False
        add_count(trial, rules, j, best, 1)
    return True


@njit(cache=True)
def _completes(promises: Promises, supply: NDArray[np.int64], j: int, value: int, target: int) -> bool:
    """Return whether the class, with one more value unless it is -1, can be filled up to `target` records."""
    rules, stats, trial = promises.rules, promises.stats, promises.trial
    for balanced in (False, True):
        clear_stats(trial, rules)
        for at in range(rules.start[j], rules.start[j] + stats.distinct[j]):
            add_count(trial, rules, j, stats.present[at], stats.counts[stats.present[at]])
        free = target - stats.size[0]
        if value >= 0:
            add_count(trial, rules, j, value, 1)
            free -= 1
        if _fill(promises, supply, j, free, target, balanced):
            trial.size[0] = target
            if column_ok(trial, rules, j):
                return True
    return False


@njit(cache=True)
def _fair(promises: Promises, j: int, value: int, target: int) -> bool:
    """Return whether classes as the records that are left would make them can do with one record less.

    They can if there are as many records with this value as in the whole table, or if a class of `target`
    records that holds its share of them, rounded down, and of the others what is left, keeps the promises.
    """
    rules, trial, supply = promises.rules, promises.trial, promises.supply
    first, stop = rules.start[j], rules.start[j + 1]
    left = supply[first:stop].sum() - 1
    if left == 0 or (supply[value] - 1) * rules.total >= rules.overall[value] * left:
        return True
    clear_stats(trial, rules)
    share = target * (supply[value] - 1) // left
    if share > 0:
        add_count(trial, rules, j, value, share)
    for _more in range(target - share):
        best, most = -1, np.int64(-1) << 62
        for other in range(first, stop):
            short = target * supply[other] - left * trial.counts[other]
            if other != value and supply[other] > trial.counts[other] and short > most:
                best, most = other, short
        if best < 0:
            return True
        add_count(trial, rules, j, best, 1)
    trial.size[0] = target
    return column_ok(trial, rules, j)


@njit(cache=True)
def _all_complete(guides: Guides, promises: Promises, target: int) -> bool:
    for g in range(len(guides.kind)):
        if guides.kind[g] == RULE and not _completes(promises, promises.supply, guides.column[g], -1, target):
            return False
    return True


@njit(cache=True)
def _wider(target: int) -> int:
    return target + max(1, target // _WIDER)


@njit(cache=True)
def _reachable(guides: Guides, promises: Promises, target: int, limit: int) -> int:
    """Return the first size from `target` on at which the class could keep the policy, -1 for none."""
    while target <= limit:
        if _all_complete(guides, promises, target):
            return target
        target = _wider(target)
    return -1


@njit(cache=True)
def _limit(guides: Guides, promises: Promises, values: NDArray[np.int32]) -> int:
    """Return the size beyond which a class of one record is given up: twice what it needs at best."""
    rules = promises.rules
    limit = np.int64(_PATIENCE * rules.k)
    for g in range(len(values)):
        if guides.kind[g] != RULE:
            continue
        j = guides.column[g]
        value = rules.start[j] + values[g]
        if promises.limit[value] == 0:
            target, everyone = np.int64(rules.k), np.int64(rules.total)
            promises.everyone[value] -= 1  # the record itself
            while target <= everyone and not _completes(promises, promises.everyone, j, -1, target):
                target = _wider(target)
            promises.everyone[value] += 1
            promises.limit[value] = _PATIENCE * target if target <= everyone else 1
        if promises.limit[value] == 1:
            return 0
        limit = max(limit, promises.limit[value])
    return limit


@njit(cache=True)
def _forbid(
    index: Index,
    columns: Columns,
    state: ClassState,
    guides: Guides,
    promises: Promises,
    slot: int,
    target: int,
) -> int:
    """Forbid the values of a row with which the class cannot be completed.

    Return 0 when there are none, 1 when there are, 2 when the row has one that was forbidden before.
    """
    first = len(columns.kind) - len(guides.kind)
    found = 0
    for g in range(len(guides.kind)):
        kind = guides.kind[g]
        if kind != RULE and kind != FAIR:
            continue
        j, value = first + g, index.values[slot, first + g]
        if state.member[columns.start[j] + value] != state.serial[0]:
            if kind == RULE:
                return 2
            continue
        column = guides.column[g]
        flat = promises.rules.start[column] + value
        if kind == RULE:
            good = _completes(promises, promises.supply, column, flat, target)
        else:
            good = _fair(promises, column, flat, target)
        if not good:
            _set_free(columns, state, j, value, False)
            _note(columns, state, j)
            found = 1
    return found


@njit(cache=True)
def _pick(
    index: Index, columns: Columns, state: ClassState, guides: Guides, promises: Promises, target: int
) -> int:
    """Return the slot of the cheapest record with which the class can be completed, -1 for none.

    `TOO_DEAR` when by this record the class, once complete, would lose more beyond the cheapest record of all
    than the price.
    """
    _open(guides, promises, columns, state)
    free = np.int64(-1)
    while True:
        slot = nearest(index, columns, state)
        if slot < 0:
            return -1
        if free < 0:
            free = state.found[0]
        found = _forbid(index, columns, state, guides, promises, slot, target)
        if found == 2:
            return -1
        if found == 0:
            extra = (state.found[0] - free) & (UNFAIR - 1)
            return TOO_DEAR if extra * target > promises.price else slot


@njit(cache=True)
def _grow_one(
    index: Index,
    columns: Columns,
    state: ClassState,
    guides: Guides,
    promises: Promises,
    seed: NDArray[np.int32],
    from_last: bool,
    members: NDArray[np.int64],
) -> tuple[int, bool]:
    """Grow one class into `members`; return how many records were taken, and whether they are a class."""
    q = len(columns.kind) - len(guides.kind)
    row = np.empty(q, np.int32)
    values = np.empty(len(guides.kind), np.int32)
    _begin(guides, promises)
    slot = furthest(index, columns, state, seed)
    size, target, limit = 0, promises.rules.k, 0
    while True:
        row[:] = index.values[slot, :q]
        values[:] = index.values[slot, q:]
        if size == 0 or from_last:
            seed[:q] = row
        include(state, columns, row, size == 0)
        _join(guides, promises, values)
        members[size] = take(index, columns, slot)
        size += 1
        if size == 1:
            limit = min(_limit(guides, promises, values), len(members))
            target = _reachable(guides, promises, target, limit)
        if target < 0:
            return size, False
        if size == target:
            return size, True
        slot = _pick(index, columns, state, guides, promises, target)
        if slot == TOO_DEAR:
            return size, False
        while slot < 0:
            target = _reachable(guides, promises, _wider(target), limit)
            if target < 0:
                return size, False
            slot = _pick(index, columns, state, guides, promises, target)


@njit(cache=True)
def grow_guided(
    index: Index,
    columns: Columns,
    state: ClassState,
    guides: Guides,
    promises: Promises,
    seed: NDArray[np.int32],
    from_last: bool,
    groups: Groups,
    most: int,
) -> bool:
    """Grow at most so many groups; return whether there may be more, which takes a class of records at least.

    Afterwards `seed` is the row the next group is to be far from.
    """
    for _ in range(most):
        made, taken = groups.filled
        if len(groups.members) - taken < promises.rules.k:
            return False
        size, good = _grow_one(
            index, columns, state, guides, promises, seed, from_last, groups.members[taken:]
        )
        groups.end[made] = taken + size
        groups.done[made] = good
        groups.filled[0] += 1
        groups.filled[1] += size
    return True
