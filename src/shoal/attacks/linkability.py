"""Linkability: two lists about the same people, joined through the published table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from ..errors import UnknownName
from ..kernels.matching import share_a_bit
from ..params import Integer, Names, Optional, param
from ..risk.candidates import Candidates
from ..risk.estimate import share_of
from .base import Attack, AttackResult, CannotRun, Scene, listed, percent, share
from .scenes import asked, candidates_of


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
        links = _links(near)
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


def _links(candidates: tuple[Candidates, Candidates]) -> NDArray[np.bool_]:
    """Return bool[first list, second list]: whether some published record is among the nearest to both."""
    near = [_reached(each) for each in candidates]
    # Groups of the two lists that share a record; only those that someone of each list comes nearest to.
    first, second = (each.group for each in candidates)
    both = near[0][first] & near[1][second]
    width = len(candidates[1].cells.rows)
    pairs = np.divmod(np.unique(first[both] * width + second[both]), width)
    one, two = (_bits(each, groups) for each, groups in zip(candidates, pairs, strict=True))
    links = np.zeros((len(one), len(two)), dtype=bool)
    share_a_bit(one, two, links)
    return links[np.ix_(candidates[0].person, candidates[1].person)]


def _reached(candidates: Candidates) -> NDArray[np.bool_]:
    """Return which groups are among the nearest to anyone."""
    reached = np.zeros(len(candidates.cells.rows), dtype=bool)
    for _, _, groups in candidates.lists():
        reached[groups] = True
    return reached


def _bits(candidates: Candidates, groups: NDArray[np.int64]) -> NDArray[np.uint64]:
    """Return, per look, 64 to a word, whether each of these groups is among the nearest to it."""
    words = -(-len(groups) // 64)
    bits = np.zeros((len(candidates.known), words * 8), dtype=np.uint8)
    for looks, starts, nearest in candidates.lists():
        for look, start, end in zip(looks, starts[:-1], starts[1:], strict=True):
            near = np.zeros(len(candidates.cells.rows), dtype=bool)
            near[nearest[start:end]] = True
            packed = np.packbits(near[groups])
            bits[look, : len(packed)] = packed
    return bits.view(np.uint64)
