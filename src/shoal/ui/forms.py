"""What the page draws its forms from: the declared parameters of everything in the registry.

Nothing here knows a model or an algorithm by name: one that a third party registers has its form, too.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from .. import __version__, registry
from ..presets import PRESETS
from ..schema import Action, Form, Kind, Role

_ANY = {"type": "null"}
_LEVELS = ["day", "month", "quarter", "year", "decade"]
_COUNT = {"type": "integer", "minimum": 1}


def _numbers(words: str) -> dict[str, Any]:
    return {"type": "array", "items": {"type": "number"}, "description": words}


def _maybe(inner: dict[str, Any], words: str) -> dict[str, Any]:
    return {"anyOf": [inner, _ANY], "description": words, "default": None}


_KEEP = {"keep": _maybe({"type": "integer", "minimum": 0}, "characters shown at least, below the root")}

# What each type of hierarchy is asked for. `Hierarchy` has rules of its own and checks them with sentences.
_HIERARCHIES: dict[str, dict[str, Any]] = {
    "intervals": {
        "title": "Intervals of equal width",
        "kinds": ["numeric"],
        "properties": {
            "widths": _numbers("width of each level, finest first; each a multiple of the one before"),
            "start": {"type": "number", "description": "where an interval begins", "default": 0},
            "bottom": _maybe({"type": "number"}, "values below this are one group"),
            "top": _maybe({"type": "number"}, "values from this on are one group"),
        },
        "required": ["widths"],
        "example": {"widths": [5, 10, 20]},
    },
    "bounds": {
        "title": "Intervals by hand",
        "kinds": ["numeric"],
        "properties": {"levels": _numbers("where one interval ends and the next begins")},
        "required": ["levels"],
        "example": {"levels": [18, 30, 45, 65]},
    },
    "quantiles": {
        "title": "Groups of equally many values",
        "kinds": ["numeric", "date"],
        "properties": {
            "groups": {
                **_numbers("groups of each level, finest first; each divides the one before"),
                "items": _COUNT,
            }
        },
        "required": ["groups"],
        "example": {"groups": [8, 4, 2]},
    },
    "prefix": {
        "title": "Hide characters from the end",
        "kinds": ["categorical", "numeric", "ordinal"],
        "properties": _KEEP,
        "required": [],
        "example": {},
    },
    "suffix": {
        "title": "Hide characters from the beginning",
        "kinds": ["categorical", "numeric", "ordinal"],
        "properties": _KEEP,
        "required": [],
        "example": {},
    },
    "dates": {
        "title": "Calendar",
        "kinds": ["date", "categorical"],
        "properties": {
            "levels": {
                "type": "array",
                "items": {"enum": _LEVELS},
                "description": "which levels there are",
                "default": _LEVELS,
            }
        },
        "required": [],
        "example": {},
    },
}


def describe() -> dict[str, Any]:
    """Return all forms as plain values."""
    return {
        "version": __version__,
        "algorithms": [_described("algorithms", name) for name in registry.names("algorithms")],
        "models": [
            {**_described("models", name), "per_column": registry.get("models", name).per_column}
            for name in registry.names("models")
        ],
        "hierarchies": _HIERARCHIES,
        "presets": [asdict(preset) for preset in PRESETS.values()],
        "roles": [str(role) for role in Role],
        "kinds": [str(kind) for kind in Kind],
        "actions": [str(action) for action in Action],
        "forms": [str(form) for form in Form],
    }


def _described(group: str, name: str) -> dict[str, Any]:
    kind = registry.get(group, name)
    return {
        "name": name,
        "summary": kind.summary,
        "reference": getattr(kind, "reference", ""),
        "schema": kind.json_schema(),
    }
