"""Greedy k-member: grow one class after another, always by the record that costs it least."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, ClassVar

from ..encoding import Encoded
from ..params import Choice, Flag, Names, Optional, Real, Text, param
from ..partitions import Partition
from ..progress import Run, Stage
from .growth import Growth
from .guides import Guide, diversity_guides, label_guide, rule_guides
from .sparing import outliers, rules_of, total_cost
from .variants import Varied, by_variant

if TYPE_CHECKING:
    from ..kernels.rules import Rules


_PRICES = (0.0, 0.25, 1.0)  # which is best depends on k and on how rare the sensitive values are
_TRIED = 20_000  # records up to which all of them are tried


@dataclass(frozen=True)
class KMember(Varied):
    """Start a class at the record furthest from the last one, add the record that costs least until full.

    Every pick is the true minimum over all records that are left, found on a tree of boxes over the distinct
    rows. Equal picks are decided by a random order of the records, drawn from the seed.

    Parameters
    ----------
    variant : "repaired" or "paper"
        Sets `furthest_from`, `loss` and `promises` where they are none: seed, own and grow, or last, height
        and repair.
    furthest_from : "seed" or "last"
        Whether a class starts furthest from the first record of the class before (the paper's prose) or from
        its last one (its pseudo-code).
    loss : "own" or "height"
        What grows least: shoal's loss, or the paper's height of the common ancestor, by which a column
        without hierarchy costs nothing with one value and everything with more.
    promises : "grow" or "repair"
        Whether a record joins only where the class can still come to keep the whole policy, or classes grow
        by size alone and `enforce` merges those that fail.
    price : float, optional
        In fully generalised cells: what a class may lose more by a record that the promises force upon it
        than by the cheapest one. A class that would lose more is given up, and its records join others. When
        none, 1; in tables of up to 20,000 records, whichever of 0, 0.25 and 1 loses least.
    diversity : "none", "equal" or "sensitive"
        Whether a record costs `diversity_penalty` more while it and all records of the class have the same
        sensitive value, or the same truly sensitive value.
    diversity_penalty : float
        In fully generalised cells: what the loss of the class may grow by to avoid it.
    truly_sensitive : list of str
        The truly sensitive values, as text.
    label : str, optional
        Column of class labels, sensitive or a quasi-identifier. A record whose label is not a most frequent
        one of the class costs `label_penalty` more.
    label_penalty : float
        In fully generalised cells.
    suppress : bool
        Suppress outliers, within the policy's limit, where that lowers the loss, suppressed cells counting
        as fully generalised.

    Notes
    -----
    A class is done at the policy's least size or, where it must be larger to keep the other promises, as soon
    as it keeps them. It takes only records with which it can be completed, and of those, while there are any,
    only such as later classes can spare. The records that are left over, fewer than k or such that no class
    could be made of within the price, each join the class whose total loss grows least among those that keep
    the policy, in the order of the ties. Fewer than 2k records make one class.

    References
    ----------
    Byun, J.-W., Kamra, A., Bertino, E. and Li, N. (2007): Efficient k-anonymization using clustering
    techniques. DASFAA.

    Examples
    --------
    >>> KMember(furthest_from="last").to_dict()
    {'furthest_from': 'last'}
    """

    name: ClassVar[str] = "k-member"
    summary: ClassVar[str] = "grows classes of k records, each by the record that costs least; low loss"
    reference: ClassVar[str] = "Byun, Kamra, Bertino and Li 2007"
    variants: ClassVar[dict[str, dict[str, Any]]] = {
        "repaired": {"furthest_from": "seed", "loss": "own", "promises": "grow"},
        "paper": {"furthest_from": "last", "loss": "height", "promises": "repair"},
    }

    furthest_from: str | None = by_variant(
        Choice(("seed", "last")), "record of the last class that the next one starts far from"
    )
    loss: str | None = by_variant(Choice(("own", "height")), "loss that grows least")
    promises: str | None = by_variant(
        Choice(("grow", "repair")), "keep the whole policy while classes grow, or merge afterwards"
    )
    price: float | None = param(
        Optional(Real(0)), "cells a class may lose for a pick that promises force", default=None
    )
    diversity: str = param(
        Choice(("none", "equal", "sensitive")),
        "which classes of one sensitive value to avoid",
        default="none",
    )
    diversity_penalty: float = param(Real(0), "cells worth generalising to avoid one", default=10.0)
    truly_sensitive: tuple[str, ...] = param(Names(), "the truly sensitive values, as text", default=())
    label: str | None = param(Optional(Text()), "column of class labels to keep apart", default=None)
    label_penalty: float = param(Real(0), "cells worth generalising for one more label alike", default=1.0)
    suppress: bool = param(Flag(), "suppress outliers where that lowers the loss", default=False)

    def partition(self, encoded: Encoded, rules: Rules, run: Run) -> Partition:
        chosen = self.chosen
        space = encoded.space(heights=chosen.loss == "height")
        guides = chosen.guides(encoded, rules)
        sparing = self.suppress and run.suppression > 0
        with run.progress.stage("k-member", total=(1 + sparing) * encoded.records) as stage:
            everyone = run.rng().permutation(encoded.records)
            made = chosen.grown(Growth(encoded, space, rules, everyone), guides, stage)
            if sparing:
                kept = ~outliers(made, encoded, space, int(run.suppression * encoded.records))
                some = Growth(encoded, space, rules_of(kept, encoded, rules, run), everyone[kept[everyone]])
                again = chosen.grown(some, guides, stage)
                made = min(made, again, key=lambda one: total_cost(one, encoded, space))
        return made

    def guides(self, encoded: Encoded, rules: Rules) -> list[Guide]:
        """Return what steers the growth beside the loss; nothing where only k is asked for."""
        found: list[Guide] = []
        if self.diversity != "none":
            values = self.truly_sensitive
            found += diversity_guides(encoded, self.diversity, self.diversity_penalty, values)
        if self.label is not None:
            found.append(label_guide(encoded, self.label, self.label_penalty))
        if self.promises == "grow":
            found += rule_guides(encoded, rules)
        return found

    def grown(self, growth: Growth, guides: list[Guide], stage: Stage) -> Partition:
        """Return the classes of the records that are to grow."""
        from_last = self.furthest_from == "last"
        if growth.small:
            stage.advance(len(growth.by_priority))
            return growth.together()
        strict = self.promises == "grow"
        if not guides:
            return growth.with_leftovers(growth.plain(from_last, stage), every_promise=strict)
        made = [
            growth.with_leftovers(growth.guided(guides, price, from_last, stage), every_promise=strict)
            for price in self._prices(growth, guides)
        ]
        return min(made, key=growth.failing_and_cost) if len(made) > 1 else made[0]

    def _prices(self, growth: Growth, guides: list[Guide]) -> tuple[float, ...]:
        """Return the prices to try: one, unless none is given, promises force picks, the table is small."""
        if self.price is not None:
            return (self.price,)
        forced = any(guide.column >= 0 for guide in guides)
        return _PRICES if forced and len(growth.by_priority) <= _TRIED else _PRICES[-1:]
