"""Run in an empty environment with nothing but the wheel (make package): what everyone does first."""

from __future__ import annotations

import importlib
import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

import shoal
from shoal import io
from shoal.errors import MissingExtra


def first_release(folder: Path) -> None:
    """Make a release and its report in Python."""
    table = {"age": [31, 34, 36, 52, 55, 58], "disease": ["flu", "cold", "flu", "cold", "flu", "cold"]}
    release = shoal.anonymize(table, quasi=["age"], sensitive=["disease"], k=3, l=2)
    assert release.evidence.holds
    release.report(queries=10).write_html(folder / "report.html")
    assert (folder / "report.html").stat().st_size > 10_000  # templates and scripts are in the wheel


def commands(folder: Path) -> None:
    """Run the demonstration and verify what it wrote."""
    program = str(Path(sys.executable).parent / "shoal")
    for arguments in (
        ["demo", "--quiet"],
        ["verify", "shoal-demo/published.csv", "--policy", "shoal-demo/policy.toml"],
    ):
        subprocess.run([program, *arguments], cwd=folder, check=True, stdout=subprocess.DEVNULL)


def missing_extras(folder: Path) -> None:
    """Expect everything that is not installed to say how to install it."""
    table = {"age": [31, 34, 36, 52, 55, 58], "disease": ["flu", "cold", "flu", "cold", "flu", "cold"]}
    release = shoal.anonymize(table, quasi=["age"], sensitive=["disease"], k=3, algorithm="mondrian")
    bounded = shoal.Policy(quasi={"age": shoal.Column("age", domain=(0, 120))}, models=[shoal.KAnonymity(2)])
    os.environ["SHOAL_DATA"] = str(folder)  # no data set is here
    uses: dict[str, Callable[[], object]] = {
        "spark": lambda: importlib.import_module("shoal.spark"),
        "ml": lambda: release.utility(target="disease"),
        "dp": lambda: shoal.dp_centroid({"age": table["age"]}, bounded, epsilon=1.0),
        "db": lambda: io.read("duckdb:///clinic.duckdb", table="visits"),
        "data": lambda: shoal.datasets.load("adult"),
    }
    for extra, use in uses.items():
        try:
            use()
        except MissingExtra as error:
            assert f"pip install 'shoal[{extra}]'" in str(error), error
        else:
            raise AssertionError(f"the extra {extra} is here, or its absence is not said")
    program = str(Path(sys.executable).parent / "shoal")
    page = subprocess.run([program, "ui", "--no-open"], capture_output=True, text=True, check=False)
    assert page.returncode == 2
    assert "pip install 'shoal[ui]'" in page.stderr


def main() -> None:
    """Run everything."""
    with tempfile.TemporaryDirectory() as folder:
        first_release(Path(folder))
        commands(Path(folder))
        missing_extras(Path(folder))
    print("smoke test passed:", shoal.__version__, "on Python", sys.version.split()[0])


if __name__ == "__main__":
    main()
