"""CANON: a vantage-point tree over the numeric columns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np

from ..encoding import Encoded
from ..params import Choice, Integer, param
from ..partitions import Partition
from ..progress import Run
from .vantage import RADII, VANTAGES, Grove, make_plan
from .variants import Varied, by_variant

if TYPE_CHECKING:
    from ..kernels.rules import Rules


@dataclass(frozen=True)
class Canon(Varied):
    """Cut the table into balls by Euclidean distance over the normalised numeric columns.

    Parameters
    ----------
    variant : "repaired" or "paper"
        Sets `vantage`, `radius` and `distance` where they are none: tightest, cheapest and mixed, or random,
        half and numeric.
    vantage, radius, candidates
        As in `Rayden`.
    distance : "numeric" or "mixed"
        Euclidean over the numeric, ordinal and date columns, all others being ignored; or the same where
        there are no others, and Gower's distance over all columns, along hierarchies, where there are.

    References
    ----------
    Canbay, Y., Sagiroglu, S. and Vural, Y. (2022): CANON: a new anonymization model. Balkan Journal of
    Electrical and Computer Engineering 10(3).

    Examples
    --------
    >>> Canon(variant="paper").chosen.distance
    'numeric'
    """

    name: ClassVar[str] = "canon"
    summary: ClassVar[str] = "cuts balls around records by their numbers; no outliers"
    reference: ClassVar[str] = "Canbay, Sagiroglu and Vural 2022"
    variants: ClassVar[dict[str, dict[str, Any]]] = {
        "repaired": {"vantage": "tightest", "radius": "cheapest", "distance": "mixed"},
        "paper": {"vantage": "random", "radius": "half", "distance": "numeric"},
    }

    vantage: str | None = by_variant(Choice(VANTAGES), "how the centre of a ball is chosen")
    radius: str | None = by_variant(Choice(RADII), "how large a ball is")
    candidates: int = param(Integer(1, 1024), "centres that are compared", default=16)
    distance: str | None = by_variant(Choice(("numeric", "mixed")), "columns that distances are measured in")

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        chosen = self.chosen
        assert chosen.vantage is not None
        assert chosen.radius is not None
        lines = all(column.positions is not None for column in encoded.quasi)
        order = run.rng().permutation(encoded.records)
        euclidean = lines or chosen.distance == "numeric"
        grove = Grove.of(encoded, rules, order, by_tree=not euclidean, euclidean=euclidean)
        plan = make_plan(chosen.vantage, chosen.radius, chosen.candidates, rules.k, run)
        labels = np.full(encoded.records, -1, dtype=np.int32)
        with run.progress.stage("canon", total=encoded.records) as stage:
            parts = grove.grown(plan, stage)
        if chosen.radius == "value":
            parts = parts.merged()
        parts.write_labels(labels, order)
        return Partition.from_labels(labels)
