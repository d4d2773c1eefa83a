"""shoal beside other tools on Adult: loss, time, memory at the same k. python bench/peers.py --records 2000

Tools from PyPI (anjana, anonypy, pycanon) run here, each in an environment of its own, which is made on the
first run. What cannot be installed from there is quoted, with where the figure comes from, and marked so.

Loss is gcp without hierarchies ("set") and with 0 or 1 per categorical cell ("flat"), computed from which
records share a class, so that no tool suffers from how it writes its cells. Suppressed records count 1.
Seconds are those of the processor, without compilation; ratios are to `shoal mondrian` for time, to `shoal
auto` for loss. With --figures FOLDER the table and a plot of loss against k are kept there.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import tempfile
import venv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv
from rich.console import Console
from rich.table import Table

from core import encoded_of, gcp
from shoal.encoding import Encoded
from shoal.partitions import Partition
from svg import line_chart
from tables import ADULT_COLUMNS, CATEGORIES, adult, data_folder

ENVIRONMENTS = Path(__file__).parents[1] / "build" / "peers"
QUOTED = (  # tool, its commit, k, set, flat, seconds: measured once on 2 shared cores, all 30,162 records
    ("ARX, local recoding", "aacd487f", 5, 0.0313, 0.0773, 18),
    ("ARX, local recoding", "aacd487f", 10, 0.0533, 0.1123, 21),
    ("ARX, optimal full-domain, 5% suppressed", "aacd487f", 5, 0.225, 0.538, 3.1),
    ("ARX, optimal full-domain, 5% suppressed", "aacd487f", 10, 0.299, 0.547, 1.3),
    ("AIJack, Mondrian in C++", "not recorded", 5, 0.0387, 0.1890, 7),
    ("mosaicrown, Mondrian", "not recorded", 5, 0.0339, 0.1182, 280),
    ("project-lighthouse, Core Mondrian", "not recorded", 5, 0.0547, 0.0946, 102),
    ("kaylode, top-down greedy", "not recorded", 5, 0.0365, 0.0927, 201),
    ("qiyuangong, Mondrian strict", "not recorded", 5, 0.0731, 0.2624, 2.6),
    ("crowds, OLA, 5% suppressed", "not recorded", 5, 0.3540, 0.3738, 239),
)
HEADER = ("tool", "k", "set", "x auto", "flat", "seconds", "x mondrian", "peak MiB")

# Every tool reads the table and k, and writes the class of each record (-1: suppressed), seconds and MiB.
SHOAL = """
import json, resource, sys, time
import pyarrow.csv as csv
import shoal
table, k, algorithm = csv.read_csv(sys.argv[1]), int(sys.argv[2]), sys.argv[3]
quasi = json.loads(sys.argv[4])
policy = shoal.Policy(quasi=quasi, models=[shoal.KAnonymity(k)]).resolved(table)
encoded = shoal.encode(table, policy)
shoal.partition(encoded, policy, algorithm=algorithm)  # compiles
began = time.process_time()
labels = shoal.partition(shoal.encode(table, policy), policy, algorithm=algorithm).labels
"""
ANONYPY = """
import json, resource, sys, time
import pandas as pd
from anonypy.mondrian import Mondrian
table, k, quasi = pd.read_csv(sys.argv[1]), int(sys.argv[2]), json.loads(sys.argv[4])
table["secret"] = "x"
for name, kind in quasi.items():
    if kind == "categorical":
        table[name] = table[name].astype("category")
began = time.process_time()
parts = Mondrian(table, list(quasi), "secret").partition(k)
labels = [-1] * len(table)
for number, part in enumerate(parts):
    for row in part:
        labels[row] = number
