"""The quick reproduction of a paper, run once for all tests that ask for it, and what every one must show."""

from __future__ import annotations

import functools
from collections.abc import Sequence

from shoal import registry
from shoal.papers.base import Verdict
from shoal.papers.scorecard import Scorecard, reproduce
from shoal.progress import Run


@functools.cache
def quick(paper: str) -> Scorecard:
    """Return the scorecard of a paper's quick run."""
    return reproduce(registry.get("papers", paper)(quick=True), Run(0))


def verdict(paper: str, words: str) -> Verdict:
    """Return the verdict on the first claim that has these words."""
    return next(finding.verdict for finding in quick(paper).findings if words in finding.claim)


def check_card(paper: str, claims: Sequence[object], figures: set[str]) -> None:
    """Fail unless every claim has a verdict and what was measured, and these figures have rows."""
    card = quick(paper)
    assert len(card.findings) == len(claims)
    assert all(finding.measured for finding in card.findings)
    assert {figure.key for figure in card.figures} >= figures
    assert all(figure.rows for figure in card.figures)
