"""The release as the page asks for it: made, verified, written, described, and its command line."""

from __future__ import annotations

import json
import shlex
from collections.abc import Iterator
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa

from .. import api, io
from ..examples import Sides, invented_pairs, real_pairs
from ..inference import infer_kind
from ..policy_file import dumps, from_dict, read_policy
from ..writing import manifest_path

if TYPE_CHECKING:
    from ..evidence import Evidence
    from ..policy import Policy
    from ..release import Release
    from .tasks import Context

POLICY, REPORT = "policy.toml", "report.html"
LABELS, KEPT = "labels.npy", "kept.arrow"
_HEADER = """\
Made with shoal's page. This policy and the command below make the same release again.

"""
_BUCKETS = 24


@dataclass(frozen=True, slots=True)
class Wanted:
    """A release that is asked for.

    Attributes
    ----------
    folder : Path
        Private folder for its files.
    reading : dict
        How the source was read.
    name : str
        What the source is called outside.
    policy : dict
    algorithm : str
    parameters : dict
    seed : int
    order : str
        "sort" or "shuffle".
    format : str
        The ending of the published file.
    refine : bool
        Whether the loss is lowered further, by as many moves as suit the table: the same each time.
    """

    folder: Path
    reading: dict[str, Any]
    name: str
    policy: dict[str, Any]
    algorithm: str
    parameters: dict[str, Any] = field(default_factory=dict)
    seed: int = 0
    order: str = "sort"
    format: str = "csv"
    refine: bool = False

    @property
    def target(self) -> Path:
        """Where the published table is written."""
        return self.folder / f"published.{self.format}"

    def command(self) -> str:
        """Return the command line that makes the same file from the same source."""
        words = ["shoal", "anonymize", self.name, "--policy", POLICY, "--algorithm", self.algorithm]
        for name, value in self.parameters.items():
            words += ["--set", f"{name}={_setting(value)}"]
        words += ["--refine"] if self.refine else []
        words += ["--seed", str(self.seed), "--order", self.order]
        if self.reading["delimiter"]:
            words += ["--delimiter", self.reading["delimiter"]]
        if self.reading["encoding"] != "utf-8":
            words += ["--encoding", self.reading["encoding"]]
        for null in self.reading["nulls"]:
            words += ["--null", null] if null else []
        return shlex.join([*words, "--out", self.target.name])


def _setting(value: Any) -> str:
    if isinstance(value, list):
        return ",".join(map(str, value))
    return {None: "none", True: "true", False: "false"}.get(value, str(value))


def release(context: Context, table: pa.Table, wanted: Wanted) -> dict[str, Any]:
    """Make a release, verify it, write it, read it back, attack it, and return what there is to know.

    The verified file is reported as soon as it is there; the attacks and the report take longer.
    """
    policy = from_dict(wanted.policy)
    made = api.anonymize(
        table,
        policy,
        algorithm=wanted.algorithm,
        refine=wanted.refine,
        seed=wanted.seed,
        progress=context.progress,
        **wanted.parameters,
    )
    with context.progress.stage("writing and verifying the file"):
        wanted.folder.mkdir(parents=True, exist_ok=True)
        evidence = made.write(wanted.target, order="shuffle" if wanted.order == "shuffle" else "sort")
        header = _HEADER + wanted.command()
        (wanted.folder / POLICY).write_text(dumps(policy, header=header), encoding="utf-8")
        _keep(made, wanted.folder)
    found = _described(made, evidence, wanted)
    context.say(made=found)
    with context.progress.stage("attacking it, and writing the report"):
        report = made.report(
            files={wanted.target.name: found["written"]["sha256"]}, progress=context.progress
        )
        report.write(wanted.folder / REPORT)
    facts = report.to_dict()
    return {**found, "files": {**found["files"], "report": REPORT}, "attacks": facts["attacks"]}


def _described(made: Release, evidence: Evidence, wanted: Wanted) -> dict[str, Any]:
    return {
        "evidence": made.evidence.to_dict(),
        "written": {"holds": evidence.holds, **json.loads(manifest_path(wanted.target).read_text())["file"]},
        "metrics": made.metrics,
        "sizes": _sizes(made),
        "audit": _audit(made.published, made.policy),
        "refinement": made.refinement,
        "command": wanted.command(),
        "repeatable": wanted.order == "sort" and not any(c.form.noisy for c in made.policy.schema.quasi),
        "algorithm": {"name": made.algorithm.name, "parameters": made.algorithm.to_dict()},
        "files": dict(_files(wanted)),
        "levels": made.levels,
    }


def _files(wanted: Wanted) -> Iterator[tuple[str, str]]:
    """Yield what may be downloaded: a word for it, and the name of the file."""
    yield "table", wanted.target.name
    yield "manifest", manifest_path(wanted.target).name
    yield "policy", POLICY


def _keep(made: Release, folder: Path) -> None:
    """Keep what before and after are shown from; it links records to their source and stays in the house."""
    np.save(folder / LABELS, made.partition.labels)
    io.write(made.published, folder / KEPT)


def _audit(published: pa.Table, policy: Policy) -> dict[str, Any]:
    quasi = [name for column in policy.schema.quasi for name in column.published_names]
    sensitive = [column.name for column in policy.schema.sensitive]
    return api.audit(published, quasi=quasi, sensitive=sensitive).to_dict()


def _sizes(made: Release) -> list[dict[str, int]]:
    """Return how many classes there are of each size; neighbouring sizes together where they are many."""
    labels = made.partition.labels
    sizes = np.bincount(labels[labels >= 0])
    sizes = sizes[sizes > 0]
    if not len(sizes):
        return []
    distinct = np.unique(sizes)
    if len(distinct) <= _BUCKETS:
        return [{"from": int(s), "to": int(s), "classes": int((sizes == s).sum())} for s in distinct]
    edges = np.unique(np.round(np.geomspace(distinct[0], distinct[-1] + 1, _BUCKETS + 1)).astype(int))
    counts, _ = np.histogram(sizes, bins=edges)
    return [
        {"from": int(low), "to": int(high - 1), "classes": int(count)}
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
    ]


def rows(table: pa.Table, folder: Path, *, real: bool, count: int, seed: int) -> dict[str, Any]:
    """Return rows before and after; of nobody, unless real ones are asked for."""
    policy = read_policy(folder / POLICY)
    labels = np.load(folder / LABELS)
    sides = Sides(table, io.read(folder / KEPT), labels, policy.resolved(table))
    pairs = real_pairs(sides, count, seed) if real else invented_pairs(sides, count, seed)
    return {"pairs": [asdict(pair) for pair in pairs], "columns": table.column_names}


def kind_of(table: pa.Table, name: str) -> str:
    """Return the kind that would be inferred for a column."""
    return str(infer_kind(table.column(name)))
