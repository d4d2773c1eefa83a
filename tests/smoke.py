"""Run in an empty environment with nothing but the wheel: what everyone does first, and what extras say."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import shoal
from shoal.errors import MissingExtra

table = {"age": [31, 34, 36, 52, 55, 58], "disease": ["flu", "cold", "flu", "cold", "flu", "cold"]}
release = shoal.anonymize(table, quasi=["age"], sensitive=["disease"], k=3, l=2)
assert release.evidence.holds

with tempfile.TemporaryDirectory() as folder:
    command = [str(Path(sys.executable).parent / "shoal"), "demo", "--quiet"]
    subprocess.run(command, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    verdict = [command[0], "verify", "shoal-demo/published.csv", "--policy", "shoal-demo/policy.toml"]
    subprocess.run(verdict, cwd=folder, check=True, stdout=subprocess.DEVNULL)
    release.report(queries=10).write_html(Path(folder) / "report.html")

try:
    shoal.io.read("clinic.duckdb/visits")
except (MissingExtra, shoal.ShoalError) as error:
    assert "Traceback" not in str(error)
try:
    import shoal.spark
except MissingExtra as error:
    assert "shoal[spark]" in str(error)
else:
    raise AssertionError("Spark is here, or its absence is not said")
print("smoke test passed:", shoal.__version__, "on Python", sys.version.split()[0])
