"""Attacks succeed on tables built to be vulnerable, fall to guessing on protected ones, and quote no cell."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

import shoal
from shoal import io
from shoal.attacks.base import AttackResult
from shoal.attacks.inference import Background, Skewness
from shoal.attacks.linkability import Linkability
from shoal.attacks.linkage import Linkage
from shoal.attacks.minimality import Minimality
from shoal.attacks.similarity import Similarity
from shoal.attacks.singling_out import SinglingOut
from shoal.demo import patients
from shoal.errors import DataError, ParameterError, PolicyError, UnknownName

POLICY = shoal.Policy(quasi={"age": "numeric"}, sensitive=["ill"], models=[shoal.KAnonymity(2)])
AGES = [20, 21, 22, 40, 41, 42, 60, 61, 62]
KINDS = shoal.Hierarchy.from_dict({"lungs": ["flu", "cold", "asthma"], "bones": ["break", "sprain", "gout"]})


def shown(classes: list[int], ill: list[str]) -> dict[str, Any]:
    """Return ages published as intervals of so many records, with these illnesses."""
    cells, at = [], 0
    for size in classes:
        cells += [f"[{AGES[at]}, {AGES[at + size - 1]}]"] * size
        at += size
    return {"age": cells, "ill": ill}


def one(
    ill: list[str], published: dict[str, Any], attack: Any, policy: Any = POLICY, **means: Any
) -> AttackResult:
    """Return the result of one attack on people of these illnesses."""
    found = shoal.attack({"age": AGES, "ill": ill}, published, policy, attacks=[attack], **means)
    assert not found.not_run, found
    return found.results[0]


def test_homogeneous_classes_name_everyone() -> None:
    ill = ["flu"] * 3 + ["cold"] * 3 + ["gout"] * 3
    found = one(ill, shown([3, 3, 3], ill), "homogeneity")
    assert found.success.value == 1
    assert found.baseline.value == pytest.approx(1 / 3)
    assert found.control is not None
    assert found.control.value == 1  # the other two give the value away


def test_nothing_is_learned_from_stars() -> None:
    ill = ["flu", "cold", "gout"] * 3
    stars = {"age": ["*"] * 9, "ill": ill}
    for attack in ("inference", "homogeneity", "skewness"):
        found = one(ill, stars, attack)
        assert found.success.value == pytest.approx(found.baseline.value)
        assert found.excess == 0
        assert not found.better_than_guessing
    linked = one(ill, stars, "linkage")
    assert linked.success.value == pytest.approx(1 / 9)
    assert linked.success.value == pytest.approx(linked.baseline.value)
    assert one(ill, stars, "linkability", known=["age", "ill"]).success.value < 0.4


def test_a_raw_table_gives_everyone_away() -> None:
    people = {"age": AGES, "ill": ["flu", "cold", "gout"] * 3}
    found = shoal.attack(people, people, POLICY, known=["age"])
    success = {result.attack: result.success.value for result in found.results}
    assert success["linkage"] == success["homogeneity"] == success["singling-out"] == 1


def test_a_skewed_class_is_claimed_and_an_even_one_is_not() -> None:
    ill = ["flu", "flu", "cold", "cold", "cold", "gout", "cold", "cold", "cold"]
    found = one(ill, shown([3, 3, 3], ill), Skewness(times=2.0))
    # flu is 3 times as common in the first class, gout 3 times in the second: 2 right, then 1.
    assert found.success.value == pytest.approx(3 / 9)
    assert found.details["claims"] == pytest.approx(6 / 9)
    assert found.baseline.value == pytest.approx((3 * 2 / 9 + 3 * 1 / 9) / 9)
    assert one(ill, shown([9], ill), Skewness(times=2.0)).success.value == 0


def test_who_can_rule_out_b_values_needs_b_more() -> None:
    ill = ["flu", "cold", "gout"] * 3
    published = shown([3, 3, 3], ill)
    values = [one(ill, published, Background(b=b)).success.value for b in (0, 1, 2)]
    assert values == pytest.approx([1 / 3, 2 / 3, 1])
    assert one(ill, published, Background(b=2)).details["no_other_value_left"] == 1
    assert one(ill, published, Background(b=1)).details["no_other_value_left"] == 0


def test_similar_values_name_the_kind() -> None:
    policy = shoal.Policy(quasi={"age": "numeric"}, sensitive={"ill": KINDS}, models=[shoal.KAnonymity(2)])
    ill = ["flu", "cold", "asthma", "break", "sprain", "gout", "flu", "gout", "flu"]
    published = shown([3, 3, 3], ill)
    assert one(ill, published, "homogeneity", policy).success.value == 0
    found = one(ill, published, "similarity", policy)
    assert found.success.value == pytest.approx(6 / 9)
    assert found.baseline.value == pytest.approx(3 / 9)
    people = {"age": AGES, "ill": ill}
    asked = shoal.attack(people, published, policy, attacks=[Similarity(level=2)])
    assert "no level 2" in asked.not_run[0].reason


def test_the_other_release_is_read_by_its_own_policy() -> None:
    """Decades of age are nodes of a hierarchy that the first release's policy does not know."""
    ill = ["flu", "cold", "gout", "asthma", "asthma", "break", "flu", "cold", "flu"]
    first = shown([2, 4, 3], ill)
    decades = {"age": ["2*"] * 3 + ["4*"] * 3 + ["6*"] * 3, "ill": ill}
    own = shoal.Policy(
        quasi={"age": shoal.Hierarchy.prefix()}, sensitive=["ill"], models=[shoal.KAnonymity(3)]
    )
    assert one(ill, first, "homogeneity").success.value == 0
    assert one(ill, decades, "homogeneity", policy=own).success.value == 0
    found = one(ill, first, "intersection", other=decades, other_policy=own)
    assert found.success.value == pytest.approx(1 / 9)  # 22 has gout, which both releases allow
    assert one(ill, first, "intersection", other=decades).success.value == 0  # cells that a number cannot be
    elsewhere = shoal.Policy(quasi=["town"], sensitive=["ill"], models=[shoal.KAnonymity(2)])
    people = {"age": AGES, "ill": ill, "town": ["a"] * 9}
    other = {"town": ["a"] * 9, "ill": ill}
    found_none = shoal.attack(
        people, first, POLICY, attacks=["intersection"], other=other, other_policy=elsewhere
    )
    assert "shares no known" in found_none.not_run[0].reason
    with pytest.raises(ParameterError, match="that of 'other'"):
        shoal.attack({"age": AGES, "ill": ill}, first, POLICY, other_policy=own)


