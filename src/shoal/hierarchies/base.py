"""Hierarchy: how the values of a column generalise, before it is known which values occur.

A hierarchy is a rule or an explicit tree. `Hierarchy.bind` applies it to the values of one column and returns
a `Tree`: integer arrays that kernels, metrics and recoding work on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import HierarchyError
from .factories import Factories
from .levels import Level, assemble, root_level, with_root_leaf
from .texts import plain
from .tree import Tree


class LevelCount(NamedTuple):
    """One line of `Hierarchy.preview`: how coarse a level is, without any value."""

    level: int
    nodes: int
    fewest_leaves: int
    most_leaves: int


class Hierarchy(Factories, ABC):
    """How the values of a column generalise, level by level, from the value itself up to a root.

    Made by what `Factories` holds: `read`, `from_rows`, `from_dict`, `ordered`, `learned` for explicit trees,
    `intervals`, `bounds`, `quantiles`, `prefix`, `suffix`, `dates` for rules that fit whatever values
    occur. Immutable, comparable, picklable.

    Values are matched by their text: the number 34 (or 34.0) is ``34``, a date ``2024-03-05``, true ``true``.
    The format of files is that of ARX (Prasser et al., *Flexible data anonymization using ARX*, 2020).

    Examples
    --------
    >>> import pyarrow as pa
    >>> import shoal
    >>> town = shoal.Hierarchy.from_dict({"north": ["Kiel", "Bremen"], "south": ["Ulm"]})
    >>> tree, leaf_of = town.bind(pa.array(["Bremen", "Ulm"]), "town", unknown="refuse")
    >>> [tree.labels[node] for node in tree.nodes[1, leaf_of]]
    ['north', 'south']
    """

    __slots__ = ()

    _misfit: ClassVar[str]  # completes "3 distinct values of column 'zip' are ..."
    _remedy: ClassVar[str]

    @abstractmethod
    def _levels(self, values: pa.Array) -> tuple[list[Level], NDArray[np.int64]]:
        """Return (levels from leaves to root, leaf of each value, -1 where it is unknown)."""

    @abstractmethod
    def _spec(self, base_path: Path | None) -> dict[str, Any]:
        """Return what `to_spec` returns."""

    def bind(
        self, values: pa.Array, column: str, *, unknown: str = "refuse"
    ) -> tuple[Tree, NDArray[np.int32]]:
        """Return (tree, leaf of each value) for the values of one column.

        Parameters
        ----------
        values : pyarrow.Array
            The distinct values that are not null, in the column's own order.
        column : str
            The column's name, for messages.
        unknown : "refuse" or "root"
            What becomes of values the hierarchy does not know: an error, or one leaf of their own that is the
            root ``*`` at every level.

        Returns
        -------
        tree : Tree
            Its leaves ascend for intervals, quantiles and dates. An explicit tree keeps all of its leaves,
            also those that do not occur.
        leaf_of : int32[values]

        Raises
        ------
        HierarchyError
            Naming the column and how many of its values are unknown, never which.
        """
        levels, leaf_of = self._levels(plain(values))
        missing = leaf_of < 0
        count = int(missing.sum())
        if count == 0:
            return assemble(levels), leaf_of.astype(np.int32)
        if unknown != "root":
            raise HierarchyError(
                f"{count} distinct {'value' if count == 1 else 'values'} of column {column!r} "
                f"{'is' if count == 1 else 'are'} {self._misfit}",
                hint=f"{self._remedy} (Hierarchy.unknown_values lists them), or let the policy send unknown "
                "values to the root: unknown_values='root'.",
            )
        # Under a root with a name ("Europe") an unknown value would be published as something it is not.
        tree = with_root_leaf(assemble([*levels, root_level()]))
        return tree, np.where(missing, tree.leaves - 1, leaf_of).astype(np.int32)

    def unknown_values(self, values: Any) -> list[Any]:
        """Return the distinct values that the hierarchy does not know; null is never among them.

        Examples
        --------
        >>> import shoal
        >>> shoal.Hierarchy.from_dict({"north": ["Kiel"]}).unknown_values(["Kiel", "Ulm", None])
        ['Ulm']
        """
        distinct = pc.drop_null(pc.unique(plain(values)))
        _, leaf_of = self._levels(distinct)
        found: list[Any] = distinct.filter(pa.array(leaf_of < 0)).to_pylist()
        return found

    def preview(self, values: Any) -> list[LevelCount]:
        """Return the nodes of each level over these values, and the leaves under the smallest and largest.

        Values the hierarchy does not know count as one leaf at the root.

        Examples
        --------
        >>> import shoal
        >>> for line in shoal.Hierarchy.intervals(widths=[10]).preview([21, 25, 34]):
        ...     print(*line)
        0 3 1 1
        1 2 1 2
        2 1 3 3
        """
        tree, _ = self.bind(pc.drop_null(pc.unique(plain(values))), "values", unknown="root")
        lines = []
        for level, row in enumerate(tree.nodes):
            under = tree.leaf_counts[np.unique(row)]
            lines.append(LevelCount(level, len(under), int(under.min()), int(under.max())))
        return lines

    def smallest(self, values: Any) -> list[int]:
        """Return, level by level, the records of the smallest node that holds any; null is left out.

        Examples
        --------
        >>> import shoal
        >>> shoal.Hierarchy.intervals(widths=[10, 20]).smallest([21, 25, 25, 34, None])
        [1, 1, 4, 4]
        """
        column = pc.drop_null(plain(values))
        distinct = pc.unique(column)
        tree, leaf_of = self.bind(distinct, "values", unknown="root")
        records = np.bincount(pc.index_in(column, value_set=distinct).to_numpy(), minlength=len(distinct))
        found = []
        for row in tree.nodes:
            held = np.bincount(row[leaf_of], weights=records)
            found.append(int(held[held > 0].min(initial=len(column))))
        return found

    def write(self, path: str | Path, values: Any = None) -> None:
        """Write the hierarchy as an ARX CSV file: ``leaf;level1;...;*``, no header.

        A rule becomes a file only together with the `values` it is to hold.
        """
        from .arx import write_rows

        write_rows(path, self._rows(values))

    def rows(self, values: Any = None) -> list[tuple[str, ...]]:
        """Return one row per leaf: the leaf, its level 1, and so on up to the root.

        For a rule, of the `values` it is to be applied to.

        Examples
        --------
        >>> import shoal
        >>> shoal.Hierarchy.prefix(keep=[2]).rows(["2139", "4790"])
        [('2139', '21**', '*'), ('4790', '47**', '*')]
        """
        return self._rows(values)

    def _rows(self, values: Any) -> list[tuple[str, ...]]:
        if values is None:
            raise HierarchyError(
                "a rule has no rows of its own to write",
                hint="Give the values it is for: write(path, values).",
            )
        tree, _ = self.bind(pc.drop_null(pc.unique(plain(values))), "values", unknown="refuse")
        return list(zip(*([tree.labels[node] for node in row] for row in tree.nodes), strict=True))

    def to_spec(self, base_path: str | Path | None = None) -> dict[str, Any]:
        """Return the hierarchy as plain values for a policy file; `from_spec` reads them back.

        A hierarchy that was read from a file is given by its path: relative to `base_path` if there is one.

        Examples
        --------
        >>> import shoal
        >>> shoal.Hierarchy.intervals(widths=[5, 10]).to_spec()
        {'type': 'intervals', 'widths': [5, 10], 'start': 0}
        """
        return self._spec(None if base_path is None else Path(base_path))

    @staticmethod
    def from_spec(spec: Mapping[str, Any], base_path: str | Path = ".") -> Hierarchy:
        """Return the hierarchy that plain values describe; file names are relative to `base_path`.

        Examples
        --------
        >>> import shoal
        >>> shoal.Hierarchy.from_spec({"type": "prefix", "keep": 2})
        Hierarchy.prefix(keep=2)
        """
        from .spec import hierarchy_of

        return hierarchy_of(spec, Path(base_path))
