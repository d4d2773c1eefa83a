"""An audit says what a table gives away, and nothing of what is in it."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle import auditing as oracle
from shoal.auditing import Audit, audit_table
from shoal.errors import DataError, PolicyError, UnknownName

QUASI = ["age", "zip", "sex", "day"]

_ROW = st.fixed_dictionaries(
    {
        "age": st.none() | st.integers(0, 4),
        "zip": st.none() | st.sampled_from(["a", "b", "c"]),
        "sex": st.sampled_from(["f", "m"]),
        "day": st.none() | st.integers(0, 2),
        "illness": st.none() | st.sampled_from(["x", "y", "z"]),
        "cost": st.none() | st.integers(0, 6),
    }
)


def _table(rows: list[dict[str, Any]]) -> pa.Table:
    types = {"age": pa.int64(), "zip": pa.string(), "sex": pa.string(), "day": pa.int64()}
    types |= {"illness": pa.string(), "cost": pa.int64()}
    return pa.table({name: pa.array([row[name] for row in rows], kind) for name, kind in types.items()})


@settings(max_examples=150, deadline=None)
@given(st.lists(_ROW, min_size=1, max_size=40))
def test_equals_the_definitions(rows: list[dict[str, Any]]) -> None:
    found = audit_table(_table(rows), QUASI, ["illness", "cost"])
    sizes = [len(group) for group in oracle.classes(rows, QUASI)]
    assert (found.records, found.classes, found.smallest_class) == (len(rows), len(sizes), min(sizes))
    assert found.unique == sizes.count(1)
    assert found.small == sum(size for size in sizes if size < 5)
    for risk in found.sensitive:
        ordered = risk.column == "cost"
        assert (risk.certain, risk.certain_alone) == oracle.certain(rows, QUASI, risk.column)
        assert risk.l == oracle.distinct_l(rows, QUASI, risk.column)
        assert risk.t == pytest.approx(oracle.worst_t(rows, QUASI, risk.column, ordered=ordered))
        pairs = [chosen for chosen in oracle.column_sets(QUASI) if len(chosen) <= 2]
        assert risk.revealed == max(oracle.certain(rows, chosen, risk.column)[0] for chosen in pairs)
        if risk.revealed:
            assert oracle.certain(rows, risk.revealing, risk.column)[0] == risk.revealed


@settings(max_examples=100, deadline=None)
@given(st.lists(_ROW, min_size=1, max_size=40))
def test_column_sets_are_ranked_by_what_they_single_out(rows: list[dict[str, Any]]) -> None:
    found = audit_table(_table(rows), QUASI)
    expected = {chosen: oracle.singled_out(rows, chosen) for chosen in oracle.column_sets(QUASI)}
    assert [s.singled_out for s in found.identifying] == sorted(expected.values(), reverse=True)[:10]
    assert all(expected[s.columns] == s.singled_out for s in found.identifying)
    for threshold, smallest in found.smallest_sets:
        reaching = [chosen for chosen, count in expected.items() if count / len(rows) >= threshold]
        assert len(smallest.columns) == min(map(len, reaching))
        assert expected[smallest.columns] / len(rows) >= threshold


def test_null_is_a_value_of_its_own() -> None:
    table = pa.table({"age": pa.array([1.0, None, float("nan"), 2.0]), "s": ["x", "y", "y", "x"]})
    found = audit_table(table, ["age"], ["s"])
    assert (found.classes, found.unique, found.sensitive[0].certain) == (3, 2, 2)


def test_many_columns_are_searched_where_they_tell_most() -> None:
    columns: dict[str, list[int]] = {f"flat{i}": [0] * 50 for i in range(30)}
    table = pa.table({**columns, "id": list(range(50)), "half": [i // 2 for i in range(50)]})
    found = audit_table(table, table.column_names)
    assert len(found.searched) == 16
    assert {"id", "half"} <= set(found.searched)
    assert found.identifying[0].columns == ("id",)


def test_sorting_and_counting_agree_on_wide_dictionaries() -> None:
    n = 3000  # three columns of many values overflow the slots that counting takes
    rows = [{"a": i * 7919 % 2003, "b": i * 31 % 1501, "c": i % 997, "s": i % 7} for i in range(n)]
    table = pa.table({name: [row[name] for row in rows] for name in "abcs"})
    found = audit_table(table, list("abc"), ["s"])
    assert found.identifying[-1].singled_out == min(
        sorted((oracle.singled_out(rows, s) for s in oracle.column_sets("abc")), reverse=True)[:10]
    )
    assert found.sensitive[0].certain_alone == oracle.certain(rows, "abc", "s")[1]


def test_holds_no_cell_value() -> None:
    table = pa.table({"city": ["Secretville"] * 3 + ["Hideaway"], "illness": ["plague"] * 4})
    found = audit_table(table, ["city"], ["illness"])
    for text in (str(found), repr(found), json.dumps(found.to_dict())):
        assert not any(word in text for word in ("Secretville", "Hideaway", "plague"))


def test_to_dict_is_json() -> None:
    found = audit_table(pa.table({"a": [1, 2, 2]}), ["a"])
    assert isinstance(found, Audit)
    assert json.loads(json.dumps(found.to_dict()))["smallest_sets"][0] == {
        "threshold": 0.01,
        "columns": ["a"],
        "singled_out": 1,
        "share": pytest.approx(1 / 3),
    }


def test_wrong_input_is_refused() -> None:
    table = pa.table({"age": [1], "zip": [2]})
    with pytest.raises(UnknownName, match="agee") as refused:
        audit_table(table, ["agee"])
    assert refused.value.hint == "Did you mean 'age'?"
    with pytest.raises(PolicyError, match="quasi-identifier"):
        audit_table(table, [])
    with pytest.raises(DataError, match="no records"):
        audit_table(table.slice(0, 0), ["age"])
    with pytest.raises(DataError, match="several columns named 'age'"):
        audit_table(pa.Table.from_arrays([pa.array([1]), pa.array([2])], names=["age", "age"]), ["age"])
