"""Greedy k-member: grow one class after another, always by the record that costs it least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..params import Choice, param
from ..partitions import Partition
from ..progress import Run
from .base import Algorithm
from .distinct import distinct_rows

if TYPE_CHECKING:
    from ..kernels.k_member_index import Columns, Index
    from ..kernels.rules import Rules
    from ..kernels.space import Space

_BATCHES = 100  # a batch is the stretch between two looks at Ctrl-C and two steps of the progress bar
_BATCH = 1000  # classes


@dataclass(frozen=True)
class KMember(Algorithm):
    """Start a class at the record furthest from the last one, add the record that costs least until it has k.

    Every pick is the true minimum over all records that are left, found on a tree of boxes over the distinct
    rows. Equal picks are decided by a random order of the records, drawn from the seed.

    Parameters
    ----------
    furthest_from : "seed" or "last"
        Whether a class starts furthest from the first record of the class before (the paper's prose) or from
        its last one (its pseudo-code).
    loss : "own" or "height"
        What grows least: shoal's loss, or the paper's height of the common ancestor, by which a column
        without hierarchy costs nothing with one value and everything with more.

    Notes
    -----
    Classes grow to the policy's least class size; `enforce` sees to the other promises. When fewer than k
    records are left, each joins the class whose total loss grows least, in the order of the ties. Fewer than
    2k records make one class.

    References
    ----------
    Byun, J.-W., Kamra, A., Bertino, E. and Li, N. (2007): Efficient k-anonymization using clustering
    techniques. DASFAA.

    Examples
    --------
    >>> KMember(furthest_from="last").to_dict()
    {'furthest_from': 'last'}
    """

    name: ClassVar[str] = "k-member"
    summary: ClassVar[str] = "grows classes of k records, each by the record that costs least; low loss"
    reference: ClassVar[str] = "Byun, Kamra, Bertino and Li 2007"

    furthest_from: str = param(
        Choice(("seed", "last")), "record of the last class that the next one starts far from", default="seed"
    )
    loss: str = param(Choice(("own", "height")), "loss that grows least", default="own")

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        n, k = encoded.records, rules.k
        with run.progress.stage("k-member", total=n) as stage:
            if n < 2 * k:
                stage.advance(n)
                return Partition.single(n)
            from ..kernels.k_member import grow_classes, make_state
            from ..kernels.leftovers import place_leftovers

            space = encoded.space(heights=self.loss == "height")
            by_priority = run.rng().permutation(n)
            columns = search_columns(space)
            index, seed = _index(encoded, space, columns, by_priority)
            state = make_state(columns, len(index.left))
            members = np.empty((n // k, k), dtype=np.int64)
            batch = min(-(-len(members) // _BATCHES), _BATCH)
            for first in range(0, len(members), batch):
                grown = members[first : first + batch]
                grow_classes(index, columns, state, seed, grown, self.furthest_from == "last")
                stage.advance(grown.size)
            labels = np.full(n, -1, dtype=np.int32)
            members = by_priority[members]
            labels[members] = np.arange(len(members), dtype=np.int32)[:, None]
            leftovers = by_priority[labels[by_priority] < 0]
            place_leftovers(encoded.codes, space, members, leftovers, labels)
            stage.advance(len(leftovers))
        return Partition.from_labels(labels)


def search_columns(space: Space) -> Columns:
    """Return the geometry for searches: a hierarchy of leaves and root only is as good as none.

    Unless values it does not know went to its root: a class of one such value costs everything already.
    """
    from ..kernels.k_member_index import FLAT, Columns
    from ..kernels.space import TREE

    flat = (space.geometry == TREE) & (space.levels == 2)
    for j in np.flatnonzero(flat):
        leaves = slice(space.tree_start[j], space.tree_start[j] + space.size[j])
        flat[j] = not space.node_cost[leaves].any()
    full = space.full.astype(np.int64)
    return Columns(
        kind=np.where(flat, FLAT, space.geometry).astype(np.int8),
        size=space.size.astype(np.int64),
        full=full,
        step=np.where(flat, full, full // np.maximum(space.size - 1, 1)),
        start=space.start,
        tree_start=space.tree_start,
        node=space.node,
        node_cost=space.node_cost,
    )


def _index(
    encoded: Encoded, space: Space, columns: Columns, by_priority: NDArray[np.int64]
) -> tuple[Index, NDArray[np.int32]]:
    """Return the tree over the distinct rows, and the row of the record that the first class is far from."""
    from ..kernels.k_member_index import Index, build_tree, measure_all

    first, row = distinct_rows(encoded)
    values = search_values(encoded.codes[first], space)
    queue = np.argsort(row[by_priority], kind="stable").astype(np.int64)
    stop = np.cumsum(np.bincount(row))
    head = np.concatenate([[0], stop[:-1]])
    order, nodes, leaf = build_tree(values, columns)
    begin, end, left, right, parent = nodes
    boxes = (len(begin), len(columns.kind))
    index = Index(
        values=np.ascontiguousarray(values[order]),
        head=head[order],
        stop=stop[order],
        leaf=leaf,
        queue=queue,
        begin=begin,
        end=end,
        left=left,
        right=right,
        parent=parent,
        low=np.zeros(boxes, dtype=np.int64),
        high=np.zeros(boxes, dtype=np.int64),
        nulls=np.zeros(boxes, dtype=np.int8),
        least=np.zeros(len(begin), dtype=np.int64),
    )
    measure_all(index, columns)
    return index, values[row[by_priority[0]]].copy()


def search_values(codes: NDArray[np.int32], space: Space) -> NDArray[np.int32]:
    """Return codes as the searches see them: positions of LINE columns, and a null below all values."""
    from ..kernels.k_member_index import NULL
    from ..kernels.space import LINE

    values = np.array(codes, dtype=np.int32, order="C")
    for j in range(values.shape[1]):
        null = codes[:, j] == space.size[j]
        if space.geometry[j] == LINE:
            values[:, j] = space.position[space.start[j] : space.start[j + 1]][codes[:, j]]
        values[null, j] = NULL
    return values
