"""What a class costs in one column, by definition. Codes are plain numbers, None is null."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class OracleColumn:
    """A column: where its codes lie on a line, or the tree above them, or neither.

    `levels[0]` holds the leaves' own nodes, `levels[-1]` the root; `node_costs[level][code]` is the cost of
    `levels[level][code]`.
    """

    size: int
    full: int
    positions: list[int] | None = None
    levels: list[list[int]] | None = None
    node_costs: list[list[int]] | None = None

    def cost(self, codes: list[int | None]) -> int:
        """Return the cost per record of a class with these codes."""
        values = {code for code in codes if code is not None}
        if not values:
            return 0
        if len(values) > 0 and None in codes:
            return self.full
        if self.positions is not None:
            places = [self.positions[code] for code in values]
            return max(places) - min(places)
        if self.levels is not None:
            level = self.common_level(values)
            return self.node_costs[level][min(values)]
        return 0 if len(values) == 1 else (len(values) - 1) * self.full // (self.size - 1)

    def common_level(self, values: set[int]) -> int:
        """Return the lowest level at which all values lie under one node."""
        for level, nodes in enumerate(self.levels):
            if len({nodes[code] for code in values}) == 1:
                return level
        raise AssertionError("a tree ends in one root")


@dataclass(frozen=True)
class OracleTable:
    """Columns and rows of codes; record i is rows[i]."""

    columns: list[OracleColumn]
    rows: list[tuple[int | None, ...]]

    def codes(self, records: list[int], j: int) -> list[int | None]:
        """Return the codes of some records in one column."""
        return [self.rows[i][j] for i in records]

    def cost(self, records: list[int]) -> int:
        """Return the cost per record of a class."""
        return sum(column.cost(self.codes(records, j)) for j, column in enumerate(self.columns))


def oracle_table(codes, space) -> OracleTable:
    """Return the plain view of integer codes [n][q] and of the flat arrays that describe their geometry."""
    columns = []
    for j, kind in enumerate(space.geometry):
        size, full, levels = int(space.size[j]), int(space.full[j]), int(space.levels[j])
        positions = nodes = costs = None
        if kind == 0:
            start = int(space.start[j])
            positions = [int(place) for place in space.position[start : start + size]]
        if levels:
            starts = [int(space.tree_start[j]) + level * size for level in range(levels)]
            nodes = [[int(node) for node in space.node[at : at + size]] for at in starts]
            costs = [[int(cost) for cost in space.node_cost[at : at + size]] for at in starts]
        columns.append(OracleColumn(size, full, positions, nodes, costs))
    rows = [
        tuple(None if code == columns[j].size else int(code) for j, code in enumerate(row)) for row in codes
    ]
    return OracleTable(columns, rows)
