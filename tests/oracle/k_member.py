"""Greedy k-member by definition (Byun et al. 2007, figure 8), one record at a time, O(n^2)."""

from __future__ import annotations

from .costs import OracleTable


def k_member(table: OracleTable, k: int, priority: list[int], from_last: bool = False) -> set[frozenset[int]]:
    """Return the classes of a table; among equals the record with the least priority is taken."""
    remaining = set(range(len(table.rows)))
    if len(remaining) < 2 * k:
        return {frozenset(remaining)}
    classes: list[list[int]] = []
    reference = priority.index(0)
    while len(remaining) >= k:
        seed = min(remaining, key=lambda i: (-table.cost([reference, i]), priority[i]))
        remaining.remove(seed)
        grown = [seed]
        while len(grown) < k:
            pick = min(remaining, key=lambda i: (_increase(table, grown, i), priority[i]))
            remaining.remove(pick)
            grown.append(pick)
        classes.append(grown)
        reference = grown[-1] if from_last else seed
    for record in sorted(remaining, key=lambda i: priority[i]):
        target = min(range(len(classes)), key=lambda c: (_increase(table, classes[c], record), c))
        classes[target].append(record)
    return {frozenset(members) for members in classes}


def _increase(table: OracleTable, members: list[int], record: int) -> int:
    """Return how much the loss of a class, its size times its cost per record, grows by one record."""
    return (len(members) + 1) * table.cost([*members, record]) - len(members) * table.cost(members)
