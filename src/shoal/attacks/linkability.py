"""Linkability: two lists about the same people, joined through the published table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import UnknownName
from ..params import Integer, Names, Optional, param
from ..risk.candidates import Candidates
from ..risk.estimate import share_of
from .base import Attack, AttackResult, CannotRun, Scene, listed, percent, share
from .scenes import asked, candidates_of

_FIGURES = 1 << 26  # of the matrices multiplied at once
_WORK = 1 << 36  # multiplications


@dataclass(frozen=True)
class Linkability(Attack):
    """The attacker has two lists of the same people: one holds some of the known columns, one the others.

    A person of one list may be the same as one of the other when a published record is among the nearest to
    both. He picks one of those at random. Guessing picks anyone of the other list.

    References
    ----------
    Giomi, Boenisch, Wehmeyer and Tasnádi (2022): A unified framework for quantifying privacy risk in
    synthetic data. Article 29 Working Party (2014): Opinion 05/2014 on anonymisation techniques.
    """

    name: ClassVar[str] = "linkability"
    summary: ClassVar[str] = "joins two lists about the same people through the published table"
    reference: ClassVar[str] = "Giomi et al. 2022"
    answer: ClassVar[str] = "k-anonymity"

    first: tuple[str, ...] | None = param(
        Optional(Names()), "columns of the first list; every second known column if none", default=None
    )
    people: int = param(Integer(2), "how many people the lists hold at most", default=1000)

    def run(self, scene: Scene, known: tuple[str, ...]) -> Iterator[AttackResult]:
        """Yield one result."""
        first, second = self._lists(known)
        people = asked(scene)[: self.people]
        near = candidates_of(scene, first, people), candidates_of(scene, second, people)
        joint = _joint(*near)
        people = people[: max(int((_WORK / max(len(joint[0]), 1)) ** 0.5), 100)]
        links = _links(near, joint, len(people))
        credits = np.diag(links) / np.maximum(links.sum(axis=1), 1)
        success = share(credits, scene.seed)
        baseline = share_of(1.0, len(people), scene.seed)
        verdict = (
            f"an attacker with a list of {listed(first)} and one of {listed(second)} joins "
            f"{percent(success.value)} of {len(people):,} people; guessing joins {percent(baseline.value)}"
        )
        details = {
            "first": list(first),
            "second": list(second),
            "list": len(people),
            "possible_partners": float(np.median(links.sum(axis=1))),
        }
        yield AttackResult(self.name, known, None, success, baseline, verdict=verdict, details=details)

    def _lists(self, known: tuple[str, ...]) -> tuple[tuple[str, ...], tuple[str, ...]]:
        if self.first is None:
            lists = known[::2], known[1::2]
        else:
            for name in self.first:
                if name not in known:
                    raise UnknownName.nearest("known column", name, list(known))
            lists = self.first, tuple(name for name in known if name not in self.first)
        if not lists[0] or not lists[1]:
            raise CannotRun("it takes two known columns to make two lists")
        return lists


def _joint(one: Candidates, two: Candidates) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the pairs of groups that share a published record."""
    width = len(two.cells.rows)
    first, second = np.divmod(np.unique(one.group * width + two.group), width)
    return first, second


def _links(
    candidates: tuple[Candidates, Candidates],
    joint: tuple[NDArray[np.int64], NDArray[np.int64]],
    people: int,
) -> NDArray[np.bool_]:
    """Return bool[first list, second list]: whether some published record is among the nearest to both."""
    near = [_nearest(each, people) for each in candidates]
    links = np.zeros((people, people), dtype=bool)
    step = max(_FIGURES // people, 1)
    for start in range(0, len(joint[0]), step):
        one, two = (
            each[:, pairs[start : start + step]].astype(np.float32)
            for each, pairs in zip(near, joint, strict=True)
        )
        links |= (one @ two.T) > 0
    return links


def _nearest(candidates: Candidates, people: int) -> NDArray[np.bool_]:
    """Return bool[person, group]: which groups are among the nearest to each of the first people."""
    asked_by: dict[int, list[int]] = {}
    for i, look in enumerate(candidates.person[:people].tolist()):
        asked_by.setdefault(look, []).append(i)
    near = np.zeros((people, len(candidates.cells.rows)), dtype=bool)
    for looks, starts, groups in candidates.lists():
        for place, look in enumerate(looks.tolist()):
            for i in asked_by.get(look, ()):
                near[i, groups[starts[place] : starts[place + 1]]] = True
    return near
