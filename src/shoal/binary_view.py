"""Encoded -> a table of zeros and ones: every value of every column is a feature that a record has or lacks.

What a record has is its mass, spread over its features, so that records and classes are distributions and
the loss of a merge is information. A column is one group of features, or several:

- categories: one feature a value; null is a value of its own;
- sets: one feature an item, of which a record may have any number; none at all and null are features too;
- with a hierarchy: one group a level, the root left out, so that values under one node have something in
  common;
- numbers, dates and ranks: nested bins. The two neighbouring bins whose union loses the least information
  about the column are united until `bins` are left, then half as many, and so on down to two; the bins of
  each of these stages are a group.

Masses are whole numbers: sums do not depend on their order, and kernels agree with the oracle to the last
bit.
"""

from __future__ import annotations

import heapq
import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import NDArray

from .encoding import Encoded, QuasiColumn, SensitiveColumn
from .schema import Kind
from .sets import Items

Rows = Literal["column", "record"]

MOST = 2520  # mass of a record, at most, where no finer one is needed: divisible by all numbers up to 10
_UNIT = 1 << 20  # per bit and record, for comparing what unions of bins lose


class _Group(NamedTuple):
    """Features of which a record has exactly one, or with `several` any number."""

    record: NDArray[np.int64]  # ascending
    value: NDArray[np.int32]  # ascending within a record
    size: int
    share: Fraction  # of the mass of a record
    several: bool


