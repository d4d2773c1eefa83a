"""Hierarchies: bound trees against their plain definition, and what is refused."""

from __future__ import annotations

import datetime as dt
import os
import pickle
import re
from collections import Counter
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from oracle.hierarchies import PlainTree, calendar, interval, masked, quantile_groups, without_repeats
from shoal import Hierarchy
from shoal.errors import HierarchyError, ShoalError, UnknownName
from shoal.hierarchies import Tree

RULES = [
    Hierarchy.intervals(widths=[5, 10, 20]),
    Hierarchy.intervals(widths=[0.5, 2.5], start=-1),
    Hierarchy.quantiles(groups=[8, 4, 2]),
    Hierarchy.prefix(),
    Hierarchy.prefix(keep=[3, 1], mask="x", length=6),
    Hierarchy.prefix(keep=2),
    Hierarchy.dates(),
    Hierarchy.dates(levels=("month", "year")),
]
TOWNS = Hierarchy.from_dict({"north": ["Kiel", "Bremen"], "south": {"hills": ["Ulm"], "Lindau": None}})


def paths(tree: Tree, leaves: Any) -> list[list[str]]:
    """Return the labels of each leaf from itself to the root, repetitions taken once."""
    return [without_repeats([tree.labels[node] for node in tree.nodes[:, leaf]]) for leaf in leaves]


def under(tree: Tree, node: int) -> list[int]:
    """Return the leaves under a node."""
    return [leaf for leaf in range(tree.leaves) if node in tree.nodes[:, leaf]]


def check_shape(tree: Tree) -> None:
    """Check what holds for every tree, by counting."""
    assert (tree.nodes[0] == np.arange(tree.leaves)).all()
    assert (tree.nodes[-1] == tree.root).all()
    assert set(tree.nodes.ravel()) == set(range(len(tree.labels)))
    for low, high in zip(tree.nodes, tree.nodes[1:], strict=False):
        assert (low != high).any(), "a level that only repeats is left out"
        assert len(set(zip(low.tolist(), high.tolist(), strict=True))) == len(set(low.tolist())), (
            "one parent each"
        )
    for node in range(len(tree.labels)):
        leaves = under(tree, node)
        assert leaves == list(range(leaves[0], leaves[-1] + 1)), "a node covers a run of leaves"
        assert tree.leaf_counts[node] == len(leaves)


# ---- explicit trees ----


@st.composite
def tree_rows(draw: st.DrawFn) -> list[list[str]]:
    """Draw rows of a tree in any order; some nodes repeat the label of their first child."""
    levels = draw(st.integers(1, 4))
    width = draw(st.integers(1, 9))
    labels = [f"v{i}" for i in range(width)]
    columns = [[*labels]]
    below = list(range(width))  # node of each leaf at the level below
    for level in range(1, levels + 1):
        count = len(set(below))
        parents = (
            [0] * count
            if level == levels
            else draw(st.lists(st.integers(0, 3), min_size=count, max_size=count))
        )
        dense = {parent: i for i, parent in enumerate(dict.fromkeys(parents))}
        nodes = [dense[parents[node]] for node in below]
        names = []
        for node in range(len(dense)):
            repeats = draw(st.booleans())
            names.append(
                labels[[dense[parent] for parent in parents].index(node)] if repeats else f"n{level}.{node}"
            )
        columns.append([names[node] for node in nodes])
        below, labels = nodes, names
    return draw(st.permutations([list(row) for row in zip(*columns, strict=True)]))


@settings(max_examples=150, deadline=None)
@given(rows=tree_rows(), data=st.data())
def test_tree_equals_its_plain_definition(rows: list[list[str]], data: st.DataObject) -> None:
    plain = PlainTree(rows)
    leaves = [row[0] for row in rows]
    tree, leaf_of = Hierarchy.from_rows(rows).bind(pa.array(leaves), "c", unknown="refuse")
    if len(rows) == 1 and len(set(rows[0])) == 1:
        assert tree.labels == (rows[0][0], "*"), "a lone leaf gets a root above it"
        return
    check_shape(tree)
    assert [tree.labels[leaf] for leaf in leaf_of] == leaves
    assert list(tree.labels[: tree.leaves]) == plain.leaves_under(plain.root), "depth first, in file order"
    expected = Counter((n[1], tuple(plain.leaves_under(n)), plain.height(n)) for n in plain.nodes())
    found = Counter(
        (label, tuple(tree.labels[leaf] for leaf in under(tree, node)), int(tree.heights[node]))
        for node, label in enumerate(tree.labels)
    )
    assert found == expected
    some = data.draw(st.sets(st.sampled_from(sorted(leaves)), min_size=1))
    codes = np.array([leaf_of[leaves.index(label)] for label in some])
    ancestor = int(tree.common_ancestors(codes.min(keepdims=True), codes.max(keepdims=True))[0])
    by_walk = plain.common_ancestor(some)
    assert tree.labels[ancestor] == by_walk[1]
    assert [tree.labels[leaf] for leaf in under(tree, ancestor)] == plain.leaves_under(by_walk)


