"""What the RAYDEN paper measured on Adult, and what its sentences need beside it."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from ... import datasets
from ...algorithms.base import Algorithm
from ...algorithms.canon import Canon
from ...algorithms.mondrian import Mondrian
from ...algorithms.mondrian_cof import MondrianCof
from ...algorithms.outliers import MARK, Detection, own_limits
from ...algorithms.rayden import Rayden
from ...algorithms.vantage import RADII, VANTAGES, Grove, make_plan
from ...encoding import Encoded, encode
from ...metrics.measure import measure
from ...models.base import Model
from ...models.k_anonymity import KAnonymity
from ...models.l_diversity import LDiversity
from ...models.t_closeness import TCloseness
from ...partitions import Partition
from ...policy import Policy
from ...progress import Run, Stage
from ..base import Row

NUMERIC = ("age", "fnlwgt", "education-num", "capital-gain", "capital-loss", "hours-per-week")
CATEGORIES = ("workclass", "marital-status", "occupation", "race", "sex", "native-country")
SENSITIVE = "salary-class"
SETTINGS = ("sets", "hierarchies", "numeric")  # how the quasi-identifiers are taken
MIXED = SETTINGS[:2]
OTHERS = ("mondrian", "mondrian-cof", "canon")
PAPER, REPAIRED = "rayden (paper)", "rayden (repaired)"
ALGORITHMS: dict[str, Algorithm] = {
    "mondrian": Mondrian(),
    "mondrian-cof": MondrianCof(variant="paper"),
    "canon": Canon(variant="paper"),
    PAPER: Rayden(variant="paper"),
    REPAIRED: Rayden(),
}
WITHOUT = {PAPER: Rayden(variant="paper", alpha=None), REPAIRED: Rayden(alpha=None)}
SUPPRESSION = 0.05  # more than any algorithm here makes use of


@dataclass(frozen=True, slots=True, eq=False)
class Adult:
    """The complete records of Adult, and how their columns become quasi-identifiers."""

    table: pa.Table
    quasi: dict[str, dict[str, Any]]

    @classmethod
    def read(cls) -> Adult:
        """Return the 30,162 complete records."""
        trees = datasets.hierarchies("adult")
        numbers = ("age", "education-num")
        sets: dict[str, Any] = dict.fromkeys(numbers, "numeric") | dict.fromkeys(CATEGORIES, "categorical")
        along: dict[str, Any] = {
            "age": "numeric",
            **{name: trees[name] for name in ("education", *CATEGORIES)},
        }
        quasi: dict[str, dict[str, Any]] = {
            "sets": sets,
            "hierarchies": along,
            "numeric": dict.fromkeys(NUMERIC, "numeric"),
        }
        return cls(datasets.load("adult").drop_null(), quasi)

    def sample(self, records: int, seed: int) -> Sample:
        """Return so many records, drawn without replacement and kept in their order."""
        order = np.random.default_rng(seed).permutation(self.table.num_rows)[:records]
        return Sample(self.table.take(np.sort(order)), self.quasi)


@dataclass(frozen=True, slots=True, eq=False)
class Sample:
    """Some records of Adult."""

    table: pa.Table
    quasi: dict[str, dict[str, Any]]

    def encoded(self, setting: str, k: int, *models: Model) -> tuple[Encoded, Policy]:
        """Return the integer view in a setting, and a policy of k-anonymity and other models."""
        sensitive = [SENSITIVE] if models else []
        policy = Policy(
            quasi=self.quasi[setting],
            sensitive=sensitive,
            models=[KAnonymity(k), *models],
            suppression=SUPPRESSION,
        ).resolved(self.table)
        return encode(self.table, policy), policy


def ran(algorithm: Algorithm, encoded: Encoded, policy: Policy) -> tuple[Partition, float]:
    """Return the classes an algorithm makes, and its CPU seconds."""
    rules = policy.compile(encoded)
    began = time.process_time()
    made = algorithm.partition(encoded, rules, Run(0, suppression=SUPPRESSION))
    return made, time.process_time() - began


def warm_up(adult: Adult) -> None:
    """Have everything compiled before anything is timed."""
    encoded, policy = adult.sample(200, 0).encoded("sets", 5)
    for algorithm in ALGORITHMS.values():
        ran(algorithm, encoded, policy)


def loss(encoded: Encoded, policy: Policy, made: Partition) -> Row:
    """Return the paper's three metrics, the sizes of the classes, and what became of outliers."""
    found: Row = dict(measure(encoded, made, policy, ["gcp", "dm", "cavg"]))
    outlier = made.marks.get(MARK, np.zeros(made.records, dtype=np.bool_))
    return found | {
        "classes": made.classes,
        "smallest": int(made.sizes.min()),
        "largest": int(made.sizes.max()),
        "detected": int(outlier.sum()),
        "suppressed": made.suppressed,
    }


