"""Table -> Encoded: the integer view that algorithms, models and metrics work on.

Every quasi-identifier and sensitive column becomes a dictionary of its distinct values and one int32 code per
record. Null is a code of its own, the last one. Row i of the codes is record i of the table.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .distinct import distinct
from .errors import DataError, PolicyError, UnknownName
from .hierarchies.tree import Tree
from .inference import complete_from, spelled
from .schema import Column, Kind
from .sets import Items

if TYPE_CHECKING:
    from .kernels.space import Space
    from .policy import Policy


@dataclass(frozen=True, slots=True, eq=False)
class QuasiColumn:
    """Dictionary of one quasi-identifier.

    Attributes
    ----------
    spec : Column
        The policy's column, with its kind filled in.
    values : pyarrow.Array
        The value of each code: ascending for numbers, dates and ranks; depth-first leaves with a hierarchy.
    numbers : float64[size], optional
        The same as numbers, where the column has any (see `numbers_of`).
    positions : float64[size], optional
        Place of each code on [0, 1], for columns that are charged by range.
    tree : Tree, optional
    has_null : bool
        Whether code ``size`` (null) occurs.
    """

    spec: Column
    values: pa.Array
    numbers: NDArray[np.float64] | None
    positions: NDArray[np.float64] | None
    tree: Tree | None
    has_null: bool

    @property
    def name(self) -> str:
        """The column's name."""
        return self.spec.name

    @property
    def kind(self) -> Kind:
        """The column's kind."""
        assert self.spec.kind is not None
        return self.spec.kind

    @property
    def size(self) -> int:
        """Number of codes without null; also the code of null."""
        return len(self.values)

    def items(self) -> Items | None:
        """Return the items of the sets that the codes stand for; None where values are no sets."""
        return None if self.spec.separator is None else Items.of(self.values, self.spec.separator)

    @property
    def top(self) -> int:
        """The highest level it can be published at: that of the root, or 1 without a hierarchy."""
        return 1 if self.tree is None else self.tree.levels - 1

    @property
    def lowest(self) -> int:
        """The lowest level it may be published at."""
        return min(self.spec.least_level, self.top)

    @property
    def highest(self) -> int:
        """The highest level it may be published at."""
        return self.top if self.spec.most_level is None else min(self.top, self.spec.most_level)

    def starred(self, level: int) -> bool:
        """Whether all cells are ``*`` at a level: at the top, unless a root of another name can be shown.

        A named root stands for all values of its hierarchy, but not for null.
        """
        return 0 < self.top <= level and (self.tree is None or self.has_null)


@dataclass(frozen=True, slots=True, eq=False)
class SensitiveColumn:
    """Dictionary of one sensitive column; null, where it occurs, is its last value.

    Attributes
    ----------
    spec : Column
    values : pyarrow.Array
        The value of each code, in the column's order.
    size : int
        Number of values, null included.
    tree : Tree, optional
        For hierarchical distances; its leaves are the codes.
    """

    spec: Column
    values: pa.Array
    size: int
    tree: Tree | None

    @property
    def name(self) -> str:
        """The column's name."""
        return self.spec.name


