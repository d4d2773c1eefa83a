"""What the paper measured (Table II), and what its other sentences need beside it."""

from __future__ import annotations

import time
from dataclasses import replace
from itertools import product
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ... import api
from ...algorithms.dop import Dop
from ...models.alpha_k import AlphaK
from ...models.base import Model
from ...models.beta_likeness import BetaLikeness
from ...models.l_diversity import LDiversity
from ...models.t_closeness import TCloseness
from ...partitions import Partition
from ...progress import Run
from ..base import Row
from .baseline import one_cut_mondrian
from .data import Candidate
from .printed import ATTRIBUTES, DIGITS, NCP, SETTINGS, Setting, label

REPAIRED, LITERAL = "shoal dop", "shoal dop as described"
MONDRIAN, K_MEMBER, ONE_CUT = "shoal mondrian", "shoal k-member", "one-cut mondrian"
METHODS: dict[str, tuple[str, dict[str, Any]]] = {
    MONDRIAN: ("mondrian", {}),
    REPAIRED: ("dop", {}),
    LITERAL: ("dop", {"variant": "paper"}),
    K_MEMBER: ("k-member", {}),
}
EPS = (0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.5)
FACTORS: dict[str, tuple[Any, ...]] = {
    "noise": ("keep", "mask", "split", "join", "absorb"),
    "order": ("alphabetical", "appearance", "frequency", "similarity"),
    "weights": ("cardinality", "uniform", "inverse"),
    "objective": ("lil", "ncp"),
    "search": (False, True),
}
MODELS: tuple[tuple[str, Model], ...] = (
    ("t-closeness, t = 0.2", TCloseness(0.2)),
    ("entropy l-diversity, l = 1.3", LDiversity(1.3, kind="entropy")),
    ("(0.9, k)-anonymity", AlphaK(0.9, 5)),
    ("beta-likeness, beta = 3", BetaLikeness(3.0)),
)
SHARES = (0.0, 0.25, 0.5, 0.75, 0.9, 1.0)  # of the target in the score of a cut


def files(candidates: list[Candidate]) -> list[Row]:
    """Which file is the paper's: its shape, and the printed Mondrian figures against `one_cut_mondrian`."""
    rows = []
    for candidate in candidates:
        printed = NCP[candidate.dataset]["Mondrian"]
        row: Row = {"dataset": candidate.dataset, "file": candidate.file, "records": candidate.table.num_rows}
        row["attributes"] = candidate.table.num_columns
        row["attributes printed"] = ATTRIBUTES[candidate.dataset]
        row["sensitive values"] = candidate.encoded.sensitive[0].size
        gaps = []
        for setting, theirs in zip(SETTINGS, printed, strict=True):
            ours = candidate.ncp(one_cut_mondrian(candidate, setting), candidate.policy(setting))
            row[f"{ONE_CUT} {label(setting)}"] = ours
            gaps.append(abs(ours - theirs))
        equal = sum(gap <= DIGITS * 1.001 for gap in gaps)
        rows.append({**row, "cells equal": equal, "largest difference": max(gaps)})
    return rows


def likeliest(rows: list[Row]) -> dict[str, str]:
    """Return the file of each data set: the number of attributes, most equal cells, least difference."""

    def rank(row: Row) -> tuple[bool, int, float]:
        same = row["attributes"] == row["attributes printed"]
        return (not same, -row["cells equal"], row["largest difference"])

    found: dict[str, str] = {}
    for row in sorted(rows, key=rank):
        found.setdefault(row["dataset"], row["file"])
    return found


def table_two(candidates: list[Candidate]) -> list[Row]:
    """Return Table II: the NCP of every method, file and setting, and the processor seconds it took."""
    rows = []
    for candidate, setting, name in product(candidates, SETTINGS, METHODS):
        algorithm, parameters = METHODS[name]
        policy = candidate.policy(setting)
        began = time.process_time()
        made = candidate.made(policy, algorithm, **parameters)
        spent = time.process_time() - began
        row: Row = {"dataset": candidate.dataset, "file": candidate.file, "setting": label(setting)}
        row |= {"k": setting[0], "l": setting[1], "method": name, "ncp": candidate.ncp(made, policy)}
        row |= {"suppressed": made.suppressed, "classes": made.classes, "seconds": spent}
        row["smallest"] = int(made.sizes.min(initial=candidate.encoded.records))
        rows.append({**row, "least diverse": int((_counts(candidate, made) > 0).sum(axis=1).min())})
    return rows


def ablation(candidates: list[Candidate], settings: tuple[Setting, ...]) -> list[Row]:
    """Change one choice of each variant at a time: eps, noise, order of categories, weights, objective."""
    rows = []
    for candidate, setting, variant in product(candidates, settings, ("paper", "repaired")):
        single = Dop(variant=variant, search=False)
        changed: list[tuple[str, str, Dop]] = [("eps", "elbow", single)]
        changed += [("eps", f"{eps:g}", replace(single, eps=eps)) for eps in EPS]
        changed.append(("eps", "no clustering", replace(single, clustering=False)))
        for factor, values in FACTORS.items():
            start = Dop(variant=variant) if factor == "search" else single
            changed += [(factor, str(value), replace(start, **{factor: value})) for value in values]
        for factor, value, algorithm in changed:
            row: Row = {"file": candidate.file, "setting": label(setting), "variant": variant}
            row |= {"factor": factor, "value": value}
            rows.append({**row, **_clustered(candidate, setting, algorithm)})
    return rows


