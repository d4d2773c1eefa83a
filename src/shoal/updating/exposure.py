"""What comparing releases tells: who joined a class since when hides among those who joined it with them.

Rows that were published stay as they were, so whoever holds two releases sees the rows that were added to
each class in between. An attacker who knows in which release a person first appeared looks among those only.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from .state import Added, State


@dataclass(frozen=True, slots=True)
class Exposure:
    """What an attacker learns who knows a person's class and the release they first appeared in.

    Attributes
    ----------
    release : int
    people : int
        Who first appeared in it.
    smallest : int
        The fewest people that anyone hides among.
    certain : dict of sensitive column to float
        Share of these people whose value is certain: all who joined their class with them have it.
    best_guess : dict of sensitive column to float
        Share that naming the most frequent value of those gets right.
    guessing : dict of sensitive column to float
        Share that naming the most frequent value of the whole release gets right.
    """

    release: int
    people: int
    smallest: int
    certain: dict[str, float]
    best_guess: dict[str, float]
    guessing: dict[str, float]

    def __str__(self) -> str:
        parts = [
            f"{name} is certain for {self.certain[name]:.1%}, guessed for {self.best_guess[name]:.1%} "
            f"(without the classes {self.guessing[name]:.1%})"
            for name in self.certain
        ]
        found = f"release {self.release}: {self.people:,} people came, each among at least {self.smallest}"
        return "; ".join([found, *parts])

    def to_dict(self) -> dict[str, Any]:
        """Return the exposure as plain values."""
        return asdict(self)


def exposures(state: State) -> list[Exposure]:
    """Return what comparing all releases so far tells about the people of each of them.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> policy = shoal.Policy(quasi=["age"], sensitive=["ill"], models=[shoal.KAnonymity(2)])
    >>> first = pa.table({"age": ["[20, 29]"] * 2, "ill": ["flu", "cold"]})
    >>> state = State.of(first, policy).with_release(pa.table({"age": ["[20, 29]"], "ill": ["gout"]}))
    >>> [(each.people, each.smallest, each.certain["ill"]) for each in exposures(state)]
    [(2, 2, 0.0), (1, 1, 1.0)]
    """
    return [_exposure(state, number) for number in range(1, state.releases + 1)]


def _exposure(state: State, number: int) -> Exposure:
    parts = [part for added in state.classes.values() for part in added if part.release == number]
    people = sum(part.records for part in parts)
    certain, guessed, overall = {}, {}, {}
    for name in state.sensitive:
        sure = sum(part.records for part in parts if len(part.values[name]) == 1)
        right = sum(max(part.values[name].values()) for part in parts)
        certain[name], guessed[name] = sure / max(people, 1), right / max(people, 1)
        overall[name] = _most_frequent(parts, name) / max(people, 1)
    smallest = min((part.records for part in parts), default=0)
    return Exposure(number, people, smallest, certain, guessed, overall)


def _most_frequent(parts: list[Added], name: str) -> int:
    totals: dict[str | None, int] = {}
    for part in parts:
        for value, count in part.values[name].items():
            totals[value] = totals.get(value, 0) + count
    return max(totals.values(), default=0)
