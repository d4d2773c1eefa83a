"""Declared parameters: one statement of what a parameter accepts, used everywhere it appears.

Models, algorithms and metrics are frozen dataclasses whose fields are made by `param`. From the declared
constraint come the check (`Parameterised.__post_init__`), the error sentence, the command line's
``--set name=value`` parser, the JSON Schema and the row in the documentation.
"""

from __future__ import annotations

import dataclasses
import math
import os
from dataclasses import dataclass
from typing import Any, ClassVar, Self

from .errors import ParameterError, UnknownName


@dataclass(frozen=True, slots=True)
class Constraint:
    """What a parameter accepts: said in words, checked, parsed, and described as JSON Schema."""

    def words(self) -> str:
        """Return the constraint as a phrase that completes 'must be ...'."""
        raise NotImplementedError

    def accepts(self, value: Any) -> bool:
        """Return whether `value` is acceptable."""
        raise NotImplementedError

    def convert(self, value: Any) -> Any:
        """Return `value` in its canonical type (an int where a whole float came in)."""
        return value

    def parse(self, text: str) -> Any:
        """Return the value written as `text` on the command line."""
        return text

    def schema(self) -> dict[str, Any]:
        """Return the constraint as JSON Schema."""
        raise NotImplementedError


@dataclass(frozen=True, slots=True)
class Integer(Constraint):
    """A whole number of at least `low` and at most `high`."""

    low: int | None = None
    high: int | None = None

    def words(self) -> str:
        return "a whole number" + _range_words(self.low, self.high)

    def accepts(self, value: Any) -> bool:
        return _is_number(value) and float(value).is_integer() and _inside(value, self.low, self.high)

    def convert(self, value: Any) -> int:
        return int(value)

    def parse(self, text: str) -> Any:
        return _number(text)

    def schema(self) -> dict[str, Any]:
        return {"type": "integer", **_bounds_schema(self.low, self.high)}


@dataclass(frozen=True, slots=True)
class Real(Constraint):
    """A finite number of at least `low` and at most `high`; `open_low` leaves out `low` itself."""

    low: float | None = None
    high: float | None = None
    open_low: bool = False

    def words(self) -> str:
        if self.open_low:
            upper = "" if self.high is None else f" and at most {self.high:g}"
            return f"a number above {self.low:g}{upper}"
        return "a number" + _range_words(self.low, self.high)

    def accepts(self, value: Any) -> bool:
        if not (_is_number(value) and math.isfinite(value) and _inside(value, self.low, self.high)):
            return False
        return not (self.open_low and value == self.low)

    def convert(self, value: Any) -> float:
        return float(value)

    def parse(self, text: str) -> Any:
        return _number(text)

    def schema(self) -> dict[str, Any]:
        bounds = _bounds_schema(self.low, self.high)
        if self.open_low and "minimum" in bounds:
            bounds["exclusiveMinimum"] = bounds.pop("minimum")
        return {"type": "number", **bounds}


@dataclass(frozen=True, slots=True)
class Choice(Constraint):
    """One of a few named options."""

    options: tuple[str, ...]

    def words(self) -> str:
        return "one of " + ", ".join(repr(option) for option in self.options)

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value in self.options

    def schema(self) -> dict[str, Any]:
        return {"enum": list(self.options)}


@dataclass(frozen=True, slots=True)
class Flag(Constraint):
    """True or false."""

    def words(self) -> str:
        return "true or false"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, bool)

    def parse(self, text: str) -> Any:
        return {"true": True, "yes": True, "1": True, "false": False, "no": False, "0": False}.get(
            text.lower(), text
        )

    def schema(self) -> dict[str, Any]:
        return {"type": "boolean"}


@dataclass(frozen=True, slots=True)
class Text(Constraint):
    """A piece of text, such as a path or a column name."""

    def words(self) -> str:
        return "text"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, str) and value != ""

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True)
class Names(Constraint):
    """Several pieces of text: column names or values. One alone may be given without a list."""

    def words(self) -> str:
        return "a list of names"

    def accepts(self, value: Any) -> bool:
        items = (value,) if isinstance(value, str) else value
        return isinstance(items, list | tuple) and all(isinstance(item, str) for item in items)

    def convert(self, value: Any) -> tuple[str, ...]:
        return (value,) if isinstance(value, str) else tuple(value)

    def parse(self, text: str) -> Any:
        return tuple(part.strip() for part in text.split(",") if part.strip())

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "string"}}


@dataclass(frozen=True, slots=True)
class Integers(Constraint):
    """Several whole numbers of at least `low`."""

    low: int = 0

    def words(self) -> str:
        return f"a list of whole numbers of at least {self.low}"

    def accepts(self, value: Any) -> bool:
        return isinstance(value, list | tuple) and all(Integer(self.low).accepts(item) for item in value)

    def convert(self, value: Any) -> tuple[int, ...]:
        return tuple(int(item) for item in value)

    def parse(self, text: str) -> Any:
        return tuple(_number(part.strip()) for part in text.split(",") if part.strip())

    def schema(self) -> dict[str, Any]:
        return {"type": "array", "items": {"type": "integer", "minimum": self.low}}


@dataclass(frozen=True, slots=True)
class Frame(Constraint):
    """A table: a frame of any library, or the path of a file that holds one."""

    def words(self) -> str:
        return "a table, or the path of a file that holds one"

    def accepts(self, value: Any) -> bool:
        if isinstance(value, str | os.PathLike):
            return os.fspath(value) != ""
        return hasattr(value, "__arrow_c_stream__") or isinstance(value, dict)

    def convert(self, value: Any) -> Any:
        """Return a path as text, and any frame as a pyarrow Table."""
        if isinstance(value, str | os.PathLike):
            return os.fspath(value)
        from .table import Table

        return Table.from_any(value).data

    def schema(self) -> dict[str, Any]:
        return {"type": "string", "minLength": 1}


