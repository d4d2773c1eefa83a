"""dp-centroid: microaggregation whose published centroids are epsilon-differentially private.

Records are put into a total order that does not depend on the data and cut into runs of k: MDAV made
insensitive, with the lowest corner of the bounds in the place of the record farthest from the mean. Replacing
one record changes every run by one record at most, so the sums of the runs have a known sensitivity, and
Laplace noise on them gives the guarantee. Nothing else is published: what is not one of the policy's bounded
quasi-identifiers is left out.

Everything up to the noise is a whole number: cells become places on a grid between the policy's bounds, and
OpenDP draws discrete Laplace noise for their sums, so floating point opens no gap in the proof.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from .errors import DataError, MissingExtra, PolicyError, PolicyUnsatisfiable
from .evidence import Evidence, How, Promise
from .inference import without_nan
from .params import Parameter, Real
from .policy import Policy
from .schema import Column, Form, Kind

if TYPE_CHECKING:
    import os

_STEPS = 1 << 20  # of the grid between the bounds of a column
_SLACK = 1 + 2.0**-40  # OpenDP rounds epsilon up; a hair more noise keeps the sum within the budget
_EPSILON = Parameter("epsilon", Real(1e-12), "privacy budget of the whole table", 1.0)


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class PrivateRelease:
    """A table of noisy centroids and what was proved about it. Only `dp_centroid` makes one.

    Attributes
    ----------
    table : pyarrow.Table
        As many rows as records, but no row belongs to a record: the input's order and index are gone.
    evidence : Evidence
        The proof, and k-anonymity recomputed from the published table.
    policy : Policy
        What the published table keeps beside the proof.
    """

    table: pa.Table
    evidence: Evidence
    policy: Policy

    def __repr__(self) -> str:
        return f"PrivateRelease({self.evidence.promises[0]})"

    def manifest(self) -> dict[str, Any]:
        """Return what is written beside the file: the mechanism, the policy with its bounds, the evidence."""
        from .manifest import describe_policy

        return {
            "mechanism": "dp-centroid",
            "versions": {name: version(name) for name in ("shoal", "opendp")},
            "policy": describe_policy(self.policy),
            "evidence": self.evidence.to_dict(),
        }

    def write(self, path: str | os.PathLike[str]) -> Evidence:
        """Write the table and a manifest, after reading it back and verifying what a table can show."""
        from .writing import write_verified

        found = write_verified(self.table, path, self.policy, self.manifest())
        return replace(found, promises=(self.evidence.promises[0], *found.promises))


def dp_centroid(data: Any, policy: Policy, *, epsilon: float) -> PrivateRelease:
    """Return the table as centroids of at least k records under epsilon-differential privacy.

    Two tables are neighbours when one record was replaced by another; the number of records is public. The
    budget is split over the quasi-identifiers by their weights, and the shares add up (sequential
    composition). Cells outside the bounds count as the nearest bound, nulls as the middle, so that no table
    is treated differently from its neighbours.

    Parameters
    ----------
    data : pandas or polars DataFrame, pyarrow Table, or anything with the Arrow capsule
    policy : Policy
        Its quasi-identifiers are numeric and have a `domain`: bounds known without looking at the table. Its
        only model is k-anonymity. A greater k means less noise and coarser centroids; below the square root
        of the number of records, plain noise on every record would do as well.
    epsilon : float
        Smaller protects more.

    Raises
    ------
    MissingExtra
        Without OpenDP: ``pip install 'shoal[dp]'``.
    PolicyError
        When a column has no bounds, or the policy asks for what this method cannot publish.

    References
    ----------
    Soria-Comas, Domingo-Ferrer, Sanchez and Martinez (2014): Enhancing data utility in differential privacy
    via microaggregation-based k-anonymity.

    Examples
    --------
    >>> import shoal
    >>> age = shoal.Column("age", kind=shoal.Kind.NUMERIC, domain=(0, 100))
    >>> policy = shoal.Policy(quasi={"age": age}, models=[shoal.KAnonymity(3)])
    >>> release = shoal.dp_centroid({"age": [20, 30, 40, 60, 70, 80]}, policy, epsilon=2)
    >>> release.evidence.promises[0].how, release.table.num_rows
    (<How.PROOF: 'proof'>, 6)
    """
    from .table import Table
    from .verification import verify_table

    epsilon = _EPSILON.check("dp-centroid", epsilon)
    k = _checked_k(policy)
    table = Table.from_any(data).data
    policy.schema.check_present(table.column_names)
    columns = policy.schema.quasi
    if table.num_rows < k:
        raise PolicyUnsatisfiable(f"the table has fewer than k={k} records", code="S202")
    places = np.stack([_places(table.column(c.name), c) for c in columns])
    runs = np.array_split(total_order(places), run_starts(places.shape[1], k))
    sums = np.stack([places[:, run].sum(axis=1) for run in runs], axis=1)
    noisy, spent = _with_noise(sums, columns, epsilon)
    published = _centroids(noisy, np.array([len(run) for run in runs]), columns)
    shown = policy.with_columns(replace(c, kind=Kind.NUMERIC, form=Form.MEAN) for c in columns)
    found = verify_table(published, shown)
    evidence = replace(found, promises=(_proof(epsilon, spent, k, columns), *found.promises), suppressed=0)
    evidence.require()
    return PrivateRelease(published, evidence, shown)


def _checked_k(policy: Policy) -> int:
    """Return the policy's k, or raise everything that stands against the mechanism."""
    from .models.k_anonymity import KAnonymity

    sizes = [model.k for model in policy.models if isinstance(model, KAnonymity)]
    found = [f"{model.name} cannot be kept" for model in policy.models if not isinstance(model, KAnonymity)]
    if not sizes:
        found.append("the policy has no k-anonymity to take k from")
    if not policy.schema.quasi:
        found.append("the policy names no quasi-identifier")
    for column in policy.schema.columns:
        if column not in policy.schema.quasi and column.published_names:
            found.append(f"{column.name!r} would be published as it is, which the proof does not cover")
    for column in policy.schema.quasi:
        if column.domain is None or column.kind not in (None, Kind.NUMERIC):
            found.append(f"{column.name!r} has no bounds")
        elif not math.isfinite(column.domain[1] - column.domain[0]):
            found.append(f"the bounds of {column.name!r} are not a finite distance apart")
    if found:
        raise PolicyError(
            "dp-centroid: " + "; ".join(found),
            hint="Name only numeric quasi-identifiers with domain=(low, high), known without the table.",
        )
    return max(sizes)


