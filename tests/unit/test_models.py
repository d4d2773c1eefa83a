"""What privacy models refuse, how they combine, and what they say."""

from __future__ import annotations

import datetime as dt
import math
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import shoal
from shoal import registry
from shoal.encoding import encode
from shoal.errors import ParameterError, PolicyError, ShoalError
from shoal.kernels import stats as kernel
from shoal.models.compile import compile_rules
from shoal.models.feasibility import feasible
from shoal.models.statistics import class_statistics
from shoal.partitions import Partition

TABLE = pa.table(
    {
        "age": [20, 21, 22, 60, 61, 62, 63, None],
        "ill": ["flu", "flu", "hiv", "flu", "cold", None, "hiv", "flu"],
        "pay": [1, 2, 2, 3, 4, 5, None, 1],
    }
)


def encoded_with(*models, sensitive=("ill",), quasi=("age",), table=TABLE):
    policy = shoal.Policy(quasi=quasi, sensitive=sensitive, models=models).resolved(table)
    return encode(table, policy), policy


def verdicts(model, labels, column="ill", **options):
    """Whether each class of a partition keeps a model."""
    encoded, _ = encoded_with(model, **options)
    statistics = class_statistics(encoded, Partition.from_labels(np.array(labels)))
    return model.holds(statistics, encoded.sensitive_index(column) if model.per_column else -1).tolist()


@pytest.mark.parametrize(
    ("make", "words"),
    [
        (lambda: shoal.LDiversity(0), "at least 1"),
        (lambda: shoal.LDiversity(2.5), "whole number"),
        (lambda: shoal.LDiversity(2, kind="recursive"), "needs 'c'"),
        (lambda: shoal.LDiversity(2, c=3), "only when kind is 'recursive'"),
        (lambda: shoal.LDiversity(2, kind="other"), "one of"),
        (lambda: shoal.TCloseness(1.5), "between 0 and 1"),
        (lambda: shoal.PSensitive(6, 5), "at most k"),
        (lambda: shoal.AlphaK(0, 5), "above 0"),
        (lambda: shoal.BetaLikeness(0), "above 0"),
        (lambda: shoal.DeltaDisclosure(-1), "above 0"),
        (lambda: shoal.DeltaPresence(0.6, 0.5, population="x.csv"), "must not be above"),
        (lambda: shoal.KMap(5, population=7), "a table, or the path"),
        (lambda: shoal.KMap(5, population=""), "a table, or the path"),
    ],
)
def test_impossible_parameters_are_refused(make, words):
    with pytest.raises(ParameterError, match=words):
        make()


@pytest.mark.parametrize("name", registry.names("models"))
def test_every_model_tells_what_it_is(name):
    model = registry.get("models", name)
    page = Path(__file__).parents[2] / "docs" / "reference" / "models.md"
    assert f"`{model.__name__}(" in page.read_text(encoding="utf-8")
    assert model.name == name
    assert model.summary
    assert model.reference
    assert model.way_out.endswith(".")
    assert "References" in model.__doc__


@pytest.mark.parametrize(
    ("model", "shown"),
    [
        (shoal.LDiversity(2), "l-diversity(l=2)"),
        (
            shoal.LDiversity(2.5, kind="entropy", columns="ill"),
            "l-diversity(columns=[ill], l=2.5, kind=entropy)",
        ),
        (shoal.TCloseness(0.3), "t-closeness(t=0.3)"),
        (shoal.KMap(5, population=TABLE), "k-map(population=<table>, k=5)"),
    ],
)
def test_models_show_their_parameters_and_no_cells(model, shown):
    assert str(model) == shown
    assert "flu" not in repr(model)


def test_an_order_and_a_hierarchy_are_insisted_on():
    encoded, policy = encoded_with(shoal.TCloseness(0.3, distance="ordered"))
    with pytest.raises(PolicyError, match=r"'ill' lacks.*kind 'ordinal'"):
        policy.compile(encoded)
    encoded, policy = encoded_with(shoal.TCloseness(0.3, distance="hierarchical"))
    with pytest.raises(PolicyError, match="needs a hierarchy for column 'ill'"):
        policy.compile(encoded)


