"""``shoal algorithms``, ``models``, ``metrics``, ``attacks``: what the registry holds, with parameters."""

from __future__ import annotations

from typing import Any

import click

from .. import registry
from ..params import Parameterised
from .options import screen_options
from .screen import Screen


def _family(group: str, what: str) -> click.Command:
    @click.command(name=group, help=f"List the {group}, or describe one {what} with its parameters.")
    @click.argument("name", required=False)
    @screen_options
    def command(name: str | None, screen: Screen) -> None:
        if name is None:
            known = {each: registry.get(group, each) for each in registry.names(group)}
            screen.json({group: [_plain(kind) for kind in known.values()]})
            screen.table(
                ["name", "what it does", "parameters"],
                [[each, kind.summary, _signature(kind)] for each, kind in known.items()],
                wrap=True,
            )
            screen.advise(f"More about one: shoal {group} NAME")
            return
        kind = registry.get(group, name)
        screen.json(_plain(kind))
        _describe(kind, screen)

    return command


def _signature(kind: type[Parameterised]) -> str:
    return ", ".join(p.name if p.required else f"{p.name}={_text(p.default)}" for p in kind.parameters())


def _text(value: Any) -> str:
    if isinstance(value, bool):
        return str(value).lower()
    return ",".join(map(str, value)) if isinstance(value, tuple) else str(value).lower()


def _describe(kind: type[Parameterised], screen: Screen) -> None:
    screen.line(f"{kind.name}: {kind.summary}")
    for label in ("formula", "answer", "reference"):
        if text := getattr(kind, label, ""):
            screen.line(f"{label.capitalize()}: {text}")
    rows = [
        [p.name, p.constraint.words(), "required" if p.required else _text(p.default) or "none", p.help]
        for p in kind.parameters()
    ]
    if rows:
        screen.table(["parameter", "must be", "default", "meaning"], rows, wrap=True)


def _plain(kind: type[Parameterised]) -> dict[str, Any]:
    return {
        "name": kind.name,
        "summary": kind.summary,
        "reference": getattr(kind, "reference", ""),
        "parameters": kind.json_schema(),
    }


algorithms = _family("algorithms", "algorithm")
models = _family("models", "model")
metrics = _family("metrics", "metric")
attacks = _family("attacks", "attack")
