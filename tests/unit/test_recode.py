"""Cells of every form, compared with the plain definition, and read back as verification does."""

from __future__ import annotations

import datetime
import hmac
import statistics
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracle import recoding as oracle
from shoal import api
from shoal.algorithms.mondrian import Mondrian
from shoal.encoding import encode
from shoal.errors import PolicyError
from shoal.partitions import Partition
from shoal.progress import Run
from shoal.recode import Published, publish
from shoal.schema import Action, Column, Form, Kind
from shoal.verification.cells import read_cell

TOWNS = ["Lund", "*", "a, b", "[1, 2]", '"q', "", "{x}", " y", "null", "Å\n", None]
GRADES = ("low", "mid", "high, very")
JOBS = {"care": {"nurse": {}, "doctor": {}}, "*": {}, "craft": {"smith": {}, "cook": {}}}
LEAVES = {"nurse": "care", "doctor": "care", "*": None, "smith": "craft", "cook": "craft"}
DAY = datetime.date(2024, 3, 5)
KEY = b"a secret of sixteen bytes"


def published(data: pa.Table, labels: list[int], **policy: Any) -> Published:
    resolved = shoal.Policy(**policy).resolved(data)
    return publish(data, encode(data, resolved), Partition.from_labels(np.array(labels)), resolved, key=KEY)


def one_column(values: Any, labels: list[int], detail: Any, **policy: Any) -> list[Any]:
    made = published(pa.table({"x": values}), labels, quasi={"x": detail}, **policy)
    found: list[Any] = made.table["x"].to_pylist()
    return found


def classes_of(values: list[Any], labels: list[int]) -> list[list[Any]]:
    """Return, for every record, the values of its class."""
    return [[v for v, c in zip(values, labels, strict=True) if c == own] for own in labels]


def drawn(values: st.SearchStrategy[Any]) -> st.SearchStrategy[tuple[list[Any], list[int]]]:
    rows = st.lists(st.tuples(values, st.integers(0, 4)), min_size=1, max_size=25)
    return rows.map(lambda pairs: ([v for v, _ in pairs], [c for _, c in pairs]))


def unchanged(values: list[Any], labels: list[int]) -> bool:
    return all(len(set(members)) == 1 for members in classes_of(values, labels))


@settings(max_examples=60, deadline=None)
@given(drawn(st.one_of(st.none(), st.integers(-3, 30), st.sampled_from([1.5, 1e20]))))
def test_intervals_of_numbers(drawn: tuple[list[Any], list[int]]) -> None:
    values, labels = drawn
    typed = pa.array([None if v is None else float(v) for v in values], pa.float64())
    found = one_column(typed, labels, "numeric")
    if unchanged(values, labels):
        assert found == typed.to_pylist()
        return
    for cell, members in zip(found, classes_of(typed.to_pylist(), labels), strict=True):
        expected = oracle.general(members, float, interval=True)
        assert cell == (None if expected is None else expected.replace("100000000000000000000", "1e+20"))


@settings(max_examples=100, deadline=None)
@given(drawn(st.sampled_from(TOWNS)))
def test_value_sets_and_what_looks_like_one(drawn: tuple[list[Any], list[int]]) -> None:
    values, labels = drawn
    found = one_column(pa.array(values, pa.string()), labels, "categorical")
    for cell, members in zip(found, classes_of(values, labels), strict=True):
        assert cell == oracle.general(members, lambda v: v.encode(), interval=False)
        if cell is None:
            continue
        said = read_cell(cell)  # the reader of the verification shares no code with the writer
        if said.anything:
            assert None in members
        else:
            assert set(said.texts) == set(members)
            assert not said.interval


@settings(max_examples=40, deadline=None)
@given(drawn(st.sampled_from([*GRADES, None])))
def test_intervals_of_ranks(drawn: tuple[list[Any], list[int]]) -> None:
    values, labels = drawn
    found = one_column(pa.array(values, pa.string()), labels, Column("", kind=Kind.ORDINAL, order=GRADES))
    for cell, members in zip(found, classes_of(values, labels), strict=True):
        assert cell == oracle.general(members, GRADES.index, interval=True)


