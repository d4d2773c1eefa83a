"""What the k-member paper measured on Adult: losses, time, diversity and scaling of its algorithms."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pyarrow as pa

from ... import datasets
from ...algorithms.base import Algorithm
from ...algorithms.k_member import KMember
from ...algorithms.knn import Knn
from ...algorithms.mondrian import Mondrian
from ...algorithms.oka import Oka
from ...encoding import Encoded, encode
from ...metrics.base import Metric
from ...metrics.diversity import SensitiveDiversity
from ...metrics.measure import measure
from ...models.k_anonymity import KAnonymity
from ...partitions import Partition
from ...policy import Policy
from ...progress import Run
from ..base import Row

NUMBERS = ("age", "education-num")
CATEGORIES = ("workclass", "marital-status", "occupation", "race", "sex", "native-country")
SALARY = "salary-class"
TRULY = ">50K"

GREEDY, LABELLED = "greedy k-member", "greedy k-member, labels"
EQUAL, SENSITIVE = "greedy k-member, equal diversity", "greedy k-member, sensitive diversity"
MEDIAN, NEAREST, ONE_PASS = "median partitioning", "k-nearest neighbour", "one-pass k-means"
TREES = "mondrian with taxonomies"
QUALITY = (MEDIAN, NEAREST, GREEDY, LABELLED)  # of figures 9 to 12
DIVERSE = (MEDIAN, NEAREST, GREEDY, EQUAL, SENSITIVE)  # of figures 13 to 15
CARDINALITY = (MEDIAN, NEAREST, GREEDY)  # of figures 16 and 17
ALGORITHMS: dict[str, Algorithm] = {
    MEDIAN: Mondrian(),
    NEAREST: Knn(loss="height"),
    GREEDY: KMember(variant="paper"),
    LABELLED: KMember(variant="paper", label=SALARY),
    EQUAL: KMember(variant="paper", diversity="equal"),
    SENSITIVE: KMember(variant="paper", diversity="sensitive", truly_sensitive=(TRULY,)),
    ONE_PASS: Oka(loss="height"),
    TREES: Mondrian(),
}
PENALTIES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)
METRICS: list[str | Metric] = ["il", "il-normalised", "dm", "cm", "ed", SensitiveDiversity(values=(TRULY,))]


@dataclass(frozen=True, slots=True, eq=False)
class Adult:
    """The records of an experiment, with and without taxonomies."""

    table: pa.Table
    trees: dict[str, Any]

    @classmethod
    def read(cls) -> Adult:
        """Return the 30,162 complete records and ARX's hierarchies of the six categories."""
        trees = datasets.hierarchies("adult")
        return cls(datasets.load("adult").drop_null(), {name: trees[name] for name in CATEGORIES})

    def sample(self, records: int, seed: int) -> Adult:
        """Return so many records, drawn without replacement and kept in their order."""
        order = np.random.default_rng(seed).permutation(self.table.num_rows)[:records]
        return Adult(self.table.take(np.sort(order)), self.trees)

    def encoded(self, k: int, *, taxonomies: bool = True) -> tuple[Encoded, Policy]:
        """Return the integer view and the policy; without taxonomies categories are in alphabetical order."""
        kinds: dict[str, Any] = dict.fromkeys(NUMBERS, "numeric")
        kinds |= self.trees if taxonomies else dict.fromkeys(CATEGORIES, "categorical")
        policy = Policy(quasi=kinds, sensitive=[SALARY], models=[KAnonymity(k)]).resolved(self.table)
        return encode(self.table, policy), policy


@dataclass(frozen=True, slots=True, eq=False)
class Views:
    """The two integer views of some records: what is measured, and what median partitioning cuts."""

    measured: Encoded
    ordered: Encoded
    policy: Policy

    @classmethod
    def of(cls, adult: Adult, k: int) -> Views:
        """Return the views for one k."""
        measured, policy = adult.encoded(k)
        return cls(measured, adult.encoded(k, taxonomies=False)[0], policy)

    def ran(self, name: str, seed: int, algorithm: Algorithm | None = None) -> tuple[Partition, float]:
        """Return the classes an algorithm makes, and its CPU seconds."""
        encoded = self.ordered if name == MEDIAN else self.measured
        rules = self.policy.compile(encoded)
        began = time.process_time()
        made = (algorithm or ALGORITHMS[name]).partition(encoded, rules, Run(seed))
        return made, time.process_time() - began

    def row(self, made: Partition) -> Row:
        """Return the paper's metrics, and the sizes of the classes."""
        found: Row = {}
        for name, value in measure(self.measured, made, self.policy, METRICS).items():
            found[name] = value[SALARY] if isinstance(value, dict) else value
        records = made.records
        shares = {"ed share": found["ed"] / records, "sd share": found["sd"] / records}
        sizes = {"classes": made.classes, "smallest": int(made.sizes.min()), "largest": int(made.sizes.max())}
        return found | shares | sizes