def test_unbalanced_dict_has_its_real_heights() -> None:
    tree, leaf_of = TOWNS.bind(pa.array(["Lindau", "Ulm"]), "town", unknown="refuse")
    assert tree.labels[:4] == ("Kiel", "Bremen", "Ulm", "Lindau"), "leaves that do not occur are kept"
    assert leaf_of.tolist() == [3, 2]
    assert paths(tree, leaf_of) == [["Lindau", "south", "*"], ["Ulm", "hills", "south", "*"]]
    heights = dict(zip(tree.labels, tree.heights.tolist(), strict=True))
    assert heights == {
        "Kiel": 0,
        "Bremen": 0,
        "Ulm": 0,
        "Lindau": 0,
        "north": 1,
        "hills": 1,
        "south": 2,
        "*": 3,
    }


def test_dict_leaves_may_be_sets_tuples_none_or_empty() -> None:
    forms = [{"a": {"x", "y"}, "b": ("z",)}, {"a": {"x": None, "y": {}}, "b": frozenset({"z"})}]
    assert Hierarchy.from_dict(forms[0]) == Hierarchy.from_dict(forms[1])


def test_a_leaf_may_bear_the_name_of_the_node_above() -> None:
    tree, leaf_of = Hierarchy.from_rows([["Other", "Other", "*"], ["Armed", "Other", "*"]]).bind(
        pa.array(["Other"]), "job"
    )
    assert tree.leaf_counts[tree.nodes[1, leaf_of[0]]] == 2
    assert tree.nodes[1, leaf_of[0]] != tree.nodes[0, leaf_of[0]]


def test_duplicate_rows_with_the_same_path_are_one_leaf() -> None:
    assert Hierarchy.from_rows([["a", "*"], ["b", "*"], ["a", "*"]]) == Hierarchy.from_rows(
        [["a", "*"], ["b", "*"]]
    )


@pytest.mark.parametrize(
    ("labels", "values"),
    [
        (["34", "35"], pa.array([34, 35])),
        (["34.0", "35.0"], pa.array([34, 35], pa.int8())),
        (["34", "35"], pa.array([34.0, 35.0])),
        (["34.0", "35.0"], pa.array([34.0, 35.0])),
        (["0.5", "1e+20"], pa.array([0.5, 1e20])),
        (["34", "0.5"], pa.array([Decimal("34.00"), Decimal("0.50")])),
        (["true", "false"], pa.array([True, False])),
        (["True", "False"], pa.array([True, False])),
        (["2024-03-05", "1999-12-31"], pa.array([dt.date(2024, 3, 5), dt.date(1999, 12, 31)])),
        (["2024-03-05", "1999-12-31"], pa.array([dt.datetime(2024, 3, 5), dt.datetime(1999, 12, 31)])),
        (["2024-03-05 10:30:00", "2024-03-06"],
         pa.array([dt.datetime(2024, 3, 5, 10, 30), dt.datetime(2024, 3, 6)])),
        (["2024-03-05T10:30:00", "2024-03-06T00:00:00"],
         pa.array([dt.datetime(2024, 3, 5, 10, 30), dt.datetime(2024, 3, 6)])),
        ([34, 35], pa.array(["34", "35"])),
        ([34.0, 0.5], pa.array(["34", "0.5"])),
        ([True, 2], pa.array(["true", "2"])),
        ([dt.date(2024, 3, 5), 7], pa.array(["2024-03-05", "7"])),
        (["a", "b"], pa.array(["a", "b"]).dictionary_encode()),
        (["a", "b"], pa.chunked_array([["a"], ["b"]])),
        (["a", "b"], pa.array(["a", "b"], pa.string_view())),
    ],
)  # fmt: skip
def test_values_are_matched_by_their_text(labels: list[Any], values: pa.Array) -> None:
    _, leaf_of = Hierarchy.from_rows([[label, "*"] for label in labels]).bind(values, "c", unknown="refuse")
    assert leaf_of.tolist() == [0, 1]


