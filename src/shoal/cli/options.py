"""Options that several commands share, and how their values become tables, policies and parameters."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from ..errors import DataError, ParameterError, PolicyError, WriteError
from .screen import Screen

if TYPE_CHECKING:
    import pyarrow as pa

    from ..io.blocks import Blocks
    from ..io.databases import Address
    from ..policy import Policy

Command = TypeVar("Command", bound=Callable[..., Any])
Group = TypeVar("Group")

STANDARD = "-"

if TYPE_CHECKING:
    _NamesType = click.ParamType[tuple[str, ...]]
else:
    _NamesType = click.ParamType  # before click 8.4 it takes no type


class Names(_NamesType):
    """Names separated by commas."""

    name = "NAME,NAME,..."

    def convert(
        self, value: Any, param: click.Parameter | None, ctx: click.Context | None
    ) -> tuple[str, ...]:
        """Return the names; what is a tuple already stays one."""
        if isinstance(value, tuple):
            return value
        return tuple(part.strip() for part in str(value).split(",") if part.strip())


def screen_options(command: Command) -> Command:
    """Add --json and --quiet, and pass a `Screen` instead of them."""

    @click.option("--json", "as_json", is_flag=True, help="Print one JSON object instead of text.")
    @click.option("--quiet", "-q", is_flag=True, help="No progress bars, no advice.")
    @functools.wraps(command)
    def wrapped(*args: Any, as_json: bool, quiet: bool, **options: Any) -> Any:
        return command(*args, screen=Screen(as_json, quiet), **options)

    return wrapped  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class Reading:
    """How the input is to be read."""

    delimiter: str | None
    encoding: str
    nulls: tuple[str, ...]
    name: str | None = None

    def source(self, path: str) -> str | Address:
        """Return what is read: a path, or a table in a database."""
        from ..io import databases

        address = databases.parse(path)
        if address is None:
            return path
        return address if self.name is None else address.named(self.name)

    def table(self, path: str) -> pa.Table:
        """Return the table in a file or a database, or on standard input."""
        from .. import io

        return io.read(
            path, delimiter=self.delimiter, encoding=self.encoding, nulls=self.nulls, table=self.name
        )

    def published(self, path: str) -> pa.Table:
        """Return a published table, whatever the options say of the original.

        shoal publishes UTF-8. A file of somebody else that cannot be read so is read as the options say.
        """
        from .. import io

        try:
            return io.read(path, nulls=self.nulls, table=self.name)
        except DataError:
            return self.table(path)

    def blocks(self, path: str) -> Blocks:
        """Return the table in a file or a database, to be read block by block."""
        from ..io.blocks import open_blocks
        from ..io.csv_read import CsvOptions

        return open_blocks(self.source(path), csv=CsvOptions(self.delimiter, self.encoding, self.nulls, None))


def reading_options(command: Command) -> Command:
    """Add the options for reading a file, and pass a `Reading` instead of them."""

    @click.option("--delimiter", help="Of a CSV file; found by itself when not given.")
    @click.option("--encoding", default="utf-8", show_default=True, help="Of a CSV file.")
    @click.option("--null", "nulls", multiple=True, help="A CSV field that means null; repeatable. [empty]")
    @click.option("--table", metavar="NAME", help="Of a database: the table to read.")
    @functools.wraps(command)
    def wrapped(
        *args: Any,
        delimiter: str | None,
        encoding: str,
        nulls: tuple[str, ...],
        table: str | None,
        **options: Any,
    ) -> Any:
        return command(*args, reading=Reading(delimiter, encoding, ("", *nulls), table), **options)

    return wrapped  # type: ignore[return-value]


@dataclass(frozen=True, slots=True)
class PolicyOptions:
    """The policy as given on the command line: a file, or its ingredients."""

    policy: str | None = None
    quasi: tuple[str, ...] = ()
    sensitive: tuple[str, ...] = ()
    identifiers: tuple[str, ...] = ()
    k: int | None = None
    l: float | None = None  # noqa: E741  (the literature's own letter)
    t: float | None = None
    suppression: float | None = None

    def read(self, *, promising: bool = True) -> Policy:
        """Return the policy, or raise when it is given twice or not at all, or promises nothing."""
        given = [
            field.name
            for field in fields(self)
            if field.name != "policy" and getattr(self, field.name) not in (None, ())
        ]
        if self.policy is not None:
            if given:
                raise ParameterError(
                    f"{_flag(given[0])} and --policy are both given", hint="Say it in the policy file."
                )
            from ..policy_file import read_policy

            return read_policy(self.policy)
        if not self.quasi:
            raise PolicyError(
                "neither --policy nor --quasi is given",
                hint="Name a policy file (shoal init DATA makes one), or: --quasi age,zip -k 5.",
            )
        from ..policy import short_policy

        ingredients = {name: getattr(self, name) for name in given}
        policy = short_policy(**ingredients)
        if promising and not policy.models:
            raise PolicyError("the policy promises nothing", hint="Give -k, -l or -t, such as: -k 5.")
        return policy


def _flag(name: str) -> str:
    return f"-{name}" if len(name) == 1 else f"--{name}"


def policy_options(*, promises: bool) -> Callable[[Command], Command]:
    """Add --policy and the short way, and pass `PolicyOptions`; without `promises`, roles of columns only."""

    def decorate(command: Command) -> Command:
        @functools.wraps(command)
        def wrapped(*args: Any, **options: Any) -> Any:
            names = [field.name for field in fields(PolicyOptions)]
            chosen = {name: options.pop(name) for name in names if name in options}
            return command(*args, policy=PolicyOptions(**chosen), **options)

        decorated: Any = wrapped
        for option in reversed([*_ROLES, *(_PROMISES if promises else [])]):
            decorated = option(decorated)
        return decorated  # type: ignore[no-any-return]

    return decorate


_ROLES = [
    click.option("--policy", "-p", metavar="FILE", help="Policy file (TOML or JSON)."),
    click.option("--quasi", type=Names(), default=(), help="Columns that others may know."),
    click.option("--sensitive", type=Names(), default=(), help="Columns that nobody should learn."),
]
_PROMISES = [
    click.option("--identifiers", type=Names(), default=(), help="Columns that name one person: dropped."),
    click.option("-k", "k", type=int, help="k-anonymity: records in a class, at least."),
    click.option("-l", "l", type=float, help="l-diversity: sensitive values in a class, at least."),
    click.option("-t", "t", type=float, help="t-closeness: distance of a class from the table, at most."),
    click.option("--suppression", type=float, help="Share of records that may be suppressed. [0]"),
]


def picked(group: type[Group], options: dict[str, Any]) -> Group:
    """Return the dataclass of those options of a command that are its fields."""
    return group(**{field.name: options[field.name] for field in fields(group)})  # type: ignore[arg-type]


def algorithm_parameters(algorithm: str, settings: Sequence[str]) -> dict[str, Any]:
    """Return ``name=value`` texts as the parameters of an algorithm, each read by its own declared parser."""
    from .. import registry

    texts = named_texts("--set", settings, "relaxed=true")
    parsed: dict[str, Any] = registry.get("algorithms", algorithm).parse(texts)
    return parsed


def named_texts(option: str, settings: Sequence[str], example: str) -> dict[str, str]:
    """Return what a repeatable option of ``name=value`` texts says."""
    texts: dict[str, str] = {}
    for setting in settings:
        name, separator, text = setting.partition("=")
        if not separator or not name.strip():
            raise ParameterError(
                f"{option} {setting!r} is not NAME=VALUE", hint=f"Such as: {option} {example}."
            )
        if name.strip() in texts:
            raise ParameterError(f"{option} gives {name.strip()!r} twice")
        texts[name.strip()] = text.strip()
    return texts


def check_target(target: str, sources: Sequence[str | Address | None], *, force: bool) -> None:
    """Raise when writing `target` would overwrite one of the sources, or anything without `force`."""
    from ..io import databases

    address = databases.parse(target)
    if address is not None:
        if address in sources:
            raise WriteError(f"the output {address.label} is also an input", hint="Give another --out.")
        databases.target(target, replace=force)
        return
    path = Path(target)
    for source in sources:
        if isinstance(source, str) and source != STANDARD and _same(path, Path(source)):
            raise WriteError(f"the output {path.name!r} is also an input", hint="Give another --out.")
    if path.is_dir():
        raise WriteError(f"the output {path.name!r} is a folder", hint="Name a file in it.")
    if path.exists() and not force:
        raise WriteError(f"the output {path.name!r} exists", hint="Give another name, or --force.")
    if not path.parent.is_dir():
        raise WriteError(f"there is no folder {str(path.parent)!r} to write to", hint="Make it first.")


def written_names(target: str) -> list[str]:
    """Return how to call what a release was written to, and its manifest; without user and password."""
    from ..io import databases

    address = databases.parse(target)
    if address is None:
        return [target, f"{target}.manifest.json"]
    return [address.label, address.beside(databases.manifest_table(address.table)).label]


def _same(a: Path, b: Path) -> bool:
    return a.exists() and b.exists() and a.samefile(b)
