"""All privacy models of a policy as one set of thresholds over the statistics of a class.

`shoal.models.compile.compile_rules` makes them; a threshold that no model uses holds its neutral value, so
that every mix of models has the same signature and the same cached machine code.

Limits are factors of the class size: a count or a moved mass ``x`` in a class of ``n`` records is compared as
``x <= limit * n``. They are placed between the last ratio that is allowed and the first that is not, so that
rounding cannot move a class over the line.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Rules(NamedTuple):
    """Thresholds a class must meet; arrays run over the sensitive columns [s] or over all their values [v].

    The values of column j are ``start[j]:start[j + 1]`` of every [v] array. Mass is moved in units of one
    record of the class times one record of the table, which makes every earth mover's distance a sum of whole
    numbers.
    """

    k: int  # least size of a class; also the least size any of the other thresholds can be met with
    plain: bool  # nothing but the size matters: counting sensitive values can be skipped
    start: NDArray[np.int64]  # [s + 1]
    min_distinct: NDArray[np.int64]  # [s] 1 if unused; at least l where an entropy l is asked for
    min_entropy: NDArray[np.float64]  # [s] natural logarithm; 0 if unused
    recursive_l: NDArray[np.int64]  # [s] 0 if unused
    recursive_c: NDArray[np.float64]  # [s]
    t_equal: NDArray[np.float64]  # [s] limit of the mass moved; inf if unused, like the two below
    t_ordered: NDArray[np.float64]  # [s] limit of the mass times the ranks it is moved over
    t_tree: NDArray[np.float64]  # [s] limit of the mass times twice the levels it is lifted
    bounded: NDArray[np.bool_]  # [s] whether `floor` or `cap` of this column can be broken
    total: float  # records that are not suppressed
    overall: NDArray[np.float64]  # [v] records with the value among those; whole numbers
    floor: NDArray[np.float64]  # [v] least share of the value in a class that holds it; 0 if unused
    cap: NDArray[np.float64]  # [v] greatest share of the value in a class; inf if unused
    tree_levels: NDArray[
        np.int64
    ]  # [s] levels of the sensitive hierarchy (leaf and root included), 0 if none
    tree_start: NDArray[np.int64]  # [s] where its node ids begin in `tree_node`
    tree_node: NDArray[np.int32]  # [level * size + value] as in `Space.node`
    tree_step: NDArray[
        np.float64
    ]  # [level * size + value] height of the node above minus height of this node