def utility(adult: Adult, ks: tuple[int, ...], samples: int, records: int) -> list[Row]:
    """Experiments 1 and 2: CPU time and loss of every algorithm over k, one row a run."""
    rows = []
    for seed, setting, k in product(range(samples), SETTINGS, ks):
        encoded, policy = adult.sample(records, seed).encoded(setting, k)
        for name, algorithm in ALGORITHMS.items():
            made, seconds = ran(algorithm, encoded, policy)
            row = {"setting": setting, "k": k, "algorithm": name, "sample": seed, "seconds": seconds}
            rows.append(row | loss(encoded, policy, made))
    return rows


def scalability(adult: Adult, sizes: tuple[int, ...], k: int, repeats: int) -> list[Row]:
    """Experiment 3: the least CPU time of a few runs over the number of records."""
    rows = []
    for records in sizes:
        encoded, policy = adult.sample(records, 0).encoded("sets", k)
        for name, algorithm in ALGORITHMS.items():
            seconds = min(ran(algorithm, encoded, policy)[1] for _ in range(repeats))
            each = 1e6 * seconds / (records * np.log2(records))
            row = {"records": records, "k": k, "algorithm": name, "seconds": seconds}
            rows.append({**row, "per_n_log_n": each})
    return rows


def outliers(adult: Adult, ks: tuple[int, ...], records: int) -> list[Row]:
    """Table 3: outliers detected, recovered and suppressed."""
    kinds = {name: ALGORITHMS[name] for name in ("mondrian-cof", PAPER, REPAIRED)}
    kinds["rayden (paper), cut by value"] = Rayden(variant="paper", radius="value")
    sample = adult.sample(records, 0)
    rows = []
    for k, (name, algorithm) in product(ks, kinds.items()):
        encoded, policy = sample.encoded("sets", k)
        made, _ = ran(algorithm, encoded, policy)
        found = loss(encoded, policy, made)
        detected, suppressed = found["detected"], found["suppressed"]
        counts = {"detected": detected, "recovered": detected - suppressed, "suppressed": suppressed}
        rate = (detected - suppressed) / detected if detected else None
        rows.append({"k": k, "algorithm": name, **counts, "detected_share": detected / records, "orr": rate})
    return rows


def handling(adult: Adult, ks: tuple[int, ...], samples: int, records: int) -> list[Row]:
    """Loss with outliers set aside, without, and as if none were recovered but all suppressed."""
    rows = []
    for seed, setting, k in product(range(samples), MIXED, ks):
        encoded, policy = adult.sample(records, seed).encoded(setting, k)
        for name, plain in WITHOUT.items():
            aside, _ = ran(ALGORITHMS[name], encoded, policy)
            whole, _ = ran(plain, encoded, policy)
            lost = Partition.from_labels(np.where(aside.marks[MARK], -1, aside.labels))
            row: Row = {"setting": setting, "k": k, "algorithm": name, "sample": seed}
            for word, made in (("aside", aside), ("kept", whole), ("suppressed", lost)):
                found = measure(encoded, made, policy, ["gcp", "dm"])
                row |= {f"gcp_{word}": found["gcp"], f"dm_{word}": found["dm"]}
            rows.append(row | {"detected": int(aside.marks[MARK].sum())})
    return rows