@settings(max_examples=60, deadline=None)
@given(drawn(st.sampled_from([*LEAVES, None])))
def test_nodes_of_a_hierarchy(drawn: tuple[list[Any], list[int]]) -> None:
    values, labels = drawn
    found = one_column(pa.array(values, pa.string()), labels, shoal.Hierarchy.from_dict(JOBS))
    for cell, members in zip(found, classes_of(values, labels), strict=True):
        held = oracle.summary(members)
        if held is None or held is oracle.NOTHING or len(held) == 1:
            assert cell == oracle.general(members, str, interval=False)
        else:
            above = {LEAVES[value] for value in held}
            assert cell == (above.pop() if len(above) == 1 and None not in above else "*")


@settings(max_examples=60, deadline=None)
@given(drawn(st.one_of(st.none(), st.integers(0, 9))))
def test_one_number_for_a_class(drawn: tuple[list[Any], list[int]]) -> None:
    values, labels = drawn
    present = [v for v, c in zip(values, labels, strict=True) if v is not None]
    centres = {
        Form.MEAN: lambda m: pytest.approx(statistics.mean(m)),
        Form.MEDIAN: statistics.median,
        Form.MODE: lambda m: oracle.mode(m, present, int),
    }
    for form, centre in centres.items():
        found = one_column(pa.array(values, pa.int64()), labels, Column("", kind=Kind.NUMERIC, form=form))
        for cell, members in zip(found, classes_of(values, labels), strict=True):
            held = oracle.summary(members)
            assert cell == (None if held is None or held is oracle.NOTHING else centre(members))


@settings(max_examples=40, deadline=None)
@given(drawn(st.one_of(st.none(), st.integers(0, 90))))
def test_bounds_are_two_typed_columns(drawn: tuple[list[Any], list[int]]) -> None:
    values, labels = drawn
    days = [None if v is None else DAY + datetime.timedelta(days=v) for v in values]
    made = published(
        pa.table({"x": pa.array(days, pa.date32())}), labels, quasi={"x": Column("", form=Form.BOUNDS)}
    )
    assert made.table.column_names == ["x_min", "x_max"]
    assert made.table.schema.types == [pa.date32()] * 2
    pairs = zip(made.table["x_min"].to_pylist(), made.table["x_max"].to_pylist(), strict=True)
    for pair, members in zip(pairs, classes_of(days, labels), strict=True):
        held = oracle.summary(members)
        nothing = held is None or held is oracle.NOTHING
        assert pair == ((None, None) if nothing else (min(held), max(held)))


def test_dates_and_moments() -> None:
    days = pa.array([DAY, DAY + datetime.timedelta(days=3)], pa.date32())
    assert one_column(days, [0, 0], "date") == ["[2024-03-05, 2024-03-08]"] * 2
    assert one_column(days.cast(pa.timestamp("ns")), [0, 0], "date") == ["[2024-03-05, 2024-03-08]"] * 2
    moments = pa.array([datetime.datetime(2024, 3, 5, 7, 30), datetime.datetime(2024, 3, 5, 9)])
    assert one_column(moments, [0, 0], "date") == ["[2024-03-05T07:30:00, 2024-03-05T09:00:00]"] * 2
    mean = one_column(days, [0, 0], Column("", kind=Kind.DATE, form=Form.MEAN))
    assert mean == [DAY + datetime.timedelta(days=1)] * 2
    assert (
        one_column(moments, [0, 0], Column("", form=Form.MEDIAN))
        == [datetime.datetime(2024, 3, 5, 8, 15)] * 2
    )


def test_other_forms_of_a_column_with_a_hierarchy() -> None:
    ages = pa.array([34, 21, 25, 60])
    tree = shoal.Hierarchy.intervals(widths=[10, 50], start=0)
    labels = [0, 0, 1, 1]
    assert one_column(ages, labels, tree) == ["[0, 49]"] * 2 + ["*"] * 2
    assert one_column(ages, labels, Column("", hierarchy=tree, form=Form.INTERVAL)) == [
        "[21, 34]",
        "[21, 34]",
        "[25, 60]",
        "[25, 60]",
    ]
    assert one_column(ages, labels, Column("", hierarchy=tree, form=Form.MEAN)) == [27.5, 27.5, 42.5, 42.5]


def test_a_column_that_was_never_generalised_keeps_its_type() -> None:
    grade = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2]), pa.array(GRADES), ordered=True)
    data = pa.table({"age": pa.array([1, 1, 2], pa.int16()), "grade": grade, "town": ["a, b", "x", "y"]})
    made = published(data, [0, 1, -1], quasi=["age", "grade", "town"]).table
    assert made.to_pydict() == {"age": [1, 1], "grade": ["low", "mid"], "town": ["a, b", "x"]}
    assert made.schema.field("age").type == pa.int16()
    assert made.schema.field("grade").type.ordered
    # The dictionary of a file must not list what only suppressed records held.
    assert made["grade"].chunk(0).dictionary.to_pylist() == ["low", "mid"]


