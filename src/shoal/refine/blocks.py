"""Refinement of a large table block by block: neighbours are looked up, and remembered, in one at a time."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..partitions import SUPPRESSED, Partition
from ..policy import Policy
from ..progress import Progress, Run
from . import refined
from .settings import Refine, Refinement

if TYPE_CHECKING:
    from ..kernels.rules import Rules


def refined_in_blocks(
    partition: Partition, encoded: Encoded, policy: Policy, run: Run, refine: Refine, cut: Partition
) -> Partition:
    """Return a partition with no more loss that keeps the policy as well, no class reaching across blocks.

    Every block gets the share of the budget that it has of the records. Classes that reach across blocks
    already, and suppressed records, stay as they are.

    Parameters
    ----------
    cut : Partition
        The blocks.
    """
    home = _home(partition, cut)
    labels, classes = partition.labels.astype(np.int64), partition.classes
    told: list[tuple[int, dict[str, Any]]] = []
    with run.progress.stage("refining in blocks", total=cut.classes) as stage:
        for block in range(cut.classes):
            records = cut.members(block)
            own = partition.labels[records]
            records = records[(own >= 0) & (home[own] == block)]
            if len(records):
                part = replace(run, progress=Progress(), notes={})
                start = Partition.from_labels(partition.labels[records]).with_levels(partition.levels)
                share = _share(refine, len(records) / partition.records)
                found = refined(start, encoded.take(records), policy, part, share)
                labels[records] = np.where(found.labels < 0, SUPPRESSED, found.labels + classes)
                classes += found.classes
                told.append((len(records), part.notes["refinement"]))
            stage.advance()
            if told and told[-1][1]["ended"] == "interrupted":
                break
    run.notes["refinement"] = _told(refine, told, partition.records)
    return partition.relabelled(labels)


def works_in_blocks(rules: Rules, refine: Refine) -> bool:
    """Return whether what a class must keep, and what it loses, are the same in a block as in the table.

    Promises that compare a class with the whole table, and squared errors on the table's scale, are not.
    """
    far = min(rules.t_equal.min(initial=np.inf), rules.t_ordered.min(initial=np.inf))
    compared = min(far, rules.t_tree.min(initial=np.inf)) < np.inf or bool(rules.bounded.any())
    return not compared and refine.loss != "sse"


def _home(partition: Partition, cut: Partition) -> NDArray[np.int64]:
    """Return the block of every class, -1 for those in several."""
    if not partition.classes:
        return np.zeros(0, dtype=np.int64)
    blocks = cut.labels[partition.order]
    starts = partition.offsets[:-1]
    low, high = np.minimum.reduceat(blocks, starts), np.maximum.reduceat(blocks, starts)
    return np.where(low == high, low, -1).astype(np.int64)


def _share(refine: Refine, share: float) -> Refine:
    moves = None if refine.moves is None else round(refine.moves * share)
    seconds = None if refine.seconds is None else max(refine.seconds * share, 1e-3)
    return replace(refine, moves=moves, seconds=seconds)


def _told(refine: Refine, told: list[tuple[int, dict[str, Any]]], records: int) -> dict[str, Any]:
    """Return how all blocks together went; losses are means over the records of the blocks."""
    counted = max(sum(size for size, _ in told), 1)
    before, after = (sum(size * one[key] for size, one in told) / counted for key in ("before", "after"))
    moves = sum(one["moves"] for _, one in told)
    reasons = sorted({one["ended"] for _, one in told})
    ended = f"{len(told)} blocks: {'; '.join(reasons)}" if told else "no class lies in one block"
    return Refinement(refine, before, after, moves, ended).to_dict()
