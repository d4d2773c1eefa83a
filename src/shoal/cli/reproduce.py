"""``shoal reproduce``: run a paper's experiments again and judge its claims."""

from __future__ import annotations

from pathlib import Path

import click

from .. import registry
from ..errors import UnknownName, WriteError
from ..progress import Run
from .options import screen_options
from .screen import Screen


@click.command()
@click.argument("paper", required=False)
@click.option("--out", "-o", metavar="FOLDER", help="Where it all goes. [reproduction-PAPER]")
@click.option("--quick", is_flag=True, help="Smaller tables and fewer settings: to look, not to judge.")
@click.option("--seed", default=0, show_default=True, help="Decides ties and random choices.")
@click.option("--force", is_flag=True, help="Write into a folder that exists.")
@screen_options
def reproduce(
    paper: str | None, out: str | None, quick: bool, seed: int, force: bool, screen: Screen
) -> None:
    """Reproduce the evaluation of a paper: its figures, our numbers beside them, a verdict on every claim.

    Without PAPER, the papers are listed. The folder gets a page to open (index.html), the verdicts
    (scorecard.md, scorecard.json) and every figure as a table and as Vega-Lite.
    """
    known = registry.names("papers")
    if paper is None:
        found = {name: registry.get("papers", name) for name in known}
        screen.json({"papers": [{"name": name, "citation": kind.citation} for name, kind in found.items()]})
        screen.table(["name", "paper"], [[name, kind.citation] for name, kind in found.items()], wrap=True)
        return
    if paper not in known:
        raise UnknownName.nearest("paper", paper, known)
    folder = Path(out or f"reproduction-{paper}")
    if folder.exists() and not force:
        raise WriteError(f"the folder {folder.name!r} exists", hint="Give another --out, or --force.")
    from ..papers.scorecard import reproduce as run_paper

    made = registry.get("papers", paper)(quick=quick)
    scorecard = run_paper(made, Run(seed, screen.progress()))
    page = scorecard.write(folder)
    screen.json({**scorecard.to_dict(), "written": str(folder)})
    rows = [[f.where, f.claim, f.measured, str(f.verdict)] for f in scorecard.findings]
    screen.table(["where", "claim", "measured", "verdict"], rows, wrap=True)
    screen.line(", ".join(f"{count} {verdict}" for verdict, count in scorecard.counts().items()))
    screen.advise(f"Next: open {page} in a browser.")