def test_the_categories_of_suppressed_records_do_not_stay_behind() -> None:
    data = pa.table({"age": [1, 1, 2], "disease": pa.array(["flu", "cold", "rare"]).dictionary_encode()})
    made = published(data, [0, 0, -1], quasi=["age"], sensitive=["disease"]).table
    assert made["disease"].chunk(0).dictionary.to_pylist() == ["flu", "cold"]


def test_values_unknown_to_a_hierarchy_are_published_as_its_root() -> None:
    data = pa.table({"job": ["nurse", "pilot", "diver"]})
    policy = {"quasi": {"job": shoal.Hierarchy.from_dict(JOBS)}, "unknown_values": "root"}
    assert published(data, [0, 1, 2], **policy).table["job"].to_pylist() == ["nurse", "*", "*"]


def test_suppressed_records_are_dropped_or_starred() -> None:
    data = pa.table({"age": [1, 2, 9], "town": ["a", "b", "c"], "n": [4, 4, 5], "flu": [True, False, True]})
    quasi = {"age": Column("", form=Form.BOUNDS), "town": "categorical", "n": Column("", form=Form.MEAN)}
    dropped = published(data, [0, 0, -1], quasi=quasi, sensitive=["flu"])
    assert dropped.rows.tolist() == [0, 1]
    assert dropped.table.column_names == ["age_min", "age_max", "town", "n", "flu"]
    starred = published(data, [-1, 0, 0], quasi=quasi, sensitive=["flu"], suppressed="star")
    assert starred.rows.tolist() == [0, 1, 2]
    assert starred.table.to_pylist()[0] == {
        "age_min": None,
        "age_max": None,
        "town": "*",
        "n": None,
        "flu": True,
    }
    assert starred.table.to_pylist()[1]["town"] == "{b, c}"


def test_all_records_suppressed() -> None:
    made = published(pa.table({"age": [1, 2], "flu": [True, True]}), [-1, -1], quasi=["age"])
    assert (made.table.num_rows, made.table.column_names) == (0, ["age", "flu"])


def test_identifiers() -> None:
    data = pa.table(
        {"id": [7, None, 7], "name": ["Ann", "Bob", "Cid"], "mail": ["a", "b", "c"], "age": [1, 1, 1]}
    )
    made = published(
        data, [0, 0, 0], identifiers={"id": "pseudonym", "name": "mask", "mail": "drop"}, quasi=["age"]
    ).table
    assert made.column_names == ["id", "name", "age"]
    expected = hmac.new(KEY, b"id\x007", "sha256").hexdigest()[:32]
    assert made["id"].to_pylist() == [expected, None, expected]
    assert made["name"].to_pylist() == ["***"] * 3


@pytest.mark.parametrize(("key", "sentence"), [(None, "there is no key"), (b"short", "has 5 bytes")])
def test_pseudonyms_need_a_key(key: bytes | None, sentence: str) -> None:
    data = pa.table({"id": [7], "age": [1]})
    policy = shoal.Policy(identifiers={"id": Column("", action=Action.PSEUDONYM)}, quasi=["age"]).resolved(
        data
    )
    with pytest.raises(PolicyError, match=sentence):
        publish(data, encode(data, policy), Partition.single(1), policy, key=key)


def test_bounds_never_hide_another_column() -> None:
    data = pa.table({"age": [1], "age_min": [2]})
    with pytest.raises(PolicyError, match="'age_min', a column already"):
        published(data, [0], quasi={"age": Column("", form=Form.BOUNDS)})


def test_numbers_may_be_published_as_sets() -> None:
    """Classes with the same ends hold different sets."""
    policy = shoal.Policy(quasi={"age": shoal.Column("age", form="set")}, models=[shoal.KAnonymity(3)])
    prepared = api.prepare({"age": [20, 21, 25, 20, 24, 25]}, policy)
    classes = Partition.from_labels(np.array([0, 0, 0, 1, 1, 1]))
    release = api.release_prepared(prepared, classes, Mondrian(), Run())
    assert release.table["age"] == ["{20, 21, 25}"] * 3 + ["{20, 24, 25}"] * 3
