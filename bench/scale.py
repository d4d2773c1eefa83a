"""How do time and memory grow with the records? python bench/scale.py --rows 1000000 10000000 --svg f.svg

Every size runs in a process of its own, after a small table has compiled everything: mondrian, k = 5, nine
quasi-identifiers of twenty columns, Parquet to Parquet, verified. Seconds are those of the processor, which
a busy machine distorts less than the clock, and of the clock. Memory is the greatest the process held, less
what it held before, as a multiple of the encoded columns: 2 bytes for every cell of a quasi-identifier or
sensitive column, 4 where the column has more than 65,536 values. (They are held in 1, 2 or 4 bytes; that is
not what is counted.) `--json` keeps what was measured, for `--draw` to print and draw later.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

import shoal
from shoal.progress import Progress, Stage
from svg import line_chart
from tables import ADULT_COLUMNS, CATEGORIES, big_file

QUASI = (*ADULT_COLUMNS, "zip")
SENSITIVE = "salary-class"
_TWO_BYTES = 1 << 16


class Clock(Progress):
    """Keeps how long every stage took, in seconds of the clock."""

    def __init__(self) -> None:
        self.seconds: dict[str, float] = {}

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Stage]:
        begin = time.perf_counter()
        with super().stage(name, total) as stage:
            yield stage
        self.seconds[name] = time.perf_counter() - begin


def held(what: str) -> float:
    """Return the memory this process holds ("VmRSS"), or the most it has held ("VmHWM"), in bytes; on Linux.

    Not `resource`: what that calls the most begins with what the parent held.
    """
    status = Path("/proc/self/status").read_text()
    return 1024.0 * next(int(line.split()[1]) for line in status.splitlines() if line.startswith(what))


def cell_bytes(source: Path, name: str) -> int:
    """Return 2, or 4 for a column of more values than two bytes can number."""
    found: set[object] = set()
    for batch in pq.ParquetFile(source).iter_batches(1 << 18, columns=[name]):
        found.update(batch.column(0).unique().to_pylist())
        if len(found) > _TWO_BYTES:
            return 4
    return 2


def run_one(source: Path) -> dict[str, object]:
    """Return what one run takes, after a small one."""
    kinds = {name: "categorical" if name in CATEGORIES else "numeric" for name in QUASI}
    policy = shoal.Policy(quasi=kinds, sensitive=[SENSITIVE], models=[shoal.KAnonymity(5)])
    with tempfile.TemporaryDirectory(dir=source.parent) as folder:
        small, out = Path(folder) / "small.parquet", Path(folder) / "out.parquet"
        first = next(pq.ParquetFile(source).iter_batches(3000))
        with pq.ParquetWriter(small, first.schema) as writer:
            writer.write_batch(first)
        shoal.anonymize_file(small, out, policy, algorithm="mondrian")
        before, clock = held("VmRSS"), Clock()
        wall, busy = time.perf_counter(), time.process_time()
        release = shoal.anonymize_file(source, out, policy, algorithm="mondrian", progress=clock)
        return {
            "records": release.evidence.records,
            "classes": release.evidence.classes,
            "gcp": release.metrics["gcp"],
            "processor": time.process_time() - busy,
            "clock": time.perf_counter() - wall,
            "before": before,
            "held": held("VmHWM"),
            "stages": clock.seconds,
        }


def measured(rows: int, folder: Path, keep: bool) -> dict[str, Any]:
    """Return what a run takes, in a process of its own."""
    source = big_file(folder / f"{rows}.parquet", rows)
    width = sum(cell_bytes(source, name) for name in (*QUASI, SENSITIVE))
    made = subprocess.run([sys.executable, __file__, "--one", source], capture_output=True, check=True)
    found: dict[str, Any] = json.loads(made.stdout) | {"encoded": float(width * rows)}
    if not keep:
        source.unlink()
    print(rows, {name: round(seconds, 2) for name, seconds in found["stages"].items()}, flush=True)
    return found


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="for the tables")
    parser.add_argument("--keep", action="store_true", help="keep the tables")
    parser.add_argument("--json", type=Path, help="where to add what was measured")
    parser.add_argument("--draw", action="store_true", help="measure nothing, and show what --json holds")
    parser.add_argument("--svg", type=Path, help="where to draw microseconds a record")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run_one(options.one)))
        return
    runs = json.loads(options.json.read_text()) if options.json and options.json.exists() else []
    for rows in [] if options.draw else options.rows:
        found = measured(rows, options.folder, options.keep)
        runs = sorted(
            [*(one for one in runs if one["records"] != rows), found], key=lambda one: one["records"]
        )
        if options.json:  # after each: a long one may not end
            options.json.write_text(json.dumps(runs, indent=1))
    show(runs, options.svg)


def show(runs: list[dict[str, Any]], svg: Path | None) -> None:
    """Print the table of some runs, and draw it."""
    lines = Table("records", "processor s", "us/record", "clock s", "peak GiB", "x encoded", "classes", "gcp")
    curve: dict[float, float] = {}
    for found in runs:
        rows = found["records"]
        curve[rows] = 1e6 * found["processor"] / rows
        lines.add_row(
            f"{rows:,}",
            f"{found['processor']:.1f}",
            f"{curve[rows]:.2f}",
            f"{found['clock']:.1f}",
            f"{found['held'] / 2**30:.2f}",
            f"{(found['held'] - found['before']) / found['encoded']:.2f}",
            f"{found['classes']:,}",
            f"{found['gcp']:.5f}",
        )
    Console(width=120).print(lines)
    if svg:
        title, axis = "Mondrian, Parquet to verified Parquet: microseconds a record", "records"
        svg.write_text(line_chart({"processor": curve}, title, axis, log_x=True))


if __name__ == "__main__":
    main()
