"""Single records relocated and swapped between near classes of points, at a temperature."""

from __future__ import annotations

import math

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .rebuilding import chance, draw
from .refining import Classes, Graph, Plan

WIDE = 4  # times k: larger classes are left to the pools


@njit(cache=True)
def _gather(classes: Classes, at: NDArray[np.float64], k: int) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    """Return (members by class, place of every record in its class); too large ones stay empty."""
    member = np.full((len(classes.size), WIDE * k), -1, np.int32)
    place = np.full(len(at), -1, np.int32)
    for c in range(len(classes.size)):
        if classes.size[c] > WIDE * k:
            continue
        slot, i = 0, classes.first[c]
        while i >= 0:
            member[c, slot], place[i] = i, slot
            slot += 1
            i = classes.next[i]
    return member, place


@njit(cache=True)
def _sum(member: NDArray[np.int32], at: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return the sum of the points of every class."""
    total = np.zeros((len(member), at.shape[1]))
    for c in range(len(member)):
        for i in member[c]:
            if i >= 0:
                for j in range(at.shape[1]):
                    total[c, j] += at[i, j]
    return total


@njit(cache=True)
def _settle(classes: Classes, member: NDArray[np.int32], graph: Graph) -> int:
    """Write the members and the loss of every class back; return the change of the loss."""
    change, at = np.int64(0), graph.points
    for c in range(len(member)):
        size = classes.size[c]
        if size == 0 or member[c, 0] < 0:
            continue
        classes.first[c] = -1
        for slot in range(size):
            i = member[c, slot]
            classes.next[i], classes.first[c], classes.label[i] = classes.first[c], i, c
        squares = 0.0
        for j in range(at.shape[1]):
            mean = 0.0
            for slot in range(size):
                mean += at[member[c, slot], j]
            mean /= size
            for slot in range(size):
                squares += (at[member[c, slot], j] - mean) ** 2
        loss = np.int64(np.rint(squares * graph.scale))
        change += loss - classes.cost[c]
        classes.cost[c] = loss
    return change


@njit(cache=True)
def anneal(classes: Classes, graph: Graph, plan: Plan, k: int, trials: int) -> int:
    """Try so many relocations and swaps in a partition that promises k alone; return the change of the loss.

    A record meets the class of one of its near records, and moves there or changes places with a member.
    """
    at, label, size = graph.points, classes.label, classes.size
    member, place = _gather(classes, at, k)
    total = _sum(member, at)
    classes.count[1] += 1
    random = np.array([plan.seed * 0x9E6C63D0876A9A47 + classes.count[1] * 0x3C6EF372FE94F82B], np.uint64)
    warm = plan.temperature / graph.scale if graph.scale > 0 else 0.0
    d, wide, rows = at.shape[1], WIDE * k, graph.near.shape[1]
    for _trial in range(trials):
        i = draw(random, len(at))
        row = graph.near[graph.row[i], draw(random, rows)]
        begin = graph.offsets[row]
        other = graph.records[begin + draw(random, graph.offsets[row + 1] - begin)]
        a, b = label[i], label[other]
        if a < 0 or b < 0 or a == b or place[i] < 0 or place[other] < 0:
            continue
        bearable = -warm * math.log(chance(random)) if warm > 0 else 0.0
        if size[a] > k and size[b] < wide and draw(random, 2) == 0:
            leave, join = 0.0, 0.0
            for j in range(d):
                leave += (at[i, j] - total[a, j] / size[a]) ** 2
                join += (at[i, j] - total[b, j] / size[b]) ** 2
            if join * size[b] / (size[b] + 1.0) - leave * size[a] / (size[a] - 1.0) > bearable:
                continue
            last = member[a, size[a] - 1]
            member[a, place[i]], place[last] = last, place[i]
            member[a, size[a] - 1] = -1
            size[a] -= 1
            member[b, size[b]], place[i] = i, size[b]
            size[b] += 1
            label[i] = b
            for j in range(d):
                total[a, j] -= at[i, j]
                total[b, j] += at[i, j]
            continue
        other = member[b, draw(random, size[b])]
        one, two, both = 0.0, 0.0, 0.0
        for j in range(d):
            v = at[other, j] - at[i, j]
            one += total[a, j] * v
            two += total[b, j] * v
            both += v * v
        if (2 * two - both) / size[b] - (2 * one + both) / size[a] > bearable:
            continue
        for j in range(d):
            v = at[other, j] - at[i, j]
            total[a, j] += v
            total[b, j] -= v
        member[a, place[i]], member[b, place[other]] = other, i
        place[i], place[other] = place[other], place[i]
        label[i], label[other] = b, a
    return _settle(classes, member, graph)
