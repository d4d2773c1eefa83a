"""GCAA against its definition on random tables, and what has to hold of the binary view."""

from __future__ import annotations

import math
from collections import Counter
from fractions import Fraction
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from clustering_tables import classes_of, encoded_of, mixed_tables
from oracle import gcaa as oracle
from oracle.models import distinct_l, emd_equal, emd_ordered
from shoal.algorithms.gcaa import Gcaa
from shoal.binary_view import BinaryView, nested_bins
from shoal.encoding import Encoded, encode
from shoal.models.compile import compile_rules
from shoal.progress import Run


def rows_of(view: BinaryView) -> list[dict[int, int]]:
    pairs = list(zip(view.feature.tolist(), view.mass.tolist(), strict=True))
    return [dict(pairs[a:b]) for a, b in zip(view.offsets[:-1], view.offsets[1:], strict=True)]


def plain(encoded: Encoded, algorithm: Gcaa, models: list[object]) -> oracle.Table:
    """Return the table as the oracle sees it."""
    literal = algorithm.literal
    bins = algorithm.chosen.bins
    view = BinaryView.of_quasi(encoded, rows="record" if literal else "column", bins=bins)
    sensitive = BinaryView.of_sensitive(encoded, bins=bins, nested=not literal)
    codes = encoded.sensitive_codes.tolist()
    close = [model for model in models if isinstance(model, shoal.TCloseness)]
    diverse = [model for model in models if isinstance(model, shoal.LDiversity)]
    k = compile_rules(tuple(models), encoded).k
    measures = [
        (lambda a, b, j=j: emd_ordered(a, b, sorted(set(b))))
        if any(m.distance == "ordered" for m in close) and encoded.sensitive[j].spec.kind != "categorical"
        else emd_equal
        for j in range(len(encoded.sensitive))
    ]

    def distances(members: list[int]) -> list[Fraction]:
        own, whole = list(zip(*[codes[i] for i in members], strict=True)), list(zip(*codes, strict=True))
        return [measure(a, b) for measure, a, b in zip(measures, own, whole, strict=True)]

    def good(members: list[int]) -> bool:
        if len(members) < k:
            return False
        held = all(max(distances(members)) <= Fraction(str(model.t)) for model in close)
        columns = list(zip(*[codes[i] for i in members], strict=True))
        return held and all(distinct_l(column) >= model.l for model in diverse for column in columns)

    return oracle.Table(
        quasi=rows_of(view),
        sensitive=rows_of(sensitive),
        mass=view.total,
        sensitive_mass=sensitive.total,
        group=view.group.tolist(),
        weight=view.weight.tolist(),
        several=view.several.tolist(),
        distance=lambda members: float(max(distances(members))),
        good=good,
        values=lambda record: codes[record],
        k=k,
    )


