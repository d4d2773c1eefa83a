"""Frames: any library's table comes in as the same Arrow table and goes out as what it was."""

from __future__ import annotations

import datetime as dt
import subprocess
import sys
from decimal import Decimal
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from shoal.encoding import encode
from shoal.errors import DataError
from shoal.table import Table

PEOPLE: dict[str, list[Any]] = {
    "age": [30, 41, None, 30],
    "height": [1.5, None, 1.75, 1.5],
    "city": ["Lund", None, "", "Ystad"],
    "born": [dt.date(1990, 1, 2), None, dt.date(1980, 1, 1), dt.date(1990, 1, 2)],
    "seen": [dt.datetime(2024, 1, 1, 10), None, dt.datetime(2024, 1, 1, 9), dt.datetime(2024, 1, 1, 10)],
    "well": [True, False, None, True],
    "paid": [Decimal("1.50"), None, Decimal("-2.00"), Decimal("1.50")],
}


def frames(columns: dict[str, list[Any]]) -> dict[str, Any]:
    table = pa.table(columns)
    nullable = table.to_pandas(types_mapper=pd.ArrowDtype)
    return {
        "dict": columns,
        "pyarrow": table,
        "batch": table.to_batches()[0],
        "pandas": table.to_pandas(),
        "pandas-arrow": nullable,
        "pandas-object": pd.DataFrame({name: pd.Series(v, dtype=object) for name, v in columns.items()}),
        "polars": pl.DataFrame(columns),
    }


@pytest.mark.parametrize("kind", frames(PEOPLE))
def test_every_frame_holds_the_same_records(kind: str) -> None:
    table = Table.from_any(frames(PEOPLE)[kind])
    assert table.data.column_names == list(PEOPLE)
    assert {name: table.data.column(name).to_pylist() for name in PEOPLE} == PEOPLE


@pytest.mark.parametrize("kind", frames(PEOPLE))
def test_every_frame_has_the_same_codes(kind: str) -> None:
    policy = shoal.Policy(quasi=list(PEOPLE))
    expected = encode(Table.from_any(frames(PEOPLE)["pyarrow"]).data, policy)
    encoded = encode(Table.from_any(frames(PEOPLE)[kind]).data, policy)
    assert encoded.codes.tolist() == expected.codes.tolist()
    assert [c.kind for c in encoded.quasi] == [c.kind for c in expected.quasi]
    assert [c.values.to_pylist() for c in encoded.quasi] == [c.values.to_pylist() for c in expected.quasi]


@settings(max_examples=30, deadline=None)
@given(
    st.integers(1, 6).flatmap(
        lambda n: st.fixed_dictionaries(
            {
                "i": st.lists(st.none() | st.integers(-9, 9), min_size=n, max_size=n),
                "f": st.lists(st.none() | st.sampled_from([0.0, -0.0, 1.5]), min_size=n, max_size=n),
                "t": st.lists(st.none() | st.sampled_from(["", "a", "ü"]), min_size=n, max_size=n),
            }
        )
    )
)
def test_random_frames_have_the_same_codes(columns: dict[str, list[Any]]) -> None:
    policy = shoal.Policy(quasi={"i": "numeric", "f": "numeric", "t": "categorical"})
    all_codes = [
        encode(Table.from_any(frame).data, policy).codes.tolist() for frame in frames(columns).values()
    ]
    assert all(codes == all_codes[0] for codes in all_codes)


@pytest.mark.parametrize("kind", frames(PEOPLE))
def test_the_same_kind_comes_back(kind: str) -> None:
    frame = frames(PEOPLE)[kind]
    table = Table.from_any(frame)
    back = table.give_back(table.data)
    assert type(back) is type(frame)
    assert Table.from_any(back).data.equals(table.data)


# --- pandas ---


def test_the_pandas_index_follows_its_records() -> None:
    index = pd.MultiIndex.from_tuples([("x", 1), ("x", 2), ("y", 1)], names=["ward", "bed"])
    frame = pd.DataFrame({"a": [10, 20, 30], 7: ["p", "q", "r"]}, index=index)
    table = Table.from_any(frame)
    assert table.data.column_names == ["a", "7"]
    back = table.give_back(table.data.take([2, 0]), np.array([2, 0]))
    pd.testing.assert_frame_equal(back, frame.iloc[[2, 0]])
    pd.testing.assert_frame_equal(table.give_back(table.data), frame)


