"""The main group: which commands there are, and how every failure becomes one line and an exit status."""

from __future__ import annotations

import os
import sys
from collections.abc import Sequence
from typing import Any

import click

from .. import __version__
from ..errors import InternalError, ShoalError
from .screen import print_json

_DONE, _REFUSED = 0, 2
_EXAMPLES = """\b
Examples:
  shoal demo                                     everything once, on invented patients
  shoal init patients.csv                        propose a policy file to read and correct
  shoal audit patients.csv --policy policy.toml  what the table gives away as it is
  shoal anonymize patients.csv --policy policy.toml --out published.csv
  shoal verify published.csv --policy policy.toml

\b
Exit status: 0 done, 1 the policy cannot be met or does not hold, 2 wrong usage or input.
"""


class _App(click.Group):
    """A group whose failures are one line on stderr, or one JSON object on stdout with ``--json``."""

    def main(self, args: Sequence[str] | None = None, *rest: Any, **options: Any) -> Any:
        """Run the command line and exit with 0, 1 or 2."""
        arguments = list(sys.argv[1:] if args is None else args)
        options = {**options, "prog_name": "shoal", "standalone_mode": False}
        try:
            status = super().main(arguments, **options) or _DONE
        except click.exceptions.NoArgsIsHelpError as error:
            click.echo(error.ctx.get_help() if error.ctx else error.format_message(), err=True)
            status = _REFUSED
        except Exception as error:
            if os.environ.get("SHOAL_DEBUG") == "1":
                raise
            status = _report(_as_shoal_error(error), as_json="--json" in arguments)
        sys.exit(status)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; whoever stopped reading its output has seen enough."""
        try:
            return super().invoke(ctx)
        except BrokenPipeError:
            # Click would exit with 1; and Python would complain once more when it flushes.
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return _DONE


def _as_shoal_error(error: Exception) -> ShoalError:
    if isinstance(error, ShoalError):
        return error
    if isinstance(error, click.UsageError):
        command = error.ctx.command_path if error.ctx else "shoal"
        hint = f"See '{command} --help'."
        message = error.format_message()
        found, question, guess = message.partition(" Did you mean ")
        return _UsageError(found, hint=f"{question.lstrip()}{guess} {hint}".lstrip())
    if isinstance(error, click.ClickException):
        return _UsageError(error.format_message())
    if isinstance(error, click.Abort):
        return _UsageError("interrupted", code="S902")
    return InternalError.of(error)


class _UsageError(ShoalError):
    default_code = "S110"


def _report(error: ShoalError, *, as_json: bool) -> int:
    name = type(error).__name__.lstrip("_")
    if as_json:
        print_json(
            {
                "error": {
                    "type": name,
                    "code": error.code,
                    "message": error.message,
                    "hint": error.hint,
                    "exit_status": error.exit_status,
                }
            }
        )
    else:
        click.echo(" ".join(str(error).lstrip("_").split()), err=True)
    return error.exit_status


@click.group(cls=_App, epilog=_EXAMPLES, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(__version__, "--version", prog_name="shoal", message="%(prog)s %(version)s")
def main() -> None:
    """Turn a table about people into one that can be published, and prove it on the published file."""


def _register() -> None:
    from .anonymize import anonymize
    from .attack import attack
    from .audit import audit
    from .compare import compare
    from .datasets import datasets
    from .demo import demo
    from .dp_centroid import dp_centroid
    from .explore import explore
    from .hierarchy import hierarchy
    from .init import init
    from .names import algorithms, attacks, metrics, models
    from .report import report
    from .reproduce import reproduce
    from .risk import risk
    from .ui import ui
    from .update import update
    from .verify import verify

    working = (demo, init, audit, hierarchy, explore, anonymize, update, dp_centroid, verify, ui)
    judging = (risk, attack, report, compare, reproduce)
    for command in (*working, *judging, algorithms, models, metrics, attacks, datasets):
        main.add_command(command)


_register()
