"""``shoal attack``: attacks on a published table, the original being the truth."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from .. import registry
from ..errors import ParameterError
from .options import Names, PolicyOptions, Reading, policy_options, reading_options, screen_options
from .screen import Screen

if TYPE_CHECKING:
    from ..attacks.base import AttackResult, Attacks

_EXAMPLES = """\b
Examples:
  shoal attack patients.csv published.csv --policy policy.toml
  shoal attack patients.csv published.csv --policy policy.toml --known age,sex,zip --known job
  shoal attack patients.csv published.csv --policy policy.toml --attack background,b=2
"""


@click.command(epilog=_EXAMPLES)
@click.argument("original")
@click.argument("published")
@policy_options(promises=True)
@click.option(
    "--known", type=Names(), multiple=True, help="What an attacker knows; repeatable. [all quasi-identifiers]"
)
@click.option(
    "--attack", "chosen", multiple=True, metavar="NAME[,PARAMETER=VALUE]", help="Repeatable. [all attacks]"
)
@click.option("--control", help="A table of people who are not in the original.")
@click.option("--other", help="A second published table about the same people.")
@click.option("--other-policy", metavar="FILE", help="The policy it was published under. [--policy]")
@click.option("--same-order", is_flag=True, help="Row i of both tables is the same person.")
@click.option("--sample", default=10_000, show_default=True, help="Attack at most so many people.")
@click.option("--seed", default=0, show_default=True, help="Draws the people.")
@reading_options
@screen_options
def attack(
    original: str, published: str, policy: PolicyOptions, reading: Reading, screen: Screen, **options: Any
) -> None:
    """Attack a published table: how many people are found, and how much is learned about them.

    ORIGINAL is the table it was made from, which only serves to tell who is right. Every attack is compared
    with guessing, and with the original as if it had been published as it is.
    """
    from .. import api
    from ..policy import Policy

    attacks = [_attack(text) for text in options["chosen"]] or None
    promised = policy.read(promising=False)
    before, after = reading.table(original), reading.published(published)
    kinds = {"control": reading.table, "other": reading.published}
    means = {name: read(options[name]) for name, read in kinds.items() if options[name]}
    if options["other_policy"]:
        means["other_policy"] = Policy.read(options["other_policy"])
    if options["same_order"]:
        if before.num_rows != after.num_rows:
            raise ParameterError(
                f"the tables have {before.num_rows} and {after.num_rows} records, so their order differs",
                hint="Leave out --same-order.",
            )
        means["rows"] = range(before.num_rows)
    found = api.attack(
        before,
        after,
        promised,
        known=list(options["known"]) or None,
        attacks=attacks,
        before=True,
        progress=screen.progress(),
        sample=options["sample"],
        seed=options["seed"],
        **means,
    )
    screen.json(found.to_dict())
    show_attacks(found, screen)


def _attack(text: str) -> Any:
    """Return an attack from its name and parameters: ``background,b=2``."""
    name, *settings = (part.strip() for part in text.split(","))
    kind = registry.get("attacks", name)
    texts = dict(setting.partition("=")[::2] for setting in settings)
    if not all("=" in setting for setting in settings):
        raise ParameterError(
            f"--attack {text!r} is not NAME,PARAMETER=VALUE", hint="Such as: background,b=2."
        )
    return kind.create(kind.parse(texts))


def show_attacks(found: Attacks, screen: Screen) -> None:
    """Show attacks as a table, then the verdicts."""
    sets = list(dict.fromkeys(result.known for result in found.results))
    for i, known in enumerate(sets, 1):
        screen.line(f"attacker {i} knows {', '.join(known)}")
    screen.table(
        ["attack", "by", "learns", "succeeds (95%)", "guessing", "control", "on the original"],
        [_row(result, sets.index(result.known) + 1) for result in found.results],
        wrap=True,
    )
    for result in found.results:
        screen.line(f"{result.attack}: {result.verdict}")
    for missing in found.not_run:
        screen.line(f"{missing.attack}: not run: {missing.reason}")
    everyone = found.people == found.records
    asked = "all" if everyone else f"{found.people:,} of"
    screen.line(f"attacked: {asked} {found.records:,} people (seed {found.seed})")


def _row(result: AttackResult, attacker: int) -> list[str]:
    success = result.success
    return [
        result.attack,
        str(attacker),
        result.column or "-",
        f"{success.value:.2%} ({success.low:.2%} to {success.high:.2%})",
        f"{result.baseline.value:.2%}",
        "-" if result.control is None else f"{result.control.value:.2%}",
        "-" if result.before is None else f"{result.before.value:.2%}",
    ]