def warm_up(adult: Adult) -> None:
    """Have everything compiled before anything is timed."""
    views = Views.of(adult.sample(200, 0), 5)
    for name in ALGORITHMS:
        views.ran(name, 0)


def quality(adult: Adult, ks: tuple[int, ...], seed: int) -> list[Row]:
    """Figures 9 to 15: every metric of every algorithm over k."""
    rows = []
    for k in ks:
        views = Views.of(adult, k)
        for name in ALGORITHMS:
            made, seconds = views.ran(name, seed)
            rows.append({"k": k, "algorithm": name, "seconds": seconds, **views.row(made)})
    return rows


def cardinality(adult: Adult, sizes: tuple[int, ...], k: int, seed: int) -> list[Row]:
    """Figures 16 and 17: loss and the least CPU time of three runs over the number of records."""
    rows = []
    for records in sizes:
        views = Views.of(adult.sample(records, seed), k)
        for name in (*CARDINALITY, ONE_PASS):
            runs = [views.ran(name, seed) for _ in range(3)]
            loss = measure(views.measured, runs[0][0], views.policy, ["il"])["il"]
            seconds = min(spent for _, spent in runs)
            rows.append({"records": records, "k": k, "algorithm": name, "il": loss, "seconds": seconds})
    return rows


def penalties(adult: Adult, k: int, seed: int) -> list[Row]:
    """The magnitude of the penalties, which the paper leaves open."""
    views = Views.of(adult, k)
    rows = []
    for penalty, name in product(PENALTIES, (LABELLED, EQUAL, SENSITIVE)):
        values = {"label_penalty": penalty} if name == LABELLED else {"diversity_penalty": penalty}
        made, _ = views.ran(name, seed, type(ALGORITHMS[name])(**{**_fields(name), **values}))
        found = views.row(made)
        kept = {key: found[key] for key in ("il", "cm", "ed", "sd")}
        rows.append({"k": k, "algorithm": name, "penalty": penalty, **kept})
    return rows


def _fields(name: str) -> dict[str, Any]:
    algorithm = ALGORITHMS[name]
    return {parameter.name: getattr(algorithm, parameter.name) for parameter in algorithm.parameters()}


def definitions(adult: Adult, ks: tuple[int, ...], seed: int) -> list[Row]:
    """What the paper leaves open or prints twice: where a class starts, and which loss grows least."""
    rows = []
    for k, start, loss in product(ks, ("seed", "last"), ("own", "height")):
        views = Views.of(adult, k)
        made, seconds = views.ran(GREEDY, seed, KMember(furthest_from=start, loss=loss))
        found = measure(views.measured, made, views.policy, ["il", "gcp"])
        rows.append({"k": k, "furthest from": start, "loss": loss, "seconds": seconds, **found})
    return rows


def example() -> list[Row]:
    """Examples 1 to 3 of the paper: distances between the records of its Figure 5."""
    people = [(41, "USA", "Armed-Forces"), (57, "India", "Tech-support"), (40, "Canada", "Teacher")]
    people += [(38, "Iran", "Tech-support"), (24, "Brazil", "Doctor"), (45, "Greece", "Salesman")]
    names = ("age", "country", "occupation")
    table = pa.table(dict(zip(names, map(list, zip(*people, strict=True)), strict=True)))
    from ...hierarchies import Hierarchy

    country = Hierarchy.from_dict(
        {
            "America": {"North": ["USA", "Canada"], "South": ["Brazil"]},
            "Eurasia": {"West": ["Iran"], "East": ["India"], "South Europe": ["Greece"]},
        }
    )
    policy = Policy(quasi={"age": "numeric", "country": country, "occupation": "categorical"})
    policy = policy.resolved(table)
    encoded = encode(table, policy)
    rows = []
    for one, two, printed in ((0, 1, 2.485), (0, 2, 1.363)):
        labels = np.full(len(people), -1)
        labels[[one, two]] = 0
        pair = Partition.from_labels(labels)
        lost = float(measure(encoded, pair, policy, ["il"])["il"])  # type: ignore[arg-type]
        distance = (lost - 3 * pair.suppressed) / 2
        rows.append({"records": f"{one + 1} and {two + 1}", "printed": printed, "measured": distance})
    return rows
