"""``shoal audit``: what a table gives away as it is."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..errors import ParameterError
from .options import PolicyOptions, Reading, policy_options, reading_options, screen_options
from .screen import Screen

if TYPE_CHECKING:
    from ..auditing import Audit

_EXAMPLES = """\b
Examples:
  shoal audit patients.csv --policy policy.toml
  shoal audit patients.csv --quasi age,zip,job --sensitive diagnosis
  shoal audit patients.csv --policy policy.toml --sampling-fraction 0.1
"""


@click.command(epilog=_EXAMPLES)
@click.argument("data")
@policy_options(promises=False)
@click.option(
    "--sampling-fraction", "fraction", type=float, help="Share of the population that is in the table."
)
@reading_options
@screen_options
def audit(data: str, policy: PolicyOptions, fraction: float | None, reading: Reading, screen: Screen) -> None:
    """Show what a table gives away as it is: who stands out, by which columns, what is certain about whom.

    DATA is a CSV, Parquet or Arrow file, or - for standard input.
    """
    from .. import api

    quasi, sensitive = _roles(policy)
    table = reading.table(data)
    with screen.progress().stage("auditing"):
        found = api.audit(table, quasi=quasi, sensitive=sensitive, fraction=fraction)
    screen.json(found.to_dict())
    show_audit(found, screen)
    if policy.policy is None:
        screen.advise(f"Next: shoal init {data}, then shoal anonymize.")
    else:
        screen.advise(f"Next: shoal anonymize {data} --policy {policy.policy} --out published.csv")


def _roles(policy: PolicyOptions) -> tuple[tuple[str, ...], tuple[str, ...]]:
    if policy.policy is None:
        if not policy.quasi:
            raise ParameterError(
                "neither --policy nor --quasi is given",
                hint="Name columns that others may know: --quasi age,zip.",
            )
        return policy.quasi, policy.sensitive
    schema = policy.read().schema
    return (
        tuple(column.name for column in schema.quasi),
        tuple(column.name for column in schema.sensitive),
    )


def show_audit(found: Audit, screen: Screen) -> None:
    """Show an audit as tables."""
    from ..auditing import exposure_lines

    screen.table(
        ["records", "classes", "smallest class", "unique records", "in classes under 5"],
        [
            [
                f"{found.records:,}",
                f"{found.classes:,}",
                f"{found.smallest_class:,}",
                f"{found.unique:,} ({found.unique_share:.1%})",
                f"{found.small:,} ({found.small_share:.1%})",
            ]
        ],
    )
    screen.table(
        ["knowing only these columns", "singles out records", "share"],
        [[", ".join(s.columns), f"{s.singled_out:,}", f"{s.share:.1%}"] for s in found.identifying],
        wrap=True,
    )
    for smallest in dict.fromkeys(smallest for _share, smallest in found.smallest_sets):
        names = ", ".join(smallest.columns)
        shares = [share for share, other in found.smallest_sets if other == smallest]
        screen.line(f"{max(shares):.0%} of the records are singled out by as few columns as: {names}")
    if found.risk is not None:
        for line in exposure_lines(found.risk):
            screen.line(line)
    if not found.sensitive:
        return
    screen.table(
        ["sensitive", "certain, shared", "certain, alone", "l", "t", "most revealing"],
        [
            [
                risk.column,
                f"{risk.certain:,} ({risk.certain_share:.1%})",
                f"{risk.certain_alone:,}",
                f"{risk.l}",
                f"{risk.t:.3f} ({risk.distance})",
                f"{', '.join(risk.revealing)}: {risk.revealed:,}" if risk.revealed else "-",
            ]
            for risk in found.sensitive
        ],
        wrap=True,
    )
