"""``shoal ui``: the local web page."""

from __future__ import annotations

import importlib.util

import click

from ..errors import MissingExtra

_EXAMPLES = """\b
Examples:
  shoal ui
  shoal ui --port 8080 --no-open
"""


@click.command(epilog=_EXAMPLES)
@click.option("--port", type=click.IntRange(0, 65535), default=0, help="Port on 127.0.0.1. [a free one]")
@click.option("--no-open", is_flag=True, help="Show the link, and open no browser.")
def ui(port: int, no_open: bool) -> None:
    """Open a local web page that goes from a file to a release, step by step.

    Only this machine can reach it, and only with the link that is shown. Uploaded files and results stay in a
    private folder that is removed at the end.
    """
    if importlib.util.find_spec("starlette") is None or importlib.util.find_spec("uvicorn") is None:
        raise MissingExtra.of("the web page", "ui")
    from ..ui.serve import serve

    serve(port, opens=not no_open, tell=lambda line: click.echo(line))
