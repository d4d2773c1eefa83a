"""Agglomerative information bottleneck: the pair of clusters whose merge loses least, again and again.

The loss of a merge is counted in whole units of 2^-20 bits times records. With phi(a) = (a / total) log2 a,
it is phi of every feature's amount in one cluster, plus phi of that in the other, minus phi of the sum, less
the same of the clusters' masses; features that only one of the two has cancel out. That is n times Equation
12 of the GCAA paper, and reading phi from a table makes it exact.

Every cluster keeps its few best partners among those with a higher number, and a bound that no other pair
comes before. A partner that has changed is struck off; only when none is left are they looked up again, and
only when the bound comes first.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from .closeness import Grounds, distance_to_table
from .rules import Rules
from .sparse import Rows, add_to_row
from .stats import Stats, add_record, clear_stats, remove_record

UNIT = float(1 << 20)  # per bit and record
NEVER = np.int64(1) << 62  # key of a pair that must not merge
_GRADE = np.int64(1) << 54  # a pair of a worse grade comes after all pairs of a better one
_ZERO = np.int64(1) << 53  # losses may be negative

KEPT = 6  # partners that a cluster remembers

UNKNOWN = -2

GOING, DONE = 0, 1


class Information(NamedTuple):
    """The loss of a merge as a function of amounts."""

    quasi: NDArray[np.int64]  # [mass] phi of amounts of quasi-identifier features
    sensitive: NDArray[np.int64]  # [mass] the same for sensitive features, times the weight of diversity
    features: int  # those below are of quasi-identifiers
    mass: int  # of a record in quasi-identifiers
    sensitive_mass: int


class Merging(NamedTuple):
    """Which pairs may merge, and when it ends."""

    k: int  # clusters of so many records are finished
    most: int  # records that a union may have
    guarded: bool  # whether the distance of unions from the table is looked at
    strict: (
        bool  # whether it has to fall below that of both, rather than that it comes first if it does not rise
    )
    gamma: float  # see `_ends`; inf: never ends for that
    literal: bool


class Clusters(NamedTuple):
    """All clusters, each at the number of its first record."""

    open: NDArray[np.bool_]  # [n] whether it may still merge
    size: NDArray[np.int64]  # 0 once merged into another
    distance: NDArray[np.float64]  # from the table
    last: NDArray[np.int64]  # its members are a chain from its number over `next` to here
    next: NDArray[np.int64]
    kept: NDArray[np.int64]  # how many partners of a higher number are kept
    key: NDArray[np.int64]  # [n, KEPT] of the pairs with these, ascending; the bound where none is kept
    partner: NDArray[np.int64]  # [n, KEPT]
    bound: NDArray[np.int64]  # no pair that is not kept comes before this key
    bound_partner: NDArray[np.int64]  # and among pairs of this key, none comes before this partner
    before: NDArray[np.float64]  # [1] loss of the last merge, NaN before the first


class Scene(NamedTuple):
    """What sensitive values look like, and room to count some."""

    rules: Rules  # none of them is `plain`
    sensitive: NDArray[np.int32]
    grounds: Grounds
    stats: Stats


@njit(cache=True)
def make_clusters(n: int, scene: Scene, merging: Merging) -> Clusters:
    """Return the clusters of one record each; no pair has been looked at."""
    clusters = Clusters(
        np.full(n, merging.k > 1),
        np.ones(n, np.int64),
        np.zeros(n),
        np.arange(n),
        np.full(n, -1),
        np.zeros(n, np.int64),
        np.full((n, KEPT), -NEVER),
        np.full((n, KEPT), -1),
        np.full(n, -NEVER),
        np.full(n, -1),
        np.array([np.nan]),
    )
    if merging.guarded:
        for i in range(n):
            clear_stats(scene.stats, scene.rules)
            add_record(scene.stats, scene.rules, scene.sensitive, i)
            clusters.distance[i] = distance_to_table(scene.stats, scene.rules, scene.grounds)
    return clusters


@njit(cache=True)
def _saved(
    feature: NDArray[np.int32],
    amount: NDArray[np.int32],
    begin: int,
    end: int,
    own: NDArray[np.int32],
    quasi: NDArray[np.int64],
    sensitive: NDArray[np.int64],
    features: int,
) -> int:
    """Return what a cluster with these entries has in common with the one whose amounts are `own`."""
    saved = np.int64(0)
    limit = np.uint64(features)
    for entry in range(begin, end):  # without a test for a = 0: phi(0) is 0, and the branch costs more
        f = np.uint64(feature[entry])
        a, b = np.uint64(own[f]), np.uint64(amount[entry])
        if f < limit:
            saved += quasi[a + b] - quasi[a] - quasi[b]
        else:
            saved -= sensitive[a + b] - sensitive[a] - sensitive[b]
    return saved


@njit(cache=True)
def _apart(information: Information, a: int, b: int) -> int:
    """Return the loss of uniting clusters of a and b records that have nothing in common."""
    mass, quasi = information.mass, information.quasi
    found = quasi[(a + b) * mass] - quasi[a * mass] - quasi[b * mass]
    mass, sensitive = information.sensitive_mass, information.sensitive
    return found - (sensitive[(a + b) * mass] - sensitive[a * mass] - sensitive[b * mass])


@njit(cache=True)
def _grade(clusters: Clusters, merging: Merging, scene: Scene, x: int, y: int) -> int:
    """Return how welcome the union of `x`, whose members are counted already, and `y` is; -1 for not at all.

    0: its distance from the table is not above that of either; 1: it is above one; 2: above both.
    """
    if not merging.guarded:
        return 0
    member = y
    while member >= 0:
        add_record(scene.stats, scene.rules, scene.sensitive, member)
        member = clusters.next[member]
    found = distance_to_table(scene.stats, scene.rules, scene.grounds)
    member = y
    while member >= 0:
        remove_record(scene.stats, scene.rules, scene.sensitive, member)
        member = clusters.next[member]
    low = min(clusters.distance[x], clusters.distance[y])
    if merging.strict:
        return 0 if found < low else -1
    if found <= low:
        return 0
    return 1 if found <= max(clusters.distance[x], clusters.distance[y]) else 2


@njit(cache=True)
def _count_members(clusters: Clusters, scene: Scene, x: int) -> None:
    clear_stats(scene.stats, scene.rules)
    member = x
    while member >= 0:
        add_record(scene.stats, scene.rules, scene.sensitive, member)
        member = clusters.next[member]


@njit(cache=True)
def _look_up(
    x: int,
    lowest: int,
    rows: Rows,
    clusters: Clusters,
    information: Information,
    merging: Merging,
    scene: Scene,
    own: NDArray[np.int32],
    alive: NDArray[np.int64],
) -> None:
    """Look at every pair of `x` and an open cluster numbered `lowest` or higher, and keep the best."""
    for entry in range(rows.begin[x], rows.end[x]):
        own[rows.feature[entry]] = rows.amount[entry]
    if merging.guarded:
        _count_members(clusters, scene, x)
    feature, amount, begin, end = rows.feature, rows.amount, rows.begin, rows.end
    quasi, sensitive, features = information.quasi, information.sensitive, information.features
    is_open, size, bound = clusters.open, clusters.size, clusters.bound
    clusters.kept[x] = 0
    clusters.key[x, 0] = bound[x] = NEVER
    clusters.bound_partner[x] = len(size)
    # Records with the same value of the only sensitive column are welcome alike.
    alike = len(scene.sensitive) == 1
    known = np.full(len(scene.rules.overall) if alike else 0, UNKNOWN)
    apart = np.zeros(merging.most + 1, np.int64)
    for other in range(1, merging.most - size[x] + 1):
        apart[other] = _apart(information, size[x], other)
    for place in range(np.searchsorted(alive, lowest), len(alive)):
        y = alive[place]
        if not is_open[y] or y == x or size[x] + size[y] > merging.most:
            continue
        saved = _saved(feature, amount, begin[y], end[y], own, quasi, sensitive, features)
        loss = apart[size[y]] - saved + _ZERO
        holder = min(x, y)
        if loss > bound[holder]:
            continue
        value = scene.sensitive[0, y] if alike and size[y] == 1 else -1
        grade = known[value] if value >= 0 else UNKNOWN
        if grade == UNKNOWN:
            grade = _grade(clusters, merging, scene, x, y)
            if value >= 0:
                known[value] = grade
        if grade >= 0:
            _offer(clusters, holder, max(x, y), loss + grade * _GRADE)
    for entry in range(rows.begin[x], rows.end[x]):
        own[rows.feature[entry]] = 0


@njit(cache=True)
def _offer(clusters: Clusters, holder: int, partner: int, key: int) -> None:
    """Keep a pair if it comes before the bound; what it displaces becomes the bound."""
    bound, last = clusters.bound[holder], clusters.bound_partner[holder]
    if key > bound or (key == bound and partner > last):
        return
    keys, partners = clusters.key[holder], clusters.partner[holder]
    at = clusters.kept[holder]
    if at == KEPT:
        at -= 1
        if key > keys[at] or (key == keys[at] and partner > partners[at]):
            clusters.bound[holder], clusters.bound_partner[holder] = key, partner
            return
        clusters.bound[holder], clusters.bound_partner[holder] = keys[at], partners[at]
    else:
        clusters.kept[holder] += 1
    while at > 0 and (keys[at - 1] > key or (keys[at - 1] == key and partners[at - 1] > partner)):
        keys[at], partners[at] = keys[at - 1], partners[at - 1]
        at -= 1
    keys[at], partners[at] = key, partner


@njit(cache=True)
def _strike_off(clusters: Clusters, alive: NDArray[np.int64], a: int, b: int) -> None:
    """Forget all pairs with clusters `a` and `b`, which are no longer what they were; a < b."""
    for x in alive:
        if x >= b:
            break
        if not clusters.open[x]:
            continue
        keys, partners = clusters.key[x], clusters.partner[x]
        left = 0
        for at in range(clusters.kept[x]):
            if partners[at] != a and partners[at] != b:
                keys[left], partners[left] = keys[at], partners[at]
                left += 1
        clusters.kept[x] = left
        if left == 0:
            keys[0] = clusters.bound[x]


@njit(cache=True)
def _first(clusters: Clusters, alive: NDArray[np.int64]) -> int:
    """Return the open cluster with the least key, the first of equals; -1 when none has a partner."""
    best, least = -1, NEVER
    for x in alive:
        if clusters.open[x] and clusters.key[x, 0] < least:
            best, least = x, clusters.key[x, 0]
    return best


@njit(cache=True)
def _ends(
    clusters: Clusters, information: Information, merging: Merging, loss: int, x: int, y: int, rows: Rows
) -> bool:
    """Return whether the next merge would lose too much.

    By default when the Jensen-Shannon divergence of the quasi-identifiers of the two, from 0 to 1, is above
    gamma. Literally, when the loss in bits is above that of the merge before by more than gamma.
    """
    if merging.gamma == np.inf:
        return False
    if merging.literal:
        before = clusters.before[0]
        return loss / (UNIT * len(clusters.size)) - before > merging.gamma
    saved = np.int64(0)
    a, b = rows.begin[x], rows.begin[y]
    while a < rows.end[x] and b < rows.end[y] and rows.feature[a] < information.features:
        if rows.feature[a] == rows.feature[b]:
            m, o = rows.amount[a], rows.amount[b]
            saved += information.quasi[m + o] - information.quasi[m] - information.quasi[o]
        step_a, step_b = rows.feature[a] <= rows.feature[b], rows.feature[b] <= rows.feature[a]
        a += step_a
        b += step_b
    p, q, mass = clusters.size[x], clusters.size[y], information.mass
    apart = information.quasi[(p + q) * mass] - information.quasi[p * mass] - information.quasi[q * mass]
    return (apart - saved) / (UNIT * (p + q)) > merging.gamma


@njit(cache=True)
def _unite(x: int, y: int, rows: Rows, clusters: Clusters, merging: Merging, scene: Scene) -> None:
    """Merge `y` into `x`."""
    a, b = rows.begin[y], rows.end[y]
    add_to_row(rows, x, rows.feature[a:b].copy(), rows.amount[a:b].copy(), 1)
    rows.begin[y] = rows.end[y] = 0
    clusters.next[clusters.last[x]] = y
    clusters.last[x] = clusters.last[y]
    clusters.size[x] += clusters.size[y]
    clusters.size[y] = 0
    clusters.open[y] = False
    clusters.open[x] = clusters.size[x] < merging.k
    if merging.guarded:
        _count_members(clusters, scene, x)
        clusters.distance[x] = distance_to_table(scene.stats, scene.rules, scene.grounds)


@njit(cache=True)
def agglomerate(
    rows: Rows,
    clusters: Clusters,
    information: Information,
    merging: Merging,
    scene: Scene,
    own: NDArray[np.int32],
    steps: int,
) -> int:
    """Merge pairs or look partners up, `steps` times at most; return GOING or DONE.

    `own` is all 0, one entry a feature.
    """
    alive = np.flatnonzero(clusters.open)
    for _step in range(steps):
        x = _first(clusters, alive)
        if x < 0:
            return DONE
        lowest = x + 1
        if clusters.kept[x] > 0:
            y, loss = clusters.partner[x, 0], clusters.key[x, 0] % _GRADE - _ZERO
            if _ends(clusters, information, merging, loss, x, y, rows):
                return DONE
            clusters.before[0] = loss / (UNIT * len(clusters.size))
            _unite(x, y, rows, clusters, merging, scene)
            _strike_off(clusters, alive, x, y)
            lowest = 0
        if clusters.open[x]:
            _look_up(x, lowest, rows, clusters, information, merging, scene, own, alive)
    return GOING
