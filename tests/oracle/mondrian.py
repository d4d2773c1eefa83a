"""Mondrian by definition (LeFevre et al. 2006): recursion over lists of records."""

from __future__ import annotations

from collections.abc import Callable
from fractions import Fraction

from .costs import OracleTable

Class = frozenset[int]
Admissible = Callable[[list[int]], bool]


def mondrian(table: OracleTable, admissible: Admissible, relaxed: bool = False) -> set[Class]:
    """Return the classes of a table; `admissible` says whether records may be a class."""
    final: set[Class] = set()
    waiting = [list(range(len(table.rows)))]
    while waiting:
        records = waiting.pop()
        parts = _first_cut(table, records, admissible, relaxed)
        if parts:
            waiting += parts
        else:
            final.add(frozenset(records))
    return final


def _first_cut(
    table: OracleTable, records: list[int], admissible: Admissible, relaxed: bool
) -> list[list[int]]:
    for j in _widest_first(table, records):
        for parts in _cuts(table, records, j, admissible, relaxed):
            if len(parts) > 1 and all(part and admissible(part) for part in parts):
                return parts
    return []


def _widest_first(table: OracleTable, records: list[int]) -> list[int]:
    ranked = []
    for j, column in enumerate(table.columns):
        codes = table.codes(records, j)
        width = Fraction(column.cost(codes), column.full)
        if width > 0:
            ranked.append((-width, -len(set(codes)), j))
    return [j for _, _, j in sorted(ranked)]


def _cuts(
    table: OracleTable, records: list[int], j: int, admissible: Admissible, relaxed: bool
) -> list[list[list[int]]]:
    column = table.columns[j]
    value = {i: table.rows[i][j] for i in records}
    nulls = [i for i in records if value[i] is None]
    valued = [i for i in records if value[i] is not None]
    cuts = []
    if nulls:
        cuts.append([valued, nulls])
    if column.levels is not None:
        return cuts + _tree_cuts(column, value, valued, nulls)
    order = {i: column.size if value[i] is None else value[i] for i in records}
    if relaxed:
        ordered = sorted(records, key=lambda i: (order[i], i))
        half = (len(ordered) + 1) // 2
        return [*cuts, [ordered[:half], ordered[half:]]]
    median = sorted(order.values())[(len(records) - 1) // 2]
    below = median - 1 if median == max(order.values()) else median
    cuts.append([[i for i in records if order[i] <= below], [i for i in records if order[i] > below]])
    return cuts


def _tree_cuts(column, value, valued, nulls):
    values = {value[i] for i in valued}
    if len(values) < 2:
        return []
    children_of = column.levels[column.common_level(values) - 1]
    children = []
    for code in sorted(values):
        if children_of[code] not in children:
            children.append(children_of[code])
    groups = [[i for i in valued if children_of[value[i]] == child] for child in children]
    cuts = [] if nulls else [groups]
    total = len(valued) + len(nulls)
    before = [sum(len(group) for group in groups[:at]) for at in range(1, len(groups))]
    at = 1 + min(range(len(before)), key=lambda place: abs(2 * before[place] - total))
    left = [i for group in groups[:at] for i in group]
    return [*cuts, [left, [i for i in [*valued, *nulls] if i not in set(left)]]]