"""
ANJANA = """
import json, resource, sys, time
from pathlib import Path
import numpy as np
import pandas as pd
from anjana.anonymity import k_anonymity
table, k, quasi = pd.read_csv(sys.argv[1]), int(sys.argv[2]), list(json.loads(sys.argv[4]))
levels = {}
for name in quasi:
    path = Path(sys.argv[5]) / f"adult_{name}.csv"
    if name == "education-num":  # ARX has none for the number
        raw = table[name].to_numpy()
        levels[name] = {0: raw, 1: raw // 2, 2: raw // 4, 3: np.array(["*"] * len(raw))}
        continue
    rows = pd.read_csv(path, sep=";", header=None, dtype=str).set_index(0)
    raw = table[name].to_numpy()
    levels[name] = {0: raw}
    for level in rows.columns:
        levels[name][int(level)] = rows.loc[table[name].astype(str), level].to_numpy()
table["record"] = range(len(table))
began = time.process_time()
made = k_anonymity(table, [], quasi, k, 5, levels)
numbers = made.groupby([made[name].astype(str) for name in quasi]).ngroup()
labels = [-1] * len(table)
for record, number in zip(made["record"], numbers):
    labels[record] = int(number)
"""
ENDING = """
seconds = time.process_time() - began
memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
try:  # the figure above is inherited from whoever started this process
    memory = int(open("/proc/self/status").read().split("VmHWM:")[1].split()[0]) / 1024
except OSError:
    pass
json.dump({"labels": [int(x) for x in labels], "seconds": seconds, "memory": memory}, open(sys.argv[6], "w"))
"""
PYCANON = """
import json, sys, time
import pandas as pd
from pycanon.anonymity import k_anonymity
table, quasi = pd.read_csv(sys.argv[1]), json.loads(sys.argv[2])
began = time.perf_counter()
k = k_anonymity(table, quasi)
print(json.dumps({"k": int(k), "seconds": time.perf_counter() - began}))
"""


def interpreter(package: str) -> str:
    """Return the Python of an environment that has the package."""
    folder = ENVIRONMENTS / package
    python = folder / "bin" / "python"
    if not python.exists():
        venv.create(folder, with_pip=True)
        subprocess.run([str(python), "-m", "pip", "install", "--quiet", package, "pandas<3"], check=True)
    return str(python)


def measured(python: str, script: str, source: Path, k: int, extra: str, patience: float) -> dict | str:
    """Run one tool on the table in `source` and return what it reached, or why there is nothing."""
    quasi = {name: "categorical" if name in CATEGORIES else "numeric" for name in ADULT_COLUMNS}
    answer = source.with_suffix(".json")
    answer.unlink(missing_ok=True)
    hierarchies = str(data_folder() / "hierarchies")
    command = [
        python,
        "-c",
        script + ENDING,
        str(source),
        str(k),
        extra,
        json.dumps(quasi),
        hierarchies,
        str(answer),
    ]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=patience)
    except subprocess.TimeoutExpired:
        return f"not ended in {patience:g} s"
    return json.loads(answer.read_text()) if done.returncode == 0 else "failed"


def loss(encoded: Encoded, labels: np.ndarray, *, flat: bool) -> float:
    """Return the loss of classes; suppressed records (-1) count 1."""
    kept = labels >= 0
    rest = replace(encoded, codes=np.asfortranarray(encoded.codes[kept]))
    share = float(kept.mean())
    return share * gcp(rest, Partition.from_labels(labels[kept]), flat=flat) + 1 - share


def null_check(console: Console) -> None:
    """Show what a checker says of a table whose one record without an age is alone."""
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "published.csv"
        source.write_text("age,town\n" + "30,Lund\n" * 3 + ",Lund\n")
        done = subprocess.run(
            [interpreter("pycanon"), "-c", PYCANON, str(source), json.dumps(["age", "town"])],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
    import shoal

    policy = shoal.Policy(quasi=["age", "town"], models=[shoal.KAnonymity(1)])
    ours = shoal.verify(pa.table({"age": [30, 30, 30, None], "town": ["Lund"] * 4}), policy)
    theirs = json.loads(done.stdout)["k"]
    console.print(
        f"A table of three equal records and one with a null: k = {theirs} says pycanon, "
        f"k = {ours.promises[0].achieved:.0f} says shoal."
    )


def compared(table: pa.Table, ks: list[int], patience: float) -> list[dict]:
    """Return what every tool reached for every k: its loss, processor seconds and peak memory."""
    encoded = encoded_of(table, ADULT_COLUMNS)
    tools = [
        *((f"shoal {name}", sys.executable, SHOAL, name) for name in ("mondrian", "k-member", "auto")),
        (f"anonypy {installed('anonypy')}, Mondrian", interpreter("anonypy"), ANONYPY, ""),
        (f"anjana {installed('anjana')}, 5% suppressed", interpreter("anjana"), ANJANA, ""),
    ]
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "adult.csv"
        csv.write_csv(table, source)
        for k in ks:
            for name, python, script, extra in tools:
                found = measured(python, script, source, k, extra, patience)
                row = {"tool": name, "k": k}
                if isinstance(found, str):
                    row["why"] = found
                else:
                    row |= found
                    labels = np.array(row.pop("labels"))
                    row |= {f: loss(encoded, labels, flat=f == "flat") for f in ("set", "flat")}
                rows.append(row)
    return rows


def installed(package: str) -> str:
    """Return the version of a package in its own environment."""
    code = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([interpreter(package), "-c", code], capture_output=True, text=True, check=True)
    return done.stdout.strip()


def cells(rows: list[dict]) -> list[list[str]]:
    """Return the lines of the table as texts, with ratios to what shoal reached for the same k."""
    ours = {(row["k"], row["tool"]): row for row in rows}
    lines = []
    for row in rows:
        if "set" not in row:
            lines.append([row["tool"], str(row["k"]), row["why"], *[""] * (len(HEADER) - 3)])
            continue
        least, fast = ours[row["k"], "shoal auto"], ours[row["k"], "shoal mondrian"]
        lines.append(
            [
                row["tool"],
                str(row["k"]),
                f"{row['set']:.4f}",
                f"{row['set'] / least['set']:.2f}",
                f"{row['flat']:.4f}",
                f"{row['seconds']:.3g}",
                f"{row['seconds'] / fast['seconds']:,.0f}",
                f"{row['memory']:.0f}",
            ]
        )
    return lines


def keep(folder: Path, rows: list[dict], records: int) -> None:
    """Write the table as Markdown and the curves of loss against k as SVG."""
    lines = [HEADER, ["---"] * len(HEADER), *cells(rows)]
    text = "".join(f"| {' | '.join(line)} |\n" for line in lines)
    (folder / "peers.md").write_text(text, encoding="utf-8")
    curves: dict[str, dict[float, float]] = {}
    for row in rows:
        if "set" in row:
            curves.setdefault(row["tool"].split(",")[0], {})[row["k"]] = row["set"]
    title = f"Loss (gcp) on Adult, {records:,} records"
    (folder / "peers.svg").write_text(line_chart(curves, title, "k"), encoding="utf-8")


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument(
        "--records", type=int, default=2000, help="of Adult; anonypy takes minutes for all 30,162"
    )
    parser.add_argument("--k", type=int, nargs="+", default=[5, 10, 20])
    parser.add_argument(
        "--patience", type=float, default=600, help="seconds of the clock that a tool may take"
    )
    parser.add_argument("--figures", type=Path, metavar="FOLDER")
    given = parser.parse_args()
    whole = adult().select(list(ADULT_COLUMNS))
    drawn = np.sort(np.random.default_rng(0).permutation(whole.num_rows)[: given.records])
    table = whole.take(pa.array(drawn))
    rows = compared(table, given.k, given.patience)
    shown = Table(*HEADER, title=f"Adult, {table.num_rows:,} records")
    for line in cells(rows):
        shown.add_row(*line)
    console = Console(width=110)
    console.print(shown)
    titles = ("tool", "commit", "k", "set", "flat", "seconds")
    quoted = Table(*titles, title="quoted: all 30,162 records, not run here")
    for tool, commit, k, sets, flat, seconds in QUOTED:
        quoted.add_row(tool, commit, str(k), f"{sets:.4f}", f"{flat:.4f}", f"{seconds:g}")
    console.print(quoted)
    null_check(console)
    if given.figures:
        keep(given.figures, rows, table.num_rows)


if __name__ == "__main__":
    main()
