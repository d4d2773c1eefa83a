"""Hierarchies as plain values, for policy files."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from ..errors import HierarchyError, UnknownName
from .base import Hierarchy

# type -> (keys it needs, keys it may have, maker)
_TYPES: dict[str, tuple[tuple[str, ...], tuple[str, ...], Callable[..., Hierarchy]]] = {
    "intervals": (("widths",), ("start", "bottom", "top"), Hierarchy.intervals),
    "bounds": (("levels",), ("repeat",), Hierarchy.bounds),
    "quantiles": (("groups",), (), Hierarchy.quantiles),
    "prefix": ((), ("keep", "mask", "length"), Hierarchy.prefix),
    "suffix": ((), ("keep", "mask", "length"), Hierarchy.suffix),
    "ordered": (("values", "sizes"), (), Hierarchy.ordered),
    "dates": ((), ("levels",), Hierarchy.dates),
    "tree": (("rows",), (), Hierarchy.from_rows),
    "file": (("path",), ("delimiter",), Hierarchy.read),
}


def hierarchy_of(spec: Mapping[str, Any], base_path: Path) -> Hierarchy:
    """Return the hierarchy that plain values describe; see `Hierarchy.from_spec`."""
    if not isinstance(spec, Mapping) or "type" not in spec:
        raise HierarchyError("a hierarchy needs a 'type'", hint=f"One of {', '.join(_TYPES)}.")
    kind = str(spec["type"])
    if kind not in _TYPES:
        raise UnknownName.nearest("hierarchy type", kind, list(_TYPES))
    needed, optional, make = _TYPES[kind]
    given = {str(key): value for key, value in spec.items() if key != "type"}
    for key in given:
        if key not in needed + optional:
            raise UnknownName.nearest(f"key of hierarchy type {kind!r}", key, [*needed, *optional])
    for key in needed:
        if key not in given:
            raise HierarchyError(f"a hierarchy of type {kind!r} needs {key!r}")
    if kind == "file":
        given["path"] = _resolved(given["path"], base_path)
    if kind == "tree" and not isinstance(given["rows"], list | tuple):
        raise HierarchyError("'rows' of a hierarchy must be a list", hint="Give one list of labels per leaf.")
    return make(**given)


def _resolved(path: Any, base_path: Path) -> Path:
    if not isinstance(path, str | Path):
        raise HierarchyError("'path' of a hierarchy must be text")
    return base_path / path