def test_numbers_are_similar_when_they_are_near() -> None:
    policy = shoal.Policy(
        quasi={"age": "numeric"}, sensitive={"cost": "numeric"}, models=[shoal.KAnonymity(2)]
    )
    cost = [100, 101, 102, 500, 700, 900, 1000, 1040, 1050]
    published = {"age": shown([3, 3, 3], ["-"] * 9)["age"], "cost": cost}
    found = shoal.attack({"age": AGES, "cost": cost}, published, policy, attacks=[Similarity(within=0.053)])
    assert found.results[0].success.value == pytest.approx(6 / 9)
    assert found.results[0].baseline.value == pytest.approx(3 / 9)


def test_two_releases_name_whom_neither_does() -> None:
    ill = ["flu", "cold", "gout", "asthma", "asthma", "break", "flu", "cold", "flu"]
    first, second = shown([3, 3, 3], ill), shown([2, 4, 3], ill)  # gout is what the third has in both
    found = one(ill, first, "intersection", other=second)
    assert found.control is not None
    assert [one(ill, table, "homogeneity").success.value for table in (first, second)] == [0, 0]
    assert found.control.value == 0
    assert found.success.value == pytest.approx(1 / 9)
    assert shoal.attack({"age": AGES, "ill": ill}, first, POLICY, attacks=["intersection"]).not_run


