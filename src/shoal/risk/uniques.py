"""Sample uniques, special uniques and the sets of columns that single people out.

A set of columns is a minimal sample unique of a record when no other record shares its values there, and none
of the set's own subsets tells it apart as well. A record that is unique by few columns is likely to be unique
in the population too: such records are called special.

References
----------
Elliot, Manning and Ford (2002): A computational algorithm for handling the special uniques problem. Manning,
Haglin and Keane (2008): A recursive search algorithm for statistical disclosure assessment (SUDA2).
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..grouping import Coded, dense, pair

LARGEST = 4  # columns of a minimal sample unique
MOST_COLUMNS = 12  # their sets of up to four columns number 793


@dataclass(frozen=True, slots=True, eq=False)
class Uniques:
    """What singles records out.

    Attributes
    ----------
    names : tuple of str
        The columns that were searched.
    unique : bool[n]
        Records alone with their values in all of these columns.
    minimal : int64[n, largest]
        Number of minimal sample uniques of each record, by their size.
    scores : float64[n]
        SUDA score: the sum over a record's minimal sample uniques of size m of (q - m) (q - m - 1) ...
        (q - largest) for q columns. 0 for records without any.
    sets : tuple of (columns, records)
        For every set of columns, how many records it singles out.
    """

    names: tuple[str, ...]
    unique: NDArray[np.bool_]
    minimal: NDArray[np.int64]
    scores: NDArray[np.float64]
    sets: tuple[tuple[tuple[str, ...], int], ...]

    @property
    def special(self) -> NDArray[np.bool_]:
        """Uniques that fewer columns than all single out."""
        return np.asarray(self.minimal[:, : len(self.names) - 1].any(axis=1), dtype=bool)

    def ranked(self, most: int = 10) -> list[dict[str, Any]]:
        """Return the sets that single out most: up to three a size, each more than any smaller set."""
        found: list[dict[str, Any]] = []
        best, n = 0, len(self.unique)
        ordered = sorted(self.sets, key=lambda found: (len(found[0]), -found[1]))
        for size, group in itertools.groupby(ordered, key=lambda found: len(found[0])):
            better = [s for s in itertools.islice(group, 3) if s[1] > best]
            found += [
                {"columns": list(columns), "size": size, "records": records, "share": records / n}
                for columns, records in better
            ]
            best = max([best, *(records for _, records in better)])
        return found[:most]

    def to_dict(self) -> dict[str, Any]:
        """Return the counts as plain values."""
        n = max(len(self.unique), 1)
        return {
            "searched": list(self.names),
            "unique": int(self.unique.sum()),
            "unique_share": float(self.unique.sum() / n),
            "special": int(self.special.sum()),
            "special_share": float(self.special.sum() / n),
            "minimal_by_size": {
                str(size + 1): int((self.minimal[:, size] > 0).sum()) for size in range(self.minimal.shape[1])
            },
            "highest_score": float(self.scores.max(initial=0.0)),
            "identifying_sets": self.ranked(),
        }


def find_uniques(columns: Sequence[Coded], names: Sequence[str], largest: int = LARGEST) -> Uniques:
    """Return what singles records out, by sets of at most `largest` columns.

    Parameters
    ----------
    columns : sequence of Coded
        One code per record and column. The `MOST_COLUMNS` with most values are searched.
    names : sequence of str
    largest : int

    Examples
    --------
    >>> import numpy as np
    >>> age, sex = Coded(np.array([0, 0, 1, 1]), 2), Coded(np.array([0, 1, 1, 1]), 2)
    >>> found = find_uniques([age, sex], ["age", "sex"])
    >>> found.unique.tolist(), found.minimal.tolist()
    ([True, True, False, False], [[1, 0], [0, 1], [0, 0], [0, 0]])
    """
    by_size = sorted(range(len(columns)), key=lambda j: -columns[j].size)[:MOST_COLUMNS]
    kept = [columns[j] for j in sorted(by_size)]
    chosen = tuple(names[j] for j in sorted(by_size))
    n, q = len(kept[0].codes), len(kept)
    largest = min(largest, q)
    minimal = np.zeros((n, largest), dtype=np.int64)
    singled: dict[tuple[int, ...], NDArray[np.int64]] = {}  # the records each set singles out
    grouped: dict[tuple[int, ...], Coded] = {}
    for size in range(1, largest + 1):
        wider: dict[tuple[int, ...], Coded] = {}
        for members in itertools.combinations(range(q), size):
            head, last = members[:-1], kept[members[-1]]
            keys, slots = pair(grouped[head], last) if head else (last.codes, last.size)
            alone = _alone(keys, slots)
            singled[members] = np.flatnonzero(alone)
            for subset in itertools.combinations(members, size - 1):
                if subset:
                    alone[singled[subset]] = False
            minimal[alone, size - 1] += 1
            if size < largest and members[-1] < q - 1:
                wider[members] = dense(keys, slots)
        grouped = wider
    worth = [math.prod(range(q - min(largest, q - 1), q - m + 1)) for m in range(1, largest + 1)]
    everything = kept[0]
    for column in kept[1:]:
        everything = dense(*pair(everything, column))
    sets = tuple((tuple(chosen[j] for j in members), len(found)) for members, found in singled.items())
    unique = _alone(everything.codes, everything.size)
    scores = (minimal * np.array(worth, dtype=np.float64)).sum(axis=1)
    return Uniques(chosen, unique, minimal, scores, sets)


def _alone(keys: NDArray[np.int64], slots: int) -> NDArray[np.bool_]:
    """Return which records have a key that no other has."""
    coded = dense(keys, slots)
    found: NDArray[np.bool_] = np.bincount(coded.codes, minlength=coded.size)[coded.codes] == 1
    return found