def _clustered(candidate: Candidate, setting: Setting, algorithm: Dop) -> Row:
    """Return the NCP of dop with its eps, its density clusters and its share of noise."""
    policy = candidate.policy(setting)
    made = candidate.made(policy, "dop", **algorithm.to_dict())
    row: Row = {"ncp": candidate.ncp(made, policy), "eps": None, "clusters": None, "noise": None}
    if algorithm.clustering:
        found = algorithm.clusters(candidate.encoded, policy.compile(candidate.encoded), Run())
        row["eps"], row["clusters"] = found.eps, int(found.labels.max(initial=-1)) + 1
        row["noise"] = float(made.marks["noise"].mean())
    return row


def weights(candidates: list[Candidate]) -> list[Row]:
    """Return the weight of every column in the distance by Eq. 1 and by its inverse."""
    from ...algorithms.clusters import column_weights

    rows = []
    for candidate in candidates:
        found = {how: column_weights(candidate.encoded, how) for how in ("cardinality", "inverse")}
        for j, column in enumerate(candidate.encoded.quasi):
            row: Row = {"file": candidate.file, "column": column.name, "values": column.size}
            rows.append({**row, **{how: float(weight[j]) for how, weight in found.items()}})
    return rows


def models(candidates: list[Candidate]) -> list[Row]:
    """Return what other models cost as a constraint, and what the release without them would have reached."""
    rows = []
    for candidate, (name, model) in product(candidates, MODELS):
        plain, strict = candidate.policy((5, 1)), candidate.policy((5, 1), model)
        release = api.anonymize(candidate.table, strict, algorithm="dop")
        without = api.anonymize(candidate.table, plain, algorithm="dop")
        kept, before = (
            next(p for p in evidence.promises if p.model == model.name)
            for evidence in (release.evidence, api.verify(without.table, strict))
        )
        row: Row = {"file": candidate.file, "model": name, "ncp": release.metrics["gcp"]}
        row |= {"ncp without": without.metrics["gcp"], "required": kept.required}
        row |= {"achieved": kept.achieved, "achieved without": before.achieved}
        rows.append({**row, "holds": release.evidence.holds, "failing without": before.failing})
    return rows


def task(candidates: list[Candidate], setting: Setting) -> list[Row]:
    """Return loss and what classes tell of the sensitive column, by its share in the score of a cut."""
    rows = []
    for candidate, share in product(candidates, SHARES):
        policy = candidate.policy(setting)
        target = {"target": candidate.sensitive, "target_weight": share} if share else {}
        made = candidate.made(policy, "dop", **target)
        gain, accuracy = _told(candidate, made)
        row: Row = {"file": candidate.file, "setting": label(setting), "share": share}
        row |= {"ncp": candidate.ncp(made, policy), "information gain": gain, "accuracy": accuracy}
        rows.append(row)
    return rows


def _told(candidate: Candidate, made: Partition) -> tuple[float, float]:
    """Return the information gain of the classes in bits, and how often the majority of a class is right."""
    counts = _counts(candidate, made)
    whole = _entropy(counts.sum(axis=0, keepdims=True))[0]
    sizes = counts.sum(axis=1)
    return float(whole - sizes @ _entropy(counts) / sizes.sum()), float(
        counts.max(axis=1).sum() / sizes.sum()
    )


def _counts(candidate: Candidate, made: Partition) -> NDArray[np.int64]:
    """Return how often every sensitive value occurs in every class."""
    codes, values = candidate.encoded.column_codes(candidate.sensitive)
    kept = made.labels >= 0
    counts = np.zeros((made.classes, values), dtype=np.int64)
    np.add.at(counts, (made.labels[kept], codes[kept]), 1)
    return counts


def _entropy(counts: NDArray[np.int64]) -> NDArray[np.float64]:
    """Return the entropy of every row in bits."""
    shares = counts / counts.sum(axis=1, keepdims=True)
    logs = np.log2(shares, where=shares > 0, out=np.zeros_like(shares))
    return np.asarray(-(shares * logs).sum(axis=1))


def growth(candidate: Candidate, sizes: tuple[int, ...], setting: Setting) -> list[Row]:
    """Return the processor seconds of dop over the number of records, and whether threads change anything."""
    rows = []
    for size in sizes:
        part = candidate.first(size)
        policy = part.policy(setting)
        began = time.process_time()
        one = part.made(policy, "dop", parallel=False)
        spent = time.process_time() - began
        same = bool((one.labels == part.made(policy, "dop").labels).all())
        row: Row = {"file": part.file, "records": size, "seconds": spent, "threads change nothing": same}
        rows.append({**row, "microseconds per n log2 n": 1e6 * spent / (size * np.log2(size))})
    return rows