@dataclass(frozen=True, slots=True, eq=False)
class Encoded:
    """The integer view of a table.

    Attributes
    ----------
    codes : int32[n, q]
        Column-contiguous: ``codes.T`` is a C-contiguous array of one row per column.
    quasi : tuple of QuasiColumn
    sensitive_codes : int32[n, s]
        Column-contiguous as well.
    sensitive : tuple of SensitiveColumn
    """

    codes: NDArray[np.int32]
    quasi: tuple[QuasiColumn, ...]
    sensitive_codes: NDArray[np.int32]
    sensitive: tuple[SensitiveColumn, ...]

    @property
    def records(self) -> int:
        """Number of records."""
        return len(self.codes)

    def column(self, j: int) -> NDArray[np.int32]:
        """Return the codes of one quasi-identifier."""
        return self.codes[:, j]

    def sensitive_column(self, j: int) -> NDArray[np.int32]:
        """Return the codes of one sensitive column."""
        return self.sensitive_codes[:, j]

    def stored(self, j: int) -> NDArray[np.unsignedinteger] | NDArray[np.int32]:
        """Return the codes of one quasi-identifier in the type they are held in."""
        return self.column(j)

    def take(self, records: NDArray[np.integer]) -> Encoded:
        """Return some records under the same dictionaries, so that they are measured alike."""
        codes, sensitive = (np.asfortranarray(held[records]) for held in (self.codes, self.sensitive_codes))
        return replace(self, codes=codes, sensitive_codes=sensitive)

    def recoded(self, quasi: tuple[QuasiColumn, ...], codes: Mapping[int, NDArray[np.int32]]) -> Encoded:
        """Return the view with other dictionaries, and other codes of some quasi-identifiers."""
        if not codes:
            return replace(self, quasi=quasi)
        table = self.codes.copy(order="F")
        for j, own in codes.items():
            table[:, j] = own
        return replace(self, codes=table, quasi=quasi)

    def whole(self) -> Encoded:
        """Return the view as one table of 4 bytes a cell."""
        return self

    def sensitive_index(self, name: str) -> int:
        """Return the position of a sensitive column."""
        return [column.name for column in self.sensitive].index(name)

    def column_codes(self, name: str) -> tuple[NDArray[np.int32], int]:
        """Return the codes of a sensitive column or quasi-identifier, and how many codes there can be."""
        for j, sensitive in enumerate(self.sensitive):
            if sensitive.name == name:
                return self.sensitive_column(j), sensitive.size
        for j, quasi in enumerate(self.quasi):
            if quasi.name == name:
                return self.column(j), quasi.size + 1
        known = [*(s.name for s in self.sensitive), *(q.name for q in self.quasi)]
        raise UnknownName.nearest("sensitive column or quasi-identifier", name, known)

    def flat_sensitive(self) -> NDArray[np.int32]:
        """Return int32[s, n]: sensitive codes numbered through over all columns, as in `Rules.start`."""
        flat = np.empty((len(self.sensitive), self.records), dtype=np.int32)
        start = 0
        for j, column in enumerate(self.sensitive):
            np.add(self.sensitive_column(j), start, out=flat[j], dtype=np.int32)
            start += column.size
        return flat

    def space(self, *, heights: bool = False) -> Space:
        """Return the geometry for kernels; with `heights`, categorical cells cost as in Byun et al. (2006).

        By height, a class costs height(common ancestor) / height(tree); a column without hierarchy counts as
        a tree of one level: 0 for one value, 1 for more.
        """
        from .kernels import space as kernel

        trees = [_cost_tree(column, heights) for column in self.quasi]
        full = np.array([round(kernel.UNIT * c.spec.weight) for c in self.quasi], dtype=np.int32)
        sizes = np.array([column.size for column in self.quasi], dtype=np.int32)
        start = np.concatenate([[0], np.cumsum(sizes.astype(np.int64) + 1)]).astype(np.int64)
        position = np.zeros(start[-1], dtype=np.int32)
        geometry = np.full(len(sizes), kernel.SET, dtype=np.int8)
        for j, column in enumerate(self.quasi):
            if column.positions is not None:
                geometry[j] = kernel.LINE
                position[start[j] : start[j] + column.size] = np.rint(column.positions * full[j])
            elif trees[j] is not None:
                geometry[j] = kernel.TREE
        nodes = [tree[0].ravel() if tree else np.zeros(0, dtype=np.int32) for tree in trees]
        costs = [
            np.rint(tree[1][tree[0]].ravel() * full[j]) if tree else np.zeros(0)
            for j, tree in enumerate(trees)
        ]
        return kernel.Space(
            geometry=geometry,
            size=sizes,
            full=full,
            start=start,
            position=position,
            levels=np.array([len(tree[0]) if tree else 0 for tree in trees], dtype=np.int32),
            tree_start=np.concatenate([[0], np.cumsum([len(flat) for flat in nodes])])[:-1].astype(np.int64),
            node=np.concatenate([np.zeros(0, dtype=np.int32), *nodes]).astype(np.int32),
            node_cost=np.concatenate([np.zeros(0), *costs]).astype(np.int32),
        )


