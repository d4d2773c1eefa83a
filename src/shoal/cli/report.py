"""``shoal report``: everything known about a published table, on one page."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import ParameterError
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
    from ..io.databases import Address

_EXAMPLES = """\b
Examples:
  shoal report patients.csv published.csv --policy policy.toml --out report.html
  shoal report patients.csv published.csv -p policy.toml -o report.html,report.json --target cost
  shoal report patients.csv published.csv -p policy.toml --template markdown

\b
.html is one page that loads nothing, .json the same numbers, .md a short summary.
shoal anonymize --report FILE makes one together with a release, and knows more of it.
"""


@click.command(epilog=_EXAMPLES)
@click.argument("original")
@click.argument("published")
@policy_options(promises=True)
@click.option("--out", "-o", type=Names(), default=(), help="Where it goes: .html, .json or .md; several.")
@click.option(
    "--template",
    type=click.Choice(["html", "json", "markdown"]),
    help="What to print without --out. [markdown]",
)
@click.option("--target", help="A column that models are trained to predict.")
@click.option("--fraction", type=float, help="Share of the population that is in the table.")
@click.option("--attacks/--no-attacks", default=True, show_default=True, help="Whether attacks are run.")
@click.option("--queries", default=1000, show_default=True, help="How many COUNT queries are drawn.")
@click.option("--seed", default=0, show_default=True, help="Draws queries, samples and splits.")
@click.option("--input-hash", is_flag=True, help="Tell the hash of ORIGINAL: only if the report stays.")
@click.option("--force", is_flag=True, help="Overwrite existing output.")
@reading_options
@screen_options
def report(
    original: str,
    published: str,
    policy: PolicyOptions,
    out: tuple[str, ...],
    template: str | None,
    target: str | None,
    fraction: float | None,
    attacks: bool,
    queries: int,
    seed: int,
    input_hash: bool,
    force: bool,
    reading: Reading,
    screen: Screen,
) -> int:
    """Report on a published table: verdict, cost, risk, attacks, utility, and how to repeat it.

    ORIGINAL is the table it was made from, PUBLISHED the table that leaves the house. The report holds no
    record. Exit status 1 means that the table does not keep the policy.
    """
    from .. import api

    check_reports(out, [reading.source(original), reading.source(published), policy.policy], force=force)
    if out and template is not None:
        raise ParameterError(
            "--out and --template are both given", hint="The name of a file says what it is."
        )
    promised = policy.read()
    made = api.report(
        reading.table(original),
        reading.published(published),
        promised,
        target=target,
        fraction=fraction,
        attacks=attacks,
        seed=seed,
        input_hash=input_hash,
        files={Path(published).name: digest(published)} if Path(published).is_file() else {},
        progress=screen.progress(),
        queries=queries,
    )
    for path in out:
        made.write(path)
    screen.json({"written": list(out), **made.to_dict()})
    holds = bool(made.facts["verdict"]["holds"])
    if not out and not screen.as_json:
        shown = {"html": made.html, "json": made.json, "markdown": made.markdown}[template or "markdown"]()
        click.echo(shown, nl=False)
    if out:
        screen.line("VERDICT: the policy holds" if holds else "VERDICT: the policy DOES NOT HOLD")
        screen.line(f"Wrote {' and '.join(out)}.")
        screen.advise(f"Next: open {out[0]}.")
    return 0 if holds else 1


def check_reports(targets: tuple[str, ...], sources: Sequence[str | Address | None], *, force: bool) -> None:
    """Refuse before any work is done what could not be written after it."""
    from ..report.build import check_suffix

    for target in targets:
        check_suffix(target)
        check_target(target, sources, force=force)
    if len(set(targets)) < len(targets):
        raise ParameterError("--out names the same file twice", hint="Name each file once.")


def digest(path: str) -> str:
    """Return the SHA-256 of a file."""
    with open(path, "rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
