"""Blocks -> Encoded: the integer view of a table that is never held as a whole.

Every block's column is numbered by the values of that block alone. The distinct values of all blocks together
then go through the same encoding as a whole column would, since a dictionary depends on which values occur
and not on how often; what it makes of each is the code of every record that has it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..encoding import (
    QuasiColumn,
    SensitiveColumn,
    check_encodable,
    dictionary,
    encode_quasi,
    encode_sensitive,
)
from ..errors import PolicyError, PolicyUnsatisfiable
from ..inference import complete_from
from ..models.feasibility import feasible
from ..packed import Codes, PackedEncoded, pack
from ..partitions import SUPPRESSED, Partition
from ..progress import Progress
from ..schema import Column
from .memory import give_back

if TYPE_CHECKING:
    from ..io.blocks import Blocks
    from ..policy import Policy

C = TypeVar("C", QuasiColumn, SensitiveColumn)


@dataclass(slots=True, eq=False)
class PreparedBlocks:
    """A table read block by block, its policy resolved, encoded and found feasible.

    Attributes
    ----------
    blocks : Blocks
    policy : Policy
    encoded : PackedEncoded
        Until `forget` is called: the codes are most of what is held.
    digest : str
        SHA-256 of the input as it was encoded.
    """

    blocks: Blocks
    policy: Policy
    _encoded: PackedEncoded | None
    digest: str

    @property
    def encoded(self) -> PackedEncoded:
        """The integer view."""
        assert self._encoded is not None
        return self._encoded

    def sort_by_class(self, partition: Partition) -> Partition:
        """Put the codes in the order of the classes, and return the same classes of the moved records.

        What reads class by class then reads from one end of memory to the other. Records and codes do not
        belong together any more after this: only what classes hold can be asked.
        """
        order = class_order(partition)
        self.encoded.reorder(order)
        n, kept = partition.records, len(partition.order)
        labels = np.full(n, SUPPRESSED, dtype=np.int32)
        labels[:kept] = np.repeat(np.arange(partition.classes, dtype=np.int32), partition.sizes)
        marks = {name: mark[order] for name, mark in partition.marks.items()}
        return replace(partition, labels=labels, order=np.arange(kept, dtype=np.int32), marks=marks)

    def forget(self) -> None:
        """Let go of the codes."""
        self._encoded = None


def class_order(partition: Partition) -> NDArray[np.int32]:
    """Return all records class by class, the suppressed ones last."""
    if not partition.suppressed:
        return partition.order
    return np.concatenate([partition.order, np.flatnonzero(partition.labels < 0).astype(np.int32)])


@dataclass(slots=True, eq=False)
class _Gathered:
    """One column: codes that count within a block, and the distinct values of every block in turn."""

    kind: pa.DataType
    codes: list[Codes] = field(default_factory=list)  # per chunk, let go of as they are settled
    values: list[pa.Array] = field(default_factory=list)

    def add(self, column: pa.ChunkedArray) -> None:
        """Number the values of a block."""
        for chunk in column.chunks:
            local, values = _numbered(chunk, self.kind)
            self.codes.append(pack(local, len(values)))
            self.values.append(values)

    def distinct(self) -> pa.ChunkedArray:
        """Return the distinct values of all blocks, one after the other."""
        return pa.chunked_array(self.values, self.kind)

    def settle(self, codes: NDArray[np.int32], highest: int, records: int) -> Codes:
        """Return the code of every record, given that of every distinct value."""
        packed = pack(codes, highest)
        settled = np.empty(records, dtype=packed.dtype)
        begin = first = 0
        self.codes.reverse()
        for values in self.values:
            local = self.codes.pop()
            end, last = begin + len(local), first + len(values)
            np.take(packed[first:last], local, out=settled[begin:end], mode="clip")
            begin, first = end, last
        return settled


def _numbered(chunk: pa.Array, kind: pa.DataType) -> tuple[NDArray[np.int32], pa.Array]:
    """Return (number of each record's value, distinct values); null, where it occurs, is the last of them."""
    encoded = chunk if pa.types.is_dictionary(chunk.type) else chunk.dictionary_encode()
    size = len(encoded.dictionary)
    local = encoded.indices.fill_null(size).to_numpy(zero_copy_only=False).astype(np.int32, copy=False)
    used = np.zeros(size + 1, dtype=bool)
    used[local] = True
    kept = np.flatnonzero(used)
    place = (np.cumsum(used) - 1).astype(np.int32)
    which = pa.array(kept, mask=kept == size, type=pa.int32())
    if pa.types.is_dictionary(kind):
        values = pa.DictionaryArray.from_arrays(which, encoded.dictionary, ordered=kind.ordered)
    else:
        values = encoded.dictionary.take(which).cast(kind)
    return place[local] if not used[:size].all() else local, values


def prepare_blocks(blocks: Blocks, policy: Policy, progress: Progress) -> PreparedBlocks:
    """Return a table encoded block by block, or raise when the policy cannot be met by any partition."""
    if not policy.models:
        raise PolicyError(
            "the policy promises nothing", hint="Add a privacy model, such as k=5 or shoal.KAnonymity(5)."
        )
    check_encodable(policy, blocks.schema.names, blocks.records)
    digest = blocks.digest()
    with progress.stage("reading", total=blocks.records) as stage:
        policy, encoded = encode_blocks(blocks, policy, stage.advance)
        give_back()
    problems = feasible(policy.models, encoded)
    if problems:
        raise PolicyUnsatisfiable(" ".join(problems), code="S202")
    return PreparedBlocks(blocks, policy, encoded, digest)


def encode_blocks(
    blocks: Blocks, policy: Policy, advance: Callable[[int], Any] = lambda _: None
) -> tuple[Policy, PackedEncoded]:
    """Return the policy with its kinds filled in, and the integer view of a table.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> from shoal.io.blocks import open_blocks
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> encode_blocks(open_blocks(pa.table({"age": [40, None, 20]})), policy)[1].codes.T.tolist()
    [[1, 2, 0]]
    """
    schema = blocks.schema
    named = (*policy.schema.quasi, *policy.schema.sensitive)
    gathered = {column.name: _Gathered(schema.field(column.name).type) for column in named}
    for block in blocks.read(list(gathered)):
        for name, column in gathered.items():
            column.add(block.column(name))
        advance(block.num_rows)

    def values_of(name: str) -> pa.ChunkedArray:
        if name in gathered:
            return gathered[name].distinct()
        return pa.chunked_array([], schema.field(name).type)

    policy = policy.with_columns(
        complete_from(column, values_of(column.name)) for column in policy.schema.columns
    )
    quasi = _settled(
        gathered,
        policy.schema.quasi,
        lambda spec, values: encode_quasi(values, spec, policy.unknown_values),
        blocks.records,
    )
    sensitive = _settled(
        gathered, policy.schema.sensitive, lambda spec, values: encode_sensitive(values, spec), blocks.records
    )
    return policy, PackedEncoded(*quasi, *sensitive)


def _settled(
    gathered: dict[str, _Gathered],
    columns: Sequence[Any],
    encode: Callable[[Any, pa.ChunkedArray], tuple[NDArray[np.int32], C]],
    records: int,
) -> tuple[tuple[Codes, ...], tuple[C, ...]]:
    """Encode the distinct values of each column, and give every record its code."""
    codes, found = [], []
    for spec in columns:
        column = gathered.pop(spec.name)
        by_value, described = encode(spec, column.distinct())
        codes.append(column.settle(by_value, described.size, records))
        found.append(described)
    return tuple(codes), tuple(found)


def codes_of(blocks: Blocks, spec: Column) -> tuple[NDArray[np.int32], pa.Array]:
    """Return the codes of all records in one column, without hierarchy, and its values; it is read again."""
    column = _Gathered(blocks.schema.field(spec.name).type)
    for block in blocks.read([spec.name]):
        column.add(block.column(spec.name))
    codes, values = dictionary(column.distinct(), spec)
    return column.settle(codes, len(values), blocks.records).astype(np.int32, copy=False), values


__all__ = ["PreparedBlocks", "codes_of", "encode_blocks", "prepare_blocks"]