def expected(encoded: Encoded, algorithm: Gcaa, models: list[object], seed: int) -> set[frozenset[int]]:
    table = plain(encoded, algorithm, models)
    chosen = algorithm.chosen
    told = oracle.Settings(
        most=table.k + (table.k // 2 if algorithm.beta is None else algorithm.beta),
        diversity=algorithm.diversity if algorithm.literal or len(models) > 1 else 0.0,
        guarded=algorithm.literal or any(isinstance(model, shoal.TCloseness) for model in models),
        literal=algorithm.literal,
        gamma=math.inf if chosen.gamma is None else chosen.gamma,
        swap=chosen.swap,
    )
    turn = np.argsort(np.random.default_rng(seed).permutation(encoded.records)).tolist()
    return oracle.gcaa(table, told, turn)


def found(encoded: Encoded, algorithm: Gcaa, models: list[object], seed: int) -> set[frozenset[int]]:
    rules = compile_rules(tuple(models), encoded)
    return classes_of(algorithm.partition(encoded, rules, Run(seed=seed)))


ALGORITHMS = st.builds(
    Gcaa,
    variant=st.sampled_from(["repaired", "paper"]),
    beta=st.sampled_from([None, 0, 1, 5]),
    gamma=st.sampled_from([None, None, 0.3, 0.02]),
    diversity=st.sampled_from([1.0, 0.25]),
    bins=st.sampled_from([None, 0, 3]),
    swap=st.sampled_from([None, True, False]),
)
PROMISES = st.sampled_from(
    [
        [],
        [shoal.LDiversity(2)],
        [shoal.TCloseness(0.25)],
        [shoal.TCloseness(0.4)],
        [shoal.TCloseness(0.4), shoal.LDiversity(2)],
        [shoal.TCloseness(0.1)],
    ]
)


@settings(max_examples=50, deadline=None)
@given(
    table=mixed_tables(max_records=14),
    k=st.integers(1, 4),
    promises=PROMISES,
    algorithm=ALGORITHMS,
    seed=st.integers(0, 9),
)
def test_classes_are_those_of_the_definition(
    table: pa.Table, k: int, promises: list[object], algorithm: Gcaa, seed: int
) -> None:
    encoded = encoded_of(table)
    models = [shoal.KAnonymity(k), *promises]
    assert found(encoded, algorithm, models, seed) == expected(encoded, algorithm, models, seed)


@st.composite
def tables_of_sets(draw: st.DrawFn) -> pa.Table:
    """Draw a table with a number, a set that may be empty or unknown, and a disease."""
    jobs = st.one_of(st.none(), st.lists(st.sampled_from(["bar", "lab", "shop"]), max_size=3))
    record = st.tuples(st.integers(20, 24), jobs, st.sampled_from(["flu", "cold", "gout"]))
    records = draw(st.lists(record, min_size=1, max_size=14))
    age, jobs_of, ill = zip(*records, strict=True)
    return pa.table({"age": age, "jobs": pa.array(jobs_of, pa.list_(pa.string())), "disease": ill})


def sets_of(table: pa.Table) -> Encoded:
    policy = shoal.Policy(quasi={"age": "numeric", "jobs": "set"}, sensitive=["disease"])
    return encode(table, policy.resolved(table))


@settings(max_examples=30, deadline=None)
@given(table=tables_of_sets(), k=st.integers(1, 3), promises=PROMISES, algorithm=ALGORITHMS)
def test_classes_of_sets_are_those_of_the_definition(
    table: pa.Table, k: int, promises: list[object], algorithm: Gcaa
) -> None:
    encoded = sets_of(table)
    models = [shoal.KAnonymity(k), *promises]
    assert found(encoded, algorithm, models, 1) == expected(encoded, algorithm, models, 1)


@settings(max_examples=60, deadline=None)
@given(table=tables_of_sets())
def test_a_record_has_the_items_of_its_set(table: pa.Table) -> None:
    encoded = sets_of(table)
    view = BinaryView.of_quasi(encoded, bins=0)
    rows = rows_of(view)
    assert {sum(row.values()) for row in rows} == {view.total}
    own = [
        frozenset(f for f in row if view.group[f] == view.group[view.features - 1]) for row in rows
    ]  # the sets are the last group
    jobs = [None if items is None else frozenset(items) for items in table["jobs"].to_pylist()]
    for a, first in zip(own, jobs, strict=True):
        assert len(a) == max(1, len(first or ()))
        for b, second in zip(own, jobs, strict=True):
            assert len(a & b) == (len(first & second) if first and second else int(first == second))


def two_secrets(table: pa.Table) -> Encoded:
    """Return a mixed table with the disease and the grade, which is ordered, as sensitive columns."""
    grade = shoal.Column("grade", kind=shoal.Kind.ORDINAL, order=("low", "middle", "high", "top"))
    policy = shoal.Policy(
        quasi={"age": "numeric", "job": "categorical", "unit": "categorical"},
        sensitive={"disease": "categorical", "grade": grade},
    )
    filled = pa.array([value or "low" for value in table["grade"].to_pylist()])
    table = table.set_column(table.column_names.index("grade"), "grade", filled)
    return encode(table, policy.resolved(table))


@settings(max_examples=20, deadline=None)
@given(table=mixed_tables(max_records=14), k=st.integers(2, 3), algorithm=ALGORITHMS)
def test_several_secrets_are_as_far_as_the_farthest(table: pa.Table, k: int, algorithm: Gcaa) -> None:
    encoded = two_secrets(table)
    close = [
        shoal.TCloseness(0.3, columns=("disease",)),
        shoal.TCloseness(0.3, distance="ordered", columns=("grade",)),
    ]
    models = [shoal.KAnonymity(k), *close]
    assert found(encoded, algorithm, models, 1) == expected(encoded, algorithm, models, 1)


@settings(max_examples=60, deadline=None)
@given(
    st.dictionaries(st.integers(0, 9), st.integers(1, 4), min_size=4, max_size=8),
    st.data(),
)
def test_the_loss_of_a_merge_is_equation_12(masses: dict[int, int], data: st.DataObject) -> None:
    """Whole units against the formula as it is printed, with its distributions and divergences."""
    total = sum(masses.values())
    rows = [masses, dict(zip(sorted(masses, reverse=True), masses.values(), strict=True))]
    n = data.draw(st.integers(3, 6))
    records = [rows[data.draw(st.integers(0, 1))] for _ in range(n)]
    cut = data.draw(st.integers(1, n - 1))
    one, two = list(range(cut)), list(range(cut, n))

    def shares(members: list[int]) -> dict[int, float]:
        counts = sum((Counter(records[i]) for i in members), Counter())
        return {f: count / (total * len(members)) for f, count in counts.items()}

    union = shares(one + two)
    printed = sum(
        len(members) / n * sum(p * math.log2(p / union[f]) for f, p in shares(members).items())
        for members in (one, two)
    )
    assert oracle.lost(records, total, one, two) / (oracle.UNIT * n) == pytest.approx(printed, abs=1e-4)


@settings(max_examples=60, deadline=None)
@given(table=mixed_tables(), rows=st.sampled_from(["column", "record"]), weight=st.sampled_from([1.0, 0.3]))
def test_every_record_has_the_same_mass(table: pa.Table, rows: str, weight: float) -> None:
    view = BinaryView.of_quasi(encoded_of(table, weight), rows=rows, bins=4)
    found = rows_of(view)
    assert {sum(row.values()) for row in found} == {view.total}
    assert all(mass > 0 for row in found for mass in row.values())
    assert set(range(view.features)) == {f for row in found for f in row}
    for row in found:
        counts = Counter(view.group[f] for f in row)
        assert all(view.several[g] or counts[g] == 1 for g in range(len(view.weight)))


@settings(max_examples=60, deadline=None)
@given(codes=st.lists(st.integers(0, 12), min_size=1, max_size=30), bins=st.integers(2, 9))
def test_bins_are_united_where_that_loses_least(codes: list[int], bins: int) -> None:
    """Against all neighbours looked at anew for every union."""
    runs = [[code] for code in sorted(set(codes) - {12})]
    counts = Counter(codes)
    stages, wanted = [], bins
    while wanted > 2:
        stages.append(wanted)
        wanted //= 2
    levels = []
    for stage in [*stages, 2]:
        while len(runs) > stage:
            sizes = [sum(counts[code] for code in run) for run in runs]
            losses = [_lost(a, b) for a, b in pairwise(sizes)]
            at = losses.index(min(losses))
            runs[at : at + 2] = [runs[at] + runs[at + 1]]
        if not levels or levels[-1] != runs:
            levels.append(list(runs))
    found = nested_bins(np.array(codes, dtype=np.int32), 12, bins)
    assert len(found) == len(levels)
    for level, expected_runs in zip(found, levels, strict=True):
        place = {code: at for at, run in enumerate(expected_runs) for code in run}
        assert level.tolist() == [place.get(code, -1) for code in codes]


def _lost(a: int, b: int) -> int:
    return round((1 << 20) * ((a + b) * math.log2(a + b) - a * math.log2(a) - b * math.log2(b)))


def test_example_of_the_paper() -> None:
    """Tables 7 to 9: the normalised binary tables of five people."""
    table = pa.table(
        {
            "gender": ["Male", "Female", "Female", "Male", "Male"],
            "status": ["Married", "Single", "Married", "Married", "Single"],
            "nationality": ["Russian", "American", "Iranian", "Iranian", "American"],
            "disease": ["HIV", "Flu", "Cancer", "HIV", "Cancer"],
            "salary": [">50 K", ">50 K", "<=50 K", "<=50 K", ">50 K"],
        }
    )
    policy = shoal.Policy(quasi=["gender", "status", "nationality"], sensitive=["disease", "salary"])
    encoded = encode(table, policy.resolved(table))
    quasi, sensitive = BinaryView.of_quasi(encoded, rows="record"), BinaryView.of_sensitive(encoded)
    assert (quasi.features, quasi.total, set(quasi.mass.tolist())) == (7, 3, {1})
    assert (sensitive.features, sensitive.total, set(sensitive.mass.tolist())) == (5, 2, {1})


def test_nobody_is_lost_and_every_class_keeps_the_policy() -> None:
    rng = np.random.default_rng(4)
    table = pa.table(
        {
            "age": rng.integers(20, 60, 200),
            "job": rng.choice(["cook", "nurse", "smith"], 200).tolist(),
            "ill": rng.choice(["flu", "cold", "gout", "ague"], 200, p=[0.5, 0.3, 0.1, 0.1]).tolist(),
        }
    )
    policy = shoal.Policy(
        quasi=["age", "job"], sensitive=["ill"], models=[shoal.KAnonymity(4), shoal.TCloseness(0.2)]
    )
    for variant in ("repaired", "paper"):
        release = shoal.anonymize(table, policy, algorithm="gcaa", variant=variant)
        assert release.evidence.holds
        assert release.partition.suppressed == 0
        assert release.partition.classes > 5
