"""What an algorithm is: it sees the encoded table and the rules, and returns a partition."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from ..encoding import Encoded
from ..params import Parameterised
from ..partitions import Partition
from ..progress import Run

if TYPE_CHECKING:
    from ..kernels.rules import Rules


@dataclass(frozen=True)
class Algorithm(Parameterised):
    """A partitioning algorithm; its parameters are its fields.

    `partition` returns a class for every record, or marks records as suppressed where the method itself does
    so. Classes should meet the rules as far as the method can see to it; `enforce` repairs the rest.

    Class attributes
    ----------------
    reference : str
        The publication it comes from.
    packed : bool
        Whether it asks for codes column by column, so that a large table may stay a `PackedEncoded`.
    block : int or None
        Records of a block that a big table is cut into unless told otherwise (`in_blocks.suited`), where the
        cost of the method grows much faster than the table; None where it works on tables of any size.
    """

    reference: ClassVar[str] = ""
    packed: ClassVar[bool] = False
    block: ClassVar[int | None] = None

    @abstractmethod
    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        """Return a partition of the records."""