def literal_removal(adult: Adult, ks: tuple[int, ...], records: int) -> list[Row]:
    """The parts of the paper's tree once every outlier has left, none being given back."""
    rows = []
    for k in ks:
        encoded, policy = adult.sample(records, 0).encoded("sets", k)
        grove = Grove.of(encoded, policy.compile(encoded), Run(0).rng().permutation(records))
        with Run().progress.stage("parts") as stage:
            parts = grove.grown(make_plan("random", "half", 1, k, Run(0)), stage)
            left = parts.sizes - _outliers_of(parts, k, stage)
        row = {"k": k, "parts": parts.parts, "smallest": int(parts.sizes.min())}
        row |= {"largest": int(parts.sizes.max()), "with_outliers": int((left < parts.sizes).sum())}
        rows.append({**row, "below_k": int((left < k).sum()), "smallest_left": int(left.min())})
    return rows


def _outliers_of(parts: Grove, k: int, stage: Stage) -> np.ndarray[Any, np.dtype[np.int64]]:
    """Return how many records of each part score above mean + 2 standard deviations."""
    scores = Detection(k, "sorted").scores(parts, stage)
    above = scores > own_limits(parts, scores, 2.0)[parts.part_of()]
    return np.bincount(parts.part_of(), weights=above, minlength=parts.parts).astype(np.int64)


def vantages(adult: Adult, ks: tuple[int, ...], samples: int, records: int) -> list[Row]:
    """Every rule for the centre of a ball with every rule for its size, no outliers set aside."""
    rows = []
    for seed, k in product(range(samples), ks):
        encoded, policy = adult.sample(records, seed).encoded("sets", k)
        for vantage, radius in product(VANTAGES, RADII):
            algorithm = Rayden(vantage=vantage, radius=radius, alpha=None)
            made, seconds = ran(algorithm, encoded, policy)
            row = {"vantage": vantage, "radius": radius, "k": k, "sample": seed, "seconds": seconds}
            rows.append({**row, **loss(encoded, policy, made), "spread": float(made.sizes.std())})
    return rows


def closeness(adult: Adult, ks: tuple[int, ...], records: int) -> list[Row]:
    """How near the records of a class are to each other: the mean Gower distance of two of one class."""
    from ...kernels.gower import distances

    rows = []
    for k in ks:
        encoded, policy = adult.sample(records, 0).encoded("sets", k)
        points = Grove.of(encoded, policy.compile(encoded), np.arange(records)).points
        for name in ("mondrian", PAPER, REPAIRED):
            made, _ = ran(ALGORITHMS[name], encoded, policy)
            total, pairs = 0.0, 0
            for members in (made.members(c).astype(np.int64) for c in range(made.classes)):
                away = np.empty(len(members), dtype=np.int64)
                for one in members:
                    distances(points, int(one), members, away)
                    total += float(away.sum()) / points.most
                pairs += len(members) * (len(members) - 1)
            rows.append({"k": k, "algorithm": name, "distance": total / pairs})
    return rows


def other_models(adult: Adult, k: int, records: int) -> list[Row]:
    """Whether the classes keep l-diversity and t-closeness without repair, outliers' classes among them."""
    policies: dict[str, list[Model]] = {
        "distinct l = 2": [LDiversity(2)],
        "entropy l = 1.5": [LDiversity(1.5, kind="entropy")],
        "t = 0.3": [TCloseness(0.3)],
        "l = 2 and t = 0.3": [LDiversity(2), TCloseness(0.3)],
    }
    rows = []
    for words, models in policies.items():
        encoded, policy = adult.sample(records, 0).encoded("sets", k, *models)
        for name in (PAPER, REPAIRED):
            made, _ = ran(ALGORITHMS[name], encoded, policy)
            row = {"policy": words, "k": k, "algorithm": name, **loss(encoded, policy, made)}
            rows.append({**row, "broken": broken(encoded, policy, made)})
    return rows


def broken(encoded: Encoded, policy: Policy, made: Partition) -> int:
    """Return how many classes break a promise of the policy."""
    from ...enforce import failures
    from ...models.statistics import class_statistics

    failing = np.zeros(made.classes, dtype=np.bool_)
    for failure in failures(class_statistics(encoded, made), policy):
        failing |= failure.failing
    return int(failing.sum())
