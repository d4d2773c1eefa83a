"""How does Spark compare with the local engine? python bench/spark.py --rows 1000000 10000000

Local mode on this machine's cores, one process a size: mondrian, k = 5, nine quasi-identifiers of twenty
columns, Parquet to verified Parquet, after a small table has started the workers and compiled everything. The
local engine takes the same file by the same policy. Processor seconds are those of Python, of the JVM and of
all workers together; memory is the greatest that all of them held at one time.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from rich.console import Console
from rich.table import Table

import shoal
import shoal.spark
from scale import QUASI, SENSITIVE, Clock
from tables import CATEGORIES, big_file

HERE = Path(__file__).parent
TICKS = os.sysconf("SC_CLK_TCK")
PAGE = os.sysconf("SC_PAGE_SIZE")


def family() -> list[int]:
    """Return this process and all that descend from it."""
    parents: dict[int, int] = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                parents[int(entry.name)] = int(_stat(int(entry.name))[1])
            except OSError:
                continue
    found = [os.getpid()]
    for process in found:
        found += [child for child, parent in parents.items() if parent == process]
    return found


def _stat(process: int) -> list[str]:
    """Return what the system says of a process, from its state on."""
    return Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()


def processor() -> float:
    """Return the processor's seconds of all these processes and of those of their children that ended."""
    total = 0
    for process in family():
        try:
            total += sum(int(part) for part in _stat(process)[11:15])
        except OSError:
            continue
    return total / TICKS