@dataclass(frozen=True, slots=True, eq=False)
class BinaryView:
    """The features of every record, row after row.

    Attributes
    ----------
    offsets : int64[n + 1]
        Record i has the entries ``offsets[i]:offsets[i + 1]``.
    feature, mass : int32[entries]
        Ascending features, and how much of the record's mass each has.
    total : int
        The mass of a record.
    group : int32[features]
        The group of every feature.
    weight : int32[groups]
        What one entry of a group counts when it changes.
    several : bool[groups]
        Whether a record may have any number of the group's features, rather than exactly one.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["job", "town"], models=[shoal.KAnonymity(2)])
    >>> encoded = shoal.encode({"job": ["cook", "smith"], "town": ["Ulm", None]}, policy)
    >>> view = BinaryView.of_quasi(encoded)
    >>> view.total, view.feature.reshape(2, 2).tolist(), view.mass.tolist()
    (2, [[0, 2], [1, 3]], [1, 1, 1, 1])
    """

    offsets: NDArray[np.int64]
    feature: NDArray[np.int32]
    mass: NDArray[np.int32]
    total: int
    group: NDArray[np.int32]
    weight: NDArray[np.int32]
    several: NDArray[np.bool_]

    @property
    def features(self) -> int:
        """Number of features."""
        return len(self.group)

    @classmethod
    def of_quasi(cls, encoded: Encoded, *, rows: Rows = "column", bins: int = 16) -> BinaryView:
        """Return the view of the quasi-identifiers.

        Parameters
        ----------
        encoded : Encoded
        rows : "column" or "record"
            Whether every column has its share of a record's mass, by its weight; or every feature the same,
            nulls being no features and values under one node nothing in common: the paper's table.
        bins : int
            Of a column of numbers; 0: every number is a value for itself.
        """
        weights = [Fraction(column.spec.weight) for column in encoded.quasi]
        groups: list[_Group] = []
        for j, column in enumerate(encoded.quasi):
            codes, share = encoded.codes[:, j], weights[j] / sum(weights)
            items = column.items()
            if items is not None:
                groups.append(_several(items, codes, share, empty=rows == "column"))
            elif rows == "record":
                groups.append(_single(codes, share, null=column.size))
            else:
                groups += _shared(_quasi_levels(column, codes, bins), share)
        if rows == "record":
            groups += _nothing(groups, encoded.records)
        return cls._of(groups, encoded.records, rows)

    @classmethod
    def of_sensitive(cls, encoded: Encoded, *, bins: int = 16, nested: bool = True) -> BinaryView:
        """Return the view of the sensitive columns, all with the same share of a record's mass.

        With `nested`, values under one node of a hierarchy, or in one bin, have something in common.
        """
        groups: list[_Group] = []
        share = Fraction(1, max(len(encoded.sensitive), 1))
        for j, column in enumerate(encoded.sensitive):
            codes = encoded.sensitive_codes[:, j]
            groups += _shared(_sensitive_levels(column, codes, bins) if nested else [codes], share)
        return cls._of(groups, encoded.records, "column")

    @classmethod
    def _of(cls, groups: Sequence[_Group], n: int, rows: Rows) -> BinaryView:
        """Return the entries of all groups, record by record."""
        sizes = [group.size for group in groups]
        starts = np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64)
        record = np.concatenate([np.zeros(0, dtype=np.int64), *(group.record for group in groups)])
        feature = np.concatenate(
            [np.zeros(0, dtype=np.int64), *(g.value + s for g, s in zip(groups, starts[:-1], strict=True))]
        )
        of_group = np.repeat(np.arange(len(groups), dtype=np.int32), sizes)
        order = np.lexsort((feature, record))
        record, feature = record[order], feature[order]
        together = record if rows == "record" else record * len(groups) + of_group[feature]
        begins = np.flatnonzero(np.diff(together, prepend=-1))
        lengths = np.diff(np.append(begins, len(together)))
        shares = [Fraction(1)] if rows == "record" else [group.share for group in groups]
        masses = _whole_shares(shares, lengths)
        own = masses[of_group[feature[begins]] if rows == "column" else np.zeros(len(begins), dtype=np.int64)]
        place = np.arange(len(together)) - np.repeat(begins, lengths)
        mass = np.repeat(own // lengths, lengths) + (place < np.repeat(own % lengths, lengths))
        return cls(
            offsets=np.concatenate([[0], np.cumsum(np.bincount(record, minlength=n))]).astype(np.int64),
            feature=feature.astype(np.int32),
            mass=mass.astype(np.int32),
            total=int(masses.sum()),
            group=of_group,
            weight=(masses if rows == "column" else np.ones(len(groups))).astype(np.int32),
            several=np.array([group.several for group in groups], dtype=np.bool_),
        )


def _whole_shares(shares: Sequence[Fraction], lengths: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the shares as whole numbers, divisible by as many of the lengths as fit."""
    if not shares:
        return np.zeros(0, dtype=np.int64)
    total = math.lcm(*(share.denominator for share in shares))
    most = max(MOST, 4 * len(shares))
    if total <= most:
        for length in np.unique(lengths).tolist():
            total = math.lcm(total, length) if math.lcm(total, length) <= most else total
        return np.array([int(share * total) for share in shares], dtype=np.int64)
    total = most
    whole = np.array([max(1, int(share * total)) for share in shares], dtype=np.int64)
    rest = [share * total - int(share * total) for share in shares]
    for at in sorted(range(len(rest)), key=lambda at: (-rest[at], at))[: max(0, total - int(whole.sum()))]:
        whole[at] += 1
    return whole


def _shared(levels: list[NDArray[np.integer]], share: Fraction) -> list[_Group]:
    """Return one group a level, with equal parts of the share."""
    return [_single(level, share / len(levels)) for level in levels]


def _single(codes: NDArray[np.integer], share: Fraction, null: int | None = None) -> _Group:
    """Return the group of which every record has one feature, or none where its code is `null`."""
    record = np.flatnonzero(codes != null) if null is not None else np.arange(len(codes))
    used, values = np.unique(codes[record], return_inverse=True)
    return _Group(record.astype(np.int64), values.astype(np.int32), len(used), share, null is not None)


def _several(items: Items, codes: NDArray[np.int32], share: Fraction, *, empty: bool) -> _Group:
    """Return the group of the items of sets; with `empty`, having none and being null are two more."""
    record, value = items.entries(codes)
    if empty:
        none = np.append(items.lengths == 0, True)[codes]
        lacking = np.flatnonzero(none)
        mark = len(items.names) + (codes[lacking] == len(items.lengths))
        record = np.concatenate([record, lacking])
        value = np.concatenate([value, mark.astype(np.int32)])
        order = np.argsort(record, kind="stable")
        record, value = record[order], value[order]
    used, values = np.unique(value, return_inverse=True)
    return _Group(record.astype(np.int64), values.astype(np.int32), len(used), share, True)


def _nothing(groups: Sequence[_Group], n: int) -> list[_Group]:
    """Return the group of the records that have no feature at all, if there are any."""
    empty = np.ones(n, dtype=np.bool_)
    for group in groups:
        empty[group.record] = False
    record = np.flatnonzero(empty)
    share = Fraction(1, len(groups))
    return [_Group(record, np.zeros(len(record), dtype=np.int32), 1, share, True)] if len(record) else []


def _quasi_levels(column: QuasiColumn, codes: NDArray[np.int32], bins: int) -> list[NDArray[np.integer]]:
    """Return the codes of a quasi-identifier at every level."""
    if column.tree is not None:
        # Null stands beside every node, so it differs on all levels.
        return [np.append(level, -1)[codes] for level in column.tree.nodes[:-1]] or [codes]
    if column.positions is not None and bins:
        return nested_bins(codes, column.size, bins)
    return [codes]


def _sensitive_levels(
    column: SensitiveColumn, codes: NDArray[np.int32], bins: int
) -> list[NDArray[np.integer]]:
    """Return the codes of a sensitive column at every level."""
    if column.tree is not None:
        return [level[codes] for level in column.tree.nodes[:-1]] or [codes]
    if column.spec.kind is not Kind.CATEGORICAL and bins:
        nulls = bool(column.values.null_count)
        return nested_bins(codes, column.size - nulls, bins)
    return [codes]


def nested_bins(codes: NDArray[np.int32], null: int, bins: int) -> list[NDArray[np.integer]]:
    """Return the bin of every record, for `bins` bins and for every halving of that number down to two.

    Bins are runs of codes. Two neighbours are united, always the pair whose union loses the least information
    about the column: with a and b records, (a + b) log(a + b) - a log a - b log b. Ties: the first pair. The
    code `null` is a bin of its own.

    Examples
    --------
    >>> codes = np.repeat(np.arange(5, dtype=np.int32), [1, 1, 1, 5, 5])
    >>> [np.unique(level, return_index=True)[1].tolist() for level in nested_bins(codes, 5, 4)]
    [[0, 2, 3, 8], [0, 8]]
    """
    counts = np.bincount(codes, minlength=null + 1)[:null]
    present = np.flatnonzero(counts)
    stages = []
    wanted = bins
    while wanted > 2:
        stages.append(wanted)
        wanted //= 2
    found = _united(counts[present].tolist(), [*stages, 2])
    levels: list[NDArray[np.integer]] = []
    for begins in found:
        place = np.full(null + 1, -1, dtype=np.int64)
        place[present] = np.repeat(np.arange(len(begins)), np.diff([*begins, len(present)]))
        levels.append(place[codes])
    return levels


def _united(counts: list[int], stages: list[int]) -> list[list[int]]:
    """Return where the bins begin at every stage that has fewer bins than the one before."""
    last = len(counts)
    after = list(range(1, last + 1))
    before = list(range(-1, last - 1))
    alive = [True] * last
    queue = [(_lost(counts[i], counts[i + 1]), i, counts[i], counts[i + 1]) for i in range(last - 1)]
    heapq.heapify(queue)
    left = last
    found: list[list[int]] = []
    for stage in stages:
        while left > stage:
            _, i, own, next_one = heapq.heappop(queue)
            j = after[i]
            if not alive[i] or counts[i] != own or j >= last or counts[j] != next_one:
                continue  # one of the two has grown since
            counts[i] += counts[j]
            alive[j] = False
            after[i] = after[j]
            if after[j] < last:
                before[after[j]] = i
                heapq.heappush(queue, (_lost(counts[i], counts[after[i]]), i, counts[i], counts[after[i]]))
            if before[i] >= 0:
                h = before[i]
                heapq.heappush(queue, (_lost(counts[h], counts[i]), h, counts[h], counts[i]))
            left -= 1
        begins = [i for i in range(last) if alive[i]]
        if not found or len(begins) < len(found[-1]):
            found.append(begins)
    return found


def _lost(a: int, b: int) -> int:
    """Return what the union of two bins loses, in whole units."""
    return round(_UNIT * ((a + b) * math.log2(a + b) - a * math.log2(a) - b * math.log2(b)))
