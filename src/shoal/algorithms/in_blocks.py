"""Any algorithm on a large table: Mondrian cuts it into blocks, and the algorithm works in each alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..encoding import Encoded
from ..errors import ParameterError
from ..params import Integer, Parameter
from ..partitions import SUPPRESSED, Partition
from ..progress import Progress, Run
from .base import Algorithm
from .mondrian import Mondrian

if TYPE_CHECKING:
    from ..kernels.rules import Rules

BIG = 100_000  # records beyond which algorithms work in blocks of their own accord, where they have a size
WHOLE = 0  # as the size of blocks: none, however big the table is
_BLOCKS = Parameter("blocks", Integer(2), "records in a block, at most", 100_000)


@dataclass(frozen=True)
class InBlocks(Algorithm):
    """Another algorithm, working block by block.

    The outer cut is Mondrian's, for as long as both sides have at least half as many records as a block and
    keep the policy: so a block has from half of `blocks` records to that many, or more where no cut is
    allowed. Classes never reach across blocks, which costs some loss; `bench/blocks.py` prints how much.

    Parameters
    ----------
    inner : Algorithm
    blocks : int
        Records in a block; 0 for the whole table at once.

    Examples
    --------
    >>> blocked = InBlocks.around(Mondrian(relaxed=True), "1000")
    >>> blocked.name, blocked.to_dict()
    ('mondrian', {'relaxed': True, 'blocks': 1000})
    """

    packed: ClassVar[bool] = True

    inner: Algorithm
    blocks: int

    @classmethod
    def around(cls, inner: Algorithm, blocks: Any) -> InBlocks:
        """Return an algorithm in blocks; their size may be a text, as on the command line."""
        value = _BLOCKS.constraint.parse(blocks) if isinstance(blocks, str) else blocks
        made = cls(inner, WHOLE if value == WHOLE else _BLOCKS.check(inner.name, value))
        object.__setattr__(made, "name", inner.name)
        return made

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters of the algorithm, and the size of the blocks."""
        return {**self.inner.to_dict(), "blocks": self.blocks}

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        part = replace(run, progress=Progress(), policy=None)
        if not self.cuts(encoded.records):
            return self.inner.partition(encoded.whole(), rules, run)
        cut = self.cut(encoded, rules, run)
        labels = np.full(encoded.records, SUPPRESSED, dtype=np.int64)
        classes = 0
        with run.progress.stage("blocks", total=cut.classes) as stage:
            for block in range(cut.classes):
                rows = cut.members(block)
                found = self.inner.partition(encoded.take(rows), rules, part)
                _refuse_levels(found, self.name)
                labels[rows] = np.where(found.labels < 0, SUPPRESSED, found.labels + classes)
                classes += found.classes
                stage.advance()
        return Partition.from_labels(labels)

    def cuts(self, records: int) -> bool:
        """Return whether a table of so many records is cut at all."""
        return WHOLE < self.blocks < records

    def cut(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        """Return the blocks: classes of Mondrian of at least half as many records."""
        outer = rules._replace(k=max(rules.k, self.blocks // 2))
        return Mondrian().partition(encoded, outer, replace(run, progress=Progress()))


def suited(algorithm: Algorithm, records: int) -> Algorithm:
    """Return an algorithm as it takes on a table of so many records: in blocks, where it would take for ever.

    Examples
    --------
    >>> from shoal.algorithms.gcaa import Gcaa
    >>> suited(Gcaa(), 1_000_000).to_dict(), suited(Gcaa(), 50_000).to_dict()
    ({'blocks': 10000}, {})
    """
    if algorithm.block is None or records <= BIG or isinstance(algorithm, InBlocks):
        return algorithm
    return InBlocks.around(algorithm, algorithm.block)


def _refuse_levels(found: Partition, name: str) -> None:
    if found.uniform or any(found.levels):
        raise ParameterError(
            f"{name} publishes a column at one level everywhere, so it cannot work in blocks",
            hint="Leave 'blocks' out, or take another algorithm.",
        )
