"""Updates: nothing that was published changes, who comes together keeps the policy, everyone else waits."""

from __future__ import annotations

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pytest
from click.testing import CliRunner
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracle import verification as plain
from shoal.cli import main
from shoal.errors import DataError, PolicyError, PolicyUnsatisfiable
from shoal.updating import State, Update, update

SECRET = "Xyzzy77"
ILLS = ["flu", "cold", "gout", "asthma", "ulcer"]
POLICY = shoal.Policy(
    identifiers=["name"],
    quasi={"age": "numeric", "job": "categorical", "zip": shoal.Hierarchy.prefix()},
    sensitive=["ill"],
    models=[shoal.KAnonymity(3), shoal.LDiversity(2)],
)


def people(n: int, seed: int, first: int = 0) -> pa.Table:
    rng = np.random.default_rng(seed)
    age = [None if v == 30 else int(v) for v in rng.integers(20, 50, n)]
    return pa.table(
        {
            "name": pa.array([f"{SECRET}{i}" for i in range(n)], pa.string()),
            "age": pa.array(age, pa.int64()),
            "job": pa.array(rng.choice(["cook", "nurse", "{smith", "*"], n).tolist(), pa.string()),
            "zip": pa.array(rng.choice(["10115", "10117", "20095"], n).tolist(), pa.string()),
            "ill": pa.array(rng.choice(ILLS, n).tolist(), pa.string()),
            "number": pa.array(np.arange(first, first + n)),
        }
    )


def rows(table: pa.Table) -> list[tuple[Any, ...]]:
    return list(zip(*(table.column(name).to_pylist() for name in sorted(table.column_names)), strict=True))


def groups(table: pa.Table) -> plain.Groups:
    cells = zip(*(map(str, table.column(name).to_pylist()) for name in ("age", "job", "zip")), strict=True)
    return plain.groups_of(zip(cells, table.column("ill").to_pylist(), strict=True))


def keeps(table: pa.Table, k: int = 3, l: int = 2) -> bool:  # noqa: E741
    found = groups(table)
    return plain.k_anonymity(found, k) and plain.distinct_l(found, l)


def fits(value: Any, cell: str | None) -> bool:
    """Return whether a published cell says a value, by the published grammar, in the plainest way."""
    if cell == "*" or value is None or cell is None:
        return cell == "*" or (value is None and cell is None)
    if cell.startswith('"'):
        return str(json.loads(cell)) == str(value)
    if cell.startswith("["):
        low, high = cell[1:-1].split(", ")
        return float(low) <= float(value) <= float(high)
    if cell.startswith("{"):
        items = [json.loads(item) if item.startswith('"') else item for item in cell[1:-1].split(", ")]
        return str(value) in items
    if cell.endswith("*"):
        stem = cell.rstrip("*")
        return str(value).startswith(stem) and len(cell) == len(str(value))
    return str(value) == cell


def first_release(n: int = 60, seed: int = 1) -> pa.Table:
    return shoal.anonymize(people(n, seed), POLICY, algorithm="mondrian").published


def check_growth(found: Update, previous: pa.Table, originals: pa.Table) -> None:
    """What must be true of every update."""
    before = Counter(tuple(map(str, row)) for row in rows(previous))
    after = Counter(tuple(map(str, row)) for row in rows(found.published))
    came = Counter(tuple(map(str, row)) for row in rows(found.added))
    assert after == before + came
    numbers = sorted([*found.added.column("number").to_pylist(), *found.waiting.column("number").to_pylist()])
    assert numbers == sorted(originals.column("number").to_pylist())
    assert "name" not in found.published.column_names
    assert keeps(found.published)
    assert keeps(found.added)
    truth = {row["number"]: row for row in originals.to_pylist()}
    for row in found.added.to_pylist():
        person = truth[row["number"]]
        assert row["ill"] == person["ill"]
        assert all(fits(person[name], row[name]) for name in ("age", "job", "zip"))


@given(st.integers(0, 10_000), st.integers(0, 50), st.integers(0, 8))
@settings(max_examples=25, deadline=None)
def test_growth_of_random_tables(seed: int, n: int, early: int) -> None:
    previous = first_release(30 + seed % 30, seed)
    new, waiting = people(n, seed + 1, first=1000), people(early, seed + 2, first=5000)
    found = update(new, previous, POLICY, waiting=waiting)
    check_growth(found, previous, pa.concat_tables([waiting, new]))


