"""Compute metrics of a partition, by name or all that apply."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from .. import registry
from ..encoding import Encoded
from ..errors import ParameterError, PolicyError
from ..partitions import Partition
from .base import Measured, Metric
from .covers import Covers

if TYPE_CHECKING:
    from ..policy import Policy
    from ..recode import Published


def measure(
    encoded: Encoded,
    partition: Partition,
    policy: Policy,
    names: Iterable[str | Metric] | None = None,
    covers: Covers | None = None,
    published: Published | None = None,
    *,
    frugal: bool = False,
) -> dict[str, float | dict[str, float]]:
    """Return metrics of a partition by name: a number each, or one number per column.

    Parameters
    ----------
    encoded : Encoded
        The integer view of the original table.
    partition : Partition
        The class of each of its records.
    policy : Policy
        Where k and t come from.
    names : list of names or metrics, optional
        Which ones; a `Metric` brings its parameters along. All that apply as they are when not given.
    covers : Covers, optional
        What every class covers, where it is known already.
    published : Published, optional
        The table as published, which metrics of numbers read; class means stand for it when not given.
    frugal : bool
        Whether to leave out costly metrics, and to make what is large and several metrics need once for each,
        to hold less at a time.

    Raises
    ------
    UnknownName
        For a metric that does not exist, with the nearest one that does.
    PolicyError
        For a metric asked for by name that has no meaning here, with what it needs.

    Examples
    --------
    >>> import numpy as np, pyarrow as pa, shoal
    >>> from shoal.encoding import encode
    >>> policy = shoal.Policy(quasi={"age": "numeric"}, models=[shoal.KAnonymity(2)])
    >>> encoded = encode(pa.table({"age": [20, 30, 40, 60]}), policy)
    >>> found = measure(encoded, shoal.Partition.from_labels(np.array([0, 0, 1, 1])), policy)
    >>> found["gcp"], found["ncp"], found["dm"], found["cavg"]
    (0.375, {'age': 0.375}, 8.0, 1.0)
    """
    measured = Measured(encoded, partition, covers or Covers(encoded, partition), policy, published, frugal)
    found: dict[str, float | dict[str, float]] = {}
    if names is None:
        for metric in _defaults():
            if metric.applies(measured) and not (frugal and metric.costly):
                found[metric.name] = metric.compute(measured)
        return found
    for name in names:
        metric = _metric(name)
        if metric.name in found:
            raise ParameterError(f"the metric {metric.name!r} is asked for more than once")
        if not metric.applies(measured):
            raise PolicyError(
                f"the metric {metric.name!r} has no meaning for this table and policy",
                hint=f"It needs {metric.needs}.",
            )
        found[metric.name] = metric.compute(measured)
    return found


def _defaults() -> list[Metric]:
    classes = [registry.get("metrics", name) for name in registry.names("metrics")]
    return [metric() for metric in classes if not any(p.required for p in metric.parameters())]


def _metric(name: str | Metric) -> Metric:
    if isinstance(name, Metric):
        return name
    metric: Metric = registry.get("metrics", name).create({})
    return metric
