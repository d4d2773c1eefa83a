"""What the driver learns of the whole table: dictionaries, ranges and distributions, never records.

Every task gets this view, so that a cell of the table is encoded, charged and judged as part of the whole.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyspark.sql import functions as sf

from ...encoding import Encoded, encode
from ...errors import DataError, PolicyError, PolicyUnsatisfiable
from ...inference import complete_from, without_nan
from ...models.compile import compile_rules
from ...policy import Policy
from ...schema import Column, Kind

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ...kernels.rules import Rules

MOST_VALUES = 1 << 18  # distinct values that a dictionary on the driver may hold
_BINS = 256
_PRECISE = 1e-3  # relative error of the quantiles that cut a column of very many numbers


@dataclass(frozen=True, slots=True, eq=False)
class Dictionary:
    """The distinct values of one column and how often each occurs; null is one of them where it occurs."""

    values: pa.Array
    counts: NDArray[np.int64]

    @property
    def records(self) -> int:
        """Number of records."""
        return int(self.counts.sum())


@dataclass(frozen=True, slots=True, eq=False)
class Lookup:
    """From the values of a column to the codes that they have in the whole table."""

    values: pa.Array
    codes: NDArray[np.int32]


@dataclass(frozen=True, slots=True, eq=False)
class Whole:
    """The whole table as a task sees it.

    Attributes
    ----------
    policy : Policy
        Resolved; columns of very many numbers have their range as domain.
    skeleton : Encoded
        Its dictionaries are those of the whole table; it has no codes.
    lookups : dict of column name to Lookup
        Columns without one are encoded from the values of a cell alone, within their domain.
    rules : Rules
        With the overall distributions of the whole table.
    records : int
    weights : dict of quasi-identifier to int64[size + 1]
        How many records have each code; for columns with a lookup.
    edges : dict of quasi-identifier to float64[cuts]
        Where columns without a lookup are cut into bins.
    """

    policy: Policy
    skeleton: Encoded
    lookups: dict[str, Lookup]
    rules: Rules
    records: int
    weights: dict[str, NDArray[np.int64]]
    edges: dict[str, NDArray[np.float64]]


def look(table: DataFrame, policy: Policy) -> Whole:
    """Return what the driver has to know of a table, by one small aggregation a column."""
    columns = [*policy.schema.quasi, *policy.schema.sensitive]
    found: dict[str, Dictionary] = {}
    ranges: dict[str, pa.Table] = {}
    for column in columns:
        distinct = _dictionary(table, column.name)
        if distinct is None:
            ranges[column.name] = _range(table, column)
        else:
            found[column.name] = distinct
    records = next(iter(found.values())).records if found else table.count()
    if records == 0:
        raise DataError("the table has no records")
    sample = _aligned({**{name: d.values for name, d in found.items()}, **_ends(ranges)})
    policy = _resolved(policy, sample, ranges)
    seen = [c for c in policy.schema.columns if c.name in sample.column_names]
    skeleton = encode(sample, policy.with_columns(seen))
    lookups, weights = _lookups(found, skeleton)
    counts = [weights.pop(column.name) for column in skeleton.sensitive]
    rules = compile_rules(policy.models, skeleton, overall=(records, counts))
    _check_feasible(rules, records, counts)
    edges = {name: _edges(ends) for name, ends in ranges.items()}
    skeleton = replace(
        skeleton, codes=skeleton.codes[:0].copy(), sensitive_codes=skeleton.sensitive_codes[:0].copy()
    )
    return Whole(policy, skeleton, lookups, rules, records, weights, edges)


def _dictionary(table: DataFrame, name: str) -> Dictionary | None:
    """Return a column's distinct values with their counts, None where there are too many to hold."""
    counted = table.groupBy(sf.col(_quoted(name)).alias("value")).agg(sf.count(sf.lit(1)).alias("count"))
    rows = counted.limit(MOST_VALUES + 1).toArrow()
    if rows.num_rows > MOST_VALUES:
        return None
    values = without_nan(rows.column("value")).combine_chunks()
    return Dictionary(_flat(values), rows.column("count").to_numpy().astype(np.int64))


