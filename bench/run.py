"""Run benchmarks one after another and keep what they print: python bench/run.py [NAME ...]

Each script answers one question and prints its own tables. Here they are run in turn, each in a process of
its own, with the machine and all versions on top; everything, plots too, goes to ``bench/results/``. A script
that fails is said to have failed, and the others go on.
"""

from __future__ import annotations

import os
import platform
import subprocess
import sys
import time
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path

HERE = Path(__file__).parent
HELPERS = {"run", "svg", "tables"}  # not questions of their own
DRAWING = {"peers", "vantage"}  # these keep plots in the folder of --figures
LIBRARIES = ("shoal", "numpy", "numba", "pyarrow", "pandas", "polars", "scikit-learn", "duckdb", "pyspark")


def questions() -> list[str]:
    """Return the names of all scripts."""
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in HELPERS)


def machine() -> str:
    """Return what the figures were measured on."""
    lines = [
        f"Python {platform.python_version()}, {platform.system()}, {platform.machine()}, "
        f"{os.cpu_count()} cores"
    ]
    for name in LIBRARIES:
        try:
            lines.append(f"{name} {version(name)}")
        except PackageNotFoundError:
            lines.append(f"{name} not installed")
    return "\n".join(lines)


def run(name: str, folder: Path) -> tuple[bool, float]:
    """Run one script, show and keep its output, and return (whether it ended well, seconds)."""
    began = time.perf_counter()
    command = [sys.executable, str(HERE / f"{name}.py")]
    command += ["--figures", str(folder)] if name in DRAWING else []
    found = subprocess.run(command, capture_output=True, text=True, check=False)
    text = found.stdout + (found.stderr if found.returncode else "")
    (folder / f"{name}.txt").write_text(text, encoding="utf-8")
    print(text)
    return found.returncode == 0, time.perf_counter() - began


def main() -> int:
    """Run what was named, or everything, and print a summary."""
    names = sys.argv[1:] or questions()
    unknown = sorted(set(names) - set(questions()))
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}; there are {', '.join(questions())}")
        return 2
    folder = HERE / "results"
    folder.mkdir(exist_ok=True)
    (folder / "machine.txt").write_text(machine() + "\n", encoding="utf-8")
    print(machine())
    rows = []
    for name in names:
        print(f"\n===== {name} =====", flush=True)
        well, seconds = run(name, folder)
        rows.append(f"{name:20} {'done' if well else 'FAILED':8} {seconds:8.0f} s")
    summary = "\n".join(rows)
    (folder / "summary.txt").write_text(f"{machine()}\n\n{summary}\n", encoding="utf-8")
    print(f"\n{summary}")
    return int(any("FAILED" in row for row in rows))


if __name__ == "__main__":
    sys.exit(main())
