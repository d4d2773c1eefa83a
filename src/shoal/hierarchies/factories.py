"""The ways to make a hierarchy: every public constructor of `Hierarchy`, each in the file of its kind."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .base import Hierarchy


class Factories:
    """What makes hierarchies; called as methods of `Hierarchy`."""

    __slots__ = ()

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
        from .explicit import explicit_from_rows
        from .learned import ordered_rows

        return explicit_from_rows(ordered_rows(values, sizes))

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
        from .explicit import explicit_from_rows
        from .learned import learned_rows

        return explicit_from_rows(learned_rows(values, target, neighbours))

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
