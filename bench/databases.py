"""What does a database cost beside a Parquet file? python bench/databases.py --rows 1000000

The same 20 columns go from a table into a table of one database, block by block (mondrian, k = 5, nine
quasi-identifiers), and from Parquet to Parquet; each in a process of its own, after a small table has
compiled everything. Processor seconds are those of shoal's process, and so is memory: the greatest it held,
less what it held before. A PostgreSQL server is started for this in a temporary folder.
"""

from __future__ import annotations

import argparse
import contextlib
import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

import shoal
from scale import Clock, held
from shoal.io import databases
from shoal.io.blocks import open_blocks
from spark import policy_of
from tables import big_file

sys.path.append(str(Path(__file__).resolve().parents[1] / "tests"))
ENGINES = ("parquet", "duckdb", "sqlite", "postgresql")


@contextlib.contextmanager
def places(engine: str, folder: Path) -> Iterator[tuple[str, str]]:
    """Give the address of an input and of an output."""
    if engine == "postgresql":
        from postgres import Postgres

        with Postgres() as server:
            yield server.table("visits"), server.table("release")
    elif engine == "parquet":
        yield str(folder / "visits.parquet"), str(folder / "release.parquet")
    else:
        yield f"{folder}/clinic.{engine}/visits", f"{folder}/clinic.{engine}/release"


def fill(source: Path, target: str) -> None:
    """Put a Parquet file where the input is expected."""
    address = databases.parse(target)
    if address is None:
        Path(target).unlink(missing_ok=True)
        Path(target).symlink_to(source.resolve())
    else:
        databases.put_blocks(address, open_blocks(source), {}, lambda _: None)


def run_one(source: str, out: str) -> dict[str, Any]:
    """Return what one run takes."""
    before, clock = held(), Clock()
    wall, busy = time.perf_counter(), time.process_time()
    release = shoal.anonymize_file(source, out, policy_of(), algorithm="mondrian", progress=clock)
    return {
        "records": release.evidence.records,
        "holds": release.evidence.holds,
        "gcp": release.metrics["gcp"],
        "processor": time.process_time() - busy,
        "clock": time.perf_counter() - wall,
        "held": held() - before,
        "stages": clock.seconds,
    }


def measured(engine: str, source: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Return what one run takes, in a process of its own."""
    with (
        tempfile.TemporaryDirectory(dir=options.folder) as name,
        places(engine, Path(name)) as (place, out),
    ):
        fill(source, place)
        small = Path(name) / "small.parquet"
        pq.write_table(pq.ParquetFile(source).read_row_group(0).slice(0, 3000), small)
        command = [sys.executable, __file__, "--one", place, out, str(small)]
        made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(made.stdout.splitlines()[-1])
    return found


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, default=1_000_000)
    parser.add_argument("--engines", nargs="+", default=ENGINES, choices=ENGINES)
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="for the tables")
    parser.add_argument("--one", nargs=3, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        place, out, small = options.one
        shoal.anonymize_file(small, f"{small}.out.parquet", policy_of(), algorithm="mondrian")
        print(json.dumps(run_one(place, out)))
        return
    source = big_file(options.folder / f"{options.rows}.parquet", options.rows)
    lines = Table("from and to", "processor s", "x Parquet", "clock s", "memory MB", "x Parquet", "gcp")
    first: dict[str, Any] = {}
    for engine in options.engines:
        found = measured(engine, source, options)
        first = first or found
        print(engine, {name: round(seconds, 2) for name, seconds in found["stages"].items()}, flush=True)
        lines.add_row(
            engine,
            f"{found['processor']:.1f}",
            f"{found['processor'] / first['processor']:.2f}",
            f"{found['clock']:.1f}",
            f"{found['held'] / 1e6:.0f}",
            f"{found['held'] / first['held']:.2f}",
            f"{found['gcp']:.5f}",
        )
    Console(width=120).print(lines)


if __name__ == "__main__":
    main()
