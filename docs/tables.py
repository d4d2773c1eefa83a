"""The tables of the reference, printed from what the code declares: ``make reference`` rewrites them.

A page is prose written by hand; tables of what the code declares stand between two marks::

    <!-- table: parameters algorithms k-member -->
    <!-- end of table -->

What stands between them is replaced by what the registry, the declared parameters and the commands say. A
test compares the pages as they are committed with what this prints.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import click

from shoal import registry
from shoal.cli import main as shoal_command
from shoal.params import Parameterised

DOCS = Path(__file__).parent
_BLOCK = re.compile(r"(<!-- table: (?P<asked>.*?) -->\n).*?(<!-- end of table -->)", re.DOTALL)
_SHARED = {"policy", "quasi", "sensitive", "identifiers", "k", "l", "t", "suppression"}
_SHARED |= {"delimiter", "encoding", "nulls", "table", "as_json", "quiet"}


def page(text: str) -> str:
    """Return a page with every table made again."""
    return _BLOCK.sub(lambda found: found[1] + _table(found["asked"].split()) + found[3], text)


def rewrite(paths: Sequence[Path]) -> list[Path]:
    """Make the tables of these pages again and return the pages that changed."""
    changed = []
    for path in paths:
        before = path.read_text(encoding="utf-8")
        after = page(before)
        if after != before:
            path.write_text(after, encoding="utf-8")
            changed.append(path)
    return changed


def _table(asked: Sequence[str]) -> str:
    kinds: dict[str, Callable[..., str]] = {
        "overview": _overview,
        "parameters": _parameters,
        "metrics": _metrics,
        "commands": _commands,
        "options": _options,
        "shared": _shared,
        "answers": _answers,
    }
    return kinds[asked[0]](*asked[1:])


def _overview(group: str) -> str:
    kinds = [registry.get(group, name) for name in registry.names(group)]
    return _rows(
        ["name", "in one sentence", "source"],
        [[f"`{k.name}`", k.summary, k.reference or "-"] for k in kinds],
    )


def _parameters(group: str, *names: str) -> str:
    """Return the parameters of one thing, or of several with a column that says whose."""
    kinds = [registry.get(group, name) for name in names or registry.names(group)]
    several = len(kinds) > 1
    rows = []
    for kind in kinds:
        own = _rows_of(kind)
        rows += [[f"`{kind.name}`", *row] for row in own] if several else own
    if not rows:
        return "No parameters.\n"
    return _rows([*(["of"] if several else []), "parameter", "must be", "default", "meaning"], rows)


def _rows_of(kind: type[Parameterised]) -> list[list[str]]:
    return [
        [
            f"`{p.name}`",
            p.constraint.words(),
            "required" if p.required else f"`{_literal(p.default)}`",
            p.help,
        ]
        for p in kind.parameters()
    ]


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def _answers() -> str:
    kinds = [registry.get("attacks", name) for name in registry.names("attacks")]
    return _rows(
        ["attack", "what it does", "answered by"], [[f"`{k.name}`", k.summary, k.answer] for k in kinds]
    )


def _metrics(*names: str) -> str:
    kinds = [registry.get("metrics", name) for name in names]
    return _rows(
        ["metric", "formula", "range", "better", "source"],
        [[f"`{k.name}`", f"`{k.formula}`", k.range_words(), k.better, k.reference or "-"] for k in kinds],
    )


def _commands() -> str:
    context = click.Context(shoal_command)
    rows = []
    for name, command in _leaves(shoal_command, context):
        arguments = [p.make_metavar(context) for p in command.params if isinstance(p, click.Argument)]
        rows.append([f"`{' '.join(['shoal', name, *arguments])}`", _sentence(command)])
    return _rows(["command", "does"], rows)


def _leaves(group: click.Group, context: click.Context, before: str = "") -> list[tuple[str, click.Command]]:
    """Return the commands of a group by their whole names, those of groups in it included."""
    found = []
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            found += _leaves(command, context, f"{before}{name} ")
        else:
            found.append((before + name, command))
    return found


def _sentence(command: click.Command) -> str:
    text = " ".join((command.help or "").split("\n\n")[0].split())
    return text.removesuffix(".")


def _options(*names: str) -> str:
    """Return the options of a command beside those that all commands on tables share."""
    command: click.Command = shoal_command
    for name in names:
        assert isinstance(command, click.Group)
        command = command.commands[name]
    options = [p for p in command.params if isinstance(p, click.Option) and p.name not in _SHARED]
    return _rows(["option", "meaning", "default"], [_option_row(option, command) for option in options])


def _shared() -> str:
    """Return the options that commands on tables share."""
    command = shoal_command.commands["anonymize"]
    options = [p for p in command.params if isinstance(p, click.Option) and p.name in _SHARED]
    return _rows(["option", "meaning", "default"], [_option_row(option, command) for option in options])


def _option_row(option: click.Option, command: click.Command) -> list[str]:
    names = ", ".join(f"`{name}`" for name in [*option.opts, *option.secondary_opts])
    value = "" if option.is_flag else f" {option.make_metavar(click.Context(command))}"
    meaning, _, default = (option.help or "").partition(" [")
    if not default:
        given = option.get_default(click.Context(command))
        unsaid = given is None or isinstance(given, bool | tuple) or not option.show_default
        default = "" if unsaid else f"`{given}`"
    needed = "required" if option.required else ""
    return [names + value, meaning.removesuffix("."), needed or default.removesuffix("]")]


def _rows(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "".join(f"| {' | '.join(_cell(cell) for cell in line)} |\n" for line in lines)


def _cell(text: str) -> str:
    return text.replace("|", "\\|")


if __name__ == "__main__":
    for changed in rewrite(sorted(DOCS.rglob("*.md"))):
        sys.stdout.write(f"rewrote {changed.name}\n")
