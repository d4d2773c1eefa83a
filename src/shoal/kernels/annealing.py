"""Single records of a partition of points moved, swapped, scattered and gathered, at a temperature.

What a try gains follows from the sums of the classes it touches, in time of a few points. Twenty million
tries take about a second where no promise but k has to be looked after.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .drawing import chance, draw
from .refining import Classes, Graph

WIDE = 4  # times k: larger classes are left alone, and none becomes larger
RARE = 50  # one try in so many scatters a class or gathers one; the others move or swap one record


class Members(NamedTuple):
    """Who is in which class, so that any member is at hand; too large classes are left out."""

    point: NDArray[np.float64]  # [n, d]
    label: NDArray[np.int32]  # [n]
    size: NDArray[np.int64]  # [room]
    member: NDArray[np.int32]  # [room, WIDE * k]
    place: NDArray[np.int32]  # [n] of the record among its class, -1 where the class is left out
    total: NDArray[np.float64]  # [room, d] sum of the points


@njit(cache=True)
def _members(classes: Classes, point: NDArray[np.float64], k: int) -> Members:
    """Return who is in which class, and the sums of the classes."""
    room, d = len(classes.size), point.shape[1]
    member = np.full((room, WIDE * k), -1, np.int32)
    place = np.full(len(point), -1, np.int32)
    total = np.zeros((room, d))
    for c in range(room):
        if classes.size[c] > WIDE * k:
            continue
        slot, i = 0, classes.first[c]
        while i >= 0:
            member[c, slot], place[i] = i, slot
            slot += 1
            for j in range(d):
                total[c, j] += point[i, j]
            i = classes.next[i]
    return Members(point, classes.label, classes.size, member, place, total)


@njit(cache=True)
def _settle(classes: Classes, members: Members, scale: float) -> int:
    """Write the members and the loss of every class back; return the change of the loss."""
    change, point, member = np.int64(0), members.point, members.member
    for c in range(len(member)):
        size = classes.size[c]
        if size > 0 and member[c, 0] < 0:
            continue
        classes.first[c] = -1
        squares = 0.0
        for slot in range(size):
            i = member[c, slot]
            classes.next[i], classes.first[c] = classes.first[c], i
        for j in range(point.shape[1]):
            mean = 0.0
            for slot in range(size):
                mean += point[member[c, slot], j]
            mean /= max(size, 1)
            for slot in range(size):
                squares += (point[member[c, slot], j] - mean) ** 2
        loss = np.int64(np.rint(squares * scale))
        change += loss - classes.cost[c]
        classes.cost[c] = loss
    return change


@njit(cache=True)
def _away(point: NDArray[np.float64], total: NDArray[np.float64], i: int, c: int, size: int) -> float:
    """Return the squared distance of a record from the mean of a class."""
    away, share = 0.0, 1.0 / size
    for j in range(point.shape[1]):
        away += (point[i, j] - total[c, j] * share) ** 2
    return away


@njit(cache=True)
def _relocate(members: Members, i: int, b: int) -> float:
    """Move a record, the last of its class or not, to class `b`; return the change of the squared error."""
    point, label, size, member, place, total = members
    a, change = label[i], 0.0
    if size[a] > 1:
        change = -_away(point, total, i, a, size[a]) * size[a] / (size[a] - 1.0)
    if size[b] > 0:
        change += _away(point, total, i, b, size[b]) * size[b] / (size[b] + 1.0)
    last = member[a, size[a] - 1]
    member[a, place[i]], place[last] = last, place[i]
    member[a, size[a] - 1] = -1
    size[a] -= 1
    member[b, size[b]], place[i], label[i] = i, size[b], b
    if size[b] == 0:
        total[b] = 0.0
    size[b] += 1
    for j in range(point.shape[1]):
        total[a, j] -= point[i, j]
        total[b, j] += point[i, j]
    return change


@njit(cache=True)
def _scatter(
    classes: Classes, graph: Graph, members: Members, a: int, bearable: float, moved: NDArray[np.int64]
) -> None:
    """Dissolve a class, every member into the best class near it, unless that costs too much."""
    point, label, size, member, _place, total = members
    wide, made, change = member.shape[1], 0, 0.0
    while size[a] > 0:
        i = np.int64(member[a, size[a] - 1])
        best, least = np.int64(-1), np.inf
        for row in graph.near[graph.row[i]]:
            c = np.int64(label[graph.records[graph.offsets[row]]])
            if c < 0 or c == a or size[c] >= wide or member[c, 0] < 0:
                continue
            cost = _away(point, total, i, c, size[c]) * size[c] / (size[c] + 1.0)
            if cost < least:
                best, least = c, cost
        if best < 0:
            change = np.inf
            break
        change += _relocate(members, i, best)
        moved[made] = i
        made += 1
    if change <= bearable:
        classes.vacant[classes.count[0]] = a
        classes.count[0] += 1
        return
    for at in range(made - 1, -1, -1):
        _relocate(members, moved[at], a)


@njit(cache=True)
def _gather(
    classes: Classes,
    graph: Graph,
    members: Members,
    i: int,
    k: int,
    bearable: float,
    moved: NDArray[np.int64],
) -> None:
    """Make a class of a record and near ones that their classes can spare, unless that costs too much."""
    label, size, place = members.label, members.size, members.place
    c = np.int64(classes.vacant[classes.count[0] - 1])
    home = moved[k:]
    moved[0], home[0], made = i, label[i], 1
    change = _relocate(members, i, c)
    for row in graph.near[graph.row[i]]:
        for at in range(graph.offsets[row], graph.offsets[row + 1]):
            other, a = np.int64(graph.records[at]), label[graph.records[at]]
            if made == k or a < 0 or a == c or place[other] < 0 or size[a] <= k:
                continue
            moved[made], home[made] = other, a
            change += _relocate(members, other, c)
            made += 1
    if made == k and change <= bearable:
        classes.count[0] -= 1
        return
    for at in range(made - 1, -1, -1):
        _relocate(members, moved[at], home[at])


@njit(cache=True)
def _swap_cost(
    point: NDArray[np.float64],
    total: NDArray[np.float64],
    i: int,
    other: int,
    a: int,
    b: int,
    size: NDArray[np.int64],
) -> float:
    """Return by how much the squared error grows when two records of classes `a` and `b` change places."""
    one, two, both = 0.0, 0.0, 0.0
    for j in range(point.shape[1]):
        v = point[other, j] - point[i, j]
        one += total[a, j] * v
        two += total[b, j] * v
        both += v * v
    return (2 * two - both) / size[b] - (2 * one + both) / size[a]


@njit(cache=True)
def _swap(members: Members, i: int, other: int) -> None:
    """Let two records of different classes change places."""
    point, label, _size, member, place, total = members
    a, b = label[i], label[other]
    for j in range(point.shape[1]):
        v = point[other, j] - point[i, j]
        total[a, j] += v
        total[b, j] -= v
    member[a, place[i]], member[b, place[other]] = other, i
    place[i], place[other] = place[other], place[i]
    label[i], label[other] = b, a


@njit(cache=True)
def anneal(classes: Classes, graph: Graph, k: int, trials: int, warm: float, seed: int) -> int:
    """Make so many tries in a partition that promises k alone; return the change of the loss.

    A record meets one that is near it. It moves to the class of that one, or changes places with another
    member of it. A squared error greater by `warm` is accepted one time in e.
    """
    members = _members(classes, graph.points, k)
    point, label, size, member, place, total = members
    row_of, near, offsets, records = graph.row, graph.near, graph.offsets, graph.records
    costly = graph.costly
    classes.count[1] += 1
    random = np.array([seed * 0x5851F42D4C957F2D + classes.count[1] * 0x3C6EF372FE94F82B], np.uint64)
    moved = np.empty(WIDE * k + k, np.int64)
    for _trial in range(trials):
        i = np.int64(costly[draw(random, len(costly))])
        a = np.int64(label[i])
        if a < 0 or place[i] < 0:
            continue
        bearable = -warm * math.log(chance(random)) if warm > 0 else 0.0
        kind = draw(random, 2 * RARE)
        if kind == 0:
            _scatter(classes, graph, members, a, bearable, moved)
            continue
        if kind == 1:
            if classes.count[0] > 0 and size[a] > k:
                _gather(classes, graph, members, i, k, bearable, moved)
            continue
        row = near[row_of[i], draw(random, near.shape[1])]
        begin = offsets[row]
        same = offsets[row + 1] - begin
        other = np.int64(records[begin + draw(random, same) if same > 1 else begin])
        b = np.int64(label[other])
        if b < 0 or b == a or place[other] < 0:
            continue
        if kind % 2 == 0 and size[a] > k and size[b] < WIDE * k:
            gain = _away(point, total, i, a, size[a]) * size[a] / (size[a] - 1.0)
            loss = _away(point, total, i, b, size[b]) * size[b] / (size[b] + 1.0)
            if loss - gain <= bearable:
                _relocate(members, i, b)
        elif size[b] > 1:
            at = draw(random, size[b] - 1)
            other = np.int64(member[b, at + (at >= place[other])])
            if _swap_cost(point, total, i, other, a, b, size) <= bearable:
                _swap(members, i, other)
    return _settle(classes, members, graph.scale)
