"""The making of a release: suppressed records settled, every promise verified, the loss measured."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from fractions import Fraction
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .evidence import Evidence
from .io.columnar import hash_table
from .manifest import versions
from .partitions import Partition
from .recode import Published, without_unused_categories
from .release import Release
from .verification import verify_table
from .verification.groups import star_rows
from .verification.levels import level_problems

if TYPE_CHECKING:
    from .algorithms.base import Algorithm
    from .policy import Policy
    from .stages import Prepared

_FRESH = "drawn from the operating system's randomness"
_SEEDED = "drawn from a seed: whoever knows it can take the noise away"


def make_release(
    prepared: Prepared,
    partition: Partition,
    published: Published,
    algorithm: Algorithm,
    seed: int,
    notes: Mapping[str, Any] | None = None,
) -> Release:
    """Return the release of a published table, or raise because it does not keep the policy.

    Parameters
    ----------
    prepared : Prepared
        The table read and encoded, and the policy resolved.
    partition : Partition
        The class of every record.
    published : Published
        The table recoded by that partition.
    algorithm : Algorithm
        What made the partition.
    seed : int
        What it was made with.
    notes : mapping, optional
        How the partition came about, as in `Run.notes`: it becomes part of the provenance.

    Raises
    ------
    VerificationFailed
        When a promise does not hold on the published table. Nothing is returned.
    """
    from .metrics.measure import measure

    policy = prepared.policy
    published, evidence = settle_suppressed(published, partition, policy)
    data = prepared.table.data
    problems = level_problems(published.table, data, published.rows, policy, level_ranges(partition, policy))
    provenance: dict[str, Any] = {"input_sha256": hash_table(data), "seed": seed}
    provenance |= dict(notes or {})
    if any(column.form.noisy for column in policy.schema.quasi):
        provenance["noise"] = _SEEDED if published.seeded else _FRESH
    evidence = complete_evidence(evidence.with_problems(problems), partition, policy, provenance)
    evidence.require()
    return Release(
        table=prepared.table.give_back(published.table, published.rows),
        published=published.table,
        partition=partition,
        evidence=evidence,
        metrics=measure(prepared.encoded, partition, policy, published=published),
        policy=policy,
        algorithm=algorithm,
        seed=seed,
        prepared=prepared,
        rows=published.rows,
    )


def level_ranges(partition: Partition, policy: Policy) -> list[tuple[int, int | None]]:
    """Return the least and the greatest level that each quasi-identifier may be published at."""
    return [
        (partition.level(j), partition.level(j) if partition.uniform else column.most_level)
        for j, column in enumerate(policy.schema.quasi)
    ]


def complete_evidence(
    evidence: Evidence, partition: Partition, policy: Policy, provenance: dict[str, Any]
) -> Evidence:
    """Return the evidence with the suppressed records, against their limit, and with where it comes from."""
    limit = Fraction(repr(float(policy.suppression)))
    if partition.suppressed > limit * partition.records:
        shown = f"{partition.suppressed} of {partition.records}"
        evidence = evidence.with_problems(
            [f"{shown} records are suppressed (limit {100 * policy.suppression:.4g}%)"]
        )
    provenance = {**provenance, "versions": versions()}
    return replace(evidence, suppressed=partition.suppressed, provenance=provenance)


def settle_suppressed(
    published: Published, partition: Partition, policy: Policy
) -> tuple[Published, Evidence]:
    """Return the table, its suppressed records in the mildest state that keeps the policy, and its evidence.

    Suppressed records that stay (``suppressed="star"``) form a class of their own, or join the class whose
    cells say nothing either. Tried in this order: with their sensitive values; with null for the values of
    every column that breaks a promise, anywhere, because of them; without those records. The first that holds
    is taken; if none does, the last is, and fails.
    """
    labels = partition.labels[published.rows]
    evidence = verify_table(published.table, policy, labels)
    suppressed = labels < 0
    if evidence.holds or not suppressed.any():
        return published, evidence
    broken = {promise.column for promise in evidence.promises if not promise.holds} - {None}
    if broken:
        table = published.table
        stars = pa.array(star_rows(table, policy))
        for name in sorted(str(column) for column in broken):
            place, column = table.column_names.index(name), table.column(name)
            table = table.set_column(place, name, _without(column, stars))
        found = verify_table(table, policy, labels)
        if found.holds:
            return replace(published, table=table), found
    kept = ~suppressed
    table = _compacted(published.table.filter(pa.array(kept)))
    return replace(published, table=table, rows=published.rows[kept]), verify_table(
        table, policy, labels[kept]
    )


def _without(column: pa.ChunkedArray, where: pa.Array) -> pa.Array | pa.ChunkedArray:
    indices = pc.if_else(where, None, pa.array(np.arange(len(column))))
    return without_unused_categories(column.take(indices))


def _compacted(table: pa.Table) -> pa.Table:
    return pa.table({name: without_unused_categories(table.column(name)) for name in table.column_names})
