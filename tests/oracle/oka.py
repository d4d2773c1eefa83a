"""One-pass k-means by definition (Lin and Wei 2008), one record at a time."""

from __future__ import annotations

from collections import Counter

from .costs import OracleColumn, OracleTable


def _place(column: OracleColumn, code: int | None) -> int | None:
    """Return a code as centres have it: a position on a line, else the code."""
    return code if code is None or column.positions is None else column.positions[code]


def _center(column: OracleColumn, places: list[int | None], now: int | None) -> int | None:
    """Return the mean of numbers or the most frequent category of a cluster; `now` stays among equals."""
    if column.positions is not None:
        values = [place for place in places if place is not None]
        return None if 2 * (len(places) - len(values)) > len(places) else sum(values) // len(values)
    counts = Counter(places)
    newest = places[-1]
    return newest if counts[newest] > counts[now] else now


def _distance(table: OracleTable, center: list[int | None], record: int) -> int:
    total = 0
    for column, at, code in zip(table.columns, center, table.rows[record], strict=True):
        place = _place(column, code)
        if (at is None) != (place is None):
            total += column.full
        elif at is not None and column.positions is not None:
            total += abs(at - place)
        elif at is not None:
            total += column.cost([at, code])
    return total


def oka(table: OracleTable, k: int, order: list[int]) -> set[frozenset[int]]:
    """Return the classes; records come in `order`, and the first of them are the first centres."""
    if len(order) < 2 * k:
        return {frozenset(order)}
    clusters = [[record] for record in order[: len(order) // k]]
    centers = [
        [_place(column, code) for column, code in zip(table.columns, table.rows[c[0]], strict=True)]
        for c in clusters
    ]
    for record in order[len(clusters) :]:
        nearest = min(range(len(clusters)), key=lambda c: (_distance(table, centers[c], record), c))
        clusters[nearest].append(record)
        for j, column in enumerate(table.columns):
            places = [_place(column, table.rows[i][j]) for i in clusters[nearest]]
            centers[nearest][j] = _center(column, places, centers[nearest][j])
    homeless = []
    for c, members in enumerate(clusters):
        members.sort(key=lambda i: (_distance(table, centers[c], i), order.index(i)))
        homeless += members[k:]
        del members[k:]
    for record in sorted(homeless, key=order.index):
        able = [c for c, members in enumerate(clusters) if len(members) < k] or range(len(clusters))
        nearest = min(able, key=lambda c: (_distance(table, centers[c], record), c))
        clusters[nearest].append(record)
    return {frozenset(members) for members in clusters}
