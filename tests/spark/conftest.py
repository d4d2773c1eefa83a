"""One local Spark session for all tests here."""

from __future__ import annotations

import os
import sys
import warnings
from collections.abc import Iterator

import pytest
from pyspark.sql import SparkSession


@pytest.fixture(scope="session")
def session() -> Iterator[SparkSession]:
    """Return a session with two tasks at a time, small enough for tests."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.sql.shuffle.partitions": "2",
        "spark.driver.memory": "1g",
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
    }
    # Two tasks at a time, each of which may be tried three times.
    builder = SparkSession.builder.master("local[2,3]").appName("shoal tests")
    for name, value in settings.items():
        builder = builder.config(name, value)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # pyspark on pandas, which is not used
        opened = builder.getOrCreate()
    opened.sparkContext.setLogLevel("OFF")
    yield opened
    opened.stop()
