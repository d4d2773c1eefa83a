"""Encoding: codes are ranks, null is one code, and nothing depends on how the column is stored."""

from __future__ import annotations

import datetime as dt
import itertools
import time
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracle import encoding as oracle
from shoal.encoding import dictionary, encode, numbers_of
from shoal.errors import DataError, PolicyError
from shoal.inference import complete_from, infer_kind
from shoal.schema import Column, Kind

UTC = dt.UTC
TYPES: dict[str, tuple[pa.DataType, st.SearchStrategy[Any]]] = {
    "int": (pa.int64(), st.integers(-3, 3) | st.sampled_from([2**63 - 1, -(2**63)])),
    "uint8": (pa.uint8(), st.integers(0, 5)),
    "float": (pa.float64(), st.sampled_from([0.0, -0.0, 1.5, -2.0, float("nan"), 1e300])),
    "float32": (pa.float32(), st.sampled_from([0.0, -0.0, 1.5, float("nan")])),
    "bool": (pa.bool_(), st.booleans()),
    "text": (pa.string(), st.sampled_from(["", "a", "B", "ü", "10", "9", "*"])),
    "large_text": (pa.large_string(), st.sampled_from(["", "a", "B"])),
    "decimal": (pa.decimal128(5, 2), st.sampled_from([Decimal("1.50"), Decimal("-2.00"), Decimal("0.00")])),
    "date": (pa.date32(), st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 4))),
    "date64": (pa.date64(), st.dates(dt.date(2020, 1, 1), dt.date(2020, 1, 4))),
    "moment": (pa.timestamp("us"), st.sampled_from([dt.datetime(1960, 1, 1, 1), dt.datetime(2020, 1, 1)])),
    "zoned": (
        pa.timestamp("us", "UTC"),
        st.sampled_from([dt.datetime(1960, 1, 1, tzinfo=UTC), dt.datetime(2020, 1, 1, tzinfo=UTC)]),
    ),
    "time": (pa.time64("us"), st.sampled_from([dt.time(1), dt.time(2, 30)])),
    "null": (pa.null(), st.none()),
}


@st.composite
def columns(draw: st.DrawFn) -> tuple[pa.DataType, list[Any]]:
    arrow, values = TYPES[draw(st.sampled_from(sorted(TYPES)))]
    return arrow, draw(st.lists(st.none() | values, max_size=12))


def stored(arrow: pa.DataType, values: list[Any], *cuts: int) -> pa.ChunkedArray:
    bounds = [0, *sorted(cut for cut in cuts if cut <= len(values)), len(values)]
    chunks = [pa.array(values[a:b], arrow) for a, b in itertools.pairwise(bounds)]
    return pa.chunked_array(chunks, arrow)


def spec_of(column: pa.ChunkedArray) -> Column:
    return complete_from(Column("c"), column)


@settings(max_examples=200, deadline=None)
@given(columns())
def test_codes_are_ranks_among_the_distinct_values(drawn: tuple[pa.DataType, list[Any]]) -> None:
    column = stored(*drawn)
    codes, values = dictionary(column, spec_of(column))
    expected, ranked = oracle.encode(drawn[1])
    assert codes.dtype == np.int32
    assert codes.tolist() == expected
    assert values.to_pylist() == ranked
    assert values.null_count == 0


@settings(max_examples=100, deadline=None)
@given(columns(), st.integers(0, 12), st.integers(0, 12), st.booleans())
def test_chunks_and_dictionaries_change_nothing(
    drawn: tuple[pa.DataType, list[Any]], first: int, second: int, categories: bool
) -> None:
    whole = stored(*drawn)
    cut = stored(*drawn, first, second)
    if categories and not pa.types.is_null(drawn[0]):
        cut = pa.chunked_array(
            [chunk.dictionary_encode() for chunk in cut.chunks], pa.dictionary(pa.int32(), drawn[0])
        )
    spec = spec_of(whole)
    codes, values = dictionary(cut, spec)
    assert codes.tolist() == dictionary(whole, spec)[0].tolist()
    assert values.to_pylist() == dictionary(whole, spec)[1].to_pylist()


