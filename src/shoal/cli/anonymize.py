"""``shoal anonymize``: a table goes in, a verified release comes out."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import click

from ..errors import ParameterError, WriteError
from ..tried import HEADINGS, tried_rows, tried_sentence
from .on_spark import SparkJob
from .options import (
    STANDARD,
    PolicyOptions,
    Reading,
    algorithm_parameters,
    check_target,
    named_texts,
    picked,
    policy_options,
    reading_options,
    screen_options,
    written_names,
)
from .report import check_reports, digest
from .screen import Screen

if TYPE_CHECKING:
    import pyarrow as pa

    from ..io.blocks import Blocks
    from ..io.databases import Address
    from ..policy import Policy
    from ..release import Described, FileRelease, Release

_REPORTABLE = 2_000_000  # records of a stream that a report may hold in memory afterwards, about 2 GB

_EXAMPLES = """\b
Examples:
  shoal anonymize patients.csv --policy policy.toml --out published.csv
  shoal anonymize patients.csv --quasi age,zip --sensitive disease -k 5 -l 2 -t 0.3 --out published.csv
  shoal anonymize patients.csv -p policy.toml --refine 30s --out published.csv
  shoal anonymize patients.parquet -p policy.toml --algorithm mondrian --set relaxed=true -o out.parquet
  shoal anonymize postgresql://host/clinic --table visits -p policy.toml --out postgresql://host/clinic/release
  cat patients.csv | shoal anonymize - --policy policy.toml --out - > published.csv

