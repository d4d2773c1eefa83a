"""What a refinement is asked to do, and what it came to."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any, ClassVar

from ..errors import ParameterError
from ..params import Choice, Flag, Integer, Optional, Parameterised, Real, Text, param

LOSSES = ("gcp", "lm", "il", "lil", "sse")
TARGET_LOSSES = ("cm", "information-gain")

_DURATION = re.compile(r"\s*(\d+(?:\.\d+)?)\s*(s|sec|m|min|h)?\s*")
_SECONDS = {None: 1.0, "s": 1.0, "sec": 1.0, "m": 60.0, "min": 60.0, "h": 3600.0}


@dataclass(frozen=True)
class Refine(Parameterised):
    """How a partition is refined.

    Parameters
    ----------
    loss : "gcp", "lm", "il", "lil" or "sse"
        What becomes less, named as the metric: shoal's loss; the same with 0 or 1 for categories without
        hierarchy; Byun's information loss, by height in the hierarchy; the ranges of numbers, dates and ranks
        alone; or the squared error of class means, of points as microaggregation sees them
        (`shoal.embedding`).
    target : str, optional
        A column, sensitive or a quasi-identifier, that the classes should tell much of: what counts is then
        a weighted sum of the loss and of what is lost of this column.
    target_loss : "cm" or "information-gain"
        What is lost of it: the share of records that are not in the majority of their class; or the share of
        its entropy that the classes do not tell.
    target_weight : float
        Share of the target in the sum, the rest being that of the loss.
    seconds : float, optional
        Stop after this time.
    moves : int, optional
        Stop after this many moves. Without either, 40 moves a record.
    neighbours : int
        How many nearest rows count as near.
    classes : int
        Classes that one move takes apart, at most.
    tries : int
        Groupings tried in each move, of which the best is kept.
    temperature : float, optional
        Accept also what loses more: this many mean losses of a record at first, one time in e, and less and
        less towards the end of the budget; the best partition met is kept. 2.5 for "sse" when not given,
        nothing for the others, which have plateaus to walk on.
    afresh : bool, optional
        Start from the whole table divided into blocks, instead of the classes given. Decided by what either
        loses when not given.
    threads : int, optional
        All cores when not given. The result is the same for any number.

    Examples
    --------
    >>> Refine.of("2m"), Refine.of(True), Refine.of(False)
    (Refine(seconds=120.0), Refine(), None)
    """

    name: ClassVar[str] = "refine"
    summary: ClassVar[str] = "lowers the loss of a partition by small rearrangements that keep every promise"

    loss: str = param(Choice(LOSSES), "what becomes less, named as the metric", default="gcp")
    target: str | None = param(
        Optional(Text()), "column of labels that classes should tell much of", default=None
    )
    target_loss: str = param(Choice(TARGET_LOSSES), "what is lost of the target", default="cm")
    target_weight: float = param(
        Real(0, 0.99, open_low=True), "share of the target in what becomes less", default=0.5
    )
    seconds: float | None = param(Optional(Real(0, open_low=True)), "stop after this time", default=None)
    moves: int | None = param(Optional(Integer(0)), "stop after this many moves", default=None)
    neighbours: int = param(Integer(2, 1000), "how many nearest rows count as near", default=24)
    classes: int = param(Integer(2, 8), "classes that one move takes apart, at most", default=3)
    tries: int = param(Integer(1, 100), "groupings tried in each move", default=2)
    temperature: float | None = param(
        Optional(Real(0)), "losses accepted at first, in mean losses of a record; cools down", default=None
    )
    afresh: bool | None = param(
        Optional(Flag()), "start from the whole table divided; by their losses when none", default=None
    )
    threads: int | None = param(Optional(Integer(1)), "threads; all cores when none", default=None)

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.target is not None and self.loss == "sse":
            raise ParameterError(
                "'target' of refine does not go with the loss 'sse'", hint="Take gcp, lm, il or lil."
            )

    @classmethod
    def of(cls, asked: Any) -> Refine | None:
        """Return what `refine=` means: True, a time such as "30s" or "2m", seconds, or a `Refine`."""
        if asked is None or asked is False:
            return None
        if asked is True:
            return cls()
        if isinstance(asked, cls):
            return asked
        if isinstance(asked, int | float):
            return cls(seconds=asked)
        found = _DURATION.fullmatch(asked) if isinstance(asked, str) else None
        if found is None:
            raise ParameterError(
                "'refine' must be true, a time, or a shoal.Refine", hint='Such as: refine="30s".'
            )
        return cls(seconds=float(found[1]) * _SECONDS[found[2]])

    def __repr__(self) -> str:
        shown = ", ".join(f"{key}={value!r}" for key, value in self.to_dict().items())
        return f"Refine({shown})"


@dataclass(frozen=True, slots=True)
class Refinement:
    """What refining a partition came to. Holds no cell values.

    Attributes
    ----------
    refine : Refine
        With `afresh` as it was decided.
    before, after : float
        The loss, as a mean over all cells, each column by its weight.
    moves : int
        Moves made. The parameters of `refine`, with this number, make the same partition again.
    ended : str
        "budget", "time", "interrupted", "nothing to gain", or why nothing was done.
    curve : tuple of (moves, seconds, loss)
    parts : tuple of ((loss, loss of the target) before, the same after), optional
        The two losses of a weighted sum, where a target was named.
    """

    refine: Refine
    before: float
    after: float
    moves: int
    ended: str
    curve: tuple[tuple[int, float, float], ...] = ()
    parts: tuple[tuple[float, float], tuple[float, float]] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, for JSON."""
        told = {
            "parameters": self.refine.to_dict(),
            "loss": self.refine.loss,
            "before": self.before,
            "after": self.after,
            "moves": self.moves,
            "ended": self.ended,
            "curve": [list(point) for point in self.curve],
        }
        if self.parts is not None:
            before, after = ({"loss": loss, "target": target} for loss, target in self.parts)
            told["parts"] = {"before": before, "after": after}
        return told