@settings(max_examples=100, deadline=None)
@given(columns(), st.randoms(use_true_random=False))
def test_the_order_of_records_changes_nothing(drawn: tuple[pa.DataType, list[Any]], random: Any) -> None:
    arrow, values = drawn
    order = list(range(len(values)))
    random.shuffle(order)
    shuffled = stored(arrow, [values[i] for i in order])
    codes, distinct = dictionary(stored(arrow, values), spec_of(shuffled))
    moved, same = dictionary(shuffled, spec_of(shuffled))
    assert moved.tolist() == codes[order].tolist()
    assert same.to_pylist() == distinct.to_pylist()


def test_dictionaries_with_nulls_repetitions_and_unused_categories() -> None:
    first = pa.DictionaryArray.from_arrays(pa.array([0, 1, None, 2, 3]), pa.array(["b", "a", None, "b"]))
    second = pa.DictionaryArray.from_arrays(pa.array([1, 1]), pa.array(["unused", "c"]))
    codes, values = dictionary(pa.chunked_array([first, second]), Column("c", kind=Kind.CATEGORICAL))
    assert values.to_pylist() == ["a", "b", "c"]
    assert codes.tolist() == [1, 0, 3, 3, 1, 2, 2]


def test_ordered_categories_keep_their_order() -> None:
    kind = pa.dictionary(pa.int8(), pa.string(), ordered=True)
    array = pa.DictionaryArray.from_arrays(
        pa.array([2, 0, None], pa.int8()), pa.array(["low", "middle", "high"]), ordered=True
    )
    column = pa.chunked_array([array], kind)
    data = pa.table({"c": column})
    for policy in (shoal.Policy(quasi=["c"]), shoal.Policy(quasi=["c"]).resolved(data)):
        encoded = encode(data, policy)
        assert encoded.quasi[0].values.to_pylist() == ["low", "high"]
        assert encoded.codes[:, 0].tolist() == [1, 0, 2]
        assert encoded.quasi[0].kind is Kind.ORDINAL
    assert spec_of(column).order == ("low", "middle", "high")


@pytest.mark.parametrize(
    ("order", "values", "expected"),
    [
        (("3", "1", "2"), [1, 2, 3, None], [1, 2, 0, 3]),
        ((3, 1, 2), [1, 2, 3, None], [1, 2, 0, 3]),
        ((3, 1, 2), [1.0, 2.0, 3.0, float("nan")], [1, 2, 0, 3]),
        (("3.0", "1.0", "2.0"), [1, 2, 3, None], [1, 2, 0, 3]),
        (("true", "false"), [True, False, None], [0, 1, 2]),
        (("low", "high", "top"), ["high", "low", "high"], [1, 0, 1]),
        (("1", "1.0"), ["1.0", "1"], [1, 0]),
    ],
)
def test_orders_may_be_texts_or_numbers(
    order: tuple[Any, ...], values: list[Any], expected: list[int]
) -> None:
    column = pa.chunked_array([pa.array(values, from_pandas=True)])
    spec = complete_from(Column("c", kind=Kind.ORDINAL, order=order), column)
    assert dictionary(column, spec)[0].tolist() == expected
    assert dictionary(column, Column("c", kind=Kind.ORDINAL, order=order))[0].tolist() == expected


def test_values_outside_the_order_are_counted_not_shown() -> None:
    spec = Column("c", kind=Kind.ORDINAL, order=("low", "high"))
    with pytest.raises(DataError, match="2 distinct values") as caught:
        dictionary(pa.chunked_array([["low", "SECRET", "MORE", "MORE"]]), spec)
    assert "SECRET" not in str(caught.value)


# --- a kind other than the type's own ---


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (["10", "9", " 9 ", None], [9, 10]),
        (["10", "9.5", "9.50"], [9.5, 10.0]),
        (["1e3", "-2", "+5", "05", ".5", "", "  "], [-2.0, 0.5, 5.0, 1000.0]),
        ([True, False], [0, 1]),
        ([Decimal("1.5"), Decimal("-1.0")], [Decimal("-1.0"), Decimal("1.5")]),
    ],
)
def test_texts_said_to_be_numeric_become_numbers(values: list[Any], expected: list[Any]) -> None:
    spec = Column("c", kind=Kind.NUMERIC)
    for column in (pa.array(values), pa.array(values).dictionary_encode()):
        codes, found = dictionary(pa.chunked_array([column]), spec)
        assert found.to_pylist() == expected
        numbers = numbers_of(found, spec)
        assert numbers is not None
        assert (np.diff(numbers) > 0).all()
        assert [c == len(expected) for c in codes] == [v is None or str(v).strip() == "" for v in values]


