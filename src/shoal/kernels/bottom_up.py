"""Merging small groups at random until every one has k records: bottom-up microaggregation of one part."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit, prange
from numpy.typing import NDArray

from .grid import distances_to, rounded_mean
from .splitting import EXACT_PAIR, farthest_pair, gather, split_group


class Groups(NamedTuple):
    """The groups of one part, packed into the first `state[0]` slots; `state[1]` of them are small."""

    means: NDArray[np.float64]  # [d, m] rounded to the grid
    sums: NDArray[np.float64]  # [m, d]
    count: NDArray[np.int64]  # [m] records
    leader: NDArray[np.int64]  # [m] lowest place of a member
    last: NDArray[np.int64]  # [m] last member of the chain that begins with the leader
    following: NDArray[np.int64]  # [m] next member after a place, -1 at the end
    slot: NDArray[np.int64]  # [m] slot of the group that a place leads, -1 if it leads none
    state: NDArray[np.int64]  # [2]
    distances: NDArray[np.float64]  # [m] scratch


@njit(cache=True)
def _make_groups(points: NDArray[np.float64], k: int) -> Groups:
    m = points.shape[1]
    state = np.array([m, m if k > 1 else 0])
    places = np.arange(m)
    return Groups(
        points.copy(),
        np.ascontiguousarray(points.T),
        np.ones(m, np.int64),
        places.copy(),
        places.copy(),
        np.full(m, -1, np.int64),
        places.copy(),
        state,
        np.empty(m),
    )


@njit(cache=True)
def _pick(groups: Groups, k: int, rank: int) -> int:
    """Return the slot of the small group that is number `rank` in the order of the leaders."""
    for place in range(len(groups.slot)):
        slot = groups.slot[place]
        if slot >= 0 and groups.count[slot] < k:
            if rank == 0:
                return slot
            rank -= 1
    return -1


@njit(cache=True)
def _partner(groups: Groups, k: int, a: int) -> int:
    """Return the slot of the group with the nearest mean, a small one where there is another, else -1."""
    total, small = groups.state
    distances_to(groups.means, 0, total, groups.means[:, a].copy(), groups.distances)
    best = -1
    for b in range(total):
        if b == a or (small > 1 and groups.count[b] >= k):
            continue
        nearer = best < 0 or groups.distances[b] < groups.distances[best]
        if nearer or (
            groups.distances[b] == groups.distances[best] and groups.leader[b] < groups.leader[best]
        ):
            best = b
    return best


@njit(cache=True)
def _set_mean(groups: Groups, slot: int, scratch: NDArray[np.float64]) -> None:
    rounded_mean(groups.sums[slot], groups.count[slot], scratch)
    groups.means[:, slot] = scratch


@njit(cache=True)
def _merge(groups: Groups, k: int, a: int, b: int, scratch: NDArray[np.float64]) -> int:
    """Merge two groups, move the last slot into the one that is free, and return the slot of the union."""
    if groups.leader[b] < groups.leader[a]:
        a, b = b, a
    groups.state[1] -= (groups.count[a] < k) + (groups.count[b] < k)
    groups.following[groups.last[a]] = groups.leader[b]
    groups.last[a] = groups.last[b]
    groups.count[a] += groups.count[b]
    groups.sums[a] += groups.sums[b]
    groups.state[1] += groups.count[a] < k
    groups.slot[groups.leader[b]] = -1
    _set_mean(groups, a, scratch)
    groups.state[0] -= 1
    tail = groups.state[0]
    if b != tail:
        groups.means[:, b] = groups.means[:, tail]
        groups.sums[b] = groups.sums[tail]
        groups.count[b] = groups.count[tail]
        groups.leader[b] = groups.leader[tail]
        groups.last[b] = groups.last[tail]
        groups.slot[groups.leader[b]] = b
    return b if a == tail else a


@njit(cache=True)
def _members(groups: Groups, slot: int) -> NDArray[np.int64]:
    found = np.empty(groups.count[slot], np.int64)
    place = groups.leader[slot]
    for i in range(len(found)):
        found[i] = place
        place = groups.following[place]
    return np.sort(found)


@njit(cache=True)
def _fill(
    groups: Groups,
    points: NDArray[np.float64],
    slot: int,
    members: NDArray[np.int64],
    scratch: NDArray[np.float64],
) -> None:
    """Make these records, ascending, the group of a slot."""
    groups.sums[slot] = 0.0
    for i in range(len(members)):
        groups.following[members[i]] = members[i + 1] if i + 1 < len(members) else -1
        for j in range(len(points)):
            groups.sums[slot, j] += points[j, members[i]]
    groups.count[slot] = len(members)
    groups.leader[slot] = members[0]
    groups.last[slot] = members[-1]
    groups.slot[members[0]] = slot
    _set_mean(groups, slot, scratch)


@njit(cache=True)
def _split(groups: Groups, points: NDArray[np.float64], k: int, by_mean: bool, slot: int) -> None:
    """Cut a group of 2k records or more in two around its farthest pair."""
    members = _members(groups, slot)
    m = len(members)
    group, side = np.empty((len(points), m)), np.empty(m, np.int8)
    gather(points, members, group)
    pair = farthest_pair(group, groups.distances[:m], EXACT_PAIR)
    split_group(group, k, pair, by_mean, side)
    scratch = np.empty(len(points))
    _fill(groups, points, slot, members[side == 0], scratch)
    _fill(groups, points, groups.state[0], members[side == 1], scratch)
    groups.state[0] += 1


@njit(cache=True)
def _bottom_up_inner(
    points: NDArray[np.float64], ids: NDArray[np.int64], k: int, draws: NDArray[np.float64], by_mean: bool
) -> NDArray[np.int64]:
    """Return the label of every record of one part: the first record of its class."""
    m = len(ids)
    own = np.empty((len(points), m))
    gather(points, ids, own)
    groups = _make_groups(own, k)
    scratch = np.empty(len(points))
    merges = 0
    while groups.state[1] > 0 and groups.state[0] > 1:
        a = _pick(groups, k, int(draws[merges] * groups.state[1]))
        merges += 1
        union = _merge(groups, k, a, _partner(groups, k, a), scratch)
        if groups.count[union] >= 2 * k:
            _split(groups, own, k, by_mean, union)
    labels = np.empty(m, np.int64)
    for slot in range(groups.state[0]):
        for place in _members(groups, slot):
            labels[place] = ids[groups.leader[slot]]
    return labels


@njit(cache=True)
def bottom_up(
    points: NDArray[np.float64],
    ids: NDArray[np.int64],
    offsets: NDArray[np.int64],
    k: int,
    draws: NDArray[np.float64],
    by_mean: bool,
    labels: NDArray[np.int64],
) -> None:
    """Fill in the labels of the records of every part; `draws` are numbers in [0, 1), one per record."""
    for p in range(len(offsets) - 1):
        part = slice(offsets[p], offsets[p + 1])
        labels[ids[part]] = _bottom_up_inner(points, ids[part], k, draws[part], by_mean)


@njit(cache=True, parallel=True)
def bottom_up_parallel(
    points: NDArray[np.float64],
    ids: NDArray[np.int64],
    offsets: NDArray[np.int64],
    k: int,
    draws: NDArray[np.float64],
    by_mean: bool,
    labels: NDArray[np.int64],
) -> None:
    """Do what `bottom_up` does, with threads; not to be entered from several Python threads."""
    for p in prange(len(offsets) - 1):
        begin, end = offsets[p], offsets[p + 1]
        found = _bottom_up_inner(points, ids[begin:end], k, draws[begin:end], by_mean)
        for i in range(begin, end):
            labels[ids[i]] = found[i - begin]
