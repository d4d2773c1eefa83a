"""Spark: the same classes as here where cells are the same, verified by a group-by, all or nothing."""

from __future__ import annotations

import datetime as dt
import json
import os
import sys
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from click.testing import CliRunner
from pyspark import cloudpickle
from pyspark.sql import DataFrame, SparkSession

import shoal
import shoal.spark
from shoal import registry
from shoal.algorithms.mondrian import Mondrian
from shoal.cli import main
from shoal.encoding import encode
from shoal.enforce import merge_until_kept
from shoal.engines.spark import whole as whole_module
from shoal.engines.spark.cells import CELL, Task
from shoal.engines.spark.cutting import cut_table
from shoal.engines.spark.measuring import charge_of
from shoal.engines.spark.run import with_cells
from shoal.engines.spark.whole import look
from shoal.errors import DataError, PolicyError, PolicyUnsatisfiable, ShoalError, WriteError
from shoal.metrics.measure import measure
from shoal.partitions import Partition
from shoal.progress import Run
from shoal.recode import publish

pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:PySpark does not yet fully support pandas"),
]

SECRET = "Xyzzy77"
ZIPS = shoal.Hierarchy.prefix()
POLICY = shoal.Policy(
    identifiers=["name"],
    quasi={"age": "numeric", "born": "date", "job": "categorical", "zip": ZIPS},
    sensitive=["disease"],
    models=[shoal.KAnonymity(4), shoal.LDiversity(2), shoal.TCloseness(0.6)],
)


def people(n: int = 900, seed: int = 5) -> pa.Table:
    rng = np.random.default_rng(seed)
    days = rng.integers(0, 9000, n)
    return pa.table(
        {
            "name": [f"{SECRET} {i}" for i in range(n)],
            "age": pa.array([None if i % 41 == 0 else int(v) for i, v in enumerate(rng.integers(18, 90, n))]),
            "born": pa.array([dt.date(1950, 1, 1) + dt.timedelta(int(day)) for day in days]),
            "job": pa.array(
                [None if i % 37 == 0 else str(v) for i, v in enumerate(rng.choice(list("abcdefg"), n))]
            ),
            "zip": rng.choice([f"{p}{q}{r}" for p in "14" for q in "0579" for r in "123"], n).tolist(),
            "disease": rng.choice(["flu", "cold", "gout", "asthma"], n, p=[0.4, 0.3, 0.2, 0.1]).tolist(),
            "note": rng.normal(0, 1, n).round(3),
            "visit": np.arange(n),
        }
    )


@pytest.fixture(scope="module")
def table(session: SparkSession) -> DataFrame:
    made = session.createDataFrame(people()).repartition(3)
    return made.persist()


@pytest.fixture(scope="module")
def release(table: DataFrame) -> shoal.spark.SparkRelease:
    return shoal.spark.anonymize(table, POLICY, records=200)


def rows_of(published: pa.Table) -> Counter[tuple[Any, ...]]:
    columns = [published.column(name).cast(pa.string()) for name in sorted(published.column_names)]
    return Counter(zip(*(column.to_pylist() for column in columns), strict=True))


def test_the_release_keeps_its_promises(release: shoal.spark.SparkRelease) -> None:
    found = release.table.toArrow()
    assert release.evidence.holds
    assert release.cells >= 4
    assert "name" not in found.column_names
    local = shoal.verify(found, POLICY)
    assert local.holds
    assert local.classes == release.evidence.classes
    for here, there in zip(local.promises, release.evidence.promises, strict=True):
        assert there.achieved == pytest.approx(here.achieved, abs=1e-12)
        assert (there.model, there.column, there.required) == (here.model, here.column, here.required)
    assert sorted(found.column("note").to_pylist()) == sorted(people().column("note").to_pylist())


