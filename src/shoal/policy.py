"""Policy: the roles of columns, the promises about the release, and the price that may be paid."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

from . import registry
from .errors import ParameterError, PolicyError, UnknownName
from .params import Choice, Parameter, Real
from .schema import Action, Column, Form, Kind, Role, Schema

if TYPE_CHECKING:
    import numpy as np
    import pyarrow as pa
    from numpy.typing import NDArray

    from .encoding import Encoded
    from .kernels.rules import Rules
    from .models.base import Model

ColumnsLike = Iterable[str] | Mapping[str, Any]

_SUPPRESSION = Parameter("suppression", Real(0, 1), "share of records that may be suppressed", 0.0)
_SUPPRESSED = Parameter("suppressed", Choice(("drop", "star")), "what becomes of them", "drop")
_UNKNOWN = Parameter(
    "unknown_values", Choice(("refuse", "root")), "values a hierarchy does not know", "refuse"
)


@dataclass(frozen=True, slots=True, init=False)
class Policy:
    """What a release must keep.

    Parameters
    ----------
    identifiers, quasi, sensitive : list of names, or dict of name to details
        Details of a quasi-identifier or sensitive column: a kind ("numeric", "ordinal", "categorical" or
        "date"), a `Hierarchy`, or a `Column`. Of an identifier: "drop" (default), "pseudonym" or "mask".
    weight : str, optional
        A column of sampling weights, published as it is.
    models : list of privacy models
    suppression : float
        At most this share of the records may be suppressed.
    suppressed : "drop" or "star"
        Whether suppressed records leave the table or stay with every quasi-identifier ``*``.
    unknown_values : "refuse" or "root"
        What becomes of values that a hierarchy does not know.

    Examples
    --------
    >>> import shoal
    >>> policy = shoal.Policy(quasi=["age", "zip"], sensitive=["disease"],
    ...                       models=[shoal.KAnonymity(5), shoal.LDiversity(2)])
    >>> [column.name for column in policy.schema.quasi]
    ['age', 'zip']
    """

    schema: Schema
    models: tuple[Model, ...]
    suppression: float
    suppressed: Literal["drop", "star"]
    unknown_values: Literal["refuse", "root"]

    def __init__(
        self,
        *,
        identifiers: ColumnsLike = (),
        quasi: ColumnsLike = (),
        sensitive: ColumnsLike = (),
        weight: str | None = None,
        models: Iterable[Model] = (),
        suppression: float = 0.0,
        suppressed: str = "drop",
        unknown_values: str = "refuse",
    ) -> None:
        columns = [
            *_columns(identifiers, Role.IDENTIFIER),
            *_columns(quasi, Role.QUASI),
            *_columns(sensitive, Role.SENSITIVE),
            *([Column(weight, Role.WEIGHT)] if weight is not None else []),
        ]
        set_field = object.__setattr__
        set_field(self, "schema", Schema(tuple(columns)))
        set_field(self, "models", tuple(models))
        set_field(self, "suppression", _SUPPRESSION.check("the policy", suppression))
        set_field(self, "suppressed", _SUPPRESSED.check("the policy", suppressed))
        set_field(self, "unknown_values", _UNKNOWN.check("the policy", unknown_values))
        self._check_models()

    def _check_models(self) -> None:
        available = [column.name for column in self.schema.sensitive]
        for model in self.models:
            if not hasattr(model, "achieved_by_class"):
                raise ParameterError("'models' of the policy must be privacy models: shoal.KAnonymity(5)")
            if not model.per_column:
                continue
            if not available:
                raise PolicyError(
                    f"{model.name} speaks about sensitive columns, and the policy names none",
                    hint="List what must not be learned: sensitive=[...].",
                )
            for name in model.sensitive_columns(tuple(available)):
                if name not in available:
                    raise UnknownName.nearest("sensitive column", name, available)

    def promises(self) -> list[tuple[Model, str | None]]:
        """Return every promise to check: each model with each sensitive column it speaks about."""
        names = tuple(column.name for column in self.schema.sensitive)
        return [
            (model, name)
            for model in self.models
            for name in (model.sensitive_columns(names) if model.per_column else (None,))
        ]

    def with_columns(self, columns: Iterable[Column]) -> Policy:
        """Return the same policy over other columns."""
        return self._changed(schema=Schema(tuple(columns)))

    def with_models(self, models: Iterable[Model]) -> Policy:
        """Return the same policy with other models."""
        return self._changed(models=tuple(models))

    def _changed(self, **changes: Any) -> Policy:
        changed = object.__new__(Policy)
        for field in dataclasses.fields(self):
            object.__setattr__(changed, field.name, changes.get(field.name, getattr(self, field.name)))
        changed._check_models()
        return changed

    def resolved(self, data: pa.Table) -> Policy:
        """Return the policy with every kind and order that was left open filled in from a table.

        What is filled in are kinds and, for ordered categories, their order: verification needs both.
        """
        from .inference import complete

        self.schema.check_present(data.column_names)
        return self.with_columns(complete(column, data) for column in self.schema.columns)

    def compile(self, encoded: Encoded, kept: NDArray[np.bool_] | None = None) -> Rules:
        """Return all models as one set of thresholds for kernels, over the records in `kept`."""
        from .models.compile import compile_rules

        return compile_rules(self.models, encoded, kept)

    @classmethod
    def read(cls, path: str) -> Policy:
        """Return the policy in a TOML or JSON file."""
        from .policy_file import read_policy

        return read_policy(path)

    def write(self, path: str) -> None:
        """Write the policy as TOML, or as JSON when the name ends in .json."""
        from .policy_file import write_policy

        write_policy(self, path)


def short_policy(
    *,
    quasi: ColumnsLike,
    sensitive: ColumnsLike = (),
    identifiers: ColumnsLike = (),
    k: int | None = None,
    l: float | None = None,  # noqa: E741  (the literature's own letter)
    t: float | None = None,
    **options: Any,
) -> Policy:
    """Return a policy from its most common ingredients."""
    strengths = {"k-anonymity": k, "l-diversity": l, "t-closeness": t}
    models = [registry.get("models", name)(value) for name, value in strengths.items() if value is not None]
    return Policy(identifiers=identifiers, quasi=quasi, sensitive=sensitive, models=models, **options)


def _columns(given: ColumnsLike, role: Role) -> list[Column]:
    if isinstance(given, Mapping):
        return [_column(name, detail, role) for name, detail in given.items()]
    return [Column(name, role) for name in ([given] if isinstance(given, str) else given)]


def _column(name: str, detail: Any, role: Role) -> Column:
    if detail is None:
        return Column(name, role)
    if isinstance(detail, Column):
        return dataclasses.replace(detail, name=name, role=role)
    if hasattr(detail, "bind"):
        return Column(name, role, hierarchy=detail)
    if role is Role.IDENTIFIER:
        return Column(name, role, action=detail)
    return Column(name, role, kind=detail)


__all__ = ["Action", "Column", "Form", "Kind", "Policy", "Role", "short_policy"]
