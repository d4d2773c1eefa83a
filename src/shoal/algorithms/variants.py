"""Algorithms with a paper's variant and a repaired one, which say what other parameters default to."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar, Self

from ..params import Choice, Constraint, Optional, param
from .base import Algorithm


def by_variant(constraint: Constraint, help: str) -> Any:
    """Declare a parameter that is as the variant says unless it is given."""
    return param(Optional(constraint), f"{help}; as the variant says when none", default=None)


@dataclass(frozen=True)
class Varied(Algorithm):
    """An algorithm whose `variant` decides what is left open.

    Class attributes
    ----------------
    variants : dict
        For "repaired" and "paper", the values of the parameters declared by `by_variant`.
    """

    variants: ClassVar[dict[str, dict[str, Any]]] = {}

    variant: str = param(
        Choice(("repaired", "paper")), "what the other choices default to", default="repaired"
    )

    @property
    def chosen(self) -> Self:
        """The same algorithm with everything the variant decides filled in."""
        decided = self.variants[self.variant]
        open_ones = {name: value for name, value in decided.items() if getattr(self, name) is None}
        return replace(self, **open_ones) if open_ones else self
