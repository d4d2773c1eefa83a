"""Release: a published table that was verified, and the only way to make or write one."""

from __future__ import annotations

import math
import platform
from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from .errors import ParameterError
from .evidence import Evidence
from .io.columnar import hash_table
from .partitions import Partition
from .recode import Published, without_unused_categories
from .schema import Form, Role
from .verification import verify_table
from .verification.groups import star_rows
from .verification.levels import level_problems
from .writing import write_verified

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable, Mapping

    from numpy.typing import NDArray

    from .algorithms.base import Algorithm
    from .api import Prepared
    from .attacks.base import Attack, Attacks
    from .comparing import Comparison
    from .policy import Policy
    from .progress import Progress
    from .report.build import Report
    from .risk.exposure import Risk
    from .utility.measuring import Utility

_LIBRARIES = ("numpy", "numba", "pyarrow")
_FRESH = "drawn from the operating system's randomness"
_SEEDED = "drawn from a seed: whoever knows it can take the noise away"


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Described:
    """What is known of any release, wherever its records are.

    Attributes
    ----------
    partition : Partition
        The class of every record of the input. It links records to their source: keep it in the house.
    evidence : Evidence
    metrics : dict
    policy : Policy
        With all kinds filled in.
    algorithm : Algorithm
    seed : int
    """

    partition: Partition
    evidence: Evidence
    metrics: dict[str, Any]
    policy: Policy
    algorithm: Algorithm
    seed: int

    def __repr__(self) -> str:
        verdict = "holds" if self.evidence.holds else "does not hold"
        gcp = self.metrics.get("gcp")
        loss = f", gcp={gcp:.4f}" if isinstance(gcp, float) else ""
        shown = f"records={self.evidence.records}, classes={self.evidence.classes}{loss}"
        return f"{type(self).__name__}({verdict}, {shown})"

    def _repr_html_(self) -> str:
        from .evidence import strength
        from .notebook import html_table

        rows = [
            (
                promise.model,
                promise.column or "",
                ("at least " if promise.better == "higher" else "at most ") + strength(promise.required),
                strength(promise.achieved),
                "holds" if promise.holds else f"broken by {promise.failing:,} classes",
            )
            for promise in self.evidence.promises
        ]
        gcp = self.metrics.get("gcp")
        loss = f", loss (gcp) {gcp:.4f}" if isinstance(gcp, float) else ""
        suppressed = f"{self.partition.suppressed:,} suppressed"
        note = f"{self.evidence.records:,} records in {self.evidence.classes:,} classes, {suppressed}{loss}"
        title = "The policy holds" if self.evidence.holds else "The policy does not hold"
        return html_table(
            title, ["promise", "sensitive column", "required", "achieved", "verdict"], rows, note
        )

    @property
    def levels(self) -> dict[str, int] | None:
        """The level each quasi-identifier is published at; None where classes differ in it.

        Examples
        --------
        >>> import shoal
        >>> age = shoal.Hierarchy.intervals(widths=[10, 20])
        >>> shoal.anonymize({"age": [21, 25, 38]}, quasi={"age": age}, k=3, algorithm="lattice").levels
        {'age': 2}
        """
        if not self.partition.uniform:
            return None
        names = [column.name for column in self.policy.schema.quasi]
        return dict(zip(names, self.partition.levels, strict=True))

    @property
    def refinement(self) -> dict[str, Any] | None:
        """How refining went, None without it: parameters, loss before and after, moves, how it ended, curve.

        The curve holds [moves, seconds, loss].

        Examples
        --------
        >>> import shoal
        >>> release = shoal.anonymize({"age": [20, 60, 21, 61]}, quasi=["age"], k=2, refine=True)
        >>> release.refinement["after"] <= release.refinement["before"]
        True
        """
        found: dict[str, Any] | None = self.evidence.provenance.get("refinement")
        return found

    def manifest(self) -> dict[str, Any]:
        """Return what is written beside the file: how it was made and what it keeps; no cell values.

        The hash of the input is left out: whoever knows all records but one could try values for that one
        until the hash fits. It stands in ``evidence.provenance``, for the house's own records.

        Examples
        --------
        >>> import shoal
        >>> release = shoal.anonymize({"age": [20, 21, 60, 61]}, quasi=["age"], k=2, algorithm="mondrian")
        >>> manifest = release.manifest()
        >>> manifest["evidence"]["holds"], manifest["algorithm"]["name"]
        (True, 'mondrian')
        """
        evidence = self.evidence.to_dict()
        provenance = evidence.pop("provenance")
        found: dict[str, Any] = plain(
            {
                "versions": provenance["versions"],
                "policy": describe_policy(self.policy),
                "algorithm": {"name": self.algorithm.name, "parameters": self.algorithm.to_dict()},
                "seed": self.seed,
                **({"levels": self.levels} if self.levels is not None else {}),
                **({"noise": provenance["noise"]} if "noise" in provenance else {}),
                **({"refinement": _without_curve(self.refinement)} if self.refinement else {}),
                "evidence": evidence,
                "metrics": self.metrics,
            }
        )
        return found


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class FileRelease(Described):
    """A release that was written to a file straight away, and verified as it was read back from there.

    Attributes
    ----------
    path : Path

    Examples
    --------
    >>> import tempfile, pathlib, shoal
    >>> folder = pathlib.Path(tempfile.mkdtemp())
    >>> _ = (folder / "in.csv").write_text("age\\n20\\n21\\n60\\n61\\n")
    >>> release = shoal.anonymize_file(folder / "in.csv", folder / "out.csv", quasi=["age"], k=2)
    >>> release.path.name, release.evidence.holds
    ('out.csv', True)
    """

    path: Path