def test_a_class_that_was_not_cut_says_why() -> None:
    policy = shoal.Policy(
        quasi={"age": "numeric"}, sensitive=["ill"], models=[shoal.KAnonymity(2), shoal.LDiversity(2)]
    )
    people = {"age": [20] * 5 + [40] * 4, "ill": list("aaabc") + ["hiv"] * 4}
    published = {"age": ["[20, 40]"] * 9, "ill": people["ill"]}
    attacks = [Minimality(shuffles=8000)]
    found = shoal.attack(people, published, policy, attacks=attacks).results[0]
    # Five of nine are too many to agree, so the four must: all of them have what four have.
    assert found.control is not None
    assert found.control.value == pytest.approx(4 / 9)
    assert found.success.value == pytest.approx(7 / 9)  # and most of the others what most others have
    plain = shoal.attack(people, published, POLICY, attacks=attacks)
    assert "no promise" in plain.not_run[0].reason


def test_two_lists_are_joined_through_the_table() -> None:
    people = {"age": AGES, "zip": list(range(9)), "job": list("abcdefghi")}
    policy = shoal.Policy(quasi=["age", "zip", "job"], models=[shoal.KAnonymity(2)])
    found = shoal.attack(people, people, policy, attacks=[Linkability(first=("age",))]).results[0]
    assert (found.success.value, found.baseline.value) == (1, pytest.approx(1 / 9))
    stars = {"age": ["*"] * 9, "zip": ["*"] * 9, "job": ["*"] * 9}
    found = shoal.attack(people, stars, policy, attacks=["linkability"]).results[0]
    assert found.success.value == pytest.approx(found.baseline.value)


def test_people_who_are_not_in_the_table_serve_as_control() -> None:
    ill = ["flu"] * 3 + ["cold"] * 3 + ["gout"] * 3
    strangers = {"age": [20, 41, 62, 61], "ill": ["flu", "gout", "gout", "gout"]}
    found = one(ill, shown([3, 3, 3], ill), "inference", control=strangers)
    assert found.control is not None
    assert (found.control.value, found.control.n) == (0.75, 4)
    assert "not in the table" in found.verdict


@pytest.mark.parametrize(
    "form", ["mean", "median", "mode", "centroid", "rho-noise", "random", "bounds", "set"]
)
def test_every_form_can_be_attacked(form: str) -> None:
    people = {"age": [20, 21, 22, 40, 41, 42, None, None], "ill": ["flu", "cold"] * 4}
    policy = shoal.Policy(
        quasi={"age": shoal.Column("age", kind="numeric", form=form)},
        sensitive=["ill"],
        models=[shoal.KAnonymity(2)],
    )
    release = shoal.anonymize(people, policy, algorithm="mondrian")
    found = release.attack()
    linked = next(result for result in found.results if result.attack == "linkage")
    assert linked.before is not None
    assert 1 / 8 <= linked.success.value <= 1
    assert linked.before.value == pytest.approx(7 / 8)  # two have no age
    risk = release.risk(fraction=0.1)
    noisy = form in ("rho-noise", "random")
    assert risk.after is not None
    assert risk.after.how == ("construction" if noisy else "published")
    assert risk.after.prosecutor.highest <= 0.5
    untold = shoal.attack(people, release.table, release.policy, attacks=["linkage"])
    vague = form not in ("bounds", "set")
    assert bool(untold.not_run) == vague
    assert ("homogeneity" in {attack.attack for attack in found.not_run}) == vague


def test_a_file_gives_the_same_as_the_table_it_was_written_from(tmp_path: Path) -> None:
    people = patients(records=600)
    quasi = ["age", "sex", "job", "zip", "admission"]
    release = shoal.anonymize(
        people, quasi=quasi, sensitive=["diagnosis"], identifiers=["name", "patient_id", "email"], k=4
    )
    release.write(tmp_path / "published.csv")
    read = io.read(str(tmp_path / "published.csv"))
    attacks = [Linkage(guess="fits"), "inference", "homogeneity", "skewness", "background"]
    told = release.attack(attacks=attacks, before=False)
    inferred = shoal.attack(people, read, release.policy, attacks=attacks)
    for one_result, other in zip(told.results, inferred.results, strict=True):
        assert one_result.success == other.success


