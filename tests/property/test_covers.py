"""Covers against hulls: the different cells of a column, handed back to the classes, are what those hold."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.metrics.cells import class_values
from shoal.metrics.covers import Cover
from shoal.metrics.hulls import Hulls

COLUMNS = ("age", "town", "job", "fine")


def encoded_of(records: int, seed: int) -> shoal.encoding.Encoded:
    """Return numbers, leaves of a hierarchy, few texts and many texts, all with nulls."""
    rng = np.random.default_rng(seed)

    def some(values: list[str | int], share: float = 0.2) -> list[str | int | None]:
        return [None if rng.random() < share else values[i] for i in rng.integers(0, len(values), records)]

    table = {
        "age": some(list(range(7))),
        "town": some(["111", "112", "121", "211", "221"]),
        "job": some([f"j{i}" for i in range(int(rng.choice([3, 63])))]),
        "fine": [f"n{i}" for i in range(70)] + some([f"n{i}" for i in range(70)])[: records - 70],
    }
    kinds = {"age": "numeric", "town": shoal.Hierarchy.prefix(), "job": "categorical", "fine": "categorical"}
    return shoal.encode(table, shoal.Policy(quasi=kinds))


@settings(max_examples=60, deadline=None)
@given(records=st.integers(70, 120), classes=st.integers(0, 60), seed=st.integers(0, 999))
@pytest.mark.parametrize("level", [0, 1])
def test_cells_are_those_of_the_classes(level: int, records: int, classes: int, seed: int) -> None:
    encoded = encoded_of(records, seed)
    labels = (
        np.random.default_rng(seed).integers(-1, max(classes, 1), records) if classes else -np.ones(records)
    )
    partition = shoal.Partition.from_labels(labels.astype(np.int64)).with_levels((level,) * 4)
    hulls = Hulls.of(encoded, partition)
    for j in range(len(COLUMNS)):
        cover = Cover.of(encoded, partition, j)
        own = cover.hulls
        assert (own.low[cover.number, 0] == hulls.low[:, j]).all()
        assert (own.high[cover.number, 0] == hulls.high[:, j]).all()
        assert (cover.nothing_told()[cover.number] == hulls.nothing_told(j)).all()
        assert (cover.loss()[cover.number] == hulls.loss()[:, j]).all()
        assert (cover.loss(heights=True)[cover.number] == hulls.loss(heights=True)[:, j]).all()
        assert (own.climbed(0)[cover.number] == hulls.climbed(j)).all()
        assert own.sizes.tolist() == [partition.sizes[cover.number == c].sum() for c in range(len(own.sizes))]
        if cover.listed is not None:
            listed = class_values(encoded.column(j), encoded.quasi[j].size + 1, partition)
            for c in range(partition.classes):
                here = cover.listed.values[cover.listed.classes == cover.number[c]]
                assert here.tolist() == listed.values[listed.classes == c].tolist()
    assert cover.listed is not None
