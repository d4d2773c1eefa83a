"""``shoal dp-centroid``: microaggregation with a proof, for tables of numbers with known bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from ..errors import ParameterError
from .options import (
    STANDARD,
    PolicyOptions,
    Reading,
    check_target,
    reading_options,
    screen_options,
    written_names,
)
from .screen import Screen

if TYPE_CHECKING:
    from ..private_centroids import PrivateRelease

_EXAMPLES = """\b
Examples:
  shoal dp-centroid patients.csv --policy bounded.toml --epsilon 1 --out published.csv

\b
The policy names numeric quasi-identifiers, each with a domain that was known before the table was:
  [columns.age]
  role = "quasi"
  kind = "numeric"
  domain = [0, 120]
"""


@click.command("dp-centroid", epilog=_EXAMPLES)
@click.argument("data")
@click.option("--policy", "-p", metavar="FILE", required=True, help="Policy file (TOML or JSON).")
@click.option("--epsilon", "-e", type=float, required=True, help="Budget of the release; less protects more.")
@click.option("--out", "-o", metavar="FILE", help="Where the release goes; - for CSV on stdout.")
@click.option("--force", is_flag=True, help="Overwrite existing output.")
@reading_options
@screen_options
def dp_centroid(
    data: str,
    policy: str,
    epsilon: float,
    out: str | None,
    force: bool,
    reading: Reading,
    screen: Screen,
) -> None:
    """Publish means of k records or more with noise of a stated epsilon: differential privacy, proved.

    Only the policy's bounded quasi-identifiers are published; a policy that would publish another column is
    refused. Needs the extra: pip install 'shoal[dp]'.
    """
    from ..private_centroids import dp_centroid as make

    if screen.as_json and out == STANDARD:
        raise ParameterError("--json and --out - both want standard output", hint="Name a file.")
    screen.data_on_stdout = out == STANDARD
    if out not in (None, STANDARD):
        check_target(str(out), [reading.source(data), policy], force=force)
    release = make(reading.table(data), PolicyOptions(policy=policy).read(), epsilon=epsilon)
    if out is not None:
        release.write(out)
    _show(release, out, screen)


def _show(release: PrivateRelease, out: str | None, screen: Screen) -> None:
    written = [] if out is None or out == STANDARD else written_names(out)
    screen.json({"written": written, **release.manifest()})
    screen.verdict(release.evidence)
    proof = release.evidence.promises[0].parameters
    for name in ("neighbours", "composition", "mechanism", "covers"):
        screen.line(f"{name}: {proof[name]}")
    screen.line(
        "shares of epsilon: " + ", ".join(f"{name} {spent:.4g}" for name, spent in proof["shares"].items())
    )
    if written:
        screen.line(f"Wrote {' and '.join(written)}.")
    elif out is None:
        screen.advise("Nothing was written: add --out published.csv.")
