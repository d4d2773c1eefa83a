"""An even shuffle of more records than memory holds: every record draws a bucket, buckets are shuffled alone.

Bucket numbers are drawn independently and each bucket's records are permuted evenly, so every order of the
table is equally likely, as if all records had been shuffled at once. The entropy comes from the operating
system and is stored nowhere.
"""

from __future__ import annotations

import contextlib
import itertools
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ..recode import without_unused_categories

if TYPE_CHECKING:
    from ..io.blocks import Blocks

BUCKET = 1 << 19  # records in a bucket, on average
_MOST = 512  # buckets: each is an open file
_FEW = 8  # a dictionary this many times shorter than its slice travels along whole


@dataclass(frozen=True, slots=True, eq=False)
class Shuffle:
    """The bucket of every record, and the order of the records inside each.

    Attributes
    ----------
    bucket : uint16[n]
        Buckets are written one after the other; records that are left out have the number after the last.
    buckets : int
    generator : numpy Generator, optional
        None where the input's order is kept.
    """

    bucket: NDArray[np.uint16]
    buckets: int
    generator: np.random.Generator | None

    @classmethod
    def of(cls, kept: NDArray[np.bool_], *, fresh: bool, size: int = BUCKET) -> Shuffle:
        """Return a fresh shuffle of the records in `kept`, or one that keeps their order."""
        n = len(kept)
        buckets = min(max(-(-n // size), 1), _MOST)
        generator = np.random.default_rng(secrets.randbits(256)) if fresh else None
        if generator is not None:
            bucket = generator.integers(0, buckets, n, dtype=np.uint16)
        else:
            bucket = np.minimum(np.arange(n) // -(-n // buckets), buckets - 1).astype(np.uint16)
        bucket[~kept] = buckets
        return cls(bucket, buckets, generator)

    def rows(self) -> Iterator[tuple[NDArray[np.int32], NDArray[np.int64]]]:
        """Yield, bucket by bucket, its records ascending, and the order they are published in."""
        from ..kernels.labels import group

        order, ends = group(
            np.where(self.bucket < self.buckets, self.bucket, -1).astype(np.int32), self.buckets
        )
        for begin, end in itertools.pairwise(ends.tolist()):
            size = end - begin
            turned = np.arange(size) if self.generator is None else self.generator.permutation(size)
            yield order[begin:end], turned


class Spill:
    """Columns of a table on disk, bucket by bucket, so that a bucket can be read as a whole."""

    def __init__(self, folder: Path, shuffle: Shuffle, schema: pa.Schema) -> None:
        self.paths = [folder / f"bucket{number}.arrow" for number in range(shuffle.buckets)]
        self.shuffle = shuffle
        self.schema = schema
        self.at = 0
        self.categories: dict[str, dict[Any, bool]] = {}

    @classmethod
    def of(cls, folder: Path, shuffle: Shuffle, blocks: Blocks, columns: Sequence[str]) -> Spill:
        """Return the empty buckets for some columns; texts that repeat stay dictionaries."""
        first = next(iter(blocks.read(columns)))
        fields = []
        for name in columns:
            kind, column = blocks.schema.field(name).type, first.column(name)
            if pa.types.is_string(kind) and pa.types.is_dictionary(column.type):
                values = max(len(chunk.dictionary) for chunk in column.chunks)
                kind = pa.dictionary(pa.int32(), kind) if values * _FEW <= len(column) else kind
            fields.append(pa.field(name, kind))
        spill = cls(folder, shuffle, pa.schema(fields))
        kinds = {name: blocks.schema.field(name).type for name in columns}
        spill.categories = {name: {} for name, kind in kinds.items() if pa.types.is_dictionary(kind)}
        return spill

    def fill(self, blocks: Blocks, hidden: dict[str, NDArray[np.bool_]], advance: Any) -> None:
        """Read the columns block by block, and hand their records to the buckets.

        `hidden` says, by column, which records will not show their value: their categories are forgotten.
        """
        options = pa.ipc.IpcWriteOptions(compression="lz4")
        with contextlib.ExitStack() as stack:
            writers = [
                stack.enter_context(
                    pa.ipc.new_stream(
                        stack.enter_context(pa.OSFile(str(path), "wb")), self.schema, options=options
                    )
                )
                for path in self.paths
            ]
            for block in blocks.read(self.schema.names):
                self._distribute(block, writers, hidden)
                advance(block.num_rows)

    def _distribute(self, block: pa.Table, writers: list[Any], hidden: dict[str, NDArray[np.bool_]]) -> None:
        begin, self.at = self.at, self.at + block.num_rows
        bucket = self.shuffle.bucket[begin : self.at]
        for name, known in self.categories.items():
            shown = bucket < self.shuffle.buckets
            if name in hidden:
                shown &= ~hidden[name][begin : self.at]
            _note_categories(block.column(name), shown, known)
        order = np.argsort(bucket, kind="stable")
        ends = np.cumsum(np.bincount(bucket, minlength=len(writers) + 1)[: len(writers)])
        whole = self.conform(block).combine_chunks().take(pa.array(order[: ends[-1]]))
        begin = 0
        for writer, end in zip(writers, ends, strict=True):
            if end > begin:
                writer.write_table(_without_long_dictionaries(whole.slice(begin, int(end) - begin)))
            begin = int(end)

    def conform(self, block: pa.Table) -> pa.Table:
        """Return a block in the types of the spill: texts as dictionaries, or plain, whatever it came in."""
        columns = []
        for field, column in zip(self.schema, block.columns, strict=True):
            if pa.types.is_dictionary(field.type) and not pa.types.is_dictionary(column.type):
                column = column.dictionary_encode()
            columns.append(column.cast(field.type))
        return pa.table(columns, schema=self.schema)

    def read(self, number: int) -> pa.Table:
        """Return the records of a bucket, ascending, and remove it from the disk."""
        with pa.OSFile(str(self.paths[number])) as stream:
            table = pa.ipc.open_stream(stream).read_all()
        self.paths[number].unlink()
        table = table.unify_dictionaries().combine_chunks()
        for name, known in self.categories.items():
            column = table.column(name)
            shown = pa.array([value for value, occurs in known.items() if occurs], column.type.value_type)
            table = table.set_column(table.column_names.index(name), name, _renamed(column, shown))
        return table


def _note_categories(column: pa.ChunkedArray, shown: NDArray[np.bool_], known: dict[Any, bool]) -> None:
    """Add a block's categories, in their order, and which of them occur in records that are shown."""
    column = column.unify_dictionaries().combine_chunks()
    chunk = column.chunk(0) if isinstance(column, pa.ChunkedArray) else column
    if chunk is None or not len(chunk):
        return
    occurs = np.zeros(len(chunk.dictionary), dtype=bool)
    occurs[chunk.filter(pa.array(shown)).indices.drop_null().to_numpy(zero_copy_only=False)] = True
    for value, found in zip(chunk.dictionary.to_pylist(), occurs.tolist(), strict=True):
        known[value] = known.get(value, False) or found


def _renamed(column: pa.ChunkedArray, categories: pa.Array) -> pa.ChunkedArray:
    """Return a column of categories over one dictionary for the whole file, so that its order is the same."""
    chunks = [
        pa.DictionaryArray.from_arrays(
            pc.index_in(chunk.dictionary, categories).cast(pa.int32()).take(chunk.indices),
            categories,
            ordered=column.type.ordered,
        )
        for chunk in column.chunks
    ]
    return pa.chunked_array(chunks, column.type)


def _without_long_dictionaries(table: pa.Table) -> pa.Table:
    """Return a slice whose dictionaries are not longer than they need to be."""
    columns = []
    for column in table.columns:
        if pa.types.is_dictionary(column.type):
            longest = max((len(chunk.dictionary) for chunk in column.chunks), default=0)
            if longest * _FEW > table.num_rows:
                column = pa.chunked_array([without_unused_categories(column)], column.type)
        columns.append(column)
    return pa.table(columns, schema=table.schema)
