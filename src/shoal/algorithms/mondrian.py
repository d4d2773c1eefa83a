"""Mondrian: cut the table at medians as long as both sides keep the policy."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..packed import narrowest
from ..params import Flag, param
from ..partitions import Partition
from ..progress import Run
from .base import Algorithm

if TYPE_CHECKING:
    from ..kernels.rows import Rows
    from ..kernels.rules import Rules

_FILL = 1 << 14  # rows that stay in the processor's cache while every column is written into them
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
    packed: ClassVar[bool] = True

    relaxed: bool = param(Flag(), "let equal values part so that halves are even", default=False)

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        from ..kernels.mondrian import cut_some, make_work

        n = encoded.records
        labels = np.empty(n, dtype=np.int32)
        with run.progress.stage("mondrian", total=n) as stage:
            space = encoded.space()
            sensitive = np.empty((0, 0), dtype=np.int32) if rules.plain else encoded.flat_sensitive()
            work = make_work(_rows(encoded), space, rules.k, self.relaxed)
            done = 0
            while done < n:
                step = cut_some(work, sensitive, space, rules, self.relaxed, labels, _STEP)
                stage.advance(step)
                done += step
            del work, sensitive  # larger than the table
        return Partition.from_labels(labels)


def _rows(encoded: Encoded) -> Rows:
    """Return the codes row by row, each column in 1, 2 or 4 bytes."""
    from ..kernels.rows import Rows

    n = encoded.records
    width = np.array([np.dtype(narrowest(column.size)).itemsize for column in encoded.quasi])
    begin = np.zeros(len(width), dtype=np.int64)
    stride = 0
    for j in np.argsort(-width, kind="stable"):  # wide ones first: all stand at multiples of their width
        begin[j], stride = stride, stride + width[j]
    held = np.zeros((n, -(-stride // 4) * 4), dtype=np.uint8)
    rows = Rows(held, held.view(np.uint16), held.view(np.int32), width, begin // width)
    by_width: dict[int, NDArray[Any]] = {1: rows.bytes, 2: rows.halves, 4: rows.words}
    stored = [encoded.stored(j) for j in range(len(width))]
    for first in range(0, n, _FILL):
        part = slice(first, first + _FILL)
        for j, codes in enumerate(stored):
            by_width[int(width[j])][part, rows.at[j]] = codes[part]
    return rows
