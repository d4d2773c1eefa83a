"""Policy files: a `Policy` as TOML or JSON and back, without loss.

The file says what `Policy` says, in its words::

    suppression = 0.02

    [columns.age]
    role = "quasi"
    kind = "numeric"

    [[models]]
    name = "k-anonymity"
    k = 5

Everything wrong with a file is reported at once, each problem with its line. Messages name keys and columns,
never the values that an order or a hierarchy lists.
"""

from __future__ import annotations

import json
import os
import tomllib
from collections.abc import Mapping
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Any

from . import registry
from .errors import PolicyError, ShoalError, UnknownName
from .params import Frame
from .policy import Policy
from .schema import Action, Column, Form, Kind, Role
from .toml_text import key_line, toml_lines

if TYPE_CHECKING:
    from .models.base import Model

_TOP = ("suppression", "suppressed", "unknown_values", "columns", "models")
_COLUMN = (
    "role",
    "kind",
    "hierarchy",
    "weight",
    "form",
    "rho",
    "domain",
    "order",
    "action",
    "least_level",
    "most_level",
    "separator",
)
_ENUMS: dict[str, type[StrEnum]] = {"role": Role, "kind": Kind, "form": Form, "action": Action}
_DEFAULTS = Column("", Role.QUASI)


def to_dict(policy: Policy, base_path: Path | None = None) -> dict[str, Any]:
    """Return a policy as plain values; what equals its default is left out.

    Files of hierarchies and populations are named relative to `base_path`, if there is one.

    Examples
    --------
    >>> import shoal
    >>> to_dict(shoal.Policy(quasi={"age": "numeric"}, models=[shoal.KAnonymity(5)]))
    {'suppression': 0.0, 'columns': {'age': {'role': 'quasi', 'kind': 'numeric'}},
     'models': [{'name': 'k-anonymity', 'k': 5}]}
    """
    plain: dict[str, Any] = {"suppression": policy.suppression}
    if policy.suppressed != "drop":
        plain["suppressed"] = policy.suppressed
    if policy.unknown_values != "refuse":
        plain["unknown_values"] = policy.unknown_values
    plain["columns"] = {column.name: _column_to_dict(column, base_path) for column in policy.schema.columns}
    plain["models"] = [_model_to_dict(model, base_path) for model in policy.models]
    return plain


def from_dict(plain: Mapping[str, Any], base_path: Path | None = None) -> Policy:
    """Return the policy that plain values describe; file names in it are relative to `base_path`.

    Raises
    ------
    PolicyError
        Naming every unknown key and every value that does not fit, all together.

    Examples
    --------
    >>> from_dict({"columns": {"age": {"role": "quasi"}}, "models": [{"name": "k-anonymity", "k": 5}]}).models
    (KAnonymity(k=5),)
    """
    return _Reader(base_path or Path()).policy(plain)


def dumps(
    policy: Policy,
    *,
    header: str = "",
    comments: Mapping[str, str] | None = None,
    base_path: Path | None = None,
) -> str:
    """Return a policy as TOML.

    Parameters
    ----------
    policy : Policy
        What to write.
    header : str
        A comment for the top of the file; lines are kept.
    comments : mapping of column name to str, optional
        A comment above each column.
    base_path : Path, optional
        Folder that files of hierarchies are named relative to.

    Examples
    --------
    >>> import shoal
    >>> print(dumps(shoal.Policy(quasi=["age"]), comments={"age": "a guess"}))
    suppression = 0.0
    <BLANKLINE>
    # a guess
    [columns.age]
    role = "quasi"
    <BLANKLINE>
    """
    plain = to_dict(policy, base_path)
    columns, models = plain.pop("columns"), plain.pop("models")
    lines = [f"# {line}".rstrip() for line in header.splitlines()]
    lines += [*([""] if lines else []), *toml_lines(plain)]
    for name, details in columns.items():
        comment = (comments or {}).get(name, "")
        lines += ["", *(f"# {line}" for line in comment.splitlines())]
        lines += toml_lines(details, header=("columns", name))
    for model in models:
        lines += ["", "[[models]]", *toml_lines(model)]
    return "\n".join(lines) + "\n"


def loads(text: str, base_path: Path | None = None, source: str = "the policy") -> Policy:
    """Return the policy in a TOML or JSON text; problems name `source` and the line."""
    plain = _parsed(text, source)
    reader = _Reader(base_path or Path(), text)
    try:
        return reader.policy(plain)
    except PolicyError as error:
        raise PolicyError(f"{source}: {error.message}", code=error.code, hint=error.hint) from None


