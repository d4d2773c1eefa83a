"""``shoal verify``: every promise recomputed from a published table."""

from __future__ import annotations

import click

from .options import PolicyOptions, Reading, policy_options, reading_options, screen_options
from .screen import Screen

_EXAMPLES = """\b
Examples:
  shoal verify published.csv --policy policy.toml
  shoal verify published.csv --quasi age,zip --sensitive diagnosis -k 5 -l 2
"""


@click.command(epilog=_EXAMPLES)
@click.argument("data")
@policy_options(promises=True)
@reading_options
@screen_options
def verify(data: str, policy: PolicyOptions, reading: Reading, screen: Screen) -> int:
    """Recompute every promise of a policy from a published table, whoever made it.

    Exit status 1 means that the table does not keep the policy.
    """
    from .. import api

    promised = policy.read()
    table = reading.table(data)
    with screen.progress().stage("verifying"):
        evidence = api.verify(table, promised)
    screen.json(evidence.to_dict())
    screen.verdict(evidence)
    return 0 if evidence.holds else 1