def test_records_from_nowhere_get_a_fresh_index() -> None:
    table = Table.from_any(pd.DataFrame({"a": [1, 2]}, index=[8, 9]))
    assert table.give_back(pa.table({"a": [5, 6, 7]})).index.tolist() == [0, 1, 2]


def test_pandas_types_come_back() -> None:
    frame = pd.DataFrame(
        {
            "Int": pd.array([2**60 + 1, None], "Int64"),
            "Float": pd.array([1.5, None], "Float64"),
            "Bool": pd.array([True, None], "boolean"),
            "Text": pd.array(["a", None], "string"),
            "arrow": pd.array([1, None], "int16[pyarrow]"),
            "zoned": pd.to_datetime(["2024-01-01", None]).tz_localize("Europe/Stockholm"),
            "category": pd.Categorical(["b", None], ["b", "a", "c"], ordered=True),
            "i32": np.array([1, 2], "int32"),
            "f32": np.array([1, np.nan], "float32"),
        }
    )
    table = Table.from_any(frame)
    back = table.give_back(table.data)
    pd.testing.assert_frame_equal(back, frame)
    changed = table.data.set_column(0, "Int", pa.array(["[1, 2]", "*"]))
    assert table.give_back(changed)["Int"].tolist() == ["[1, 2]", "*"]


def test_categories_that_are_intervals_or_periods_become_texts() -> None:
    frame = pd.DataFrame(
        {
            "cut": pd.cut([1, 5, 9], [0, 4, 8, 12]),
            "month": pd.period_range("2024-01", periods=3, freq="M"),
            "mixed": pd.Categorical([1, "a", 1]),
            "sparse": pd.arrays.SparseArray([0, 0, 1]),
            "interval": pd.interval_range(0, 3),
        }
    )
    data = Table.from_any(frame).data
    assert data["cut"].to_pylist() == ["(0, 4]", "(4, 8]", "(8, 12]"]
    assert data["cut"].type.ordered
    assert data["month"].to_pylist() == ["2024-01", "2024-02", "2024-03"]
    assert data["mixed"].to_pylist() == ["1", "a", "1"]
    assert data["sparse"].to_pylist() == [0, 0, 1]
    assert data["interval"].to_pylist()[0] == "(0, 1]"
    table = Table.from_any(frame)
    assert table.give_back(table.data)["month"].tolist() == ["2024-01", "2024-02", "2024-03"]


def test_every_missing_value_is_the_same_null() -> None:
    frame = pd.DataFrame(
        {
            "object": pd.Series(["a", None, float("nan"), pd.NA, pd.NaT], dtype=object),
            "numbers": pd.Series([1.5, None, float("nan"), pd.NA, pd.NaT], dtype=object),
            "mixed": pd.Series([1, "a", float("nan"), pd.NA, None], dtype=object),
        }
    )
    data = Table.from_any(frame).data
    assert data["object"].to_pylist() == ["a", None, None, None, None]
    assert data["numbers"].to_pylist() == [1.5, None, None, None, None]
    assert data["mixed"].to_pylist() == ["1", "a", None, None, None]
    assert Table.from_any(pl.DataFrame({"f": [1.0, float("nan")]})).data["f"].null_count == 1


@pytest.mark.parametrize("make", [lambda columns: columns, pd.DataFrame])
def test_mixed_hashables_become_texts(make: Any) -> None:
    columns = {
        "mixed": [1, "a", None, 2.5],
        "tuples": [(1, 2), (1, 2), None, (3,)],
        "sets": [frozenset("abcdef"), frozenset("fedcba"), frozenset(), None],
        "days": [dt.date(2024, 1, 1), dt.datetime(2024, 1, 1, 9), None, None],
        "huge": [2**70, 1, None, None],
        "flags": [True, 1, None, 1.0],
    }
    data = Table.from_any(make({k: pd.Series(v, dtype=object) for k, v in columns.items()})).data
    assert data["mixed"].to_pylist() == ["1", "a", None, "2.5"]
    assert data["tuples"].to_pylist() == ["(1, 2)", "(1, 2)", None, "(3)"]
    assert data["sets"].to_pylist() == ["{a, b, c, d, e, f}"] * 2 + ["{}", None]
    assert data["days"].to_pylist() == ["2024-01-01", "2024-01-01 09:00:00", None, None]
    assert data["huge"].to_pylist() == [str(2**70), "1", None, None]
    assert data["flags"].to_pylist() == ["True", "1", None, "1.0"]


