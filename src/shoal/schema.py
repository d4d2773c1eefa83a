"""Roles and kinds of columns: what a column means for privacy, and how its values can be compared."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, TypeVar

from .errors import PolicyError, UnknownName

if TYPE_CHECKING:
    from .hierarchies import Hierarchy

WEIGHTS = (0.001, 1000.0)  # of columns: beyond, costs in whole numbers would vanish or overflow

Named = TypeVar("Named", bound=StrEnum)


class Role(StrEnum):
    """What a column means for privacy.

    Examples
    --------
    >>> Role("quasi").name
    'QUASI'
    """

    IDENTIFIER = "identifier"
    QUASI = "quasi"
    SENSITIVE = "sensitive"
    WEIGHT = "weight"
    OTHER = "other"


class Kind(StrEnum):
    """How the values of a column can be compared.

    Examples
    --------
    >>> [str(kind) for kind in Kind]
    ['numeric', 'ordinal', 'categorical', 'date']
    """

    NUMERIC = "numeric"
    ORDINAL = "ordinal"
    CATEGORICAL = "categorical"
    DATE = "date"


class Form(StrEnum):
    """How a quasi-identifier is published for a class that holds several of its values.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi={"age": shoal.Column("age", form="mean")}, models=[shoal.KAnonymity(2)])
    >>> shoal.anonymize({"age": [30, 40, 70, 80]}, policy, algorithm="mondrian").table["age"]
    [35.0, 35.0, 75.0, 75.0]
    """

    AUTO = "auto"  # interval for numbers and dates, ancestor with a hierarchy, else value set
    INTERVAL = "interval"  # [20, 29]
    SET = "set"  # {a, b}
    ANCESTOR = "ancestor"  # the lowest common node of the hierarchy
    MEAN = "mean"  # microaggregation: one number for the whole class
    MEDIAN = "median"
    MODE = "mode"
    CENTROID = "centroid"  # mean of numbers and dates, median of ranks, mode of categories
    RHO_NOISE = "rho-noise"  # a number between the class's mean and its extremes, drawn for every record
    RANDOM = "random"  # the record's number, moved by a random step and wrapped around inside its class
    BOUNDS = "bounds"  # two columns, NAME_min and NAME_max

    @property
    def noisy(self) -> bool:
        """Whether records of one class are published with different cells, drawn at random."""
        return self in (Form.RHO_NOISE, Form.RANDOM)


class Action(StrEnum):
    """What happens to a direct identifier.

    Examples
    --------
    >>> [str(action) for action in Action]
    ['drop', 'pseudonym', 'mask']
    """

    DROP = "drop"
    PSEUDONYM = "pseudonym"  # HMAC-SHA256 under a key that never enters the release
    MASK = "mask"  # every cell becomes ***


def named(options: type[Named], given: str) -> Named:
    """Return the option of that name, or raise with the nearest one.

    Examples
    --------
    >>> named(Kind, "date")
    <Kind.DATE: 'date'>
    """
    try:
        return options(given)
    except ValueError:
        known = [str(option) for option in options]
        raise UnknownName.nearest(options.__name__.lower(), str(given), known) from None


@dataclass(frozen=True, slots=True)
class Column:
    """One column's part of a policy; what is left out is inferred from the table.

    Parameters
    ----------
    name : str
    role : Role
    kind : Kind, optional
        Inferred from the values when not given.
    hierarchy : Hierarchy, optional
        Turns loss, distances and (by default) the published form into those of the tree.
    weight : float
        Relative importance of the column in the loss that algorithms minimise: 0.001 to 1000.
    form : Form
    domain : (low, high), optional
        Public bounds of a numeric column; safer than bounds read from the data.
    order : tuple of str, optional
        The values of an ordinal column from least to greatest.
    rho : float
        For the form "rho-noise": how far the noise reaches, 0 nowhere and 1 to the extremes of the class.
    action : Action
        For identifiers.
    least_level : int
        The least level of its hierarchy that any cell is published at: 0 is the value itself. A column
        without hierarchy has level 0 and level 1, ``*``.
    most_level : int, optional
        The greatest; 0 for a column that may not be generalised at all.
    separator : str, optional
        Of a quasi-identifier whose cells are sets: what stands between two items of a text, such as ``|``.
        Such a column is categorical; the kind "set" is short for it.

    Roles, kinds, forms and actions may be given as their names.

    Examples
    --------
    >>> column = Column("age", kind="numeric", domain=(0, 120), form="interval")
    >>> column.kind is Kind.NUMERIC, column.published_names
    (True, ('age',))
    """

    name: str
    role: Role = Role.QUASI
    kind: Kind | None = None
    hierarchy: Hierarchy | None = None
    weight: float = 1.0
    form: Form = Form.AUTO
    domain: tuple[float, float] | None = None
    order: tuple[str, ...] | None = None
    rho: float = 0.5
    action: Action = Action.DROP
    least_level: int = 0
    most_level: int | None = None
    separator: str | None = None

    def __post_init__(self) -> None:
        if self.kind == "set":
            object.__setattr__(self, "separator", self.separator or "|")
            object.__setattr__(self, "kind", Kind.CATEGORICAL)
        for name, options in (("role", Role), ("kind", Kind), ("form", Form), ("action", Action)):
            given = getattr(self, name)
            if given is not None:
                object.__setattr__(self, name, named(options, given))

    @property
    def published_names(self) -> tuple[str, ...]:
        """The names of the columns this one becomes in a release; none for a dropped identifier."""
        if self.role is Role.IDENTIFIER and self.action is Action.DROP:
            return ()
        if self.role is Role.QUASI and self.form is Form.BOUNDS:
            return (f"{self.name}_min", f"{self.name}_max")
        return (self.name,)

    def problems(self) -> list[str]:
        """Return everything wrong with this column by itself."""
        found = []
        least, most = WEIGHTS
        if not least <= self.weight <= most:
            found.append(f"the weight of {self.name!r} must be between {least:g} and {most:g}")
        found += self._level_problems()
        if self.domain is not None and not self.domain[0] <= self.domain[1]:
            found.append(f"the domain of {self.name!r} must be (low, high) with low <= high")
        if self.domain is not None and self.kind not in (None, Kind.NUMERIC):
            found.append(f"only a numeric column has a domain, not {self.name!r}")
        if self.order is not None and self.kind not in (None, Kind.ORDINAL):
            found.append(f"only an ordinal column has an order, not {self.name!r}")
        if self.form is Form.ANCESTOR and self.hierarchy is None:
            found.append(f"{self.name!r} is to be published as ancestor but has no hierarchy")
        numeric_forms = (Form.INTERVAL, Form.MEAN, Form.MEDIAN, Form.BOUNDS)
        if not (math.isfinite(self.rho) and 0 <= self.rho <= 1):
            found.append(f"rho of {self.name!r} must be between 0 and 1")
        if self.form.noisy and self.kind not in (None, Kind.NUMERIC, Kind.DATE):
            found.append(
                f"{self.name!r} is {self.kind}, and only numbers and dates can be published with noise"
            )
        if self.form in numeric_forms and self.kind is Kind.CATEGORICAL:
            found.append(f"a categorical column such as {self.name!r} has no {self.form.value}")
        return found + self._set_problems()

    def _set_problems(self) -> list[str]:
        if self.separator is None:
            return []
        if self.separator.strip() == "" or any(mark in self.separator for mark in ',{}[]"*'):
            return [f"the separator of {self.name!r} must be a text other than blanks, commas and brackets"]
        if self.role is not Role.QUASI:
            return [f"{self.name!r} is no quasi-identifier, and only the cells of those can be sets"]
        if self.kind not in (None, Kind.CATEGORICAL) or self.hierarchy is not None or self.order is not None:
            return [f"{self.name!r} holds sets, which have neither an order nor a hierarchy"]
        return []

    def _level_problems(self) -> list[str]:
        least, most = self.least_level, self.most_level
        if (least, most) == (0, None):
            return []
        if least < 0 or (most is not None and most < least):
            return [f"the levels of {self.name!r} must be least_level <= most_level, from 0 on"]
        if self.role is not Role.QUASI:
            return [f"{self.name!r} is no quasi-identifier, and only those have levels"]
        if self.form not in (Form.AUTO, Form.ANCESTOR):
            return [f"{self.name!r} is to be published as {self.form.value} and at levels of a hierarchy"]
        return []


@dataclass(frozen=True, slots=True)
class Schema:
    """The columns a policy speaks about; all of its problems are reported together."""

    columns: tuple[Column, ...]

    def __post_init__(self) -> None:
        counts = Counter(column.name for column in self.columns)
        found = [f"column {name!r} is listed {n} times" for name, n in counts.items() if n > 1]
        for column in self.columns:
            found += column.problems()
        if sum(column.role is Role.WEIGHT for column in self.columns) > 1:
            found.append("there can be one weight column only")
        if found:
            raise PolicyError("; ".join(found))

    def having(self, role: Role) -> tuple[Column, ...]:
        """Return the columns of one role, in order."""
        return tuple(column for column in self.columns if column.role is role)

    @property
    def quasi(self) -> tuple[Column, ...]:
        """The quasi-identifiers."""
        return self.having(Role.QUASI)

    @property
    def sensitive(self) -> tuple[Column, ...]:
        """The sensitive columns."""
        return self.having(Role.SENSITIVE)

    @property
    def identifiers(self) -> tuple[Column, ...]:
        """The direct identifiers."""
        return self.having(Role.IDENTIFIER)

    def check_present(self, names: list[str]) -> None:
        """Raise when a column of the schema is not among `names`; all missing ones at once."""
        missing = [column.name for column in self.columns if column.name not in names]
        if len(missing) == 1:
            raise UnknownName.nearest("column", missing[0], names)
        if missing:
            raise PolicyError(
                "the table lacks the columns " + ", ".join(repr(name) for name in missing),
                hint=f"It has {', '.join(names)}.",
            )
