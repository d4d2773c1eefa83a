"""``shoal risk``: how exposed people are before and after."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .options import PolicyOptions, Reading, policy_options, reading_options, screen_options
from .screen import Screen

if TYPE_CHECKING:
    from ..risk.exposure import Exposure, Risk

_EXAMPLES = """\b
Examples:
  shoal risk patients.csv published.csv --policy policy.toml
  shoal risk patients.csv published.csv --policy policy.toml --sampling-fraction 0.1
  shoal risk patients.csv published.csv --policy policy.toml --population citizens.csv
"""


@click.command(epilog=_EXAMPLES)
@click.argument("original")
@click.argument("published", required=False)
@policy_options(promises=True)
@click.option(
    "--sampling-fraction", "fraction", type=float, help="Share of the population that is in the table."
)
@click.option("--population", help="A table of the population, the people of the original among them.")
@click.option("--seed", default=0, show_default=True, help="Of the intervals.")
@reading_options
@screen_options
def risk(
    original: str,
    published: str | None,
    policy: PolicyOptions,
    reading: Reading,
    screen: Screen,
    **options: Any,
) -> None:
    """Measure how exposed people are in a table, and in what was published of it.

    ORIGINAL is the table as it was; without PUBLISHED, only the risk before is measured.
    """
    from .. import api

    roles = policy.read(promising=False)
    before = reading.table(original)
    after = None if published is None else reading.published(published)
    people = None if options["population"] is None else reading.table(options["population"])
    with screen.progress().stage("measuring risk"):
        found = api.risk(
            before, after, roles, fraction=options["fraction"], population=people, seed=options["seed"]
        )
    screen.json(found.to_dict())
    show_risk(found, screen)


def show_risk(found: Risk, screen: Screen) -> None:
    """Show the risk before and after side by side."""
    tables = {"before": found.before} | ({} if found.after is None else {"after": found.after})
    columns = [_figures(each) for each in tables.values()]
    screen.table(["", *tables], [[name, *(column[name] for column in columns)] for name in columns[0]])
    for chosen in found.uniques.ranked(5):
        names, share = ", ".join(chosen["columns"]), chosen["share"]
        screen.line(
            f"{names}: {chosen['records']:,} records ({share:.1%}) of the original stand out by these"
        )


def _figures(found: Exposure) -> dict[str, str]:
    """Return what is shown about one table."""
    prosecutor, journalist = found.prosecutor, found.journalist
    shown = {
        "records": f"{found.records:,}",
        "classes": f"{found.classes:,}",
        "alone in their class": f"{prosecutor.uniques:,}",
        "highest risk (prosecutor)": f"{prosecutor.highest:.3g}",
        "mean risk (marketer)": f"{found.marketer.mean.value:.3g}",
    }
    shown |= {f"share of people above {limit:g}": f"{share:.1%}" for limit, share in prosecutor.above}
    if journalist is not None:
        shown["highest risk (journalist)"] = f"{journalist.highest:.3g}"
    if found.population is not None:
        share = found.population.share
        chosen = f"{share.value:.2%} ({found.population.chosen}, {share.low:.2%} to {share.high:.2%})"
        shown["unique in the population"] = chosen
    return shown
