"""What `auto` tried, as a table: for the command line and the report."""

from __future__ import annotations

from typing import Any

HEADINGS = ("start", "loss", "refined", "seconds", "")


def tried_rows(told: dict[str, Any]) -> list[tuple[str, ...]]:
    """Return a row for every start, from what the provenance says of `auto`.

    Examples
    --------
    >>> dop = {"algorithm": "dop", "loss": 0.2, "seconds": 1.5}
    >>> tried = [dop, {"algorithm": "knn", "loss": None, "seconds": 1}]
    >>> refinement = {"moves": 9000, "ended": "budget", "loss": 0.125, "seconds": 3.25}
    >>> for row in tried_rows({"tried": tried, "chosen": "dop", "refinement": refinement}):
    ...     print(row)
    ('dop', '0.2000', '0.1250', '1.5 + 3.2', 'chosen')
    ('knn', '-', '', '1.0', 'cannot keep the policy')
    """
    rows: list[tuple[str, ...]] = []
    for one in told["tried"]:
        loss, seconds, refined, remark = one["loss"], f"{one['seconds']:.1f}", "", ""
        if loss is None:
            remark = "cannot keep the policy"
        elif one["algorithm"] == told["chosen"]:
            remark = "chosen"
            if told["refinement"] is not None:
                refined = f"{told['refinement']['loss']:.4f}"
                seconds += f" + {told['refinement']['seconds']:.1f}"
        rows.append((one["algorithm"], "-" if loss is None else f"{loss:.4f}", refined, seconds, remark))
    return rows


def tried_sentence(told: dict[str, Any]) -> str:
    """Return why the start was chosen that was, as a sentence.

    Examples
    --------
    >>> tried_sentence({"chosen": "dop", "because": "least gcp of 2, 3 tried", "refinement": None})
    'auto chose dop: least gcp of 2, 3 tried.'
    """
    text = f"auto chose {told['chosen']}: {told['because']}"
    refinement = told["refinement"]
    if refinement is None:
        return f"{text}."
    return f"{text}. Then refined in {refinement['moves']:,} moves; ended: {refinement['ended']}."
