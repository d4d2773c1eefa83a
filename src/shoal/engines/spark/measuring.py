"""The loss of a published Spark table, read from the cells of its groups: each is charged, in tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from pyspark.sql import functions as sf

from ...cell_texts import value_texts
from ...encoding import QuasiColumn
from ...verification.cells import read_cell
from .cells import TEXT_FORMS, settle_worker
from .verifying import SIZE
from .whole import Whole, _quoted

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

    from ...evidence import Evidence

Charge = Callable[[str | None], float]


def measure_spark(groups: DataFrame, whole: Whole, evidence: Evidence) -> dict[str, Any]:
    """Return the metrics that sums over groups give: loss where it can be read from cells, sizes always."""
    n = sf.col(SIZE).cast("double")
    row = groups.agg(sf.sum(n * n), sf.max(n), sf.min(n)).collect()[0]
    metrics: dict[str, Any] = {"dm": row[0], "largest-class": row[1], "smallest-class": row[2]}
    metrics["classes"] = evidence.classes
    metrics["average-class"] = evidence.records / max(evidence.classes, 1)
    metrics["suppressed"] = 1.0 - evidence.records / whole.records
    if all(column.spec.form in TEXT_FORMS for column in whole.skeleton.quasi):
        metrics["ncp"] = _losses(groups, whole, evidence.records)
        metrics["gcp"] = sum(metrics["ncp"].values()) / len(metrics["ncp"])
    return metrics


def _losses(groups: DataFrame, whole: Whole, records: int) -> dict[str, float]:
    """Return the mean loss of every column over all records; those that were suppressed count 1."""
    columns = whole.skeleton.quasi
    known = [column.name in whole.lookups for column in columns]

    def charge(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle_worker()
        of = [cache(charge_of(column, known=k)) for column, k in zip(columns, known, strict=True)]
        total = np.zeros(len(columns))
        for batch in batches:
            sizes = batch.column(SIZE).to_numpy()
            for j, charged in enumerate(of):
                cells = batch.column(j).dictionary_encode()
                at = cells.indices.fill_null(len(cells.dictionary)).to_numpy(zero_copy_only=False)
                losses = np.array([charged(text) for text in [*cells.dictionary.to_pylist(), None]])
                total[j] += float(losses[at] @ sizes)
        places = pa.array(np.arange(len(columns)))
        yield pa.RecordBatch.from_arrays([places, pa.array(total)], ["column", "loss"])

    shown = groups.select(*[sf.col(_quoted(column.name)) for column in columns], SIZE)
    summed = shown.mapInArrow(charge, "column long, loss double").groupBy("column").agg(sf.sum("loss"))
    lost = whole.records - records
    return {columns[j].name: float((total + lost) / whole.records) for j, total in sorted(summed.collect())}


def charge_of(column: QuasiColumn, *, known: bool = True) -> Charge:
    """Return what a published cell of a column loses, from 0 to 1, by its text; `known`: by its dictionary.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> from shoal.encoding import encode
    >>> policy = shoal.Policy(quasi={"age": "numeric", "job": "categorical"})
    >>> age, job = encode(pa.table({"age": [20, 30, 60], "job": ["a", "b", "c"]}), policy).quasi
    >>> [charge_of(age)(cell) for cell in ("[20, 30]", "30", "*")], charge_of(job)("{a, c}")
    ([0.25, 0.0, 1.0], 0.5)
    """
    if column.tree is not None:
        losses = dict(zip(column.tree.labels, column.tree.node_losses().tolist(), strict=True))
        return lambda text: 0.0 if text is None else _node(text, losses)
    if column.positions is None:
        others = max(column.size - 1, 1)
        return lambda text: 0.0 if text is None else _set(text, others)
    if known:
        places = dict(zip(value_texts(column.values).to_pylist(), column.positions.tolist(), strict=True))
        return lambda text: 0.0 if text is None else _interval(text, places.__getitem__)
    assert column.spec.domain is not None
    low, high = column.spec.domain
    return lambda text: (
        0.0 if text is None else _interval(text, lambda end: (float(end) - low) / (high - low))
    )


def _node(text: str, losses: dict[str, float]) -> float:
    cell = read_cell(text)
    return 1.0 if cell.anything else losses.get(text, losses.get(cell.texts[0], 0.0))


def _set(text: str, others: int) -> float:
    cell = read_cell(text)
    return 1.0 if cell.anything else (len(cell.texts) - 1) / others


def _interval(text: str, place: Callable[[str], float]) -> float:
    cell = read_cell(text)
    if cell.anything:
        return 1.0
    return place(cell.texts[1]) - place(cell.texts[0]) if cell.interval else 0.0