@pytest.mark.parametrize("value", ["1,5", "SECRET", "0x1F", "nan", "inf", "1 000", "1_000", "--1", "1e", "٣"])
def test_texts_that_are_no_numbers_are_refused(value: str) -> None:
    with pytest.raises(DataError, match=r"'c'.* 1 distinct value ") as caught:
        dictionary(pa.chunked_array([["1", value]]), Column("c", kind=Kind.NUMERIC))
    assert value not in str(caught.value).replace("with a point, clean", "")
    assert caught.value.__context__ is None


def test_texts_said_to_be_dates_become_dates() -> None:
    spec = Column("c", kind=Kind.DATE)
    codes, values = dictionary(pa.chunked_array([["2024-02-29", "2023-01-01", None, ""]]), spec)
    assert (codes.tolist(), values.type) == ([1, 0, 2, 2], pa.date32())
    assert dictionary(pa.chunked_array([["2024-02-29 10:00"]]), spec)[1].type == pa.timestamp("us")
    assert dictionary(pa.chunked_array([["2024-02-29T10:00Z"]]), spec)[1].type == pa.timestamp("us", "UTC")
    for wrong in (["29.02.2024"], ["2024-02-30"], ["2024-02-29", "SECRET"]):
        with pytest.raises(DataError, match="1 distinct value") as caught:
            dictionary(pa.chunked_array([wrong]), spec)
        assert wrong[-1] not in str(caught.value)


@pytest.mark.parametrize(
    ("values", "kind", "hint"),
    [
        ([1990, 2000], Kind.DATE, "numeric"),
        ([dt.date(2020, 1, 1)], Kind.NUMERIC, "date"),
        ([dt.time(1)], Kind.DATE, "categorical"),
    ],
)
def test_kinds_that_make_no_sense_are_refused(values: list[Any], kind: Kind, hint: str) -> None:
    with pytest.raises(DataError, match=hint):
        dictionary(pa.chunked_array([pa.array(values)]), Column("c", kind=kind))


def test_numbers_can_be_categories() -> None:
    data = pa.table({"c": [3, 1, None, 3]})
    column = encode(data, shoal.Policy(quasi={"c": "categorical"})).quasi[0]
    assert (column.values.to_pylist(), column.numbers, column.positions) == ([1, 3], None, None)
    column = encode(data, shoal.Policy(quasi={"c": "ordinal"})).quasi[0]
    assert column.numbers is not None
    assert column.numbers.tolist() == [0, 1]


@pytest.mark.parametrize("values", [[[[1]], [[2]]], [{"a": 1}], [b"x", b"y"]])
def test_values_that_cannot_be_compared_are_refused(values: list[Any]) -> None:
    data = pa.table({"c": values})
    for policy in (shoal.Policy(quasi=["c"]), shoal.Policy(quasi={"c": "numeric"})):
        with pytest.raises(DataError, match="'c'"):
            encode(data, policy)


def test_a_list_is_no_number() -> None:
    with pytest.raises(DataError, match="'c'"):
        encode(pa.table({"c": [[1], [2]]}), shoal.Policy(quasi={"c": "numeric"}))


# --- numbers and positions ---


def test_dates_are_days_and_moments_microseconds() -> None:
    spec = Column("c", kind=Kind.DATE)
    days = numbers_of(pa.array([dt.date(1970, 1, 2), dt.date(1969, 12, 31)]), spec)
    assert days is not None
    assert days.tolist() == [1, -1]
    for kind in (
        pa.timestamp("s"),
        pa.timestamp("ms"),
        pa.timestamp("us"),
        pa.timestamp("ns"),
        pa.timestamp("ns", "Asia/Tokyo"),
    ):
        moments = numbers_of(pa.array([dt.datetime(1970, 1, 1, 0, 0, 1)]).cast(kind), spec)
        assert moments is not None
        assert moments.tolist() == [1e6]
    fine = numbers_of(pa.array([1_000_000_001], pa.timestamp("ns")), spec)
    assert fine is not None
    assert fine.tolist() == [1e6]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=1, max_size=8))
