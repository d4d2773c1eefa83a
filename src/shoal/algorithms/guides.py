"""What steers the growth of k-member's classes beside their loss: penalties, and the policy's promises."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from ..encoding import Encoded
from ..errors import DataError, PolicyError

if TYPE_CHECKING:
    from ..kernels.k_member_guided import Guides, Promises
    from ..kernels.rules import Rules


@dataclass(frozen=True, slots=True, eq=False)
class Guide:
    """One column that steers the growth.

    Attributes
    ----------
    kind : int
        One of the kinds in `kernels.k_member_guided`.
    codes : int32[n]
    size : int
        Number of values.
    penalty : float
        In fully generalised cells.
    column : int
        The sensitive column, -1 for another.
    truly : bool[size], optional
        Which values are truly sensitive.
    """

    kind: int
    codes: NDArray[np.int32]
    size: int
    penalty: float = 0.0
    column: int = -1
    truly: NDArray[np.bool_] | None = None


def promised(rules: Rules) -> NDArray[np.bool_]:
    """Return which sensitive columns anything is promised about."""
    nearest = np.minimum(np.minimum(rules.t_equal, rules.t_ordered), rules.t_tree)
    return (
        (rules.min_distinct > 1)
        | (rules.min_entropy > 0)
        | (rules.recursive_l > 0)
        | (nearest < np.inf)
        | rules.bounded
    )


def rule_guides(encoded: Encoded, rules: Rules) -> list[Guide]:
    """Return the guides for every sensitive column that something is promised about."""
    from ..kernels.k_member_guided import FAIR, RULE

    return [
        Guide(kind, encoded.sensitive_codes[:, j], encoded.sensitive[j].size, column=int(j))
        for j in np.flatnonzero(promised(rules))
        for kind in (RULE, FAIR)
    ]


def diversity_guides(encoded: Encoded, kind: str, penalty: float, values: tuple[str, ...]) -> list[Guide]:
    """Return a guide for every sensitive column, against classes of one value, or one of `values`."""
    from ..kernels.k_member_guided import EQUAL, TRULY

    if not encoded.sensitive:
        raise PolicyError(
            f"diversity={kind!r} needs a sensitive column, and the policy names none",
            hint="List what must not be learned: sensitive=[...].",
        )
    truly = [_among(column.values.to_pylist(), values) for column in encoded.sensitive]
    if kind == "sensitive" and not any(found.any() for found in truly):
        raise DataError(
            f"none of the {len(values)} truly sensitive values occurs in a sensitive column",
            hint="Name them as they stand in the table: truly_sensitive=[...].",
        )
    return [
        Guide(
            TRULY if kind == "sensitive" else EQUAL,
            encoded.sensitive_codes[:, j],
            size,
            penalty,
            -1,
            truly[j],
        )
        for j, size in enumerate(column.size for column in encoded.sensitive)
    ]


def label_guide(encoded: Encoded, name: str, penalty: float) -> Guide:
    """Return the guide towards classes of one class label."""
    from ..kernels.k_member_guided import LABEL

    return Guide(LABEL, *encoded.column_codes(name), penalty=penalty)


def _among(found: list[object], values: tuple[str, ...]) -> NDArray[np.bool_]:
    return np.array([value is not None and str(value) in values for value in found], dtype=np.bool_)


def make_guides(guides: list[Guide]) -> Guides:
    """Return the guides as the kernel takes them."""
    from ..kernels.k_member_guided import Guides
    from ..kernels.space import UNIT

    sizes = [guide.size for guide in guides]
    nothing = [np.zeros(size, dtype=np.bool_) for size in sizes]
    truly = [
        none if guide.truly is None else guide.truly for guide, none in zip(guides, nothing, strict=True)
    ]
    return Guides(
        kind=np.array([guide.kind for guide in guides], dtype=np.int8),
        penalty=np.array([round(UNIT * guide.penalty) for guide in guides], dtype=np.int64),
        column=np.array([guide.column for guide in guides], dtype=np.int64),
        start=np.concatenate([[0], np.cumsum(sizes)]).astype(np.int64),
        truly=np.concatenate([np.zeros(0, dtype=np.bool_), *truly]),
        count=np.zeros(sum(sizes), dtype=np.int64),
        distinct=np.zeros(len(guides), dtype=np.int64),
        largest=np.zeros(len(guides), dtype=np.int64),
    )


def make_promises(
    rules: Rules, sensitive: NDArray[np.int32], records: NDArray[np.int64], price: float
) -> Promises:
    """Return the policy, the supply of sensitive values before the first class, and the price in cells."""
    from ..kernels.k_member_guided import Promises
    from ..kernels.space import UNIT
    from ..kernels.stats import make_stats

    values = len(rules.overall)
    everyone = np.bincount(sensitive[:, records].ravel(), minlength=values).astype(np.int64)
    return Promises(
        rules=rules,
        stats=make_stats(rules),
        trial=make_stats(rules),
        supply=everyone.copy(),
        everyone=everyone,
        price=round(UNIT * price),
        limit=np.zeros(values, dtype=np.int64),
    )
