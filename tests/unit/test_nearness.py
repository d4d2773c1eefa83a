"""The nearest rows against a search of all of them."""

from __future__ import annotations

import numpy as np
import pyarrow as pa
from hypothesis import given, settings

from clustering_tables import encoded_of, mixed_tables
from oracle.costs import oracle_table
from shoal.partitions import Partition
from shoal.refine import Refine
from shoal.refine.losses import Losses


@settings(max_examples=60, deadline=None)
@given(table=mixed_tables())
def test_near_rows_are_the_nearest(table: pa.Table) -> None:
    encoded = encoded_of(table, 1.0)
    graph = Losses(encoded, Partition.single(encoded.records), Refine()).graph(4, threads=False)
    costs = oracle_table(encoded.codes, encoded.space())
    record_of = graph.records[graph.offsets[:-1]]
    for row, near in enumerate(graph.near):
        own = int(record_of[row])
        others = [int(r) for r in record_of if r != own]
        expected = sorted(costs.cost([own, other]) for other in others)[: len(near) - 1]
        assert near[0] == row
        assert [costs.cost([own, int(record_of[other])]) for other in near[1:]] == expected
        assert len(set(near.tolist())) == len(near)
    assert np.array_equal(np.sort(graph.records), np.arange(encoded.records))
