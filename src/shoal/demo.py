"""The demonstration's table: patients of an invented hospital, from a seed.

Nobody in it exists. What makes such tables dangerous is there, though: rare combinations, illnesses that
follow from job and age, and outbreaks in which people who look alike all have the same illness.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .policy import Policy

RECORDS = 10_000
SEED = 2024
QUASI = ("age", "sex", "education", "job", "zip", "admission")
SENSITIVE = ("diagnosis", "cost")

Texts = NDArray[np.str_]
Integers = NDArray[np.int64]

_FIRST_NAMES = """
    Ada Amir Anna Ben Bo Carla Chen Dana David Elif Emma Erik Eva Farid Finn Grace Hana Hugo Ida
    Ivan Jana Jonas Kofi Lara Lea Liam Lin Luis Maja Marek Mia Nadia Noah Olga Omar Paula Rosa Sami
    Tara Yusuf
"""
_LAST_NAMES = """
    Abel Adler Baker Bauer Bell Bruno Cole Conti Costa Diaz Dubois Evans Fischer Garcia Gray Haas
    Hill Horvat Ivanov Jansen Jones Kaya Keller Khan Kim Kowal Lang Lopez Meyer Moreau Nagy Novak
    Okoye Park Petrov Quinn Reyes Rossi Sato Silva Smith Tanaka Vogel Walker Weber Wolf Wong Young
    Zeman Ziegler
