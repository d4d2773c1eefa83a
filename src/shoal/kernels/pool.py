"""A few classes taken apart: their records side by side, and what each would add to the class that grows.

The pool copies the values of its records column by column, so that a scan over all of them is a scan over
contiguous memory. It keeps, for every record and column, what the record would add to the cost of the class
that is growing; adding a record touches only the columns in which the class becomes wider.

Handing over a named tuple counts references to each of its arrays, which costs more than such scans do. So
what is done with every record is one function, `grow_classes` of `kernels.rebuilding`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .k_member_index import FLAT, NULL, Columns
from .rules import Rules
from .space import LINE, SET
from .target import Target

NOWHERE = -1
TAKEN = np.int64(1) << 60

# Fields of `Pool.shape`: what a column is.
KIND, FULL, SIZE, SLOT, START, TREE_START = 0, 1, 2, 3, 4, 5
# Fields of `Pool.state`: what a class covers in a column.
HOLDS, LOW, HIGH, DISTINCT, COST = 0, 1, 2, 3, 4
VALUES, NULLS, MIXED = 0, 1, 2  # values of HOLDS


class Pool(NamedTuple):
    """The records that are free, and the classes being made of them."""

    record: NDArray[np.int64]  # [room]
    value: NDArray[np.int32]  # [q, room] LINE: position; TREE and FLAT: code; SET: numbered within the pool
    extra: NDArray[np.int64]  # [q + 1, room] what the record adds to the growing class in this column
    increase: NDArray[np.int64]  # [room] the same over all columns; TAKEN or more once it is in a class
    away: NDArray[np.int64]  # [room] distance from the last seed
    group: NDArray[np.int32]  # [room] class of the record, NOWHERE for none
    best: NDArray[np.int32]  # [room] the best grouping so far
    size: NDArray[np.int64]  # [groups]
    state: NDArray[np.int64]  # [groups, q, fields]
    present: NDArray[np.bool_]  # [groups, SET columns, room] which values of a SET column occur
    shape: NDArray[np.int64]  # [q, fields]
    number: NDArray[np.int32]  # [sum(size + 1)] the pool's number of a code of a SET column, else NOWHERE
    node: NDArray[np.int32]  # as in `Columns`
    node_cost: NDArray[np.int32]
    limit: NDArray[np.float64]  # [v] share of a class that a sensitive value may have at most
    target: Target
    label: NDArray[np.int32]  # [room] of the target
    held: NDArray[np.int64]  # [groups, labels] how many records of a class have the label
    growth: NDArray[np.int64]  # [labels] what a record with the label adds to the loss of a class


@njit(cache=True)
def greatest_shares(rules: Rules) -> NDArray[np.float64]:
    """Return, per sensitive value, a share that no class which keeps every promise can exceed."""
    limit = np.minimum(rules.cap, 1.0)
    for j in range(len(rules.min_distinct)):
        for v in range(rules.start[j], rules.start[j + 1]):
            above = min(rules.t_equal[j], rules.t_ordered[j])  # what is too much moves by one rank or more
            limit[v] = min(limit[v], (rules.overall[v] + above) / rules.total)
            if rules.min_distinct[j] > 1:
                limit[v] = min(limit[v], 1.0 - (rules.min_distinct[j] - 1) / rules.k)
            if rules.recursive_l[j] > 1:
                limit[v] = min(limit[v], rules.recursive_c[j] / (1.0 + rules.recursive_c[j]))
    return limit


@njit(cache=True)
def make_pool(columns: Columns, rules: Rules, target: Target, room: int, groups: int) -> Pool:
    """Return the scratch space for `room` records in at most `groups` classes."""
    q = len(columns.kind)
    shape = np.empty((q, 6), np.int64)
    sets = 0
    for j in range(q):
        shape[j, KIND] = columns.kind[j]
        shape[j, FULL] = columns.full[j]
        shape[j, SIZE] = columns.size[j]
        shape[j, START] = columns.start[j]
        shape[j, TREE_START] = columns.tree_start[j]
        shape[j, SLOT] = NOWHERE
        if columns.kind[j] == SET:
            shape[j, SLOT] = sets
            sets += 1
    return Pool(
        np.empty(room, np.int64),
        np.empty((q, room), np.int32),
        np.zeros((q + 1, room), np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int64),
        np.empty(room, np.int32),
        np.empty(room, np.int32),
        np.zeros(groups, np.int64),
        np.zeros((groups, q, 5), np.int64),
        np.zeros((groups, sets, room), np.bool_),
        shape,
        np.full(columns.start[q], NOWHERE, np.int32),
        columns.node,
        columns.node_cost,
        greatest_shares(rules),
        target,
        np.zeros(room, np.int32),
        np.zeros((groups, target.labels), np.int64),
        np.zeros(target.labels, np.int64),
    )


@njit(cache=True)
def load(pool: Pool, values: NDArray[np.int32], free: int) -> None:
    """Copy the values and labels of the first `free` records of the pool."""
    record, value, number, shape = pool.record, pool.value, pool.number, pool.shape
    q = len(shape)
    for f in range(free):
        i = record[f]
        for j in range(q):
            value[j, f] = values[i, j]
        if pool.target.labels > 0:
            pool.label[f] = pool.target.label[i]
    for j in range(q):
        if shape[j, KIND] != SET:
            continue
        start, found = shape[j, START], 0
        for f in range(free):
            code = value[j, f]
            if code != NULL:
                if number[start + code] < 0:
                    number[start + code] = found
                    found += 1
                value[j, f] = number[start + code]
        for f in range(free):
            code = values[record[f], j]
            if code != NULL:
                number[start + code] = NOWHERE


@njit(cache=True)
def extras(pool: Pool, c: int, f: int, found: NDArray[np.int64]) -> int:
    """Write down, per column, what record `f` would add to the cost of class `c`; return their sum."""
    state, shape, total = pool.state, pool.shape, np.int64(0)
    for j in range(len(shape)):
        value, holds = np.int64(pool.value[j, f]), state[c, j, HOLDS]
        full, cost = shape[j, FULL], state[c, j, COST]
        found[j] = 0
        if holds == MIXED or (holds == NULLS and value == NULL):
            continue
        low, high, kind = min(state[c, j, LOW], value), max(state[c, j, HIGH], value), shape[j, KIND]
        if holds == NULLS or value == NULL:
            found[j] = full - cost
        elif kind == LINE:
            found[j] = high - low - cost
        elif kind == FLAT:
            found[j] = full - cost if low != high else 0
        elif kind == SET:
            if not pool.present[c, shape[j, SLOT], value]:
                found[j] = state[c, j, DISTINCT] * full // max(shape[j, SIZE] - 1, 1) - cost
        else:
            at = shape[j, TREE_START]
            while pool.node[at + low] != pool.node[at + high]:
                at += shape[j, SIZE]
            found[j] = pool.node_cost[at + low] - cost
        total += found[j]
    return total


@njit(cache=True)
def include(pool: Pool, c: int, f: int, more: NDArray[np.int64]) -> None:
    """Put record `f` into class `c`, to whose cost it adds `more`."""
    state, shape = pool.state, pool.shape
    pool.size[c] += 1
    pool.group[f] = c
    if pool.target.labels > 0:
        pool.held[c, pool.label[f]] += 1
    for j in range(len(shape)):
        value, holds = np.int64(pool.value[j, f]), state[c, j, HOLDS]
        state[c, j, COST] += more[j]
        if holds == MIXED or (value == NULL and holds == NULLS):
            continue
        if value == NULL or holds == NULLS:
            state[c, j, HOLDS] = MIXED
        elif shape[j, KIND] == SET:
            if not pool.present[c, shape[j, SLOT], value]:
                pool.present[c, shape[j, SLOT], value] = True
                state[c, j, DISTINCT] += 1
        else:
            state[c, j, LOW] = min(state[c, j, LOW], value)
            state[c, j, HIGH] = max(state[c, j, HIGH], value)
