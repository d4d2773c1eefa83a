"""``shoal anonymize --engine spark``: Parquet tables of any size on the cluster that is there."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ..errors import ParameterError
from .screen import Screen

if TYPE_CHECKING:
    from ..policy import Policy


@dataclass(frozen=True, slots=True)
class SparkJob:
    """What is to be done on Spark.

    Attributes
    ----------
    data : str
        Path of a Parquet table, as the cluster names it.
    policy : Policy
    options : dict
        Of `shoal.spark.anonymize`: algorithm, seed, key and the algorithm's own parameters.
    out : str or None
    force : bool
    """

    data: str
    policy: Policy
    options: dict[str, Any]
    out: str | None
    force: bool

    def run(self, screen: Screen) -> None:
        """Make the release, write it where it was asked for, and show what was promised and kept."""
        if self.out == "-":
            raise ParameterError("--engine spark writes Parquet, not to standard output", hint="Name a path.")
        from .. import spark

        release = spark.anonymize(
            spark.read_parquet(self.data),
            self.policy,
            out=self.out,
            replace=self.force,
            progress=screen.progress(),
            **self.options,
        )
        written = [] if self.out is None else [self.out, f"{self.out.rstrip('/')}.manifest.json"]
        screen.json({"written": written, **release.manifest()})
        screen.verdict(release.evidence)
        if "gcp" in release.metrics:
            gcp = release.metrics["gcp"]
            screen.line(f"loss (gcp): {gcp:.4f}, where 0 is the original and 1 is nothing left")
        if written:
            screen.line(f"Wrote {' and '.join(written)}.")
        else:
            screen.advise("Nothing was written: add --out published.parquet.")
