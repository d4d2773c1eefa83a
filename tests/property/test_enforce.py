"""enforce: whatever partition it is given, every promise holds afterwards, or it refuses."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding import Encoded
from shoal.enforce import enforce, failures, unite_equal_cells
from shoal.errors import PolicyUnsatisfiable
from shoal.kernels.merging import absorb, cheapest_unions, make_hull, union_costs
from shoal.models.statistics import class_statistics
from shoal.partitions import Partition
from shoal.progress import Run
from shoal.recode import publish
from strategies import random_tables


def spread(encoded: Encoded, records: list[int]) -> int:
    """Return the integer cost per record of a class, column by column, from its definition."""
    space = encoded.space()
    total = 0
    for j, column in enumerate(encoded.quasi):
        codes = [int(encoded.codes[i, j]) for i in records]
        present = [code for code in codes if code != column.size]
        full = int(space.full[j])
        if not present:
            continue
        if len(present) < len(codes):
            total += full
        elif column.positions is not None:
            place = [round(column.positions[code] * full) for code in present]
            total += max(place) - min(place)
        elif column.tree is not None:
            node = int(column.tree.common_ancestors(np.array([min(present)]), np.array([max(present)]))[0])
            total += round(float(column.tree.node_losses()[node]) * full)
        else:
            total += (len(set(present)) - 1) * full // max(column.size - 1, 1)
    return total


@settings(max_examples=60, deadline=None)
@given(table=random_tables(), groups=st.integers(1, 6), seed=st.integers(0, 99))
def test_merge_costs_are_those_of_the_definition(table: pa.Table, groups: int, seed: int) -> None:
    policy = shoal.Policy(quasi={"age": "numeric", "job": "categorical", "town": shoal.Hierarchy.prefix()})
    encoded = shoal.encode(table, policy)
    labels = np.random.default_rng(seed).integers(0, groups, table.num_rows)
    partition = Partition.from_labels(labels)
    hull = make_hull(
        encoded.space(), np.ascontiguousarray(encoded.codes.T), partition.order, partition.offsets
    )
    members = [partition.members(c).tolist() for c in range(partition.classes)]
    for c, records in enumerate(members):
        assert hull.cost[c] == spread(encoded, records)
    expected = []
    for b in range(1, partition.classes):
        union = members[0] + members[b]
        before = sum(len(members[c]) * spread(encoded, members[c]) for c in (0, b))
        expected.append((len(union) * spread(encoded, union) - before, b))
    near, increases = cheapest_unions(encoded.space(), hull, 0, 3)
    assert list(zip(increases.tolist(), near.tolist(), strict=True)) == sorted(expected)[:3]
    if partition.classes > 2:
        absorb(encoded.space(), hull, 0, 1)
        assert hull.cost[0] == spread(encoded, members[0] + members[1])
        assert union_costs(encoded.space(), hull, 0)[2] == spread(
            encoded, [*members[0], *members[1], *members[2]]
        )


@settings(max_examples=60, deadline=None)
@given(
    table=random_tables(),
    groups=st.integers(1, 20),
    seed=st.integers(0, 99),
    suppression=st.sampled_from([0.0, 0.1, 0.5]),
    suppressed=st.sampled_from(["drop", "star"]),
)
def test_every_promise_holds_afterwards(
    table: pa.Table, groups: int, seed: int, suppression: float, suppressed: str
) -> None:
    policy = shoal.Policy(
        quasi=["age", "job", "town"],
        sensitive=["disease"],
        models=[shoal.KAnonymity(3), shoal.LDiversity(2), shoal.TCloseness(0.4)],
        suppression=suppression,
        suppressed=suppressed,
    )
    encoded = shoal.encode(table, policy)
    given_labels = np.random.default_rng(seed).integers(0, groups, table.num_rows)
    try:
        made = enforce(Partition.from_labels(given_labels), encoded, policy, Run())
    except PolicyUnsatisfiable as refusal:
        diseases = set(table["disease"].to_pylist())
        assert table.num_rows < 3 or len(diseases) < 2
        assert "%" in str(refusal)
        return
    assert not failures(class_statistics(encoded, made), policy)
    assert made.suppressed <= suppression * table.num_rows


def test_classes_that_hold_are_left_alone() -> None:
    table = pa.table({"age": [1, 2, 50, 51, 90]})
    policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    made = enforce(
        Partition.from_labels(np.array([0, 0, 1, 1, 2])), shoal.encode(table, policy), policy, Run()
    )
    assert made.labels.tolist() == [0, 0, 1, 1, 1]


def test_an_outlier_is_suppressed_where_that_costs_less() -> None:
    table = pa.table({"age": [1, 1, 1, 1, 1, 1, 1, 1, 1, 90]})
    policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)], suppression=0.1)
    labels = np.array([0] * 9 + [1])
    made = enforce(Partition.from_labels(labels), shoal.encode(table, policy), policy, Run())
    assert made.labels.tolist() == [0] * 9 + [-1]


def test_the_refusal_counts_classes_and_records() -> None:
    table = pa.table({"age": [1, 2, 3], "disease": ["flu"] * 3})
    policy = shoal.Policy(quasi=["age"], sensitive=["disease"], models=[shoal.LDiversity(2)], suppression=0.2)
    with pytest.raises(PolicyUnsatisfiable) as caught:
        enforce(Partition.single(3), shoal.encode(table, policy), policy, Run())
    assert "1 of 1 classes fail l-diversity(l=2) for 'disease'" in str(caught.value)
    assert "100.0% of the records (limit 20.0%)" in str(caught.value)
    assert "flu" not in str(caught.value)


@settings(max_examples=60, deadline=None)
@given(table=random_tables(), groups=st.integers(1, 12), seed=st.integers(0, 99))
def test_classes_are_united_when_their_published_cells_are_equal(
    table: pa.Table, groups: int, seed: int
) -> None:
    policy = shoal.Policy(quasi={"age": "numeric", "job": "categorical", "town": shoal.Hierarchy.prefix()})
    policy = policy.resolved(table)
    encoded = shoal.encode(table, policy)
    labels = np.random.default_rng(seed).integers(0, groups, table.num_rows)
    united = unite_equal_cells(Partition.from_labels(labels), encoded)
    published = publish(table, encoded, united, policy).table.select(["age", "job", "town"])
    rows = [tuple(row.values()) for row in published.to_pylist()]
    by_class: dict[int, set[tuple[object, ...]]] = {}
    for label, row in zip(united.labels.tolist(), rows, strict=True):
        by_class.setdefault(label, set()).add(row)
    assert all(len(cells) == 1 for cells in by_class.values())
    assert len({next(iter(cells)) for cells in by_class.values()}) == united.classes
