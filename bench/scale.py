"""How do time and memory grow with the records? python bench/scale.py --rows 1000000 10000000 --svg f.svg

Every size runs in a process of its own, after a small table has compiled everything: mondrian, k = 5, nine
quasi-identifiers of twenty columns, Parquet to Parquet, verified. Seconds are those of the processor, which
a busy machine distorts less than the clock, and of the clock. Memory is the greatest the process held, less
what it held before, as a multiple of the encoded columns: 4 bytes for every cell of a quasi-identifier or
sensitive column.
"""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

import shoal
from shoal.progress import Progress, Stage
from svg import line_chart
from tables import ADULT_COLUMNS, CATEGORIES, big_file

QUASI = (*ADULT_COLUMNS, "zip")
SENSITIVE = "salary-class"


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


def held() -> float:
    """Return the greatest memory this process has held, in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


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
        before, clock = held(), Clock()
        wall, busy = time.perf_counter(), time.process_time()
        release = shoal.anonymize_file(source, out, policy, algorithm="mondrian", progress=clock)
        return {
            "records": release.evidence.records,
            "classes": release.evidence.classes,
            "gcp": release.metrics["gcp"],
            "processor": time.process_time() - busy,
            "clock": time.perf_counter() - wall,
            "before": before,
            "held": held(),
            "stages": clock.seconds,
        }


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="for the tables")
    parser.add_argument("--svg", type=Path, help="where to draw microseconds a record")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(run_one(options.one)))
        return
    lines = Table("records", "processor s", "us/record", "clock s", "peak GB", "x encoded", "classes", "gcp")
    curve: dict[float, float] = {}
    for rows in options.rows:
        source = big_file(options.folder / f"{rows}.parquet", rows)
        made = subprocess.run([sys.executable, __file__, "--one", source], capture_output=True, check=True)
        found = json.loads(made.stdout)
        encoded = 4.0 * rows * (len(QUASI) + 1)
        curve[rows] = 1e6 * found["processor"] / rows
        lines.add_row(
            f"{rows:,}",
            f"{found['processor']:.1f}",
            f"{curve[rows]:.2f}",
            f"{found['clock']:.1f}",
            f"{found['held'] / 1e9:.2f}",
            f"{(found['held'] - found['before']) / encoded:.2f}",
            f"{found['classes']:,}",
            f"{found['gcp']:.5f}",
        )
        print({name: round(seconds, 2) for name, seconds in found["stages"].items()})
    Console(width=120).print(lines)
    if options.svg:
        title, axis = "Mondrian, Parquet to verified Parquet: microseconds a record", "records"
        options.svg.write_text(line_chart({"processor": curve}, title, axis, log_x=True))


if __name__ == "__main__":
    main()
