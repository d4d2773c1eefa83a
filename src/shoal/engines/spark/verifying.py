"""Every promise recomputed from a published Spark table: a plain group-by over its quasi-identifiers.

Groups are counted by Spark, null being equal to null only, in one pass over the table; the definitions of the
models are those of `shoal.verification`, applied to the counts. Nothing that made the classes is used.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from ...evidence import Evidence, Promise
from ...inference import complete_from, without_nan
from ...policy import Policy
from ...schema import Column
from ...verification.checks import check
from ...verification.groups import Counts, Examined, Unverifiable, rank_values
from ...verification.verify import column_problems, identifier_problems
from .cells import settle_worker
from .session import parallelism
from .whole import MOST_VALUES, _quoted

if TYPE_CHECKING:
    from pyspark.sql import Column as SparkColumn
    from pyspark.sql import DataFrame

_OUTCOME = pa.schema(
    {
        "failing": pa.int64(),
        "worst": pa.float64(),
        "required": pa.float64(),
        "better": pa.string(),
        "reason": pa.string(),
    }
)


@dataclass(frozen=True, slots=True, eq=False)
class _Values:
    """The values of one sensitive column over the whole published table."""

    column: Column
    values: pa.Array  # in the column's order
    overall: NDArray[np.int64]


_PARTS = 4  # for every core
SIZE, _PAIRS = "__shoal_size", "__shoal_pairs"


def verify_spark(published: DataFrame, policy: Policy) -> Evidence:
    """Return the evidence for a published Spark table; see `shoal.verify` for what it means."""
    with grouped(published, policy) as groups:
        return verify_groups(published, groups, policy)


@contextmanager
def grouped(published: DataFrame, policy: Policy) -> Iterator[DataFrame | None]:
    """Give the groups of a published table: cells, size, and how often sensitive values occur together.

    They are counted once, and kept as long as promises and metrics are read from them. None where a
    quasi-identifier is missing.
    """
    names = [name for column in policy.schema.quasi for name in column.published_names]
    if not set(names) <= set(published.columns):
        yield None
        return
    keys = [sf.col(_quoted(name)) for name in names]
    values = [sf.col(_quoted(column.name)) for column in _sensitive(published, policy)]
    counted = published.groupBy(*keys, *(v.alias(f"__shoal_{i}") for i, v in enumerate(values))).agg(
        sf.count(sf.lit(1)).alias(SIZE)
    )
    if values:
        pair = sf.struct(*(sf.col(f"__shoal_{i}").alias(f"value{i}") for i in range(len(values))), SIZE)
        counted = counted.groupBy(*keys).agg(sf.sum(SIZE).alias(SIZE), sf.collect_list(pair).alias(_PAIRS))
    # What is kept has as many parts as the shuffle that made it; each costs a task whenever it is read.
    counted = counted.coalesce(_PARTS * parallelism(published)).persist()
    try:
        yield counted
    finally:
        counted.unpersist()


def _sensitive(published: DataFrame, policy: Policy) -> list[Column]:
    return [column for column in policy.schema.sensitive if column.name in published.columns]


def verify_groups(published: DataFrame, groups: DataFrame | None, policy: Policy) -> Evidence:
    """Return the evidence for a published Spark table whose groups `grouped` has counted."""
    problems = [] if policy.models else ["the policy promises nothing"]
    problems += column_problems(list(published.columns), policy)
    problems += _identifier_problems(published, policy)
    promises: list[Promise] = []
    classes = records = 0
    if groups is not None:
        row = groups.agg(sf.count(sf.lit(1)), sf.sum(SIZE)).collect()[0]
        classes, records = int(row[0]), int(row[1] or 0)
        counted = _per_column(published, groups, policy)
        for model, column in policy.promises():
            promises.append(_promise(model, column, counted, problems))
    return Evidence(tuple(promises), records, classes, problems=tuple(dict.fromkeys(problems)))


def _identifier_problems(published: DataFrame, policy: Policy) -> list[str]:
    """Return which direct identifiers are published as they were, cell by cell."""
    there = [column for column in policy.schema.identifiers if column.name in published.columns]

    def look(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle_worker()
        for batch in batches:
            for column in there:
                bad = identifier_problems(pa.chunked_array([batch.column(column.name)]), column)
                names = [column.name] if bad else []
                yield pa.RecordBatch.from_pydict({"name": pa.array(names, pa.string())})

    if not there:
        return []
    cells = published.select(*[_quoted(column.name) for column in there])
    bad = cells.mapInArrow(look, "name string").distinct().collect()
    return sorted(f"the identifier {row['name']!r} is published" for row in bad)


def _per_column(published: DataFrame, groups: DataFrame, policy: Policy) -> dict[str | None, Any]:
    """Return, per sensitive column (None: sizes only), the groups with their counts, and the values."""
    found: dict[str | None, Any] = {None: (groups.select(SIZE), None)}
    for i, column in enumerate(_sensitive(published, policy)):
        own = sf.transform(_PAIRS, _value_and_size(i))
        found[column.name] = (groups.select(own.alias("pairs")), _values(groups, i, column))
    return found


def _value_and_size(place: int) -> Callable[[SparkColumn], SparkColumn]:
    """Return what keeps one sensitive column of a pair; Spark hands a function as much as it takes."""
    return lambda pair: sf.struct(pair[f"value{place}"].alias("value"), pair[SIZE].alias(SIZE))


def _values(groups: DataFrame, place: int, column: Column) -> _Values | None:
    pairs = groups.select(sf.explode(_PAIRS).alias("pair"))
    counted = pairs.groupBy(sf.col(f"pair.value{place}").alias("value"))
    rows = counted.agg(sf.sum(f"pair.{SIZE}").alias("n")).limit(MOST_VALUES + 1).toArrow()
    if rows.num_rows > MOST_VALUES:
        return None
    values = without_nan(rows.column("value"))
    flat = pa.concat_arrays(values.chunks) if values.num_chunks else pa.array([], values.type)
    complete = complete_from(column, values)
    rank = rank_values(flat, complete)
    overall = np.zeros(len(flat), dtype=np.int64)
    overall[rank] = rows.column("n").to_numpy()
    return _Values(complete, flat.take(pa.array(np.argsort(rank))), overall)


def _promise(model: Any, name: str | None, counted: dict[str | None, Any], problems: list[str]) -> Promise:
    """Return one promise, judged group by group in tasks and gathered."""
    nothing = Promise(
        model.name, model.to_dict(), name, float(model.required()), math.nan, model.better, False, 0
    )
    if name not in counted:
        problems.append(f"{model.name} cannot be verified: the sensitive column {name!r} is missing")
        return nothing
    groups, values = counted[name]
    if name is not None and values is None:
        problems.append(f"{model.name} cannot be verified: {name!r} has more than {MOST_VALUES:,} values")
        return nothing

    def judge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle_worker()
        for batch in batches:
            if batch.num_rows:
                yield pa.RecordBatch.from_pylist([_outcome(model, name, batch, values)], _OUTCOME)

    rows = groups.mapInArrow(judge, from_arrow_schema(_OUTCOME)).collect()
    reasons = sorted({row["reason"] for row in rows if row["reason"]})
    if reasons or not rows:
        problems.append(
            f"{model.name} cannot be verified: {reasons[0] if reasons else 'there are no records'}"
        )
        return nothing
    failing = sum(row["failing"] for row in rows)
    worst = [row["worst"] for row in rows]
    achieved = min(worst) if rows[0]["better"] == "higher" else max(worst)
    return Promise(
        model.name,
        model.to_dict(),
        name,
        rows[0]["required"],
        achieved,
        rows[0]["better"],
        failing == 0,
        failing,
    )


def _outcome(model: Any, name: str | None, batch: pa.RecordBatch, values: _Values | None) -> dict[str, Any]:
    """Return what one promise comes to on some of the groups."""
    examined = _examined(name, batch, values)
    outcome = {"failing": 0, "worst": math.nan, "required": math.nan, "better": model.better, "reason": ""}
    try:
        found = check(model, examined, name)
    except Unverifiable as reason:
        return outcome | {"reason": str(reason)}
    return outcome | {
        "failing": len(found.failing),
        "worst": float(found.achieved),
        "required": float(found.required),
        "better": found.better,
    }


def _examined(name: str | None, batch: pa.RecordBatch, values: _Values | None) -> Examined:
    """Return some groups in the form in which the checkers take a table."""
    none = np.zeros(0, dtype=np.int64)
    if name is None or values is None:
        sizes = batch.column(SIZE).to_numpy().astype(np.int64)
        return Examined(pa.table({}), Policy(), none, sizes, none.astype(bool))
    lists = batch.column("pairs")
    pairs = lists.flatten()
    group = np.repeat(np.arange(batch.num_rows), np.diff(lists.offsets.to_numpy()))
    cells, counts = pairs.field("value"), pairs.field(SIZE).to_numpy().astype(np.int64)
    value = pc.index_in(without_nan(pa.chunked_array([cells])), value_set=values.values).to_numpy()
    # A value occurs once for every value of the other sensitive columns that it occurs with.
    keys, place = np.unique(group * len(values.values) + value.astype(np.int64), return_inverse=True)
    counts = np.bincount(place, weights=counts).astype(np.int64)
    group, value = np.divmod(keys, len(values.values))
    starts = np.flatnonzero(np.diff(group, prepend=-1))
    found = Counts(values.column, values.values, group, value, counts, starts, values.overall)
    sizes = np.bincount(group, weights=counts, minlength=batch.num_rows).astype(np.int64)
    examined = Examined(pa.table({name: values.values}), Policy(), none, sizes, none.astype(bool))
    examined._counts[name] = found
    return examined