def test_the_same_cells_give_the_same_classes_here(
    table: DataFrame, release: shoal.spark.SparkRelease
) -> None:
    """What tasks did is what the local engine does with the same blocks and the rules of the whole table."""
    whole = look(table, POLICY)
    cuts, binned = cut_table(table, whole, 200)
    placed = with_cells(table, whole, cuts, binned).toArrow()
    cells = placed.column(CELL).to_numpy()
    data = people()
    cell_of = cells[np.argsort(placed.column("visit").to_numpy())]
    policy = POLICY.resolved(data)
    encoded = encode(data, policy)
    rules = policy.compile(encoded)
    labels = np.zeros(data.num_rows, dtype=np.int64)
    for cell in np.unique(cell_of):
        records = np.flatnonzero(cell_of == cell)
        part = replace(
            encoded,
            codes=np.asfortranarray(encoded.codes[records]),
            sensitive_codes=np.asfortranarray(encoded.sensitive_codes[records]),
        )
        made = merge_until_kept(Mondrian().partition(part, rules, Run(0)), part, rules)
        labels[records] = made.labels + (labels.max() + 1)
    here = publish(data, encoded, Partition.from_labels(labels), policy).table
    assert rows_of(here) == rows_of(release.table.toArrow())
    # Measured from the cells there, from the classes here.
    expected = measure(encoded, Partition.from_labels(labels), policy, ["gcp", "ncp", "dm"])
    assert release.metrics["gcp"] == pytest.approx(expected["gcp"], abs=1e-12)
    assert release.metrics["ncp"] == pytest.approx(expected["ncp"], abs=1e-12)


def test_cells_are_at_most_so_large_and_keep_the_policy(table: DataFrame) -> None:
    whole = look(table, POLICY)
    cuts, binned = cut_table(table, whole, 200)
    cells = with_cells(table, whole, cuts, binned).toArrow().column(CELL).to_numpy()
    sizes = np.bincount(cells)
    assert sizes.max() <= 200
    assert len(np.flatnonzero(sizes)) == cuts.cells
    assert "name" not in with_cells(table, whole, cuts, binned).columns  # dropped before it is shuffled
    assert sizes[sizes > 0].min() >= 4


