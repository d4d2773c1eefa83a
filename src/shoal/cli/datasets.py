"""``shoal datasets``: the public data sets shoal can load."""

from __future__ import annotations

import click

from .options import screen_options
from .screen import Screen


@click.command()
@click.argument("name", required=False)
@screen_options
def datasets(name: str | None, screen: Screen) -> None:
    """List the public data sets that shoal.datasets can load, or describe one."""
