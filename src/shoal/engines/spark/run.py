"""anonymize on Spark: the same policy, the same algorithms, cell by cell; verified before anything exists.

dictionaries and ranges   one small aggregation a column          the driver holds values, not records
cuts                      one aggregation a level                 the driver holds counts per bin
cells                     one shuffle, then applyInArrow          tasks run the unchanged local algorithm
verification              one group-by over what is published     on what was written, before it is renamed
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from ... import registry
from ...errors import DataError, PolicyError, WriteError
from ...evidence import Evidence
from ...policy import Policy
from ...progress import Progress
from ...pseudonyms import check_key
from ...schema import Action
from .cells import CELL, ORDER, Task, published_schema, settle_worker
from .cutting import Bins, Cuts, bins_in, cut_table
from .files import Files
from .measuring import measure_spark
from .session import explained, usual_tasks
from .verifying import grouped, verify_groups, verify_spark
from .whole import Whole, _quoted, look

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pyspark.sql import DataFrame

    from ...algorithms.base import Algorithm

RECORDS = 200_000  # of a cell: what one task holds in memory


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class SparkRelease:
    """A published Spark table whose every promise was recomputed by a group-by over its own columns.

    Attributes
    ----------
    table : pyspark.sql.DataFrame
        Published: cached, or where it was written, so that what was verified is what is read.
    evidence : Evidence
    metrics : dict
    policy : Policy
        With all kinds filled in.
    algorithm : Algorithm
    seed : int
    cells : int
        Number of cells that the table was cut into.
    """

    table: DataFrame
    evidence: Evidence
    metrics: dict[str, Any]
    policy: Policy
    algorithm: Algorithm
    seed: int
    cells: int

    def __repr__(self) -> str:
        verdict = "holds" if self.evidence.holds else "does not hold"
        return f"SparkRelease({verdict}, records={self.evidence.records}, classes={self.evidence.classes})"

    def manifest(self) -> dict[str, Any]:
        """Return what is written beside the files: how it was made and what it keeps; no cell values."""
        from ...manifest import made_and_kept

        return made_and_kept(self, {"engine": {"name": "spark", "cells": self.cells}})

    def write(self, path: str, *, replace: bool = False) -> Evidence:
        """Write the table as Parquet: to a staging path, read back, verified, and only then renamed.

        The manifest follows as ``<path>.manifest.json``. A table that is only to be written is better made by
        ``anonymize(..., out=path)``, which neither caches nor verifies it twice.
        """

        def work() -> Evidence:
            files = Files(self.table)
            files.check_free(path, replace=replace)
            with files.staging(path) as staging:
                self.table.write.parquet(staging)
                evidence = verify_spark(self.table.sparkSession.read.parquet(staging), self.policy)
                evidence.require()
                if evidence.records != self.evidence.records:
                    raise WriteError("fewer records were read back than were written", hint="Try again.")
                files.install(staging, path, self.manifest())
            return evidence

        return explained(work)


def anonymize(
    table: DataFrame,
    policy: Policy,
    *,
    algorithm: str = "mondrian",
    seed: int = 0,
    records: int = RECORDS,
    key: bytes | None = None,
    out: str | None = None,
    replace: bool = False,
    progress: Progress | None = None,
    **parameters: Any,
) -> SparkRelease:
    """Return a verified release of a Spark table.

    The table is cut into cells of at most `records` records, each of which keeps the policy as a whole; the
    algorithm runs inside every cell, in one task, with the dictionaries, ranges and distributions of the
    whole table. Nothing is suppressed.

    Parameters
    ----------
    table : pyspark.sql.DataFrame
    policy : Policy
        The same as for `shoal.anonymize`. Models that need a population table, levels of hierarchies and
        noise are refused here.
    algorithm : str
        A name out of ``shoal.algorithms()``; `parameters` are its own.
    seed : int
        Each cell has a seed of its own made from it, so that a task that is run again makes the same classes.
    records : int
        Of a cell. More lose less and need more memory in a task.
    key : bytes, optional
        Secret for pseudonyms; never stored, but sent to the tasks.
    out : str, optional
        Where the release goes, as Parquet: written beside this path as it is made, read back and verified
        there, and renamed. Nothing is cached then, and the release's table is the one at this path.
    replace : bool
        Whether what stands at `out` may be replaced.
    progress : Progress, optional

    Raises
    ------
    PolicyUnsatisfiable
        When even the whole table as one class breaks a promise.
    VerificationFailed
        When the published table does not keep the policy; nothing is returned.
    """
    _check(table, policy, key)
    chosen: Algorithm = registry.get("algorithms", algorithm).create(parameters)
    wanted = _Wanted(chosen, seed, records, key, progress or Progress())
    if out is None:
        return explained(lambda: _cached(table, policy, wanted))
    return explained(lambda: _written(table, policy, wanted, out, replace=replace))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """How a table is to be anonymized."""

    algorithm: Algorithm
    seed: int
    records: int
    key: bytes | None
    progress: Progress


@dataclass(frozen=True, slots=True, eq=False)
class _Made:
    """A table that will be published once a job asks for its records."""

    table: DataFrame
    whole: Whole
    cells: int

    @classmethod
    def of(cls, table: DataFrame, policy: Policy, wanted: _Wanted) -> _Made:
        """Return the published table, planned."""
        with wanted.progress.stage("looking at every column"):
            whole = look(table, policy)
        with wanted.progress.stage("cutting the table into cells"):
            cuts, binned = cut_table(table, whole, wanted.records)
        task = Task(whole, wanted.algorithm, wanted.seed, wanted.key)
        return cls(_published(table, task, cuts, binned), whole, cuts.cells)

    def judged(self, published: DataFrame, wanted: _Wanted, stage: str) -> SparkRelease:
        """Return the release of a table that was made, or raise because it does not keep the policy."""
        policy = self.whole.policy
        with grouped(published, policy) as groups:
            with wanted.progress.stage(stage):
                evidence = verify_groups(published, groups, policy)
                evidence = _with_provenance(evidence, self.whole, wanted.seed)
                evidence.require()
            assert groups is not None  # the evidence would not have held
            with wanted.progress.stage("measuring"):
                metrics = measure_spark(groups, self.whole, evidence)
        return SparkRelease(published, evidence, metrics, policy, wanted.algorithm, wanted.seed, self.cells)


def _cached(table: DataFrame, policy: Policy, wanted: _Wanted) -> SparkRelease:
    made = _Made.of(table, policy, wanted)
    published = made.table.persist()
    try:
        return made.judged(published, wanted, "partitioning cells and verifying")
    except BaseException:
        published.unpersist()
        raise


def _written(table: DataFrame, policy: Policy, wanted: _Wanted, out: str, *, replace: bool) -> SparkRelease:
    files, session = Files(table), table.sparkSession
    files.check_free(out, replace=replace)
    made = _Made.of(table, policy, wanted)
    with files.staging(out) as staging:
        with wanted.progress.stage("partitioning and writing cells"):
            made.table.write.parquet(staging)
        release = made.judged(session.read.parquet(staging), wanted, "verifying what was written")
        files.install(staging, out, release.manifest())
    return dataclasses.replace(release, table=session.read.parquet(out))


def _check(table: DataFrame, policy: Policy, key: bytes | None) -> None:
    """Refuse what the tasks could not keep."""
    if not policy.models:
        raise PolicyError(
            "the policy promises nothing", hint="Add a privacy model, such as shoal.KAnonymity(5)."
        )
    for name in (CELL, ORDER):
        if name in table.columns:
            raise DataError(f"the column {name!r} has a name that shoal needs", hint="Rename it.")
    policy.schema.check_present(list(table.columns))
    for model in policy.models:
        if hasattr(model, "population"):
            raise PolicyError(
                f"{model.name} needs a population table, which tasks do not have",
                hint="Use the local engine, or another model.",
            )
    for column in policy.schema.quasi:
        if column.least_level or column.most_level is not None:
            raise PolicyError(
                f"levels of {column.name!r} cannot be asked for on Spark", hint="Use the local engine."
            )
        if column.form.noisy:
            raise PolicyError(
                f"{column.name!r} cannot be published with noise on Spark", hint="Use the local engine."
            )
    for column in policy.schema.identifiers:
        if column.action is Action.PSEUDONYM:
            check_key(column, key)


def with_cells(table: DataFrame, whole: Whole, cuts: Cuts, binned: tuple[Bins, ...]) -> DataFrame:
    """Return what will be published of every record, with its cell, and a hash of its content to order by.

    Identifiers that are dropped stay where they are: they are not shuffled.
    """
    from pyspark.sql.types import IntegerType, StructField, StructType

    dropped = {c.name for c in whole.policy.schema.identifiers if c.action is Action.DROP}
    names = [name for name in table.columns if name not in dropped]

    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        settle_worker()
        for batch in batches:
            leaves = pa.array(cuts.leaves_of(bins_in(batch, whole, binned)))
            yield pa.RecordBatch.from_arrays([*batch.columns, leaves], [*names, CELL])

    kept = table.select(*[sf.col(_quoted(name)) for name in names])
    schema = StructType([*kept.schema.fields, StructField(CELL, IntegerType(), False)])
    placed = kept.mapInArrow(place, schema)
    return placed.withColumn(ORDER, sf.xxhash64(*[sf.col(_quoted(name)) for name in names]))


def _published(table: DataFrame, task: Task, cuts: Cuts, binned: tuple[Bins, ...]) -> DataFrame:
    sample = table.limit(1).toArrow()
    schema = from_arrow_schema(published_schema(sample, task.whole.policy, task.key))
    placed = with_cells(table, task.whole, cuts, binned)
    if cuts.cells > usual_tasks(table):
        placed = placed.repartition(cuts.cells, CELL)

    def work(rows: pa.Table) -> pa.Table:
        return task(rows)

    return placed.groupBy(CELL).applyInArrow(work, schema)


def _with_provenance(evidence: Evidence, whole: Whole, seed: int) -> Evidence:
    from importlib.metadata import version

    from ...manifest import versions

    provenance = {"seed": seed, "versions": {**versions(), "pyspark": version("pyspark")}}
    problems = evidence.problems
    if evidence.records != whole.records:
        problems += (f"{evidence.records} of {whole.records} records were published: the input changed",)
    suppressed = max(whole.records - evidence.records, 0)
    return dataclasses.replace(evidence, suppressed=suppressed, problems=problems, provenance=provenance)