def test_texts_are_never_read_as_numbers() -> None:
    assert Hierarchy.from_rows([["34", "*"], ["35", "*"]]).unknown_values(["34.0", "34"]) == ["34.0"]


# ---- what is refused ----

SECRET = "sensitive-cell"


@pytest.mark.parametrize(
    ("rows", "message"),
    [
        ([], "no rows"),
        ([[]], "row 1 has no columns"),
        ([["a", "*"], [SECRET]], "row 2 has 1 columns where row 1 has 2"),
        ([["a", "*"], SECRET], "row 2 is no list"),
        ([["a", "A", "*"], ["b", "A", "*"], [SECRET, " ", "*"]], "row 3 has an empty label"),
        ([["a", "A", "*"], [SECRET, None, "*"]], "row 2 has an empty label"),
        ([[float("nan"), "*"], [SECRET, "*"]], "row 1 has an empty label"),
        ([[SECRET, "A", "*"], ["b", "B", "*"], [SECRET, "B", "*"]],
         "row 3 puts a leaf under another parent than row 1"),
        ([["a", SECRET, "X", "*"], ["b", "B", "X", "*"], ["c", SECRET, "Y", "*"]],
         "row 3 puts a label of level 1 under another parent than row 1"),
        ([["a", "A", "X", "*"], [SECRET, "B", "X", "*"], [SECRET, "B", "Y", "*"]],
         "row 3 puts a label of level 1"),
        ([["a", "A", "*"], [SECRET, "A", SECRET]], "row 2 puts a label of level 1"),
        ([["a", "A", "x", "*"], [SECRET, "B", SECRET, "*"]], "row 2 has the same label at level 0"),
        ([["a", "*"], [{SECRET: 1}, "*"]], "row 2 holds a dict"),
        ([[float("nan"), "*"], ["b", "*"]], "row 1 has an empty label"),
    ],
)  # fmt: skip
def test_wrong_rows_are_refused_by_their_number(rows: list[Any], message: str) -> None:
    with pytest.raises(HierarchyError, match=re.escape(message)) as caught:
        Hierarchy.from_rows(rows)
    assert caught.value.hint
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("nested", "message"),
    [
        ({}, "no rows"),
        ([SECRET], "no dict"),
        ({"a": SECRET}, "holds a str"),
        ({"a": {"x": {SECRET}}, "b": {"x": {"q"}}}, "row 2 puts a label of level 1"),
        ({"a": [SECRET], "b": [SECRET]}, "row 2 puts a leaf"),
    ],
)
def test_wrong_dicts_are_refused(nested: Any, message: str) -> None:
    with pytest.raises(HierarchyError, match=message) as caught:
        Hierarchy.from_dict(nested)
    assert SECRET not in str(caught.value)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "no rows"),
        (b"\n\n", "no rows"),
        (b"a;A;*\nsensitive-cell\n", "row 2 has 1 columns where row 1 has 3"),
        (b"a;A;*\n\nb;A;*\n", "row 2 has 0 columns"),
        (b"a;A;*\nb;A;*\nsensitive-cell-\xe9;A;*\n", "row 3 is not UTF-8"),
        (b"a;;*\n", "row 1 has an empty label"),
        (b'a;A;*\n"' + b"x" * 200_000 + b'";A;*\n', "row 2 cannot be parsed"),
        ("a;A;*\n".encode("utf-16"), "row 1 is not UTF-8"),
    ],
)
def test_wrong_files_are_refused_by_name_and_row(tmp_path: Path, content: bytes, message: str) -> None:
    (tmp_path / "town.csv").write_bytes(content)
    with pytest.raises(HierarchyError, match=re.escape(message)) as caught:
        Hierarchy.read(tmp_path / "town.csv")
    assert "'town.csv'" in str(caught.value)
    assert SECRET not in str(caught.value)
    assert caught.value.__context__ is None, "the decoder's error would carry the whole file"


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(HierarchyError, match="cannot be read: no such file"):
        Hierarchy.read(tmp_path / "town.csv")
    with pytest.raises(HierarchyError, match="one character"):
        Hierarchy.read(tmp_path / "town.csv", delimiter="")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Hierarchy.intervals(widths=[5, 12]), "width 12 is no multiple of 5"),
        (lambda: Hierarchy.intervals(widths=[5, 5]), "no multiple"),
        (lambda: Hierarchy.intervals(widths=[]), "'widths'"),
        (lambda: Hierarchy.intervals(widths=[0]), "above 0"),
        (lambda: Hierarchy.intervals(widths=["5"]), "'widths'"),  # type: ignore[list-item]
        (lambda: Hierarchy.intervals(widths=[float("inf")]), "'widths'"),
        (lambda: Hierarchy.intervals(widths=[5], start=float("nan")), "'start'"),
        (lambda: Hierarchy.quantiles(groups=[4, 8]), "8 quantile groups do not nest in 4"),
        (lambda: Hierarchy.quantiles(groups=[10, 4]), "4 quantile groups do not nest in 10"),
        (lambda: Hierarchy.quantiles(groups=[2.5]), "whole numbers"),  # type: ignore[list-item]
        (lambda: Hierarchy.prefix(keep=0), "'keep'"),
        (lambda: Hierarchy.prefix(keep=[1, 3]), "'keep'"),
        (lambda: Hierarchy.prefix(keep=[]), "'keep'"),
        (lambda: Hierarchy.prefix(mask="**"), "'mask'"),
        (lambda: Hierarchy.prefix(length=0), "'length'"),
        (lambda: Hierarchy.dates(levels="day"), "must be a list"),
        (lambda: Hierarchy.dates(levels=[]), "must be a list"),
        (lambda: Hierarchy.dates(levels=["year", "month"]), "from fine to coarse"),
    ],
)
def test_rules_that_cannot_nest_are_refused(make: Any, message: str) -> None:
    with pytest.raises(HierarchyError, match=re.escape(message)):
        make()


