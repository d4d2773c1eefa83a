"""Classes that grow record by record on the tree of distinct rows: the drivers of the kernels."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..partitions import SUPPRESSED, Partition
from ..progress import Stage
from .guides import Guide, make_guides, make_promises
from .row_index import row_index, search_columns, with_guides
from .sparing import total_cost

if TYPE_CHECKING:
    from ..kernels.k_member_guided import Groups
    from ..kernels.leftovers import Classes
    from ..kernels.rules import Rules
    from ..kernels.space import Space

_BATCHES = 100  # a batch is the stretch between two looks at Ctrl-C and two steps of the progress bar
_BATCH = 1000  # classes


@dataclass(frozen=True, slots=True, eq=False)
class Growth:
    """What is to be grown into classes.

    Attributes
    ----------
    encoded : Encoded
    space : Space
        Costs in whole numbers.
    rules : Rules
    by_priority : int64[m]
        The records, those first that come first among equals.
    """

    encoded: Encoded
    space: Space
    rules: Rules
    by_priority: NDArray[np.int64]

    @property
    def small(self) -> bool:
        """Whether there are too few records for two classes."""
        return len(self.by_priority) < 2 * self.rules.k

    def together(self) -> Partition:
        """Return the partition of one class."""
        labels = np.full(self.encoded.records, SUPPRESSED, dtype=np.int32)
        labels[self.by_priority] = 0
        return Partition.from_labels(labels)

    def plain(self, from_last: bool, stage: Stage) -> Classes:
        """Grow classes of k records by their loss, each far from the one before."""
        from ..kernels.k_member import grow_classes, make_state

        columns = search_columns(self.space)
        index, seed = row_index(self.encoded, self.space, columns, self.by_priority)
        state = make_state(columns, len(index.left))
        return self._of_k(lambda grown: grow_classes(index, columns, state, seed, grown, from_last), stage)

    def nearest(self, stage: Stage) -> Classes:
        """Make classes of the first record by priority and its k - 1 nearest."""
        from ..kernels.k_member import gather_nearest, make_state

        columns = search_columns(self.space)
        index, _ = row_index(self.encoded, self.space, columns, self.by_priority)
        state = make_state(columns, len(index.left))
        return self._of_k(lambda grown: gather_nearest(index, columns, state, grown), stage)

    def _of_k(self, grow: Callable[[NDArray[np.int64]], None], stage: Stage) -> Classes:
        """Return classes of k records, made batch by batch."""
        from ..kernels.leftovers import Classes

        k = self.rules.k
        members = np.empty((len(self.by_priority) // k, k), dtype=np.int64)
        batch = min(-(-len(members) // _BATCHES), _BATCH)
        for first in range(0, len(members), batch):
            grown = members[first : first + batch]
            grow(grown)
            stage.advance(grown.size)
        return Classes(self.by_priority[members.ravel()], np.arange(len(members) + 1, dtype=np.int64) * k)

    def guided(self, guides: list[Guide], price: float, from_last: bool, stage: Stage) -> Classes:
        """Grow classes by their loss and by what the guides say.

        A pick that the promises force may cost a class `price` cells more than the cheapest one.
        """
        from ..kernels.k_member import make_state
        from ..kernels.k_member_guided import Groups, grow_guided

        m = len(self.by_priority)
        sensitive = self.encoded.flat_sensitive()
        columns = with_guides(search_columns(self.space), [guide.size for guide in guides])
        more = [(guide.codes, guide.size) for guide in guides]
        index, seed = row_index(self.encoded, self.space, columns, self.by_priority, more)
        state = make_state(columns, len(index.left))
        steering = make_guides(guides), make_promises(self.rules, sensitive, self.by_priority, price)
        groups = Groups(
            np.empty(m, np.int64), np.zeros(m, np.int64), np.zeros(m, np.bool_), np.zeros(2, np.int64)
        )
        batch = min(-(-m // self.rules.k // _BATCHES), _BATCH)
        going, before = True, 0
        while going:
            going = grow_guided(index, columns, state, *steering, seed, from_last, groups, batch)
            stage.advance(int(groups.filled[1]) - before)
            before = int(groups.filled[1])
        return self._done(groups)

    def _done(self, groups: Groups) -> Classes:
        """Return the groups that are classes."""
        from ..kernels.leftovers import Classes

        made, taken = map(int, groups.filled)
        sizes = np.diff(groups.end[:made], prepend=0)
        good = groups.done[:made]
        members = groups.members[:taken][np.repeat(good, sizes)]
        return Classes(
            self.by_priority[members], np.concatenate([[0], np.cumsum(sizes[good])]).astype(np.int64)
        )

    def with_leftovers(self, classes: Classes, *, every_promise: bool) -> Partition:
        """Return the partition in which the records without a class have joined one.

        With `every_promise` a class that would break the policy by it is not joined where another is not.
        """
        from ..kernels.leftovers import place_leftovers

        sizes = np.diff(classes.offsets)
        if len(sizes) == 0:
            return self.together()
        labels = np.full(self.encoded.records, SUPPRESSED, dtype=np.int32)
        labels[classes.members] = np.repeat(np.arange(len(sizes), dtype=np.int32), sizes)
        left = self.by_priority[labels[self.by_priority] == SUPPRESSED]
        rules = self.rules if every_promise else self.rules._replace(plain=True)
        sensitive = self.encoded.flat_sensitive()
        place_leftovers(self.encoded.codes, self.space, classes, left, rules, sensitive, labels)
        return Partition.from_labels(labels)

    def failing_and_cost(self, partition: Partition) -> tuple[int, int]:
        """Return how many classes break a promise, and the loss in whole numbers."""
        from ..kernels.clusters import keep_promises

        sensitive = self.encoded.flat_sensitive()
        good = keep_promises(self.rules, sensitive, partition.order, partition.offsets)
        return int((~good).sum()), total_cost(partition, self.encoded, self.space)