def _places(cells: pa.ChunkedArray, column: Column) -> NDArray[np.int64]:
    """Return the place of every cell on the grid between the bounds; the middle for null."""
    kinds = (pa.types.is_integer, pa.types.is_floating, pa.types.is_null)
    if not any(is_kind(cells.type) for is_kind in kinds):
        raise DataError(f"column {column.name!r} holds no numbers", hint="Make it numeric first.")
    assert column.domain is not None
    low, high = column.domain
    numbers = pc.fill_null(without_nan(cells).cast(pa.float64(), safe=False), (low + high) / 2).to_numpy()
    if high == low:
        return np.zeros(len(numbers), dtype=np.int64)
    share = (np.clip(numbers, low, high) - low) / (high - low)
    return np.asarray(np.rint(share * _STEPS), dtype=np.int64)


def total_order(places: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the records by their distance from the lowest corner of the bounds, then place by place.

    Only records that are equal in every place are equal in it, and those are interchangeable.
    """
    distance = (places**2).sum(axis=0)
    return np.asarray(np.lexsort((*places[::-1], distance)), dtype=np.int64)


def run_starts(records: int, k: int) -> NDArray[np.int64]:
    """Return where runs of k begin, the first left out; the last takes what is left over."""
    return np.arange(1, records // k) * k


def sensitivity(columns: int, runs: int) -> int:
    """Return how much the sums of one column over all runs can change, in total, when one record is replaced.

    Each run exchanges one record at most, so its sum changes by the grid at most. For a single column the
    order is that of its values: all changes go the same way and add up to what the record itself moved.
    """
    return _STEPS if columns == 1 else _STEPS * runs


def _with_noise(
    sums: NDArray[np.int64], columns: tuple[Column, ...], epsilon: float
) -> tuple[NDArray[np.int64], dict[str, float]]:
    """Return the sums with discrete Laplace noise, and the epsilon each column spent by OpenDP's account."""
    try:
        import opendp.prelude as dp
    except ImportError:
        raise MissingExtra.of("dp-centroid", "dp") from None
    dp.enable_features("contrib")
    wide = [c for c in columns if c.domain is not None and c.domain[0] < c.domain[1]]
    whole = sum(column.weight for column in wide)
    noisy, spent = np.zeros_like(sums), {}
    reach = sensitivity(len(columns), sums.shape[1])
    for j, column in enumerate(columns):
        if column not in wide:
            continue  # its bounds say what it is
        scale = reach / (epsilon * column.weight / whole) * _SLACK
        space = dp.vector_domain(dp.atom_domain(T="i64")), dp.l1_distance(T="i64")
        mechanism: Any = dp.m.make_laplace(*space, scale=scale)
        noisy[j] = mechanism(sums[j].tolist())
        spent[column.name] = float(mechanism.map(reach))
    if sum(map(Fraction, spent.values())) > Fraction(epsilon):
        raise PolicyUnsatisfiable("the shares of the budget add up to more than epsilon", code="S202")
    return noisy, spent


def _centroids(noisy: NDArray[np.int64], sizes: NDArray[np.int64], columns: tuple[Column, ...]) -> pa.Table:
    """Return the noisy means, cut off at the bounds, each as often as its run has records."""
    made = {}
    for column, sums in zip(columns, noisy, strict=True):
        assert column.domain is not None
        low, high = column.domain
        share = np.clip(sums / sizes / _STEPS, 0, 1)
        made[column.name] = np.repeat(low + share * (high - low), sizes)
    return pa.table(made)


def _proof(epsilon: float, spent: dict[str, float], k: int, columns: tuple[Column, ...]) -> Promise:
    parameters = {
        "epsilon": epsilon,
        "neighbours": "one record replaced; the number of records is public",
        "composition": "sequential: the shares of the columns add up",
        "shares": spent,
        "bounds": {column.name: list(column.domain or ()) for column in columns},
        "covers": "every published cell of this one release; further releases of the same people add up",
        "mechanism": f"discrete Laplace noise (OpenDP) on sums of runs of {k} records in a total order",
    }
    total = float(sum(map(Fraction, spent.values())))
    return Promise("differential-privacy", parameters, None, epsilon, total, "lower", True, 0, How.PROOF)