def test_updates_follow_each_other_through_the_state() -> None:
    published, state, waiting, everyone = first_release(), None, None, []
    for month in range(4):
        new = people(40, 10 + month, first=1000 * (month + 1))
        everyone.append(new)
        originals = new if waiting is None else pa.concat_tables([waiting, new])
        found = update(new, published, POLICY, state=state, waiting=waiting)
        check_growth(found, published, originals)
        published, state, waiting = found.published, found.state, found.waiting
    assert state is not None
    assert state.releases == 5
    assert sum(state.sizes().values()) == published.num_rows
    for exposure in found.exposures:  # whoever compares releases finds what each promised by itself
        assert exposure.smallest >= 3
        assert exposure.certain["ill"] == 0
    assert found.added.num_rows > 0


def test_one_newcomer_never_joins_alone() -> None:
    """Two releases that differ by one row of a class give that row away."""
    previous = pa.table({"age": ["[20, 29]"] * 4, "ill": ["flu", "cold", "flu", "cold"]})
    policy = shoal.Policy(quasi={"age": "numeric"}, sensitive=["ill"], models=[shoal.KAnonymity(2)])
    one = update({"age": [25], "ill": ["gout"]}, previous, policy)
    assert (one.added.num_rows, one.waiting.num_rows) == (0, 1)
    two = update({"age": [21], "ill": ["flu"]}, previous, policy, waiting=one.waiting)
    assert (two.added.num_rows, two.joined, two.waiting.num_rows) == (2, 2, 0)
    assert set(two.added.column("age").to_pylist()) == {"[20, 29]"}


def test_the_narrowest_class_is_joined() -> None:
    cells = ["[20, 60]"] * 2 + ["[20, 29]"] * 2
    previous = pa.table({"age": cells, "ill": ["flu", "cold"] * 2})
    policy = shoal.Policy(quasi={"age": "numeric"}, sensitive=["ill"], models=[shoal.KAnonymity(2)])
    found = update({"age": [22, 23, 45, 50], "ill": ["flu"] * 4}, previous, policy)
    assert sorted(found.added.column("age").to_pylist()) == ["[20, 29]"] * 2 + ["[20, 60]"] * 2


def test_same_values_keeps_signatures() -> None:
    previous = pa.table({"age": ["[20, 29]"] * 4, "ill": ["flu", "cold", "flu", "cold"]})
    policy = shoal.Policy(quasi={"age": "numeric"}, sensitive=["ill"], models=[shoal.KAnonymity(2)])
    new = {"age": [21, 22, 23, 24], "ill": ["flu", "cold", "gout", "gout"]}
    found = update(new, previous, policy, same_values=True)
    joined = pc.equal(found.added.column("age"), "[20, 29]")
    assert set(found.added.filter(joined).column("ill").to_pylist()) == {"flu", "cold"}
    assert update(new, previous, policy).joined == 4


@given(st.integers(0, 10_000), st.integers(0, 60))
@settings(max_examples=15, deadline=None)
def test_m_invariance(seed: int, n: int) -> None:
    previous = pa.table(
        {
            "age": ["[20, 35]"] * 3 + ["[36, 50]"] * 3,
            "job": ["*"] * 6,
            "zip": ["*"] * 6,
            "ill": ILLS[:3] + ILLS[1:4],
            "number": list(range(6)),
        }
    )
    new = people(n, seed, first=100)
    found = update(new, previous, POLICY, m_invariance=3)
    check_growth(found, previous, new)
    old = groups(previous)
    for cells, values in groups(found.published).items():
        assert len(values) >= 3
        assert len(set(values)) == len(values)
        assert old.get(cells, values) == values
    assert found.joined == 0


def test_m_invariance_has_to_be_kept_from_the_start() -> None:
    previous = pa.table({"age": ["[20, 29]"] * 4, "ill": ["flu", "cold", "flu", "cold"]})
    policy = shoal.Policy(quasi={"age": "numeric"}, sensitive=["ill"], models=[shoal.KAnonymity(2)])
    with pytest.raises(PolicyUnsatisfiable, match="not 2-unique"):
        update({"age": [21], "ill": ["flu"]}, previous, policy, m_invariance=2)