def test_an_unknown_calendar_level_gets_the_nearest_name() -> None:
    with pytest.raises(UnknownName, match="Did you mean 'quarter'"):
        Hierarchy.dates(levels=["day", "quater"])


# ---- values a hierarchy does not know ----

UNKNOWN = [
    (TOWNS, pa.array(["Kiel", SECRET, "Rom"]), [SECRET, "Rom"]),
    (Hierarchy.intervals(widths=[5]), pa.array(["7", SECRET, "-2.5e1", "1e999"]), [SECRET, "1e999"]),
    (Hierarchy.intervals(widths=[5]), pa.array([1.5, float("inf")]), [float("inf")]),
    (Hierarchy.intervals(widths=[5]), pa.array([True]), [True]),
    (Hierarchy.quantiles(groups=[2]), pa.array(["7", SECRET]), [SECRET]),
    (Hierarchy.prefix(length=3), pa.array(["123", "1234"]), ["1234"]),
    (Hierarchy.dates(), pa.array(["2024-02-29", "2023-02-29", SECRET, "2024-13-01"]),
     ["2023-02-29", SECRET, "2024-13-01"]),
    (Hierarchy.dates(), pa.array([20240305]), [20240305]),
]  # fmt: skip


@pytest.mark.parametrize(("hierarchy", "values", "strangers"), UNKNOWN)
def test_unknown_values_are_counted_and_listed_only_on_request(
    hierarchy: Hierarchy, values: pa.Array, strangers: list[Any]
) -> None:
    with pytest.raises(
        HierarchyError, match=f" {len(strangers)} distinct value.* of column 'town'"
    ) as caught:
        hierarchy.bind(values, "town", unknown="refuse")
    text = str(caught.value) + repr(caught.value.__dict__)
    assert not any(str(value) in text for value in strangers if isinstance(value, str))
    assert "unknown_values" in caught.value.hint
    assert hierarchy.unknown_values([*values.to_pylist(), None, *values.to_pylist()]) == strangers


@pytest.mark.parametrize(("hierarchy", "values", "strangers"), UNKNOWN)
def test_unknown_values_can_go_to_the_root(
    hierarchy: Hierarchy, values: pa.Array, strangers: list[Any]
) -> None:
    tree, leaf_of = hierarchy.bind(values, "town", unknown="root")
    lost = [i for i, value in enumerate(values.to_pylist()) if value in strangers]
    last = tree.leaves - 1
    assert leaf_of[lost].tolist() == [last] * len(lost)
    assert (tree.nodes[:, last] == tree.root).all()
    assert tree.labels[tree.root] == "*"
    assert tree.leaf_counts[tree.root] == tree.leaves
    assert tree.node_losses()[tree.nodes[0, last]] == 1
    assert tree.heights[tree.root] == tree.heights.max()
    for leaf in range(tree.leaves):
        assert tree.common_ancestors(np.array([leaf]), np.array([last]))[0] == tree.root


