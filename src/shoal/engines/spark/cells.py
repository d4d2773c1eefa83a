"""One cell of the table in one task: encoded as part of the whole, partitioned, repaired and published."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from ...encoding import Encoded, QuasiColumn, encode
from ...errors import DataError
from ...inference import without_nan
from ...policy import Policy
from ...progress import Run
from ...schema import Form, Role
from .whole import Lookup, Whole

if TYPE_CHECKING:
    from ...algorithms.base import Algorithm

_settled = False
CELL, ORDER = "__shoal_cell", "__shoal_order"
TEXT_FORMS = (Form.AUTO, Form.INTERVAL, Form.SET, Form.ANCESTOR)


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What every task needs to know.

    Attributes
    ----------
    whole : Whole
    algorithm : Algorithm
    seed : int
    key : bytes, optional
        Secret for pseudonyms.
    """

    whole: Whole
    algorithm: Algorithm
    seed: int
    key: bytes | None = None

    def __call__(self, rows: pa.Table) -> pa.Table:
        """Return the published records of one cell, in a fresh random order."""
        settle_worker()
        labels, rows = self.classes(rows)
        return published(rows, self, labels).take(pa.array(_fresh_permutation(len(labels))))

    def classes(self, rows: pa.Table) -> tuple[NDArray[np.int32], pa.Table]:
        """Return the class of every record of a cell, and the records in the order that was worked on.

        That order is by content: a task that is lost and run again makes the same classes.
        """
        from ...enforce import merge_until_kept

        cell = rows.column(CELL)[0].as_py() if rows.num_rows else 0
        rows = rows.take(pc.sort_indices(rows, sort_keys=[(ORDER, "ascending")]))
        rows = rows.drop_columns([CELL, ORDER])
        encoded = encode_cell(rows, self.whole)
        run = Run(_seed(self.seed, cell), promises=tuple(self.whole.policy.promises()))
        partition = self.algorithm.partition(encoded, self.whole.rules, run)
        if partition.suppressed:
            # What an algorithm would suppress becomes a class, and is merged like any that is too small.
            partition = partition.relabelled(
                np.where(partition.labels < 0, partition.classes, partition.labels)
            )
        return merge_until_kept(partition, encoded, self.whole.rules).labels, rows


def settle_worker() -> None:
    """Keep a task on one core, and make ends of tasks cheap.

    The cluster decides how many tasks run at once. After every task a worker of Spark collects garbage among
    all objects there are. For the libraries loaded here that takes longer than many a task, so they are put
    aside.
    """
    global _settled
    if not _settled:
        import gc

        import numba

        numba.set_num_threads(1)
        gc.freeze()
        _settled = True


def published(rows: pa.Table, task: Task, labels: NDArray[np.int32]) -> pa.Table:
    """Return the published table of a cell; columns of cells are texts in every cell alike."""
    from ...partitions import Partition
    from ...recode import publish

    policy = task.whole.policy
    encoded = encode_cell(rows, task.whole)
    made = publish(rows, encoded, Partition.from_labels(labels), policy, key=task.key).table
    return with_texts(made, policy)


def with_texts(made: pa.Table, policy: Policy) -> pa.Table:
    """Return a published table in which generalised columns are texts, even where nothing was generalised."""
    for column in policy.schema.quasi:
        if column.form in TEXT_FORMS:
            at = made.column_names.index(column.name)
            made = made.set_column(at, column.name, made.column(column.name).cast(pa.string()))
    return made


def encode_cell(rows: pa.Table, whole: Whole) -> Encoded:
    """Return the integer view of some records, with the dictionaries of the whole table."""
    codes = np.empty((rows.num_rows, len(whole.skeleton.quasi)), dtype=np.int32, order="F")
    quasi: list[QuasiColumn] = []
    for j, column in enumerate(whole.skeleton.quasi):
        lookup = whole.lookups.get(column.name)
        if lookup is not None:
            codes[:, j] = looked_up(rows.column(column.name), lookup, column.name)
        else:
            own = encode(rows.select([column.name]), Policy(quasi={column.name: column.spec}))
            codes[:, j], column = own.codes[:, 0], own.quasi[0]
        quasi.append(column)
    sensitive = np.asfortranarray(sensitive_codes(rows, whole))
    return Encoded(codes, tuple(quasi), sensitive, whole.skeleton.sensitive)


def sensitive_codes(rows: pa.Table | pa.RecordBatch, whole: Whole) -> NDArray[np.int32]:
    """Return the codes of the sensitive columns, int32[n, s]."""
    found = np.empty((rows.num_rows, len(whole.skeleton.sensitive)), dtype=np.int32)
    for j, column in enumerate(whole.skeleton.sensitive):
        found[:, j] = looked_up(rows.column(column.name), whole.lookups[column.name], column.name)
    return found


def looked_up(cells: pa.Array | pa.ChunkedArray, lookup: Lookup, name: str) -> NDArray[np.int32]:
    """Return the code of every cell."""
    column = cells if isinstance(cells, pa.ChunkedArray) else pa.chunked_array([cells])
    place = pc.index_in(without_nan(column), value_set=lookup.values)
    if place.null_count:
        raise DataError(f"column {name!r} changed while it was worked on", hint="Run it again.")
    found: NDArray[np.int32] = lookup.codes[place.to_numpy()]
    return found


def numbers(cells: pa.Array) -> NDArray[np.float64]:
    """Return cells as numbers; null is NaN."""
    return np.asarray(cells.cast(pa.float64()).to_numpy(zero_copy_only=False), dtype=np.float64)


def published_schema(sample: pa.Table, policy: Policy, key: bytes | None) -> pa.Schema:
    """Return the columns that tasks publish, from a few records of any cell."""
    from ...partitions import Partition
    from ...recode import publish

    few = sample.slice(0, 1)
    local = policy.with_columns(c for c in policy.schema.columns)
    encoded = encode(few, _without_hierarchies(local))
    made = publish(few, encoded, Partition.single(1), _without_hierarchies(local), key=key).table
    return with_texts(made, policy).schema


def _without_hierarchies(policy: Policy) -> Policy:
    """Return the policy with flat columns: a hierarchy may not bind to a single record's values."""
    from dataclasses import replace

    return policy.with_columns(
        replace(c, hierarchy=None, domain=None) if c.role in (Role.QUASI, Role.SENSITIVE) else c
        for c in policy.schema.columns
    )


def _seed(seed: int, cell: int) -> int:
    return int.from_bytes(hashlib.sha256(f"{seed}/{cell}".encode()).digest()[:4], "big")


def _fresh_permutation(n: int) -> NDArray[np.int64]:
    return np.random.default_rng(secrets.randbits(128)).permutation(n)
