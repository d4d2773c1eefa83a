"""Promises that no release of a table can keep, found before any work is done."""

from __future__ import annotations

from ..encoding import Encoded
from ..partitions import Partition
from .base import Model
from .compile import compile_rules
from .statistics import class_statistics


def feasible(models: tuple[Model, ...], encoded: Encoded) -> list[str]:
    """Return one sentence, with a way out, for each promise that even one class of all records breaks.

    A union of classes that keep a monotone promise keeps it, so what the whole table as one class breaks no
    partition can keep. Suppressing records could still help where a single value is too frequent; that is
    left to the user, who knows whether it may be done.

    Examples
    --------
    >>> import pyarrow as pa
    >>> import shoal
    >>> from shoal.encoding import encode
    >>> table = pa.table({"age": [1, 2, 3]})
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(5)]).resolved(table)
    >>> feasible(policy.models, encode(table, policy))
    ['k-anonymity(k=5) asks for 5, and the whole table as one class reaches 3. Lower k.']
    """
    whole = class_statistics(encoded, Partition.single(encoded.records))
    names = tuple(column.name for column in encoded.sensitive)
    found = []
    for model in models:
        for name in model.sensitive_columns(names) if model.per_column else (None,):
            column = -1 if name is None else encoded.sensitive_index(name)
            if model.monotone and not model.holds(whole, column).all():
                found.append(_sentence(model, name, model.achieved(whole, column)))
    return found or _together(models, encoded)


def _sentence(model: Model, name: str | None, achieved: float) -> str:
    where = "" if name is None else f" for {name!r}"
    return (
        f"{model}{where} asks for {_number(model.required())}, and the whole table as one class reaches "
        f"{_number(achieved)}. {model.way_out}"
    )


def _number(value: float) -> str:
    return f"{value:.0f}" if value.is_integer() else f"{value:.4g}"


def _together(models: tuple[Model, ...], encoded: Encoded) -> list[str]:
    """Return the sentence for promises that only together need a class larger than the table."""
    least = compile_rules(models, encoded).k
    if least <= encoded.records:
        return []
    return [
        f"The promises together need classes of at least {least} records, "
        f"and the table has {encoded.records}. Weaken one of them."
    ]