def test_nested_columns_stay_as_they_are() -> None:
    for frame in (
        pd.DataFrame({"a": [1, 2], "l": [[1], [2, 3]], "d": [{"x": 1}, None]}),
        pl.DataFrame({"a": [1, 2], "l": [[1], [2, 3]], "d": [{"x": 1}, None]}),
    ):
        data = Table.from_any(frame).data
        assert data["l"].to_pylist() == [[1], [2, 3]]
        assert data["d"].to_pylist() == [{"x": 1}, None]
        with pytest.raises(DataError, match="'d'"):
            encode(data, shoal.Policy(quasi=["d"]))
        policy = shoal.Policy(quasi=["l"]).resolved(data)
        assert encode(data, policy).quasi[0].values.to_pylist() == ["1", "2|3"]  # a set


# --- polars ---


def test_polars_enums_are_ordered_and_categoricals_are_not() -> None:
    frame = pl.DataFrame({"e": ["low", "high", None], "c": ["y", "x", None]}).with_columns(
        pl.col("e").cast(pl.Enum(["low", "middle", "high"])), pl.col("c").cast(pl.Categorical)
    )
    table = Table.from_any(frame)
    assert table.data["e"].type.ordered
    assert not table.data["c"].type.ordered
    encoded = encode(table.data, shoal.Policy(quasi=["e", "c"]))
    assert encoded.codes.tolist() == [[0, 1], [1, 0], [2, 2]]
    back = table.give_back(table.data)
    assert back.equals(frame)
    assert back.schema == frame.schema


def test_lazy_frames_are_collected() -> None:
    back = Table.from_any(pl.LazyFrame({"a": [1]}))
    assert back.data.to_pydict() == {"a": [1]}
    assert isinstance(back.give_back(back.data), pl.DataFrame)


# --- Arrow ---


def test_arrow_types_are_made_plain() -> None:
    dictionary = pa.DictionaryArray.from_arrays(pa.array([0, 1, 2], pa.int8()), pa.array(["b", None, "b"]))
    table = pa.table(
        {
            "view": pa.array(["a", None, "b"], pa.string_view()),
            "large": pa.array(["a", None, "b"], pa.large_string()),
            "half": pa.array([np.float16(1), None, np.float16("nan")], pa.float16()),
            "date64": pa.array([dt.date(2024, 1, 1), None, None], pa.date64()),
            "runs": pa.RunEndEncodedArray.from_arrays([2, 3], ["x", None]),
            "small": pa.array([Decimal("1.5"), None, None], pa.decimal32(4, 1)),
            "dictionary": dictionary,
            "__index_level_0__": [5, 6, 7],
        }
    )
    data = Table.from_any(table).data
    assert [str(kind) for kind in data.schema.types] == [
        "string",
        "string",
        "float",
        "date32[day]",
        "string",
        "decimal128(4, 1)",
        "dictionary<values=string, indices=int32, ordered=0>",
    ]
    assert data["half"].to_pylist() == [1.0, None, None]
    assert data["runs"].to_pylist() == ["x", "x", None]
    assert data["dictionary"].to_pylist() == ["b", None, "b"]
    assert data["dictionary"].chunk(0).dictionary.to_pylist() == ["b"]


def test_chunks_with_different_dictionaries_are_unified() -> None:
    chunks = [pa.array(values).dictionary_encode() for values in (["b", "a"], ["c", "b", None])]
    data = Table.from_any(pa.table({"c": pa.chunked_array(chunks)})).data
    assert data["c"].to_pylist() == ["b", "a", "c", "b", None]
    assert all(chunk.dictionary.to_pylist() == ["b", "a", "c"] for chunk in data["c"].chunks)


def test_metadata_does_not_travel() -> None:
    frame = pd.DataFrame({"a": [1]}, index=pd.Index([777], name="id"))
    data = Table.from_any(pa.Table.from_pandas(frame)).data
    assert data.schema.metadata is None


def test_anything_with_an_arrow_stream_is_a_table() -> None:
    class Foreign:
        def __arrow_c_stream__(self, requested_schema: object = None) -> object:
            return pa.table({"a": [1, 2]}).__arrow_c_stream__(requested_schema)

    assert Table.from_any(Foreign()).data.to_pydict() == {"a": [1, 2]}
    reader = pa.table({"a": [1, 2]}).to_reader()
    assert Table.from_any(reader).data.to_pydict() == {"a": [1, 2]}


