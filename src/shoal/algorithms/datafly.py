"""Datafly: generalise the column with the most values, level by level, until few enough records stand out."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..encoding import Encoded
from ..partitions import Partition
from ..progress import Run
from .base import Algorithm
from .full_domain import refusal
from .ladders import Ladders, Node
from .nodes import Assessor

if TYPE_CHECKING:
    from ..kernels.rules import Rules


@dataclass(frozen=True)
class Datafly(Algorithm):
    """Generalise the column with the most distinct values by one level, again and again, then suppress.

    It ends as soon as suppressing the classes that break a promise stays within the policy's limit; the paper
    allows k records, which is ``suppression = k / n``. Among columns with equally many values the first is
    taken. Every column is published at one level. What is found need not be optimal: see `lattice`.

    References
    ----------
    Sweeney (1998): Datafly: a system for providing anonymity in medical data.

    Examples
    --------
    >>> import shoal
    >>> age = shoal.Hierarchy.intervals(widths=[10, 20])
    >>> release = shoal.anonymize({"age": [21, 25, 34, 38]}, quasi={"age": age}, k=2, algorithm="datafly")
    >>> release.table["age"]
    ['[20, 29]', '[20, 29]', '[30, 39]', '[30, 39]']
    """

    name: ClassVar[str] = "datafly"
    summary: ClassVar[str] = "every column at one level: the one with most values climbs first"
    reference: ClassVar[str] = "Sweeney 1998"

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        ladders = Ladders.of(encoded, "levels")
        assessor = Assessor(encoded, rules, run, ladders)
        node = ladders.low
        with run.progress.stage("datafly") as stage:
            while not assessor.assess(node).possible:
                stage.advance()
                if node == ladders.high:
                    raise refusal(run)
                j = _widest(ladders, node)
                node = (*node[:j], node[j] + 1, *node[j + 1 :])
        return assessor.partition(node)


def _widest(ladders: Ladders, node: Node) -> int:
    """Return the column with the most values at a node among those that can climb."""
    able = [j for j, level in enumerate(node) if level < ladders.high[j]]
    return max(able, key=lambda j: (ladders.occurring[j][node[j]], -j))
