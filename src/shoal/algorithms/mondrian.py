"""Mondrian: cut the table at medians as long as both sides keep the policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from ..encoding import Encoded
from ..params import Flag, param
from ..partitions import Partition
from ..progress import Run
from .base import Algorithm

if TYPE_CHECKING:
    from ..kernels.rules import Rules

_STEP = 1 << 18  # records after which progress is told


@dataclass(frozen=True)
class Mondrian(Algorithm):
    """Multidimensional median cuts, widest column first, until no cut leaves both sides within the policy.

    Parameters
    ----------
    relaxed : bool
        Let records whose value equals the median go to either side, so that both have the same size; records
        with equal quasi-identifiers may then end in different classes.

    Notes
    -----
    A node's columns are tried by falling share of their full loss (ties: more distinct values, null being
    one, then the order of the policy). The cuts of a column, in this order:

    - Null and values mixed: null on one side, values on the other.
    - With a hierarchy: all children of the common ancestor, if every one of them keeps the policy; else two
      groups of neighbouring children, as even as possible. `relaxed` changes nothing here.
    - Otherwise the values up to the lower median go left (those below it, if it is the greatest), in the
      order of numbers or of the alphabet, null last.

    References
    ----------
    LeFevre, K., DeWitt, D. J. and Ramakrishnan, R. (2006): Mondrian multidimensional k-anonymity. ICDE.

    Examples
    --------
    >>> Mondrian().relaxed
    False
    """

    name: ClassVar[str] = "mondrian"
    summary: ClassVar[str] = "cuts the table at medians, widest column first; fast on any size"
    reference: ClassVar[str] = "LeFevre, DeWitt and Ramakrishnan 2006"

    relaxed: bool = param(Flag(), "let equal values part so that halves are even", default=False)

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        from ..kernels.mondrian import cut_some, make_work

        n = encoded.records
        labels = np.empty(n, dtype=np.int32)
        with run.progress.stage("mondrian", total=n) as stage:
            space, sensitive = encoded.space(), encoded.flat_sensitive()
            work = make_work(encoded.codes.copy(order="C"), space, rules.k)
            done = 0
            while done < n:
                step = cut_some(work, sensitive, space, rules, self.relaxed, labels, _STEP)
                stage.advance(step)
                done += step
            del work  # larger than the table
        return Partition.from_labels(labels)