def _range(table: DataFrame, column: Column) -> pa.Table:
    """Return quantiles of a column of too many numbers for a dictionary: least, greatest and in between."""
    kind = dict(table.dtypes)[column.name]
    numeric = kind in ("tinyint", "smallint", "int", "bigint", "float", "double") or kind.startswith(
        "decimal"
    )
    if column.role != "quasi" or column.hierarchy is not None or not numeric:
        raise DataError(
            f"column {column.name!r} has more than {MOST_VALUES:,} distinct values",
            hint="Round it, or group its values before, or drop it from the policy.",
        )
    at = sf.col(_quoted(column.name)).cast("double")
    shares = np.linspace(0.0, 1.0, _BINS).tolist()
    clean = sf.when(sf.isnan(at), None).otherwise(at)
    row = table.agg(
        sf.percentile_approx(clean, shares, round(1 / _PRECISE)).alias("quantiles"),
        sf.min(clean).alias("low"),
        sf.max(clean).alias("high"),
        sf.count(clean).alias("present"),
        sf.count(sf.lit(1)).alias("records"),
    ).toArrow()
    return row


def _ends(ranges: dict[str, pa.Table]) -> dict[str, pa.Array]:
    """Return the extremes of each column known by its range only, and null where it occurs."""
    found = {}
    for name, row in ranges.items():
        low, high, present, records = (
            row.column(c)[0].as_py() for c in ("low", "high", "present", "records")
        )
        found[name] = pa.array([low, high, *([None] if present < records else [])], pa.float64())
    return found


def _edges(row: pa.Table) -> NDArray[np.float64]:
    return np.unique(np.asarray(row.column("quantiles")[0].as_py(), dtype=np.float64))


def _aligned(columns: dict[str, pa.Array]) -> pa.Table:
    """Return dictionaries as one table: the shorter ones repeat their first value."""
    longest = max(map(len, columns.values()))
    filled = {}
    for name, values in columns.items():
        rows = np.zeros(longest, dtype=np.int64)
        rows[: len(values)] = np.arange(len(values))
        filled[name] = values.take(pa.array(rows))
    return pa.table(filled)


def _resolved(policy: Policy, sample: pa.Table, ranges: dict[str, pa.Table]) -> Policy:
    """Return the policy with kinds filled in, and with domains for columns known by their range only."""
    columns = []
    for column in policy.schema.columns:
        if column.name in sample.column_names:
            column = complete_from(column, sample.column(column.name))
        if column.name in ranges:
            if column.kind is not Kind.NUMERIC:
                raise PolicyError(
                    f"column {column.name!r} has too many distinct values to be {column.kind}",
                    hint="Make it numeric, or group its values before.",
                )
            low, high = (ranges[column.name].column(c)[0].as_py() for c in ("low", "high"))
            column = replace(column, domain=column.domain or (low, high))
        columns.append(column)
    return policy.with_columns(columns)


def _lookups(
    found: dict[str, Dictionary], skeleton: Encoded
) -> tuple[dict[str, Lookup], dict[str, NDArray[np.int64]]]:
    lookups, weights = {}, {}
    for name, distinct in found.items():
        codes, size = skeleton.column_codes(name)
        own = codes[: len(distinct.values)].copy()
        lookups[name] = Lookup(distinct.values, own)
        weights[name] = np.bincount(own, weights=distinct.counts, minlength=size).astype(np.int64)
    return lookups, weights


def _check_feasible(rules: Rules, records: int, counts: Iterable[NDArray[np.int64]]) -> None:
    from ...kernels.stats import counts_ok

    if not counts_ok(rules, records, np.concatenate([np.zeros(0, dtype=np.int64), *counts])):
        raise PolicyUnsatisfiable(
            "the whole table as one class breaks a promise of the policy",
            code="S202",
            hint="Weaken the promise, or drop it: shoal audit shows what the table reaches.",
        )


def _quoted(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def _flat(values: Any) -> pa.Array:
    return pa.concat_arrays(values.chunks) if isinstance(values, pa.ChunkedArray) else values