def test_listed_values_that_occur_nowhere_are_refused_without_naming_them():
    encoded, policy = encoded_with(shoal.AlphaK(0.5, 2, values=["HIV"]))
    with pytest.raises(PolicyError, match="none of the 1 'values'") as caught:
        policy.compile(encoded)
    assert "HIV" not in str(caught.value)


def test_several_models_on_one_column_combine_to_the_stricter():
    encoded, policy = encoded_with(
        shoal.KAnonymity(3),
        shoal.LDiversity(2),
        shoal.LDiversity(3),
        shoal.LDiversity(2, kind="recursive", c=4),
        shoal.LDiversity(3, kind="recursive", c=5),
        shoal.TCloseness(0.5),
        shoal.TCloseness(0.2),
        shoal.AlphaK(0.5, 2),
        shoal.AlphaK(0.6, 2),
    )
    rules = policy.compile(encoded)
    assert rules.min_distinct.tolist() == [3]
    assert rules.recursive_l.tolist() == [3]
    assert rules.recursive_c[0] == pytest.approx(4, rel=0.02)
    assert rules.t_equal[0] == pytest.approx(0.2 * 8, rel=0.02)
    assert rules.cap == pytest.approx([0.5] * 4, rel=0.1)
    assert rules.k >= 3
    assert not rules.plain


def test_size_alone_makes_plain_rules():
    encoded, policy = encoded_with(shoal.KAnonymity(3))
    rules = policy.compile(encoded)
    assert (rules.k, rules.plain) == (3, True)


@pytest.mark.parametrize(
    ("model", "least"),
    [
        (shoal.LDiversity(3), 3),
        (shoal.LDiversity(2.2, kind="entropy"), 3),
        (shoal.LDiversity(2, kind="recursive", c=0.5), 4),
        (shoal.LDiversity(2, kind="recursive", c=1), 3),
        (shoal.AlphaK(0.3, 1), 4),
        (shoal.TCloseness(0.2), 3),  # shares 4/8, 2/8, 1/8, 1/8: two values leave 1/4 over
        (shoal.TCloseness(0.5), 1),
        (shoal.DeltaDisclosure(1), 4),
    ],
)
def test_the_least_class_size_follows_from_each_model(model, least):
    encoded, policy = encoded_with(model)
    assert policy.compile(encoded).k == least


def in_kernel(model, labels, **options):
    """Whether the kernel lets each class of a partition pass."""
    encoded, policy = encoded_with(model, **options)
    partition = Partition.from_labels(np.array(labels))
    rules = compile_rules(policy.models, encoded, partition.labels >= 0)
    stats, sensitive = kernel.make_stats(rules), encoded.flat_sensitive()
    return [
        bool(kernel.class_ok(rules, sensitive, partition.members(c), stats)) for c in range(partition.classes)
    ]


@pytest.mark.parametrize(
    ("model", "labels", "expected"),
    [
        # Ties that are common in practice are no loss: two of four, two equally frequent values.
        (shoal.AlphaK(0.5, 2), [0, 0, 1, 1, 0, 1, 1, 0], [False, True]),
        (shoal.AlphaK(0.5, 2), [0, 1, 0, 1, 1, 1, 0, 0], [True, True]),
        (shoal.LDiversity(2, kind="entropy"), [0, -1, 0, 1, 1, -1, -1, -1], [True, True]),
        (shoal.AlphaK(0.25, 1, values=["hiv"]), [0, 0, 0, 0, 1, 1, 1, 1], [True, True]),
    ],
)
def test_ties_hold(model, labels, expected):
    assert verdicts(model, labels) == expected
    assert in_kernel(model, labels) == expected


def test_a_value_too_rare_in_a_class_breaks_delta_disclosure():
    table = pa.table({"age": range(20), "ill": ["a"] * 9 + ["b"] + ["b"] * 9 + ["a"]})
    model = shoal.DeltaDisclosure(1, absent="ignore")  # ln 0.2 is below -1, ln 1.8 is not above 1
    labels = [0] * 10 + [1] * 10
    assert verdicts(model, labels, table=table) == in_kernel(model, labels, table=table) == [False, False]
    model = shoal.DeltaDisclosure(2, absent="ignore")
    assert verdicts(model, labels, table=table) == in_kernel(model, labels, table=table) == [True, True]


