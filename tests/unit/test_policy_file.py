"""A policy survives its file, and a wrong file is refused with its line and the way out."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
import shoal.io
from shoal.errors import PolicyError
from shoal.policy_file import dumps, from_dict, loads, read_policy, to_dict, write_policy
from shoal.schema import Action, Column, Form, Kind, Role
from shoal.toml_text import key_line, toml_lines

NAMES = st.text(st.characters(exclude_categories=("Cs",)), min_size=1, max_size=6)
NUMBERS = st.floats(-1e9, 1e9).map(float)
HIERARCHIES = st.sampled_from(
    [
        None,
        shoal.Hierarchy.prefix(keep=2),
        shoal.Hierarchy.intervals(widths=[5, 10], start=3),
        shoal.Hierarchy.dates(levels=["month", "year"]),
        shoal.Hierarchy.from_dict({"north": ["Kiel", 'B"n'], "süd, #1": ["Ulm", "[x]"]}),
    ]
)


@st.composite
def columns(draw: st.DrawFn, name: str, role: Role) -> Column:
    kind = draw(st.none() | st.sampled_from(list(Kind)))
    hierarchy = draw(HIERARCHIES) if role in (Role.QUASI, Role.SENSITIVE) else None
    forms = [Form.AUTO, Form.SET, Form.MODE] if kind is Kind.CATEGORICAL else list(Form)
    forms = [form for form in forms if form is not Form.ANCESTOR or hierarchy is not None]
    if kind is Kind.ORDINAL:
        forms = [form for form in forms if not form.noisy]
    low, high = sorted([draw(NUMBERS), draw(NUMBERS)])
    return Column(
        name,
        role,
        kind,
        hierarchy,
        weight=draw(st.floats(0.01, 100)),
        form=draw(st.sampled_from(forms)),
        domain=draw(st.sampled_from([None, (low, high)])) if kind is Kind.NUMERIC else None,
        order=tuple(draw(st.lists(st.text(max_size=5)))) if kind is Kind.ORDINAL else None,
        rho=draw(st.floats(0, 1)),
        action=draw(st.sampled_from(list(Action))),
    )


@st.composite
def policies(draw: st.DrawFn) -> shoal.Policy:
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    roles = [draw(st.sampled_from([role for role in Role if role is not Role.WEIGHT])) for _ in names]
    if draw(st.booleans()):
        roles[-1] = Role.WEIGHT
    chosen = [draw(columns(name, role)) for name, role in zip(names, roles, strict=True)]
    sensitive = [name for name, role in zip(names, roles, strict=True) if role is Role.SENSITIVE]
    models: list[object] = [shoal.KAnonymity(draw(st.integers(1, 99)))]
    if sensitive:
        models += [
            shoal.LDiversity(3, kind="recursive", c=1.5),
            shoal.TCloseness(draw(st.floats(0, 1)), distance="ordered", columns=tuple(sensitive[:1])),
        ]
    policy = shoal.Policy(
        sensitive=sensitive,
        suppression=draw(st.floats(0, 1)),
        suppressed=draw(st.sampled_from(["drop", "star"])),
        unknown_values=draw(st.sampled_from(["refuse", "root"])),
    )
    return policy.with_columns(chosen).with_models(models)  # type: ignore[arg-type]


@settings(max_examples=150, deadline=None)
@given(policies())
def test_toml_and_json_keep_everything(policy: shoal.Policy) -> None:
    assert loads(dumps(policy)) == policy
    assert loads(json.dumps(to_dict(policy))) == policy
    assert from_dict(to_dict(policy)) == policy


@settings(max_examples=150, deadline=None)
@given(policies(), st.text(st.characters(exclude_categories=("Cs", "Cc", "Zl", "Zp")), max_size=20))
def test_comments_change_nothing(policy: shoal.Policy, comment: str) -> None:
    comments = {column.name: comment for column in policy.schema.columns}
    assert loads(dumps(policy, header="two\nlines", comments=comments)) == policy


VALUES = st.recursive(
    st.booleans() | st.integers(-(2**62), 2**62) | st.floats(allow_nan=False) | st.text(max_size=60),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(NAMES, inner, max_size=3),
    max_leaves=8,
)


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(st.text(st.characters(exclude_categories=("Cs",)), max_size=8), VALUES, max_size=4))
def test_the_toml_written_is_the_toml_read(table: dict[str, object]) -> None:
    assert tomllib.loads("\n".join(toml_lines(table))) == table


@pytest.mark.parametrize("name", ["policy.toml", "policy.json"])
def test_files_name_hierarchies_relative_to_themselves(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "trees"
    folder.mkdir()
    (folder / "town.csv").write_text("Kiel;north\nUlm;south\n")
    policy = shoal.Policy(quasi={"town": shoal.Hierarchy.read(folder / "town.csv")})
    write_policy(policy, tmp_path / name)
    assert str(tmp_path) not in (tmp_path / name).read_text()
    assert read_policy(tmp_path / name) == policy
    assert shoal.Policy.read(str(tmp_path / name)) == policy


def test_populations_are_files_named_relative_to_the_policy(tmp_path: Path) -> None:
    shoal.io.write(pa.table({"age": [1, 2, 3]}), tmp_path / "all.csv")
    policy = shoal.Policy(quasi=["age"], models=[shoal.KMap(2, population=tmp_path / "all.csv")])
    write_policy(policy, tmp_path / "policy.toml")
    assert 'population = "all.csv"' in (tmp_path / "policy.toml").read_text()
    assert read_policy(tmp_path / "policy.toml") == policy
    with pytest.raises(PolicyError, match="'population' of k-map is a table in memory"):
        to_dict(shoal.Policy(quasi=["age"], models=[shoal.KMap(2, population={"age": [1]})]))


GOOD = """\
suppression = 0.02

