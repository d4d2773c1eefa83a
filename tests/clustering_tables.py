"""Random tables that try every geometry at once, for algorithms that are compared with their oracle."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pyarrow as pa
from hypothesis import strategies as st

import shoal
from shoal.encoding import Encoded, encode
from shoal.kernels.rules import Rules
from shoal.models.base import Model
from shoal.models.compile import compile_rules
from shoal.partitions import Partition

TOWNS = {
    "north": {"coast": ["Kiel", "Emden"], "inland": ["Celle"]},
    "south": ["Ulm", "Hof", "Trier"],
    "abroad": None,
}
GRADES = ("low", "middle", "high", "top")
JOBS = ["clerk", "cook", "nurse", "smith", "weaver"]
UNITS = {"east": None, "west": None, "centre": None}
MODELS: dict[str, tuple[Callable[[int], list[Model]], Callable[[int, list[str]], bool]]] = {
    "k": (lambda k: [shoal.KAnonymity(k)], lambda k, ill: len(ill) >= k),
    "l": (
        lambda k: [shoal.KAnonymity(k), shoal.LDiversity(2)],
        lambda k, ill: len(ill) >= k and len(set(ill)) >= 2,
    ),
    "alpha": (
        lambda k: [shoal.AlphaK(0.5, k)],
        lambda k, ill: len(ill) >= k and 2 * max(map(ill.count, ill)) <= len(ill),
    ),
}


def _column(values: st.SearchStrategy[object], nulls: bool) -> st.SearchStrategy[object]:
    return st.one_of(st.none(), values, values, values) if nulls else values


@st.composite
def mixed_tables(draw: st.DrawFn, max_records: int = 30) -> pa.Table:
    """Draw a table with a coarse and a fine number, a rank, a category, two trees and a disease."""
    nulls = draw(st.lists(st.booleans(), min_size=6, max_size=6))
    span = draw(st.sampled_from([1, 3, 12]))
    towns = ["Kiel", "Emden", "Celle", "Ulm", "Hof", "Trier", "abroad", "nowhere"]
    record = st.tuples(
        _column(st.integers(20, 20 + span), nulls[0]),
        _column(st.floats(-1, 1, width=16), nulls[1]),
        _column(st.sampled_from(GRADES), nulls[2]),
        _column(st.sampled_from(JOBS[: 1 + span // 3]), nulls[3]),
        _column(st.sampled_from(towns), nulls[4]),
        _column(st.sampled_from(list(UNITS)), nulls[5]),
        st.sampled_from(["flu", "cold", "gout"]),
    )
    size = draw(st.integers(1, max_records))  # lists left to themselves are nearly always short
    records = draw(st.lists(record, min_size=size, max_size=size))
    repeats = draw(st.integers(0, 10))
    records += [records[i % len(records)] for i in range(repeats)]
    names = ["age", "score", "grade", "job", "town", "unit", "disease"]
    kinds = [pa.int64(), pa.float64(), *[pa.string()] * 5]
    columns = zip(names, zip(*records, strict=True), kinds, strict=True)
    return pa.table({name: pa.array(column, kind) for name, column, kind in columns})


def encoded_of(table: pa.Table, weight: float = 1.0) -> Encoded:
    """Return the integer view of a mixed table; `weight` is that of the job."""
    policy = shoal.Policy(
        quasi={
            "age": "numeric",
            "score": "numeric",
            "grade": shoal.Column("grade", kind=shoal.Kind.ORDINAL, order=GRADES),
            "job": shoal.Column("job", kind=shoal.Kind.CATEGORICAL, weight=weight),
            "town": shoal.Hierarchy.from_dict(TOWNS),
            "unit": shoal.Hierarchy.from_dict(UNITS),
        },
        sensitive=["disease"],
        unknown_values="root",
    )
    return encode(table, policy.resolved(table))


def classes_of(partition: Partition) -> set[frozenset[int]]:
    """Return the classes as sets of record numbers."""
    return {frozenset(partition.members(c).tolist()) for c in range(partition.classes)}


def shuffled(table: pa.Table, seed: int) -> tuple[pa.Table, np.ndarray]:
    """Return the table in another order, and the old number of each new record."""
    order = np.random.default_rng(seed).permutation(table.num_rows)
    return table.take(pa.array(order)), order


def rules_and_test(
    encoded: Encoded, table: pa.Table, model: str, k: int
) -> tuple[Rules, Callable[[list[int]], bool]]:
    """Return a policy as rules, and as a test of a class by definition."""
    made, holds = MODELS[model]
    disease = table.column("disease").to_pylist()
    return compile_rules(made(k), encoded), lambda records: holds(k, [disease[i] for i in records])
