"""Every metric against its plain definition, on random tables."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import shoal
from oracle import metrics as plain
from shoal import registry
from shoal.encoding import Encoded, encode
from shoal.metrics.class_sizes import NormalisedAverageClass
from shoal.metrics.distortion import AverageDistortionRatio
from shoal.metrics.diversity import ClassificationMetric, EqualDiversity, InformationGain, SensitiveDiversity
from shoal.metrics.hulls import Hulls
from shoal.metrics.measure import measure
from shoal.metrics.squares import SquaredError, SquaredErrorShare, TotalSquares
from shoal.metrics.violations import ClosenessViolations, SizeViolations

TOWNS = {
    "north": {"coast": ["Kiel", "Bremen"], "inland": ["Celle"]},
    "south": ["Ulm", "Passau"],
    "Berlin": None,
}
GRADES = ("low", "middle", "high", "top")
NUMERIC = {"age", "pay"}

ages = st.one_of(st.none(), st.integers(18, 24))
pays = st.one_of(st.none(), st.sampled_from([0.1, 0.25, 1e6, -3.5]))
grades = st.one_of(st.none(), st.sampled_from(GRADES))
days = st.one_of(st.none(), st.integers(19_000, 19_005))
jobs = st.one_of(st.none(), st.sampled_from(["nurse", "cook", "clerk", "smith"]))
towns = st.one_of(st.none(), st.sampled_from(list(plain.Taxonomy(TOWNS).leaves)))
diseases = st.one_of(st.none(), st.sampled_from(["flu", "cold", "gout"]))
wards = st.sampled_from(["A", "B"])
FIELDS = (ages, pays, grades, days, jobs, towns, diseases, wards)


@dataclass
class Case:
    """The same table for shoal and for the plain definitions."""

    encoded: Encoded
    partition: shoal.Partition
    policy: shoal.Policy
    records: plain.Records

    def measure(self, *names: Any) -> dict[str, Any]:
        return measure(self.encoded, self.partition, self.policy, names)


def make_case(rows: list[tuple[Any, ...]], labels: list[int]) -> Case:
    age, pay, grade, day, job, town, disease, ward = (list(column) for column in zip(*rows, strict=True))
    data = pa.table(
        {
            "age": pa.array(age, pa.int64()),
            "pay": pa.array(pay, pa.float64()),
            "grade": pa.array(grade, pa.string()),
            "day": pa.array(day, pa.int32()).cast(pa.date32()),
            "job": pa.array(job, pa.string()),
            "town": pa.array(town, pa.string()),
            "disease": pa.array(disease, pa.string()),
            "ward": pa.array(ward, pa.string()),
        }
    )
    policy = shoal.Policy(
        quasi={
            "age": shoal.Column("age", kind=shoal.Kind.NUMERIC, weight=3.0),
            "pay": "numeric",
            "grade": shoal.Column("grade", kind=shoal.Kind.ORDINAL, order=GRADES),
            "day": "date",
            "job": "categorical",
            "town": shoal.Hierarchy.from_dict(TOWNS),
        },
        sensitive=["disease", "ward"],
        models=[shoal.KAnonymity(2), shoal.TCloseness(0.4)],
        suppression=1.0,
    )
    occurring = sorted({rank for g in grade if g is not None for rank in [GRADES.index(g)]})
    ranks = [None if g is None else occurring.index(GRADES.index(g)) for g in grade]
    columns = [
        plain.Column("age", age, line=True),
        plain.Column("pay", pay, line=True),
        plain.Column("grade", ranks, line=True),
        plain.Column("day", day, line=True),
        plain.Column("job", job),
        plain.Column("town", town, taxonomy=plain.Taxonomy(TOWNS)),
    ]
    records = plain.Records(
        columns,
        [None if label < 0 else label for label in labels],
        {"disease": disease, "ward": ward},
    )
    encoded = encode(data, policy.resolved(data))
    return Case(encoded, shoal.Partition.from_labels(np.array(labels)), policy, records)


@st.composite
def cases(draw: st.DrawFn) -> Case:
    """Draw a table of few records over few values, so that classes agree as often as they differ."""
    pool = draw(st.lists(st.tuples(*FIELDS), min_size=1, max_size=6))
    rows = draw(st.lists(st.sampled_from(pool) | st.tuples(*FIELDS), min_size=1, max_size=14))
    labels = draw(st.lists(st.integers(-1, 3), min_size=len(rows), max_size=len(rows)))
    return make_case(rows, labels)


ROW = (20, 0.1, "low", 19_000, "nurse", "Kiel", "flu", "A")
OTHER = (24, 1e6, "top", 19_003, "cook", "Ulm", None, "B")
NULLS = (None, None, None, None, None, None, None, "A")
EDGES = {
    "one record": ([ROW], [0]),
    "one record, suppressed": ([ROW], [-1]),
    "one class": ([ROW, OTHER, OTHER, ROW], [0, 0, 0, 0]),
    "constant columns": ([ROW, ROW, ROW], [0, 0, 1]),
    "all suppressed": ([ROW, OTHER, NULLS], [-1, -1, -1]),
    "nothing but null": ([NULLS, NULLS, NULLS], [0, 0, 1]),
    "nothing but null, suppressed": ([NULLS, NULLS], [-1, -1]),
    "null mixed with one value": ([ROW, NULLS, ROW], [0, 0, 1]),
    "every record by itself": ([ROW, OTHER, NULLS], [0, 1, 2]),
}


def check_all(case: Case) -> None:
    """Compare every metric that can be computed for a case with its definition."""
    records = case.records
    found = measure(case.encoded, case.partition, case.policy)
    error, total = plain.squares(records, NUMERIC, "z-score")
    expected: dict[str, Any] = {
        "gcp": plain.gcp(records),
        "ncp": plain.ncp(records),
        "il": plain.il(records),
        "il-normalised": plain.il_normalised(records),
        "lm": plain.lm(records),
        "lil": plain.lil(records),
        "iloss": plain.iloss(records),
        "precision": plain.precision(records),
        "dm": plain.dm(records),
        "dm-star": plain.dm_star(records),
        "average-class": plain.average_class(records),
        "aecs": plain.aecs(records),
        "largest-class": plain.largest_class(records),
        "smallest-class": plain.smallest_class(records),
        "classes": plain.classes(records),
        "suppressed": plain.suppressed(records),
        "cm": {name: plain.cm(records, values) for name, values in records.sensitive.items()},
        "information-gain": {
            name: plain.information_gain(records, values) for name, values in records.sensitive.items()
        },
        "ed": {name: plain.ed(records, name) for name in records.sensitive},
        "adr": plain.adr(records, "values"),
        "sse": sum(error),
        "sst": sum(total),
        "il-sse": 100 * sum(error) / sum(total) if sum(total) else 0.0,
        "kl": plain.kl(records),
        "non-uniform-entropy": plain.non_uniform_entropy(records),
        "p-ka": plain.p_ka(records, 2),
        "p-tc": plain.p_tc(records, 0.4),
    }
    if records.classes:
        expected |= {"cavg": plain.cavg(records, 2), "cavg-achieved": plain.cavg_achieved(records)}
    assert set(found) == {*expected, "bound", "gap"}
    share = 1 - found["bound"] / found["gcp"] if found["gcp"] else 0.0
    assert found["gap"] == pytest.approx(max(share, 0.0), abs=2e-9)  # the bound: test_certificate.py
    for name, value in expected.items():
        assert found[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name


@settings(max_examples=150, deadline=None)
@given(cases())
def test_every_metric_is_its_definition(case: Case) -> None:
    check_all(case)


@pytest.mark.parametrize("edge", EDGES)
def test_every_metric_is_its_definition_at_the_edges(edge: str) -> None:
    check_all(make_case(*EDGES[edge]))


@settings(max_examples=60, deadline=None)
@given(cases(), st.integers(1, 5), st.sampled_from([0.0, 0.2, 0.5, 1.0]))
def test_parameters_are_those_of_the_definitions(case: Case, k: int, t: float) -> None:
    records = case.records
    error, total = plain.squares(records, NUMERIC, "min-max")
    found = case.measure(
        SizeViolations(k),
        ClosenessViolations(t),
        AverageDistortionRatio("cells"),
        ClassificationMetric("job"),
        InformationGain("job"),
        EqualDiversity("ward"),
        SquaredError("min-max"),
        TotalSquares("min-max"),
        SquaredErrorShare("min-max", squared=False),
    )
    roots = sum(map(math.sqrt, total))
    assert found["p-ka"] == plain.p_ka(records, k)
    assert found["p-tc"] == plain.p_tc(records, t)
    assert found["adr"] == pytest.approx(plain.adr(records, "cells"))
    assert found["cm"] == pytest.approx(plain.cm(records, records.columns[4].values))
    gain = plain.information_gain(records, records.columns[4].values)
    assert found["information-gain"] == pytest.approx(gain, abs=1e-9)
    assert found["ed"] == plain.ed(records, "ward")
    assert found["sse"] == pytest.approx(sum(error), abs=1e-9)
    assert found["sst"] == pytest.approx(sum(total), abs=1e-9)
    assert found["il-sse"] == pytest.approx(
        100 * sum(map(math.sqrt, error)) / roots if roots else 0.0, abs=1e-9
    )
    if records.classes:
        assert case.measure(NormalisedAverageClass(k))["cavg"] == pytest.approx(plain.cavg(records, k))


@settings(max_examples=60, deadline=None)
@given(cases())
def test_sensitive_diversity_counts_truly_sensitive_values_only(case: Case) -> None:
    assume(any({"A", "flu"} & set(values) for values in case.records.sensitive.values()))
    found = case.measure(SensitiveDiversity(values=("A", "flu")))["sd"]
    assert found == {name: plain.sd(case.records, name, {"A", "flu"}) for name in case.records.sensitive}


@settings(max_examples=60, deadline=None)
@given(cases(), st.randoms(use_true_random=False))
def test_the_order_of_records_does_not_matter(case: Case, random: Any) -> None:
    shuffled = list(range(case.records.n))
    random.shuffle(shuffled)
    encoded = Encoded(
        np.asfortranarray(case.encoded.codes[shuffled]),
        case.encoded.quasi,
        np.asfortranarray(case.encoded.sensitive_codes[shuffled]),
        case.encoded.sensitive,
    )
    again = measure(encoded, shoal.Partition.from_labels(case.partition.labels[shuffled]), case.policy)
    for name, value in measure(case.encoded, case.partition, case.policy).items():
        assert again[name] == pytest.approx(value, rel=1e-9, abs=1e-9), name


@settings(max_examples=60, deadline=None)
@given(cases())
def test_metrics_stay_in_their_declared_range(case: Case) -> None:
    for name, value in measure(case.encoded, case.partition, case.policy).items():
        metric = registry.get("metrics", name)
        for number in value.values() if isinstance(value, dict) else [value]:
            assert metric.low <= number <= metric.high + 1e-12, name


@settings(max_examples=60, deadline=None)
@given(cases())
def test_hulls_are_those_of_the_members(case: Case) -> None:
    hulls = Hulls.of(case.encoded, case.partition)
    for c in range(case.partition.classes):
        for j, column in enumerate(case.encoded.quasi):
            codes = case.encoded.codes[case.partition.members(c), j].tolist()
            some = [code for code in codes if code != column.size]
            assert hulls.low[c, j] == min(some, default=column.size)
            assert hulls.high[c, j] == max(some, default=column.size)
            assert hulls.distinct[c, j] == len(set(some))
            assert hulls.nulls[c, j] == len(codes) - len(some)