def test_tables_without_records_or_columns() -> None:
    for frame in (pd.DataFrame({"a": []}), pl.DataFrame({"a": []}), pa.table({"a": []}), {"a": []}):
        table = Table.from_any(frame)
        assert table.data.num_rows == 0
        assert type(table.give_back(table.data)) is type(frame)
    batch = pa.RecordBatch.from_pylist([], schema=pa.schema({"d": pa.date32()}))
    table = Table.from_any(batch)
    assert table.give_back(table.data).equals(batch)
    assert Table.from_any(pd.DataFrame(index=[1, 2])).data.num_columns == 0


# --- refusals ---


@pytest.mark.parametrize(
    ("frame", "words"),
    [
        (None, "NoneType"),
        ([1, 2], "list"),
        ("people.csv", "shoal.io.read"),
        (pd.Series([1]), "to_frame"),
        (pl.Series([1]), "to_frame"),
        ({"a": {0: 5, 1: 6}}, "column .a. is not a list of values"),
        ({"a": {5, 6}}, "column .a. is not a list of values"),
        (pa.array([1]), "not a table"),
        (pa.chunked_array([[1]]), "not a table"),
        ({"a": 5}, "'a'"),
        ({"a": "text"}, "'a'"),
        ({"a": [1], "b": [1, 2]}, "length"),
        (pd.DataFrame([[1, 2]], columns=["a", "a"]), "'a'"),
        (pd.DataFrame([[1, 2]], columns=["1", 1]), "'1'"),
        (pa.table([[1], [2]], names=["a", "a"]), "'a'"),
        (pd.DataFrame([[1, 2]], columns=[["x", "x"], ["a", "b"]]), "several levels"),
        (pd.DataFrame({"a": [{"SECRET"}, {"x"}]}), "'a'"),
        (pd.DataFrame({"a": [["SECRET"], "x"]}), "'a'"),
        ({"a": [["SECRET"], 5]}, "'a'"),
        (pd.DataFrame({"a": pd.to_timedelta([1, 2])}), "'a'.*spans of time"),
        (pl.DataFrame({"a": [dt.timedelta(1)]}), "'a'.*spans of time"),
        (pl.DataFrame({"a": pl.Series([1], dtype=pl.Int128)}), "'a'"),
        (pl.DataFrame({"a": pl.Series([object()], dtype=pl.Object)}), "'a'"),
    ],
)
def test_what_is_no_table_is_refused(frame: Any, words: str) -> None:
    with pytest.raises(DataError, match=words) as caught:
        Table.from_any(frame)
    assert "SECRET" not in str(caught.value)
    assert caught.value.__context__ is None


def test_a_table_shows_no_cells() -> None:
    table = Table.from_any(pd.DataFrame({"a": ["SECRET"]}, index=["HIDDEN"]))
    shown = repr(table) + repr(table.origin) + str(table)
    assert "SECRET" not in shown
    assert "HIDDEN" not in shown


def test_a_table_is_a_table() -> None:
    table = Table.from_any({"a": [1]})
    assert Table.from_any(table) is table


def test_frame_libraries_are_imported_only_for_their_own_frames() -> None:
    code = (
        "import sys, shoal.table, shoal.io, shoal.encoding;"
        "print(*({'pandas', 'polars'} & set(sys.modules)));"
        "import pandas as pd; t = shoal.table.Table.from_any(pd.DataFrame({'a': [1]})); t.give_back(t.data);"
        "print('polars' in sys.modules)"
    )
    found = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert found.stdout == "\nFalse\n"


def test_long_numbers_beside_nulls_come_back_whole() -> None:
    table = Table.from_any(pd.DataFrame({"a": pd.Series([2**60 + 1, None], dtype=object)}))
    for kind, name in ((pa.int64(), "Int64"), (pa.uint64(), "UInt64"), (pa.int8(), "Int8")):
        back = table.give_back(
            pa.table({"a": pa.array([None, 2 ** (60 if kind.bit_width == 64 else 5)], kind)})
        )
        assert back["a"].dtype == name
    assert table.give_back(table.data)["a"].iloc[0] == 2**60 + 1
