"""Every metric from its definition, on raw records in plain Python."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

Node = tuple[str, ...]  # the way down from the root, which is ()


@dataclass
class Taxonomy:
    """A tree given as {node: {child: [leaf, ...]}}, a leaf beside inner nodes being {leaf: None}."""

    nested: dict[str, Any]
    ways: dict[str, Node] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self._walk(self.nested, ())

    def _walk(self, below: Any, way: Node) -> None:
        if not below:
            self.ways[way[-1]] = way
        elif isinstance(below, dict):
            for label, deeper in below.items():
                self._walk(deeper, (*way, label))
        else:
            for leaf in below:
                self.ways[leaf] = (*way, leaf)

    @property
    def leaves(self) -> list[str]:
        return list(self.ways)

    @property
    def height(self) -> int:
        return self.height_of(())

    def below(self, node: Node) -> list[str]:
        return [leaf for leaf, way in self.ways.items() if way[: len(node)] == node]

    def height_of(self, node: Node) -> int:
        return max(len(self.ways[leaf]) for leaf in self.below(node)) - len(node)

    def level_of(self, node: Node) -> int:
        """Levels are counted from the top, a leaf standing at level 0 however near to the root it hangs."""
        is_leaf = node in self.ways.values()
        return 0 if is_leaf else self.height - len(node)

    def ancestor(self, values: set[str]) -> Node:
        ways = [self.ways[value] for value in values]
        common: Node = ()
        for steps in zip(*ways, strict=False):
            if len(set(steps)) > 1:
                break
            common = (*common, steps[0])
        return common


@dataclass
class Column:
    """One quasi-identifier: a value per record, None for null. Numbers, ranks and dates come as numbers."""

    name: str
    values: list[Any]
    line: bool = False
    taxonomy: Taxonomy | None = None

    @property
    def domain(self) -> list[Any]:
        if self.taxonomy is not None:
            return self.taxonomy.leaves
        return sorted({value for value in self.values if value is not None})


@dataclass
class Records:
    """A table and the class of each record, None for a suppressed one."""

    columns: list[Column]
    labels: list[int | None]
    sensitive: dict[str, list[Hashable]] = field(default_factory=dict)

    @property
    def n(self) -> int:
        return len(self.labels)

    @property
    def cells(self) -> int:
        return self.n * len(self.columns)

    @property
    def suppressed(self) -> int:
        return self.labels.count(None)

    @property
    def classes(self) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        for record, label in enumerate(self.labels):
            if label is not None:
                found.setdefault(label, []).append(record)
        return list(found.values())

    @property
    def sizes(self) -> list[int]:
        return [len(members) for members in self.classes]


# How a class publishes a column ------------------------------------------------------------------------


def held(column: Column, members: list[int]) -> tuple[set[Any], bool]:
    """The values a class holds, and whether it mixes them with null."""
    values = [column.values[record] for record in members]
    some = {value for value in values if value is not None}
    return some, bool(some) and None in values


def covered(column: Column, members: list[int] | None) -> set[Any]:
    """All values a published cell may stand for; None as members means suppressed."""
    everything = set(column.domain) | ({None} if None in column.values else set())
    if members is None:
        return everything
    some, mixed = held(column, members)
    if mixed:
        return everything
    if not some:
        return {None}
    if column.line:
        return {value for value in column.domain if min(some) <= value <= max(some)}
    if column.taxonomy is not None:
        return set(column.taxonomy.below(column.taxonomy.ancestor(some)))
    return some


def cell_loss(column: Column, members: list[int], categories: str) -> float:
    """The loss of one cell; `categories` is how those lose: "set", "height" or "flat"."""
    some, mixed = held(column, members)
    if mixed:
        return 1.0
    if len(some) < 2:
        return 0.0
    if column.line:
        return (max(some) - min(some)) / (max(column.domain) - min(column.domain))
    if column.taxonomy is not None:
        node = column.taxonomy.ancestor(some)
        if categories == "height":
            return column.taxonomy.height_of(node) / column.taxonomy.height
        return (len(column.taxonomy.below(node)) - 1) / (len(column.domain) - 1)
    return (len(some) - 1) / (len(column.domain) - 1) if categories == "set" else 1.0


def column_loss(records: Records, column: Column, categories: str = "set") -> float:
    kept = sum(len(members) * cell_loss(column, members, categories) for members in records.classes)
    return kept + records.suppressed


# Loss -----------------------------------------------------------------------------------------------------


def gcp(records: Records) -> float:
    return sum(column_loss(records, column) for column in records.columns) / records.cells


def ncp(records: Records) -> dict[str, float]:
    return {column.name: column_loss(records, column) / records.n for column in records.columns}


def il(records: Records) -> float:
    return sum(column_loss(records, column, "height") for column in records.columns)


def il_normalised(records: Records) -> float:
    return il(records) / records.cells


def lm(records: Records) -> float:
    return sum(column_loss(records, column, "flat") for column in records.columns) / records.cells


def lil(records: Records) -> float:
    lines = [column for column in records.columns if column.line]
    return sum(column_loss(records, column) for column in lines) / (records.n * len(lines))


def iloss(records: Records) -> float:
    total = 0.0
    for column in records.columns:
        total += records.suppressed
        for members in records.classes:
            _, mixed = held(column, members)
            loss = 1.0 if mixed else (len(covered(column, members)) - 1) / max(1, len(column.domain))
            total += len(members) * loss
    return total / records.cells


def precision(records: Records) -> float:
    climbed = 0.0
    for column in records.columns:
        climbed += records.suppressed
        for members in records.classes:
            some, mixed = held(column, members)
            share = float(mixed or len(some) > 1)
            if column.taxonomy is not None and some and not mixed:
                node = column.taxonomy.ancestor(some)
                share = column.taxonomy.level_of(node) / column.taxonomy.height
            climbed += len(members) * share
    return 1 - climbed / records.cells


# Sizes ----------------------------------------------------------------------------------------------------


def dm(records: Records) -> float:
    return sum(size**2 for size in records.sizes) + records.suppressed * records.n


def dm_star(records: Records) -> float:
    return sum(size**2 for size in records.sizes)


def average_class(records: Records) -> float:
    sizes = records.sizes
    return sum(sizes) / len(sizes) if sizes else 0.0


def cavg(records: Records, k: int) -> float:
    return average_class(records) / k


def cavg_achieved(records: Records) -> float:
    return average_class(records) / min(records.sizes)


def aecs(records: Records) -> float:
    return records.n / (len(records.sizes) + (1 if records.suppressed else 0))


def largest_class(records: Records) -> float:
    return max(records.sizes, default=0)


def smallest_class(records: Records) -> float:
    return min(records.sizes, default=0)


def classes(records: Records) -> float:
    return len(records.sizes)


def suppressed(records: Records) -> float:
    return records.suppressed / records.n


def p_ka(records: Records, k: int) -> float:
    return sum(size < k for size in records.sizes)


# Values of a class ----------------------------------------------------------------------------------------


def shares(values: Iterable[Hashable]) -> dict[Hashable, float]:
    counts = Counter(values)
    return {value: count / sum(counts.values()) for value, count in counts.items()}


def cm(records: Records, labels: list[Hashable]) -> float:
    wrong = records.suppressed
    for members in records.classes:
        wrong += len(members) - max(Counter(labels[record] for record in members).values())
    return wrong / records.n


def information_gain(records: Records, labels: list[Hashable]) -> float:
    def entropy(members: Iterable[int]) -> float:
        return -sum(share * math.log(share) for share in shares(labels[r] for r in members).values())

    whole = entropy(range(records.n))
    if len(set(labels)) == 1:
        return 1.0
    missing = sum(len(members) * entropy(members) for members in records.classes)
    return 1 - (missing + records.suppressed * whole) / (records.n * whole)


def ed(records: Records, column: str) -> float:
    values = records.sensitive[column]
    return sum(len(members) for members in records.classes if len({values[r] for r in members}) == 1)


def sd(records: Records, column: str, truly_sensitive: set[str]) -> float:
    values = records.sensitive[column]
    total = 0
    for members in records.classes:
        different = {values[record] for record in members}
        if len(different) == 1 and different <= truly_sensitive:
            total += len(members)
    return total


def p_tc(records: Records, t: float) -> float:
    """Equal distance in each sensitive column, compared with the records that are published."""
    failing = set()
    for values in records.sensitive.values():
        overall = shares(values[record] for members in records.classes for record in members)
        for number, members in enumerate(records.classes):
            inside = shares(values[record] for record in members)
            distance = sum(abs(inside.get(value, 0) - share) for value, share in overall.items()) / 2
            if distance > t + 1e-12:
                failing.add(number)
    return len(failing)


# Distortion -----------------------------------------------------------------------------------------------


def adr(records: Records, denominator: str) -> float:
    """Both tables as one-hot rows, compared entry by entry; or cell by cell."""
    different = total = 0
    for column in records.columns:
        domain = [*column.domain, *([None] if None in column.values else [])]
        published = list(column.values)
        for members in records.classes:
            mode = Counter(column.values[record] for record in members).most_common(1)[0][0]
            for record in members:
                published[record] = mode
        for record, label in enumerate(records.labels):
            others = [value for value in domain if value != column.values[record]]
            if label is None:
                published[record] = others[0] if others else "nothing"
            if denominator == "cells":
                different += published[record] != column.values[record]
                total += 1
            for value in domain if denominator == "values" else []:
                different += (published[record] == value) != (column.values[record] == value)
                total += 1
    return different / total


def squares(records: Records, numeric: set[str], scale: str) -> tuple[list[float], list[float]]:
    """Squared distance of each record from what is published, and from the mean of the table."""
    error, total = [0.0] * records.n, [0.0] * records.n
    for column in records.columns:
        some = [value for value in column.values if value is not None]
        if column.name not in numeric or len(set(some)) < 2:
            continue
        mean = math.fsum(some) / len(some)
        width = max(some) - min(some)
        if scale == "z-score":
            width = math.sqrt(math.fsum((value - mean) ** 2 for value in some) / len(some))
        published = [mean] * records.n
        for members in records.classes:
            inside = [column.values[record] for record in members]
            if None not in inside:
                for record in members:
                    published[record] = math.fsum(inside) / len(inside)
        for record, value in enumerate(column.values):
            if value is not None:
                error[record] += ((value - published[record]) / width) ** 2
                total[record] += ((value - mean) / width) ** 2
    return error, total


# Information ----------------------------------------------------------------------------------------------


def published_cells(records: Records, column: Column) -> list[set[Any]]:
    """What each record's cell may stand for."""
    found = [covered(column, None)] * records.n
    for members in records.classes:
        for record in members:
            found[record] = covered(column, members)
    return found


def kl(records: Records) -> dict[str, float]:
    found = {}
    for column in records.columns:
        cells = published_cells(records, column)
        total = 0.0
        for value, share in shares(column.values).items():
            rebuilt = math.fsum(1 / len(cell) for cell in cells if value in cell) / records.n
            total += share * math.log2(share / rebuilt)
        found[column.name] = total
    return found


def non_uniform_entropy(records: Records) -> float:
    missing = whole = 0.0
    for column in records.columns:
        counts = Counter(column.values)
        for value, cell in zip(column.values, published_cells(records, column), strict=True):
            missing -= math.log2(counts[value] / sum(counts[other] for other in cell))
            whole -= math.log2(counts[value] / records.n)
    return missing / whole if whole > 1e-12 else 0.0
