"""Hierarchy: how the values of a column generalise, before it is known which values occur.

A hierarchy is a rule or an explicit tree. `Hierarchy.bind` applies it to the values of one column and returns
a `Tree`: integer arrays that kernels, metrics and recoding work on.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import HierarchyError
from .levels import Level, assemble, root_level, with_root_leaf
from .texts import plain
from .tree import Tree


class LevelCount(NamedTuple):
    """One line of `Hierarchy.preview`: how coarse a level is, without any value."""

    level: int
    nodes: int
    fewest_leaves: int
    most_leaves: int


class Hierarchy(ABC):
    """How the values of a column generalise, level by level, from the value itself up to a root.

    Made by one of its class methods: `read`, `from_rows`, `from_dict`, `ordered`, `learned` for explicit
    trees, `intervals`, `bounds`, `quantiles`, `prefix`, `suffix`, `dates` for rules that fit whatever values
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

    @staticmethod
    def read(path: str | Path, delimiter: str | None = None) -> Hierarchy:
        """Return the hierarchy in a CSV file of the ARX format: ``leaf;level1;...;*``, UTF-8, no header.

        Parameters
        ----------
        path : str or Path
            The file.
        delimiter : str, optional
            Found among ``;``, tab, ``|`` and ``,`` when not given.

        Raises
        ------
        HierarchyError
            Naming the row that is ragged, has an empty label, or contradicts an earlier one.
        """
        from .arx import read_explicit

        return read_explicit(Path(path), delimiter)

    @staticmethod
    def from_rows(rows: Iterable[Sequence[Any]]) -> Hierarchy:
        """Return the hierarchy with one row per leaf: the leaf, its level 1, and so on up to the root.

        A root ``*`` is added where the last entries differ. A label that repeats along a row is one node.

        Examples
        --------
        >>> import shoal
        >>> shoal.Hierarchy.from_rows([["Kiel", "north"], ["Ulm", "south"]])
        Hierarchy(2 leaves, 3 levels)
        """
        from .explicit import explicit_from_rows

        return explicit_from_rows(rows)

    @staticmethod
    def from_dict(nested: Mapping[Any, Any]) -> Hierarchy:
        """Return the hierarchy of a nested dict; leaves are lists, tuples or sets, or keys of None or {}.

        Branches may differ in depth: a shallow leaf repeats upwards to its parent's level, and heights are
        those of the tree. A root ``*`` is added unless the dict has one key only.

        Examples
        --------
        >>> import shoal
        >>> shoal.Hierarchy.from_dict({"work": {"state": ["local", "federal"]}, "none": None})
        Hierarchy(3 leaves, 4 levels)
        """
        from .explicit import explicit_from_dict

        return explicit_from_dict(nested)

    @staticmethod
    def intervals(
        widths: Sequence[float], start: float = 0, bottom: float | None = None, top: float | None = None
    ) -> Hierarchy:
        """Return levels of intervals of equal width; each width is a multiple of the one before.

        Parameters
        ----------
        widths : list of numbers
            Width of the intervals of each level, finest first.
        start : number
            Where an interval begins.
        bottom, top : number, optional
            Bottom and top coding: values below `bottom` are one node ``< 18`` at every level above the
            values themselves, those from `top` on one node ``>= 90``; intervals end there.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import shoal
        >>> age = shoal.Hierarchy.intervals(widths=[5, 10])
        >>> tree, leaf_of = age.bind(pa.array([21, 25, 34]), "age")
        >>> [tree.labels[node] for node in tree.nodes[1]]
        ['[20, 24]', '[25, 29]', '[30, 34]']
        >>> [tree.labels[node] for node in tree.nodes[2]]
        ['[20, 29]', '[20, 29]', '[30, 39]']
        """
        from .numeric import IntervalHierarchy

        return IntervalHierarchy.of(widths, start, bottom, top)

    @staticmethod
    def bounds(levels: Sequence[Any], repeat: bool = False) -> Hierarchy:
        """Return levels of intervals by hand, each given by its ascending bounds; lower bounds are included.

        Parameters
        ----------
        levels : list of numbers, or list of such lists
            The bounds of each level, finest first; those of a level are some of the level before. Values
            below the first are one node ``< 18``, those from the last on one node ``>= 65``.
        repeat : bool
            Instead, the intervals repeat beyond both ends, as often as it takes.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import shoal
        >>> age = shoal.Hierarchy.bounds([[18, 30, 45, 65], [18, 65]])
        >>> tree, leaf_of = age.bind(pa.array([12, 18, 50, 80]), "age")
        >>> [tree.labels[node] for node in tree.nodes[1]]
        ['< 18', '[18, 29]', '[45, 64]', '>= 65']
        """
        from .bounds import BoundsHierarchy

        return BoundsHierarchy.of(levels, repeat)

    @staticmethod
    def quantiles(groups: Sequence[int]) -> Hierarchy:
        """Return levels of groups that hold equally many distinct values.

        Parameters
        ----------
        groups : list of int
            Number of groups of each level, finest first; each divides the one before.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import shoal
        >>> tree, leaf_of = shoal.Hierarchy.quantiles(groups=[2]).bind(pa.array([1, 2, 30, 500]), "income")
        >>> [tree.labels[node] for node in tree.nodes[1]]
        ['[1, 2]', '[1, 2]', '[30, 500]', '[30, 500]']
        """
        from .numeric import QuantileHierarchy

        return QuantileHierarchy.of(groups)

    @staticmethod
    def prefix(
        keep: int | Sequence[int] | None = None, mask: str = "*", length: int | None = None
    ) -> Hierarchy:
        """Return levels that mask one more character from the right each: ``47906``, ``4790*``, ``479**``.

        Texts shorter than the longest stand as they are until the mask reaches them; numbers are filled with
        zeros from the left, so 2139 is masked as ``0213*`` next to 47906.

        Parameters
        ----------
        keep : int or list of int, optional
            The fewest leading characters shown below the root (1 when not given); or, as a list, exactly how
            many each level shows, such as ``[3, 1]``.
        mask : str
            The character that stands for a hidden one.
        length : int, optional
            Number of characters of a full value; when not given, that of the longest.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import shoal
        >>> tree, leaf_of = shoal.Hierarchy.prefix(keep=3).bind(pa.array(["47901", "47906"]), "zip")
        >>> tree.labels
        ('47901', '47906', '4790*', '479**', '*')
        """
        from .prefix import PrefixHierarchy

        return PrefixHierarchy.of(keep, mask, length)

    @staticmethod
    def suffix(
        keep: int | Sequence[int] | None = None, mask: str = "*", length: int | None = None
    ) -> Hierarchy:
        """Return levels that mask one more character from the left each: ``47906``, ``*7906``, ``**906``.

        Parameters are those of `prefix`.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import shoal
        >>> tree, leaf_of = shoal.Hierarchy.suffix(keep=[2]).bind(pa.array(["1234", "5634"]), "phone")
        >>> tree.labels
        ('1234', '5634', '**34', '*')
        """
        from .prefix import PrefixHierarchy

        return PrefixHierarchy.of(keep, mask, length, from_left=True)

    @staticmethod
    def ordered(values: Sequence[Any], sizes: Sequence[int]) -> Hierarchy:
        """Return levels of neighbours in an order: first so many values, then so many of their groups, ...

        Parameters
        ----------
        values : list
            All values, from first to last.
        sizes : list of int
            How many nodes of each level make one of the next, finest first.

        Examples
        --------
        >>> import shoal
        >>> size = shoal.Hierarchy.ordered(["XS", "S", "M", "L", "XL"], sizes=[2])
        >>> size.to_spec()["rows"][0]
        ['XS', '[XS, S]', '*']
        """
        from .learned import ordered_rows

        return Hierarchy.from_rows(ordered_rows(values, sizes))

    @staticmethod
    def learned(values: Any, target: Any = None, *, neighbours: bool = False) -> Hierarchy:
        """Return a tree learned from data: groups merge two by two, and each level has half as many.

        With a `target`, the two groups merge that lose least of what they say about it (agglomerative
        information bottleneck), so that values which predict alike come together. Without one, the two
        rarest merge, so that groups become about equally frequent.

        The tree tells something of the data it was learned from: learn it from other data, or keep it.

        Parameters
        ----------
        values : column
            The values as they occur, one for each record; nulls are left out.
        target : column, optional
            What they are to predict, as long as `values`.
        neighbours : bool
            Merge only neighbours in the order of the values, as for numbers and ranks.

        References
        ----------
        Slonim and Tishby (1999): Agglomerative information bottleneck. NIPS.

        Examples
        --------
        >>> import shoal
        >>> job = shoal.Hierarchy.learned(["a", "b", "c", "d"] * 2, target=[1, 2, 1, 2] * 2)
        >>> [row[1] for row in job.to_spec()["rows"]]
        ['{a, c}', '{a, c}', '{b, d}', '{b, d}']
        """
        from .learned import learned_rows

        return Hierarchy.from_rows(learned_rows(values, target, neighbours))

    @staticmethod
    def dates(levels: Sequence[str] = ("day", "month", "quarter", "year", "decade")) -> Hierarchy:
        """Return levels of the calendar for dates, timestamps and texts that begin with an ISO date.

        Parameters
        ----------
        levels : sequence of str
            Some of "day", "month", "quarter", "year", "decade", in this order.

        Examples
        --------
        >>> import pyarrow as pa
        >>> import shoal
        >>> born = shoal.Hierarchy.dates(levels=["month", "decade"])
        >>> born.bind(pa.array(["1984-03-05", "1989-11-09"]), "born")[0].labels
        ('1984-03-05', '1989-11-09', '1984-03', '1989-11', '1980s', '*')
        """
        from .dates import DateHierarchy

        return DateHierarchy.of(levels)
