"""Reports: what they hold, what they never hold, and how they look in a browser."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest

import shoal
from browser import Browser
from shoal.errors import DataError, ParameterError, UnknownName, WriteError
from shoal.report.build import Report
from shoal.report.facts import class_sizes, published_sizes

from .conftest import CANARIES, STRANGE, Planted


@pytest.fixture(scope="module")
def report(planted: Planted) -> Report:
    """Return the report on the release with canaries, with everything a report can hold."""
    compared = shoal.compare(planted.table, planted.policy, algorithms=["mondrian", "top-down"], k=[4, 8])
    return planted.release.report(target="note", compared=compared, queries=100, fraction=0.1)


def forms_of(canary: object) -> set[str]:
    """Return the ways a value may be written: as it is, with thousands separated, as a rounded number."""
    found = {str(canary)}
    if isinstance(canary, int | float):
        found |= {f"{canary:,}", f"{canary:.6g}", f"{abs(canary):,}", repr(float(canary)), str(int(canary))}
    return found


def visible(html: str) -> str:
    """Return a page without its vendored scripts: 97531 is a number in them."""
    return re.sub(r"<script>.*?</script>", "", html, flags=re.DOTALL)


@pytest.mark.parametrize("name", list(CANARIES))
def test_no_canary_is_in_any_output(name: str, report: Report, planted: Planted) -> None:
    planted_value = planted.table[name][-1].as_py()
    assert str(CANARIES[name]) in (str(planted_value), getattr(planted_value, "isoformat", str)())
    for text in (visible(report.html()), report.json(), report.markdown()):
        found = [form for form in forms_of(CANARIES[name]) if form in text]
        assert not found, f"{name} is in a report"


def test_no_canary_is_in_a_report_on_the_two_tables(planted: Planted) -> None:
    made = shoal.report(planted.table, planted.release.published, planted.policy, queries=20)
    text = visible(made.html()) + made.json() + made.markdown()
    assert not [name for name, canary in CANARIES.items() if any(form in text for form in forms_of(canary))]


def test_a_rare_value_of_every_size_below_k_is_merged(planted: Planted) -> None:
    for held in (1, 3, 4):
        jobs = planted.table["job"].to_pylist()
        jobs[-held:] = ["rare-job"] * held
        place = planted.table.column_names.index("job")
        table = planted.table.set_column(place, "job", pa.array(jobs))
        policy = shoal.Policy(quasi=["job"], models=[shoal.KAnonymity(2)], suppression=0.05)
        text = shoal.anonymize(table, policy, algorithm="mondrian").report(queries=10).json()
        assert "rare-job" not in text, held


def test_names_of_columns_are_text_and_never_markup(report: Report) -> None:
    html = report.html()
    assert STRANGE not in html
    assert "&lt;script&gt;alert(" in html
    assert STRANGE not in report.markdown()
    assert STRANGE in report.to_dict()["verdict"]["quasi"]


def test_the_page_forbids_everything_it_does_not_need(report: Report) -> None:
    html = report.html()
    policy = re.search(r'http-equiv="Content-Security-Policy" content="([^"]*)"', html)
    assert policy is not None
    assert "default-src 'none'" in policy[1]
    assert "unsafe-eval" not in policy[1]
    assert "'unsafe-inline'" not in policy[1].split("script-src")[1].split(";")[0]
    assert not re.search(r'<[^>]+ (src|on\w+)="(?!data:)', visible(html))


def test_the_numbers_are_those_of_the_release(report: Report, planted: Planted) -> None:
    facts, release = report.to_dict(), planted.release
    assert facts["verdict"]["holds"] is release.evidence.holds
    assert facts["verdict"]["classes"] == release.evidence.classes
    assert facts["cost"]["by_column"] == pytest.approx(release.metrics["ncp"])
    assert facts["cost"]["gcp"] == pytest.approx(release.metrics["gcp"])
    assert [p["achieved"] for p in facts["promises"]] == [p.achieved for p in release.evidence.promises]
    assert sum(row["classes"] for row in facts["classes"]) == release.evidence.classes
    assert facts["risk"]["after"]["records"] == release.prepared.table.data.num_rows
    assert facts["attacks"]["results"]
    assert facts["comparison"]
    assert facts["repeat"]["seed"] == release.seed


def test_the_json_is_the_same_numbers(report: Report, tmp_path: Path) -> None:
    report.write(tmp_path / "report.json")
    assert json.loads((tmp_path / "report.json").read_text()) == report.to_dict()


def test_the_hash_of_the_input_is_told_on_request_only(planted: Planted) -> None:
    found = planted.release.evidence.provenance["input_sha256"]
    quiet = planted.release.report(queries=5, attacks=False)
    assert found not in quiet.html() + quiet.json() + quiet.markdown()
    told = planted.release.report(queries=5, attacks=False, input_hash=True)
    assert told.to_dict()["repeat"]["sha256"]["input"] == found
    assert found in told.html()


def test_a_table_that_breaks_its_promise_is_reported_as_such() -> None:
    policy = shoal.Policy(quasi={"age": "numeric"}, models=[shoal.KAnonymity(3)])
    made = shoal.report({"age": [20, 29, 40]}, {"age": ["[20, 29]", "[20, 29]", "40"]}, policy, queries=5)
    assert made.to_dict()["verdict"]["holds"] is False
    assert "The policy does not hold" in made.html()
    assert "broken by 2 classes" in made.html()
    assert "does not hold" in made.markdown()


def test_tables_that_do_not_belong_together_are_refused() -> None:
    policy = shoal.Policy(quasi={"job": "categorical"}, models=[shoal.KAnonymity(2)])
    with pytest.raises(DataError, match="2 published cells of column 'job'") as caught:
        shoal.report({"job": ["a", "b"]}, {"job": ["secret", "secret"]}, policy, attacks=False)
    assert "secret" not in str(caught.value)
    with pytest.raises(DataError, match="lacks 'job'"):
        shoal.report({"job": ["a", "b"]}, {"other": ["x", "x"]}, policy, attacks=False)


def test_bad_wishes_are_refused(planted: Planted, tmp_path: Path) -> None:
    with pytest.raises(UnknownName, match="setting of a workload"):
        planted.release.report(querys=5)
    with pytest.raises(UnknownName, match="published column"):
        planted.release.report(target="nothing")
    report = planted.release.report(queries=5, attacks=False)
    with pytest.raises(ParameterError, match="no format of a report"):
        report.write(tmp_path / "report.pdf")
    with pytest.raises(WriteError, match="cannot be written"):
        report.write(tmp_path / "no such folder" / "report.html")


def test_class_sizes_count_every_record_once() -> None:
    sizes = np.array([1, 1, 4, 5, 17, 1200, 3])
    rows = class_sizes(sizes)
    assert sum(row["records"] for row in rows) == sizes.sum()
    assert sum(row["classes"] for row in rows) == len(sizes)
    assert class_sizes(sizes[:0]) == []


def test_groups_of_published_cells_know_null() -> None:
    policy = shoal.Policy(quasi=["a", "b"])
    table = pa.table({"a": ["x", None, None, "x"], "b": ["1", "1", "1", "1"]})
    assert sorted(published_sizes(table, policy).tolist()) == [2, 2]


@pytest.mark.browser
@pytest.mark.parametrize("width", [1280, 400])
@pytest.mark.parametrize("dark", [False, True])
def test_the_page_in_a_browser(
    report: Report, browser: Browser, tmp_path: Path, width: int, dark: bool
) -> None:
    report.write_html(tmp_path / "report.html")
    page = browser.open((tmp_path / "report.html").as_uri(), width=width, dark=dark)
    assert page.complaints == []
    assert page.requests == []
    assert page.overflow() == 0
    charts = page.evaluate("document.querySelectorAll('.chart').length")
    assert charts == page.evaluate("document.querySelectorAll('.chart svg').length") > 10
    widest = page.evaluate(
        "Math.max(...[...document.querySelectorAll('.chart svg')].map(s => s.getBoundingClientRect().right))"
    )
    assert widest <= width
    assert page.text("h1") == "The policy holds"
    page.close()


@pytest.mark.browser
def test_the_page_on_paper(report: Report, browser: Browser, tmp_path: Path) -> None:
    report.write_html(tmp_path / "report.html")
    page = browser.open((tmp_path / "report.html").as_uri(), width=1000, dark=True)
    media = [{"name": "prefers-color-scheme", "value": "dark"}]
    page.call("Emulation.setEmulatedMedia", media="print", features=media)
    page.resize(690)
    assert page.overflow() == 0
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert page.evaluate("getComputedStyle(document.querySelector('nav')).display") == "none"
    assert len(page.call("Page.printToPDF", preferCSSPageSize=True)["data"]) > 10_000
    assert page.complaints == []
    page.close()


def test_what_auto_tried_and_the_least_squared_error_are_told() -> None:
    quasi = {name: shoal.Column(name, kind="numeric", form="mean") for name in ("a", "b")}
    policy = shoal.Policy(quasi=quasi, models=[shoal.KAnonymity(3)])
    table = {"a": [float(i * i % 17) for i in range(40)], "b": [float(i * 7 % 23) for i in range(40)]}
    html = visible(shoal.anonymize(table, policy).report().html())
    assert "auto chose" in html
    assert "What auto tried" in html
    assert "of the squared deviations unexplained" in html