def _cost_tree(column: QuasiColumn, heights: bool) -> tuple[NDArray[np.int32], NDArray[np.float64]] | None:
    """Return (nodes, loss per node) for a column charged by a tree, None for one charged otherwise."""
    if column.tree is not None:
        losses = column.tree.node_height_losses() if heights else column.tree.node_losses()
        return column.tree.nodes, losses
    if heights and column.positions is None:
        leaves = np.arange(column.size, dtype=np.int32)
        losses = np.zeros(column.size + 1)
        losses[-1] = 1.0
        return np.stack([leaves, np.full_like(leaves, column.size)]), losses
    return None


def encode(data: pa.Table, policy: Policy) -> Encoded:
    """Return the integer view of a table under a policy.

    Raises
    ------
    DataError
        When the table is empty or a column cannot be of the kind the policy says.
    HierarchyError
        When a hierarchy does not know values of its column.
    """
    check_encodable(policy, data.column_names, data.num_rows)
    n = data.num_rows
    codes = np.empty((n, len(policy.schema.quasi)), dtype=np.int32, order="F")
    quasi = []
    for j, spec in enumerate(policy.schema.quasi):
        codes[:, j], column = encode_quasi(data.column(spec.name), spec, policy.unknown_values)
        quasi.append(column)
    sensitive_codes = np.empty((n, len(policy.schema.sensitive)), dtype=np.int32, order="F")
    sensitive = []
    for j, spec in enumerate(policy.schema.sensitive):
        sensitive_codes[:, j], sensitive_column = encode_sensitive(data.column(spec.name), spec)
        sensitive.append(sensitive_column)
    return Encoded(codes, tuple(quasi), sensitive_codes, tuple(sensitive))


def dictionary(column: pa.ChunkedArray, spec: Column) -> tuple[NDArray[np.int32], pa.Array]:
    """Return (codes, values): distinct values in the column's own order; null has the code after the last.

    Numbers, dates and texts ascend; an ordinal column follows its order. Texts become numbers or dates where
    the column is said to be numeric or a date; -0.0 is 0.0; categories that do not occur are left out.

    Examples
    --------
    >>> import pyarrow as pa
    >>> age = pa.chunked_array([["10", "9", None, "9"]])
    >>> codes, values = dictionary(age, Column("age", kind=Kind.NUMERIC))
    >>> codes.tolist(), values.to_pylist()
    ([1, 0, 2, 0], [9, 10])
    """
    indices, values = distinct(column, spec)
    ranked = _ranked(values, spec)
    new = np.full(len(values) + 1, len(ranked), dtype=np.int32)  # the last slot serves -1: null
    new[ranked] = np.arange(len(ranked), dtype=np.int32)
    return new[indices], values.take(pa.array(ranked))


def _ranked(values: pa.Array, spec: Column) -> NDArray[np.int64]:
    """Return the indices of distinct values in the order of the column."""
    if spec.order is not None:
        place = {text: rank for rank, text in enumerate(spelled(spec.order, values))}
        texts = [str(value) for value in values.to_pylist()]
        strangers = sum(text not in place for text in texts)
        if strangers:
            raise DataError(
                f"{strangers} distinct values of the ordinal column {spec.name!r} are not in its order",
                hint="List every value once, from least to greatest.",
            )
        return np.argsort([place[text] for text in texts], kind="stable").astype(np.int64)
    return np.asarray(pc.sort_indices(values).to_numpy(), dtype=np.int64)


def check_encodable(policy: Policy, names: list[str], records: int) -> None:
    """Raise when a table lacks columns or records, or the policy quasi-identifiers."""
    policy.schema.check_present(names)
    if records == 0:
        raise DataError("the table has no records")
    if not policy.schema.quasi:
        raise PolicyError(
            "the policy names no quasi-identifier",
            hint="List the columns that could identify someone: quasi=[...].",
        )


