"""Every command does its work, for people and for programs."""

from __future__ import annotations

import csv
import json
from collections.abc import Callable
from io import StringIO
from pathlib import Path

import pytest
from click.testing import Result

import shoal
from shoal import __version__, registry

Run = Callable[..., Result]

ANONYMIZE = ("anonymize", "people.csv", "--policy", "policy.toml")


def _rows(path: Path) -> list[dict[str, str]]:
    with path.open(newline="") as stream:
        return list(csv.DictReader(stream))


def test_version_and_help(run: Run) -> None:
    assert run("--version").stdout == f"shoal {__version__}\n"
    for arguments in ((), ("anonymize",), ("demo",), ("init",), ("audit",), ("verify",), ("compare",)):
        result = run(*arguments, "--help")
        assert result.exit_code == 0
        assert "Usage: shoal" in result.stdout
    assert "Examples:" in run("anonymize", "--help").stdout
    assert run().exit_code == 2


def test_init_writes_a_commented_policy_without_values(run: Run, folder: Path) -> None:
    result = run("init", "people.csv", "--out", "new.toml")
    assert result.exit_code == 0, result.stderr
    text = (folder / "new.toml").read_text()
    assert "# int64, 40 distinct, 33% of the records have a value of their own, 0 nulls\n" in text
    assert "Person" not in text
    assert "flu" not in text
    policy = shoal.Policy.read(str(folder / "new.toml"))
    assert {c.name: str(c.role) for c in policy.schema.columns} == {
        "name": "identifier",
        "age": "quasi",
        "zip": "quasi",
        "disease": "sensitive",
    }
    assert policy.models == (shoal.KAnonymity(5), shoal.LDiversity(2))
    assert run("init", "people.csv", "--out", "new.toml", "--force").exit_code == 0
    assert run("init", "people.csv", "--out", "-").stdout == text


def test_init_as_json(run: Run) -> None:
    plain = json.loads(run("init", "people.csv", "--out", "-", "--json").stdout)
    assert plain["policy"]["columns"]["age"] == {"role": "quasi", "kind": "numeric"}
    assert plain["reasons"]["name"].endswith("identifier: the name says so (name)")


def test_audit(run: Run) -> None:
    result = run("audit", "people.csv", "--policy", "policy.toml")
    assert result.exit_code == 0, result.stderr
    assert "smallest class" in result.stdout
    plain = json.loads(run("audit", "people.csv", "--quasi", "age", "--quiet", "--json").stdout)
    assert plain["records"] == 60
    assert plain["quasi"] == ["age"]


BOUNDED = """\
[columns.age]
role = "quasi"
kind = "numeric"
domain = [0, 120]

[[models]]
name = "k-anonymity"
k = 10
"""


def test_dp_centroid_writes_its_proof_and_only_bounded_columns(run: Run, folder: Path) -> None:
    (folder / "bounded.toml").write_text(BOUNDED)
    command = ("dp-centroid", "people.csv", "--policy", "bounded.toml", "--epsilon", "2")
    result = run(*command, "--out", "out.csv")
    assert result.exit_code == 0, result.stderr
    assert "differential-privacy" in result.stdout
    assert "sequential" in result.stdout
    assert list(_rows(folder / "out.csv")[0]) == ["age"]
    assert json.loads(run(*command, "--json").stdout)["evidence"]["promises"][0]["achieved"] <= 2
    assert "exists" in run(*command, "--out", "out.csv").stderr
    for policy, epsilon, words in (
        ("bounded.toml", "-1", "at least 1e-12"),
        ("policy.toml", "1", "has no bounds"),
    ):
        refused = run(
            "dp-centroid", "people.csv", "--policy", policy, "--epsilon", epsilon, "--out", "no.csv"
        )
        assert refused.exit_code == 2
        assert words in refused.stderr
        assert not (folder / "no.csv").exists()


def test_noise_is_fresh_unless_its_seed_is_given(run: Run, folder: Path) -> None:
    noisy = (folder / "policy.toml").read_text().replace("[columns.age]", '[columns.age]\nform = "rho-noise"')
    (folder / "policy.toml").write_text(noisy)
    command = (*ANONYMIZE, "--algorithm", "mdav", "--order", "keep", "--out")
    for name in ("a.csv", "b.csv"):
        assert "noise" not in run(*command, name).stderr
        assert "take the noise away" in run(*command, f"same-{name}", "--noise-seed", "3").stderr
    assert (folder / "a.csv").read_text() != (folder / "b.csv").read_text()
    assert (folder / "same-a.csv").read_text() == (folder / "same-b.csv").read_text()


