"""The best microaggregations found so far are what they are said to be."""

from __future__ import annotations

import gzip
import json
from pathlib import Path

import numpy as np
import pytest
from pyarrow import csv

from conftest import DATA

SOLUTIONS = Path(__file__).parents[1] / "solutions"
FIGURES = json.loads((SOLUTIONS / "figures.json").read_text())
KNOWN = {  # 100 SSE/SST: the least known from a plain annealed search of minutes
    "tarragona": {3: 14.563, 4: 17.103, 5: 20.157, 6: 23.508, 10: 30.406},
    "census_casc": {3: 4.704, 4: 6.098, 5: 7.303, 6: 8.272, 10: 11.376},
    "eia": {3: 0.355, 4: 0.496, 5: 0.760, 6: 0.937, 10: 1.956},
}
MISSED = [("census_casc", 3)]  # by about 0.1%
CASES = [(name, k) for name, known in KNOWN.items() for k in known]

pytestmark = pytest.mark.real_data


def standardised(name: str) -> np.ndarray:
    table = csv.read_csv(DATA / f"{name}.csv")
    names = table.column_names
    if name == "eia":  # the eleven columns of the literature
        names = [n for n in names if n == "UTILITYID" or "REV" in n or "SALES" in n]
    points = np.column_stack([table[n].to_numpy().astype(float) for n in names])
    return (points - points.mean(axis=0)) / points.std(axis=0)


@pytest.mark.parametrize(("name", "k"), CASES)
def test_the_classes_have_k_records_and_lose_what_is_recorded(name: str, k: int) -> None:
    packed = (SOLUTIONS / f"{name}-k{k}.txt.gz").read_bytes()
    labels = np.array(gzip.decompress(packed).decode().split(), dtype=np.int64)
    points, sizes = standardised(name), np.bincount(labels)
    assert len(labels) == len(points)
    assert sizes[sizes > 0].min() >= k
    squares = 0.0
    for label in np.unique(labels):
        members = points[labels == label]
        squares += ((members - members.mean(axis=0)) ** 2).sum()
    found = 100 * squares / (points**2).sum()
    assert found == pytest.approx(FIGURES[name][str(k)], abs=6e-5)
    assert (name, k) in MISSED or found <= KNOWN[name][k]