class Memory(threading.Thread):
    """Keeps the greatest memory that all these processes hold at one time, in bytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.most = 0
        self.over = threading.Event()

    def run(self) -> None:
        while not self.over.wait(0.5):
            self.most = max(self.most, sum(_private(process) for process in family()))


def _private(process: int) -> int:
    try:
        resident, shared = Path(f"/proc/{process}/statm").read_text().split()[1:3]
    except OSError:
        return 0
    return (int(resident) - int(shared)) * PAGE


def policy_of() -> shoal.Policy:
    """Return what both engines have to keep."""
    kinds = {name: "categorical" if name in CATEGORIES else "numeric" for name in QUASI}
    return shoal.Policy(quasi=kinds, sensitive=[SENSITIVE], models=[shoal.KAnonymity(5)])


def open_spark(cores: int, memory: str, folder: Path) -> Any:
    """Return a session on this machine."""
    os.environ["PYSPARK_PYTHON"] = sys.executable
    from pyspark.sql import SparkSession

    settings = {
        "spark.ui.enabled": "false",
        "spark.ui.showConsoleProgress": "false",
        "spark.driver.memory": memory,
        "spark.driver.host": "127.0.0.1",
        "spark.driver.bindAddress": "127.0.0.1",
        "spark.local.dir": str(folder),
    }
    builder = SparkSession.builder.master(f"local[{cores}]").appName("shoal bench")
    for name, value in settings.items():
        builder = builder.config(name, value)
    session = builder.getOrCreate()
    session.sparkContext.setLogLevel("ERROR")
    return session


def on_spark(options: argparse.Namespace) -> dict[str, Any]:
    """Return what one run takes on Spark."""
    source, policy = options.one, policy_of()
    with tempfile.TemporaryDirectory(dir=source.parent) as name:
        folder = Path(name)
        session = open_spark(options.cores, options.memory, folder)
        small, out = folder / "small.parquet", folder / "out.parquet"
        pq.write_table(_first(source), small)
        _publish(session, small, out, policy, options.cell, None)
        shutil.rmtree(out)
        clock, memory = Clock(), Memory()
        memory.start()
        wall, busy = time.perf_counter(), processor()
        release = _publish(session, source, out, policy, options.cell, clock)
        found = {"clock": time.perf_counter() - wall, "processor": processor() - busy}
        memory.over.set()
        session.stop()
    return found | _described(release, clock) | {"held": memory.most, "cells": release.cells}


def _publish(session: Any, source: Path, out: Path, policy: shoal.Policy, cell: int, clock: Any) -> Any:
    table = session.read.parquet(str(source))
    return shoal.spark.anonymize(table, policy, records=cell, out=str(out), progress=clock)


def _first(source: Path) -> Any:
    import pyarrow as pa

    return pa.Table.from_batches([next(pq.ParquetFile(source).iter_batches(5000))])


def here(source: Path) -> dict[str, Any]:
    """Return what one run takes on the local engine."""
    with tempfile.TemporaryDirectory(dir=source.parent) as name:
        small, out = Path(name) / "small.parquet", Path(name) / "out.parquet"
        pq.write_table(_first(source), small)
        policy = policy_of()
        shoal.anonymize_file(small, out, policy, algorithm="mondrian")
        clock, memory = Clock(), Memory()
        memory.start()
        wall, busy = time.perf_counter(), processor()
        release = shoal.anonymize_file(source, out, policy, algorithm="mondrian", progress=clock)
        found = {"clock": time.perf_counter() - wall, "processor": processor() - busy}
        memory.over.set()
    return found | _described(release, clock) | {"held": memory.most, "cells": 1}


def _described(release: Any, clock: Clock) -> dict[str, Any]:
    evidence = release.evidence
    found = {"records": evidence.records, "classes": evidence.classes, "holds": evidence.holds}
    return found | {"gcp": release.metrics["gcp"], "stages": clock.seconds}


def measured(engine: str, source: Path, options: argparse.Namespace) -> dict[str, Any]:
    """Return what one run takes, in a process of its own."""
    command = [sys.executable, __file__, "--one", str(source), "--engine", engine]
    command += ["--cores", str(options.cores), "--memory", options.memory, "--cell", str(options.cell)]
    made = subprocess.run(command, stdout=subprocess.PIPE, text=True, check=True)
    found: dict[str, Any] = json.loads(made.stdout.splitlines()[-1])
    return found


def fitted(seconds: dict[int, float]) -> tuple[float, float]:
    """Return (seconds that every run takes, microseconds a record): the line of least relative error."""
    rows = np.array(list(seconds), dtype=np.float64)
    taken = np.array(list(seconds.values()))
    line = np.stack([np.ones(len(rows)), rows], axis=1) / taken[:, None]
    fixed, each = np.linalg.lstsq(line, np.ones(len(rows)), rcond=None)[0]
    return float(fixed), float(each) * 1e6


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rows", type=int, nargs="+", default=[1_000_000, 10_000_000])
    parser.add_argument("--engines", nargs="+", default=["spark", "local"], choices=["spark", "local"])
    parser.add_argument("--cores", type=int, default=2)
    parser.add_argument("--memory", default="4g", help="of the JVM")
    parser.add_argument("--cell", type=int, default=200_000, help="most records of a cell")
    parser.add_argument("--folder", type=Path, default=Path(tempfile.gettempdir()), help="for the tables")
    parser.add_argument("--one", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--engine", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.one:
        print(json.dumps(here(options.one) if options.engine == "local" else on_spark(options)))
        return
    lines = Table("engine", "records", "processor s", "us/record", "clock s", "GB", "cells", "classes", "gcp")
    stages: dict[str, dict[int, float]] = {}
    clocks: dict[int, float] = {}
    for rows in options.rows:
        source = big_file(options.folder / f"{rows}.parquet", rows)
        for engine in options.engines:
            found = measured(engine, source, options)
            print(engine, f"{rows:,}", {name: round(s, 2) for name, s in found["stages"].items()}, flush=True)
            lines.add_row(
                engine,
                f"{rows:,}",
                f"{found['processor']:.1f}",
                f"{1e6 * found['processor'] / rows:.2f}",
                f"{found['clock']:.1f}",
                f"{found['held'] / 1e9:.2f}",
                f"{found['cells']:,}",
                f"{found['classes']:,}",
                f"{found['gcp']:.5f}",
            )
            if engine == "spark":
                clocks[rows] = found["clock"]
                for name, seconds in found["stages"].items():
                    stages.setdefault(name, {})[rows] = seconds
    Console(width=120).print(lines)
    if len(clocks) > 1:
        terms = Table("stage", "seconds every run", "us a record on this machine")
        for name, seconds in {**stages, "all": clocks}.items():
            fixed, each = fitted(seconds)
            terms.add_row(name, f"{fixed:.1f}", f"{each:.2f}")
        Console(width=100).print(terms)


if __name__ == "__main__":
    main()
