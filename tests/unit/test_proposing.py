"""A proposed policy guesses roles from names and counts, says why, and quotes nothing."""

from __future__ import annotations

import datetime

import pyarrow as pa
import pytest

import shoal
from shoal.errors import DataError
from shoal.policy_file import loads
from shoal.proposing import propose
from shoal.schema import Kind, Role

NAMES = {
    Role.IDENTIFIER: "name patient_id Email telefon IBAN ssn Nachname prenom dni customerId MRN",
    Role.QUASI: "age sex PLZ zip_code birthDate Geburtsdatum ville nationality marital-status Beruf edad",
    Role.SENSITIVE: "diagnosis salary Gehalt religion hiv_status maladie enfermedad income exam_score",
    Role.WEIGHT: "fnlwgt sample_weight",
}


@pytest.mark.parametrize(("role", "name"), [(role, name) for role in NAMES for name in NAMES[role].split()])
def test_names_of_four_languages(role: Role, name: str) -> None:
    table = pa.table({name: [1, 2, 2, 3]})
    assert propose(table).columns[0].column.role is role


def test_accents_and_umlauts() -> None:
    table = pa.table({name: ["x", "y", "y"] for name in ("prénom", "Straße", "Staatsangehörigkeit")})
    roles = [proposed.column.role for proposed in propose(table).columns]
    assert roles == [Role.IDENTIFIER, Role.IDENTIFIER, Role.QUASI]


def test_counts_decide_where_the_name_says_nothing() -> None:
    table = pa.table(
        {"foo": ["a", "b", "c"], "bar": ["a", "a", "b"], "baz": ["a", "a", "a"], "qux": [1, 2, 3]}
    )
    roles = [proposed.column.role for proposed in propose(table).columns]
    assert roles == [Role.IDENTIFIER, Role.QUASI, Role.OTHER, Role.QUASI]


def test_kinds() -> None:
    day = datetime.date(2024, 1, 1)
    table = pa.table({"age": [1, 2, 2], "sex": ["f", "m", "m"], "birth": [day] * 3, "zip": [1, 2, 2]})
    columns = {proposed.column.name: proposed.column for proposed in propose(table).columns}
    kinds = [columns[name].kind for name in ("age", "sex", "birth", "zip")]
    assert kinds == [Kind.NUMERIC, Kind.CATEGORICAL, Kind.DATE, Kind.CATEGORICAL]
    assert columns["zip"].hierarchy == shoal.Hierarchy.prefix()


def test_a_name_of_a_place_is_no_name_of_a_person() -> None:
    table = pa.table({"country_name": ["x", "x", "y"], "city_id": [1, 1, 2]})
    assert {proposed.column.role for proposed in propose(table).columns} == {Role.QUASI}


def test_models_follow_the_roles() -> None:
    assert propose(pa.table({"age": [1]})).policy.models == (shoal.KAnonymity(5),)
    both = propose(pa.table({"age": [1], "income": [1]})).policy.models
    assert both == (shoal.KAnonymity(5), shoal.LDiversity(2))


def test_the_file_reads_back_and_holds_no_values() -> None:
    table = pa.table(
        {
            "name": ["Mata Hari", None, "Sherlock"],
            "city": pa.array(["Secretville", "Secretville", None]).dictionary_encode(),
            "visit": ["2024-01-01", "2024-01-02", None],
            "score": [4.25, float("nan"), 7.5],
        }
    )
    proposal = propose(table)
    text = proposal.to_toml()
    assert loads(text) == proposal.policy
    assert not any(value in text for value in ("Mata", "Sherlock", "Secretville", "2024-01", "4.25", "7.5"))
    assert "look like dates" in text
    assert "2 distinct, 67% of the records have a value of their own, 1 nulls" in text


def test_an_empty_table_has_no_counts() -> None:
    with pytest.raises(DataError, match="no records"):
        propose(pa.table({"age": pa.array([], pa.int64())}))
