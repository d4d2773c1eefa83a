"""What a child process can be asked. Each task gets plain values and returns plain values.

A table is named by its `Source` and read once by each process. Answers for the page may show values of the
table where the page is for showing them; errors never do.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa

from .. import api, io
from ..errors import ShoalError, UnknownName
from ..policy import Policy
from ..policy_file import from_dict, to_dict
from ..progress import Progress
from . import forms, releasing

_SHOWN_LABELS = 8
_SHOWN_VALUES = 6


@dataclass(frozen=True, slots=True)
class Context:
    """Where a task reports to.

    Attributes
    ----------
    progress : Progress
    say : callable
        Sends news to the page before the task is done.
    """

    progress: Progress
    say: Callable[..., None]


@dataclass(frozen=True, slots=True)
class Source:
    """A file and how to read it."""

    path: str
    delimiter: str | None = None
    encoding: str = "utf-8"
    nulls: tuple[str, ...] = ("",)

    @classmethod
    def of(cls, plain: dict[str, Any]) -> Source:
        """Return the source that plain values describe."""
        nulls = tuple(plain.get("nulls") or ("",))
        return cls(plain["path"], plain.get("delimiter") or None, plain.get("encoding") or "utf-8", nulls)


def table_of(source: dict[str, Any]) -> pa.Table:
    """Return the table of a source; the last one that was read is kept."""
    return _read(Source.of(source))


@functools.lru_cache(maxsize=1)
def _read(source: Source) -> pa.Table:
    return io.read(source.path, delimiter=source.delimiter, encoding=source.encoding, nulls=source.nulls)


def warm_up() -> None:
    """Import what nearly every task needs, while nobody waits."""
    from .. import auditing, comparing, profiling, proposing, release  # noqa: F401


def describe(context: Context) -> dict[str, Any]:
    """Return what the page draws its forms from."""
    return forms.describe()


def demo(context: Context, path: str, records: int) -> dict[str, Any]:
    """Write the demonstration's table."""
    from ..demo import patients

    with context.progress.stage("inventing patients"):
        io.write(patients(records), path)
    return {"path": path}


def open_table(context: Context, source: dict[str, Any]) -> dict[str, Any]:
    """Read a table, and propose a role and a kind for every column."""
    from ..profiling import profile
    from ..proposing import propose
    from ..table import Table

    with context.progress.stage("reading the table"):
        table = Table.from_any(table_of(source)).data
    with context.progress.stage("looking at its columns"):
        proposal, profiles = propose(table), profile(table)
    policy = to_dict(proposal.policy)
    columns = [
        {
            **asdict(seen),
            "proposed": policy["columns"][seen.name],
            "kind": str(releasing.kind_of(table, seen.name)),
            "reason": proposed.reason.rpartition("\n")[2].partition(": ")[2],
        }
        for proposed, seen in zip(proposal.columns, profiles, strict=True)
    ]
    return {"records": table.num_rows, "columns": columns, "models": policy["models"]}


def audit(context: Context, source: dict[str, Any], quasi: list[str], sensitive: list[str]) -> dict[str, Any]:
    """Return what the table gives away."""
    return api.audit(table_of(source), quasi=quasi, sensitive=sensitive).to_dict()


def values(
    context: Context, source: dict[str, Any], column: str, most: int = _SHOWN_VALUES
) -> dict[str, Any]:
    """Return the most frequent values of a column, for a steward who asked to see them."""
    import pyarrow.compute as pc

    counts = pc.value_counts(_column(source, column).drop_null())
    ranked = pc.sort_indices(counts.field("counts"), sort_keys=[("", "descending")])[:most]
    return {
        "distinct": len(counts),
        "values": [
            {"value": str(counts[i.as_py()]["values"]), "count": counts[i.as_py()]["counts"].as_py()}
            for i in ranked
        ],
    }