def test_a_shift_of_the_distribution_is_refused() -> None:
    previous = pa.table({"age": ["[20, 29]"] * 4 + ["[30, 39]"] * 4, "ill": ["flu", "cold"] * 4})
    policy = shoal.Policy(
        quasi={"age": "numeric"}, sensitive=["ill"], models=[shoal.KAnonymity(2), shoal.TCloseness(0.2)]
    )
    new = {"age": [60] * 40, "ill": ["gout"] * 40}
    with pytest.raises(PolicyUnsatisfiable, match="shift what is compared"):
        update(new, previous, policy)


def test_the_state_is_checked_and_comes_back(tmp_path: Path) -> None:
    previous = first_release()
    found = update(people(40, 3, first=100), previous, POLICY)
    found.state.write(tmp_path / "state.json")
    again = State.read(tmp_path / "state.json")
    assert again.to_dict() == found.state.to_dict()
    assert again.sizes() == found.state.sizes()
    with pytest.raises(DataError, match="not that of the published table"):
        update(people(5, 4), previous, POLICY, state=again)
    (tmp_path / "state.json").write_text('{"format": 99}')
    with pytest.raises(DataError, match="is no state of shoal"):
        State.read(tmp_path / "state.json")


def test_a_state_holds_nothing_that_was_not_published(tmp_path: Path) -> None:
    found = update(people(40, 3, first=100), first_release(), POLICY)
    text = json.dumps(found.state.to_dict())
    shown = {
        str(cell)
        for name in ("age", "job", "zip", "ill")
        for cell in found.published.column(name).to_pylist()
    }
    assert SECRET not in text
    for entry in json.loads(text)["classes"]:
        assert {str(cell) for cell in entry["cells"]} <= shown
        for part in entry["added"]:
            assert {str(value) for value, _ in part["values"]["ill"]} <= shown


@pytest.mark.parametrize(
    ("policy", "message"),
    [
        (POLICY.with_models(()), "promises nothing"),
        (
            shoal.Policy(quasi={"age": shoal.Column("age", form="mean")}, models=[shoal.KAnonymity(2)]),
            "cannot be told",
        ),
        (shoal.Policy(quasi=["age"], models=[shoal.KMap(2, population=people(9, 1))]), "while a table grows"),
        (
            shoal.Policy(identifiers={"name": "mask"}, quasi=["age"], models=[shoal.KAnonymity(2)]),
            "the identifier 'name' is published",
        ),
    ],
)
def test_refusals(policy: shoal.Policy, message: str) -> None:
    with pytest.raises(PolicyError, match=message):
        update(people(9, 2), first_release(), policy)


def test_other_columns_are_refused() -> None:
    with pytest.raises(DataError, match="other columns"):
        update(people(9, 2).drop_columns(["number"]), first_release(), POLICY)
    with pytest.raises(DataError, match="different columns"):
        update(people(9, 2), first_release(), POLICY, waiting={"age": [1]})


def test_the_command_line(tmp_path: Path) -> None:
    from shoal import io

    io.write(people(80, 1), tmp_path / "january.csv")
    io.write(people(40, 2, first=100), tmp_path / "february.csv")
    io.write(people(40, 3, first=200), tmp_path / "march.csv")
    POLICY.write(str(tmp_path / "policy.toml"))

    def run(*arguments: str) -> str:
        result = CliRunner().invoke(main, [*arguments, "-p", str(tmp_path / "policy.toml"), "-q"])
        assert result.exit_code == 0, result.output
        return result.output

    first, second, third = (str(tmp_path / f"published-{i}.csv") for i in (1, 2, 3))
    files = ["--state", str(tmp_path / "state.json"), "--waiting", str(tmp_path / "waiting.parquet")]
    run("anonymize", str(tmp_path / "january.csv"), "--out", first, "-a", "mondrian")
    output = run("update", str(tmp_path / "february.csv"), "--previous", first, "--out", second, *files)
    assert "who compares releases: release 2" in output
    output = run("update", str(tmp_path / "march.csv"), "--previous", second, "--out", third, *files)
    assert "release 3" in output
    assert SECRET not in output
    run("verify", third)
    waiting = io.read(tmp_path / "waiting.parquet")
    assert io.read(third).num_rows + waiting.num_rows == 160
    refused = CliRunner().invoke(
        main,
        [
            "update",
            str(tmp_path / "march.csv"),
            "--previous",
            first,
            "-p",
            str(tmp_path / "policy.toml"),
            *files,
        ],
    )
    assert (refused.exit_code, "not that of the published table" in refused.output) == (2, True)
