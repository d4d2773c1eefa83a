"""verify_blocks: what `verify_table` says, for a published table that is read block by block.

One column at a time is held as numbers of its distinct cells; after that only a group number per record is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..evidence import Evidence
from ..inference import complete_from, without_nan
from ..schema import Column, Role
from .checks import CHECKERS
from .groups import Counts, Examined, rank_values, star_rows, with_sets
from .levels import Range, column_level_problems
from .verify import column_problems, evidence_of, identifier_problems

if TYPE_CHECKING:
    from ..io.blocks import Blocks
    from ..policy import Policy

_ROOM = 2**62
_SLOTS = 1  # pairs of group and value are counted in a table that has at most so many slots per record
_PART = 1 << 18  # records that are numbered at a time
_READ_CELLS = frozenset({"k-map", "delta-presence"})  # models that compare cells with a population


def verify_blocks(
    published: Blocks, policy: Policy, between: Callable[[], object] = lambda: None
) -> Evidence:
    """Return the evidence for a published table, recomputed from nothing but its cells and the policy.

    Parameters
    ----------
    published : Blocks
        The table as it is read from the file that is published. No column of it may carry noise.
    policy : Policy
        What was promised.
    between : callable
        Called after every column, when much of what it took is not needed any more.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> from shoal.io.blocks import open_blocks
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> verify_blocks(open_blocks(pa.table({"age": ["[20, 29]", "[20, 29]", "30"]})), policy).holds
    False
    """
    names = published.schema.names
    problems = [] if policy.models else ["the policy promises nothing"]
    problems += column_problems(names, policy)
    for column in policy.schema.columns:
        if column.role is Role.IDENTIFIER and column.name in names:
            blocks = (block.column(column.name) for block in published.read([column.name]))
            problems += next(filter(None, (identifier_problems(cells, column) for cells in blocks)), [])
    needed = {name for column in policy.schema.quasi for name in column.published_names}
    examined = _examined(published, policy, between) if needed <= set(names) else None
    return evidence_of(examined, policy, problems, published.records, names)


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """One column of all records: what tells the number of each record's cell, and the distinct cells.

    The numbers are kept as the blocks have them, in as few bytes as they need, with the place of each among
    the distinct cells. Null is the last cell.
    """

    local: list[NDArray[Any]]
    places: list[NDArray[np.int32]]
    cells: pa.Array
    types: pa.ChunkedArray  # no cells, but their type, and the categories where they have any

    def parts(self) -> Iterator[tuple[slice, NDArray[np.int32]]]:
        """Yield the numbers of some records, and where these stand."""
        begin = 0
        for local, place in zip(self.local, self.places, strict=True):
            for first in range(0, len(local), _PART):
                part = local[first : first + _PART]
                yield slice(begin, begin + len(part)), place[part]
                begin += len(part)

    @property
    def number(self) -> NDArray[np.int32]:
        """The number of every record's cell."""
        found = [number for _, number in self.parts()]
        return np.concatenate(found) if found else np.zeros(0, dtype=np.int32)

    def renumbered(self, place: NDArray[np.int32], cells: pa.Array) -> _Cells:
        """Return the column with other cells, given where each of these stands among them."""
        return _Cells(self.local, [place[own] for own in self.places], cells, self.types)


def _columns(published: Blocks, names: list[str]) -> Iterator[tuple[str, _Cells]]:
    """Yield columns one after the other, read one by one unless that costs as much as reading all."""
    for together in [names] if published.one_pass and names else [[name] for name in names]:
        read = {name: _Read(published.schema.field(name).type) for name in together}
        for block in published.read(together):
            for name in together:
                read[name].add(block.column(name))
        for name in together:
            yield name, read.pop(name).cells()