def test_samples_are_stated_and_repeatable() -> None:
    people = patients(records=500)
    release = shoal.anonymize(people, quasi=["age", "sex", "zip"], sensitive=["diagnosis"], k=3)
    first = release.attack(sample=60, seed=4)
    again = release.attack(sample=60, seed=4)
    assert first.to_dict() == again.to_dict()
    assert first.people == 60
    assert {result.success.n for result in first.results if result.attack == "inference"} == {60}
    assert all(result.success.seed == 4 for result in first.results)
    assert release.attack(sample=60, seed=5).to_dict() != first.to_dict()


def test_no_result_holds_a_cell_value() -> None:
    n = 40
    people = {
        "age": [f"Canary{i % 5}" for i in range(n)],
        "town": [f"Hideaway{i % 7}" for i in range(n)],
        "ill": [f"Plague{i % 3}" for i in range(n)],
    }
    release = shoal.anonymize(people, quasi=["age", "town"], sensitive=["ill"], k=3, l=2)
    found = release.attack(other=release.table, control=people)
    risk = release.risk(fraction=0.2, population=people)
    audit = shoal.audit(people, quasi=["age", "town"], sensitive=["ill"], fraction=0.2)
    assert len({result.attack for result in found.results}) >= 8
    texts = [str(found), json.dumps(found.to_dict()), str(risk), json.dumps(risk.to_dict())]
    texts += [str(audit), json.dumps(audit.to_dict()), repr(audit)]
    for text in texts:
        assert not any(word in text for word in ("Canary", "Hideaway", "Plague"))


def test_nothing_published_is_no_attack() -> None:
    found = shoal.attack({"age": AGES, "ill": ["x"] * 9}, pa.table({"age": [], "ill": []}), POLICY)
    assert not found.results
    assert {attack.reason for attack in found.not_run} >= {"nothing is published"}


def test_wrong_input_is_refused() -> None:
    people = {"age": AGES, "ill": ["flu"] * 9}
    with pytest.raises(UnknownName, match="no attack 'linkag'"):
        shoal.attack(people, people, POLICY, attacks=["linkag"])
    with pytest.raises(UnknownName, match="'agee'"):
        shoal.attack(people, people, POLICY, known=["agee"])
    with pytest.raises(UnknownName, match="parameter of attack 'contol'"):
        shoal.attack(people, people, POLICY, contol=people)
    with pytest.raises(ParameterError, match="one record of the original"):
        shoal.attack(people, people, POLICY, rows=[0, 1])
    with pytest.raises(ParameterError, match="at least one column"):
        shoal.attack(people, people, POLICY, known=[[]])
    with pytest.raises(ParameterError, match="'sample'"):
        shoal.attack(people, people, POLICY, sample=0)
    with pytest.raises(UnknownName, match="no published column 'age'"):
        shoal.attack(people, {"ill": ["flu"]}, POLICY)
    with pytest.raises(PolicyError, match="no quasi-identifier"):
        shoal.attack(people, people, shoal.Policy(sensitive=["ill"]))
    with pytest.raises(PolicyError, match=r"lacks the columns"):
        shoal.attack(people, people, POLICY, control={"job": [1], "town": [1]})
    with pytest.raises(ParameterError, match="'b' of background"):
        Background(b=-1)
    with pytest.raises(ParameterError, match="'fraction' of risk"):
        shoal.risk(people, people, POLICY, fraction=0)
    with pytest.raises(ParameterError, match="population table lacks 'age'"):
        shoal.risk(people, people, POLICY, population={"job": [1]})
    with pytest.raises(DataError, match="published table lacks"):
        shoal.risk(people, {"ill": ["flu"]}, POLICY)
    assert SinglingOut().claims == 2000