def test_anonymize_writes_a_file_that_verifies(run: Run, folder: Path) -> None:
    result = run(*ANONYMIZE, "--out", "out.csv", "--labels", "labels.csv")
    assert result.exit_code == 0, result.stderr
    assert "VERDICT: the policy holds" in result.stdout
    assert "loss (gcp)" in result.stdout
    assert "keep it in the house" in result.stderr
    published = _rows(folder / "out.csv")
    assert "name" not in published[0]
    assert json.loads((folder / "out.csv.manifest.json").read_text())["evidence"]["holds"] is True
    labels = _rows(folder / "labels.csv")
    assert [int(row["row"]) for row in labels] == list(range(1, 61))
    checked = run("verify", "out.csv", "--policy", "policy.toml")
    assert checked.exit_code == 0, checked.output
    assert "k-anonymity" in checked.stdout


def test_kept_order_matches_the_labels(run: Run, folder: Path) -> None:
    arguments = ("--out", "out.csv", "--labels", "labels.csv", "--order", "keep", "--json")
    result = run(*ANONYMIZE, *arguments)
    plain = json.loads(result.stdout)
    assert plain["written"] == ["out.csv", "out.csv.manifest.json"]
    labels = [row["class"] for row in _rows(folder / "labels.csv")]
    kept = [label for label in labels if label != "-1"]
    cells = [(row["age"], row["zip"]) for row in _rows(folder / "out.csv")]
    by_label: dict[str, set[tuple[str, str]]] = {}
    for label, cell in zip(kept, cells, strict=True):
        by_label.setdefault(label, set()).add(cell)
    assert all(len(found) == 1 for found in by_label.values())
    assert len(by_label) > 1