@dataclass(frozen=True, slots=True, eq=False)
class _Read:
    """One column, block by block: numbers within each chunk, and the cells they stand for."""

    kind: pa.DataType
    local: list[NDArray[Any]] = field(default_factory=list)
    dictionaries: list[pa.Array] = field(default_factory=list)
    empty: list[pa.Array] = field(default_factory=list)

    def add(self, column: pa.ChunkedArray) -> None:
        """Number the cells of a block."""
        for chunk in column.chunks:
            encoded = _encoded(chunk)
            cells, indices = encoded.dictionary, encoded.indices
            if indices.null_count:
                indices = indices.fill_null(len(cells))
                cells = pa.concat_arrays([cells, pa.nulls(1, cells.type)])
            width = np.uint8 if len(cells) <= 1 << 8 else np.uint16 if len(cells) <= 1 << 16 else np.int32
            self.local.append(indices.to_numpy(zero_copy_only=False).astype(width))
            self.dictionaries.append(cells)
            if pa.types.is_dictionary(self.kind):
                self.empty.append(chunk.slice(0, 0))

    def cells(self) -> _Cells:
        """Return the column over one dictionary of all cells."""
        types = pa.chunked_array(self.empty, type=None if self.empty else self.kind)
        if not self.local:
            return _Cells([], [], pa.nulls(0), types)
        whole = pa.chunked_array(self.dictionaries).dictionary_encode()
        cells = whole.chunk(0).dictionary
        places = [
            chunk.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False) for chunk in whole.chunks
        ]
        if whole.null_count:
            cells = pa.concat_arrays([cells, pa.nulls(1, cells.type)])
        return _Cells(self.local, [place.astype(np.int32, copy=False) for place in places], cells, types)


