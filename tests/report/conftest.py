"""A release of a table in which every column hides a value that must not be found in a report."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pytest

import shoal

N = 400
CANARIES = {
    "name": "Zebulon Quackenbush",
    "email": "zq@canary.example",
    "age": 987653,
    "income": -31415926.53,
    "stage": "canary-stage",
    "job": "canary-keeper",
    "zip": "97531",
    "born": "1871-03-27",
    "seen": "1899-11-23T13:37:42",
    "illness": "canary-pox",
    "score": 86420.97531,
    "visited": "1888-08-08",
    "note": "canary note",
    "points": 77777123,
}
STRANGE = "<script>alert('x')</script>"


@dataclass(frozen=True)
class Planted:
    """A table with a canary in every column, its policy, and a release."""

    table: pa.Table
    policy: shoal.Policy
    release: shoal.Release


def table_with_canaries() -> pa.Table:
    """Return a table whose last record has a value in every column that no other record has."""
    rng = np.random.default_rng(5)
    day = np.datetime64("1990-01-01", "D") + rng.integers(0, 9000, N)
    moment = np.datetime64("2020-01-01T00:00:00", "us") + rng.integers(0, 10**12, N)
    columns: dict[str, list[object]] = {
        "name": [f"Person {i}" for i in range(N)],
        "email": [f"p{i}@example.org" for i in range(N)],
        "age": rng.integers(20, 80, N).tolist(),
        "income": (rng.random(N) * 50_000).round(2).tolist(),
        "stage": rng.choice(["I", "II", "III"], N).tolist(),
        "job": rng.choice(["nurse", "clerk", "cook", "smith"], N).tolist(),
        "zip": rng.choice(["10001", "10002", "20001"], N).tolist(),
        "born": day.tolist(),
        "seen": moment.tolist(),
        "illness": rng.choice(["flu", "cold", "gout"], N).tolist(),
        "score": rng.random(N).round(3).tolist(),
        "visited": day.tolist(),
        "note": rng.choice(["a", "b"], N).tolist(),
        "points": rng.integers(0, 100, N).tolist(),
    }
    for name, canary in CANARIES.items():
        last: object = canary
        if name in ("born", "visited"):
            last = np.datetime64(str(canary), "D").item()
        if name == "seen":
            last = np.datetime64(str(canary), "us").item()
        columns[name][-1] = last
    columns[STRANGE] = rng.choice(["x", "y"], N).tolist()
    return pa.table(columns)


def policy_with_canaries() -> shoal.Policy:
    """Return a policy in which every role, kind and form occurs."""
    return shoal.Policy(
        identifiers={"name": "drop", "email": "mask"},
        quasi={
            "age": "numeric",
            "income": shoal.Column("income", kind="numeric", form="mean"),
            "stage": shoal.Column("stage", kind="ordinal", order=("I", "II", "III", "canary-stage")),
            "job": "categorical",
            "zip": shoal.Hierarchy.prefix(),
            "born": "date",
            "seen": shoal.Column("seen", kind="date", form="bounds"),
            STRANGE: "categorical",
        },
        sensitive={"illness": "categorical", "score": "numeric", "visited": "date"},
        models=[shoal.KAnonymity(4), shoal.LDiversity(2, columns=("illness",))],
        suppression=0.05,
    )


@pytest.fixture(scope="session")
def planted() -> Planted:
    """Return the release with the canaries."""
    table, policy = table_with_canaries(), policy_with_canaries()
    return Planted(table, policy, shoal.anonymize(table, policy, algorithm="mondrian"))
