"""The Spark session of the command line: the cluster's own where there is one, else this machine."""

from __future__ import annotations

import contextlib
import os
import sys
import warnings
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, TypeVar

from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from ...errors import DataError, ShoalError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame

T = TypeVar("T")

_NO_SHOAL = "No module named 'shoal'"


def open_session() -> SparkSession:
    """Return the session that spark-submit or the environment describes, or one on this machine's cores."""
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    builder = SparkSession.builder.appName("shoal").config("spark.ui.showConsoleProgress", "false")
    with _quiet():
        session = builder.getOrCreate()
    session.sparkContext.setLogLevel("OFF")
    return session


def read_parquet(path: str) -> DataFrame:
    """Return a Parquet table of any size."""
    session = open_session()
    return explained(lambda: session.read.parquet(path))


def parallelism(table: DataFrame) -> int:
    """Return how many tasks run at a time; as many as Spark makes of a shuffle where that is not known."""
    session = table.sparkSession
    context = getattr(session, "_sc", None)
    return int(context.defaultParallelism) if context is not None else usual_tasks(table)


def usual_tasks(table: DataFrame) -> int:
    """Return how many tasks Spark makes of a shuffle unless it is told otherwise."""
    return int(str(table.sparkSession.conf.get("spark.sql.shuffle.partitions")))


def explained(work: Callable[[], T]) -> T:
    """Return what `work` returns; what Spark says becomes one line without it: its messages quote cells.

    The line is raised when Spark's exception is gone, so that it does not travel along as its context.
    """
    try:
        with _quiet():
            return work()
    except ShoalError:
        raise
    except PySparkException as error:
        text = str(error)
        condition = error.getCondition() or type(error).__name__
        if _NO_SHOAL in text:
            reason = "the workers cannot import shoal"
            hint = "Install it on every node, or ship an environment with spark.archives."
        elif condition.startswith("PATH_NOT_FOUND"):
            reason, hint = "there is no such Parquet table", "Check the path."
        elif "changed while it was worked on" in text:
            reason, hint = "the table changed while it was worked on", "Run it again on a table that rests."
        else:
            reason, hint = (
                f"Spark could not do it ({condition})",
                "Its own log says more; it may quote cells.",
            )
    except Exception as error:
        if type(error).__module__.split(".")[0] != "py4j":
            raise
        reason, hint = "the Spark driver could not do it or is gone", "Its own log says more."
    raise DataError(reason, code="S501", hint=f"Nothing was written. {hint}")


@contextlib.contextmanager
def _quiet() -> Iterator[None]:
    """Leave out what pyspark says about the version of pandas, which is not used here."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="PySpark does not yet fully support pandas")
        yield
