"""All privacy models of a policy as one set of thresholds over the statistics of a class.

`shoal.models.compile.compile_rules` makes them; a threshold that no model uses holds its neutral value, so
that every mix of models has the same signature and the same cached machine code.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Rules(NamedTuple):
    """Thresholds a class must meet; arrays run over the sensitive columns [s] or over all their values [v].

    The values of column j are ``start[j]:start[j + 1]`` of every [v] array.
    """

    k: int  # least size of a class; also the least size any of the other thresholds can be met with
    plain: bool  # nothing but the size matters: counting sensitive values can be skipped
    start: NDArray[np.int64]  # [s + 1]
    min_distinct: NDArray[np.int64]  # [s] 1 if unused
    min_entropy: NDArray[np.float64]  # [s] natural logarithm; 0 if unused
    recursive_l: NDArray[np.int64]  # [s] 0 if unused
    recursive_c: NDArray[np.float64]  # [s]
    t_equal: NDArray[np.float64]  # [s] 2 if unused, like the two below
    t_ordered: NDArray[np.float64]  # [s]
    t_tree: NDArray[np.float64]  # [s]
    bounded: NDArray[np.bool_]  # [s] whether `floor` and `cap` of this column can be broken
    share: NDArray[np.float64]  # [v] share of the value among all records that are not suppressed
    floor: NDArray[np.float64]  # [v] least share of the value in a class; 0 if unused
    cap: NDArray[np.float64]  # [v] greatest share of the value in a class; 2 if unused
    tree_levels: NDArray[np.int64]  # [s] levels of the sensitive hierarchy (leaf and root included), 0 if none
    tree_start: NDArray[np.int64]  # [s] where its node ids begin in `tree_node`
    tree_node: NDArray[np.int32]  # [level * size + value] as in `Space.node`
    tree_step: NDArray[np.float64]  # [level * size + value] cost of one unit of mass meeting at that node