[columns.age]
role = "quasi"
kind = "numeric"

[columns."blood group"]
role = "sensitive"

[[models]]
name = "k-anonymity"
k = 5

[[models]]
name = "l-diversity"
l = 2
"""


def test_a_file_by_hand() -> None:
    policy = loads(GOOD)
    assert [(c.name, c.role) for c in policy.schema.columns] == [
        ("age", Role.QUASI),
        ("blood group", Role.SENSITIVE),
    ]
    assert policy.models == (shoal.KAnonymity(5), shoal.LDiversity(2))
    assert policy.suppression == 0.02


@pytest.mark.parametrize(
    ("change", "expected"),
    [
        (('suppression = 0.02', 'supression = 0.02'), "line 1: unknown key 'supression'. Did you mean"),
        (('kind = "numeric"', 'knid = "numeric"'), "line 5: unknown key 'knid' in column 'age'. Did you"),
        (('kind = "numeric"', 'kind = "number"'), "line 5: the kind of column 'age' must be one of numeric,"),
        (('role = "sensitive"', 'kind = "categorical"'), "line 7: column 'blood group' has no role"),
        (('name = "l-diversity"', 'name = "l-diverse"'), "line 14: there is no model 'l-diverse'. Did you"),
        (("l = 2", "l = 2\nlow = 1"), "line 14: there is no parameter of l-diversity 'low'"),
        (("k = 5", "k = 0"), "line 10: 'k' of k-anonymity must be a whole number of at least 1"),
        (('name = "k-anonymity"', "# no name"), "line 10: model 1 has no name"),
        (('kind = "numeric"', 'domain = [1]'), "line 5: the domain of column 'age' must be two numbers"),
        (('kind = "numeric"', 'order = [1]'), "line 5: the order of column 'age' must be a list of texts"),
        (('kind = "numeric"', 'weight = "2"'), "line 5: the weight of column 'age' must be a number"),
        (('kind = "numeric"', 'weight = -2'), "the weight of 'age' must be between 0.001 and 1000"),
        (('kind = "numeric"', 'hierarchy = "x"'), "line 5: the hierarchy of column 'age' must be a table"),
        (('suppression = 0.02', 'suppression = 2'), "'suppression' of the policy must be a number betw"),
        (('suppression = 0.02', 'suppression = '), "is not valid TOML: line 1"),
        (('[columns.age]\nrole = "quasi"\nkind = "numeric"', 'columns = 3'), "'columns' must be a table"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_said_with_its_line(change: tuple[str, str], expected: str) -> None:
    text = GOOD.replace(*change, 1)
    if "columns = 3" in text:
        text = text.replace('[columns."blood group"]\nrole = "sensitive"\n', "")
    with pytest.raises(PolicyError) as refused:
        loads(text, source="policy file 'p.toml'")
    assert expected in str(refused.value)
    assert "policy file 'p.toml'" in str(refused.value)
    assert "\n" not in str(refused.value)


def test_all_problems_are_told_together() -> None:
    text = GOOD.replace("kind", "knid").replace("k = 5", "k = 0").replace("suppression", "supression")
    with pytest.raises(PolicyError, match=r"3 problems: line 1: .*; line 5: .*; line 10: .*"):
        loads(text)


def test_json_problems_have_lines_too() -> None:
    text = json.dumps(to_dict(loads(GOOD)), indent=2).replace('"kind"', '"knid"')
    with pytest.raises(PolicyError, match="line 6: unknown key 'knid' in column 'age'"):
        loads(text)
    with pytest.raises(PolicyError, match="not valid JSON: line 1"):
        loads("{nothing")


def test_values_of_the_table_stay_out_of_messages() -> None:
    text = '[columns.ill]\nrole = "sensitive"\nkind = "plague"\norder = ["cholera", 3]\n'
    text += 'hierarchy = {type = "tree", rows = [["typhus", "x"], ["typhus", "y"]]}\nx = [typhoid'
    for document in (text, text.removesuffix("\nx = [typhoid")):
        with pytest.raises(PolicyError) as refused:
            loads(document)
        shown = f"{refused.value} {refused.value!r}"
        assert not any(word in shown for word in ("plague", "cholera", "typhus", "typhoid"))


def test_unreadable_files_are_refused(tmp_path: Path) -> None:
    with pytest.raises(PolicyError, match=r"there is no policy file 'gone.toml'.*shoal init"):
        read_policy(tmp_path / "gone.toml")
    (tmp_path / "latin.toml").write_bytes("# Köln".encode("latin-1"))
    with pytest.raises(PolicyError, match=r"'latin.toml' is not UTF-8 \(byte 3\)"):
        read_policy(tmp_path / "latin.toml")
    with pytest.raises(PolicyError, match="cannot be read"):
        read_policy(tmp_path)


def test_lines_of_dotted_and_quoted_keys() -> None:
    text = 'columns.age.role = "quasi"\n["columns" . "a.b"]\n  \'role\' = 1\n[[models]]\n[[models]]\nk = 1\n'
    assert key_line(text, ("columns", "age", "role")) == 1
    assert key_line(text, ("columns", "a.b", "role")) == 3
    assert key_line(text, ("models", "1", "k")) == 6
    assert key_line(text, ("models", "2")) is None
