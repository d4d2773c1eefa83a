"""How full-domain algorithms refuse."""

from __future__ import annotations

from ..errors import PolicyUnsatisfiable
from ..partitions import Partition
from ..progress import Run


def publishable(partition: Partition, run: Run) -> Partition:
    """Return the partition of a node, or raise because it suppresses more than the policy allows."""
    n = partition.records
    if partition.classes and partition.suppressed <= run.suppression * n:
        return partition
    raise PolicyUnsatisfiable(
        f"the levels {', '.join(map(str, partition.levels))} would suppress {partition.suppressed / n:.1%} "
        f"of the records (limit {run.suppression:.1%})",
        hint="Raise the limit, or choose higher levels.",
    )


def refusal(run: Run) -> PolicyUnsatisfiable:
    """Return the error that no node of a lattice keeps the policy."""
    promises = " and ".join(dict.fromkeys(str(model) for model, _ in run.promises)) or "the policy"
    return PolicyUnsatisfiable(
        f"at no levels of generalization is {promises} kept with at most {run.suppression:.1%} of the "
        "records suppressed",
        hint="Raise the limit, weaken a promise, or drop a column from the quasi-identifiers.",
    )