def test_without_unknown_values_the_tree_is_the_same() -> None:
    known = pa.array(["Kiel", "Ulm"])
    refusing, sending = (TOWNS.bind(known, "town", unknown=unknown)[0] for unknown in ("refuse", "root"))
    assert refusing.labels == sending.labels
    assert (refusing.nodes == sending.nodes).all()


def test_a_named_root_is_never_published_for_what_lies_outside() -> None:
    tree, leaf_of = Hierarchy.from_dict({"Europe": ["DE", "FR"]}).bind(
        pa.array(["DE", "US"]), "land", unknown="root"
    )
    assert paths(tree, leaf_of) == [["DE", "Europe", "*"], ["*"]]


@pytest.mark.parametrize("hierarchy", [*RULES, TOWNS])
def test_a_column_without_values_binds(hierarchy: Hierarchy) -> None:
    tree, leaf_of = hierarchy.bind(pa.nulls(0, pa.string()), "c", unknown="refuse")
    assert len(leaf_of) == 0
    assert tree.leaves >= 1
    assert tree.node_losses().max() <= 1
    assert tree.node_height_losses().max() <= 1


# ---- rules ----


@settings(max_examples=100, deadline=None)
@given(
    st.sets(st.integers(-200, 200), min_size=1, max_size=30),
    st.integers(1, 30),
    st.lists(st.integers(2, 4), max_size=3),
    st.integers(-20, 20),
    st.sampled_from(["int", "tenths", "text"]),
)
def test_intervals_nest_and_hold_their_values(
    whole: set[int], width: int, factors: list[int], start: int, form: str
) -> None:
    scale = 10 if form == "tenths" else 1
    ascending = sorted(whole)
    numbers = [number / scale for number in ascending] if form == "tenths" else ascending
    values = pa.array([str(number) for number in numbers] if form == "text" else numbers)
    widths = [width]
    for factor in factors:
        widths.append(widths[-1] * factor)
    given_widths = [w / scale for w in widths] if form == "tenths" else widths
    hierarchy = Hierarchy.intervals(widths=given_widths, start=start / scale if form == "tenths" else start)
    tree, leaf_of = hierarchy.bind(values, "c", unknown="refuse")
    check_shape(tree)
    assert leaf_of.tolist() == list(range(len(ascending))), "leaves ascend"
    by_value = paths(tree, leaf_of)
    plain = all(Fraction(x, scale).denominator == 1 for x in (*ascending, *widths, start))
    for number, path in zip(ascending, by_value, strict=True):
        expected = [values[ascending.index(number)].as_py()]
        for w in widths:
            low, high = interval(Fraction(number, scale), Fraction(w, scale), Fraction(start, scale))
            closed = f"{low}" if w == 1 else f"[{low}, {high - 1}]"
            expected.append(closed if plain else f"[{short(low)}, {short(high)})")
        expected[0] = (
            str(int(expected[0])) if form != "text" and float(expected[0]).is_integer() else str(expected[0])
        )
        assert path == without_repeats([*expected, "*"])


def short(bound: Fraction) -> str:
    """Return a bound as text."""
    return str(int(bound)) if bound.denominator == 1 else str(float(bound))


def test_intervals_keep_great_integers_apart() -> None:
    edge = 2**63 - 1
    tree, _ = Hierarchy.intervals(widths=[2], start=-3).bind(pa.array([-(2**63), edge - 1, edge]), "c")
    assert [tree.labels[node] for node in tree.nodes[1]] == [
        f"[{-(2**63) - 1}, {-(2**63)}]",
        f"[{edge - 2}, {edge - 1}]",
        f"[{edge}, {edge + 1}]",
    ]


def test_a_value_just_below_a_bound_stays_below() -> None:
    tree, _ = Hierarchy.intervals(widths=[5]).bind(pa.array([24.999999999999, 25.0]), "c")
    assert [tree.labels[node] for node in tree.nodes[1]] == ["[20, 25)", "[25, 30)"]


def test_texts_of_numbers_are_ordered_as_numbers() -> None:
    tree, leaf_of = Hierarchy.intervals(widths=[10]).bind(pa.array(["+7", "100", "20", "3.", " 4 "]), "c")
    assert tree.labels[:5] == ("3.", " 4 ", "+7", "20", "100")
    assert leaf_of.tolist() == [2, 4, 3, 0, 1]


