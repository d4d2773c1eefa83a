"""k-member against its definition, record by record, on random tables of every geometry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from clustering_tables import classes_of, encoded_of, mixed_tables
from oracle import models as defined
from oracle.costs import oracle_table
from oracle.k_member import UNIT, Column, Steering, k_member
from shoal.algorithms.k_member import KMember
from shoal.encoding import Encoded, encode
from shoal.kernels.rules import Rules
from shoal.models.base import Model
from shoal.models.compile import compile_rules
from shoal.progress import Run


def classes(encoded: Encoded, k: int, algorithm: KMember, seed: int = 0) -> set[frozenset[int]]:
    rules = compile_rules((shoal.KAnonymity(k),), encoded)
    return classes_of(algorithm.partition(encoded, rules, Run(seed=seed)))


def expected(
    encoded: Encoded, k: int, algorithm: KMember, seed: int = 0, steered: Steering | None = None
) -> set[frozenset[int]]:
    order = np.random.default_rng(seed).permutation(encoded.records)
    priority = np.argsort(order).tolist()
    table = oracle_table(encoded.codes, encoded.space(heights=algorithm.loss == "height"))
    return k_member(table, k, priority, algorithm.furthest_from == "last", steered)


ALGORITHMS = st.builds(
    KMember, furthest_from=st.sampled_from(["seed", "last"]), loss=st.sampled_from(["own", "height"])
)


@settings(max_examples=200, deadline=None)
@given(
    table=mixed_tables(),
    k=st.integers(1, 6),
    algorithm=ALGORITHMS,
    seed=st.integers(0, 99),
    weight=st.sampled_from([1.0, 0.3]),
)
def test_classes_are_those_of_the_definition(
    table: pa.Table, k: int, algorithm: KMember, seed: int, weight: float
) -> None:
    encoded = encoded_of(table, weight)
    assert classes(encoded, k, algorithm, seed) == expected(encoded, k, algorithm, seed)


@settings(max_examples=50, deadline=None)
@given(table=mixed_tables(), k=st.integers(1, 6), algorithm=ALGORITHMS)
def test_every_record_is_in_one_class_of_k_to_2k_records(table: pa.Table, k: int, algorithm: KMember) -> None:
    found = classes(encoded_of(table), k, algorithm)
    assert Counter(i for members in found for i in members) == Counter(range(table.num_rows))
    assert len(found) == max(1, table.num_rows // k)
    assert min(map(len, found)) >= min(k, table.num_rows)


@pytest.mark.parametrize("loss", ["own", "height"])
def test_trees_of_many_leaves(loss: str) -> None:
    """Enough distinct rows for a deep tree of boxes, and more codes than a mask has bits."""
    rng = np.random.default_rng(8)
    n = 300
    table = pa.table(
        {
            "fine": pa.array([None if v < 20 else int(v) for v in rng.integers(0, 1000, n)]),
            "name": [None if v > 140 else f"n{v}" for v in rng.integers(0, 150, n)],
            "coarse": rng.integers(0, 4, n),
            "place": [f"{v:03d}" for v in rng.integers(0, 400, n)],
        }
    )
    policy = shoal.Policy(
        quasi={
            "fine": "numeric",
            "name": "categorical",
            "coarse": "numeric",
            "place": shoal.Hierarchy.prefix(),
        }
    )
    encoded = encode(table, policy.resolved(table))
    algorithm = KMember(loss=loss)
    assert classes(encoded, 7, algorithm, 3) == expected(encoded, 7, algorithm, 3)


def test_codes_that_share_a_bit_are_told_apart() -> None:
    """Codes 5 and 69 are the same bit of a mask of 64; most nodes hold nothing else."""
    rng = np.random.default_rng(2)
    names = np.concatenate([np.arange(130), rng.choice([5, 69], 200)])
    table = pa.table({"name": [f"n{v:03d}" for v in names], "fine": rng.integers(0, 1000, len(names))})
    name = shoal.Column("name", kind=shoal.Kind.CATEGORICAL, weight=60.0)
    policy = shoal.Policy(quasi={"name": name, "fine": "numeric"})
    encoded = encode(table, policy.resolved(table))
    assert classes(encoded, 3, KMember()) == expected(encoded, 3, KMember())


def test_two_values_a_hierarchy_does_not_know_are_far_apart() -> None:
    """A class of nothing but unknown values publishes the root, even when the values are the same."""
    towns = ["nowhere", "Kiel", "nowhere", "Ulm"] * 6
    table = pa.table({"town": towns, "x": [i % 3 for i in range(len(towns))]})
    policy = shoal.Policy(
        quasi={"town": shoal.Hierarchy.from_dict({"n": ["Kiel"], "s": ["Ulm"]}), "x": "numeric"},
        unknown_values="root",
    )
    encoded = encode(table, policy.resolved(table))
    for seed in range(10):
        found = classes(encoded, 2, KMember(), seed)
        assert found == expected(encoded, 2, KMember(), seed)


def test_the_seed_decides() -> None:
    table = pa.table({"x": list(range(40)) * 2, "y": list("ab") * 40})
    encoded = encode(table, shoal.Policy(quasi=["x", "y"]).resolved(table))
    assert classes(encoded, 3, KMember(), seed=1) == classes(encoded, 3, KMember(), seed=1)
    assert len({frozenset(classes(encoded, 3, KMember(), seed=seed)) for seed in range(5)}) > 1


DISEASES = ["cold", "flu", "gout"]
POLICIES: dict[str, tuple[list[Model], Callable[[list[str], list[str]], bool]]] = {
    "distinct": ([shoal.LDiversity(2)], lambda ill, _: len(set(ill)) >= 2),
    "three": ([shoal.LDiversity(3)], lambda ill, _: len(set(ill)) >= 3),
    "entropy": (
        [shoal.LDiversity(1.5, kind="entropy")],
        lambda ill, _: defined.entropy_holds(ill, Fraction(3, 2)),
    ),
    "alpha": ([shoal.AlphaK(0.5, 2)], lambda ill, _: 2 * max(map(ill.count, ill)) <= len(ill)),
    "close": ([shoal.TCloseness(0.25)], lambda ill, table: defined.emd_equal(ill, table) <= Fraction(1, 4)),
    "close and diverse": (
        [shoal.TCloseness(0.5), shoal.LDiversity(2)],
        lambda ill, table: len(set(ill)) >= 2 and defined.emd_equal(ill, table) <= Fraction(1, 2),
    ),
}


def steering(encoded: Encoded, policy: str, k: int, price: float) -> tuple[Rules, Steering]:
    """Return the rules of a policy, and the promises by definition."""
    models, holds = POLICIES[policy]
    rules = compile_rules((shoal.KAnonymity(k), *models), encoded)
    codes = encoded.sensitive_codes[:, 0].tolist()
    table = [DISEASES[code] for code in codes]
    column = Column(
        codes, lambda values: holds([DISEASES[v] for v in values], table), int(rules.min_distinct[0])
    )
    return rules, Steering([column], price=round(price * UNIT))


def with_all_diseases(table: pa.Table) -> Encoded:
    """Return the integer view of a table in which every disease occurs, so that codes and names agree."""
    three = table.take([0, 0, 0]).set_column(6, "disease", pa.array(DISEASES))
    return encoded_of(pa.concat_tables([table, three]))


@settings(max_examples=150, deadline=None)
@given(
    table=mixed_tables(max_records=22),
    k=st.integers(1, 5),
    policy=st.sampled_from(list(POLICIES)),
    price=st.sampled_from([0.0, 0.5, 1.0, 100.0]),
    algorithm=ALGORITHMS,
    seed=st.integers(0, 99),
)
def test_classes_that_grow_under_promises_are_those_of_the_definition(
    table: pa.Table, k: int, policy: str, price: float, algorithm: KMember, seed: int
) -> None:
    encoded = with_all_diseases(table)
    algorithm = replace(algorithm, price=price)
    rules, steered = steering(encoded, policy, k, price)
    found = classes_of(algorithm.partition(encoded, rules, Run(seed=seed)))
    assert found == expected(encoded, rules.k, algorithm, seed, steered)


def penalty_of(algorithm: KMember, values: list[int]) -> Callable[[list[int], int], int]:
    """Return the penalties of section 5 by definition, the diversity ones turned round as the text has it."""

    def diversity(grown: list[int], record: int) -> int:
        held = {values[i] for i in grown}
        watched = algorithm.diversity == "equal" or DISEASES[values[record]] in algorithm.truly_sensitive
        return round(algorithm.diversity_penalty * UNIT) if held == {values[record]} and watched else 0

    def label(grown: list[int], record: int) -> int:
        held = Counter(values[i] for i in grown)
        alike = held[values[record]] == max(held.values())
        return 0 if alike else round(algorithm.label_penalty * UNIT)

    return diversity if algorithm.diversity != "none" else label


EXTENSIONS = [
    KMember(diversity="equal"),
    KMember(diversity="equal", diversity_penalty=0.4),
    KMember(diversity="sensitive", truly_sensitive=("gout",)),
    KMember(diversity="sensitive", truly_sensitive=("gout", "flu"), diversity_penalty=2),
    KMember(label="disease"),
    KMember(label="disease", label_penalty=0.3, loss="height"),
]


@settings(max_examples=100, deadline=None)
@given(
    table=mixed_tables(), k=st.integers(1, 6), algorithm=st.sampled_from(EXTENSIONS), seed=st.integers(0, 99)
)
def test_penalties_are_those_of_the_text(table: pa.Table, k: int, algorithm: KMember, seed: int) -> None:
    encoded = with_all_diseases(table)
    values = encoded.sensitive_codes[:, 0].tolist()
    steered = Steering(penalties=[penalty_of(algorithm, values)], price=1 << 60)
    assert classes(encoded, k, algorithm, seed) == expected(encoded, k, algorithm, seed, steered)
