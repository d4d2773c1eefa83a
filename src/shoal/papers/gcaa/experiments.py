"""What the GCAA paper measured, and what its sentences need beside it."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa

from ... import datasets
from ...algorithms.base import Algorithm
from ...algorithms.fuzzy_k_member import FuzzyKMember
from ...algorithms.gcaa import Gcaa
from ...algorithms.kfcfa import Kfcfa
from ...algorithms.klt3l import Klt3l
from ...algorithms.p_sensitive import PSensitiveClustering
from ...encoding import Encoded, encode
from ...metrics.measure import measure
from ...models.base import Model
from ...models.k_anonymity import KAnonymity
from ...models.l_diversity import LDiversity
from ...models.t_closeness import TCloseness
from ...partitions import Partition
from ...policy import Policy
from ...progress import Run
from ..base import Row
from .data import FACEBOOK, Network, Secret
from .printed import SCENARIOS, SWEEP, Scenario

PAPER, REPAIRED = "gcaa (paper)", "gcaa (repaired)"
METRICS = ("cavg", "adr", "p-ka", "p-tc")
OURS = (PAPER, REPAIRED)
KLT3L, KFCFA, PSKA, FKMC = "klt3l", "kfcfa", "p-sensitive", "fuzzy-k-member"
OTHERS = (KLT3L, KFCFA, PSKA, FKMC)


@dataclass(frozen=True)
class Contender:
    """An algorithm, and the promises it is told about."""

    make: Callable[[int], Algorithm]  # from l
    told: tuple[str, ...]

    def models(self, setting: Scenario) -> list[Model]:
        """Return the promises of a setting that it is told about."""
        known: dict[str, Callable[[], Model]] = {
            "k": lambda: KAnonymity(setting.k),
            "l": lambda: LDiversity(setting.l),
            "t": lambda: TCloseness(setting.t),
        }
        return [known[name]() for name in self.told if name != "l" or setting.l > 1]


CONTENDERS = {
    PAPER: Contender(lambda l: Gcaa(variant="paper"), ("k", "t")),  # noqa: E741
    REPAIRED: Contender(lambda l: Gcaa(), ("k", "t")),  # noqa: E741
    KLT3L: Contender(lambda l: Klt3l(), ("k", "l", "t")),  # noqa: E741
    KFCFA: Contender(lambda l: Kfcfa(swap=False), ("k", "l", "t")),  # noqa: E741
    PSKA: Contender(lambda l: PSensitiveClustering(p=l), ("k",)),  # noqa: E741
    FKMC: Contender(lambda l: FuzzyKMember(), ("k",)),  # noqa: E741
}


def ran(name: str, secret: Secret, setting: Scenario) -> tuple[Partition, float]:
    """Return the classes an algorithm makes, nothing repaired, and its CPU seconds."""
    contender = CONTENDERS[name]
    rules = secret.policy(*contender.models(setting)).compile(secret.encoded)
    began = time.process_time()
    made = contender.make(setting.l).partition(secret.encoded, rules, Run(0))
    return made, time.process_time() - began


def judged(name: str, secret: Secret, setting: Scenario) -> Row:
    """Return everything the paper says about a run, as one row."""
    setting = setting._replace(l=secret.diversity(setting.l, setting.k))
    made, seconds = ran(name, secret, setting)
    policy = secret.policy(KAnonymity(setting.k), TCloseness(setting.t))
    found = {
        name: _number(measured) for name, measured in measure(secret.encoded, made, policy, METRICS).items()
    }
    broken = {name: int(found[name]) for name in ("p-ka", "p-tc")}
    codes = secret.encoded.sensitive_codes[:, 0]
    variety = [len(np.unique(codes[made.members(c)])) for c in range(made.classes)]
    changed = values_to_change(made, secret, setting.t)
    entries = made.records * len(secret.quasi)
    return {
        "dataset": secret.network.name,
        "sensitive": secret.group,
        "scenario": setting.name,
        **{"k": setting.k, "t": setting.t, "l": setting.l},
        "algorithm": name,
        "classes": made.classes,
        "cavg": found["cavg"],
        "adr": found["adr"],
        "p_ka": broken["p-ka"],
        "p_tc": broken["p-tc"],
        "secrets_to_change": changed,
        "adr_with_secrets": found["adr"] + 2 * changed / entries,
        "smallest": int(made.sizes.min()),
        "largest": int(made.sizes.max()),
        "fewest_values": min(variety),
        "most_values": max(variety),
        "records": int(made.sizes.sum()),
        "seconds": seconds,
    }


def _number(measured: float | dict[str, float]) -> float:
    return float(next(iter(measured.values())) if isinstance(measured, dict) else measured)


def values_to_change(made: Partition, secret: Secret, t: float) -> int:
    """Return how many sensitive values must change at least for every class to be t-close.

    One change brings a class of s records nearer to the table by 1 / s at most.
    """
    codes = secret.encoded.sensitive_codes[:, 0]
    overall = np.bincount(codes) / len(codes)
    total = 0
    for c in range(made.classes):
        members = made.members(c)
        share = np.bincount(codes[members], minlength=len(overall)) / len(members)
        over = np.abs(share - overall).sum() / 2 - t
        total += max(0, math.ceil(len(members) * over - 1e-9))
    return total


def comparison(networks: Iterable[Network], choices: int) -> list[Row]:
    """Tables 12 to 14 and figures 5 to 13: every algorithm, scenario and choice of the secret."""
    return [
        judged(name, secret, setting)
        for network in networks
        for secret in map(network.secret, network.secrets[:choices])
        for setting in SCENARIOS
        for name in CONTENDERS
    ]


def sweep(networks: Iterable[Network], choices: int, ts: Sequence[float]) -> list[Row]:
    """Figures 14 to 16: k = 6 and l = 4 over t."""
    return [
        judged(name, secret, SWEEP._replace(t=t))
        for network in networks
        for secret in map(network.secret, network.secrets[:choices])
        for t in ts
        for name in CONTENDERS
    ]


def bounds(networks: Iterable[Network]) -> list[Row]:
    """Return between what ADR can be, by k."""
    return [
        {
            "dataset": network.name,
            "k": setting.k,
            "least_adr": network.least_distortion(setting.k),
            "nothing_left": network.density,
        }
        for network in networks
        for setting in SCENARIOS
    ]


def secrets(network: Network, most: int | None) -> list[Row]:
    """Classes that are not t-close for those who see to k and l only, by what stands for the secret."""
    rows = []
    for group in list(network.groups)[:most]:
        secret = network.secret(group)
        row: Row = {"sensitive": group, "values": len(secret.counts)}
        row["most frequent"] = float(secret.counts[0] / secret.counts.sum())
        for setting in SCENARIOS:
            for name in (FKMC, PSKA):
                found = judged(name, secret, setting)
                row[f"{name} {setting.name}"] = found["p_tc"] / found["classes"]
        rows.append(row)
    return rows


def growth(sizes: Sequence[int]) -> list[Row]:
    """CPU time over the number of records, on Adult: k = 5, t = 0.3, occupation secret."""
    adult = datasets.load("adult").drop_null()
    categories = ("workclass", "marital-status", "race", "sex", "native-country")
    quasi = {"age": "numeric", "education-num": "numeric", **dict.fromkeys(categories, "categorical")}
    policy = Policy(quasi=quasi, sensitive=["occupation"], models=[KAnonymity(5), TCloseness(0.3)])
    rows = []
    for records in sizes:
        encoded = _first(adult, records, policy)
        rules = policy.compile(encoded)
        for name in OURS:
            algorithm = CONTENDERS[name].make(1)
            began = time.process_time()
            algorithm.partition(encoded, rules, Run(0))
            rows.append({"records": records, "algorithm": name, "seconds": time.process_time() - began})
    return rows


def _first(table: pa.Table, records: int, policy: Policy) -> Encoded:
    part = table.slice(0, records)
    return encode(part, policy.resolved(part))


def warm_up() -> None:
    """Have everything compiled before anything is timed."""
    secret = FACEBOOK.secret(FACEBOOK.secrets[0])
    for name in CONTENDERS:
        ran(name, secret, SCENARIOS[2]._replace(l=2))
