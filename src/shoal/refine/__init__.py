"""refine: takes any partition and lowers its loss by small rearrangements that keep every promise.

A few neighbouring classes are taken apart, their records grouped anew, greedily from another seed, and the
result is kept if it loses no more. Millions of such moves are made, each on its own handful of records.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from ..encoding import Encoded
from ..errors import PolicyUnsatisfiable
from ..partitions import Partition
from ..policy import Policy
from ..progress import Run, interruptible
from .settings import LOSSES, Refine, Refinement

if TYPE_CHECKING:
    from .search import Search

__all__ = ["LOSSES", "Refine", "Refinement", "make_search", "refined"]


def refined(partition: Partition, encoded: Encoded, policy: Policy, run: Run, refine: Refine) -> Partition:
    """Return a partition with no more loss that keeps the policy as well; notes in `run` how it went.

    Interrupted (Ctrl-C), it returns the best partition so far. Promises that are no thresholds over a class
    are checked at the end: where the refined classes break them and repairing takes more than was gained,
    the partition stays as it was. So does a full-domain generalization.
    """
    if partition.uniform or partition.classes == 0:
        run.notes["refinement"] = Refinement(refine, 0.0, 0.0, 0, "full-domain: nothing was done").to_dict()
        return partition
    with interruptible() as check:
        try:
            search = make_search(partition, encoded, policy, refine)
            check()
        except KeyboardInterrupt:
            unchanged = Refinement(refine, 0.0, 0.0, 0, "interrupted before it began")
            run.notes["refinement"] = unchanged.to_dict()
            return partition
        with run.progress.stage(f"refining ({refine.loss})", total=search.steps) as stage:
            search.run(run.seed, stage, check)
        return _best(search, partition, encoded, policy, run)


def make_search(partition: Partition, encoded: Encoded, policy: Policy, refine: Refine) -> Search:
    """Return the local search for this loss and policy, at its start."""
    from .annealing import Annealing
    from .losses import Losses
    from .regrouping import Regrouping
    from .squares import SquaredError

    if refine.loss != "sse":
        return Regrouping(partition, encoded, policy, refine, Losses(encoded, partition, refine))
    kind = Annealing if policy.compile(encoded).plain else Regrouping
    return kind(partition, encoded, policy, refine, SquaredError(encoded, refine))


def _best(search: Search, partition: Partition, encoded: Encoded, policy: Policy, run: Run) -> Partition:
    """Return what the search has found, repaired, or the partition it began with if that loses no more."""
    start, costs = partition, search.costs
    found = _repaired(partition.relabelled(search.classes.label), encoded, policy, run)
    ended, after, loss_of = search.ended, search.before, costs.loss_of
    if found is not None and loss_of(found) < search.before:
        partition, after = found, loss_of(found)
    elif search.total < search.before:
        ended += "; a promise that is checked at the end would have cost more than was gained"
    run.notes["refinement"] = Refinement(
        replace(search.refine, afresh=search.afresh),
        search.before / search.cells,
        after / search.cells,
        search.moves,
        ended,
        tuple(search.curve),
        (costs.parts(start), costs.parts(partition)) if search.refine.target is not None else None,
    ).to_dict()
    return partition


def _repaired(partition: Partition, encoded: Encoded, policy: Policy, run: Run) -> Partition | None:
    """Return the partition repaired until it keeps all of the policy, None where that cannot be done."""
    from ..enforce import enforce
    from ..levels import check_most

    try:
        repaired = enforce(partition, encoded, policy, run)
        check_most(repaired, encoded)
    except PolicyUnsatisfiable:
        return None
    return repaired
