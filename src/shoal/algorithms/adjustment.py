"""Records moved between classes until every class is large enough and keeps the policy."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..binary_view import BinaryView
from ..encoding import Encoded
from ..progress import Run

if TYPE_CHECKING:
    from ..kernels.adjusting import Classes, Features
    from ..kernels.bottleneck import Scene
    from ..kernels.rules import Rules
    from ..kernels.sparse import Rows


def make_scene(encoded: Encoded, rules: Rules) -> Scene:
    """Return the sensitive values as the kernels of this module see them, with the distances of the policy.

    A column under no t-closeness is measured by the equal distance.
    """
    from ..kernels.bottleneck import Scene
    from ..kernels.closeness import EQUAL, NESTED, ORDERED, Grounds
    from ..kernels.stats import make_stats

    kind = np.full(len(encoded.sensitive), EQUAL, dtype=np.int8)
    unit = np.ones(len(kind))
    for j, column in enumerate(encoded.sensitive):
        if column.tree is not None and np.isfinite(rules.t_tree[j]):
            kind[j], unit[j] = NESTED, 2 * max(int(column.tree.heights[column.tree.root]), 1)
        elif np.isfinite(rules.t_ordered[j]):
            values = int((rules.overall[rules.start[j] : rules.start[j + 1]] > 0).sum())
            kind[j], unit[j] = ORDERED, max(values - 1, 1)
    counting = rules._replace(plain=False)
    return Scene(counting, encoded.flat_sensitive(), Grounds(kind, unit), make_stats(counting))


class Adjustment:
    """Classes of some records, and what to do about those that are too small or break a promise.

    Parameters
    ----------
    view : BinaryView
        Of the quasi-identifiers.
    scene : Scene
    labels : int64[n]
        Dense class numbers.
    run : Run
        Draws the order in which the records of a class are moved.
    literal : bool
        Whether records go where Algorithm 3 of the GCAA paper, read literally, sends them.
    """

    def __init__(
        self, view: BinaryView, scene: Scene, labels: NDArray[np.int64], run: Run, *, literal: bool = False
    ) -> None:
        from ..kernels.adjusting import Features, make_classes
        from ..kernels.sparse import make_rows

        n, count = len(labels), int(labels.max(initial=-1)) + 1
        widest = int(np.diff(view.offsets).max(initial=0))
        self.scene, self.literal = scene, literal
        self.features: Features = Features(
            offsets=view.offsets,
            feature=view.feature,
            once=np.ones(widest, dtype=np.int32),
            group=view.group,
            weight=view.weight,
            several=view.several,
            change=np.zeros(view.features, dtype=np.int32),
            mark=np.zeros(view.features, dtype=np.int64),
            looks=np.zeros(1, dtype=np.int64),
            most=np.zeros(len(view.weight), dtype=np.int64),
        )
        room = np.zeros(len(view.feature), dtype=np.int32)
        rows: Rows = make_rows(np.zeros(count + 1, dtype=np.int64), room, room)
        rows.used[0] = 0
        self.rows = rows
        self.classes: Classes = make_classes(labels, count, self.features, self.rows, scene)
        self.turn = np.argsort(run.rng().permutation(n))
        self.waiting: list[int] = []

    def dissolve_small(self) -> None:
        """Give the records of all classes of fewer than k to others, the farthest from the table first."""
        classes = self.classes
        while True:
            small = np.flatnonzero((classes.size > 0) & (classes.size < self.scene.rules.k))
            if len(small) == 0:
                return
            self._dissolve(int(small[np.argmax(classes.distance[small])]), among_small=True)

    def settle_failing(self, *, swap: bool) -> None:
        """Repair the classes that break a promise, the farthest from the table first.

        A class gives all of its records away, each to the class that suits it best; or, where that leaves one
        without a class or changes more entries, joins another class. With `swap`, it swaps records with good
        classes instead where that makes it good and changes no more entries than either.
        """
        classes = self.classes
        while True:
            failing = np.flatnonzero((classes.size >= self.scene.rules.k) & ~classes.good)
            if len(failing) == 0:
                return
            self._settle(int(failing[np.argmax(classes.distance[failing])]), swap)

    def place_waiting(self) -> None:
        """Give the records that found no class a second chance."""
        waiting, self.waiting = self.waiting, []
        for record in waiting:
            self._place(record, among_small=False)

    def labels(self) -> NDArray[np.int64]:
        """Return the class of every record; one that found none is a class of its own."""
        labels = self.classes.labels.copy()
        labels[self.waiting] = len(self.classes.size) + np.arange(len(self.waiting))
        return labels

    def _members(self, c: int) -> list[int]:
        members = np.flatnonzero(self.classes.labels == c)
        return [int(record) for record in members[np.argsort(self.turn[members])]]

    def _dissolve(self, c: int, *, among_small: bool) -> None:
        members = self._members(c)
        for record in members:
            self._take_out(record)
        for record in members:
            self._place(record, among_small=among_small)

    def _place(self, record: int, *, among_small: bool) -> None:
        """Put a record into the class that suits it best, or let it wait."""
        from ..kernels.adjusting import NOWHERE, best_class, best_small_class

        state = (self.classes, self.features, self.rows, self.scene)
        target = best_class(*state, record, True) if self.literal else NOWHERE
        if target == NOWHERE:
            target = best_class(*state, record, False)
        if target == NOWHERE and among_small:
            target = best_small_class(*state, record)
        if target == NOWHERE:
            self.waiting.append(record)
        else:
            self._put_in(record, target)

    def _take_out(self, record: int) -> None:
        from ..kernels.adjusting import take_out

        take_out(self.classes, self.features, self.rows, self.scene, record)

    def _put_in(self, record: int, c: int) -> None:
        from ..kernels.adjusting import put_in

        put_in(self.classes, self.features, self.rows, self.scene, record, c)

    def _settle(self, c: int, swap: bool) -> None:
        """Repair one class in the way that changes fewest entries."""
        from ..kernels.adjusting import NOWHERE
        from ..kernels.exchanging import cheapest_union

        target, joining, good = cheapest_union(self.classes, self.features, self.rows, self.scene, c)
        members = self._members(c)
        if target == NOWHERE:
            for record in members:
                self._take_out(record)
            self.waiting += members
            return
        before, waiting = int(self.classes.changed.sum()), len(self.waiting)
        self._dissolve(c, among_small=False)
        leaving = int(self.classes.changed.sum()) - before
        stranded = len(self.waiting) > waiting
        moved = self.classes.labels[members].tolist()
        if self.literal and not stranded:
            return
        del self.waiting[waiting:]
        self._move(members, [c] * len(members))
        joins = stranded or (good and joining < leaving)
        if not (swap and self._swapped(c, most=joining if joins else leaving)):
            self._move(members, [target] * len(members) if joins else moved)

    def _move(self, records: list[int], targets: list[int]) -> None:
        for record, target in zip(records, targets, strict=True):
            if self.classes.labels[record] >= 0:
                self._take_out(record)
            self._put_in(record, target)

    def _exchange(self, a: int, b: int) -> None:
        """Let two records swap places."""
        x, y = int(self.classes.labels[a]), int(self.classes.labels[b])
        for record in (a, b):
            self._take_out(record)
        self._put_in(a, y)
        self._put_in(b, x)

    def _swapped(self, c: int, most: int) -> bool:
        """Make a class good by swaps that change at most `most` entries more; else leave it as it is."""
        from ..kernels.adjusting import NOWHERE
        from ..kernels.exchanging import best_swap

        made: list[tuple[int, int]] = []
        spent = 0
        while not self.classes.good[c]:
            member, other, change = best_swap(self.classes, self.features, self.rows, self.scene, c)
            spent += change
            if member == NOWHERE or spent > most:
                for a, b in reversed(made):
                    self._exchange(a, b)
                return False
            self._exchange(member, other)
            made.append((member, other))
        return True
