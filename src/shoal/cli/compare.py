"""``shoal compare``: several algorithms and k in one table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import ParameterError
from ..frontier import frontier_cells
from .options import (
    Names,
    PolicyOptions,
    Reading,
    check_target,
    policy_options,
    reading_options,
    screen_options,
)
from .screen import Screen

if TYPE_CHECKING:
    from ..comparing import Comparison

_EXAMPLES = """\b
Examples:
  shoal compare patients.csv --policy policy.toml
  shoal compare patients.csv --policy policy.toml --algorithms mondrian,k-member --ks 5,10,20
  shoal compare patients.csv --quasi age,zip,job --ks 5,10
  shoal compare patients.csv --policy policy.toml --ks 2,5,10,20,50 --chart curve.html
"""


@click.command(epilog=_EXAMPLES)
@click.argument("data")
@policy_options(promises=True)
@click.option("--algorithms", type=Names(), default=(), help="Which algorithms. [all]")
@click.option("--ks", type=Names(), default=(), help="Several k in turn, such as 5,10,20. [the policy's]")
@click.option("--chart", metavar="FILE", help="Also draw loss against k as a page: curve.html.")
@click.option("--force", is_flag=True, help="Overwrite an existing chart.")
@click.option("--seed", default=0, show_default=True, help="Decides ties and random choices.")
@reading_options
@screen_options
def compare(
    data: str,
    policy: PolicyOptions,
    algorithms: tuple[str, ...],
    ks: tuple[str, ...],
    chart: str | None,
    force: bool,
    seed: int,
    reading: Reading,
    screen: Screen,
) -> int:
    """Compare what several algorithms reach on one table: loss, classes, suppressed records, time.

    With several k, shows what one more record to hide among costs, over a loss that nobody can undercut.

    Every release is made and verified as `shoal anonymize` does; none is written.
    """
    from .. import api, registry

    if chart is not None:
        check_target(chart, [data], force=force)
    wanted = _whole_numbers(ks)
    if wanted and policy.policy is None and policy.k is None:
        policy = PolicyOptions(
            **{name: getattr(policy, name) for name in policy.__slots__ if name != "k"}, k=wanted[0]
        )
    names = algorithms or tuple(name for name in registry.names("algorithms") if name != "auto")
    comparison = api.compare(
        reading.table(data),
        policy.read(),
        algorithms=names,
        k=wanted or None,
        seed=seed,
        progress=screen.progress(),
    )
    screen.json(comparison.to_dict())
    headings, rows = comparison.cells()
    screen.table(headings, rows)
    for row in comparison.rows:
        if row.error:
            screen.line(f"{row.algorithm}, k={row.k}: {row.error}")
    for k in dict.fromkeys(row.k for row in comparison.rows):
        best = comparison.best(k=k)
        if best is not None:
            screen.advise(f"Least loss{'' if k is None else f' for k={k}'}: {best.algorithm}.")
    _show_curve(comparison, chart, screen)
    return 0 if all(row.holds for row in comparison.rows) else 1


def _show_curve(comparison: Comparison, chart: str | None, screen: Screen) -> None:
    """Show loss against k where there are several, and draw it where a page is asked for."""
    points = comparison.frontier()
    if len(points) > 1:
        screen.table(*frontier_cells(points))
    if chart is not None:
        Path(chart).write_text(comparison.page(), encoding="utf-8")
        screen.line(f"Wrote {chart}.")


def _whole_numbers(texts: tuple[str, ...]) -> tuple[int, ...]:
    for text in texts:
        if not text.isdecimal():
            raise ParameterError("--ks must be whole numbers, such as 5,10,20")
    return tuple(int(text) for text in texts)