def _encoded(chunk: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_dictionary(chunk.type):
        indices = chunk.indices.cast(pa.int32())
        return pa.DictionaryArray.from_arrays(indices, chunk.dictionary)
    if pa.types.is_null(chunk.type):
        return pa.DictionaryArray.from_arrays(pa.nulls(len(chunk), pa.int32()), pa.array([], pa.string()))
    plain = without_nan(pa.chunked_array([chunk])).combine_chunks()
    plain = pa.concat_arrays(plain.chunks) if isinstance(plain, pa.ChunkedArray) else plain
    return plain.dictionary_encode()


def _examined(published: Blocks, policy: Policy, between: Callable[[], object]) -> Examined:
    """Return the groups of a table, with all sensitive values counted, one record standing for each group."""
    quasi = [name for column in policy.schema.quasi for name in column.published_names]
    sensitive = [c for c in policy.schema.sensitive if c.name in published.schema.names]
    ids, groups = _grouped(published, quasi, policy, between)
    sizes = np.bincount(ids, minlength=groups)
    star = np.zeros(groups, dtype=bool)
    shown = {name: pa.nulls(groups) for name in quasi}
    reads_cells = any(model.name in _READ_CELLS or model.name not in CHECKERS for model in policy.models)
    if groups and (policy.suppressed == "star" or reads_cells):
        first = np.empty(groups, dtype=np.int64)
        first[ids[::-1]] = np.arange(len(ids) - 1, -1, -1)
        for name, column in _columns(published, quasi):
            shown[name] = column.cells.take(pa.array(column.number[first]))
        star = star_rows(pa.table(shown), policy)
    counts = {}
    for name, column in _columns(published, [c.name for c in sensitive]):
        spec = next(c for c in sensitive if c.name == name)
        counts[name] = _counts(spec, column, ids, star)
    table = pa.table(shown | {column.name: pa.nulls(groups) for column in sensitive})
    return Examined(table, policy, np.arange(groups), sizes, star, counts)


def _grouped(
    published: Blocks, names: list[str], policy: Policy, between: Callable[[], object]
) -> tuple[NDArray[np.int64], int]:
    """Return (group of every record, number of groups): equal cells in all columns, null only like null."""
    ids, width = np.zeros(published.records, dtype=np.int64), 1
    sets = {column.name for column in policy.schema.quasi if column.separator is not None}
    for name, column in _columns(published, names):
        column = _alike(name, column, policy) if name in sets else column
        size = max(len(column.cells), 1)
        if width * size >= _ROOM:
            width = _make_dense(ids)
        for rows, number in column.parts():
            ids[rows] *= size
            ids[rows] += number
        width *= size
        del column
        between()
    return ids, _make_dense(ids)


def _alike(name: str, found: _Cells, policy: Policy) -> _Cells:
    """Return a column of sets in which equal sets are one cell, however they are written."""
    encoded = _encoded(with_sets(pa.table({name: found.cells}), policy).column(name).combine_chunks())
    place = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    cells = pa.concat_arrays([encoded.dictionary, pa.nulls(1, encoded.dictionary.type)])
    return found.renumbered(place.astype(np.int32), cells)


def _make_dense(ids: NDArray[np.int64]) -> int:
    """Number the different ids from 0 on, in place, and return how many there are.

    Sorting takes 8 bytes a record beside the ids; the tables of a hash, several times that.
    """
    order = np.argsort(ids)
    groups, last = 0, None
    for begin in range(0, len(ids), _PART):
        rows = order[begin : begin + _PART]
        found = ids[rows]
        fresh = np.diff(found, prepend=found[0]) != 0
        fresh[0] = last is None or bool(found[0] != last)
        last = found[-1]
        ids[rows] = np.cumsum(fresh) + (groups - 1)
        groups += int(fresh.sum())
    return groups


def _counts(spec: Column, found: _Cells, ids: NDArray[np.int64], star: NDArray[np.bool_]) -> Counts:
    """Return how often each value occurs in each group; a star group of nothing but nulls takes no part."""
    kinds = found.types if pa.types.is_dictionary(found.types.type) else pa.chunked_array([found.cells])
    column = complete_from(spec, kinds)
    rank, width = rank_values(found.cells, column), max(len(found.cells), 1)
    keys = ids * width
    for rows, number in found.parts():
        keys[rows] += rank[number]
    slots = len(star) * width
    if slots <= _SLOTS * len(keys):
        table = np.bincount(keys, minlength=slots)
        pairs = np.flatnonzero(table)
        count = table[pairs]
    else:
        pairs, count = np.unique(keys, return_counts=True)
    group, value = np.divmod(pairs, width)
    null = np.asarray(pc.is_null(found.cells).to_numpy(zero_copy_only=False), dtype=bool)[np.argsort(rank)]
    starred = star[group]
    if starred.any() and null[value[starred]].all():
        group, value, count = group[~starred], value[~starred], count[~starred]
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    overall = np.bincount(value, weights=count, minlength=len(found.cells)).astype(np.int64)
    ordered = found.cells.take(pa.array(np.argsort(rank)))
    return Counts(column, ordered, group, value, count.astype(np.int64), starts, overall)


def streamed_level_problems(
    published: Blocks, original: Blocks, rows: NDArray[np.integer], policy: Policy, ranges: Sequence[Range]
) -> list[str]:
    """Return in which quasi-identifiers cells do not stand at the levels they should, as `level_problems`.

    Parameters
    ----------
    published, original : Blocks
    rows : int32[published records]
        The original record of each published one.
    policy : Policy
    ranges : per quasi-identifier, (least, greatest)
    """
    kept = _not_starred(published, policy)
    found = []
    for column, span in zip(policy.schema.quasi, ranges, strict=True):
        if span == (0, None) or column.published_names != (column.name,):
            continue
        shown = dict(_columns(published, [column.name]))[column.name]
        before = dict(_columns(original, [column.name]))[column.name]
        keys = before.number[rows[kept]].astype(np.int64) * len(shown.cells) + shown.number[kept]
        texts = (before.cells, shown.cells)
        found += column_level_problems(column, policy.unknown_values, span, keys, texts)
    return found


def _not_starred(published: Blocks, policy: Policy) -> NDArray[np.bool_]:
    """Return which records are not suppressed ones that were kept."""
    if policy.suppressed != "star":
        return np.ones(published.records, dtype=bool)
    names = [name for column in policy.schema.quasi for name in column.published_names]
    return ~np.concatenate([star_rows(block, policy) for block in published.read(names)])
