"""verify_blocks: what `verify_table` says, for a published table that is read block by block.

One column at a time is held as numbers of its distinct cells; after that only a group number per record is.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

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
_SLOTS = 4  # pairs of group and value are counted in a table that has at most so many slots per record
_READ_CELLS = frozenset({"k-map", "delta-presence"})  # models that compare cells with a population


def verify_blocks(published: Blocks, policy: Policy) -> Evidence:
    """Return the evidence for a published table, recomputed from nothing but its cells and the policy.

    Parameters
    ----------
    published : Blocks
        The table as it is read from the file that is published. No column of it may carry noise.
    policy : Policy
        What was promised.

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
    examined = _examined(published, policy) if needed <= set(names) else None
    return evidence_of(examined, policy, problems, published.records, names)


@dataclass(frozen=True, slots=True, eq=False)
class _Cells:
    """One column of all records: the number of each record's cell, and the distinct cells, null the last."""

    number: NDArray[np.int32]
    cells: pa.Array
    types: pa.ChunkedArray  # no cells, but their type, and the categories where they have any


def _columns(published: Blocks, names: list[str]) -> Iterator[tuple[str, _Cells]]:
    """Yield columns one after the other, read one by one unless that costs as much as reading all."""
    for together in [names] if published.one_pass and names else [[name] for name in names]:
        chunks: dict[str, list[pa.Array]] = {name: [] for name in together}
        for block in published.read(together):
            for name in together:
                chunks[name] += block.column(name).chunks
        for name in together:
            yield name, _coded(chunks.pop(name), published.schema.field(name).type)


def _coded(chunks: list[pa.Array], kind: pa.DataType) -> _Cells:
    empty = [chunk.slice(0, 0) for chunk in chunks] if pa.types.is_dictionary(kind) else []
    types = pa.chunked_array(empty, type=None if empty else kind)
    encoded = [_encoded(chunk) for chunk in chunks]
    whole = pa.chunked_array(encoded).unify_dictionaries() if encoded else pa.chunked_array([], pa.null())
    if not encoded:
        return _Cells(np.zeros(0, dtype=np.int32), pa.nulls(0), types)
    cells = whole.chunk(0).dictionary
    number = np.empty(len(whole), dtype=np.int32)
    at = 0
    for chunk in whole.chunks:
        found = chunk.indices.fill_null(len(cells)).to_numpy(zero_copy_only=False)
        number[at : at + len(chunk)] = found
        at += len(chunk)
    if whole.null_count:
        cells = pa.concat_arrays([cells, pa.nulls(1, cells.type)])
    return _Cells(number, cells, types)


def _encoded(chunk: pa.Array) -> pa.DictionaryArray:
    if pa.types.is_dictionary(chunk.type):
        indices = chunk.indices.cast(pa.int32())
        return pa.DictionaryArray.from_arrays(indices, chunk.dictionary)
    if pa.types.is_null(chunk.type):
        return pa.DictionaryArray.from_arrays(pa.nulls(len(chunk), pa.int32()), pa.array([], pa.string()))
    plain = without_nan(pa.chunked_array([chunk])).combine_chunks()
    plain = pa.concat_arrays(plain.chunks) if isinstance(plain, pa.ChunkedArray) else plain
    return plain.dictionary_encode()


def _examined(published: Blocks, policy: Policy) -> Examined:
    """Return the groups of a table, with all sensitive values counted, one record standing for each group."""
    quasi = [name for column in policy.schema.quasi for name in column.published_names]
    sensitive = [c for c in policy.schema.sensitive if c.name in published.schema.names]
    ids, groups = _grouped(published, quasi, policy)
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


def _grouped(published: Blocks, names: list[str], policy: Policy) -> tuple[NDArray[np.int64], int]:
    """Return (group of every record, number of groups): equal cells in all columns, null only like null."""
    ids, width = np.zeros(published.records, dtype=np.int64), 1
    sets = {column.name for column in policy.schema.quasi if column.separator is not None}
    for name, column in _columns(published, names):
        column = _alike(name, column, policy) if name in sets else column
        size = max(len(column.cells), 1)
        if width * size >= _ROOM:
            ids, width = _dense(ids)
        ids *= size
        ids += column.number
        width *= size
    return _dense(ids)


def _alike(name: str, found: _Cells, policy: Policy) -> _Cells:
    """Return a column of sets in which equal sets are one cell, however they are written."""
    encoded = _encoded(with_sets(pa.table({name: found.cells}), policy).column(name).combine_chunks())
    number = encoded.indices.fill_null(len(encoded.dictionary)).to_numpy(zero_copy_only=False)
    cells = pa.concat_arrays([encoded.dictionary, pa.nulls(1, encoded.dictionary.type)])
    return _Cells(number.astype(np.int32)[found.number], cells, found.types)


def _dense(ids: NDArray[np.int64]) -> tuple[NDArray[np.int64], int]:
    encoded = pc.dictionary_encode(pa.array(ids))
    return encoded.indices.to_numpy().astype(np.int64), len(encoded.dictionary)


def _counts(spec: Column, found: _Cells, ids: NDArray[np.int64], star: NDArray[np.bool_]) -> Counts:
    """Return how often each value occurs in each group; a star group of nothing but nulls takes no part."""
    kinds = found.types if pa.types.is_dictionary(found.types.type) else pa.chunked_array([found.cells])
    column = complete_from(spec, kinds)
    rank, width = rank_values(found.cells, column), max(len(found.cells), 1)
    keys = ids * width
    keys += rank[found.number]
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
    published: Blocks, original: Blocks, rows: NDArray[np.int64], policy: Policy, ranges: Sequence[Range]
) -> list[str]:
    """Return in which quasi-identifiers cells do not stand at the levels they should, as `level_problems`.

    Parameters
    ----------
    published, original : Blocks
    rows : int64[published records]
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
