"""Partition -> published file, for a table that is read block by block and never held as a whole.

The cells of every class are made once. Records then pass by twice: into the buckets of a shuffle, and out of
them into the file, taking the cells of their class by number. What was written is read back, grouped and
verified like any published table, and renamed only then.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from ..class_cells import ClassCells
from ..errors import ParameterError, VerificationFailed
from ..evidence import Evidence
from ..io import format_of
from ..io.blocks import changed_under_the_run, open_blocks
from ..io.source import STANDARD
from ..progress import Run
from ..release import FileRelease
from ..releasing import complete_evidence, level_ranges
from ..verification.groups import star_rows
from ..verification.streamed import streamed_level_problems, verify_blocks
from ..writing import install, reporting, sync
from .encoding import class_order
from .memory import give_back
from .publishing import BlockOrigin, Plan, make_plan
from .shuffling import Shuffle, Spill
from .sinks import open_sink
from .workspace import workspace

if TYPE_CHECKING:
    from ..algorithms.base import Algorithm
    from ..partitions import Partition
    from .encoding import PreparedBlocks


@dataclass(frozen=True, slots=True)
class Target:
    """Where a release goes, and how.

    Attributes
    ----------
    path : Path
        Its ending says the format.
    order : "shuffle" or "keep"
    manifest : bool
    key : bytes, optional
        Secret for pseudonyms.
    """

    path: Path
    order: Literal["shuffle", "keep"] = "shuffle"
    manifest: bool = True
    key: bytes | None = field(default=None, repr=False)

    @classmethod
    def checked(
        cls, path: str | os.PathLike[str], order: Literal["shuffle", "keep"], key: bytes | None
    ) -> Target:
        """Return the target, or raise when it cannot be one."""
        if order not in ("shuffle", "keep"):
            raise ParameterError("'order' must be one of 'shuffle', 'keep'")
        if os.fspath(path) == STANDARD:
            raise ParameterError("a stream ends in a file, not on standard output", hint="Name a file.")
        format_of(path)
        return cls(Path(path), order, key=key)


def release_blocks(
    prepared: PreparedBlocks, partition: Partition, algorithm: Algorithm, run: Run, target: Target
) -> FileRelease:
    """Write the release of a prepared table by a partition, verify what was written, and put it in its place.

    Killed at any moment, this leaves the old file or the new one, never a part.

    Raises
    ------
    DataError
        When the input changed since it was encoded.
    VerificationFailed, WriteError
        As for `Release.write`. What stood at the target is untouched.
    """
    from ..metrics.covers import Covers
    from ..metrics.measure import measure

    policy = prepared.policy
    give_back()
    with run.progress.stage("recoding"):
        ordered = prepared.sort_by_class(partition)
        covers = Covers(prepared.encoded, ordered)
        for j in range(len(policy.schema.quasi)):
            covers.make(j)
            give_back()
        origin = BlockOrigin(prepared.blocks, lambda: class_order(partition))
        cells = ClassCells.of(origin, prepared.encoded, ordered, covers)
        starred = policy.suppressed == "star" and partition.suppressed > 0
        plan = make_plan(prepared.blocks, cells, policy, starred=starred, key=target.key)
    with run.progress.stage("measuring"):
        metrics = measure(prepared.encoded, ordered, policy, covers=covers, frugal=True)
    del ordered, covers, cells
    prepared.forget()
    give_back()
    with reporting(target.path), workspace(target.path) as folder:
        draft = _Draft(prepared, partition, plan, target, folder)
        evidence = _settled(draft, run, starred)
        evidence = complete_evidence(
            evidence, partition, policy, {"input_sha256": prepared.digest, "seed": run.seed, **run.notes}
        )
        evidence.require()
        if prepared.blocks.digest() != prepared.digest:
            raise changed_under_the_run(prepared.blocks.label)
        release = FileRelease(partition, evidence, metrics, policy, algorithm, run.seed, target.path)
        install(draft.path, target.path, release.manifest() if target.manifest else None)
    return release


def _settled(draft: _Draft, run: Run, starred: bool) -> Evidence:
    """Write drafts until one holds, as `release.settle_suppressed` does; return the evidence of the last."""
    evidence = draft.write_and_verify(run, (), starred)
    if evidence.holds or not starred:
        return evidence
    broken = {promise.column for promise in evidence.promises if not promise.holds} - {None}
    if broken:
        found = draft.write_and_verify(run, sorted(str(column) for column in broken), starred)
        if found.holds:
            return found
    return draft.write_and_verify(run, (), False)


@dataclass(frozen=True, slots=True, eq=False)
class _Draft:
    """The unfinished file of a release."""

    prepared: PreparedBlocks
    partition: Partition
    plan: Plan
    target: Target
    folder: Path

    @property
    def path(self) -> Path:
        """Where it stands."""
        return self.folder / f"draft{''.join(self.target.path.suffixes[-2:])}"

    def write_and_verify(self, run: Run, hidden: Sequence[str], starred: bool) -> Evidence:
        """Write it, with some columns hidden for starred records, and return the evidence of what is read."""
        labels = self.partition.labels
        kept = np.ones(len(labels), dtype=bool) if starred else labels >= 0
        shuffle = Shuffle.of(kept, fresh=self.target.order == "shuffle")
        rows = self._write(run, shuffle, hidden)
        give_back()
        with run.progress.stage("verifying the file"):
            found = open_blocks(self.path, csv=None)
            written = int(kept.sum())
            names = self.plan.schema.names
            if found.records != written or found.schema.names != names:
                raise VerificationFailed(
                    f"{written} records in {len(names)} columns were written, and {found.records} in "
                    f"{len(found.schema.names)} read back",
                    hint="Write a .parquet file instead.",
                )
            evidence = verify_blocks(found, self.prepared.policy, give_back)
            if rows is None:
                return evidence
            ranges = level_ranges(self.partition, self.prepared.policy)
            problems = streamed_level_problems(
                found, self.prepared.blocks, rows, self.prepared.policy, ranges
            )
            return evidence.with_problems(problems)

    def _write(self, run: Run, shuffle: Shuffle, hidden: Sequence[str]) -> NDArray[np.int32] | None:
        """Write all records; return their rows in the file's order, where verification will need them."""
        policy = self.prepared.policy
        wanted = any(span != (0, None) for span in level_ranges(self.partition, policy))
        silent = self._silent() if hidden else None
        rows: list[NDArray[np.int32]] = []
        spill = self._spill(
            run, shuffle, {} if silent is None else dict.fromkeys(hidden, silent[self.partition.labels])
        )
        with run.progress.stage("writing", total=len(shuffle.bucket)) as stage:
            sink = open_sink(self.path, self.plan.schema)
            with ThreadPoolExecutor(1) as writer:
                pending: Future[None] | None = None
                for number, (own, turned) in enumerate(shuffle.rows()):
                    labels = self.partition.labels[own[turned]]
                    through = self._kept_columns(spill, number, turned)
                    hide = {} if silent is None else dict.fromkeys(hidden, silent[labels])
                    part = self.plan.part(labels, through, hide)
                    if wanted:
                        rows.append(own[turned])
                    if pending is not None:
                        pending.result()
                    pending = writer.submit(sink.write, part)
                    stage.advance(len(own))
                if pending is not None:
                    pending.result()
            sink.close()
        sync(self.path)
        return np.concatenate(rows) if wanted else None

    def _spill(self, run: Run, shuffle: Shuffle, hidden: dict[str, NDArray[np.bool_]]) -> Spill | None:
        """Return the columns that records keep, in buckets on disk; None where there are none."""
        if not self.plan.through:
            return None
        blocks = self.prepared.blocks
        spill = Spill.of(self.folder, shuffle, blocks, self.plan.through)
        with run.progress.stage("shuffling", total=blocks.records) as stage:
            spill.fill(blocks, hidden, stage.advance)
        give_back()
        return spill

    def _kept_columns(self, spill: Spill | None, number: int, turned: NDArray[np.int64]) -> pa.Table:
        return pa.table({}) if spill is None else spill.read(number).take(pa.array(turned))

    def _silent(self) -> NDArray[np.bool_]:
        """Return, per class and for starred records, whether all published cells say nothing."""
        every = np.arange(self.partition.classes + 1)
        shown = {name: column.take(every) for name, column in self.plan.made.items()}
        if not {n for c in self.prepared.policy.schema.quasi for n in c.published_names} <= set(shown):
            return np.zeros(len(every), dtype=bool)
        return star_rows(pa.table(shown), self.prepared.policy)