@pytest.mark.parametrize(("t", "expected"), [(0.5, [True, True]), (0.45, [False, False])])
def test_values_of_suppressed_records_alone_have_no_rank(t, expected):
    table = pa.table({"age": range(6), "pay": [1, 1, 2, 3, 4, 4]})
    model = shoal.TCloseness(t, distance="ordered")
    labels = [0, 0, -1, -1, 1, 1]
    assert verdicts(model, labels, "pay", table=table, sensitive=["pay"]) == expected
    assert in_kernel(model, labels, table=table, sensitive=["pay"]) == expected


def test_an_entropy_near_its_threshold_is_computed_again():
    counts = [300_001, 299_999, 300_000]
    codes = np.repeat(["a", "b", "c"], counts)
    table = pa.table({"age": np.zeros(len(codes), dtype=int), "ill": codes})
    encoded, policy = encoded_with(shoal.LDiversity(3, kind="entropy"), table=table)
    rules = policy.compile(encoded)
    stats = kernel.make_stats(rules)
    assert not kernel.class_ok(rules, encoded.flat_sensitive(), np.arange(len(codes)), stats)
    records = np.r_[0:299_999, 300_001:600_000, 600_000:899_999]
    assert kernel.class_ok(rules, encoded.flat_sensitive(), records, stats)


def test_a_class_without_a_value_of_the_table_breaks_delta_disclosure_unless_ignored():
    labels = [0, 0, 0, 0, 0, 0, 1, 1]
    assert verdicts(shoal.DeltaDisclosure(5), labels) == [True, False]
    assert verdicts(shoal.DeltaDisclosure(5, absent="ignore"), labels) == [True, True]


def test_suppressed_records_are_not_part_of_the_table():
    # Without the suppressed half both classes are distributed like what is left.
    labels = [0, -1, 0, 1, -1, -1, 1, -1]
    assert verdicts(shoal.TCloseness(0), labels) == [True, True]
    assert verdicts(shoal.DeltaDisclosure(0.01), labels) == [True, True]


def test_no_classes_break_nothing():
    encoded, policy = encoded_with(
        shoal.KAnonymity(2), shoal.TCloseness(0.1), shoal.LDiversity(3, kind="entropy")
    )
    statistics = class_statistics(encoded, Partition.from_labels(np.full(8, -1)))
    for model in policy.models:
        assert model.holds(statistics, 0).tolist() == []
    assert policy.compile(encoded, np.zeros(8, dtype=bool)).total == 0
    assert policy.models[0].achieved(statistics, -1) == math.inf
    assert policy.models[1].achieved(statistics, 0) == 0.0


@pytest.mark.parametrize(
    ("model", "words"),
    [
        (shoal.KAnonymity(9), "reaches 8. Lower k."),
        (shoal.LDiversity(5), "for 'ill' asks for 5"),
        (shoal.AlphaK(0.4, 2), "reaches 0.5. Raise alpha"),
        (shoal.PSensitive(5, 6), "Lower p or k"),
        (shoal.KMap(3, population={"age": [20, 21]}), "k-map"),
        (shoal.DeltaDisclosure(0.001, absent="fail"), None),
        (shoal.TCloseness(0), None),
    ],
)
def test_hopeless_promises_are_named_up_front(model, words):
    encoded, policy = encoded_with(model)
    found = feasible(policy.models, encoded)
    if words is None:
        assert found == []
    else:
        assert len(found) == 1
        assert words in found[0]
        assert not any(cell in found[0] for cell in ("flu", "hiv", "cold"))


def test_promises_that_only_together_are_too_much():
    encoded, policy = encoded_with(shoal.LDiversity(2, kind="recursive", c=0.11), shoal.KAnonymity(2))
    found = feasible(policy.models, encoded)
    assert len(found) == 1


POPULATION = pa.table({"age": [20, 20, 21, 40, 59, 60, 64, None, None]})