@dataclass(frozen=True, slots=True, eq=False, repr=False)
class Release(Described):
    """A published table whose every promise was recomputed from its own cells. Only `make_release` makes one.

    Attributes
    ----------
    table : frame
        Of the same kind as the input.
    published : pyarrow.Table
        The same table, as it will be written.
    prepared : Prepared
        The table it was made from, read and encoded: what risk, utility and the report compare it with. Like
        the partition, it stays in the house.
    rows : int64[published records]
        The row of the input that each published record was made from, ascending.

    Examples
    --------
    >>> import shoal
    >>> shoal.anonymize({"age": [20, 21, 60, 61]}, quasi=["age"], k=2, algorithm="mondrian")
    Release(holds, records=4, classes=2, gcp=0.0244)
    """

    table: Any
    published: pa.Table
    prepared: Prepared
    rows: NDArray[np.int64]

    def risk(self, *, fraction: float | None = None, population: Any = None, seed: int = 0) -> Risk:
        """Return how exposed people were in the table, and how exposed they are in the release.

        Parameters
        ----------
        fraction, population, seed
            As for `shoal.risk`.

        Examples
        --------
        >>> import shoal
        >>> release = shoal.anonymize({"age": [20, 21, 60, 61]}, quasi=["age"], k=2, algorithm="mondrian")
        >>> found = release.risk()
        >>> found.before.prosecutor.highest, found.after.prosecutor.highest
        (1.0, 0.5)
        """
        from .risk.exposure import Surroundings, risk_of_tables
        from .table import Table

        known = Surroundings(
            fraction=fraction,
            population=None if population is None else Table.from_any(population).data,
            rows=self.rows,
            classes=self.partition.labels[self.rows],
            seed=seed,
        )
        return risk_of_tables(self.prepared.table.data, self.published, self.policy, known)

    def attack(
        self,
        *,
        known: Any = None,
        attacks: Iterable[str | Attack] | None = None,
        before: bool = True,
        progress: Progress | None = None,
        **means: Any,
    ) -> Attacks:
        """Return how often attacks on the release succeed, and how often they would on the table as it was.

        Parameters
        ----------
        known, attacks, before, progress, **means
            As for `shoal.attack`; whose record is whose is known.

        Examples
        --------
        >>> import shoal
        >>> release = shoal.anonymize({"age": [20, 21, 60, 61]}, quasi=["age"], k=2, algorithm="mondrian")
        >>> found = release.attack(attacks=["linkage"]).results[0]
        >>> found.before.value, found.success.value, found.baseline.value
        (1.0, 0.5, 0.25)
        """
        from .attacks.run import attack_tables, target_of

        means = {"rows": self.rows, **means}
        target = target_of(self.prepared.table.data, self.published, self.policy, means)
        return attack_tables(target, attacks, known, before=before, progress=progress)

    def utility(self, *, target: str | None = None, seed: int = 0, **workload: Any) -> Utility:
        """Return what the release is still good for, measured against the original.

        Parameters
        ----------
        target : str, optional
            A column that models are trained to predict; needs the extra ``ml``.
        seed : int
            Draws the queries and the split.
        **workload
            Of COUNT queries: `queries`, `columns`, `selectivity`, `sanity`.

        Examples
        --------
        >>> import shoal
        >>> release = shoal.anonymize({"age": [20, 21, 60, 61]}, quasi=["age"], k=2, algorithm="mondrian")
        >>> release.utility(queries=10).published
        4
        """
        from .utility.measuring import Known, measure_utility
        from .utility.queries import workload_of

        loss = self.metrics.get("ncp")
        return measure_utility(
            self.prepared.table.data,
            self.published,
            self.policy,
            target=target,
            workload=workload_of(seed, workload),
            known=Known(self.prepared.encoded, self.rows, loss if isinstance(loss, dict) else {}),
        )

    def report(
        self,
        *,
        target: str | None = None,
        compared: Comparison | None = None,
        fraction: float | None = None,
        attacks: bool = True,
        seed: int = 0,
        input_hash: bool = False,
        files: Mapping[str, str] | None = None,
        progress: Progress | None = None,
        **workload: Any,
    ) -> Report:
        """Return the report on the release: verdict, cost, risk, utility and how to repeat it.

        Parameters
        ----------
        target : str, optional
            A column that models are trained to predict; needs the extra ``ml``.
        compared : Comparison, optional
            What ``shoal.compare`` found, for the curve of risk and loss.
        fraction, attacks, seed, input_hash, files, progress
            As for `shoal.report`.
        **workload
            Of COUNT queries: `queries`, `columns`, `selectivity`, `sanity`.

        Examples
        --------
        >>> import shoal
        >>> release = shoal.anonymize({"age": [20, 21, 60, 61]}, quasi=["age"], k=2, algorithm="mondrian")
        >>> "The policy holds" in release.report(queries=10).html()
        True
        """
        from .progress import Progress
        from .report.build import Wanted, report_release
        from .utility.queries import workload_of

        wanted = Wanted(
            target=target,
            compared=compared,
            workload=workload_of(seed, workload),
            files=files,
            input_hash=input_hash,
            attacks=attacks,
            fraction=fraction,
            progress=progress or Progress(),
        )
        return report_release(self, wanted)

    def write(
        self,
        path: str | os.PathLike[str],
        *,
        order: Literal["shuffle", "sort", "keep"] = "shuffle",
        manifest: bool = True,
    ) -> Evidence:
        """Write the release, verify what was written, and only then put it in its place.

        Killed at any moment, this leaves the old file or the new one, never a part.

        Parameters
        ----------
        path : path
            Its ending says the format; "-" is CSV on standard output.
        order : "shuffle", "sort" or "keep"
            Row order links records to their source, so records are shuffled with fresh entropy that is stored
            nowhere. Sorted by their published cells they say nothing about it either, and the same policy,
            algorithm and seed make the same file again, byte for byte.
        manifest : bool
            Whether `manifest`, with the hash of the file, is written beside it as ``<name>.manifest.json``.

        Returns
        -------
        Evidence
            Of the file as it was read back.

        Raises
        ------
        WriteError
            When it cannot be written. What stood at `path` is untouched.
        VerificationFailed
            When what was read back does not keep the policy. What stood at `path` is untouched.
        """
        if order not in ("shuffle", "sort", "keep"):
            raise ParameterError("'order' of write must be one of 'shuffle', 'sort', 'keep'")
        table = self.published.replace_schema_metadata(None)
        classes = self.partition.labels[self.rows]
        if order != "keep":
            turned = _fresh_permutation(table.num_rows) if order == "shuffle" else _sorted_order(table)
            table, classes = table.take(pa.array(turned)), classes[turned]
        described = self.manifest() if manifest else None
        return write_verified(table, path, self.policy, described, classes)


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


