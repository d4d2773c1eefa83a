"""Trees from an order of values, and trees learned from data."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import HierarchyError
from .texts import plain, texts

_MOST_VALUES = 1000  # each merge compares all pairs of groups
_STRANGE = set(',{}[]"')


def ordered_rows(values: Sequence[Any], sizes: Sequence[int]) -> list[list[str]]:
    """Return the rows of `Hierarchy.ordered`."""
    if not isinstance(values, list | tuple | pa.Array | np.ndarray) or len(values) == 0:
        raise HierarchyError("'values' of an ordered hierarchy must be a list", hint="From first to last.")
    if not isinstance(sizes, list | tuple) or not all(isinstance(n, int) and n > 1 for n in sizes):
        raise HierarchyError(
            "'sizes' of an ordered hierarchy must be a list of whole numbers above 1", hint="Such as [2, 3]."
        )
    labels = texts(plain(values)).to_pylist()
    if len(set(labels)) < len(labels):
        raise HierarchyError("'values' of an ordered hierarchy must differ", hint="List every value once.")
    rows = [[label] for label in labels]
    width = 1
    for size in sizes:
        width *= size
        for begin in range(0, len(labels), width):
            group = labels[begin : begin + width]
            for row in rows[begin : begin + width]:
                row.append(_range(group))
    return [[*row, "*"] for row in rows]


def learned_rows(values: Any, target: Any, neighbours: bool) -> list[list[str]]:
    """Return the rows of `Hierarchy.learned`."""
    counts, found = _counts(values, target)
    labels = texts(found).to_pylist()
    if not labels:
        raise HierarchyError("there are no values to learn a hierarchy from")
    if len(labels) > _MOST_VALUES:
        raise HierarchyError(
            f"{len(labels)} distinct values are too many to learn a hierarchy from (limit {_MOST_VALUES})",
            hint="Use a rule, such as intervals, quantiles or prefix, or group them first.",
        )
    learning = _Learning(counts, by_target=target is not None, neighbours=neighbours)
    rows = [[label] for label in labels]
    wanted = len(labels)
    while wanted > 1:
        wanted = -(-wanted // 2)
        learning.merge_down_to(wanted)
        for group in learning.groups if wanted > 1 else []:
            members = [labels[i] for i in sorted(group)]
            shown = _range(members) if neighbours else _set(members)
            for i in group:
                rows[i].append(shown)
    return [[*row, "*"] for row in rows]


def _counts(values: Any, target: Any) -> tuple[NDArray[np.float64], pa.Array]:
    """Return (records of each value and target, shape [values, targets]; the values, ascending)."""
    column = plain(values)
    other = plain(target) if target is not None else pa.array(np.zeros(len(column), dtype=np.int8))
    if len(other) != len(column):
        raise HierarchyError("'values' and 'target' of a learned hierarchy must be equally long")
    known = pc.is_valid(column)
    column, other = column.filter(known), other.filter(known)
    found = pc.unique(column)
    found = found.take(pc.sort_indices(found))
    value = pc.index_in(column, value_set=found).to_numpy(zero_copy_only=False).astype(np.int64)
    coded = pc.dictionary_encode(other, null_encoding="encode")
    goal = coded.indices.to_numpy(zero_copy_only=False).astype(np.int64)
    counts = np.zeros((len(found), max(len(coded.dictionary), 1)))
    np.add.at(counts, (value, goal), 1.0)
    return counts, found


class _Learning:
    """Groups of values that merge two by two."""

    def __init__(self, counts: NDArray[np.float64], *, by_target: bool, neighbours: bool) -> None:
        self.groups = [[i] for i in range(len(counts))]
        self.counts, self.by_target, self.neighbours = counts, by_target, neighbours
        self.losses = np.stack([self._losses(a) for a in range(len(counts))])

    def merge_down_to(self, wanted: int) -> None:
        """Merge the cheapest pair, the first among equals, until so many groups are left."""
        while len(self.groups) > wanted:
            a, b = self._cheapest()
            self.groups[a] += self.groups.pop(b)
            self.counts[a] += self.counts[b]
            self.counts = np.delete(self.counts, b, axis=0)
            self.losses = np.delete(np.delete(self.losses, b, axis=0), b, axis=1)
            self.losses[a] = self.losses[:, a] = self._losses(a)

    def _cheapest(self) -> tuple[int, int]:
        """Return the pair whose union costs least; among equals the rarest, then the first."""
        m = len(self.groups)
        first, second = (np.arange(m - 1), np.arange(1, m)) if self.neighbours else np.triu_indices(m, 1)
        losses = self.losses[first, second]
        tied = np.flatnonzero(losses == losses.min())
        sizes = self.counts.sum(axis=1)
        best = tied[np.argmin(sizes[first[tied]] + sizes[second[tied]])]
        return int(first[best]), int(second[best])

    def _losses(self, a: int) -> NDArray[np.float64]:
        """Return what the union of a group with each costs: information lost, or how frequent it is."""
        if not self.by_target:
            sizes = self.counts.sum(axis=1)
            return np.asarray(sizes + sizes[a])
        own = _bits(self.counts)
        # To the tenth digit, so that equal losses are equal however they were summed.
        return np.asarray(np.round(_bits(self.counts + self.counts[a]) - own - own[a], 10))


def _bits(counts: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return, per group, its records times the entropy of the target among them."""
    size = counts.sum(axis=1, keepdims=True)
    share = counts / np.maximum(size, 1.0)
    logs = np.log2(np.where(share > 0, share, 1.0))
    return np.asarray(-(counts * logs).sum(axis=1))


def _quoted(label: str) -> str:
    strange = bool(_STRANGE & set(label)) or label != label.strip() or label in ("", "*")
    return json.dumps(label, ensure_ascii=False) if strange else label


def _range(members: list[str]) -> str:
    return members[0] if len(members) == 1 else f"[{_quoted(members[0])}, {_quoted(members[-1])}]"


def _set(members: list[str]) -> str:
    return members[0] if len(members) == 1 else "{" + ", ".join(map(_quoted, members)) + "}"
