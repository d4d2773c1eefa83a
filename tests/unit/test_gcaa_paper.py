"""The GCAA paper: a quick reproduction, verdicts that depend on the rows, and its tables as printed."""

from __future__ import annotations

import numpy as np
import pytest

import shoal
from quick_papers import check_card, quick, verdict
from shoal.algorithms.gcaa import Gcaa
from shoal.metrics.measure import measure
from shoal.papers.base import Results, Verdict
from shoal.papers.gcaa import claims, experiments
from shoal.papers.gcaa.data import FACEBOOK
from shoal.papers.gcaa.printed import SCENARIOS, TABLES
from shoal.partitions import Partition
from shoal.progress import Run

pytestmark = pytest.mark.real_data


def test_every_claim_has_a_verdict_and_every_figure_rows() -> None:
    tables = {f"table-{number}" for number in (12, 13, 14)}
    check_card("gcaa", claims.CLAIMS, tables | {f"figure-{number}-facebook" for number in range(5, 17)})


@pytest.mark.parametrize(
    "words",
    [
        "No record is removed",
        "k-anonymous and t-close",
        "PSKA and FKMC keep k",
        "do not keep t",
        "evener classes",
    ],
)
def test_what_must_hold_whatever_the_machine(words: str) -> None:
    assert verdict("gcaa", words) is Verdict.REPRODUCED


@pytest.mark.parametrize(
    "words", ["printed ADRs are possible", "0.5 more than the last", "78% and 33%", "N / (C k)"]
)
def test_what_cannot_hold(words: str) -> None:
    assert verdict("gcaa", words) is Verdict.NOT_REPRODUCED


@pytest.mark.parametrize("words", ["comparisons on Google+", "curves on Google+"])
def test_what_is_not_at_hand_is_said(words: str) -> None:
    assert verdict("gcaa", words) is Verdict.UNCHECKABLE


def test_a_claim_follows_the_rows() -> None:
    def rows(ours: float, theirs: float) -> Results:
        made = [
            {
                **{"dataset": "Facebook", "sensitive": "x", "scenario": "simple", "t": 0.7},
                **{"algorithm": name, "cavg": theirs if name == experiments.KLT3L else ours},
            }
            for name in experiments.CONTENDERS
        ]
        return Results({"comparison": made})

    claim = next(claim for claim in claims.CLAIMS if "evener classes" in claim.text)
    assert claim.judge(rows(1.2, 5.0)).verdict is Verdict.REPRODUCED
    assert claim.judge(rows(5.0, 1.2)).verdict is Verdict.NOT_REPRODUCED


def test_the_tables_are_as_printed() -> None:
    """Every CAVG is 347 / (C k), cut off after the printed digits, but for that of FKMC in Table 14."""
    for setting in SCENARIOS:
        for name, cells in TABLES[setting.name].items():
            exact = 347 / cells.classes / setting.k
            assert abs(exact - cells.cavg) < 0.011, (setting.name, name)


def test_the_binary_table_is_the_papers() -> None:
    assert FACEBOOK.features.shape == (347, 224)
    assert FACEBOOK.features.sum() == 3318
    secret = FACEBOOK.secret("locale")
    own = [group == "locale" for group, _ in FACEBOOK.values.values()]
    assert len(secret.quasi) == 224 - sum(own)


def test_no_classes_are_below_the_least_distortion() -> None:
    """Against random classes, counted entry by entry."""
    has = FACEBOOK.features
    rng = np.random.default_rng(0)
    for k in (4, 8):
        order = rng.permutation(len(has))[: len(has) // k * k].reshape(-1, k)
        changed = sum(int(np.minimum(has[m].sum(0), k - has[m].sum(0)).sum()) for m in order)
        assert FACEBOOK.least_distortion(k) <= changed / (order.size * has.shape[1])
    rows = quick("gcaa").results.rows["comparison"]
    for row in rows:
        assert row["adr"] <= FACEBOOK.secret(row["sensitive"]).density


def test_secrets_to_change_are_those_that_bring_classes_near_enough() -> None:
    secret = FACEBOOK.secret("gender")
    codes = secret.encoded.sensitive_codes[:, 0]
    made = Partition.from_labels(codes)  # everyone with their like: as far from the table as can be
    overall = np.bincount(codes) / len(codes)
    needed = sum(
        int(np.ceil(n * (1 - p - 0.5) - 1e-9))
        for n, p in zip(np.bincount(codes), overall, strict=True)
        if p < 0.5
    )
    assert experiments.values_to_change(made, secret, 0.5) == needed
    assert experiments.values_to_change(Partition.single(len(codes)), secret, 0.0) == 0


def test_diversity_is_lowered_to_what_classes_can_have() -> None:
    assert FACEBOOK.secret("education.type").diversity(3, 4) == 3
    assert FACEBOOK.secret("gender").diversity(3, 4) == 2


def test_the_paper_variant_sees_sets_as_the_binary_table() -> None:
    """One column a value, or one column a group whose cells are sets: the same rows, the same classes."""
    secret = FACEBOOK.secret("education.type")
    groups = [name for name in FACEBOOK.groups if name != secret.group]
    cells = {name: ["|".join(sorted(own)) for own in FACEBOOK.groups[name]] for name in groups}
    models = [shoal.KAnonymity(6), shoal.TCloseness(0.5)]
    policy = shoal.Policy(quasi=dict.fromkeys(groups, "set"), sensitive=[secret.group], models=models)
    encoded = shoal.encode({**cells, secret.group: secret.table[secret.group].to_pylist()}, policy)
    made = Gcaa(variant="paper").partition(encoded, policy.compile(encoded), Run())
    same, _ = experiments.ran(experiments.PAPER, secret, SCENARIOS[1])
    assert made.labels.tolist() == same.labels.tolist()
    assert measure(encoded, made, policy, ["adr"])["adr"] == pytest.approx(
        measure(secret.encoded, same, policy, ["adr"])["adr"]
    )