def describe_policy(policy: Policy) -> dict[str, Any]:
    """Return a policy as plain values, none of them from cells: orders and hierarchies are left out."""
    columns = []
    for column in policy.schema.columns:
        described: dict[str, Any] = {"name": column.name, "role": column.role.value}
        if column.role is Role.IDENTIFIER:
            described["action"] = column.action.value
        else:
            described["kind"] = None if column.kind is None else column.kind.value
        if column.role is Role.QUASI:
            described["form"] = column.form.value
            if column.form is Form.RHO_NOISE:
                described["rho"] = column.rho
            described["weight"] = column.weight
            if column.domain is not None:
                described["domain"] = list(column.domain)
            described["hierarchy"] = column.hierarchy is not None
            described["least_level"], described["most_level"] = column.least_level, column.most_level
        columns.append(described)
    return {
        "columns": columns,
        "models": [{"name": model.name, **model.to_dict()} for model in policy.models],
        "suppression": policy.suppression,
        "suppressed": policy.suppressed,
        "unknown_values": policy.unknown_values,
    }


def _without_curve(refinement: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in refinement.items() if name != "curve"}


def _fresh_permutation(n: int) -> NDArray[np.int64]:
    import secrets

    return np.random.default_rng(secrets.randbits(256)).permutation(n)


def _sorted_order(table: pa.Table) -> NDArray[np.int64]:
    """Return the row numbers of a table in the order of its cells, first column first, nulls last."""
    columns = {str(j): _sortable(column) for j, column in enumerate(table.columns)}
    keys = [(name, "ascending") for name in columns]
    found: NDArray[np.int64] = pc.sort_indices(pa.table(columns), sort_keys=keys).to_numpy().astype(np.int64)
    return found


def _sortable(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return a column as values that have an order: categories as what they stand for, lists as texts."""
    if pa.types.is_dictionary(column.type):
        return column.cast(column.type.value_type)
    if pa.types.is_nested(column.type):
        return pa.chunked_array([list(map(repr, column.to_pylist()))], pa.string())
    return column


def versions() -> dict[str, str]:
    """Return the versions of shoal, Python and the libraries that decide what a release looks like."""
    from . import __version__

    found = {name: version(name) for name in _LIBRARIES}
    return {"shoal": __version__, "python": platform.python_version(), **found}


def plain(value: Any) -> Any:
    """Return nested values with numbers that JSON cannot hold as None."""
    if isinstance(value, dict):
        return {key: plain(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [plain(inner) for inner in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
