"""What does k-member lose when it grows under the whole policy, and what do its extensions cost?

python bench/k_member.py --k 5 20

Loss and CPU seconds of the release (partition and repair), on the 30,162 complete records of Adult: classes
that grow by size and are merged afterwards (repair), that grow under all promises (grow), and mondrian. Then
the penalties for diversity and class labels, suppression, and the rivals knn and oka.
"""

from __future__ import annotations

import argparse
import time
from typing import Any

import pyarrow as pa
from rich.console import Console
from rich.table import Table

import shoal
from shoal.encoding import Encoded, encode
from shoal.metrics.diversity import SensitiveDiversity
from shoal.metrics.measure import measure
from tables import ADULT_COLUMNS, CATEGORIES, adult

SALARY, EDUCATION = "salary-class", "education"
POLICIES: dict[str, tuple[str, list[Any]]] = {
    "distinct l=2 on salary": (SALARY, [shoal.LDiversity(2)]),
    "entropy l=1.5 on salary": (SALARY, [shoal.LDiversity(1.5, kind="entropy")]),
    "t=0.3 on salary": (SALARY, [shoal.TCloseness(0.3)]),
    "t=0.15 on salary": (SALARY, [shoal.TCloseness(0.15)]),
    "alpha=0.8 on salary": (SALARY, [shoal.AlphaK(0.8, 2)]),
    "distinct l=3 on education": (EDUCATION, [shoal.LDiversity(3)]),
    "l=3 and t=0.4 on education": (EDUCATION, [shoal.LDiversity(3), shoal.TCloseness(0.4)]),
    "recursive (3, 2) on education": (EDUCATION, [shoal.LDiversity(2, kind="recursive", c=3)]),
    "beta=1.5 on education": (EDUCATION, [shoal.BetaLikeness(1.5)]),
}
WAYS: dict[str, tuple[str, dict[str, Any]]] = {
    "mondrian": ("mondrian", {}),
    "repair": ("k-member", {"promises": "repair"}),
    "grow": ("k-member", {}),
}
EXTENSIONS: dict[str, tuple[str, dict[str, Any]]] = {
    "k-member": ("k-member", {}),
    "variant=paper": ("k-member", {"variant": "paper"}),
    "diversity=equal": ("k-member", {"diversity": "equal"}),
    "diversity=sensitive": ("k-member", {"diversity": "sensitive", "truly_sensitive": [">50K"]}),
    "label=salary-class": ("k-member", {"label": SALARY}),
    "suppress": ("k-member", {"suppress": True}),
    "knn": ("knn", {}),
    "oka": ("oka", {}),
    "mondrian": ("mondrian", {}),
}


def encoded_of(table: pa.Table, policy: shoal.Policy) -> tuple[Encoded, shoal.Policy]:
    """Return the integer view and the resolved policy."""
    resolved = policy.resolved(table)
    return encode(table, resolved), resolved


def policy_of(sensitive: str, k: int, models: list[Any], limit: float = 0.0) -> shoal.Policy:
    """Return k-anonymity and more on Adult, without education-num where education is secret."""
    names = [name for name in ADULT_COLUMNS if not (sensitive == EDUCATION and name == "education-num")]
    quasi = {name: "categorical" if name in CATEGORIES else "numeric" for name in names}
    models = [shoal.KAnonymity(k), *models]
    return shoal.Policy(quasi=quasi, sensitive=[sensitive], models=models, suppression=limit)


def made(encoded: Encoded, policy: shoal.Policy, way: tuple[str, dict[str, Any]]) -> tuple[Any, float]:
    """Return a partition that keeps the policy, and its CPU seconds."""
    began = time.process_time()
    found = shoal.partition(encoded, policy, algorithm=way[0], **way[1])
    return found, time.process_time() - began


def policies(k: int, ways: dict[str, tuple[str, dict[str, Any]]]) -> Table:
    """Return the table of losses by policy."""
    lines = Table("policy, beside k=" + str(k), *(f"{way} {what}" for way in ways for what in ("gcp", "s")))
    for words, (sensitive, models) in POLICIES.items():
        encoded, policy = encoded_of(adult(), policy_of(sensitive, k, models))
        cells = []
        for way in ways.values():
            found, seconds = made(encoded, policy, way)
            cells += [f"{measure(encoded, found, policy, ['gcp'])['gcp']:.4f}", f"{seconds:.2f}"]
        lines.add_row(words, *cells)
    return lines


def extensions(k: int, limit: float) -> Table:
    """Return the table of what the extensions do under k alone."""
    lines = Table(f"k={k}", "gcp", "il", "ed", "sd", "cm", "suppressed", "seconds")
    encoded, policy = encoded_of(adult(), policy_of(SALARY, k, [], limit))
    wanted = ["gcp", "il", "ed", SensitiveDiversity(values=(">50K",)), "cm", "suppressed"]
    for words, way in EXTENSIONS.items():
        found, seconds = made(encoded, policy, way)
        row = measure(encoded, found, policy, wanted)
        ed, sd, cm = (row[name][SALARY] for name in ("ed", "sd", "cm"))  # type: ignore[index]
        cells = [f"{row['gcp']:.4f}", f"{row['il']:.0f}", f"{ed:.0f}", f"{sd:.0f}", f"{cm:.4f}"]
        lines.add_row(words, *cells, f"{row['suppressed']:.4f}", f"{seconds:.2f}")
    return lines


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--k", type=int, nargs="+", default=[5])
    parser.add_argument("--limit", type=float, default=0.02, help="share that may be suppressed")
    parser.add_argument("--only", choices=("policies", "extensions"))
    options = parser.parse_args()
    warm = adult().slice(0, 400)
    for ways in (WAYS, EXTENSIONS):
        for way in ways.values():
            made(*encoded_of(warm, policy_of(SALARY, 5, [shoal.LDiversity(2)], 0.02)), way)
    for k in options.k:
        if options.only != "extensions":
            Console(width=140).print(policies(k, WAYS))
        if options.only != "policies":
            Console(width=140).print(extensions(k, options.limit))


if __name__ == "__main__":
    main()
