"""anonymize on Spark: the same policy, the same algorithms, cell by cell; verified before anything exists.

dictionaries and ranges   one small aggregation a column          the driver holds values, not records
cuts                      one aggregation a level                 the driver holds counts per bin
cells                     one shuffle, then applyInArrow          tasks run the unchanged local algorithm
verification              a group-by over the published columns   on what was written, before it is renamed
"""

from __future__ import annotations

import json
import uuid
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
from pyspark.sql import functions as sf
from pyspark.sql.pandas.types import from_arrow_schema

from ... import registry
from ...errors import DataError, ParameterError, PolicyError, WriteError
from ...evidence import Evidence
from ...policy import Policy
from ...progress import Progress
from ...pseudonyms import check_key
from ...schema import Action
from .cells import CELL, ORDER, Task, published_schema
from .cutting import Bins, Cuts, bins_in, cut_table
from .measuring import measure_spark
from .session import explained
from .verifying import verify_spark
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
        Published; cached, so that what was verified is what is read.
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
        from ...manifest import describe_policy, plain

        evidence = self.evidence.to_dict()
        provenance = evidence.pop("provenance")
        found: dict[str, Any] = plain(
            {
                "versions": provenance["versions"],
                "policy": describe_policy(self.policy),
                "algorithm": {"name": self.algorithm.name, "parameters": self.algorithm.to_dict()},
                "engine": {"name": "spark", "cells": self.cells},
                "seed": self.seed,
                "evidence": evidence,
                "metrics": self.metrics,
            }
        )
        return found

    def write(self, path: str, *, replace: bool = False) -> Evidence:
        """Write the table as Parquet: to a staging path, read back, verified, and only then renamed.

        The manifest follows as ``<path>.manifest.json``.
        """
        files = _Files(self.table)
        if files.exists(path) and not replace:
            raise WriteError("the output exists", hint="Give another name, or replace=True.")
        staging = f"{path.rstrip('/')}.staging-{uuid.uuid4().hex}"
        try:
            evidence = explained(lambda: self._stage(staging))
            evidence.require()
            if evidence.records != self.evidence.records:
                raise WriteError("fewer records were read back than were written", hint="Try again.")
            files.rename(staging, path)
            files.write_text(
                f"{path.rstrip('/')}.manifest.json", json.dumps(self.manifest(), indent=2) + "\n"
            )
        finally:
            files.delete(staging)
        return evidence

    def _stage(self, path: str) -> Evidence:
        """Write the table where nobody looks for it, and return the evidence of what is read back."""
        self.table.write.parquet(path)
        return verify_spark(self.table.sparkSession.read.parquet(path), self.policy)


def anonymize(
    table: DataFrame,
    policy: Policy,
    *,
    algorithm: str = "mondrian",
    seed: int = 0,
    records: int = RECORDS,
    key: bytes | None = None,
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
    return explained(lambda: _release(table, policy, wanted))


@dataclass(frozen=True, slots=True)
class _Wanted:
    """How a table is to be anonymized."""

    algorithm: Algorithm
    seed: int
    records: int
    key: bytes | None
    progress: Progress


def _release(table: DataFrame, policy: Policy, wanted: _Wanted) -> SparkRelease:
    with wanted.progress.stage("looking at every column"):
        whole = look(table, policy)
    with wanted.progress.stage("cutting the table into cells"):
        cuts, binned = cut_table(table, whole, wanted.records)
    task = Task(whole, wanted.algorithm, wanted.seed, wanted.key)
    published = _published(table, task, cuts, binned).persist()
    try:
        with wanted.progress.stage("partitioning cells and verifying"):
            evidence = _with_provenance(verify_spark(published, whole.policy), whole, wanted.seed)
            evidence.require()
        with wanted.progress.stage("measuring"):
            metrics = measure_spark(published, whole, evidence)
    except BaseException:
        published.unpersist()
        raise
    return SparkRelease(published, evidence, metrics, whole.policy, wanted.algorithm, wanted.seed, cuts.cells)


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
    """Return the table with the cell of every record, and a hash of its content to order records by."""
    from pyspark.sql.types import IntegerType, StructField, StructType

    names = table.columns

    def place(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        for batch in batches:
            leaves = pa.array(cuts.leaves_of(bins_in(batch, whole, binned)))
            yield pa.RecordBatch.from_arrays([*batch.columns, leaves], [*names, CELL])

    schema = StructType([*table.schema.fields, StructField(CELL, IntegerType(), False)])
    placed = table.mapInArrow(place, schema)
    return placed.withColumn(ORDER, sf.xxhash64(*[sf.col(_quoted(name)) for name in names]))


def _published(table: DataFrame, task: Task, cuts: Cuts, binned: tuple[Bins, ...]) -> DataFrame:
    sample = table.limit(1).toArrow()
    schema = from_arrow_schema(published_schema(sample, task.whole.policy, task.key))
    placed = with_cells(table, task.whole, cuts, binned)

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
    return replace(evidence, suppressed=suppressed, problems=problems, provenance=provenance)


class _Files:
    """The file system of the cluster, through the driver's JVM."""

    def __init__(self, table: DataFrame) -> None:
        session: Any = table.sparkSession
        jvm = getattr(session, "_jvm", None)
        if jvm is None:
            raise ParameterError(
                "writing needs a session with a driver of its own, not Spark Connect",
                hint="Run it with spark-submit, or write release.table yourself and verify it.",
            )
        self._jvm, self._settings = jvm, session._jsc.hadoopConfiguration()

    def _at(self, path: str) -> tuple[Any, Any]:
        place = self._jvm.org.apache.hadoop.fs.Path(path)
        return place.getFileSystem(self._settings), place

    def exists(self, path: str) -> bool:
        """Return whether there is a file or folder."""
        system, place = self._at(path)
        return bool(system.exists(place))

    def rename(self, source: str, target: str) -> None:
        """Put a folder in another's place; the old one goes only when the new one stands."""
        system, new = self._at(source)
        _, old = self._at(target)
        kept = None
        if system.exists(old):
            kept = self._at(f"{target.rstrip('/')}.replaced-{uuid.uuid4().hex}")[1]
            if not system.rename(old, kept):
                raise WriteError("the old release cannot be moved away", hint="Nothing was changed.")
        if not system.rename(new, old):
            if kept is not None:
                system.rename(kept, old)
            raise WriteError("the release cannot be put in its place", hint="Nothing was changed.")
        if kept is not None:
            system.delete(kept, True)

    def delete(self, path: str) -> None:
        """Remove a folder if it is there."""
        system, place = self._at(path)
        if system.exists(place):
            system.delete(place, True)

    def write_text(self, path: str, text: str) -> None:
        """Write a small file."""
        system, place = self._at(path)
        stream = system.create(place, True)
        try:
            stream.write(bytearray(text.encode("utf-8")))
        finally:
            stream.close()
