"""auto: k-member where it is affordable, mondrian otherwise."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..encoding import Encoded
from ..partitions import Partition
from ..progress import Run
from .base import Algorithm
from .distinct import distinct_rows
from .k_member import KMember
from .mondrian import Mondrian

if TYPE_CHECKING:
    from ..kernels.rules import Rules

_BUDGET = 10.0  # seconds
_SECONDS = 3e-10  # per record, column and distinct row to the power of _GROWTH; measured by bench/core.py
_GROWTH = 0.7


def expected_seconds(records: int, rows: int, columns: int) -> float:
    """Return a rough forecast of how long k-member takes on one core.

    Examples
    --------
    >>> round(expected_seconds(1_000_000, 59_000, 8))
    5
    """
    return float(_SECONDS * records * columns * rows**_GROWTH)


@dataclass(frozen=True)
class Auto(Algorithm):
    """Choose `k-member` when it should take ten seconds or less, else `mondrian`.

    k-member loses 37 to 43 per cent less on Adult (k from 5 to 20), but its time grows faster than the table.
    The forecast rests on the number of records, columns and distinct quasi-identifier rows; how the data lie,
    how fast the machine is, the first compilation and what `enforce` has to repair are not part of it. Nor
    are losses compared: where the average row has several times k records, mondrian can be the better one.

    Examples
    --------
    >>> Auto().to_dict()
    {}
    """

    name: ClassVar[str] = "auto"
    summary: ClassVar[str] = "k-member where it is affordable, mondrian otherwise"

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        return self.choose(encoded).partition(encoded, rules, run)

    def choose(self, encoded: Encoded) -> Algorithm:
        """Return the algorithm that suits a table."""
        n, q = encoded.codes.shape
        if expected_seconds(n, n, q) <= _BUDGET:
            return KMember()
        rows = len(distinct_rows(encoded)[0])
        return KMember() if expected_seconds(n, rows, q) <= _BUDGET else Mondrian()
