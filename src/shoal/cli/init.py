"""``shoal init``: a first policy file, to be read and corrected."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from .options import STANDARD, Reading, check_target, reading_options, screen_options
from .screen import Screen

if TYPE_CHECKING:
    from ..proposing import Proposal

_EXAMPLES = """\b
Examples:
  shoal init patients.csv
  shoal init patients.csv --out patients.toml
  shoal init patients.csv --out -
"""


@click.command(epilog=_EXAMPLES)
@click.argument("data")
@click.option(
    "--out", "-o", default="policy.toml", show_default=True, help="Policy file to write; - for stdout."
)
@click.option("--force", is_flag=True, help="Overwrite an existing policy file.")
@reading_options
@screen_options
def init(data: str, out: str, force: bool, reading: Reading, screen: Screen) -> None:
    """Propose a policy file for a table: roles and kinds guessed from names, types and counts.

    Every guess comes with its reason. The file holds no values of the table.
    """
    from ..proposing import propose

    if out != STANDARD:
        check_target(out, [data], force=force)
    proposal = propose(reading.table(data))
    if out != STANDARD:
        Path(out).write_text(proposal.to_toml(), encoding="utf-8")
    elif not screen.as_json:
        click.echo(proposal.to_toml(), nl=False)
        return
    screen.json({"policy_file": None if out == STANDARD else out, **_plain(proposal)})
    screen.table(
        ["column", "role", "kind", "why"],
        [
            [p.column.name, p.column.role, p.column.kind or "", p.reason.rpartition(": ")[2]]
            for p in proposal.columns
        ],
        wrap=True,
    )
    screen.line(f"Wrote {out}.")
    screen.advise(f"Next: read and correct {out}, then: shoal audit {data} --policy {out}")


def _plain(proposal: Proposal) -> dict[str, Any]:
    from ..policy_file import to_dict

    reasons = {proposed.column.name: proposed.reason for proposed in proposal.columns}
    return {"policy": to_dict(proposal.policy), "reasons": reasons}
