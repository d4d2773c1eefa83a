"""Partitions: dense labels in order of first records, and an order that groups records by class."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from shoal.partitions import Partition


@settings(deadline=None)  # the first call compiles
@given(st.lists(st.one_of(st.integers(-2, 9), st.integers(10**6, 10**6 + 3)), max_size=40))
def test_from_labels_renumbers_densely_and_groups(labels: list[int]) -> None:
    made = Partition.from_labels(np.array(labels, dtype=np.int64))
    seen: list[int] = []
    for label in labels:
        if label >= 0 and label not in seen:
            seen.append(label)
    expected = [seen.index(label) if label >= 0 else -1 for label in labels]
    assert made.labels.tolist() == expected
    assert made.classes == len(seen)
    assert made.suppressed == sum(label < 0 for label in labels)
    for c in range(made.classes):
        assert made.members(c).tolist() == [i for i, label in enumerate(expected) if label == c]
    assert made.sizes.sum() + made.suppressed == made.records == len(labels)


def test_a_partition_cannot_be_changed() -> None:
    made = Partition.single(3)
    assert made.labels.tolist() == [0, 0, 0]
    assert not made.labels.flags.writeable
    assert Partition.single(0).classes == 0
