"""The invented patients: the same every time, and as dangerous as the demonstration says."""

from __future__ import annotations

import pyarrow.compute as pc

from shoal.auditing import audit_table
from shoal.demo import QUASI, RECORDS, SENSITIVE, demo_policy, patients


def test_a_seed_gives_one_table() -> None:
    assert patients(500, seed=1).equals(patients(500, seed=1))
    assert not patients(500, seed=1).equals(patients(500, seed=2))
    assert patients(3).num_rows == 3


def test_it_has_what_the_policy_speaks_about() -> None:
    table = patients()
    policy = demo_policy().resolved(table)
    assert table.num_rows == RECORDS
    assert [column.name for column in policy.schema.quasi] == list(QUASI)
    assert [column.name for column in policy.schema.sensitive] == list(SENSITIVE)
    assert pc.count_distinct(table["patient_id"]).as_py() == RECORDS
    assert pc.count_distinct(table["diagnosis"]).as_py() == 12
    nulls = {name: table[name].null_count for name in table.column_names if table[name].null_count}
    assert set(nulls) == {"education", "job", "zip"}


def test_a_homogeneity_attack_succeeds_on_it() -> None:
    diagnosis, _cost = audit_table(patients(), QUASI, SENSITIVE).sensitive
    assert diagnosis.certain > 200  # people who share their class, all with one illness
    assert diagnosis.l == 1


def test_illness_follows_job() -> None:
    table = patients()
    miners = table.filter(pc.equal(table["job"], "miner"))["diagnosis"]
    ill = pc.mean(pc.equal(miners, "silicosis").cast("int8")).as_py()
    overall = pc.mean(pc.equal(table["diagnosis"], "silicosis").cast("int8")).as_py()
    assert ill > 0.5 > 0.1 > overall
