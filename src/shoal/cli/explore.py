"""``shoal explore``: the levels at which a table could be published, and what they cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from .options import (
    PolicyOptions,
    Reading,
    algorithm_parameters,
    policy_options,
    reading_options,
    screen_options,
)
from .screen import Screen

if TYPE_CHECKING:
    from ..exploration import Exploration

_EXAMPLES = """\b
Examples:
  shoal explore patients.csv --policy policy.toml
  shoal explore patients.csv --policy policy.toml --set solutions=20 --lattice lattice.csv
  shoal anonymize patients.csv --policy policy.toml -a lattice --set levels=2,0,3 -o published.csv
"""


@click.command(epilog=_EXAMPLES)
@click.argument("data")
@policy_options(promises=True)
@click.option(
    "--set",
    "settings",
    multiple=True,
    metavar="NAME=VALUE",
    help="See: shoal algorithms lattice. Repeatable.",
)
@click.option(
    "--lattice", "lattice_file", metavar="FILE", help="Write every node with its state and its loss."
)
@click.option("--seed", default=0, show_default=True, help="For lattices too large to be searched in full.")
@reading_options
@screen_options
def explore(
    data: str,
    policy: PolicyOptions,
    settings: tuple[str, ...],
    lattice_file: str | None,
    seed: int,
    reading: Reading,
    screen: Screen,
) -> None:
    """Show at which levels of its hierarchies a table could be published, and what is lost at them.

    Every column is published at one level (full-domain generalization). DATA is a CSV, Parquet or Arrow file,
    or - for standard input. Ctrl-C ends the search with the best levels found so far.
    """
    from .. import api, io

    parameters = {"solutions": 5, **algorithm_parameters("lattice", settings)}
    promised = policy.read()
    found = api.explore(reading.table(data), promised, seed=seed, progress=screen.progress(), **parameters)
    if lattice_file is not None:
        io.write(found.lattice, lattice_file)
    screen.json(found.to_dict())
    _show(found, screen)
    if lattice_file is not None:
        screen.line(f"Wrote {lattice_file}.")
    if found.solutions:
        levels = ",".join(map(str, found.solutions[0].levels.values()))
        screen.advise(f"Next: shoal anonymize ... --algorithm lattice --set levels={levels}")


def _show(found: Exploration, screen: Screen) -> None:
    screen.table(
        ["loss", "suppressed", *found.columns],
        [
            [f"{solution.loss:.4f}", f"{solution.suppressed:,}", *map(str, solution.levels.values())]
            for solution in found.solutions
        ],
    )
    if not found.solutions:
        screen.line("At no levels is the policy kept within its limit on suppression.")
    known = (
        "no other levels lose less"
        if found.optimal
        else "others may lose less: the search was not exhaustive"
    )
    screen.line(f"{found.assessed:,} of {found.size:,} combinations looked at; {known}")