def read_policy(path: str | Path) -> Policy:
    """Return the policy in a TOML or JSON file.

    Raises
    ------
    PolicyError
        When the file cannot be read, is neither TOML nor JSON, or describes no policy.
    """
    path = Path(path)
    try:
        text = path.read_text(encoding="utf-8")
    except FileNotFoundError:
        raise PolicyError(
            f"there is no policy file {path.name!r}",
            hint="Make one with: shoal init data.csv --out policy.toml",
        ) from None
    except UnicodeDecodeError as error:
        raise PolicyError(
            f"the policy file {path.name!r} is not UTF-8 (byte {error.start})", hint="Save it as UTF-8."
        ) from None
    except OSError as error:
        raise PolicyError(f"the policy file {path.name!r} cannot be read: {error.strerror}") from None
    return loads(text, path.parent, f"policy file {path.name!r}")


def write_policy(policy: Policy, path: str | Path) -> None:
    """Write a policy as TOML, or as JSON when the name ends in .json."""
    path = Path(path)
    if path.suffix.lower() == ".json":
        text = json.dumps(to_dict(policy, path.parent), indent=2, ensure_ascii=False) + "\n"
    else:
        text = dumps(policy, base_path=path.parent)
    path.write_text(text, encoding="utf-8")


def _parsed(text: str, source: str) -> Mapping[str, Any]:
    if text.lstrip().startswith("{"):  # no TOML document begins so
        try:
            return dict(json.loads(text))
        except json.JSONDecodeError as error:
            raise PolicyError(
                f"{source} is not valid JSON: line {error.lineno}, column {error.colno}"
            ) from None
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        # The parser's own words may quote what the file holds; its position is enough.
        place = str(error).rpartition("(at ")[2].rstrip(")")
        raise PolicyError(
            f"{source} is not valid TOML: {place}", hint='Texts need quotes: "quasi".'
        ) from None


def _column_to_dict(column: Column, base_path: Path | None) -> dict[str, Any]:
    plain: dict[str, Any] = {"role": column.role.value}
    for key in ("kind", "form", "action", "weight", "rho", "least_level", "most_level", "separator"):
        value = getattr(column, key)
        if value != getattr(_DEFAULTS, key):
            plain[key] = value.value if isinstance(value, StrEnum) else value
    if column.domain is not None:
        plain["domain"] = list(column.domain)
    if column.order is not None:
        plain["order"] = list(column.order)
    if column.hierarchy is not None:
        plain["hierarchy"] = column.hierarchy.to_spec(base_path)
    return plain


def _model_to_dict(model: Model, base_path: Path | None) -> dict[str, Any]:
    plain = {"name": model.name, **model.to_dict()}
    for name in _frames(type(model)):
        value = getattr(model, name)
        if not isinstance(value, str):
            raise PolicyError(
                f"{name!r} of {model.name} is a table in memory, which a policy file cannot hold",
                hint="Write it to a file, and give the model that file's path.",
            )
        if base_path is not None:
            plain[name] = Path(os.path.relpath(value, base_path)).as_posix()
    return plain


def _frames(kind: type[Model]) -> list[str]:
    """Return the names of the parameters that are tables or paths of files."""
    return [parameter.name for parameter in kind.parameters() if isinstance(parameter.constraint, Frame)]