@dataclass(frozen=True, slots=True)
class Optional(Constraint):
    """What `inner` accepts, or nothing."""

    inner: Constraint

    def words(self) -> str:
        return f"{self.inner.words()}, or none"

    def accepts(self, value: Any) -> bool:
        return value is None or self.inner.accepts(value)

    def convert(self, value: Any) -> Any:
        return None if value is None else self.inner.convert(value)

    def parse(self, text: str) -> Any:
        return None if text.lower() == "none" else self.inner.parse(text)

    def schema(self) -> dict[str, Any]:
        return {"anyOf": [self.inner.schema(), {"type": "null"}]}


def param(constraint: Constraint, help: str, *, default: Any = dataclasses.MISSING) -> Any:
    """Declare a dataclass field that accepts what `constraint` says; without `default` it is required."""
    metadata = {"constraint": constraint, "help": help}
    return dataclasses.field(default=default, metadata=metadata)


@dataclass(frozen=True, slots=True)
class Parameter:
    """One declared parameter of a model, an algorithm or a metric."""

    name: str
    constraint: Constraint
    help: str
    default: Any = dataclasses.MISSING

    @property
    def required(self) -> bool:
        """Whether there is no default."""
        return self.default is dataclasses.MISSING

    def check(self, owner: str, value: Any) -> Any:
        """Return `value` in canonical type, or raise the one sentence that says what it must be."""
        if not self.constraint.accepts(value):
            raise ParameterError(
                f"{self.name!r} of {owner} must be {self.constraint.words()}; got {_describe(value)}"
            )
        return self.constraint.convert(value)


@dataclass(frozen=True)
class Parameterised:
    """Base of everything with declared parameters: frozen, compared by value, checked when made."""

    name: ClassVar[str] = ""
    summary: ClassVar[str] = ""

    def __post_init__(self) -> None:
        for parameter in self.parameters():
            value = parameter.check(self.name, getattr(self, parameter.name))
            object.__setattr__(self, parameter.name, value)

    @classmethod
    def parameters(cls) -> tuple[Parameter, ...]:
        """Return the declared parameters in order."""
        return tuple(
            Parameter(f.name, f.metadata["constraint"], f.metadata["help"], f.default)
            for f in dataclasses.fields(cls)
            if "constraint" in f.metadata
        )

    @classmethod
    def create(cls, values: dict[str, Any]) -> Self:
        """Return an instance from a dictionary, refusing unknown and missing names in one sentence."""
        known = {parameter.name: parameter for parameter in cls.parameters()}
        for name in values:
            if name not in known:
                raise UnknownName.nearest(f"parameter of {cls.name}", name, list(known))
        missing = [name for name, p in known.items() if p.required and name not in values]
        if missing:
            raise ParameterError(f"{cls.name} needs {', '.join(repr(name) for name in missing)}")
        return cls(**values)

    @classmethod
    def parse(cls, texts: dict[str, str]) -> dict[str, Any]:
        """Return command-line texts as values, by each parameter's own parser."""
        known = {parameter.name: parameter for parameter in cls.parameters()}
        return {
            name: known[name].constraint.parse(text) if name in known else text
            for name, text in texts.items()
        }

    @classmethod
    def json_schema(cls) -> dict[str, Any]:
        """Return the parameters as one JSON Schema object."""
        properties = {}
        for parameter in cls.parameters():
            schema = {**parameter.constraint.schema(), "description": parameter.help}
            if not parameter.required:
                schema["default"] = _plain(parameter.default)
            properties[parameter.name] = schema
        required = [p.name for p in cls.parameters() if p.required]
        return {
            "type": "object",
            "properties": properties,
            "required": required,
            "additionalProperties": False,
        }

    def to_dict(self) -> dict[str, Any]:
        """Return the parameters that differ from their defaults, as plain values."""
        return {
            p.name: _plain(getattr(self, p.name))
            for p in self.parameters()
            if p.required or getattr(self, p.name) != p.default
        }


def _plain(value: Any) -> Any:
    if hasattr(value, "__arrow_c_stream__"):
        return "<table>"
    return list(value) if isinstance(value, tuple) else value


def _is_number(value: Any) -> bool:
    import numbers

    return isinstance(value, numbers.Real) and not isinstance(value, bool)


def _inside(value: float, low: float | None, high: float | None) -> bool:
    return (low is None or value >= low) and (high is None or value <= high)


def _range_words(low: float | None, high: float | None) -> str:
    if low is not None and high is not None:
        return f" between {low:g} and {high:g}"
    if low is not None:
        return f" of at least {low:g}"
    return "" if high is None else f" of at most {high:g}"


def _bounds_schema(low: float | None, high: float | None) -> dict[str, Any]:
    bounds: dict[str, Any] = {}
    if low is not None:
        bounds["minimum"] = low
    if high is not None:
        bounds["maximum"] = high
    return bounds


def _number(text: str) -> Any:
    try:
        return int(text)
    except ValueError:
        try:
            return float(text)
        except ValueError:
            return text


def _describe(value: Any) -> str:
    """Return a short account of a rejected value: numbers and short words only, never a whole object."""
    if isinstance(value, int | float | str | bool) or value is None:
        text = repr(value)
        return text if len(text) <= 40 else f"a text of {len(text)} characters"
    return f"a {type(value).__name__}"
