"""Distinct rows in a tree of boxes: what the algorithms that always take the nearest record search in."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from .distinct import distinct_rows

if TYPE_CHECKING:
    from ..kernels.k_member_index import Columns, Index
    from ..kernels.space import Space

Guided = list[tuple[NDArray[np.int32], int]]  # codes and number of values of further columns


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


def with_guides(columns: Columns, sizes: list[int]) -> Columns:
    """Return the geometry with further columns of values without order, which no distance depends on."""
    from ..kernels.k_member_index import FLAT

    more = np.array(sizes, dtype=np.int64)
    nothing = np.zeros(len(more), dtype=np.int64)
    return columns._replace(
        kind=np.append(columns.kind, np.full(len(more), FLAT, dtype=np.int8)),
        size=np.append(columns.size, more),
        full=np.append(columns.full, nothing),
        step=np.append(columns.step, nothing),
        start=np.append(columns.start, columns.start[-1] + np.cumsum(more)),
        tree_start=np.append(columns.tree_start, nothing),
    )


def row_index(
    encoded: Encoded,
    space: Space,
    columns: Columns,
    by_priority: NDArray[np.int64],
    more: Guided | None = None,
) -> tuple[Index, NDArray[np.int32]]:
    """Return the tree over the distinct rows, and the row of the first record by priority.

    Records are named by their priority: record p of the index is ``by_priority[p]``. Records that
    `by_priority` leaves out are not in the tree. `more` are the codes of `columns` beyond the space.
    """
    first, row = distinct_rows(encoded, more or ())
    if len(by_priority) < encoded.records:
        kept, row_of = np.unique(row[by_priority], return_inverse=True)
        first, of_priority = first[kept], row_of.astype(np.int64)
    else:
        of_priority = row[by_priority]
    values = search_values(encoded.codes[first], space)
    if more:
        values = np.hstack([values, *[codes[first][:, None] for codes, _ in more]])
        values = np.ascontiguousarray(values, dtype=np.int32)
    queue = np.argsort(of_priority, kind="stable").astype(np.int64)
    return _tree(values, columns, queue, np.bincount(of_priority)), values[of_priority[0]].copy()


def tree_of(values: NDArray[np.int32], columns: Columns, names: NDArray[np.int64] | None = None) -> Index:
    """Return the tree over rows of which each is one record, named by its place or as `names` say."""
    queue = np.arange(len(values), dtype=np.int64) if names is None else names
    return _tree(values, columns, queue, np.ones(len(values), dtype=np.int64))


def _tree(
    values: NDArray[np.int32], columns: Columns, queue: NDArray[np.int64], counts: NDArray[np.int64]
) -> Index:
    """Return the tree over rows that have so many records each, in the order of `queue`."""
    from ..kernels.k_member_index import Index, build_tree, measure_all

    stop = np.cumsum(counts)
    head = stop - counts
    # Where nothing else tells rows apart, guiding columns do.
    order, nodes, leaf = build_tree(values, columns._replace(step=np.maximum(columns.step, 1)))
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
    return index


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
