"""``shoal demo``: the whole way once, on a table of invented patients."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING

import click

from ..errors import WriteError
from .options import screen_options
from .screen import Screen

if TYPE_CHECKING:
    from ..auditing import Audit

PATIENTS, POLICY, PUBLISHED, MANIFEST = "patients.csv", "policy.toml", "published.csv", "manifest.json"
_OWN = (PATIENTS, POLICY, PUBLISHED, MANIFEST)
_HEADER = """\
The demonstration's policy: what `shoal init` proposes, corrected by someone who knows the table.
k = 5: every record hides among at least 5. l = 2: at least two values in every class. t = 0.3: no class may
differ more than that from the table, by the distance that fits the column."""


@click.command()
@click.option("--out", "-o", default="shoal-demo", show_default=True, help="Folder to write to.")
@click.option("--seed", default=2024, show_default=True, help="Of the invented patients.")
@screen_options
def demo(out: str, seed: int, screen: Screen) -> int:
    """Invent 10,000 patients, audit them, anonymize them, verify the file, and say what to open.

    Files that an earlier demo wrote are replaced; those of anyone else are left alone.
    """
    from .. import api, io
    from ..demo import QUASI, SENSITIVE, demo_policy, patients
    from ..policy_file import dumps
    from .audit import show_audit

    folder = _folder(out)
    policy = demo_policy()
    (folder / POLICY).write_text(dumps(policy, header=_HEADER), encoding="utf-8")
    io.write(patients(seed=seed), folder / PATIENTS)
    table = io.read(folder / PATIENTS)
    screen.line(f"1. The table as it is: {folder / PATIENTS}")
    audit = api.audit(table, quasi=QUASI, sensitive=SENSITIVE)
    show_audit(audit, screen)
    # The fastest to compile, as this may be the first run ever; the last line says what loses less.
    release = api.anonymize(table, policy, algorithm="mondrian", progress=screen.progress())
    release.write(folder / PUBLISHED)
    os.replace(folder / f"{PUBLISHED}.manifest.json", folder / MANIFEST)
    screen.line(f"2. The release, verified on the written file: {folder / PUBLISHED}")
    evidence = release.evidence
    screen.verdict(evidence)
    after = api.audit(release.published, quasi=QUASI, sensitive=SENSITIVE)
    _show_homogeneity(audit, after, screen)
    screen.line(f"loss (gcp): {release.metrics['gcp']:.4f}, where 0 is the original and 1 is nothing left")
    screen.json(
        {
            "folder": str(folder),
            "files": list(_OWN),
            "audit": audit.to_dict(),
            "audit_of_the_release": after.to_dict(),
            "evidence": evidence.to_dict(),
            "metrics": json.loads((folder / MANIFEST).read_text(encoding="utf-8"))["metrics"],
        }
    )
    screen.advise(f"Open next: {folder / PUBLISHED}, then {folder / POLICY}, then {folder / MANIFEST}.")
    screen.advise(f"Try:       shoal verify {folder / PUBLISHED} --policy {folder / POLICY}")
    screen.advise(
        f"Lose less: shoal anonymize {folder / PATIENTS} --policy {folder / POLICY} --out less-loss.csv"
    )
    return 0 if evidence.holds else 1


def _show_homogeneity(before: Audit, after: Audit, screen: Screen) -> None:
    """Show how many people's sensitive values were certain for who knows their quasi-identifiers."""
    for was, now in zip(before.sensitive, after.sensitive, strict=True):
        screen.line(
            f"{was.column}: certain for {was.certain + was.certain_alone:,} patients before, "
            f"{now.certain + now.certain_alone:,} after"
        )


def _folder(out: str) -> Path:
    """Return the folder, made if need be; one whose files of these names no demo wrote is refused."""
    folder = Path(out)
    if folder.exists() and not folder.is_dir():
        raise WriteError(f"{out!r} is a file", hint="Give another folder: --out NAME.")
    folder.mkdir(parents=True, exist_ok=True)
    taken = [name for name in _OWN if (folder / name).exists()]
    if taken and not _is_demo(folder / POLICY):
        names = ", ".join(taken)
        raise WriteError(
            f"the folder {out!r} holds {names}, which no demo wrote", hint="Give another folder: --out NAME."
        )
    return folder


def _is_demo(policy: Path) -> bool:
    """Return whether a policy file is the demonstration's, which is written before everything else."""
    if not policy.is_file():
        return False
    start = _HEADER.partition("\n")[0]
    return policy.read_text(encoding="utf-8", errors="replace").startswith(f"# {start}")
