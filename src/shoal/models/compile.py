"""All models of a policy -> one `Rules`: thresholds that kernels compare class statistics with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded

if TYPE_CHECKING:
    from ..kernels.rules import Rules
    from .base import Model


Overall = tuple[int, list[NDArray[np.int64]]]  # records, and how many of them have each sensitive value


@dataclass(slots=True, eq=False)
class RulesDraft:
    """Thresholds being tightened, model by model. The fields are those of `Rules`, before they are frozen.

    Each `require_...` method keeps the stricter of what stands there and what is asked for, so the order of
    the models does not matter.
    """

    encoded: Encoded
    records: int
    k: int
    start: NDArray[np.int64]
    min_distinct: NDArray[np.int64]
    min_entropy: NDArray[np.float64]
    recursive_l: NDArray[np.int64]
    recursive_c: NDArray[np.float64]
    t_equal: NDArray[np.float64]
    t_ordered: NDArray[np.float64]
    t_tree: NDArray[np.float64]
    overall: NDArray[np.float64]
    floor: NDArray[np.float64]
    cap: NDArray[np.float64]

    @classmethod
    def neutral(
        cls, encoded: Encoded, kept: NDArray[np.bool_] | None, overall: Overall | None = None
    ) -> RulesDraft:
        """Return the draft that asks for nothing, over the records in `kept` or an `overall` given."""
        columns = len(encoded.sensitive)
        sizes = np.array([column.size for column in encoded.sensitive], dtype=np.int64)
        start = np.concatenate([np.zeros(1, dtype=np.int64), np.cumsum(sizes)])
        if overall is None:
            counts = [_counts(encoded.sensitive_column(j), size, kept) for j, size in enumerate(sizes)]
            overall = encoded.records if kept is None else int(kept.sum()), counts
        records, counts = overall
        unlimited = np.full(columns, np.inf)
        return cls(
            encoded=encoded,
            records=records,
            k=1,
            start=start,
            min_distinct=np.ones(columns, dtype=np.int64),
            min_entropy=np.zeros(columns),
            recursive_l=np.zeros(columns, dtype=np.int64),
            recursive_c=unlimited.copy(),
            t_equal=unlimited.copy(),
            t_ordered=unlimited.copy(),
            t_tree=unlimited.copy(),
            overall=np.concatenate([np.zeros(0), *counts]).astype(np.float64),
            floor=np.zeros(start[-1]),
            cap=np.full(start[-1], np.inf),
        )

    def values(self, column: int) -> slice:
        """Return where the values of a sensitive column lie in the arrays over all values."""
        return slice(int(self.start[column]), int(self.start[column + 1]))

    def counts(self, column: int) -> NDArray[np.float64]:
        """Return how often each value of a sensitive column occurs in the records that are kept."""
        return self.overall[self.values(column)]

    def require_size(self, k: int) -> None:
        """Ask for classes of at least `k` records."""
        self.k = max(self.k, k)

    def require_distinct(self, column: int, least: int) -> None:
        """Ask for at least `least` different values in every class."""
        self.min_distinct[column] = max(self.min_distinct[column], least)
        self.require_size(least)

    def require_at_most(self, thresholds: NDArray[np.float64], column: int, limit: float) -> None:
        """Lower one column's entry of `t_equal`, `t_ordered`, `t_tree` or `recursive_c` to `limit`."""
        thresholds[column] = min(thresholds[column], limit)

    def require_caps(self, column: int, caps: NDArray[np.float64]) -> None:
        """Ask that the share of each value of a column stays within its cap."""
        cap = self.cap[self.values(column)]
        np.minimum(cap, caps, out=cap)
        # A class of c records holds at most c values, whose caps must make room for all of it.
        room = np.cumsum(np.sort(cap[self.counts(column) > 0])[::-1])
        self.require_size(int(np.searchsorted(room, 1.0 - 1e-9)) + 1 if len(room) else 1)

    def require_floors(self, column: int, floors: NDArray[np.float64]) -> None:
        """Ask that the share of each value that a class holds reaches its floor."""
        floor = self.floor[self.values(column)]
        np.maximum(floor, floors, out=floor)

    def freeze(self) -> Rules:
        """Return the thresholds as kernels take them."""
        from ..kernels.rules import Rules

        pairs = zip(self.start[:-1], self.start[1:], strict=True)
        bounded = [bool((self.floor[a:b] > 0).any() or (self.cap[a:b] < np.inf).any()) for a, b in pairs]
        used = (
            (self.min_distinct > 1)
            | (self.min_entropy > 0)
            | (self.recursive_l > 0)
            | (np.minimum(np.minimum(self.t_equal, self.t_ordered), self.t_tree) < np.inf)
        )
        return Rules(
            k=int(self.k),
            plain=not (used.any() or any(bounded)),
            start=self.start,
            min_distinct=self.min_distinct,
            min_entropy=self.min_entropy,
            recursive_l=self.recursive_l,
            recursive_c=self.recursive_c,
            t_equal=self.t_equal,
            t_ordered=self.t_ordered,
            t_tree=self.t_tree,
            bounded=np.array(bounded, dtype=np.bool_),
            total=float(self.records),
            overall=self.overall,
            floor=self.floor,
            cap=self.cap,
            **_flat_trees(self.encoded),
        )