@settings(max_examples=80, deadline=None)
@given(
    st.sets(st.integers(-50, 50), min_size=1, max_size=40),
    st.integers(1, 4),
    st.lists(st.integers(2, 3), max_size=2),
)
def test_quantiles_deal_the_values_out_evenly(values: set[int], last: int, factors: list[int]) -> None:
    groups = [last]
    for factor in factors:
        groups.insert(0, groups[0] * factor)
    ascending = sorted(values)
    tree, leaf_of = Hierarchy.quantiles(groups=groups).bind(pa.array(ascending), "c", unknown="refuse")
    check_shape(tree)
    expected: list[list[str]] = [[str(value)] for value in ascending]
    for count in groups:
        for group in quantile_groups([float(v) for v in ascending], count):
            low, high = int(group[0]), int(group[-1])
            for value in group:
                label = f"{low}" if low == high else f"[{low}, {high}]"
                expected[ascending.index(int(value))].append(label)
    assert paths(tree, leaf_of) == [without_repeats([*path, "*"]) for path in expected]


def test_quantiles_of_dates() -> None:
    days = [dt.date(2024, 1, 1), dt.date(2024, 5, 1), dt.date(2025, 1, 1), dt.date(2025, 2, 1)]
    for values in (pa.array(days), pa.array([dt.datetime(d.year, d.month, d.day) for d in days])):
        tree, _ = Hierarchy.quantiles(groups=[2]).bind(values, "c")
        assert tree.labels[4] == "[2024-01-01, 2024-05-01]"


@settings(max_examples=100, deadline=None)
@given(
    st.sets(st.text("ab1é", min_size=1, max_size=5), min_size=1, max_size=25),
    st.one_of(st.none(), st.integers(1, 3), st.sampled_from([(3, 1), (2,), (9, 4)])),
    st.sampled_from([None, 5, 7]),
)
def test_prefixes_hide_from_the_right(texts: set[str], keep: Any, length: int | None) -> None:
    values = sorted(texts)
    tree, leaf_of = Hierarchy.prefix(keep=keep, mask="#", length=length).bind(
        pa.array(values), "c", unknown="refuse"
    )
    check_shape(tree)
    full = length or max(map(len, values))
    shown = [n for n in keep if n < full] if isinstance(keep, tuple) else range(full - 1, (keep or 1) - 1, -1)
    for value, path in zip(values, paths(tree, leaf_of), strict=True):
        assert path == without_repeats([value, *(masked(value, n, full, "#") for n in shown), "*"])


@pytest.mark.parametrize("values", [pa.array([2139, 47901]), pa.array([2139.0, 47901.0])])
def test_numbers_are_masked_as_if_their_leading_zeros_were_there(values: pa.Array) -> None:
    tree, leaf_of = Hierarchy.prefix(keep=3).bind(values, "zip", unknown="refuse")
    assert paths(tree, leaf_of) == [["2139", "0213*", "021**", "*"], ["47901", "4790*", "479**", "*"]]


def test_long_texts_need_a_list_of_prefixes() -> None:
    long = pa.array(["x" * 100, "y" * 99])
    with pytest.raises(HierarchyError, match=r"99 levels \(limit 64\)"):
        Hierarchy.prefix().bind(long, "c")
    assert Hierarchy.prefix(keep=[10, 1]).bind(long, "c")[0].levels == 4


def as_timestamps(days: list[dt.date]) -> pa.Array:
    return pa.array([dt.datetime(day.year, day.month, day.day) for day in days])


@settings(max_examples=80, deadline=None)
@given(
    st.sets(st.dates(dt.date(1000, 1, 1)), min_size=1, max_size=20),
    st.sets(st.sampled_from(["day", "month", "quarter", "year", "decade"]), min_size=1),
    st.sampled_from([pa.array, as_timestamps, lambda days: pa.array([day.isoformat() for day in days])]),
)
def test_dates_climb_the_calendar(days: set[dt.date], chosen: set[str], form: Any) -> None:
    levels = [name for name in ("day", "month", "quarter", "year", "decade") if name in chosen]
    ascending = sorted(days)
    tree, leaf_of = Hierarchy.dates(levels=levels).bind(form(ascending), "c", unknown="refuse")
    check_shape(tree)
    assert leaf_of.tolist() == list(range(len(ascending))), "leaves ascend"
    expected = [[calendar(day, level) for level in ("day", *levels)] for day in ascending]
    assert paths(tree, leaf_of) == [without_repeats([*path, "*"]) for path in expected]


