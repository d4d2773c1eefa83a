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
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..grouping import Coded, combine, dense, pair

LARGEST = 4  # columns of a minimal sample unique
MOST_COLUMNS = 12  # their sets of up to four columns number 793


@dataclass(frozen=True, slots=True, eq=False)
class Uniques:
    """What singles records out.

    Attributes
    ----------
    names : tuple of str
        The columns that were searched: those with most values when there are many.
    unique : bool[n]
        Records alone with their values in all columns, searched or not.
    in_pairs : int
        Records that share theirs with exactly one other.
    minimal : int64[n, largest]
        Number of minimal sample uniques of each record, by their size.
    scores : float64[n]
        SUDA score: the sum of (q - m)! over a record's minimal sample uniques of m columns, for q columns
        searched. 0 for records without any.
    sets : tuple of (columns, records)
        For every set of columns, how many records it singles out.
    """

    names: tuple[str, ...]
    unique: NDArray[np.bool_]
    in_pairs: int
    minimal: NDArray[np.int64]
    scores: NDArray[np.float64]
    sets: tuple[tuple[tuple[str, ...], int], ...]

    @property
    def special(self) -> NDArray[np.bool_]:
        """Uniques that fewer columns than all single out."""
        return np.asarray(self.minimal[:, : len(self.names) - 1].any(axis=1), dtype=bool)

    def disclosive(self, fraction: float) -> NDArray[np.float64]:
        """Return the DIS-SUDA score of every record: how likely a match with it is correct.

        Elliot's data intrusion simulation gives one probability for all sample uniques, from how many records
        are alone and how many in pairs; scores spread it over the records.

        Parameters
        ----------
        fraction : float
            Share of the population that is in the table.

        References
        ----------
        Elliot (2000): DIS: a new approach to the measurement of statistical disclosure risk.
        """
        found, scored = np.zeros(len(self.scores)), self.scores > 0
        unique = int(self.unique.sum())
        if unique == 0 or not scored.any():
            return found
        chance = unique * fraction / (unique * fraction + self.in_pairs * (1 - fraction))
        power = self.scores[scored] ** (1 + (8 - len(self.names)) / 20)
        found[scored] = 1 / (1 + (unique / chance - unique) / (power * (1 / power).sum()))
        return found

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
    singled: dict[tuple[int, ...], NDArray[np.uint8]] = {}  # whom each set singles out, eight to a byte
    counted = []
    for members, alone in _by_subsets(kept, largest):
        counted.append((tuple(chosen[j] for j in members), int(alone.sum())))
        packed = np.packbits(alone)
        if len(members) < largest:
            singled[members] = packed
        for subset in itertools.combinations(members, len(members) - 1):
            if subset:
                packed = packed & ~singled[subset]
        minimal[:, len(members) - 1] += np.unpackbits(packed, count=n)
    everything = combine(columns)
    sizes = np.bincount(everything.codes, minlength=everything.size)
    worth = [math.factorial(q - m) for m in range(1, largest + 1)]
    return Uniques(
        names=chosen,
        unique=sizes[everything.codes] == 1,
        in_pairs=2 * int((sizes == 2).sum()),
        minimal=minimal,
        scores=(minimal * np.array(worth, dtype=np.float64)).sum(axis=1),
        sets=tuple(counted),
    )


def _by_subsets(
    columns: Sequence[Coded], largest: int, head: tuple[int, ...] = (), grouped: Coded | None = None
) -> Iterator[tuple[tuple[int, ...], NDArray[np.bool_]]]:
    """Yield (columns, whom they single out) for every set of at most `largest`, after all of its subsets.

    Sets are extended to the front, so that at most `largest` groupings are held at once.
    """
    for j in range(head[0] if head else len(columns)):
        here = columns[j] if grouped is None else dense(*pair(grouped, columns[j]))
        yield (j, *head), np.bincount(here.codes, minlength=here.size)[here.codes] == 1
        if len(head) + 1 < largest:
            yield from _by_subsets(columns, largest, (j, *head), here)