def test_a_cut_whose_side_breaks_the_policy_is_undone(session: SparkSession) -> None:
    """All young people have one disease: a cut between young and old would leave a side without diversity."""
    n = 400
    data = pa.table({"age": [20 + 50 * (i % 2) for i in range(n)], "ill": ["flu"] * n})
    data = data.set_column(1, "ill", pa.array(["flu" if i % 2 else ["a", "b"][i % 4 // 2] for i in range(n)]))
    policy = shoal.Policy(quasi=["age"], sensitive=["ill"], models=[shoal.KAnonymity(2), shoal.LDiversity(2)])
    sdf = session.createDataFrame(data)
    cuts, _ = cut_table(sdf, look(sdf, policy), 100)
    assert cuts.cells == 1
    assert shoal.spark.anonymize(sdf, policy, records=100).evidence.holds


def test_a_task_that_runs_again_makes_the_same_classes(table: DataFrame) -> None:
    whole = look(table, POLICY)
    cuts, binned = cut_table(table, whole, 400)
    placed = with_cells(table, whole, cuts, binned).toArrow()
    one = placed.filter(pa.compute.equal(placed.column(CELL), placed.column(CELL)[0]))
    task = Task(whole, Mondrian(), 3)
    labels, rows = task.classes(one)
    shuffled = one.take(pa.array(np.random.default_rng(1).permutation(one.num_rows)))
    again, rows_again = task.classes(shuffled)
    assert rows.equals(rows_again)
    assert labels.tolist() == again.tolist()


@pytest.mark.parametrize("tampered", ["a class of one", "one sensitive value", "null instead of a value"])
def test_verification_sees_what_was_tampered_with(release: shoal.spark.SparkRelease, tampered: str) -> None:
    session = release.table.sparkSession
    found = release.table.toArrow()
    ages = found.column("age").to_pylist()
    if tampered == "a class of one":
        ages[0] = "[1, 2]"
    elif tampered == "null instead of a value":
        ages[0] = None
    else:
        place = [i for i, row in enumerate(rows_keys(found)) if row == rows_keys(found)[0]]
        ill = found.column("disease").to_pylist()
        for i in place:
            ill[i] = "flu"
        found = found.set_column(found.column_names.index("disease"), "disease", pa.array(ill))
    found = found.set_column(found.column_names.index("age"), "age", pa.array(ages, pa.string()))
    evidence = shoal.spark.verify(session.createDataFrame(found), POLICY)
    assert not evidence.holds
    assert evidence.holds == shoal.verify(found, POLICY).holds


def rows_keys(found: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(found.column(n).to_pylist() for n in ("age", "born", "job", "zip")), strict=True))


def test_an_identifier_that_is_published_is_seen(release: shoal.spark.SparkRelease) -> None:
    found = release.table.toArrow()
    session = release.table.sparkSession
    named = session.createDataFrame(found.append_column("name", pa.array(["x"] * found.num_rows)))
    assert "the identifier 'name' is published" in shoal.spark.verify(named, POLICY).problems
    masked = POLICY.with_columns(
        replace(c, action=shoal.Action.MASK) if c.name == "name" else c for c in POLICY.schema.columns
    )
    assert not shoal.spark.verify(named, masked).holds


def test_a_column_of_very_many_numbers_is_known_by_its_range(
    session: SparkSession, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(whole_module, "MOST_VALUES", 300)
    rng = np.random.default_rng(2)
    n = 700
    income = pa.array([None if i % 50 == 0 else float(v) for i, v in enumerate(rng.lognormal(10, 1, n))])
    data = pa.table(
        {"income": income, "sex": rng.choice(["f", "m"], n).tolist(), "zip": [f"{i}" for i in range(n)]}
    )
    policy = shoal.Policy(quasi=["income", "sex"], models=[shoal.KAnonymity(5)])
    sdf = session.createDataFrame(data.select(["income", "sex"]))
    release = shoal.spark.anonymize(sdf, policy, records=150)
    assert release.evidence.holds
    assert release.cells > 2
    local = shoal.anonymize(data.select(["income", "sex"]), policy, algorithm="mondrian")
    assert release.metrics["gcp"] == pytest.approx(local.metrics["gcp"], rel=0.5)
    with pytest.raises(DataError, match="more than 300 distinct values"):
        shoal.spark.anonymize(
            session.createDataFrame(data), shoal.Policy(quasi=["zip"], models=policy.models)
        )


@pytest.mark.parametrize(
    ("policy", "error", "message"),
    [
        (shoal.Policy(quasi=["age"]), PolicyError, "promises nothing"),
        (shoal.Policy(quasi=["agee"], models=[shoal.KAnonymity(2)]), ShoalError, "Did you mean 'age'"),
        (
            shoal.Policy(quasi=["age"], models=[shoal.KMap(2, population=people(50))]),
            PolicyError,
            "needs a population table",
        ),
        (
            shoal.Policy(quasi={"age": shoal.Column("age", form="rho-noise")}, models=[shoal.KAnonymity(2)]),
            PolicyError,
            "with noise",
        ),
        (shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(5000)]), PolicyUnsatisfiable, "whole table"),
    ],
)
def test_refusals(table: DataFrame, policy: shoal.Policy, error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=message):
        shoal.spark.anonymize(table, policy)


def test_writing_is_all_or_nothing(
    release: shoal.spark.SparkRelease, tmp_path: Path, monkeypatch: Any
) -> None:
    target = tmp_path / "out.parquet"
    evidence = release.write(str(target))
    assert evidence.holds
    found = pq.read_table(target)
    assert shoal.verify(found, POLICY).holds
    manifest = json.loads((tmp_path / "out.parquet.manifest.json").read_text())
    assert manifest["engine"] == {"name": "spark", "cells": release.cells}
    assert SECRET not in json.dumps(manifest)
    with pytest.raises(WriteError, match="exists"):
        release.write(str(target))
    release.write(str(target), replace=True)
    from shoal.engines.spark import run as module

    def broken(*_: object) -> Any:
        return replace(evidence, problems=("a task wrote something else",))

    monkeypatch.setattr(module, "verify_spark", broken)
    with pytest.raises(ShoalError, match="a task wrote something else"):
        release.write(str(target), replace=True)
    assert shoal.verify(pq.read_table(target), POLICY).holds
    assert sorted(path.name for path in tmp_path.iterdir() if not path.name.startswith(".")) == [
        "out.parquet",
        "out.parquet.manifest.json",
    ]


@dataclass(frozen=True)
class Dying(Mondrian):
    """A Mondrian whose process is killed, once."""

    name = "dying"
    mark: ClassVar[str] = ""

    def partition(self, encoded: Any, rules: Any, run: Run) -> Partition:
        try:
            os.close(os.open(self.mark, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return Mondrian().partition(encoded, rules, run)
        os._exit(1)


@dataclass(frozen=True)
class Failing(Mondrian):
    """A Mondrian that quotes a cell and gives up."""

    name = "failing"

    def partition(self, encoded: Any, rules: Any, run: Run) -> Partition:
        raise RuntimeError(f"cell {SECRET} 7")


@pytest.fixture
def registered(monkeypatch: pytest.MonkeyPatch) -> None:
    """Make the two above known by name, here, and sent to tasks by value."""
    cloudpickle.register_pickle_by_value(sys.modules[__name__])
    known = registry.get
    own = {"dying": Dying, "failing": Failing}
    monkeypatch.setattr(registry, "get", lambda group, name: own.get(name) or known(group, name))


@pytest.mark.usefixtures("registered")
def test_a_task_that_is_killed_is_run_again_to_the_same_end(
    table: DataFrame, release: shoal.spark.SparkRelease, tmp_path: Path
) -> None:
    mark = tmp_path / "died"
    Dying.mark = str(mark)
    again = shoal.spark.anonymize(table, POLICY, algorithm="dying", records=200)
    assert mark.exists()
    assert again.evidence.promises == release.evidence.promises
    assert rows_of(again.table.toArrow()) == rows_of(release.table.toArrow())


@pytest.mark.usefixtures("registered")
def test_a_task_that_fails_for_good_is_one_line_without_cells(table: DataFrame) -> None:
    with pytest.raises(DataError, match=r"Spark could not do it.*Nothing was written") as caught:
        shoal.spark.anonymize(table, POLICY, algorithm="failing", records=200)
    error: BaseException | None = caught.value
    while error is not None:
        assert SECRET not in str(error)
        assert "\n" not in str(error)
        error = error.__cause__ or error.__context__


def test_the_command_line(tmp_path: Path, session: SparkSession) -> None:
    source, target = tmp_path / "in.parquet", tmp_path / "out.parquet"
    pq.write_table(people(), source)
    POLICY.write(str(tmp_path / "policy.toml"))
    common = ["anonymize", str(source), "-p", str(tmp_path / "policy.toml"), "--engine", "spark", "-q"]
    result = CliRunner().invoke(main, [*common, "--out", str(target)])
    assert result.exit_code == 0, result.output
    assert "the policy holds" in result.output
    assert shoal.verify(pq.read_table(target), POLICY).holds
    result = CliRunner().invoke(main, [*common, "--out", str(target)])
    assert (result.exit_code, "exists" in result.output) == (2, True)
    result = CliRunner().invoke(main, [*common, "--refine", "1s"])
    assert (result.exit_code, "--refine does not go with --engine spark" in result.output) == (2, True)
    result = CliRunner().invoke(main, ["anonymize", str(tmp_path / "no.parquet"), *common[2:]])
    assert (result.exit_code, "there is no such Parquet table" in result.output) == (2, True)


def test_cells_are_charged_as_classes_are() -> None:
    data = pa.table({"age": [20, 30, 60], "job": ["a", "b", "c"], "zip": ["111", "112", "200"]})
    quasi = encode(data, shoal.Policy(quasi={"age": "numeric", "job": "categorical", "zip": ZIPS})).quasi
    charges = [charge_of(column) for column in quasi]
    assert [charges[0](cell) for cell in ("20", "[20, 30]", "[20, 60]", "*", None)] == [0, 0.25, 1, 1, 0]
    assert [charges[1](cell) for cell in ("a", "{a, b}", "{a, b, c}", "*", None)] == [0, 0.5, 1, 1, 0]
    assert [charges[2](cell) for cell in ("111", "11*", "*", None)] == [0, 0.5, 1, 0]