class _Reader:
    """Reads one policy, collecting problems instead of stopping at the first."""

    def __init__(self, base_path: Path, text: str = "") -> None:
        self.base_path = base_path
        self.text = text
        self.problems: list[str] = []
        self.hint = ""

    def policy(self, plain: Mapping[str, Any]) -> Policy:
        self._check_keys(plain, _TOP, ())
        columns = [self._column(name, details) for name, details in self._mapping(plain, "columns").items()]
        models = [self._model(i, given) for i, given in enumerate(self._models(plain))]
        self._refuse_if_wrong()
        options = {key: plain[key] for key in _TOP[:3] if key in plain}
        made = self._guarded(lambda: _assembled([c for c in columns if c], [m for m in models if m], options))
        self._refuse_if_wrong()
        assert isinstance(made, Policy)
        return made

    def _refuse_if_wrong(self) -> None:
        if self.problems:
            count = f"{len(self.problems)} problems: " if len(self.problems) > 1 else ""
            raise PolicyError(count + "; ".join(self.problems), hint=self.hint if not count else "")

    def _note(self, message: str, path: tuple[str, ...] = (), hint: str = "") -> None:
        line = key_line(self.text, path) if self.text and path else None
        if self.problems and hint:
            message, hint = f"{message} ({hint.rstrip('.')})", ""
        self.problems.append(f"line {line}: {message}" if line else message)
        self.hint = self.hint or hint

    def _guarded(self, make: Any, path: tuple[str, ...] = ()) -> Any:
        try:
            return make()
        except ShoalError as error:
            self._note(error.message, path, error.hint)
            return None

    def _check_keys(self, given: Mapping[str, Any], known: tuple[str, ...], path: tuple[str, ...]) -> None:
        for key in given:
            if key not in known:
                where = f" in column {path[1]!r}" if path else ""
                error = UnknownName.nearest("key", key, list(known))
                self._note(f"unknown key {key!r}{where}", (*path, key), error.hint)

    def _mapping(self, plain: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = plain.get(key, {})
        if not isinstance(value, Mapping):
            self._note(f"{key!r} must be a table", (key,), f"Write [{key}.NAME] and its keys below it.")
            return {}
        return value

    def _models(self, plain: Mapping[str, Any]) -> list[Any]:
        models = plain.get("models", [])
        if not isinstance(models, list):
            self._note("'models' must be a list", ("models",), "Write [[models]] above each model.")
            return []
        return models

    def _column(self, name: str, details: Any) -> Column | None:
        path = ("columns", name)
        if not isinstance(details, Mapping):
            self._note(f"column {name!r} must be a table", path, 'Such as: role = "quasi".')
            return None
        self._check_keys(details, _COLUMN, path)
        if "role" not in details:
            self._note(f"column {name!r} has no role", path, f"One of {', '.join(Role)}.")
        values: dict[str, Any] = {"name": name}
        for key in details:
            if key in _COLUMN:
                values[key] = self._detail(name, key, details[key])
        if self.problems:
            return None
        return Column(**values)

    def _detail(self, name: str, key: str, value: Any) -> Any:
        path = ("columns", name, key)
        if key in _ENUMS:
            options = [option.value for option in _ENUMS[key]]
            if not isinstance(value, str) or value not in options:
                self._note(f"the {key} of column {name!r} must be one of {', '.join(options)}", path)
                return None
            return _ENUMS[key](value)
        if key == "hierarchy":
            return self._hierarchy(name, value)
        if key in ("weight", "rho"):
            return self._numbers(name, key, [value], 1)[0]
        if key == "domain":
            return self._numbers(name, key, value, 2)
        if key in ("least_level", "most_level"):
            if isinstance(value, bool) or not isinstance(value, int):
                self._note(f"the {key} of column {name!r} must be a whole number", path)
            return value
        if key == "separator":
            if not isinstance(value, str):
                self._note(f"the separator of column {name!r} must be a text", path)
                return None
            return value
        return self._order(name, value)

    def _numbers(self, name: str, key: str, value: Any, count: int) -> tuple[float, ...]:
        good = isinstance(value, list) and len(value) == count
        if not good or any(isinstance(x, bool) or not isinstance(x, int | float) for x in value):
            words = "a number" if count == 1 else "two numbers: [low, high]"
            self._note(f"the {key} of column {name!r} must be {words}", ("columns", name, key))
            return (0.0,) * count
        return tuple(float(x) for x in value)

    def _order(self, name: str, value: Any) -> tuple[str, ...] | None:
        if not isinstance(value, list) or not all(isinstance(item, str) for item in value):
            self._note(f"the order of column {name!r} must be a list of texts", ("columns", name, "order"))
            return None
        return tuple(value)

    def _hierarchy(self, name: str, value: Any) -> Any:
        from .hierarchies import Hierarchy

        path = ("columns", name, "hierarchy")
        if not isinstance(value, Mapping):
            self._note(f"the hierarchy of column {name!r} must be a table", path)
            return None
        return self._guarded(lambda: Hierarchy.from_spec(dict(value), self.base_path), path)

    def _model(self, index: int, given: Any) -> Model | None:
        path = ("models", str(index))
        if not isinstance(given, Mapping) or not isinstance(given.get("name"), str):
            self._note(f"model {index + 1} has no name", path, 'Such as: name = "k-anonymity".')
            return None
        made: Model | None = self._guarded(lambda: self._made(given), path)
        return made

    def _made(self, given: Mapping[str, Any]) -> Model:
        kind: type[Model] = registry.get("models", given["name"])
        values = {key: value for key, value in given.items() if key != "name"}
        for name in _frames(kind):
            if isinstance(values.get(name), str):
                values[name] = str(self.base_path / values[name])
        return kind.create(values)


def _assembled(columns: list[Column], models: list[Model], options: dict[str, Any]) -> Policy:
    """Return the policy over these columns, in this order and in any role."""
    from .schema import Schema

    schema = Schema(tuple(columns))
    by_role = {role: {column.name: column for column in schema.having(role)} for role in Role}
    policy = Policy(
        identifiers=by_role[Role.IDENTIFIER],
        quasi=by_role[Role.QUASI],
        sensitive=by_role[Role.SENSITIVE],
        models=models,
        **options,
    )
    return policy.with_columns(schema.columns)