def _counts(codes: NDArray[np.int32], size: int, kept: NDArray[np.bool_] | None) -> NDArray[np.int64]:
    """Return how often each value of a sensitive column occurs in the records that are kept."""
    return np.bincount(codes if kept is None else codes[kept], minlength=size)


def _flat_trees(encoded: Encoded) -> dict[str, Any]:
    """Return the hierarchies of the sensitive columns as the flat arrays of `Rules`."""
    trees = [column.tree for column in encoded.sensitive]
    nodes = [np.zeros(0, dtype=np.int32) if tree is None else tree.nodes.ravel() for tree in trees]
    steps = [np.zeros(0) if tree is None else tree_steps(tree.nodes, tree.heights).ravel() for tree in trees]
    start = np.concatenate([[0], np.cumsum([len(flat) for flat in nodes])])[:-1]
    return {
        "tree_levels": np.array([0 if tree is None else tree.levels for tree in trees], dtype=np.int64),
        "tree_start": start.astype(np.int64),
        "tree_node": np.concatenate([np.zeros(0, dtype=np.int32), *nodes]).astype(np.int32),
        "tree_step": np.concatenate([np.zeros(0), *steps]).astype(np.float64),
    }


def tree_steps(nodes: NDArray[np.int32], heights: NDArray[np.int32]) -> NDArray[np.float64]:
    """Return, per level and leaf, how much higher the node above lies than the node of that level.

    The hierarchical earth mover's distance of Li et al. charges height(N) / H for mass that meets at node N.
    Mass that passes an edge has not met below it, so the same distance is half the sum, over all edges, of
    the surplus under the edge times the height it climbs: no bookkeeping of positive and negative children.
    """
    own = heights[nodes].astype(np.float64)
    return np.concatenate([own[1:] - own[:-1], np.zeros((1, nodes.shape[1]))])


def compile_rules(
    models: tuple[Model, ...],
    encoded: Encoded,
    kept: NDArray[np.bool_] | None = None,
    overall: Overall | None = None,
) -> Rules:
    """Return the thresholds of all models together, over the records in `kept` (all when None).

    Where `encoded` is only a part of a table, `overall` says how many records the whole has, and how many of
    them have each value of each sensitive column.

    Several models on one column combine to the stricter one. Two recursive (c, l) requirements combine to the
    greater l and the smaller c, which implies both.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import shoal
    >>> table = pa.table({"age": [1, 2, 3], "ill": ["a", "b", "b"]})
    >>> policy = shoal.Policy(quasi=["age"], sensitive=["ill"], models=[shoal.LDiversity(2)]).resolved(table)
    >>> from shoal.encoding import encode
    >>> rules = compile_rules(policy.models, encode(table, policy))
    >>> rules.k, rules.min_distinct.tolist()
    (2, [2])
    """
    draft = RulesDraft.neutral(encoded, kept, overall)
    names = tuple(column.name for column in encoded.sensitive)
    for model in models:
        if not model.per_column:
            model.tighten(draft, -1)
            continue
        for name in model.sensitive_columns(names):
            model.tighten(draft, encoded.sensitive_index(name))
    return draft.freeze()