def levels(
    context: Context, source: dict[str, Any], column: str, hierarchy: dict[str, Any]
) -> dict[str, Any]:
    """Return what every level of a hierarchy makes of a column's values."""
    import pyarrow.compute as pc

    from ..hierarchies import Hierarchy
    from ..hierarchies.texts import plain

    held = _column(source, column)
    made = Hierarchy.from_spec(hierarchy)
    unknown = len(made.unknown_values(held))
    tree, leaf_of = made.bind(pc.drop_null(pc.unique(plain(held))), column, unknown="root")
    smallest = made.smallest(held)
    found = []
    for line, few in zip(made.preview(held), smallest, strict=True):
        row = tree.nodes[line.level]
        nodes = list(dict.fromkeys(row[sorted(set(leaf_of.tolist()))].tolist()))  # as the leaves stand
        labels = [tree.labels[node] for node in nodes[:_SHOWN_LABELS]]
        found.append({"groups": len(nodes), "fewest_records": few, "labels": labels})
    return {"levels": found, "unknown": unknown, "hierarchy": made.to_spec()}


def read_hierarchy(context: Context, path: str) -> dict[str, Any]:
    """Return a hierarchy file as plain values that a policy file can hold by itself."""
    from ..hierarchies import Hierarchy

    rows = [list(row) for row in Hierarchy.read(path).rows()]
    return {"hierarchy": {"type": "tree", "rows": rows}}


def check(context: Context, source: dict[str, Any], policy: dict[str, Any]) -> dict[str, Any]:
    """Return what is wrong with a policy for this table, if anything is."""
    try:
        api.prepare(table_of(source), from_dict(policy))
    except ShoalError as error:
        return {"problem": {"code": error.code, "message": error.message, "hint": error.hint}}
    return {"problem": None}


def compare(
    context: Context,
    source: dict[str, Any],
    policy: dict[str, Any],
    algorithms: list[str],
    ks: list[int],
    seed: int,
) -> dict[str, Any]:
    """Try several algorithms and strengths, and report each as it is found."""
    table, promised = table_of(source), from_dict(policy)
    rows: list[dict[str, Any]] = []
    strengths: list[int | None] = [*ks] or [None]
    with context.progress.stage("trying candidates", len(algorithms) * len(strengths)) as stage:
        for name in algorithms:
            for k in strengths:
                rows.append(_compared(table, promised, name, k, seed))
                context.say(rows=rows)
                stage.advance()
    return {"records": table.num_rows}


def _compared(table: pa.Table, policy: Policy, name: str, k: int | None, seed: int) -> dict[str, Any]:
    """Return one row of a comparison; what an algorithm cannot do is a row, too."""
    try:
        found = api.compare(table, policy, algorithms=[name], k=None if k is None else [k], seed=seed)
    except ShoalError as error:
        return {"algorithm": name, "k": k, "holds": False, "error": f"{error.message}. {error.hint}".strip()}
    return asdict(found.rows[0])


def _column(source: dict[str, Any], name: str) -> pa.ChunkedArray:
    table = table_of(source)
    if name not in table.column_names:
        raise UnknownName.nearest("column", name, table.column_names)
    return table.column(name)


def release(context: Context, source: dict[str, Any], folder: str, **wanted: Any) -> dict[str, Any]:
    """Make, verify, write and describe a release."""
    given = Source.of(source)
    made = releasing.Wanted(folder=Path(folder), reading=_reading(given), **wanted)
    return releasing.release(context, table_of(source), made)


def _reading(source: Source) -> dict[str, Any]:
    return {"delimiter": source.delimiter, "encoding": source.encoding, "nulls": list(source.nulls)}


def rows(
    context: Context, source: dict[str, Any], folder: str, real: bool, count: int, seed: int
) -> dict[str, Any]:
    """Return rows before and after."""
    return releasing.rows(table_of(source), Path(folder), real=real, count=count, seed=seed)


TASKS: dict[str, Callable[..., dict[str, Any]]] = {
    "describe": describe,
    "demo": demo,
    "open": open_table,
    "audit": audit,
    "values": values,
    "levels": levels,
    "read-hierarchy": read_hierarchy,
    "check": check,
    "compare": compare,
    "release": release,
    "rows": rows,
}
