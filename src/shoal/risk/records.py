"""The risk of every record: prosecutor, journalist and marketer.

The prosecutor knows that the person is in the table, the journalist only that the person is in the population
it was drawn from, and the marketer is content with naming as many people as possible, whoever they are.

References
----------
Dankar and El Emam (2010): A method for evaluating marketer re-identification risk. El Emam (2013): Guide to
the De-Identification of Personal Health Information. Benedetti and Franconi (1998): Statistical and
technological solutions for controlled data dissemination.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .estimate import Estimate, exactly

THRESHOLDS = (
    0.05,
    0.09,
    0.2,
    0.33,
    0.5,
)  # those of guidelines: 0.05 and 0.09 for public use, 0.33 for closed
_LARGE = 200  # class size from which the expected journalist risk is its second-order expansion
_NODES, _WEIGHTS = np.polynomial.legendre.leggauss(200)


def group_sizes(groups: NDArray[np.integer]) -> NDArray[np.int64]:
    """Return, per record, how many records share its group; 0 where the group is negative.

    Examples
    --------
    >>> import numpy as np
    >>> group_sizes(np.array([0, 0, 1, -1])).tolist()
    [2, 2, 1, 0]
    """
    sizes = np.append(np.bincount(groups[groups >= 0]), 0)
    found: NDArray[np.int64] = sizes[groups]
    return found


def one_in(sizes: NDArray[np.integer]) -> NDArray[np.float64]:
    """Return 1 / size per record, 0 where there is nobody: a record that was not published has no risk.

    With the sizes of a record's group in the table this is the prosecutor's risk, with those of the group in
    the population the journalist's.
    """
    found: NDArray[np.float64] = np.divide(1.0, sizes, out=np.zeros(len(sizes)), where=sizes > 0)
    return found


def expected_one_in(sizes: NDArray[np.integer], fraction: float) -> NDArray[np.float64]:
    """Return the journalist's expected risk without a population table: E(1 / F) given the group's size f.

    The group's size F in the population is taken to be negative binomial: f records were drawn from F with
    probability `fraction` each. For f = 1 that is ``p / (1 - p) * ln(1 / p)``.

    Parameters
    ----------
    sizes : int[n]
        Records of the table in each record's group; 0: not published.
    fraction : float
        Share of the population that is in the table, above 0 and at most 1.

    Examples
    --------
    >>> import numpy as np
    >>> expected_one_in(np.array([1, 2, 0]), 0.1).round(4).tolist()
    [0.2558, 0.0827, 0.0]
    """
    distinct, place = np.unique(sizes, return_inverse=True)
    by_size = np.array([_expected(int(size), fraction) for size in distinct])
    found: NDArray[np.float64] = by_size[place.reshape(-1)]
    return found


def _expected(size: int, p: float) -> float:
    if size == 0:
        return 0.0
    if p >= 1.0:
        return 1.0 / size
    q = 1.0 - p
    if size > _LARGE:
        return p / (size - q)
    # E(1/F) = integral over [0, 1] of u^(f-1) p / (p + q u) du; with v = ln(p + q u) the integrand is smooth.
    start = float(np.log(p))
    v = start * (1 - _NODES) / 2
    u = np.maximum((np.exp(v) - p) / q, 0.0)
    return float((u ** (size - 1) * _WEIGHTS).sum() * (-start / 2) * p / q)


@dataclass(frozen=True, slots=True)
class RiskSummary:
    """The risks of all records in a few numbers.

    Attributes
    ----------
    highest : float
        The risk of the most exposed record.
    mean : Estimate
        The marketer's: the share of people who are named when everyone is guessed at.
    above : tuple of (threshold, share)
        Share of records whose risk is above each threshold.
    uniques : int
        Records that are alone in their group.
    """

    highest: float
    mean: Estimate
    above: tuple[tuple[float, float], ...]
    uniques: int

    @classmethod
    def of(cls, risks: NDArray[np.float64]) -> RiskSummary:
        """Return the summary of one risk per record of the original table.

        Examples
        --------
        >>> import numpy as np
        >>> found = RiskSummary.of(np.array([1.0, 0.5, 0.5, 0.0]))
        >>> found.highest, found.mean.value, found.uniques, found.above[2]
        (1.0, 0.5, 1, (0.2, 0.75))
        """
        n = len(risks)
        return cls(
            highest=float(risks.max(initial=0.0)),
            mean=exactly(risks.mean() if n else 0.0, n),
            above=tuple((t, float((risks > t).mean()) if n else 0.0) for t in THRESHOLDS),
            uniques=int((risks >= 1.0).sum()),
        )

    def to_dict(self) -> dict[str, Any]:
        """Return the summary as plain values."""
        return {
            "highest": self.highest,
            "mean": self.mean.to_dict(),
            "above": [{"threshold": threshold, "share": share} for threshold, share in self.above],
            "uniques": self.uniques,
        }


def histogram(sizes: NDArray[np.integer]) -> list[dict[str, Any]]:
    """Return the share of records by the size of their group, in steps that widen: 1, 2, 3-4, 5-9, ...

    Examples
    --------
    >>> import numpy as np
    >>> histogram(np.array([1, 3, 3, 3, 0]))[0]
    {'size': '1', 'least': 1, 'records': 1, 'share': 0.2}
    """
    edges = [1, 2, 3, 5, 10, 20, 50, 100, 1000]
    found = []
    for low, high in zip(edges, [*edges[1:], None], strict=True):
        inside = int(((sizes >= low) & (sizes < (np.inf if high is None else high))).sum())
        label = f"{low}+" if high is None else str(low) if high - low == 1 else f"{low}-{high - 1}"
        found.append({"size": label, "least": low, "records": inside, "share": inside / max(len(sizes), 1)})
    return found
