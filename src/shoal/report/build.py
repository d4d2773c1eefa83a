"""Report: everything known about one release, to be read, signed and kept."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..charts.blocks import render_parts
from ..errors import ParameterError, WriteError
from ..utility.measuring import Known, check_published, measure_utility
from .facts import Findings, Subject, collect, published_sizes
from .markdown import markdown
from .parts import parts_of, summary_of
from .wanted import Wanted

if TYPE_CHECKING:
    import pyarrow as pa

    from ..attacks.base import Attacks
    from ..policy import Policy
    from ..release import Release

SUFFIXES = {".html": "html", ".htm": "html", ".json": "json", ".md": "markdown"}


@dataclass(frozen=True, slots=True, repr=False)
class Report:
    """Everything known about one release: as a page, as a short summary, as numbers. Holds no record.

    Examples
    --------
    >>> import shoal
    >>> release = shoal.anonymize({"age": [20, 21, 60, 61]}, quasi=["age"], k=2, algorithm="mondrian")
    >>> report = release.report(queries=10)
    >>> report
    Report(holds, promises=1)
    >>> report.to_dict()["verdict"]["smallest_class"]
    2
    """

    facts: Mapping[str, Any]

    def __repr__(self) -> str:
        verdict = "holds" if self.facts["verdict"]["holds"] else "does not hold"
        return f"Report({verdict}, promises={len(self.facts['promises'])})"

    def to_dict(self) -> dict[str, Any]:
        """Return every number of the page as plain values, for JSON."""
        copy: dict[str, Any] = json.loads(self.json())
        return copy

    def json(self) -> str:
        """Return the numbers as JSON."""
        return json.dumps(self.facts, indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def html(self) -> str:
        """Return the page: one file that loads nothing."""
        facts = dict(self.facts)
        return render_parts(summary_of(facts), parts_of(facts))

    def markdown(self) -> str:
        """Return the short summary."""
        return markdown(dict(self.facts))

    def write_html(self, path: str | os.PathLike[str]) -> None:
        """Write the page."""
        _write(path, self.html())

    def write_json(self, path: str | os.PathLike[str]) -> None:
        """Write the numbers."""
        _write(path, self.json())

    def write_markdown(self, path: str | os.PathLike[str]) -> None:
        """Write the short summary."""
        _write(path, self.markdown())

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the page, the numbers or the summary, as the ending of the name says."""
        writers: dict[str, Callable[[str | os.PathLike[str]], None]] = {
            "html": self.write_html,
            "json": self.write_json,
            "markdown": self.write_markdown,
        }
        writers[check_suffix(path)](path)

    def _repr_html_(self) -> str:
        from ..notebook.views import report_view

        return report_view(self)


def check_suffix(path: str | os.PathLike[str]) -> str:
    """Return what the ending of a report's name stands for, or raise.

    Examples
    --------
    >>> check_suffix("report.json")
    'json'
    """
    suffix = Path(path).suffix.lower()
    if suffix not in SUFFIXES:
        raise ParameterError(
            f"the name {Path(path).name!r} says no format of a report", hint="Use .html, .json or .md."
        )
    return SUFFIXES[suffix]


def _write(path: str | os.PathLike[str], text: str) -> None:
    """Write a text so that its target holds the old file or the new one at every moment."""
    target = Path(path)
    try:
        with tempfile.NamedTemporaryFile(
            "w", encoding="utf-8", dir=target.parent, prefix=f".{target.name}.", delete=False
        ) as draft:
            draft.write(text)
        os.chmod(draft.name, 0o644)
        os.replace(draft.name, target)
    except OSError as error:
        raise WriteError(f"the report {target.name!r} cannot be written: {error.strerror}") from None


def report_release(release: Release, wanted: Wanted) -> Report:
    """Return the report on a release that was made just now."""
    noisy = any(column.form.noisy for column in release.policy.schema.quasi)
    subject = Subject(
        original=release.prepared.table.data,
        published=release.published,
        policy=release.policy,
        evidence=release.evidence,
        metrics=release.metrics,
        sizes=release.partition.sizes if noisy else published_sizes(release.published, release.policy),
        made={
            "algorithm": release.algorithm.name,
            "parameters": release.algorithm.to_dict(),
            "seed": release.seed,
        },
    )
    seed = wanted.workload.seed
    with wanted.progress.stage("measuring risk"):
        risk = release.risk(fraction=wanted.fraction, seed=seed)
    attacks = release.attack(seed=seed, progress=wanted.progress) if wanted.attacks else None
    loss = release.metrics.get("ncp")
    known = Known(release.prepared.encoded, release.rows, loss if isinstance(loss, dict) else {})
    return _report(subject, known, Findings(risk=risk.to_dict(), attacks=_plain(attacks)), wanted)


def report_tables(original: pa.Table, published: pa.Table, policy: Policy, wanted: Wanted) -> Report:
    """Return the report on a published table, whoever made it, against its original."""
    from .. import api

    policy = policy.resolved(original)
    seed = wanted.workload.seed
    with wanted.progress.stage("verifying"):
        evidence = api.verify(published, policy)
    check_published(published, policy)
    subject = Subject(original, published, policy, evidence, {}, published_sizes(published, policy))
    with wanted.progress.stage("measuring risk"):
        risk = api.risk(original, published, policy, fraction=wanted.fraction, seed=seed)
    attacks = None
    if wanted.attacks:
        attacks = api.attack(original, published, policy, before=True, seed=seed, progress=wanted.progress)
    return _report(subject, Known(), Findings(risk=risk.to_dict(), attacks=_plain(attacks)), wanted)


def _plain(attacks: Attacks | None) -> dict[str, Any] | None:
    return None if attacks is None else attacks.to_dict()


def _report(subject: Subject, known: Known, found: Findings, wanted: Wanted) -> Report:
    with wanted.progress.stage("measuring utility"):
        utility = measure_utility(
            subject.original,
            subject.published,
            subject.policy,
            target=wanted.target,
            workload=wanted.workload,
            known=known,
        )
    found = replace(found, utility=utility, comparison=wanted.compared)
    return Report(collect(subject, found, files=wanted.files, input_hash=wanted.input_hash))
