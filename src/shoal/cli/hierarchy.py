"""``shoal hierarchy``: build, show and check hierarchies."""

from __future__ import annotations

import os
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import ParameterError, UnknownName, WriteError
from .options import Reading, reading_options, screen_options
from .screen import Screen

if TYPE_CHECKING:
    import pyarrow as pa

    from ..hierarchies import Hierarchy

_TYPES = ("intervals", "bounds", "quantiles", "prefix", "suffix", "dates", "ordered", "learned")
_EXAMPLES = """\b
Examples:
  shoal hierarchy build patients.csv age --type intervals --set widths=5,10,20 --set top=90 --out age.csv
  shoal hierarchy build patients.csv age --type bounds --set "levels=18,30,45,65;18,65" --out age.csv
  shoal hierarchy build patients.csv job --type learned --target diagnosis --out job.csv
  shoal hierarchy show age.csv --data patients.csv --column age
  shoal hierarchy check age.csv patients.csv age
"""


@click.group(epilog=_EXAMPLES)
def hierarchy() -> None:
    """Build, show and check hierarchies: how values generalise, level by level.

    Files have the format of ARX: one line for each value, "value;level 1;...;*".
    """


@hierarchy.command()
@click.argument("data")
@click.argument("column")
@click.option("--type", "kind", type=click.Choice(_TYPES), required=True, help="How levels are made.")
@click.option("--set", "settings", multiple=True, metavar="NAME=VALUE", help="A setting of it; repeatable.")
@click.option("--target", metavar="COLUMN", help="For learned: what values that come together predict alike.")
@click.option("--out", "-o", metavar="FILE", help="Where the hierarchy goes, in the format of ARX.")
@click.option("--force", is_flag=True, help="Overwrite an existing file.")
@reading_options
@screen_options
def build(
    data: str,
    column: str,
    kind: str,
    settings: tuple[str, ...],
    target: str | None,
    out: str | None,
    force: bool,
    reading: Reading,
    screen: Screen,
) -> None:
    """Build a hierarchy for the values of a column, show its levels, and write it."""
    if out is not None and os.path.exists(out) and not force:
        raise WriteError(f"{out!r} exists already", hint="Name another file, or say --force.")
    table = reading.table(data)
    values = _values(table, column)
    made = _made(kind, _settings(settings), values, None if target is None else _values(table, target))
    _show(made, values, screen, written=out)
    if out is not None:
        made.write(out, None if kind in ("ordered", "learned") else values)
        screen.line(f"Wrote {out}.")
    else:
        screen.advise("Nothing was written: add --out FILE.")


@hierarchy.command()
@click.argument("file")
@click.option("--data", metavar="DATA", help="A table: how many records its nodes hold is shown, too.")
@click.option("--column", metavar="NAME", help="The column of that table.")
@reading_options
@screen_options
def show(file: str, data: str | None, column: str | None, reading: Reading, screen: Screen) -> None:
    """Show the levels of a hierarchy file: how many groups each makes, and how large they are.

    No value is shown. FILE has the format of ARX.
    """
    from ..hierarchies import Hierarchy

    if (data is None) != (column is None):
        raise ParameterError("--data and --column go together")
    made = Hierarchy.read(file)
    if data is None or column is None:
        _show(made, [row[0] for row in made.rows()], screen, records=False)
    else:
        _show(made, _values(reading.table(data), column), screen)


@hierarchy.command()
@click.argument("file")
@click.argument("data")
@click.argument("column")
@click.option("--list", "listed", is_flag=True, help="List the values the hierarchy does not know.")
@reading_options
@screen_options
def check(file: str, data: str, column: str, listed: bool, reading: Reading, screen: Screen) -> int:
    """Check that a hierarchy file is sound and knows every value of a column.

    Exit status 1 says that it misses some; --list says which.
    """
    from ..hierarchies import Hierarchy

    made = Hierarchy.read(file)
    unknown = made.unknown_values(_values(reading.table(data), column))
    plain: dict[str, Any] = {"file": file, "column": column, "unknown": len(unknown)}
    screen.json({**plain, "values": list(map(str, unknown))} if listed else plain)
    for value in unknown if listed else []:
        screen.line(str(value))
    if not unknown:
        screen.line(f"The hierarchy is sound and knows every value of {column!r}.")
        return 0
    screen.line(f"The hierarchy misses {len(unknown):,} distinct values of {column!r}.")
    if not listed:
        screen.advise("Which ones: add --list.")
    return 1


def _values(table: pa.Table, column: str) -> pa.ChunkedArray:
    if column not in table.column_names:
        raise UnknownName.nearest("column", column, table.column_names)
    return table.column(column)


def _settings(settings: Sequence[str]) -> dict[str, Any]:
    """Return ``name=value`` texts as values: numbers, lists by commas, lists of lists by semicolons."""
    found: dict[str, Any] = {}
    for setting in settings:
        name, separator, text = setting.partition("=")
        if not separator:
            raise ParameterError(f"--set {setting!r} is not NAME=VALUE", hint="Such as: --set widths=5,10.")
        found[name.strip()] = _parsed(text)
    return found


def _parsed(text: str) -> Any:
    if ";" in text:
        return [[_word(word) for word in part.split(",")] for part in text.split(";")]
    return [_word(word) for word in text.split(",")] if "," in text else _word(text)


def _word(text: str) -> Any:
    text = text.strip()
    if text in ("true", "false"):
        return text == "true"
    for number in (int, float):
        try:
            return number(text)
        except ValueError:
            continue
    return text


def _made(kind: str, settings: dict[str, Any], values: pa.ChunkedArray, target: Any) -> Hierarchy:
    from ..hierarchies import Hierarchy

    if target is not None and kind != "learned":
        raise ParameterError("--target goes with --type learned only")
    if kind == "learned":
        strange = set(settings) - {"neighbours"}
        if strange:
            raise UnknownName.nearest("setting of a learned hierarchy", sorted(strange)[0], ["neighbours"])
        return Hierarchy.learned(values, target, **settings)
    for name in ("widths", "groups", "sizes", "levels"):
        if name in settings and not isinstance(settings[name], list):
            settings[name] = [settings[name]]
    return Hierarchy.from_spec({"type": kind, **settings})


def _show(
    made: Hierarchy, values: Any, screen: Screen, *, records: bool = True, written: str | None = None
) -> None:
    lines, smallest = made.preview(values), made.smallest(values)
    screen.json(
        {
            "written": written,
            "levels": [
                {**line._asdict(), **({"fewest_records": few} if records else {})}
                for line, few in zip(lines, smallest, strict=True)
            ],
        }
    )
    screen.table(
        [
            "level",
            "groups",
            "values in the smallest",
            "in the largest",
            *(["fewest records"] if records else []),
        ],
        [
            [
                *(f"{number:,}" for number in line),
                *([f"{few:,}"] if records else []),
            ]
            for line, few in zip(lines, smallest, strict=True)
        ],
    )
