"""Run in an empty environment with nothing but the wheel (make package): what everyone does first."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import shoal
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


def missing_extras() -> None:
    """Expect what is not installed to say how to install it."""
    try:
        import shoal.spark  # noqa: F401
    except MissingExtra as error:
        assert "shoal[spark]" in str(error)
    else:
        raise AssertionError("Spark is here, or its absence is not said")


def main() -> None:
    """Run everything."""
    with tempfile.TemporaryDirectory() as folder:
        first_release(Path(folder))
        commands(Path(folder))
    missing_extras()
    print("smoke test passed:", shoal.__version__, "on Python", sys.version.split()[0])


if __name__ == "__main__":
    main()
