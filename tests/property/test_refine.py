"""Refinement keeps every promise, never loses more, and its running total is the loss by definition."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from clustering_tables import encoded_of, mixed_tables
from oracle import metrics as plain
from oracle.costs import OracleTable, oracle_table
from shoal.embedding import Embedding
from shoal.encoding import Encoded, encode
from shoal.enforce import failures
from shoal.errors import ParameterError, PolicyError, UnknownName
from shoal.metrics.measure import measure
from shoal.models.statistics import class_statistics
from shoal.partitions import Partition
from shoal.policy import Policy
from shoal.progress import Progress, Run, Stage, interruptible
from shoal.refine import Refine, make_search, refined
from strategies import random_tables

FEW = Refine(moves=300, threads=1)


def plain_loss(table: OracleTable, partition: Partition) -> int:
    """Return the loss by definition: every class costs its size times its cost, who is suppressed all."""
    classes = [partition.members(c).tolist() for c in range(partition.classes)]
    whole = sum(column.full for column in table.columns)
    return sum(len(members) * table.cost(members) for members in classes) + partition.suppressed * whole


def any_start(encoded: Encoded, k: int, seed: int) -> Partition:
    """Return a random partition into classes of k records or more, a few records suppressed."""
    rng = np.random.default_rng(seed)
    labels = np.arange(encoded.records) // k
    labels[labels == encoded.records // k] = -1
    return Partition.from_labels(rng.permutation(labels))


@settings(max_examples=40, deadline=None)
@given(
    table=mixed_tables(),
    k=st.integers(1, 4),
    seed=st.integers(0, 99),
    loss=st.sampled_from(["gcp", "il"]),
    weight=st.sampled_from([1.0, 0.3]),
)
def test_the_loss_is_the_one_by_definition_and_never_more(
    table: pa.Table, k: int, seed: int, loss: str, weight: float
) -> None:
    encoded, run = encoded_of(table, weight), Run(seed)
    policy = Policy(quasi=list(table.column_names), models=[shoal.KAnonymity(k)], suppression=1.0)
    start = any_start(encoded, k, seed)
    if start.classes == 0:
        return
    found = refined(start, encoded, policy, run, Refine(loss=loss, moves=300, threads=1))
    costs = oracle_table(encoded.codes, encoded.space(heights=loss == "il"))
    cells = encoded.records * sum(column.full for column in costs.columns)
    told = run.notes["refinement"]
    assert told["before"] == pytest.approx(plain_loss(costs, start) / cells, abs=1e-12)
    assert told["after"] == pytest.approx(plain_loss(costs, found) / cells, abs=1e-12)
    assert told["curve"][-1][2] == pytest.approx(told["after"], abs=1e-12)
    assert told["after"] <= told["before"]
    assert found.sizes.min() >= k
    assert (found.labels < 0).tolist() == (start.labels < 0).tolist()


@settings(max_examples=40, deadline=None)
@given(
    table=mixed_tables(),
    k=st.integers(1, 4),
    seed=st.integers(0, 99),
    loss=st.sampled_from(["gcp", "lil"]),
    target_loss=st.sampled_from(["cm", "information-gain"]),
    weight=st.sampled_from([0.1, 0.5, 0.9]),
    labels=st.integers(1, 4),
)
def test_a_weighted_sum_with_a_target_is_the_one_by_definition(
    table: pa.Table, k: int, seed: int, loss: str, target_loss: str, weight: float, labels: int
) -> None:
    rng = np.random.default_rng(seed)
    label = rng.integers(0, labels, table.num_rows).tolist()
    table = table.append_column("label", pa.array(label))
    quasi = [name for name in table.column_names if name != "label"]
    policy = Policy(quasi=quasi, sensitive=["label"], models=[shoal.KAnonymity(k)], suppression=1.0)
    policy = policy.resolved(table)
    encoded, run = encode(table, policy), Run(seed)
    ordered = [column.positions is not None for column in encoded.quasi]
    start = any_start(encoded, k, seed)
    if start.classes == 0 or (loss == "lil" and not any(ordered)):
        return
    wanted = Refine(loss=loss, target="label", target_loss=target_loss, target_weight=weight, moves=200)
    found = refined(start, encoded, policy, run, wanted)
    told = run.notes["refinement"]
    for partition, when in ((start, "before"), (found, "after")):
        members = [partition.members(c).tolist() for c in range(partition.classes)]
        records = plain.Records([], [None if c < 0 else int(c) for c in partition.labels], {"label": label})
        assert records.classes == members
        gain = plain.information_gain(records, label)
        lost = plain.cm(records, label) if target_loss == "cm" else 1 - gain
        measured = measure(encoded, partition, policy, [loss])[loss]
        assert told["parts"][when]["loss"] == pytest.approx(measured, abs=1e-5)
        assert told["parts"][when]["target"] == pytest.approx(lost, abs=1e-5)
        assert told[when] == pytest.approx((1 - weight) * measured + weight * lost, abs=1e-5)
    assert told["curve"][-1][2] == pytest.approx(told["after"], abs=1e-12), "step by step, and from scratch"
    assert told["after"] <= told["before"]


def test_a_target_is_told_more_of_when_it_weighs_more() -> None:
    table, rng = people(900), np.random.default_rng(2)
    rich = np.array(table["age"]) + rng.normal(0, 20, 900) > 55
    table = table.append_column("rich", pa.array(np.where(rich, "yes", "no")))
    policy = Policy(quasi=["age", "job", "sex"], sensitive=["rich"], models=[shoal.KAnonymity(3)])
    policy = policy.resolved(table)
    encoded = encode(table, policy)
    start = shoal.partition(encoded, policy, algorithm="mondrian")
    for target_loss in ("cm", "information-gain"):
        parts = []
        for weight in (0.01, 0.3, 0.9):
            run = Run()
            wanted = Refine(
                target="rich", target_loss=target_loss, target_weight=weight, moves=20_000, threads=1
            )
            refined(start, encoded, policy, run, wanted)
            parts.append(run.notes["refinement"]["parts"]["after"])
        assert [p["target"] for p in parts] == sorted((p["target"] for p in parts), reverse=True)
        assert [p["loss"] for p in parts] == sorted(p["loss"] for p in parts)
        assert parts[-1]["target"] < 0.8 * parts[0]["target"]


def test_targets_that_cannot_be_one_are_refused() -> None:
    table = people(300).append_column("pay", pa.array(np.arange(300)))
    policy = Policy(quasi=["job", "sex"], sensitive=["pay"], models=[shoal.KAnonymity(3)]).resolved(table)
    encoded = encode(table, policy)
    start = shoal.partition(encoded, policy, algorithm="mondrian")
    with pytest.raises(PolicyError, match="300 different values"):
        refined(start, encoded, policy, Run(), Refine(target="pay"))
    with pytest.raises(UnknownName, match="sensitive column or quasi-identifier"):
        refined(start, encoded, policy, Run(), Refine(target="wage"))
    with pytest.raises(PolicyError, match="'lil' counts numbers"):
        refined(start, encoded, policy, Run(), Refine(loss="lil"))
    with pytest.raises(ParameterError, match="does not go with the loss 'sse'"):
        Refine(loss="sse", target="pay")


@settings(max_examples=40, deadline=None)
@given(table=mixed_tables(), k=st.integers(1, 4), seed=st.integers(0, 99))
def test_the_squared_error_is_the_one_by_definition(table: pa.Table, k: int, seed: int) -> None:
    encoded, run = encoded_of(table, 1.0), Run(seed)
    policy = Policy(quasi=list(table.column_names), models=[shoal.KAnonymity(k)])
    last = max(encoded.records // k - 1, 0)
    start = Partition.from_labels(np.minimum(np.arange(encoded.records) // k, last))
    if encoded.records < k:
        return
    found = refined(start, encoded, policy, run, Refine(loss="sse", moves=300, threads=1))
    points = Embedding.of(encoded).points.T
    whole = ((points - points.mean(axis=0)) ** 2).sum()

    def share(partition: Partition) -> float:
        classes = [points[partition.members(c)] for c in range(partition.classes)]
        error = sum(((members - members.mean(axis=0)) ** 2).sum() for members in classes)
        return float(error / whole) if whole > 0 else 0.0

    told = run.notes["refinement"]
    assert told["before"] == pytest.approx(share(start), abs=1e-9)
    assert told["after"] == pytest.approx(share(found), abs=1e-9)
    assert told["after"] <= told["before"]
    assert found.sizes.min() >= k


MODELS: list[list[Any]] = [
    [shoal.KAnonymity(2)],
    [shoal.KAnonymity(2), shoal.LDiversity(2)],
    [shoal.LDiversity(1.5, kind="entropy")],
    [shoal.LDiversity(2, kind="recursive", c=3)],
    [shoal.KAnonymity(2), shoal.TCloseness(0.4)],
    [shoal.KAnonymity(2), shoal.AlphaK(0.8, 2)],
    [shoal.KAnonymity(2), shoal.BetaLikeness(2.0)],
    [shoal.KAnonymity(2), shoal.DeltaDisclosure(1.5)],
]


@settings(max_examples=40, deadline=None)
@given(table=random_tables(), models=st.sampled_from(MODELS), seed=st.integers(0, 9))
def test_every_class_keeps_every_promise(table: pa.Table, models: list[Any], seed: int) -> None:
    policy = Policy(
        quasi={"age": "numeric", "job": "categorical", "town": shoal.Hierarchy.prefix()},
        sensitive=["disease"],
        models=models,
        suppression=0.5,
    ).resolved(table)
    encoded = encode(table, policy)
    try:
        start = shoal.partition(encoded, policy, algorithm="mondrian")
    except shoal.ShoalError:
        return
    found = refined(start, encoded, policy, Run(seed), FEW)
    assert failures(class_statistics(encoded, found), policy) == []
    costs = oracle_table(encoded.codes, encoded.space())
    assert plain_loss(costs, found) <= plain_loss(costs, start)


@settings(max_examples=40, deadline=None)
@given(table=random_tables(max_records=40), models=st.sampled_from(MODELS))
def test_dividing_keeps_every_promise_that_held(table: pa.Table, models: list[Any]) -> None:
    policy = Policy(
        quasi=["age", "job", "town"], sensitive=["disease"], models=models, suppression=0.5
    ).resolved(table)
    encoded, whole = encode(table, policy), Partition.single(table.num_rows)
    if failures(class_statistics(encoded, whole), policy):
        return
    search = make_search(whole, encoded, policy, FEW)
    divided = whole.relabelled(search.classes.label)
    assert failures(class_statistics(encoded, divided), policy) == []
    assert (divided.labels >= 0).all()
    assert search.total == search.costs.loss_of(divided) <= search.before


def least_loss(costs: OracleTable, k: int) -> int:
    """Return the least loss of any partition into classes of k records or more."""

    def best(left: tuple[int, ...]) -> float:
        if not left:
            return 0
        found = float("inf")
        for chosen in range(1 << (len(left) - 1)):
            others = left[1:]
            members = [left[0], *(r for at, r in enumerate(others) if chosen >> at & 1)]
            if len(members) >= k and len(left) - len(members) not in range(1, k):
                rest = tuple(r for at, r in enumerate(others) if not chosen >> at & 1)
                found = min(found, len(members) * costs.cost(members) + best(rest))
        return found

    return int(best(tuple(range(len(costs.rows)))))


def test_small_tables_reach_the_best_partition_nearly_always() -> None:
    rng, reached, tried = np.random.default_rng(5), 0, 20
    for seed in range(tried):
        table = pa.table(
            {"age": rng.integers(20, 60, 7).tolist(), "job": rng.choice(list("abc"), 7).tolist()}
        )
        policy = Policy(quasi=["age", "job"], models=[shoal.KAnonymity(2)], suppression=1.0).resolved(table)
        encoded = encode(table, policy)
        found = refined(any_start(encoded, 2, seed), encoded, policy, Run(seed), FEW)
        costs = oracle_table(encoded.codes[found.labels >= 0], encoded.space())
        kept = Partition.from_labels(found.labels[found.labels >= 0])
        assert plain_loss(costs, kept) >= least_loss(costs, 2)
        reached += plain_loss(costs, kept) == least_loss(costs, 2)
    assert reached >= 0.8 * tried


def people(n: int, seed: int = 1) -> pa.Table:
    rng = np.random.default_rng(seed)
    return pa.table(
        {
            "age": rng.integers(18, 90, n).tolist(),
            "job": rng.choice([f"job {i}" for i in range(12)], n).tolist(),
            "sex": rng.choice(["f", "m"], n).tolist(),
        }
    )


def policy_for(table: pa.Table, k: int = 3) -> Policy:
    return Policy(quasi=["age", "job", "sex"], models=[shoal.KAnonymity(k)]).resolved(table)


def labels_of(table: pa.Table, refine: Refine, k: int = 3, seed: int = 4) -> tuple[list[int], dict[str, Any]]:
    policy = policy_for(table, k)
    encoded, run = encode(table, policy), Run(seed)
    start = shoal.partition(encoded, policy, algorithm="mondrian")
    return refined(start, encoded, policy, run, refine).labels.tolist(), run.notes["refinement"]


def test_any_number_of_threads_makes_the_same_partition() -> None:
    table = people(9000)  # enough that the kernel with threads is used
    one, told = labels_of(table, Refine(moves=4000, threads=1))
    two, again = labels_of(table, Refine(moves=4000, threads=2))
    assert one == two
    assert told["after"] == again["after"] < 0.9 * told["before"]


def repeated(told: dict[str, Any]) -> Refine:
    """Return what makes a timed run again."""
    return Refine.create({**told["parameters"], "seconds": None, "moves": told["moves"]})


def test_the_moves_that_a_time_allowed_make_the_same_partition_again() -> None:
    table = people(600)
    timed, told = labels_of(table, Refine(seconds=0.2, threads=1))
    assert told["ended"] == "time"
    again, _ = labels_of(table, repeated(told))
    assert timed == again
    other, _ = labels_of(table, repeated(told), seed=5)
    assert timed != other


def test_more_moves_lose_less() -> None:
    table = people(600)
    _, none = labels_of(table, Refine(moves=0, threads=1))
    assert none["moves"] == 0
    assert none["after"] < none["before"], "classes of 2k records are cut even so"
    losses = [labels_of(table, Refine(moves=moves, threads=1))[1]["after"] for moves in (500, 5000, 50_000)]
    assert losses == sorted(losses, reverse=True)
    assert losses[-1] < losses[0] < none["after"]


class Interrupting(Progress):
    """Presses Ctrl-C at the third step of refining."""

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Stage]:
        yield self if name.startswith("refining") else super()  # type: ignore[misc]

    def __init__(self) -> None:
        self.steps = 0

    def advance(self, steps: int = 1) -> None:
        self.steps += 1
        if self.steps == 3:
            raise KeyboardInterrupt


def test_interrupted_it_releases_the_best_so_far() -> None:
    table = people(600)
    policy = policy_for(table)
    encoded, run = encode(table, policy), Run(1, Interrupting())
    start = shoal.partition(encoded, policy, algorithm="mondrian")
    found = refined(start, encoded, policy, run, Refine(threads=1))
    told = run.notes["refinement"]
    assert told["ended"] == "interrupted"
    assert 0 < told["moves"] < 40 * 600
    assert told["after"] < told["before"]
    assert found.sizes.min() >= 3


@pytest.mark.parametrize("loss", ["gcp", "sse"])
def test_one_ctrl_c_at_any_moment_leaves_a_valid_partition(loss: str) -> None:
    rng = np.random.default_rng(3)
    table = pa.table({"age": rng.integers(18, 90, 600).tolist(), "pay": rng.integers(0, 999, 600).tolist()})
    policy = Policy(quasi=["age", "pay"], models=[shoal.KAnonymity(3)]).resolved(table)
    encoded = encode(table, policy)
    start = shoal.partition(encoded, policy, algorithm="mondrian")
    wanted = Refine(loss=loss, seconds=60, threads=1)
    refined(start, encoded, policy, Run(), Refine(loss=loss, moves=10, threads=1))  # compiles
    for wait in (0.005, 0.02, 0.06, 0.2):
        run = Run(1)
        press = threading.Timer(wait, lambda: os.kill(os.getpid(), signal.SIGINT))
        with interruptible():  # listens from the beginning, however late the timer finds the processor
            press.start()
            found = refined(start, encoded, policy, run, wanted)
            press.join()
        told = run.notes["refinement"]
        assert told["ended"].startswith("interrupted")
        assert found.sizes.min() >= 3
        assert told["after"] <= told["before"]


def test_what_refine_means() -> None:
    assert Refine.of(None) is None
    assert Refine.of(False) is None
    assert Refine.of(True) == Refine()
    assert Refine.of("30s") == Refine.of(30) == Refine.of("0.5m") == Refine(seconds=30)
    assert Refine.of("1 h") == Refine(seconds=3600)
    assert Refine.of(FEW) is FEW
    for wrong in ("soon", "30 days", "", b"30s", []):
        with pytest.raises(ParameterError, match="refine"):
            Refine.of(wrong)
    with pytest.raises(ParameterError, match="seconds"):
        Refine.of("0s")
    with pytest.raises(ParameterError, match="loss"):
        Refine(loss="nothing")
