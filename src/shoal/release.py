"""Release: a published table that was verified, what can be asked of it, and the only way to write one."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, Unpack

import numpy as np
import pyarrow as pa

from .evidence import Evidence
from .manifest import manifest_of
from .partitions import Partition
from .writing import row_order, write_verified

if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from numpy.typing import NDArray

    from .algorithms.base import Algorithm
    from .attacks.base import Attack, Attacks
    from .comparing import Comparison
    from .policy import Policy
    from .progress import Progress
    from .report.build import Report
    from .report.wanted import ReportOptions
    from .risk.exposure import Risk
    from .stages import Prepared
    from .utility.measuring import Utility


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
        from .notebook.views import release_view

        return release_view(self)

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
        return manifest_of(self)


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

    def report(self, *, compared: Comparison | None = None, **options: Unpack[ReportOptions]) -> Report:
        """Return the report on the release: verdict, cost, risk, utility and how to repeat it.

        Parameters
        ----------
        compared : Comparison, optional
            What ``shoal.compare`` found, for the curve of risk and loss.
        **options
            As for `shoal.report`.

        Examples
        --------
        >>> import shoal
        >>> release = shoal.anonymize({"age": [20, 21, 60, 61]}, quasi=["age"], k=2, algorithm="mondrian")
        >>> "The policy holds" in release.report(queries=10).html()
        True
        """
        from .report.build import report_release
        from .report.wanted import Wanted

        return report_release(self, Wanted.of(options, compared))

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
        table = self.published.replace_schema_metadata(None)
        classes = self.partition.labels[self.rows]
        turned = row_order(table, order)
        if turned is not None:
            table, classes = table.take(pa.array(turned)), classes[turned]
        described = self.manifest() if manifest else None
        return write_verified(table, path, self.policy, described, classes)