def encode_quasi(
    column: pa.ChunkedArray, spec: Column, unknown: str
) -> tuple[NDArray[np.int32], QuasiColumn]:
    """Return the codes and the dictionary of one quasi-identifier.

    The dictionary depends on the values that occur and not on how often each does.
    """
    found = _encode_quasi(column, spec, unknown)
    top = found[1].top
    if spec.least_level > top > 0:
        raise PolicyError(
            f"the least_level of {spec.name!r} is {spec.least_level}, and its levels end at {top}",
            hint="Lower it, or give the column a hierarchy of more levels.",
        )
    return found


def _encode_quasi(
    column: pa.ChunkedArray, spec: Column, unknown: str
) -> tuple[NDArray[np.int32], QuasiColumn]:
    spec = complete_from(spec, column)
    codes, values = dictionary(column, spec)
    numbers = numbers_of(values, spec)
    has_null = bool((codes == len(values)).any())
    if spec.hierarchy is not None:
        tree, leaf_of = spec.hierarchy.bind(values, spec.name, unknown=unknown)
        codes = np.append(leaf_of, tree.leaves).astype(np.int32)[codes]
        leaf_values = pa.array([tree.labels[node] for node in tree.nodes[0]], type=pa.string())
        if numbers is not None:
            leaf_numbers = np.full(tree.leaves, np.nan)
            leaf_numbers[leaf_of] = numbers
            numbers = leaf_numbers
        return codes, QuasiColumn(spec, leaf_values, numbers, None, tree, has_null)
    positions = None if numbers is None else _positions(numbers, spec)
    return codes, QuasiColumn(spec, values, numbers, positions, None, has_null)


def numbers_of(values: pa.Array, spec: Column) -> NDArray[np.float64] | None:
    """Return a dictionary's values as numbers, None for texts.

    Dates are days since 1970, moments microseconds since then, ordered categories their ranks.
    """
    if spec.kind is Kind.CATEGORICAL:
        return None
    if spec.kind is Kind.ORDINAL:
        return np.arange(len(values), dtype=np.float64)
    if pa.types.is_date32(values.type):
        values = values.cast(pa.int32())
    elif pa.types.is_temporal(values.type):
        moment = pa.timestamp("us", getattr(values.type, "tz", None))
        values = values.cast(moment, safe=False).cast(pa.int64())
    numbers = values.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
    if not np.isfinite(numbers).all():
        raise DataError(
            f"column {spec.name!r} holds infinite values", hint="Replace them, or make them null."
        )
    return np.asarray(numbers, dtype=np.float64)


def _positions(numbers: NDArray[np.float64], spec: Column) -> NDArray[np.float64]:
    if len(numbers) == 0:
        return numbers
    low, high = spec.domain if spec.domain is not None else (float(numbers.min()), float(numbers.max()))
    outside = int(((numbers < low) | (numbers > high)).sum())
    if outside:
        raise DataError(
            f"{outside} distinct values of column {spec.name!r} lie outside its domain",
            hint="Widen the domain, or clean the column.",
        )
    if high == low:
        return np.zeros(len(numbers))
    scale = 1.0 if np.isfinite(high - low) else 0.25  # a range beyond the largest float
    low, high = low * scale, high * scale
    return (numbers * scale - low) / (high - low)


def encode_sensitive(column: pa.ChunkedArray, spec: Column) -> tuple[NDArray[np.int32], SensitiveColumn]:
    """Return the codes and the dictionary of one sensitive column."""
    spec = complete_from(spec, column)
    codes, values = dictionary(column, spec)
    tree = None
    size = len(values)
    if spec.hierarchy is not None:
        if (codes == size).any():
            raise DataError(
                f"the sensitive column {spec.name!r} has a hierarchy, and nulls, which have no place in it",
                hint="Fill the nulls with a value of their own and add it to the hierarchy.",
            )
        tree, leaf_of = spec.hierarchy.bind(values, spec.name, unknown="refuse")
        leaf_values = pa.array([tree.labels[node] for node in tree.nodes[0]], type=pa.string())
        return leaf_of.astype(np.int32)[codes], SensitiveColumn(spec, leaf_values, tree.leaves, tree)
    if (codes == size).any():
        size += 1
        values = pa.concat_arrays([values, pa.nulls(1, values.type)])
    return codes, SensitiveColumn(spec, values, size, tree)
