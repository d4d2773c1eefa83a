"""The files that could be the paper's data sets, with the roles that the paper gives their columns."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import pyarrow as pa

from ... import api, datasets
from ...encoding import Encoded
from ...metrics.measure import measure
from ...models.base import Model
from ...models.k_anonymity import KAnonymity
from ...models.l_diversity import LDiversity
from ...partitions import Partition
from ...policy import Policy
from .printed import Setting

_BANK = {
    "age": "numeric",
    "job": "categorical",
    "marital": "categorical",
    "education": "categorical",
    "balance": "numeric",
}
_HEART = {"cp": "categorical", "trestbps": "numeric", "chol": "numeric"}
_STUDENT = dict.fromkeys(("age", "Medu", "Fedu", "traveltime", "studytime"), "numeric")


@dataclass(frozen=True)
class Candidate:
    """A file, and which of the paper's data sets it could be."""

    file: str
    dataset: str
    quasi: dict[str, str]
    sensitive: str

    @cached_property
    def table(self) -> pa.Table:
        """The file as it is."""
        return datasets.load(self.file)

    def first(self, records: int) -> Candidate:
        """Return the first records of the file in its place."""
        part = replace(self)
        part.__dict__["table"] = self.table.slice(0, records)
        return part

    def policy(self, setting: Setting, *more: Model) -> Policy:
        """Return the policy of a setting; suppression is free, since the paper sets no limit to its masks."""
        k, l = setting  # noqa: E741
        models: list[Model] = [KAnonymity(k), *([LDiversity(l)] if l > 1 else []), *more]
        return Policy(quasi=self.quasi, sensitive=[self.sensitive], models=models, suppression=1.0)

    @cached_property
    def encoded(self) -> Encoded:
        """The integer view, which does not depend on the setting."""
        return api.encode(self.table, self.policy((1, 1)))

    def made(self, policy: Policy, algorithm: str, **parameters: Any) -> Partition:
        """Return what an algorithm makes of the file."""
        return api.partition(self.encoded, policy, algorithm=algorithm, **parameters)

    def ncp(self, partition: Partition, policy: Policy) -> float:
        """Return Eq. 4 and 5 of a partition: shoal's gcp, which takes categories without order as sets."""
        return number(measure(self.encoded, partition, policy, ["gcp"])["gcp"])


def number(measured: float | dict[str, float]) -> float:
    """Return a metric that is one number, or one number for the only sensitive column."""
    return float(next(iter(measured.values())) if isinstance(measured, dict) else measured)


CANDIDATES = (
    Candidate("bank", "Bank Marketing", _BANK, "y"),
    Candidate("bank-full", "Bank Marketing", _BANK, "y"),
    Candidate("heart-cleveland", "Heart Disease", _HEART, "num"),
    Candidate("heart-920", "Heart Disease", _HEART, "num"),
    Candidate("student-por", "Student Performance", _STUDENT, "G3"),
    Candidate("student-mat", "Student Performance", _STUDENT, "G3"),
)