def test_positions_ascend_from_0_to_1(values: list[float]) -> None:
    column = encode(pa.table({"c": values}), shoal.Policy(quasi=["c"])).quasi[0]
    assert column.positions is not None
    assert (np.diff(column.positions) >= 0).all()
    assert column.positions[0] == 0
    assert column.positions[-1] == (1 if column.size > 1 else 0)


def test_infinite_values_and_values_outside_the_domain_are_refused() -> None:
    with pytest.raises(DataError, match="infinite"):
        encode(pa.table({"c": [1.0, float("inf")]}), shoal.Policy(quasi=["c"]))
    narrow = shoal.Policy(quasi={"c": Column("c", domain=(0, 5))})
    with pytest.raises(DataError, match="1 distinct value"):
        encode(pa.table({"c": [1, 77]}), narrow)
    assert encode(pa.table({"c": [0, 5]}), narrow).quasi[0].positions is not None


# --- whole tables ---


def test_null_is_the_last_code_of_quasi_and_a_value_of_sensitive_columns() -> None:
    data = pa.table({"a": [2.0, None, float("nan"), 1.0], "s": ["y", None, "x", "y"]})
    encoded = encode(data, shoal.Policy(quasi=["a"], sensitive=["s"]))
    assert encoded.codes[:, 0].tolist() == [1, 2, 2, 0]
    assert encoded.quasi[0].has_null
    assert encoded.quasi[0].size == 2
    assert encoded.sensitive_codes[:, 0].tolist() == [1, 2, 0, 1]
    assert encoded.sensitive[0].values.to_pylist() == ["x", "y", None]
    assert encoded.sensitive[0].size == 3


def test_columns_of_nothing_but_nulls() -> None:
    for nulls in (pa.nulls(2), pa.nulls(2, pa.string()), pa.nulls(2, pa.float64())):
        encoded = encode(pa.table({"a": nulls, "s": nulls}), shoal.Policy(quasi=["a"], sensitive=["s"]))
        assert encoded.codes[:, 0].tolist() == [0, 0]
        assert encoded.quasi[0].size == 0
        assert encoded.sensitive[0].size == 1
    for kind in ("numeric", "date", "ordinal", "categorical"):
        assert encode(pa.table({"a": pa.nulls(2)}), shoal.Policy(quasi={"a": kind})).quasi[0].size == 0


def test_codes_are_column_contiguous() -> None:
    data = pa.table({"a": [1, 2], "b": [3, 3], "s": [1, 1]})
    encoded = encode(data, shoal.Policy(quasi=["a", "b"], sensitive=["s"]))
    assert encoded.codes.T.flags.c_contiguous
    assert encoded.sensitive_codes.T.flags.c_contiguous
    assert encoded.records == 2


def test_empty_tables_and_policies_without_quasi_identifiers_are_refused() -> None:
    with pytest.raises(DataError, match="no records"):
        encode(pa.table({"a": pa.array([], pa.int64())}), shoal.Policy(quasi=["a"]))
    with pytest.raises(PolicyError, match="no quasi-identifier"):
        encode(pa.table({"a": [1]}), shoal.Policy(sensitive=["a"]))


def test_kinds_follow_the_type() -> None:
    kinds = {
        Kind.NUMERIC: [pa.int8(), pa.uint64(), pa.float32(), pa.decimal128(5, 2)],
        Kind.DATE: [pa.date32(), pa.date64(), pa.timestamp("ns", "UTC")],
        Kind.CATEGORICAL: [pa.string(), pa.bool_(), pa.null(), pa.dictionary(pa.int8(), pa.int64())],
        Kind.ORDINAL: [pa.dictionary(pa.int8(), pa.string(), ordered=True)],
    }
    for kind, types in kinds.items():
        assert {infer_kind(pa.chunked_array([], arrow)) for arrow in types} == {kind}


def test_a_million_records_are_encoded_without_a_python_loop() -> None:
    rng = np.random.default_rng(0)
    n = 1_000_000
    words = np.array(["red", "green", "blue", "black"])
    data = pa.table(
        {
            **{f"i{j}": rng.integers(0, 100 * 10**j, n) for j in range(4)},
            **{f"t{j}": words[rng.integers(0, 4, n)] for j in range(2)},
            "f": rng.normal(size=n),
        }
    )
    begin = time.process_time()
    encoded = encode(data, shoal.Policy(quasi=data.column_names))
    assert time.process_time() - begin < 8
    assert encoded.codes.shape == (n, 7)
