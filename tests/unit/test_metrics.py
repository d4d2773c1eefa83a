"""Metrics: small examples worked out by hand, what is refused, the registry and the reference page."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import shoal
from shoal import registry
from shoal.encoding import Encoded, encode
from shoal.errors import DataError, ParameterError, PolicyError, UnknownName
from shoal.metrics.class_sizes import Discernibility, NormalisedAverageClass
from shoal.metrics.covers import Covers
from shoal.metrics.diversity import ClassificationMetric, EqualDiversity, SensitiveDiversity
from shoal.metrics.measure import measure

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "metrics.md"
TOWNS = {"north": ["Kiel", "Bremen"], "south": ["Ulm", "Passau"]}


def policy(**options: Any) -> shoal.Policy:
    quasi = {"age": "numeric", "job": "categorical", "town": shoal.Hierarchy.from_dict(TOWNS)}
    return shoal.Policy(
        **{"quasi": quasi, "sensitive": ["disease"], "models": [shoal.KAnonymity(2)], **options}
    )


def table() -> pa.Table:
    return pa.table(
        {
            "age": [20, 30, 40, 60, 60],
            "job": ["cook", "nurse", "smith", "smith", "clerk"],
            "town": ["Kiel", "Bremen", "Ulm", "Kiel", "Ulm"],
            "disease": ["flu", "flu", "flu", "gout", "gout"],
        }
    )


def measured(labels: list[int], *names: Any, **options: Any) -> dict[str, Any]:
    chosen = policy(**options)
    partition = shoal.Partition.from_labels(np.array(labels))
    return measure(encode(table(), chosen), partition, chosen, names or None)


def test_loss_worked_out_by_hand() -> None:
    found = measured([0, 0, 1, 1, -1])
    assert found["ncp"] == pytest.approx(
        {
            "age": (2 * 10 / 40 + 2 * 20 / 40 + 1) / 5,
            "job": (2 * 1 / 3 + 0 + 1) / 5,
            "town": (2 * 1 / 3 + 2 * 1 + 1) / 5,
        }
    )
    assert found["gcp"] == pytest.approx(sum(found["ncp"].values()) / 3)
    assert found["il"] == pytest.approx(2 * (0.25 + 1 + 0.5) + 2 * (0.5 + 0 + 1) + 3)
    assert found["precision"] == pytest.approx(1 - (2 * (1 + 1 + 0.5) + 2 * (1 + 0 + 1) + 3) / 15)


def test_counts_worked_out_by_hand() -> None:
    found = measured([0, 0, 1, 1, -1])
    assert found["dm"] == 4 + 4 + 5
    assert found["dm-star"] == 8
    assert found["cavg"] == found["cavg-achieved"] == 1
    assert found["aecs"] == 5 / 3
    assert found["cm"] == {"disease": (1 + 1) / 5}
    assert found["ed"] == {"disease": 2}
    assert found["suppressed"] == 0.2


def test_information_worked_out_by_hand() -> None:
    found = measured([0, 0, 1, 1, 1])
    # job: {cook, nurse} twice and {smith, clerk} three times, smith occurring twice
    rebuilt = {"cook": 1 / 5, "nurse": 1 / 5, "smith": 1.5 / 5, "clerk": 1.5 / 5}
    original = {"cook": 1 / 5, "nurse": 1 / 5, "smith": 2 / 5, "clerk": 1 / 5}
    expected = sum(p * np.log2(p / rebuilt[job]) for job, p in original.items())
    assert found["kl"]["job"] == pytest.approx(expected)


def test_a_value_its_hierarchy_does_not_know_loses_all() -> None:
    chosen = policy(quasi={"town": shoal.Hierarchy.from_dict({"south": ["Ulm"]})}, unknown_values="root")
    partition = shoal.Partition.from_labels(np.array([0, 0, 1, 0, 1]))
    found = measure(encode(table(), chosen), partition, chosen)
    assert found["gcp"] == found["il-normalised"] == pytest.approx(3 / 5)
    assert found["precision"] == pytest.approx(2 / 5)


def test_a_declared_domain_is_the_range() -> None:
    age = shoal.Column("age", kind=shoal.Kind.NUMERIC, domain=(0, 100))
    assert measured([0, 0, 1, 1, 1], "gcp", quasi={"age": age})["gcp"] == pytest.approx(
        (2 * 0.1 + 3 * 0.2) / 5
    )


def test_squared_error_needs_no_numbers_of_leaves_that_do_not_occur() -> None:
    ages = shoal.Hierarchy.from_rows([[str(age), "*"] for age in (20, 30, 40, 50, 60)])
    age = shoal.Column("age", kind=shoal.Kind.NUMERIC, hierarchy=ages)
    found = measured([0, 0, 1, 1, 1], "sse", "sst", "il-sse", quasi={"age": age})
    within = 2 * 5**2 + (40 - 160 / 3) ** 2 + 2 * (60 - 160 / 3) ** 2
    total = sum((value - 42) ** 2 for value in (20, 30, 40, 60, 60))
    assert found == pytest.approx({"sse": 5 * within / total, "sst": 5, "il-sse": 100 * within / total})


def test_cavg_takes_the_greatest_k_of_the_policy() -> None:
    models = [shoal.KAnonymity(2), shoal.PSensitive(p=1, k=3)]
    assert measured([0, 0, 0, 1, 1], "cavg", models=models)["cavg"] == pytest.approx(2.5 / 3)
    assert measured([0, 0, 0, 1, 1], NormalisedAverageClass(k=5))["cavg"] == pytest.approx(0.5)


def test_a_quasi_identifier_can_be_the_label() -> None:
    assert measured([0, 0, 1, 1, 1], ClassificationMetric(label="job"))["cm"] == pytest.approx(2 / 5)


def test_sensitive_diversity_counts_named_values() -> None:
    assert measured([0, 0, 1, 2, 2], SensitiveDiversity(values=("gout",)))["sd"] == {"disease": 2}
    assert measured([0, 0, 1, 2, 2], SensitiveDiversity(values="flu", column="disease"))["sd"] == 3


@pytest.mark.parametrize(
    ("names", "error", "message"),
    [
        (["gpc"], UnknownName, "Did you mean 'gcp'?"),
        (["gcp", "gcp"], ParameterError, "'gcp' is asked for more than once"),
        (["gcp", Discernibility(), "dm"], ParameterError, "'dm' is asked for more than once"),
        (["sd"], PolicyError, "It needs a sensitive column and the values that are truly sensitive."),
        (["p-tc"], PolicyError, "It needs a sensitive column, and a t"),
        ([ClassificationMetric(label="jov")], UnknownName, "Did you mean 'job'?"),
        ([EqualDiversity(column="desease")], UnknownName, "Did you mean 'disease'?"),
        ([EqualDiversity(column="job")], UnknownName, "there is no sensitive column 'job'"),
        ([SensitiveDiversity(values=("HIV", "AIDS"))], DataError, "none of the 2 values"),
    ],
)
def test_refusals_say_what_to_do(names: list[Any], error: type[Exception], message: str) -> None:
    with pytest.raises(error, match=re.escape(message)) as caught:
        measured([0, 0, 1, 1, 1], *names)
    assert "HIV" not in str(caught.value)


def test_metrics_without_a_meaning_are_left_out() -> None:
    found = measured([0, 0, 1, 1, 1], quasi=["job"], sensitive=[], models=[])
    assert not {"cavg", "p-ka", "p-tc", "cm", "ed", "sd", "sse", "sst", "il-sse"} & set(found)
    assert "cavg-achieved" not in measured([-1, -1, -1, -1, -1])


def test_known_covers_are_used() -> None:
    chosen = policy()
    encoded = encode(table(), chosen)
    partition = shoal.Partition.from_labels(np.array([0, 0, 1, 1, 1]))
    other = shoal.Partition.from_labels(np.array([0, 1, 1, 1, 0]))
    found = measure(encoded, partition, chosen, ["gcp"], Covers(encoded, partition))
    assert found == measure(encoded, partition, chosen, ["gcp"])
    assert found != measure(encoded, partition, chosen, ["gcp"], Covers(encoded, other))


def test_threads_give_the_same_hulls() -> None:
    from shoal.kernels.hulls import class_hulls, class_hulls_parallel

    rng = np.random.default_rng(0)
    for classes in (1, 3, 200):
        codes = rng.integers(0, [[3], [50], [4]], size=(3, 1000)).astype(np.int32)
        size = np.array([2, 50, 4], dtype=np.int32)
        partition = shoal.Partition.from_labels(rng.integers(-1, classes, 1000))
        arguments = (codes, size, partition.order, partition.offsets)
        assert (class_hulls(*arguments) == class_hulls_parallel(*arguments)).all()


def test_measured_shows_no_data() -> None:
    from shoal.metrics.base import Measured

    chosen = policy()
    encoded: Encoded = encode(table(), chosen)
    partition = shoal.Partition.single(5)
    assert "gout" not in repr(Measured(encoded, partition, Covers(encoded, partition), chosen))


@pytest.mark.parametrize("name", registry.names("metrics"))
def test_the_registry_and_the_reference_page_agree(name: str) -> None:
    metric = registry.get("metrics", name)
    assert metric.name == name
    assert metric.summary
    assert metric.low < metric.high
    row = f"| `{name}` | `{metric.formula}` | {metric.range_words()} | {metric.better} |"
    assert PAGE.read_text("utf-8").count(row) == 1


@pytest.mark.parametrize("numbers", [[5e-324, 0.0], [1e300, -1e300], [2.0**63, 2.0**63 + 4096.0]])
def test_numbers_of_any_size_are_measured(numbers: list[float]) -> None:
    """Squares of such numbers vanish or overflow."""
    small = shoal.anonymize({"x": [0.0, 0.0, 1.0, 1.0]}, mean_policy(), algorithm="mondrian").metrics
    found = shoal.anonymize({"x": np.repeat(numbers, 2)}, mean_policy(), algorithm="mondrian").metrics
    assert (found["il-sse"], found["dld"]) == (small["il-sse"], small["dld"])


def test_whole_numbers_that_are_one_float_are_measured() -> None:
    table = {"x": pa.array([2**63 + i for i in range(4)], pa.uint64())}
    assert shoal.anonymize(table, mean_policy(), algorithm="mondrian").metrics["il-sse"] == 0.0


def mean_policy() -> shoal.Policy:
    return shoal.Policy(quasi={"x": shoal.Column("x", form="mean")}, models=[shoal.KAnonymity(2)])