@pytest.mark.parametrize(
    ("column", "counts"),
    [
        ("numeric", [3, 9]),  # [20, 22], then a cell that mixes null with values and holds everything
        ("categorical", [3, 9]),
        (shoal.Column("age", form=shoal.Form.SET), [3, 9]),
        (shoal.Column("age", form=shoal.Form.MEAN), [3, 9]),
        (shoal.Hierarchy.intervals(widths=[50]), [4, 9]),  # [0, 49]
        (shoal.Hierarchy.prefix(), [3, 9]),  # 2*
        (shoal.Hierarchy.quantiles([2]), [6, 9]),  # [20, 60], from the table's values alone
    ],
)
def test_population_records_fit_the_published_cell(column, counts):
    model = shoal.KMap(1, population=POPULATION)
    encoded, _ = encoded_with(model, quasi={"age": column})
    statistics = class_statistics(encoded, Partition.from_labels(np.array([0, 0, 0, 1, 1, 1, 1, 1])))
    assert model.achieved_by_class(statistics, -1).tolist() == counts


@pytest.mark.parametrize(
    ("own", "theirs", "count"),
    [
        ([dt.date(2020, 1, 1), dt.date(2020, 12, 31)], [dt.date(2020, 6, 1), dt.date(2021, 6, 1)], 1),
        ([dt.date(2020, 1, 1), dt.date(2020, 12, 31)], [dt.datetime(2020, 6, 1)], 1),
        ([1.5, 3.0], [1, 2, 3, 4], 2),
        ([True, True], [True, False], 1),
        ([None, None], [None, 3], 1),
    ],
)
def test_population_values_of_other_types_compare(own, theirs, count):
    table = pa.table({"age": own, "ill": ["a", "b"]})
    model = shoal.KMap(1, population={"age": theirs})
    encoded, _ = encoded_with(model, table=table)
    statistics = class_statistics(encoded, Partition.single(2))
    assert model.achieved_by_class(statistics, -1).tolist() == [count]


def test_the_root_of_moving_nodes_holds_everybody():
    model = shoal.KMap(1, population={"age": [1, 40, 99]})
    encoded, _ = encoded_with(model, quasi={"age": shoal.Hierarchy.quantiles([2])})
    statistics = class_statistics(encoded, Partition.from_labels(np.array([0, 1, 1, 1, 1, 1, 0, -1])))
    assert model.achieved_by_class(statistics, -1).tolist() == [3, 3]


def test_a_population_that_holds_no_dates_is_refused_without_quoting_it():
    table = pa.table({"age": [dt.date(2020, 1, 1)], "ill": ["a"]})
    with pytest.raises(ShoalError, match="'age' of the population holds no dates") as caught:
        verdicts(shoal.KMap(1, population={"age": ["soon"]}), [0], table=table)
    assert caught.value.__context__ is None


def test_ordinal_cells_hold_the_ranks_between():
    levels = pa.DictionaryArray.from_arrays([0, 2], pa.array(["low", "mid", "high", "top"]), ordered=True)
    table = pa.table({"age": levels, "ill": ["a", "b"]})
    model = shoal.KMap(1, population={"age": ["low", "mid", "high", "top", "unheard of"]})
    encoded, _ = encoded_with(model, table=table)
    statistics = class_statistics(encoded, Partition.single(2))
    assert model.achieved_by_class(statistics, -1).tolist() == [3]


def test_a_population_can_lie_in_a_file(tmp_path):
    path = tmp_path / "people.parquet"
    pq.write_table(POPULATION, path)
    model = shoal.KMap(3, population=path)
    assert model.to_dict() == {"population": str(path), "k": 3}
    assert verdicts(model, [0, 0, 0, 1, 1, 1, 1, 1]) == [True, True]
    assert model == shoal.KMap(3, population=str(path))


def test_a_population_without_the_columns_is_refused():
    with pytest.raises(ShoalError, match="the population table lacks 'age'"):
        verdicts(shoal.KMap(2, population={"years": [1]}), [0] * 8)


def test_models_with_a_population_compare_by_its_content():
    one = shoal.KMap(2, population={"age": [1, 2]})
    assert one == shoal.KMap(2, population={"age": [1, 2]})
    assert one != shoal.KMap(2, population={"age": [1, 3]})