def test_the_short_way_and_parameters(run: Run, folder: Path) -> None:
    result = run(
        "anonymize", "people.csv", "--quasi", "age,zip", "--sensitive", "disease", "--identifiers", "name",
        "-k", "4", "-l", "2", "-t", "0.5", "--suppression", "0.1", "--algorithm", "mondrian",
        "--set", "relaxed=true", "--seed", "7", "--out", "out.csv", "--json",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    plain = json.loads(result.stdout)
    assert plain["algorithm"] == {"name": "mondrian", "parameters": {"relaxed": True}}
    assert plain["seed"] == 7
    assert [promise["model"] for promise in plain["evidence"]["promises"]] == [
        "k-anonymity",
        "l-diversity",
        "t-closeness",
    ]


def test_what_auto_tried_is_shown(run: Run) -> None:
    shown = run("anonymize", "people.csv", "-p", "policy.toml")
    assert shown.exit_code == 0
    assert "auto chose" in shown.stdout
    for word in ("start", "loss", "refined", "seconds", "chosen"):
        assert word in shown.stdout
    alone = run("anonymize", "people.csv", "-p", "policy.toml", "-a", "mondrian")
    assert "auto chose" not in alone.stdout


def test_refine_with_and_without_a_time(run: Run) -> None:
    plain = run("anonymize", "people.csv", "-p", "policy.toml", "-a", "mondrian", "--json")
    for refine in (["--refine"], ["--refine", "0.1s"]):
        result = run("anonymize", "people.csv", "-p", "policy.toml", "-a", "mondrian", *refine, "--json")
        assert result.exit_code == 0
        told = json.loads(result.stdout)
        assert told["refinement"]["after"] <= told["refinement"]["before"]
        assert told["metrics"]["gcp"] <= json.loads(plain.stdout)["metrics"]["gcp"]
    shown = run("anonymize", "people.csv", "-p", "policy.toml", "--refine", "0.1s")
    assert "refined (gcp):" in shown.stdout
    wrong = run("anonymize", "people.csv", "-p", "policy.toml", "--refine", "soon")
    assert wrong.exit_code == 2
    assert "refine" in wrong.stderr


def test_refine_loss_names_what_is_lowered_and_implies_refine(run: Run) -> None:
    for words in (["--refine-loss", "lm"], ["--refine", "0.1s", "--refine-loss", "lm"]):
        told = json.loads(run("anonymize", "people.csv", "-p", "policy.toml", *words, "--json").stdout)
        assert told["refinement"]["loss"] == "lm"
    wrong = run("anonymize", "people.csv", "-p", "policy.toml", "--refine-loss", "beauty")
    assert wrong.exit_code == 2
    assert "loss" in wrong.stderr


def test_refine_set_reaches_every_parameter_of_refining(run: Run) -> None:
    words = ["anonymize", "people.csv", "-p", "policy.toml", "-a", "mondrian"]
    told = json.loads(run(*words, "--refine-set", "moves=50", "--refine-set", "tries=3", "--json").stdout)
    assert told["refinement"]["parameters"]["tries"] == 3
    assert told["refinement"]["parameters"]["moves"] == 50
    for wrong, said in (("speed=1", "speed"), ("tries", "NAME=VALUE"), ("target=beauty", "beauty")):
        result = run(*words, "--refine-set", wrong)
        assert result.exit_code == 2
        assert said in result.stderr


def test_without_out_nothing_is_written(run: Run, folder: Path) -> None:
    before = sorted(folder.iterdir())
    result = run(*ANONYMIZE)
    assert result.exit_code == 0
    assert "Nothing was written" in result.stdout
    assert "Nothing was written" not in run(*ANONYMIZE, "--quiet").stdout
    assert sorted(folder.iterdir()) == before


def test_standard_input_and_output(run: Run, folder: Path) -> None:
    table = (folder / "people.csv").read_bytes()
    result = run("anonymize", "-", "--policy", "policy.toml", "--out", "-", input=table)
    assert result.exit_code == 0, result.stderr
    rows = list(csv.DictReader(StringIO(result.stdout)))
    assert set(rows[0]) == {"age", "zip", "disease"}
    assert "VERDICT: the policy holds" in result.stderr
    checked = run("verify", "-", "--policy", "policy.toml", input=result.stdout)
    assert checked.exit_code == 0


def test_pseudonyms_need_a_key_that_is_not_published(run: Run, folder: Path) -> None:
    text = (folder / "policy.toml").read_text()
    changed = text.replace('role = "identifier"', 'role = "identifier"\naction = "pseudonym"')
    (folder / "policy.toml").write_text(changed)
    assert run(*ANONYMIZE).exit_code == 2
    (folder / "key.txt").write_text("a secret of more than 16 bytes\n")
    result = run(*ANONYMIZE, "--out", "out.csv", "--key-file", "key.txt")
    assert result.exit_code == 0, result.stderr
    assert len(_rows(folder / "out.csv")[0]["name"]) == 32
    assert "secret" not in (folder / "out.csv.manifest.json").read_text()


def test_verify_refuses_what_does_not_hold(run: Run) -> None:
    result = run("verify", "people.csv", "--policy", "policy.toml")
    assert result.exit_code == 1
    assert "DOES NOT HOLD" in result.stdout
    assert json.loads(run("verify", "people.csv", "-p", "policy.toml", "--json").stdout)["holds"] is False


def test_compare(run: Run) -> None:
    result = run("compare", "people.csv", "-p", "policy.toml", "--ks", "2,5", "--json")
    assert result.exit_code == 0, result.stderr
    rows = json.loads(result.stdout)["rows"]
    names = [name for name in registry.names("algorithms") if name != "auto"]
    assert [(row["algorithm"], row["k"]) for row in rows] == [(name, k) for name in names for k in (2, 5)]
    assert all(row["holds"] and 0 <= row["gcp"] <= 1 for row in rows)
    shown = run("compare", "people.csv", "--quasi", "age,zip", "--ks", "3", "--algorithms", "mondrian")
    assert "Least loss for k=3: mondrian." in shown.stdout


def test_compare_says_what_cannot_be_met(run: Run) -> None:
    result = run("compare", "people.csv", "--quasi", "age", "--ks", "2,61", "--algorithms", "mondrian")
    assert result.exit_code == 1
    assert "mondrian, k=61: PolicyUnsatisfiable" in result.stdout


@pytest.mark.parametrize("group", ["algorithms", "models", "metrics", "attacks"])
def test_what_the_registry_holds(group: str, run: Run) -> None:
    listed = json.loads(run(group, "--json").stdout)[group]
    assert [each["name"] for each in listed] == registry.names(group)
    shown = run(group)
    for name in registry.names(group):
        assert name in shown.stdout
        assert json.loads(run(group, name, "--json").stdout)["name"] == name
        assert run(group, name).stdout.startswith(name)
    assert run(group, "no-such-name").exit_code == 2


@pytest.mark.real_data
def test_data_sets(run: Run) -> None:
    assert "adult" in run("datasets").stdout
    plain = json.loads(run("datasets", "adult", "--json").stdout)
    assert (plain["records"], len(plain["columns"])) == (32561, 15)
    assert "native-country" in plain["hierarchies"]
    assert "32,561 records" in run("datasets", "adult").stdout
    wrong = run("datasets", "adlut")
    assert wrong.exit_code == 2
    assert "Did you mean 'adult'?" in wrong.stderr


def test_columns_without_a_role_are_pointed_out(run: Run, folder: Path) -> None:
    short = ("--quasi", "age,zip", "--sensitive", "disease", "-k", "3")
    result = run("anonymize", "people.csv", *short, "--out", "out.csv")
    assert "note: the policy does not name 'name': published as they are" in result.stdout
    manifest = json.loads((folder / "out.csv.manifest.json").read_text())
    assert manifest["evidence"]["unnamed"] == ["name"]
    assert "does not name 'name'" in run("verify", "out.csv", *short).stdout
    assert "does not name" not in run(*ANONYMIZE).stdout


def test_a_smallest_set_is_shown_once(run: Run) -> None:
    shown = run("audit", "people.csv", "--quasi", "name").stdout
    assert shown.count("singled out by as few columns as: name") == 1
    assert "80% of the records" in shown
    assert "most revealing" not in shown
