"""Greedy k-member on distinct rows: the exact nearest and furthest record by branch and bound."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .k_member_index import FLAT, NO_RECORD, NULL, Columns, Index, take
from .space import LINE, SET, TREE

_VALUES, _NULLS, _MIXED = 0, 1, 2  # what a class holds in a column
_FAR = np.int64(1) << 62


class ClassState(NamedTuple):
    """The class being grown, column by column, and scratch space of the searches."""

    holds: NDArray[np.int8]  # [q] values, nulls or both
    low: NDArray[np.int64]  # [q]
    high: NDArray[np.int64]  # [q]
    mask: NDArray[np.int64]  # [q] of a SET or FLAT column: a bit for every code modulo 64
    distinct: NDArray[np.int64]  # [q]
    cost: NDArray[np.int64]  # [q] of a SET or FLAT column, as it is
    grown: NDArray[np.int64]  # [q] the same with one more value
    member: NDArray[np.int64]  # [sum(size + 1)] the last class that held a code
    serial: NDArray[np.int64]  # [1] number of the class
    stack: NDArray[np.int32]  # nodes to visit
    bound: NDArray[np.int64]  # and their bounds
    found: NDArray[np.int64]  # [1] cost of what was found last


@njit(cache=True)
def make_state(columns: Columns, nodes: int) -> ClassState:
    """Return the scratch space for a tree of so many nodes."""
    q = len(columns.kind)
    return ClassState(
        np.zeros(q, np.int8),
        np.zeros(q, np.int64),
        np.zeros(q, np.int64),
        np.zeros(q, np.int64),
        np.zeros(q, np.int64),
        np.zeros(q, np.int64),
        np.zeros(q, np.int64),
        np.zeros(columns.start[q], np.int64),
        np.zeros(1, np.int64),
        np.zeros(nodes + 1, np.int32),
        np.zeros(nodes + 1, np.int64),
        np.zeros(1, np.int64),
    )


@njit(cache=True)
def include(state: ClassState, columns: Columns, row: NDArray[np.int32], first: bool) -> None:
    """Add a row to the class; the first one begins a new class."""
    if first:
        state.serial[0] += 1
    for j in range(len(row)):
        value = np.int64(row[j])
        if first:
            state.holds[j] = _NULLS if value == NULL else _VALUES
            state.low[j] = value
            state.high[j] = value
            state.mask[j] = 0
            state.distinct[j] = 0
        elif state.holds[j] != _MIXED and (value == NULL) != (state.holds[j] == _NULLS):
            state.holds[j] = _MIXED
        if value == NULL or state.holds[j] != _VALUES:
            continue
        state.low[j] = min(state.low[j], value)
        state.high[j] = max(state.high[j], value)
        if columns.kind[j] == LINE or columns.kind[j] == TREE:
            continue
        at = columns.start[j] + value
        if state.member[at] != state.serial[0]:
            state.member[at] = state.serial[0]
            state.mask[j] |= np.int64(1) << (value & 63)
            state.distinct[j] += 1
        more = state.distinct[j]
        most = max(columns.size[j] - 1, 1)
        if columns.kind[j] == FLAT:
            state.cost[j] = columns.full[j] if more > 1 else 0
            state.grown[j] = columns.full[j]
        else:
            state.cost[j] = (more - 1) * columns.full[j] // most
            state.grown[j] = more * columns.full[j] // most


@njit(cache=True)
def nearest(index: Index, columns: Columns, state: ClassState) -> int:
    """Return the slot whose next record costs the class least; ties go to the least record."""
    kind, size, full, start = columns.kind, columns.size, columns.full, columns.start
    node_of, node_cost, tree_start = columns.node, columns.node_cost, columns.tree_start
    holds, low, high, mask = state.holds, state.low, state.high, state.mask
    cost, grown, member, serial = state.cost, state.grown, state.member, state.serial[0]
    stack, bound = state.stack, state.bound
    values, left, least = index.values, index.left, index.least
    q = len(kind)
    best, best_cost, best_record = -1, _FAR, NO_RECORD
    stack[0], bound[0] = 0, 0
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if bound[waiting] > best_cost or (bound[waiting] == best_cost and least[node] > best_record):
            continue
        if left[node] >= 0:
            for child in (left[node], index.right[node]):
                if least[child] == NO_RECORD:
                    continue
                total = np.int64(0)
                for j in range(q):
                    if holds[j] == _VALUES and index.nulls[child, j] < 2:
                        if kind[j] == SET or kind[j] == FLAT:
                            total += cost[j] if mask[j] & index.low[child, j] else grown[j]
                            continue
                        one = min(low[j], index.high[child, j])
                        two = max(high[j], index.low[child, j])
                        if kind[j] == LINE:
                            total += two - one
                        else:
                            at = tree_start[j]
                            while node_of[at + one] != node_of[at + two]:
                                at += size[j]
                            total += node_cost[at + one]
                    elif holds[j] != _NULLS or index.nulls[child, j] == 0:
                        total += full[j]
                if total < best_cost or (total == best_cost and least[child] < best_record):
                    stack[waiting] = child
                    bound[waiting] = total
                    waiting += 1
            both = waiting > 1 and index.parent[stack[waiting - 2]] == node
            if both and bound[waiting - 1] > bound[waiting - 2]:
                stack[waiting - 1], stack[waiting - 2] = stack[waiting - 2], stack[waiting - 1]
                bound[waiting - 1], bound[waiting - 2] = bound[waiting - 2], bound[waiting - 1]
            continue
        for slot in range(index.begin[node], index.end[node]):
            total = np.int64(0)
            for j in range(q):
                value = np.int64(values[slot, j])
                if holds[j] == _VALUES and value != NULL:
                    if kind[j] == LINE:
                        total += max(high[j], value) - min(low[j], value)
                    elif kind[j] == TREE:
                        one, two = min(low[j], value), max(high[j], value)
                        at = tree_start[j]
                        while node_of[at + one] != node_of[at + two]:
                            at += size[j]
                        total += node_cost[at + one]
                    else:
                        total += cost[j] if member[start[j] + value] == serial else grown[j]
                elif holds[j] != _NULLS or value != NULL:
                    total += full[j]
            if total <= best_cost:
                record = index.queue[index.head[slot]]
                if total < best_cost or record < best_record:
                    best, best_cost, best_record = slot, total, record
    state.found[0] = best_cost
    return best


@njit(cache=True)
def furthest(index: Index, columns: Columns, state: ClassState, seed: NDArray[np.int32]) -> int:
    """Return the slot whose row is furthest from `seed`; ties go to the least record."""
    kind, size, full, step = columns.kind, columns.size, columns.full, columns.step
    node_of, node_cost, tree_start = columns.node, columns.node_cost, columns.tree_start
    stack, bound = state.stack, state.bound
    left, least = index.left, index.least
    q = len(kind)
    best, best_distance, best_record = -1, np.int64(-1), NO_RECORD
    stack[0], bound[0] = 0, _FAR
    waiting = 1
    while waiting > 0:
        waiting -= 1
        node = stack[waiting]
        if bound[waiting] < best_distance or (bound[waiting] == best_distance and least[node] > best_record):
            continue
        if left[node] >= 0:
            for child in (left[node], index.right[node]):
                if least[child] == NO_RECORD:
                    continue
                total = np.int64(0)
                for j in range(q):
                    value = np.int64(seed[j])
                    if value == NULL:
                        total += full[j] if index.nulls[child, j] < 2 else 0
                    elif index.nulls[child, j] > 0:
                        total += full[j]
                    elif kind[j] == LINE:
                        total += max(value - index.low[child, j], index.high[child, j] - value)
                    elif kind[j] == TREE:
                        one, two = min(value, index.low[child, j]), max(value, index.high[child, j])
                        at = tree_start[j]
                        while node_of[at + one] != node_of[at + two]:
                            at += size[j]
                        total += node_cost[at + one]
                    elif size[j] > 64 or index.low[child, j] != np.int64(1) << value:
                        total += step[j]
                if total > best_distance or (total == best_distance and least[child] < best_record):
                    stack[waiting] = child
                    bound[waiting] = total
                    waiting += 1
            both = waiting > 1 and index.parent[stack[waiting - 2]] == node
            if both and bound[waiting - 1] < bound[waiting - 2]:
                stack[waiting - 1], stack[waiting - 2] = stack[waiting - 2], stack[waiting - 1]
                bound[waiting - 1], bound[waiting - 2] = bound[waiting - 2], bound[waiting - 1]
            continue
        for slot in range(index.begin[node], index.end[node]):
            total = np.int64(0)
            for j in range(q):
                value, other = np.int64(seed[j]), np.int64(index.values[slot, j])
                if value == other and (value == NULL or kind[j] != TREE):
                    continue
                if value == NULL or other == NULL:
                    total += full[j]
                elif kind[j] == LINE:
                    total += abs(value - other)
                elif kind[j] == TREE:
                    at = tree_start[j]
                    while node_of[at + value] != node_of[at + other]:
                        at += size[j]
                    total += node_cost[at + value]
                else:
                    total += step[j]
            if total >= best_distance:
                record = index.queue[index.head[slot]]
                if total > best_distance or record < best_record:
                    best, best_distance, best_record = slot, total, record
    return best


@njit(cache=True)
def grow_classes(
    index: Index,
    columns: Columns,
    state: ClassState,
    seed: NDArray[np.int32],
    members: NDArray[np.int64],
    from_last: bool,
) -> None:
    """Fill the classes ``members[:, k]`` one after another; `seed` is the row the first is far from.

    Afterwards `seed` is the row the next class is to be far from.
    """
    classes, k = members.shape
    q = len(seed)
    row = np.empty(q, np.int32)
    for c in range(classes):
        slot = furthest(index, columns, state, seed)
        for i in range(k):
            if i > 0:
                slot = nearest(index, columns, state)
            for j in range(q):
                row[j] = index.values[slot, j]
                if i == 0 or from_last:
                    seed[j] = row[j]
            include(state, columns, row, i == 0)
            members[c, i] = take(index, columns, slot)


@njit(cache=True)
def _first(index: Index) -> int:
    """Return the slot of the least record that is left."""
    node = 0
    while index.left[node] >= 0:
        one = index.left[node]
        node = one if index.least[one] == index.least[node] else index.right[node]
    for slot in range(index.begin[node], index.end[node]):
        if index.queue[index.head[slot]] == index.least[node]:
            return slot
    return -1


@njit(cache=True)
def gather_nearest(index: Index, columns: Columns, state: ClassState, members: NDArray[np.int64]) -> None:
    """Fill ``members[:, k]``, each class with the least record that is left and those nearest to it."""
    classes, k = members.shape
    for c in range(classes):
        slot = _first(index)
        include(state, columns, index.values[slot], True)
        for i in range(k):
            if i > 0:
                slot = nearest(index, columns, state)
            members[c, i] = take(index, columns, slot)