@pytest.mark.parametrize(
    "values",
    [
        pa.array([dt.datetime(2024, 3, 5, 23, 30), dt.datetime(2024, 3, 6, 0, 30)]),
        pa.array(
            [dt.datetime(2024, 3, 5, 22, 30), dt.datetime(2024, 3, 5, 23, 30)],
            pa.timestamp("ns", "Europe/Berlin"),
        ),
        pa.array(["2024-03-05T23:30", "2024-03-06 00:30:00.5+01:00"]),
    ],
)  # fmt: skip
def test_moments_lie_in_their_local_day(values: pa.Array) -> None:
    tree, leaf_of = Hierarchy.dates(levels=["day", "month"]).bind(values, "c", unknown="refuse")
    assert [path[1:] for path in paths(tree, leaf_of)] == [
        ["2024-03-05", "2024-03", "*"],
        ["2024-03-06", "2024-03", "*"],
    ]


# ---- files, specs, copies ----


@pytest.mark.parametrize("end", ["\n", "\r\n"])
@pytest.mark.parametrize("mark", [b"", b"\xef\xbb\xbf"])
@pytest.mark.parametrize("delimiter", [";", ",", "\t", "|"])
def test_read_finds_the_delimiter(tmp_path: Path, delimiter: str, mark: bytes, end: str) -> None:
    rows = [["Kiel", "north"], ["Köln am Rhein", "west"], ["Bonn", "west"]]
    text = end.join(delimiter.join(row) for row in rows) + end + end
    (tmp_path / "town.csv").write_bytes(mark + text.encode())
    hierarchy = Hierarchy.read(tmp_path / "town.csv")
    assert hierarchy == Hierarchy.from_rows([[*row, "*"] for row in rows]), "the root is added"
    assert hierarchy == Hierarchy.read(str(tmp_path / "town.csv"), delimiter=delimiter)


def test_a_file_of_leaves_alone_gets_a_root(tmp_path: Path) -> None:
    (tmp_path / "sex.csv").write_text("f\nm\n")
    assert Hierarchy.read(tmp_path / "sex.csv") == Hierarchy.from_rows([["f", "*"], ["m", "*"]])


@settings(max_examples=40, deadline=None)
@given(tree_rows())
def test_write_and_read_return_the_same(
    tmp_path_factory: pytest.TempPathFactory, rows: list[list[str]]
) -> None:
    awkward = str.maketrans({"v": 'é"; ', "n": "[0, 5["})
    hierarchy = Hierarchy.from_rows([[label.translate(awkward) for label in row] for row in rows])
    path = tmp_path_factory.mktemp("hierarchy") / "tree.csv"
    hierarchy.write(path)
    assert Hierarchy.read(path) == hierarchy


def test_a_rule_is_written_for_given_values(tmp_path: Path) -> None:
    rule = Hierarchy.intervals(widths=[10])
    rule.write(tmp_path / "age.csv", values=[21, 34, 25, 21, None])
    assert (tmp_path / "age.csv").read_text() == "21;[20, 29];*\n25;[20, 29];*\n34;[30, 39];*\n"
    with pytest.raises(HierarchyError, match="no rows of its own"):
        rule.write(tmp_path / "age.csv")


@pytest.mark.parametrize("hierarchy", [*RULES, TOWNS])
def test_spec_pickle_and_hash(hierarchy: Hierarchy) -> None:
    assert Hierarchy.from_spec(hierarchy.to_spec()) == hierarchy
    assert pickle.loads(pickle.dumps(hierarchy)) == hierarchy
    assert hash(pickle.loads(pickle.dumps(hierarchy))) == hash(hierarchy)
    assert sum(hierarchy == other for other in (*RULES, TOWNS)) == 1


def test_a_read_hierarchy_remembers_its_file(tmp_path: Path) -> None:
    folder = tmp_path / "policies"
    folder.mkdir()
    (folder / "town.csv").write_text("Kiel,north\nUlm,south\n")
    hierarchy = Hierarchy.from_spec({"type": "file", "path": "town.csv", "delimiter": ","}, folder)
    assert hierarchy.to_spec(folder) == {"type": "file", "path": "town.csv", "delimiter": ","}
    assert hierarchy.to_spec(tmp_path) == {"type": "file", "path": "policies/town.csv", "delimiter": ","}
    assert Hierarchy.from_spec(hierarchy.to_spec(), "elsewhere") == hierarchy
    assert pickle.loads(pickle.dumps(hierarchy)).to_spec() == hierarchy.to_spec()


