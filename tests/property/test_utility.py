"""Utility agrees with its plain definitions on random tables and random classes."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import shoal
from oracle import utility as oracle
from shoal.encoding import encode
from shoal.errors import MissingExtra, ParameterError, PolicyError
from shoal.partitions import Partition
from shoal.recode import publish
from shoal.utility.association import association
from shoal.utility.bars import bars_of
from shoal.utility.distributions import code_counts, distribution, earth_mover
from shoal.utility.learning import Tables, learn
from shoal.utility.lines import Line, lines_of
from shoal.utility.measuring import Known, losses, measure_utility
from shoal.utility.queries import Workload, draw, query_error
from shoal.utility.spreads import Spread, spread_of

POLICY = shoal.Policy(
    quasi={
        "age": "numeric",
        "size": shoal.Column("size", kind="ordinal", order=("s", "m", "l", "xl")),
        "job": "categorical",
        "place": shoal.Hierarchy.from_dict({"north": ["a", "b"], "south": ["c", "d", "e"]}),
        "since": shoal.Column("since", kind="date", form="bounds"),
    },
    sensitive=["ill"],
    models=[shoal.KAnonymity(2)],
)


@st.composite
def releases(draw: st.DrawFn) -> tuple[pa.Table, Partition]:
    """Return a table with nulls and a division of its records into classes, some suppressed."""
    n = draw(st.integers(4, 24))

    def some(values: list[object]) -> list[object]:
        return draw(st.lists(st.sampled_from(values), min_size=n, max_size=n))

    table = pa.table(
        {
            "age": pa.array(some([20, 21, 25, 26, 40, None]), pa.int64()),
            "size": pa.array(some(["s", "m", "l", "xl"]), pa.string()),
            "job": pa.array(some(["nurse", "cook", "a, b", "*", None]), pa.string()),
            "place": pa.array(some(["a", "b", "c", "e"]), pa.string()),
            "since": pa.array(np.array(some([7, 9, 30]), dtype="datetime64[D]")),
            "ill": pa.array(some(["x", "y", "z"]), pa.string()),
        }
    )
    labels = np.array(draw(st.lists(st.integers(-1, 3), min_size=n, max_size=n)))
    labels[0] = 0
    return table, Partition.from_labels(labels)


def published(table: pa.Table, partition: Partition) -> tuple[list[Line], list[Spread], pa.Table]:
    """Return the lines of the original, and the published table with its spreads."""
    policy = POLICY.resolved(table)
    encoded = encode(table, policy)
    made = publish(table, encoded, partition, policy).table
    lines = list(lines_of(encoded))
    return lines, [spread_of(line, made) for line in lines], made


def cells_of(line: Line, table: pa.Table, partition: Partition) -> list[oracle.Cell]:
    """Return what the published cells cover, from the classes and the values: nothing is read from cells."""
    values = [None if c == len(line.values) else int(line.places[c]) for c in line.codes]
    everything = list(range(int(line.ends[0]), int(line.ends[1]) + 1))
    found: list[oracle.Cell] = []
    for i, label in enumerate(partition.labels):
        if label < 0:
            continue
        if not line.quasi:
            found.append(None if values[i] is None else [values[i]])
            continue
        mine = [values[j] for j in partition.members(int(label))]
        known = sorted({v for v in mine if v is not None})
        if not known:
            found.append(None)
        elif None in mine:
            found.append(None if line.spec.form == "bounds" else everything)
        elif line.tree is not None:
            node = line.tree.common_ancestors(np.array([known[0]]), np.array([known[-1]]))[0]
            levels = [row == node for row in line.tree.nodes if (row == node).any()]
            found.append(np.flatnonzero(np.any(levels, axis=0)).tolist())
        elif line.ordered:
            found.append(list(range(known[0], known[-1] + 1)))
        else:
            found.append(list(known))
    return found


@given(releases())
@settings(max_examples=60, deadline=None)
def test_distributions_agree(given: tuple[pa.Table, Partition]) -> None:
    table, partition = given
    lines, spreads, _ = published(table, partition)
    for line, spread in zip(lines, spreads, strict=True):
        cells = cells_of(line, table, partition)
        before = [None if c == len(line.values) else int(line.places[c]) for c in line.codes]
        if not line.measured:
            counted = code_counts(line, spread)
            expected = oracle.shares(cells)
            for code in range(len(line.values)):
                assert counted[code] == pytest.approx(float(expected.get(code, 0) * len(cells)), abs=1e-9)
            found = distribution(line, spread, bars_of(line, 1)).total_variation
            assert found == pytest.approx(oracle.total_variation(before, cells), abs=1e-9)
        known = [v for v in before if v is not None]
        some = [cell for cell in cells if cell is not None]
        if line.ordered and known and some:
            assert earth_mover(line, spread) == pytest.approx(oracle.earth_mover(known, some), abs=1e-9)


@given(releases(), st.integers(0, 2**16))
@settings(max_examples=60, deadline=None)
def test_counts_agree(given: tuple[pa.Table, Partition], seed: int) -> None:
    table, partition = given
    lines, spreads, _ = published(table, partition)
    workload = Workload(queries=5, columns=3, selectivity=0.2, seed=seed)
    columns = [cells_of(line, table, partition) for line in lines]
    rows = list(zip(*columns, strict=True))
    truth_rows = [
        [
            None if c == len(line.values) else [int(line.places[c])]
            for line, c in zip(lines, codes, strict=True)
        ]
        for codes in zip(*(line.codes for line in lines), strict=True)
    ]
    errors = []
    for query in draw(lines, workload):
        asked = []
        for condition in query:
            line = lines[condition.column]
            fits = {int(line.places[c]) for c in np.flatnonzero(condition.codes[:-1])}
            if condition.stretch is not None:
                low, high = condition.stretch
                fits = {v for v in range(int(line.ends[0]), int(line.ends[1]) + 1) if low <= v < high}
            asked.append((condition.column, fits))
        truth = oracle.count(asked, truth_rows)
        errors.append(abs(oracle.count(asked, rows) - truth) / max(truth, workload.sanity * len(truth_rows)))
    found = query_error(lines, spreads, workload)
    assert found.median == pytest.approx(float(np.median(errors)), abs=1e-9)
    assert found.mean == pytest.approx(float(np.mean(errors)), abs=1e-9)


@given(releases())
@settings(max_examples=40, deadline=None)
def test_associations_agree(given: tuple[pa.Table, Partition]) -> None:
    table, partition = given
    lines, spreads, _ = published(table, partition)
    bars = [bars_of(line, 1) for line in lines]
    found = association(lines, spreads, bars)

    def spread(j: int, cell: oracle.Cell) -> dict[int, Fraction]:
        if cell is None:
            return {len(bars[j].labels) - 1: Fraction(1)} if bars[j].missing else {}
        parts: dict[int, Fraction] = {}
        for value in cell:
            edges = bars[j].edges
            bar = int(
                bars[j].group[value] if edges is None else np.searchsorted(edges, value, side="right") - 1
            )
            parts[bar] = parts.get(bar, Fraction(0)) + Fraction(1, len(cell))
        return parts

    columns = [cells_of(line, table, partition) for line in lines]
    for i in range(len(lines)):
        for j in range(i):
            pairs = [(spread(i, a), spread(j, b)) for a, b in zip(columns[i], columns[j], strict=True)]
            assert found.after[i][j] == pytest.approx(oracle.cramers_v(pairs), abs=1e-4)
    assert all(row[i] == 1 for i, row in enumerate(found.before))


@given(releases())
@settings(max_examples=60, deadline=None)
def test_loss_read_from_cells_is_the_loss_of_the_classes(given: tuple[pa.Table, Partition]) -> None:
    table, partition = given
    lines, spreads, _ = published(table, partition)
    policy = POLICY.resolved(table)
    from shoal.metrics.measure import measure

    ncp = measure(encode(table, policy), partition, policy, ["ncp"])["ncp"]
    found = losses(tuple(lines), spreads)
    assert isinstance(ncp, dict)
    for name in ("age", "size", "job", "place"):
        assert found[name] == pytest.approx(ncp[name], abs=1e-9)


@given(releases(), st.integers(1, 6))
@settings(max_examples=60, deadline=None)
def test_no_bar_points_at_fewer_than_k_records(given: tuple[pa.Table, Partition], k: int) -> None:
    table, partition = given
    lines, spreads, _ = published(table, partition)
    for line, spread in zip(lines, spreads, strict=True):
        bars = bars_of(line, k)
        held = bars.before(line)
        assert len(held) == len(bars.labels) >= 1
        if len(held) > 1 + bars.missing:
            named = [
                h for h, name in zip(held, bars.labels, strict=True) if not name.endswith("other values")
            ]
            assert min(named) >= k
            others = [h for h, name in zip(held, bars.labels, strict=True) if name.endswith("other values")]
            assert all(h == 0 or h >= k for h in others)
        parts = bars.shares(spread).sum(axis=1)
        assert np.allclose(parts[~spread.null & (spread.counts > 0)], 1.0)


def test_what_is_read_from_a_file_is_what_is_known_inside(tmp_path: object) -> None:
    from shoal.demo import demo_policy, patients

    table = patients(600)
    release = shoal.anonymize(table, demo_policy(), algorithm="mondrian")
    inside = release.utility(queries=50)
    turned = release.published.take(
        pa.array(np.random.default_rng(1).permutation(release.published.num_rows))
    )
    outside = measure_utility(table, turned, demo_policy(), workload=Workload(queries=50))
    assert outside.loss == pytest.approx(inside.loss)
    assert outside.association.after == inside.association.after
    assert outside.queries.median == pytest.approx(inside.queries.median)
    for a, b in zip(outside.distributions, inside.distributions, strict=True):
        assert a.total_variation == pytest.approx(b.total_variation)


def learnable(n: int = 600) -> tuple[pa.Table, shoal.Policy]:
    """Return a table whose outcome follows from age and job, and a policy for it."""
    rng = np.random.default_rng(3)
    age, job = rng.integers(20, 80, n), rng.choice(["a", "b", "c"], n)
    outcome = np.where((age > 50) ^ (job == "a"), "yes", "no")
    table = pa.table({"age": age, "job": job, "noise": rng.integers(0, 9, n), "outcome": outcome})
    policy = shoal.Policy(quasi={"age": "numeric", "job": "categorical"}, models=[shoal.KAnonymity(5)])
    return table, policy


def test_models_learn_what_there_is_to_learn() -> None:
    table, policy = learnable()
    release = shoal.anonymize(table, policy, algorithm="mondrian")
    learning = release.utility(target="outcome", queries=5).learning
    assert learning is not None
    assert learning.held_out
    assert learning.trained + learning.tested == table.num_rows
    boosted = learning.scores[1]
    assert boosted.original > 0.95
    assert boosted.majority < 0.65
    assert boosted.majority < boosted.published <= boosted.original + 0.02
    assert release.utility(target="outcome", queries=5).learning == learning


def test_a_table_of_stars_teaches_nothing_beyond_guessing() -> None:
    table, policy = learnable()
    policy = policy.resolved(table)
    encoded = encode(table, policy)
    lines = lines_of(encoded)
    n = table.num_rows
    shown = pa.table({"age": ["*"] * n, "job": ["*"] * n, "outcome": table["outcome"]})
    spreads = [spread_of(line, shown) for line in lines]
    bars = [bars_of(line, 5) for line in lines]
    learning = learn("outcome", Tables(table, shown, np.arange(n)), lines, spreads, bars)
    assert all(score.published <= score.majority + 0.1 for score in learning.scores)


def test_a_target_the_release_changes_or_that_says_nothing_is_refused() -> None:
    table, policy = learnable(100)
    release = shoal.anonymize(table, policy, algorithm="mondrian")
    with pytest.raises(PolicyError, match="is no target"):
        release.utility(target="age")
    constant = table.set_column(2, "noise", pa.array([1] * 100))
    with pytest.raises(ParameterError, match="one value only"):
        shoal.anonymize(constant, policy, algorithm="mondrian").utility(target="noise", queries=1)


def test_models_say_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    import sys

    table, policy = learnable(100)
    release = shoal.anonymize(table, policy, algorithm="mondrian")
    monkeypatch.setitem(sys.modules, "sklearn", None)
    with pytest.raises(MissingExtra, match=r"shoal\[ml\]"):
        release.utility(target="outcome")


def test_a_workload_that_makes_no_sense_is_refused() -> None:
    for wrong in ({"queries": 0}, {"columns": 0}, {"selectivity": 0.0}, {"sanity": 2.0}):
        with pytest.raises(ParameterError):
            Workload(**wrong)


def test_what_is_known_of_rows_changes_nothing_but_the_split() -> None:
    table, policy = learnable()
    release = shoal.anonymize(table, policy, algorithm="mondrian")
    blind = measure_utility(table, release.published, policy, target="outcome", known=Known())
    assert blind.learning is not None
    assert not blind.learning.held_out
