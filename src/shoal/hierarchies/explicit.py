"""Explicit hierarchies: a tree given leaf by leaf, in a file, as rows or as a nested dict."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..errors import HierarchyError
from .base import Hierarchy
from .levels import TEXT, Level, root_level, run_starts
from .texts import find, texts


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class ExplicitHierarchy(Hierarchy):
    """A tree given leaf by leaf. Equal to another when leaves, nodes and their order are.

    Attributes
    ----------
    levels : tuple of Level
        From the leaves, in file order grouped depth-first, to the root.
    path : Path, optional
        The file it was read from, absolute.
    delimiter : str, optional
        That file's delimiter, where it was given.
    """

    levels: tuple[Level, ...]
    path: Path | None = None
    delimiter: str | None = None

    _misfit = "not in its hierarchy"
    _remedy = "Add them"

    def _levels(self, values: pa.Array) -> tuple[list[Level], NDArray[np.int64]]:
        return list(self.levels), find(values, self.levels[0].labels)

    def _rows(self, values: Any) -> list[tuple[str, ...]]:
        leaves = len(self.levels[0].labels)
        columns = []
        for level in self.levels:
            size = np.diff(level.starts, append=leaves)
            group = np.repeat(np.arange(len(size)), size)
            columns.append(level.labels.take(pa.array(group)).to_pylist())
        return list(zip(*columns, strict=True))

    def _spec(self, base_path: Path | None) -> dict[str, Any]:
        if self.path is None:
            return {"type": "tree", "rows": [list(row) for row in self._rows(None)]}
        path = str(self.path) if base_path is None else os.path.relpath(self.path, base_path.absolute())
        spec = {"type": "file", "path": Path(path).as_posix()}
        return spec if self.delimiter is None else {**spec, "delimiter": self.delimiter}

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, ExplicitHierarchy):
            return NotImplemented
        return len(self.levels) == len(other.levels) and all(
            mine.equals(theirs) for mine, theirs in zip(self.levels, other.levels, strict=True)
        )

    def __hash__(self) -> int:
        return hash(tuple(level.starts.tobytes() for level in self.levels))

    def __repr__(self) -> str:
        name = "" if self.path is None else f"{self.path.name!r}, "
        return f"Hierarchy({name}{len(self.levels[0].labels)} leaves, {len(self.levels)} levels)"


def explicit_from_rows(rows: Iterable[Sequence[Any]], source: str = "the hierarchy") -> ExplicitHierarchy:
    """Return the hierarchy of rows ``leaf, level 1, ..., root``; problems name `source` and the row."""
    encoded = [pc.dictionary_encode(column) for column in _columns(list(rows), source)]
    # Labels are numbered by their first row, so that sorting by these codes keeps the order of the file.
    codes = [entry.indices.to_numpy(zero_copy_only=False).astype(np.int64) for entry in encoded]
    _check_empty(encoded, codes, source)
    for level in range(len(codes) - 1):
        _check_parents(codes[level], codes[level + 1], level, source)
    _check_returns(encoded, codes, source)
    _, rows_kept = np.unique(codes[0], return_index=True)
    codes = [code[rows_kept] for code in codes]
    order = _depth_first(codes)
    levels = []
    for code, entry in zip(codes, encoded, strict=True):
        starts = run_starts(code[order])
        levels.append(Level(starts, entry.dictionary.take(pa.array(code[order][starts]))))
    top = levels[-1].labels
    # A leaf that is its own root would lend its name to whatever is generalised fully.
    if len(top) > 1 or (len(rows_kept) == 1 and all(level.labels.equals(top) for level in levels)):
        levels.append(root_level())
    return ExplicitHierarchy(tuple(levels))


def _columns(rows: list[Sequence[Any]], source: str) -> list[pa.Array]:
    if not rows:
        raise HierarchyError(f"{source} has no rows", hint="Give one row per leaf: leaf, level 1, ..., *.")
    # The sets are for speed: only a wrong row is looked for one by one.
    strange = [] if set(map(type, rows)) <= {list, tuple} else rows
    for number, row in enumerate(strange, 1):
        if not isinstance(row, list | tuple):
            raise HierarchyError(f"{source}: row {number} is no list", hint="Give lists of labels.")
    width = len(rows[0])
    if width == 0:
        raise HierarchyError(f"{source}: row 1 has no columns", hint="Give one row per leaf: leaf, ..., *.")
    for number, row in enumerate(rows if set(map(len, rows)) != {width} else [], 1):
        if len(row) != width:
            raise HierarchyError(
                f"{source}: row {number} has {len(row)} columns where row 1 has {width}",
                hint="Repeat the label of a shallow leaf until its parent's level.",
            )
    return [_label_array(column, source) for column in zip(*rows, strict=True)]


def _label_array(column: Sequence[Any], source: str) -> pa.Array:
    """Return one level of labels as texts, ``""`` where there is none."""
    # Only labels of one type are left to Arrow: it would take the number 7 next to a date for a date.
    if len(set(map(type, column)) - {type(None)}) == 1:
        try:
            found = pa.array(column, from_pandas=True)  # NaN is null
        except (pa.ArrowTypeError, pa.ArrowInvalid, pa.ArrowNotImplementedError, OverflowError):
            found = pa.nulls(0)  # Arrow's error may quote a label, so it goes no further
        if len(found) and not pa.types.is_nested(found.type):
            return texts(found).fill_null("")
    return pa.array([_label(value, row, source) for row, value in enumerate(column, 1)], type=TEXT)


def _label(value: Any, row: int, source: str) -> str:
    if isinstance(value, list | tuple | set | frozenset | Mapping):
        raise HierarchyError(
            f"{source}: row {row} holds a {type(value).__name__} as a label", hint="Give texts or numbers."
        )
    if value is None or value != value:  # NaN
        return ""
    if isinstance(value, bool | float):
        return str(texts(pa.array([value]))[0].as_py())
    return str(value)


def _check_empty(encoded: list[Any], codes: list[NDArray[np.int64]], source: str) -> None:
    for entry, code in zip(encoded, codes, strict=True):
        empty = pc.equal(pc.utf8_trim_whitespace(entry.dictionary), "").to_numpy(zero_copy_only=False)
        if empty.any():
            row = int(empty[code].argmax()) + 1
            raise HierarchyError(f"{source}: row {row} has an empty label", hint="Name every node.")


def _check_parents(child: NDArray[np.int64], parent: NDArray[np.int64], level: int, source: str) -> None:
    """Refuse a label that has two parents; the row named is the first that contradicts an earlier one."""
    _, first_row = np.unique(child, return_index=True)
    wrong = np.flatnonzero(parent != parent[first_row][child])
    if len(wrong):
        row = int(wrong[0])
        earlier = int(first_row[child[row]]) + 1
        what = "leaf" if level == 0 else f"label of level {level}"
        raise HierarchyError(
            f"{source}: row {row + 1} puts a {what} under another parent than row {earlier}",
            hint="Every node has one parent; give different nodes different labels.",
        )


def _check_returns(encoded: list[Any], codes: list[NDArray[np.int64]], source: str) -> None:
    """Refuse a label that comes back above another one in the same row: no node lies above itself."""
    shared = pc.unique(pa.concat_arrays([entry.dictionary for entry in encoded]))
    columns = [
        pc.index_in(entry.dictionary, value_set=shared).to_numpy(zero_copy_only=False)[code]
        for entry, code in zip(encoded, codes, strict=True)
    ]
    for low in range(len(columns)):
        for high in range(low + 2, len(columns)):
            again = (columns[high] == columns[low]) & (columns[high - 1] != columns[low])
            if again.any():
                raise HierarchyError(
                    f"{source}: row {int(again.argmax()) + 1} has the same label at level {low} and, above "
                    f"another one, at level {high}",
                    hint="Give different nodes different labels.",
                )


def _depth_first(codes: list[NDArray[np.int64]]) -> NDArray[np.int64]:
    contiguous = all(len(run_starts(code)) == int(code.max()) + 1 for code in codes)
    return np.arange(len(codes[0])) if contiguous else np.lexsort(codes)


def explicit_from_dict(nested: Mapping[Any, Any]) -> ExplicitHierarchy:
    """Return the hierarchy of a nested dict, as `Hierarchy.from_dict` says."""
    if not isinstance(nested, Mapping):
        raise HierarchyError("the hierarchy is no dict", hint="Give {node: {child: [leaf, ...]}}.")
    paths = list(_paths(nested, ()))
    depth = max(map(len, paths), default=0)
    return explicit_from_rows([(path[-1],) * (depth - len(path)) + path[::-1] for path in paths])


def _paths(node: Any, above: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    """Yield the path from the root to each leaf below `node`."""
    if above and (node is None or (isinstance(node, Mapping) and not node)):
        yield above
    elif isinstance(node, Mapping):
        for label, below in node.items():
            yield from _paths(below, (*above, label))
    elif isinstance(node, list | tuple):
        yield from ((*above, leaf) for leaf in node)
    elif isinstance(node, set | frozenset):
        yield from ((*above, leaf) for leaf in sorted(node, key=str))  # sets have no order to keep
    else:
        raise HierarchyError(
            f"a node of the hierarchy holds a {type(node).__name__}",
            hint="Below a node comes a dict, a list or set of leaves, or None.",
        )
