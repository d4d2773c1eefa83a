"""The TOML text of plain values, and the line of a key in a TOML or JSON text.

The standard library reads TOML but writes none and keeps no lines; policy files need both, and little else.
"""

from __future__ import annotations

import json
import re
import tomllib
from collections.abc import Mapping
from typing import Any

_BARE_KEY = re.compile(r"[A-Za-z0-9_-]+")
_HEADER = re.compile(r"\s*\[(\[)?(?P<path>.+?)\](?(1)\])\s*(#.*)?$")
_KEY = re.compile(r"""\s*(?P<path>("(?:[^"\\]|\\.)*"|'[^']*'|[A-Za-z0-9_.\- ])+?)\s*=""")
_LINE_WIDTH = 100


def toml_lines(table: Mapping[str, Any], header: tuple[str, ...] = ()) -> list[str]:
    """Return a table as lines of TOML; a table inside it follows under its own header if it is long.

    Examples
    --------
    >>> toml_lines({"role": "quasi", "domain": [0, 120.5]}, header=("columns", "blood group"))
    ['[columns."blood group"]', 'role = "quasi"', 'domain = [0, 120.5]']
    """
    lines = [f"[{'.'.join(_key(part) for part in header)}]"] if header else []
    below: list[str] = []
    for key, value in table.items():
        line = f"{_key(key)} = {_value(value)}"
        if len(line) <= _LINE_WIDTH or not isinstance(value, Mapping | list | tuple):
            lines.append(line)
        elif isinstance(value, Mapping):
            below += ["", *toml_lines(value, (*header, key))]
        else:
            lines += [f"{_key(key)} = [", *(f"    {_value(item)}," for item in value), "]"]
    return lines + below


def key_line(text: str, path: tuple[str, ...]) -> int | None:
    """Return the line, counted from 1, on which a key stands; None when it is not found.

    An entry of a list of tables is named by its index, such as ``("models", "0", "k")``.

    Examples
    --------
    >>> key_line('[columns.age]\\nrole = "quasi"\\n', ("columns", "age", "role"))
    2
    """
    if text.lstrip().startswith("{"):
        return _json_line(text, path)
    seen: dict[tuple[str, ...], int] = {}
    here: tuple[str, ...] = ()
    for number, line in enumerate(text.splitlines(), start=1):
        if header := _HEADER.match(line):
            here = _parts(header["path"])
            if header[1]:
                seen[here] = seen.get(here, -1) + 1
                here = (*here, str(seen[here]))
            found = here
        elif key := _KEY.match(line):
            found = here + _parts(key["path"])
        else:
            continue
        if found[: len(path)] == path:
            return number
    return None


def _parts(dotted: str) -> tuple[str, ...]:
    """Return the parts of a dotted key, unquoted by the real parser."""
    try:
        table: Any = tomllib.loads(f"{dotted} = 0")
    except tomllib.TOMLDecodeError:
        return ()
    parts = []
    while isinstance(table, dict):
        key, table = next(iter(table.items()))
        parts.append(key)
    return tuple(parts)


def _json_line(text: str, path: tuple[str, ...]) -> int | None:
    """Return the line of the first key after the keys above it, which is exact for indented policy files."""
    at = 0
    for part in path:
        if part.isdecimal():
            continue
        match = re.compile(re.escape(json.dumps(part, ensure_ascii=False)) + r"\s*:").search(text, at)
        if match is None:
            return None
        at = match.end()
    return text.count("\n", 0, at) + 1


def _key(key: str) -> str:
    return key if _BARE_KEY.fullmatch(key) else _text(key)


def _text(text: str) -> str:
    # JSON's escapes are TOML's, but TOML also wants the delete character escaped.
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")


def _value(value: Any) -> str:
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, Mapping):
        return "{" + ", ".join(f"{_key(key)} = {_value(item)}" for key, item in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(_value(item) for item in value) + "]"
    raise TypeError(f"TOML has no place for a {type(value).__name__}")