@pytest.mark.parametrize(
    ("spec", "message"),
    [
        ({"type": "interval", "widths": [5]}, "Did you mean 'intervals'"),
        ({"type": "intervals", "width": [5]}, "Did you mean 'widths'"),
        ({"type": "intervals"}, "needs 'widths'"),
        ({"type": "intervals", "widths": 5}, "must be a list of numbers"),
        ({"type": "tree", "rows": SECRET}, "'rows' of a hierarchy must be a list"),
        ({"type": "file", "path": 3}, "'path' of a hierarchy must be text"),
        ({"type": "dates", "levels": 3}, "must be a list"),
        ({"type": "prefix", "keep": "3"}, "'keep'"),
        ({"widths": [5]}, "needs a 'type'"),
        ([SECRET], "needs a 'type'"),
    ],
)
def test_wrong_specs_are_refused(spec: Any, message: str) -> None:
    with pytest.raises(ShoalError) as caught:
        Hierarchy.from_spec(spec)
    assert message in str(caught.value)
    assert SECRET not in str(caught.value)


def test_repr_and_preview_show_no_values() -> None:
    assert repr(TOWNS) == "Hierarchy(4 leaves, 4 levels)"
    assert [repr(rule) for rule in RULES] == [
        "Hierarchy.intervals(widths=[5, 10, 20])",
        "Hierarchy.intervals(widths=[0.5, 2.5], start=-1)",
        "Hierarchy.quantiles(groups=[8, 4, 2])",
        "Hierarchy.prefix()",
        "Hierarchy.prefix(keep=[3, 1], mask='x', length=6)",
        "Hierarchy.prefix(keep=2)",
        "Hierarchy.dates()",
        "Hierarchy.dates(['month', 'year'])",
    ]
    assert [tuple(line) for line in TOWNS.preview(["Ulm", "Ulm", None])] == [
        (0, 4, 1, 1),
        (1, 4, 1, 1),
        (2, 2, 2, 2),
        (3, 1, 4, 4),
    ]
    assert Hierarchy.intervals(widths=[5]).preview(["x", 7 * "1"])[-1] == (2, 1, 2, 2)


# ---- the real ones ----

DATA = Path(os.environ["SHOAL_DATA"])


@pytest.mark.real_data
@pytest.mark.parametrize(
    "path", sorted((DATA / "hierarchies").glob("adult_*.csv")), ids=lambda path: path.stem
)
def test_the_hierarchies_of_adult_bind_to_adult(path: Path, tmp_path: Path) -> None:
    import pyarrow.csv

    options = pyarrow.csv.ConvertOptions(strings_can_be_null=True)
    column = path.stem.removeprefix("adult_")
    values = pyarrow.csv.read_csv(DATA / "adult.csv", convert_options=options)[column].unique().drop_null()
    rows = [line.split(";") for line in path.read_text().splitlines()]
    hierarchy = Hierarchy.read(path)
    tree, leaf_of = hierarchy.bind(values, column, unknown="refuse")
    check_shape(tree)
    assert tree.leaves == len(rows)
    expected = {row[0]: row for row in rows}
    for value, way in zip(values.to_pylist(), paths(tree, leaf_of), strict=True):
        assert way == without_repeats(expected[str(value)])
    assert hierarchy.unknown_values(values) == []
    hierarchy.write(tmp_path / "copy.csv")
    assert Hierarchy.read(tmp_path / "copy.csv") == hierarchy


def test_encoding_takes_a_bound_hierarchy() -> None:
    import shoal
    from shoal.encoding import encode

    policy = shoal.Policy(
        quasi={"town": TOWNS, "age": Hierarchy.intervals(widths=[10])}, unknown_values="root", models=[]
    )
    table = pa.table({"town": ["Ulm", None, "Rom", "Kiel"], "age": [30, 21, None, 25]})
    encoded = encode(table, policy)
    assert encoded.codes.T.tolist() == [[2, 5, 4, 0], [2, 0, 3, 1]]
    assert encoded.quasi[0].values.to_pylist() == ["Kiel", "Bremen", "Ulm", "Lindau", "*"]
    assert encoded.quasi[1].numbers is not None
    assert encoded.quasi[1].numbers.tolist() == [21, 25, 30]