\b
Without --out nothing is written: the verdict and the loss are shown.
shoal algorithms lists the algorithms and what --set accepts for each.
"""


@dataclass(frozen=True, slots=True)
class _Targets:
    """What to write, and how."""

    out: str | None
    labels: str | None
    order: Literal["shuffle", "sort", "keep"]
    force: bool
    report: str | None
    target: str | None

    def check(self, data: str | Address, policy: str | None, key_file: str | None) -> None:
        """Refuse before any work is done what could not be written after it."""
        sources = [data, policy, key_file]
        for target in (self.out, self.labels):
            if target not in (None, STANDARD):
                check_target(str(target), sources, force=self.force)
        if self.labels == STANDARD:
            raise WriteError(
                "labels are never written to standard output", hint="Name a file that stays here."
            )
        if self.labels is not None and self.labels == self.out:
            raise WriteError("--labels and --out name the same file", hint="Name two files.")
        if self.report is not None:
            check_reports((self.report,), sources, force=self.force)
            if self.report in (self.out, self.labels):
                raise WriteError("--report names a file that is written already", hint="Name another.")
        elif self.target is not None:
            raise ParameterError("--target belongs to a report", hint="Add --report report.html.")


@dataclass(frozen=True, slots=True)
class _How:
    """How the release is to be made."""

    algorithm: str
    settings: tuple[str, ...]
    refine: str | None
    refine_loss: str | None
    refine_set: tuple[str, ...]
    seed: int
    key_file: str | None
    noise_seed: int | None

    def on_this_machine(self, parameters: dict[str, Any], screen: Screen) -> dict[str, Any]:
        """Return the options that `api.anonymize` and `api.anonymize_file` share."""
        return {
            "algorithm": self.algorithm,
            "refine": _refining(self.refine, self.refine_loss, self.refine_set),
            "seed": self.seed,
            "progress": screen.progress(),
            "key": self._key(),
            **parameters,
        }

    def on_spark(self, parameters: dict[str, Any]) -> dict[str, Any]:
        """Return the options of `shoal.spark.anonymize`."""
        chosen = "mondrian" if self.algorithm == "auto" else self.algorithm
        return {"algorithm": chosen, "seed": self.seed, "key": self._key(), **parameters}

    def check_spark(self, stream: bool | None, writing: _Targets) -> None:
        """Refuse options that tasks on a cluster cannot carry out, instead of leaving them out in silence."""
        given = {
            "--refine": self.refine,
            "--refine-loss": self.refine_loss,
            "--refine-set": self.refine_set or None,
            "--noise-seed": self.noise_seed,
            "--stream": stream,
            "--labels": writing.labels,
            "--report": writing.report,
        }
        named = [option for option, value in given.items() if value is not None]
        if named:
            raise ParameterError(f"{named[0]} does not go with --engine spark", hint="Leave one of them out.")

    def _key(self) -> bytes | None:
        return None if self.key_file is None else _key(self.key_file)


@click.command(epilog=_EXAMPLES)
@click.argument("data")
@policy_options(promises=True)
@click.option(
    "--out", "-o", metavar="FILE", help="Where the release goes: a file, database/table, or - for stdout."
)
@click.option("--algorithm", "-a", default="auto", show_default=True, help="See: shoal algorithms.")
@click.option(
    "--set", "settings", multiple=True, metavar="NAME=VALUE", help="Algorithm parameter; repeatable."
)
@click.option(
    "--refine",
    is_flag=False,
    flag_value="yes",
    metavar="[TIME]",
    help="Lower the loss further, for a time such as 30s or 2m, or one that suits the table.",
)
@click.option(
    "--refine-loss",
    metavar="LOSS",
    help="What refining lowers: gcp, lm, il, lil or sse; implies --refine. [gcp]",
)
@click.option(
    "--refine-set",
    multiple=True,
    metavar="NAME=VALUE",
    help="Parameter of refining, such as target=COLUMN; repeatable; implies --refine.",
)
@click.option("--seed", default=0, show_default=True, help="Decides ties and random choices.")
@click.option(
    "--order",
    type=click.Choice(["shuffle", "sort", "keep"]),
    default="shuffle",
    show_default=True,
    help="Row order links records to their source: shuffle it, sort by what is published (the same file "
    "again, byte for byte), or keep it.",
)
@click.option("--key-file", metavar="FILE", help="Secret for pseudonyms, at least 16 bytes; never stored.")
@click.option(
    "--labels", metavar="FILE", help="Also write the class of every input row. Keep it in the house."
)
@click.option(
    "--noise-seed", type=int, help="Draw noise that can be drawn, and taken away, again. [the system's own]"
)
@click.option("--report", metavar="FILE", help="Also a report on the release: .html, .json or .md.")
@click.option("--target", help="For the report: a column that models are trained to predict.")
@click.option("--force", is_flag=True, help="Overwrite existing output.")
@click.option(
    "--engine",
    type=click.Choice(["local", "spark"]),
    default="local",
    show_default=True,
    help="Where the work is done; spark takes and makes Parquet.",
)
@click.option(
    "--stream/--no-stream",
    default=None,
    help="Read block by block and hold only codes, for tables larger than memory likes. [large files]",
)
@reading_options
@screen_options
def anonymize(
    data: str,
    policy: PolicyOptions,
    engine: str,
    stream: bool | None,
    reading: Reading,
    screen: Screen,
    **options: Any,
) -> None:
    """Anonymize a table: generalise it until the policy holds, verify the result, and write it.

    DATA is a CSV, Parquet or Arrow file, a database, or - for standard input. What is written has been read
    back and verified first; if a promise fails, nothing is written.
    """
    writing, how = picked(_Targets, options), picked(_How, options)
    if screen.as_json and writing.out == STANDARD:
        raise ParameterError("--json and --out - both want standard output", hint="Name a file.")
    screen.data_on_stdout = writing.out == STANDARD
    if engine == "local":  # paths of a cluster are its own
        writing.check(reading.source(data), policy.policy, how.key_file)
    parameters = algorithm_parameters(how.algorithm, how.settings)
    promised = policy.read()
    if engine == "spark":
        how.check_spark(stream, writing)
        SparkJob(data, promised, how.on_spark(parameters), writing.out, writing.force).run(screen)
        return
    chosen = how.on_this_machine(parameters, screen)
    if _streams(reading.source(data), stream, writing, promised, how.noise_seed):
        release: Described = _by_blocks(reading.blocks(data), promised, writing, chosen)
        if writing.report is not None:
            _report_on_files(data, reading, release.policy, writing, screen)
    else:
        release = _in_memory(
            reading.table(data), promised, writing, {**chosen, "noise_seed": how.noise_seed}, screen
        )
    _after(release, how, writing, screen)


def _by_blocks(blocks: Blocks, policy: Policy, writing: _Targets, chosen: dict[str, Any]) -> FileRelease:
    from .. import api

    assert writing.out is not None
    if writing.report is not None and blocks.records > _REPORTABLE:
        raise ParameterError(
            f"a report compares both tables in memory, and this one has more than {_REPORTABLE:,} records",
            hint="Leave --report out, or report on a part: shoal report PART PUBLISHED_PART.",
        )
    order: Literal["shuffle", "keep"] = "keep" if writing.order == "keep" else "shuffle"
    return api.anonymize_file(blocks, writing.out, policy, order=order, **chosen)


def _in_memory(
    table: pa.Table, policy: Policy, writing: _Targets, chosen: dict[str, Any], screen: Screen
) -> Release:
    from .. import api

    release = api.anonymize(table, policy, **chosen)
    if writing.out is not None:
        with screen.progress().stage("writing and verifying the file"):
            release.write(writing.out, order=writing.order)
    return release


def _after(release: Described, how: _How, writing: _Targets, screen: Screen) -> None:
    """Write what was asked for beside the release, and show what was promised and kept."""
    from ..release import Release

    if how.noise_seed is not None and "noise" in release.evidence.provenance:
        screen.warn(
            "whoever knows --noise-seed can take the noise away: not for a file that leaves the house."
        )
    if writing.labels is not None:
        _write_labels(release, writing.labels, screen)
    if writing.report is not None and isinstance(release, Release):
        _write_report(release, writing, screen)
    _show(release, writing, screen)


def _streams(
    data: str | Address, asked: bool | None, writing: _Targets, policy: Policy, noise_seed: int | None
) -> bool:
    """Return whether to read block by block: as asked, or where the table is large and nothing forbids it."""
    from ..io.blocks import is_big

    forbidding = {
        "--noise-seed": noise_seed is not None,
        "--report": writing.report is not None and not asked,
        "--order sort": writing.order == "sort",
    }
    needed = [option for option, given in forbidding.items() if given]
    if asked and needed:
        raise ParameterError(f"{needed[0]} needs the table in memory", hint="Leave it or --stream out.")
    if asked and writing.out is None:
        raise ParameterError("--stream writes to a file", hint="Add --out published.parquet.")
    if asked is not None:
        return asked
    possible = data != STANDARD and writing.out not in (None, STANDARD)
    noisy = any(column.form.noisy for column in policy.schema.quasi)
    return possible and not noisy and not needed and is_big(data)


def _key(key_file: str) -> bytes:
    """Return the secret in a file, without the line end that editors add."""
    try:
        return Path(key_file).read_bytes().rstrip(b"\r\n")
    except OSError as error:
        raise ParameterError(
            f"the key file {Path(key_file).name!r} cannot be read: {error.strerror}",
            hint="Make one with: head -c 32 /dev/urandom | base64 > key.txt",
        ) from None


def _write_labels(release: Described, labels: str, screen: Screen) -> None:
    import numpy as np
    import pyarrow as pa

    from .. import io

    codes = release.partition.labels
    io.write(pa.table({"row": np.arange(1, len(codes) + 1), "class": codes}), labels)
    screen.warn(f"{labels} links the input's rows to published classes: keep it in the house.")


def _certified(gcp: float, bound: float, gap: float) -> str:
    """Return what is known of the least loss there is, as a sentence."""
    if gap == 0:
        return "certificate: no partition of this table loses less under the same k"
    return (
        f"certificate: no partition of this table loses less than {bound:.4f} under the same k; "
        f"{gcp - bound:.4f} ({gap:.0%}) is not proved unavoidable"
    )


def _certified_squares(error: float, bound: float, gap: float) -> str:
    """Return what is known of the least squared error there is, as a sentence."""
    text = f"squared error (il-sse): {error:.2f}% of the total; no partition into classes of k has less"
    return f"{text}: proved" if gap == 0 else f"{text} than {bound:.2f}%: {gap:.0%} is not proved unavoidable"


def _write_report(release: Release, writing: _Targets, screen: Screen) -> None:
    out = writing.out or STANDARD
    files = {Path(out).name: digest(out)} if Path(out).is_file() else {}
    made = release.report(target=writing.target, files=files, progress=screen.progress())
    made.write(str(writing.report))
    screen.line(f"Wrote the report {writing.report}.")


def _report_on_files(data: str, reading: Reading, policy: Policy, writing: _Targets, screen: Screen) -> None:
    """Report on a stream from its two ends, as `shoal report` does of any two files."""
    from .. import api

    assert writing.out is not None
    made = api.report(
        reading.table(data),
        reading.published(writing.out),
        policy,
        target=writing.target,
        files={Path(writing.out).name: digest(writing.out)} if Path(writing.out).is_file() else {},
        progress=screen.progress(),
    )
    made.write(str(writing.report))
    screen.line(f"Wrote the report {writing.report}.")


def _show(release: Described, writing: _Targets, screen: Screen) -> None:
    written = [] if writing.out is None or writing.out == STANDARD else written_names(writing.out)
    screen.json({"written": written, "labels": writing.labels, **release.manifest()})
    screen.verdict(release.evidence)
    gcp = release.metrics.get("gcp")
    if gcp is not None:
        screen.line(f"loss (gcp): {gcp:.4f}, where 0 is the original and 1 is nothing left")
    blocks = release.algorithm.to_dict().get("blocks", 0)
    if 0 < blocks < release.evidence.records:
        screen.line(
            f"{release.algorithm.name} worked in blocks of {blocks:,} records; no class reaches across them; "
            "--set blocks=0 takes the whole table at once"
        )
    refinement = release.refinement
    if refinement is not None:
        _show_refinement(refinement, screen)
    tried = release.evidence.provenance.get("auto")
    if tried is not None:
        screen.table(HEADINGS, tried_rows(tried))
        screen.line(tried_sentence(tried))
    if gcp is not None and "bound" in release.metrics:
        screen.line(_certified(gcp, release.metrics["bound"], release.metrics["gap"]))
    if "il-sse-bound" in release.metrics:
        screen.line(
            _certified_squares(*(release.metrics[f"il-sse{name}"] for name in ("", "-bound", "-gap")))
        )
    if written:
        screen.line(f"Wrote {' and '.join(written)}.")
        screen.advise(f"Next: open {written[0]}; the manifest says what it keeps and how it was made.")
    elif writing.out is None:
        screen.advise("Nothing was written: add --out published.csv.")


def _refining(refine: str | None, loss: str | None, settings: tuple[str, ...]) -> Any:
    """Return how to refine, None for not at all; a loss or a setting alone asks for refining too."""
    from ..refine import Refine

    given = Refine.parse(named_texts("--refine-set", settings, "target=income"))
    if loss is not None:
        if "loss" in given:
            raise ParameterError("--refine-loss and --refine-set loss= are both given")
        given["loss"] = loss
    chosen = Refine.of(True if refine == "yes" or (refine is None and given) else refine)
    return chosen if chosen is None or not given else Refine.create({**chosen.to_dict(), **given})


def _show_refinement(refinement: dict[str, Any], screen: Screen) -> None:
    before, after, ended = refinement["before"], refinement["after"], refinement["ended"]
    less = 0.0 if before == 0 else 1 - after / before
    target = "" if "parts" not in refinement else f" and {refinement['parameters']['target']}"
    screen.line(
        f"refined ({refinement['loss']}{target}): {before:.4f} to {after:.4f}, {less:.1%} less, "
        f"in {refinement['moves']:,} moves; ended: {ended}"
    )
    if "parts" in refinement:
        start, end = refinement["parts"]["before"], refinement["parts"]["after"]
        screen.line(
            f"of that, the loss: {start['loss']:.4f} to {end['loss']:.4f}; "
            f"the target: {start['target']:.4f} to {end['target']:.4f}"
        )