"""
_EDUCATION = ("none", "primary", "secondary", "vocational", "bachelor", "master", "doctorate")
_COSTS = ("under 500", "500 to 999", "1000 to 2499", "2500 to 4999", "5000 to 9999", "10000 or more")
_REGIONS = ("021", "100", "191", "276", "331", "479", "606", "941")
_ZIPS_PER_REGION = 12
_MINING_REGION = 5
_JOBS = {
    "builder": (0.10, 0.2),
    "clerk": (0.22, 0.6),
    "driver": (0.10, 0.2),
    "engineer": (0.12, 0.25),
    "farmer": (0.06, 0.4),
    "nurse": (0.10, 0.85),
    "seller": (0.16, 0.65),
    "teacher": (0.08, 0.7),
    "unemployed": (0.06, 0.5),
}  # share of the workforce, share of women

# Illness -> its general weight, and the cost band it centres on.
_ILLNESSES: dict[str, tuple[float, int]] = {
    "asthma": (0.08, 1),
    "influenza": (0.12, 0),
    "silicosis": (0.005, 4),
    "hypertension": (0.14, 1),
    "heart failure": (0.07, 4),
    "stroke": (0.05, 5),
    "depression": (0.11, 2),
    "addiction": (0.06, 3),
    "fracture": (0.12, 2),
    "back injury": (0.10, 2),
    "hepatitis": (0.05, 3),
    "HIV": (0.03, 4),
}
_ILLNESS_GROUPS = {
    "lungs": ("asthma", "influenza", "silicosis"),
    "circulation": ("hypertension", "heart failure", "stroke"),
    "mind": ("depression", "addiction"),
    "injury": ("fracture", "back injury"),
    "infection": ("hepatitis", "HIV"),
}
_FACTORS_BY_JOB: dict[str, dict[str, float]] = {
    "miner": {"silicosis": 1200.0, "back injury": 3.0},
    "builder": {"fracture": 4.0, "back injury": 5.0},
    "driver": {"back injury": 4.0, "hypertension": 2.0},
    "farmer": {"back injury": 4.0, "fracture": 2.0},
    "nurse": {"hepatitis": 6.0, "depression": 2.5},
    "teacher": {"depression": 3.0, "influenza": 2.0},
    "unemployed": {"addiction": 5.0, "depression": 3.0},
    "pupil": {"asthma": 5.0, "influenza": 3.0, "fracture": 3.0, "HIV": 0.1, "addiction": 0.1},
}
_OUTBREAKS = 90
_OUTBREAK_ROOM = 8  # records set aside for each, so that no two overlap
_OUTBREAK_ILLNESSES = ("influenza", "hepatitis", "fracture", "addiction")
_NULL_SHARES = {"education": 0.03, "job": 0.015, "zip": 0.02}


@dataclass(slots=True, eq=False)
class _People:
    """Columns while they are being drawn."""

    age: Integers
    sex: Texts
    education: Integers
    job: Texts
    region: Integers
    zip: Texts
    day: Integers
    diagnosis: Texts


def patients(records: int = RECORDS, seed: int = SEED) -> pa.Table:
    """Return the patients table; the same records and seed give the same table.

    Examples
    --------
    >>> patients(100).column_names
    ['name', 'patient_id', 'email', 'age', 'sex', 'education', 'job', 'zip', 'admission', 'diagnosis', 'cost']
    """
    rng = np.random.default_rng(seed)
    people = _people(records, rng)
    _spread_outbreaks(people, rng)
    first, last = rng.choice(_FIRST_NAMES.split(), records), rng.choice(_LAST_NAMES.split(), records)
    numbers = rng.permutation(records) + 100_000
    start = np.datetime64("2024-01-01", "D")
    columns: dict[str, Any] = {
        "name": [f"{a} {b}" for a, b in zip(first, last, strict=True)],
        "patient_id": [f"P{number}" for number in numbers],
        "email": [
            f"{a}.{b}{number % 997}@example.org".lower()
            for a, b, number in zip(first, last, numbers, strict=True)
        ],
        "age": people.age,
        "sex": people.sex,
        "education": np.array(_EDUCATION)[people.education],
        "job": people.job,
        "zip": people.zip,
        "admission": pa.array(start + people.day, type=pa.date32()),
        "diagnosis": people.diagnosis,
        "cost": np.array(_COSTS)[_cost_bands(people, rng)],
    }
    for name, share in _NULL_SHARES.items():
        columns[name] = pa.array(columns[name], mask=rng.random(records) < share)
    return pa.table(columns)


def demo_policy() -> Policy:
    """Return the demonstration's policy: k=5, distinct l=2 and t=0.3 on both sensitive columns.

    The distance of t-closeness follows what an attacker would call near: illnesses of the same group are
    nearer than others, and neighbouring cost bands are nearer than distant ones.
    """
    from . import Column, Hierarchy, KAnonymity, Kind, LDiversity, Policy, TCloseness

    return Policy(
        identifiers=["name", "patient_id", "email"],
        quasi={
            "age": "numeric",
            "sex": "categorical",
            "education": Column("education", kind=Kind.ORDINAL, order=_EDUCATION),
            "job": "categorical",
            "zip": Hierarchy.prefix(),
            "admission": "date",
        },
        sensitive={
            "diagnosis": Hierarchy.from_dict(_ILLNESS_GROUPS),
            "cost": Column("cost", kind=Kind.ORDINAL, order=_COSTS),
        },
        models=[
            KAnonymity(5),
            LDiversity(2),
            TCloseness(0.3, distance="hierarchical", columns=("diagnosis",)),
            TCloseness(0.3, distance="ordered", columns=("cost",)),
        ],
        suppression=0.01,
    )


def _people(n: int, rng: np.random.Generator) -> _People:
    generation = rng.choice([9, 34, 52, 76], n, p=[0.1, 0.3, 0.33, 0.27])
    age = np.clip(np.rint(generation + rng.normal(0, 8, n)), 0, 97).astype(np.int64)
    region = rng.choice(len(_REGIONS), n, p=[0.1, 0.2, 0.12, 0.1, 0.13, 0.12, 0.13, 0.1])
    job, sex = _jobs(age, region, rng)
    place = np.minimum(rng.geometric(0.18, n) - 1, _ZIPS_PER_REGION - 1)  # a few zips have most people
    zips = np.array([f"{_REGIONS[r]}{7 * p + 3:02d}" for r, p in zip(region, place, strict=True)])
    days = rng.integers(0, 366, n)
    people = _People(age, sex, _education(age, job, rng), job, region, zips, days, np.empty(n, "<U16"))
    people.diagnosis = _diagnoses(people, rng)
    return people


def _jobs(age: Integers, region: Integers, rng: np.random.Generator) -> tuple[Texts, Texts]:
    names = list(_JOBS)
    shares = np.array([share for share, _women in _JOBS.values()])
    job = rng.choice(np.array(names, dtype="<U12"), len(age), p=shares / shares.sum())
    women = np.array([_JOBS[name][1] for name in names])[np.searchsorted(names, job)]
    working = (age >= 18) & (age < 66)
    mining = working & (region == _MINING_REGION) & (rng.random(len(age)) < 0.25)
    job[mining], women[mining] = "miner", 0.05
    job[age < 18], women[age < 18] = "pupil", 0.5
    student = (age >= 18) & (age < 25) & (rng.random(len(age)) < 0.5) & ~mining
    job[student], women[student] = "student", 0.5
    job[age >= 66], women[age >= 66] = "retired", 0.56
    return job, np.where(rng.random(len(age)) < women, "female", "male")


def _education(age: Integers, job: Texts, rng: np.random.Generator) -> Integers:
    centre = np.select(
        [
            age < 6,
            age < 12,
            age < 18,
            np.isin(job, ["engineer", "teacher"]),
            np.isin(job, ["clerk", "nurse"]),
        ],
        [0.0, 0.6, 1.6, 4.6, 3.5],
        2.7,
    )
    spread = np.where(age < 18, 0.4, 0.9)
    return np.clip(np.rint(rng.normal(centre, spread)), 0, np.where(age < 18, 2, 6)).astype(np.int64)


def _diagnoses(people: _People, rng: np.random.Generator) -> Texts:
    names = list(_ILLNESSES)
    weights = np.tile([weight for weight, _band in _ILLNESSES.values()], (len(people.age), 1))
    for job, factors in _FACTORS_BY_JOB.items():
        for name, factor in factors.items():
            weights[people.job == job, names.index(name)] *= factor
    years = people.age[:, None]
    old = [names.index(name) for name in ("hypertension", "heart failure", "stroke")]
    weights[:, old] *= np.clip((years - 25) / 20, 0.02, 3.0)
    weights[:, names.index("HIV")] *= np.where(people.region == 7, 4.0, 1.0)  # one region has its clinic
    shares = np.cumsum(weights / weights.sum(axis=1, keepdims=True), axis=1)
    drawn = (rng.random((len(years), 1)) > shares).sum(axis=1)
    found: Texts = np.array(names)[np.minimum(drawn, len(names) - 1)]
    return found


def _spread_outbreaks(people: _People, rng: np.random.Generator) -> None:
    """Turn runs of records into people who look alike and fell ill together: a class trip, a care home."""
    places = len(people.age) // _OUTBREAK_ROOM
    alike = (people.age, people.sex, people.education, people.job, people.zip, people.day)
    for place in rng.choice(places, min(_OUTBREAKS, places), replace=False):
        start = int(place) * _OUTBREAK_ROOM
        group = slice(start, start + int(rng.integers(3, _OUTBREAK_ROOM)))
        for column in alike:
            column[group] = column[start]
        people.diagnosis[group] = rng.choice(_OUTBREAK_ILLNESSES)


def _cost_bands(people: _People, rng: np.random.Generator) -> Integers:
    names = list(_ILLNESSES)
    order = np.argsort(names)
    place = order[np.searchsorted(np.array(names)[order], people.diagnosis)]
    centre = np.array([band for _weight, band in _ILLNESSES.values()])[place] + (people.age > 70) * 0.7
    bands: Integers = np.clip(np.rint(rng.normal(centre, 0.9)), 0, len(_COSTS) - 1).astype(np.int64)
    return bands
