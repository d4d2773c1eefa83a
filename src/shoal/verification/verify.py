"""verify_table: a published table and a policy -> evidence."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.compute as pc

from ..evidence import Evidence, How, Promise
from ..schema import Action, Column, Form, Role
from .checks import check
from .groups import Examined, Unverifiable, group_rows, plain_column

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from ..policy import Policy

_MASK = "***"
_PSEUDONYM = "^[0-9a-f]{32}$"


def verify_table(
    published: pa.Table, policy: Policy, classes: NDArray[np.integer[Any]] | None = None
) -> Evidence:
    """Return the evidence for a published table, recomputed from nothing but its cells and the policy.

    Records are grouped by the published quasi-identifiers; null equals null and nothing else. Suppressed
    records that were kept with ``*`` are a group like any other. Columns the policy does not name are
    allowed; the evidence lists them.

    Where a quasi-identifier is published with noise, records of one class differ in it, and the table by
    itself can show nothing: it counts as not kept. Whoever made the table knows the class of every row; given
    these, promises are recomputed over the classes, and the evidence says that they hold by construction.

    Parameters
    ----------
    published : pyarrow.Table
        The table as it is, or was read from the file that is.
    policy : Policy
        What was promised.
    classes : int[n], optional
        The class of every row; only used where a quasi-identifier is published with noise.

    Returns
    -------
    Evidence
        Its `holds` is the verdict. A promise that cannot be checked does not hold.

    Examples
    --------
    >>> import pyarrow as pa, shoal
    >>> policy = shoal.Policy(quasi=["age"], models=[shoal.KAnonymity(2)])
    >>> found = verify_table(pa.table({"age": ["[20, 29]", "[20, 29]", "30"]}), policy)
    >>> found.holds, found.promises[0].achieved, found.promises[0].failing
    (False, 1.0, 1)
    """
    names = published.column_names
    problems = [] if policy.models else ["the policy promises nothing"]
    problems += column_problems(names, policy)
    if max(Counter(names).values(), default=1) == 1:
        for column in policy.schema.columns:
            if column.role is Role.IDENTIFIER and column.name in names:
                problems += identifier_problems(published.column(column.name), column)
    needed = [name for column in policy.schema.quasi for name in column.published_names]
    counted = Counter(names)
    readable = all(counted[name] == 1 for name in needed) and max(counted.values(), default=1) == 1
    noisy = any(column.form.noisy for column in policy.schema.quasi)
    if readable and noisy:
        problems += _noise_problems(published, policy, classes)
    known = classes if noisy else None
    examined = Examined.of(published, policy, known) if readable else None
    found = evidence_of(examined, policy, problems, published.num_rows, names)
    if known is None:
        return found
    return replace(found, promises=tuple(replace(p, how=How.CONSTRUCTION) for p in found.promises))


def evidence_of(
    examined: Examined | None, policy: Policy, problems: list[str], records: int, names: list[str]
) -> Evidence:
    """Return the evidence for the groups of a published table, None where they cannot be told."""
    promises = tuple(_promise(model, column, examined, problems) for model, column in policy.promises())
    return Evidence(
        promises,
        records,
        len(examined.sizes) if examined is not None else 0,
        problems=tuple(dict.fromkeys(problems)),
        unnamed=_unnamed(names, policy),
    )


def _promise(model: Any, column: str | None, examined: Examined | None, problems: list[str]) -> Promise:
    parameters = model.to_dict()
    if examined is not None:
        try:
            found = check(model, examined, column)
        except Unverifiable as reason:
            problems.append(f"{model.name} cannot be verified: {reason}")
        else:
            failing = len(found.failing)
            strengths = float(found.required), float(found.achieved)
            return Promise(model.name, parameters, column, *strengths, found.better, failing == 0, failing)
    return Promise(model.name, parameters, column, float(model.required()), math.nan, model.better, False, 0)


def _noise_problems(
    published: pa.Table, policy: Policy, classes: NDArray[np.integer[Any]] | None
) -> list[str]:
    """Return why a table with noise cannot be judged, or where it differs inside classes without noise."""
    noisy = ", ".join(repr(column.name) for column in policy.schema.quasi if column.form.noisy)
    if classes is None:
        return [
            f"{noisy} published with noise: the table alone cannot show which records share a class, so no "
            "promise can be confirmed from it"
        ]
    quiet = [n for c in policy.schema.quasi if not c.form.noisy for n in c.published_names]
    labels = pa.table({"class": pa.array(classes)})
    for name in quiet:
        labels = labels.append_column(f"cell {name}", published.column(name))
    together = group_rows(labels, labels.column_names)
    if together.max(initial=-1) != group_rows(labels, ["class"]).max(initial=-1):
        return ["records of one class differ in a column that is published without noise"]
    return []


def column_problems(names: list[str], policy: Policy) -> list[str]:
    """Return what is wrong with the columns: missing, repeated, or not to be published beside each other."""
    found = [f"column {name!r} occurs {n} times" for name, n in Counter(names).items() if n > 1]
    if found:
        return found
    for column in policy.schema.columns:
        missing = [name for name in column.published_names if name not in names]
        found += [f"the {column.role} column {name!r} is missing" for name in missing]
        if column.role is Role.QUASI and column.form is Form.BOUNDS and column.name in names:
            found.append(f"the quasi-identifier {column.name!r} is published beside its bounds")
    return found


def _unnamed(names: list[str], policy: Policy) -> tuple[str, ...]:
    """Return the columns that the policy does not name, neither as they were nor as they are published."""
    named = {name for column in policy.schema.columns for name in (column.name, *column.published_names)}
    return tuple(name for name in dict.fromkeys(names) if name not in named)


def identifier_problems(cells: pa.ChunkedArray, column: Column) -> list[str]:
    """Return what is wrong with a direct identifier that is a column of the published table."""
    if column.action is Action.DROP:
        return [f"the identifier {column.name!r} is published"]
    cells = plain_column(cells)
    if len(cells) == 0 or cells.null_count == len(cells):
        return []
    if not (pa.types.is_string(cells.type) or pa.types.is_large_string(cells.type)):
        return [f"the identifier {column.name!r} is published"]
    if column.action is Action.MASK:
        good = pc.fill_null(pc.equal(cells, _MASK), False)
    else:
        good = pc.fill_null(pc.match_substring_regex(cells, _PSEUDONYM), True)
    bad = len(cells) - int(pc.sum(good).as_py())
    return [f"{bad} cells of the identifier {column.name!r} are published as they were"] if bad else []
