"""``shoal update``: a published table grows by new records."""

from __future__ import annotations

from pathlib import Path

import click

from ..errors import ParameterError
from .options import (
    STANDARD,
    PolicyOptions,
    Reading,
    check_target,
    policy_options,
    reading_options,
    screen_options,
)
from .screen import Screen

_EXAMPLES = """\b
Examples:
  shoal update march.csv --previous published.csv --policy policy.toml --out published-2.csv \\
      --state state.json --waiting waiting.parquet

\b
The state and the records that wait are read where their files exist, and written for the next update.
Keep the records that wait in the house: they are originals.
"""


@click.command(epilog=_EXAMPLES)
@click.argument("data")
@click.option("--previous", required=True, metavar="FILE", help="The table as it was published.")
@policy_options(promises=False)
@click.option("--out", "-o", metavar="FILE", help="Where the grown release goes.")
@click.option("--state", metavar="FILE", help="What earlier updates published; read and written.")
@click.option("--waiting", metavar="FILE", help="Records that could not be published yet; read and written.")
@click.option(
    "--m-invariance", type=int, metavar="M", help="Classes never grow and repeat no sensitive value."
)
@click.option("--same-values", is_flag=True, help="Join a class only with sensitive values that it shows.")
@click.option("--algorithm", "-a", default="auto", show_default=True, help="Of new classes.")
@click.option("--seed", default=0, show_default=True, help="Decides ties and random choices.")
@click.option("--force", is_flag=True, help="Overwrite an existing --out.")
@reading_options
@screen_options
def update(
    data: str,
    previous: str,
    policy: PolicyOptions,
    out: str | None,
    state: str | None,
    waiting: str | None,
    m_invariance: int | None,
    same_values: bool,
    algorithm: str,
    seed: int,
    force: bool,
    reading: Reading,
    screen: Screen,
) -> None:
    """Grow a published table by new records, changing nothing that was published before.

    Records join classes whose cells they fit, or make new ones, where those who come together keep the whole
    policy by themselves: whoever compares two releases sees who came. All others wait.
    """
    from .. import updating

    if out is not None:
        if out == STANDARD:
            raise ParameterError("an update is not written to standard output", hint="Name a file.")
        check_target(out, [reading.source(data), policy.policy, state, waiting], force=force)
    if out is not None and waiting is None:
        raise ParameterError(
            "--out needs --waiting", hint="Name a file for the records that cannot be published yet."
        )
    found = updating.update(
        reading.table(data),
        _plain(reading).table(previous),
        policy.read(),
        state=updating.State.read(state) if state is not None and Path(state).exists() else None,
        waiting=_plain(reading).table(waiting) if waiting is not None and Path(waiting).exists() else None,
        m_invariance=m_invariance,
        same_values=same_values,
        algorithm=algorithm,
        seed=seed,
        progress=screen.progress(),
    )
    if out is not None:
        found.write(out, state=state, waiting=waiting)
    screen.json(found.to_dict())
    screen.verdict(found.evidence)
    screen.line(
        f"{found.added.num_rows:,} records came: {found.joined:,} joined classes, "
        f"{found.added.num_rows - found.joined:,} made new ones; {found.waiting.num_rows:,} wait"
    )
    for exposure in found.exposures:
        screen.line(f"who compares releases: {exposure}")
    if out is not None:
        screen.line(f"Wrote {', '.join(name for name in (out, state, waiting) if name)}.")
        screen.warn(f"{waiting} holds originals: keep it in the house.")
    else:
        screen.advise("Nothing was written: add --out, --waiting and --state.")


def _plain(reading: Reading) -> Reading:
    """Return how files that shoal wrote are read."""
    return Reading(None, "utf-8", ("", *reading.nulls))
