"""The page in a real browser: every step by mouse and by keyboard, wide and narrow, light and dark."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from browser import Browser, Page
from ui_servers import Running

pytestmark = pytest.mark.browser

JOBS, ILLNESSES = ("nurse", "clerk", "miner"), ("flu", "asthma", "HIV", "stroke")


@pytest.fixture(scope="module")
def people(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a small table about people."""
    chance = random.Random(2)
    lines = [
        f"p{i},{chance.randint(20, 79)},{chance.choice(JOBS)},{chance.choice(ILLNESSES)}" for i in range(300)
    ]
    path = tmp_path_factory.mktemp("people") / "people.csv"
    path.write_text("\n".join(["name,age,job,diagnosis", *lines]) + "\n")
    return path


def there(selector: str) -> str:
    """Return the expression that is true once an element is there."""
    return f"document.querySelector({selector!r}) !== null"


def at(step: str) -> str:
    """Return the expression that is true once a step is shown."""
    return f"document.querySelector('#step-{step}')?.getAttribute('aria-current') === 'step'"


def troubles(page: Page) -> list[str]:
    """Return what the browser complains about; it calls a stream that was read to its end aborted."""
    return [complaint for complaint in page.complaints if complaint != "not loaded: net::ERR_ABORTED"]


def looks_right(page: Page) -> None:
    """Fail where the page scrolls sideways, complains, or asks someone else for anything."""
    page.wait_for(there("main h1"))
    page.settle(0.15)
    assert page.overflow() == 0
    assert troubles(page) == []
    assert all(url.startswith("http://127.0.0.1:") for url in page.requests)
    assert page.evaluate("document.querySelectorAll('main h1').length") == 1
    unnamed = "[...document.querySelectorAll('button, input, select, [role=button]')].filter(e => "
    unnamed += "!(e.textContent?.trim() || e.ariaLabel || e.getAttribute('aria-label') || e.labels?.length))"
    assert page.evaluate(f"{unnamed}.map(e => e.outerHTML)") == []


@pytest.fixture(scope="module")
def opened(browser: Browser, running: Running, people: Path) -> str:
    """Return the address of a table that is open already, step by step after its ``#/``."""
    page = browser.open(running.link)
    page.choose_files("#file", people)
    page.wait_for(there(".audit .big"))
    address = str(page.evaluate("location.hash.split('/')[1]"))
    page.close()
    return address


def open_at(browser: Browser, running: Running, place: str, **options: object) -> Page:
    """Return a page of the running server that holds the token, at an address of its own."""
    page = browser.open(running.link, settle=0.2, **options)  # type: ignore[arg-type]
    page.wait_for(there("main h1"))
    page.evaluate(f"location.hash = '#/{place}'")
    return page


def test_every_step_by_mouse(browser: Browser, running: Running, people: Path, tmp_path: Path) -> None:
    page = browser.open(running.link, width=1280, height=900)
    page.call("Browser.setDownloadBehavior", behavior="allow", downloadPath=str(tmp_path))
    assert "token" not in page.evaluate("location.href")
    looks_right(page)
    page.choose_files("#file", people)
    page.wait_for(at("columns") + " && " + there(".audit .big"))
    assert "of the people are unique on these 2 columns" in page.text(".audit")
    page.click_at("#c-1-levels")
    page.fill("#c-1-hierarchy", "intervals")
    page.wait_for("document.querySelectorAll('.levels li').length === 5")
    page.fill("#c-1-h-widths", "10, 20")
    page.wait_for("document.querySelectorAll('.levels li').length === 4")
    page.fill("#c-2-role", "other")
    page.wait_for("document.querySelector('.audit').innerText.includes('this column')")
    page.click_at("#undo")
    page.wait_for("document.querySelector('.audit').innerText.includes('these 2 columns')")
    looks_right(page)
    page.click_at("#next")
    page.wait_for(at("promise"))
    page.click_at(".preset:nth-of-type(2) b")
    page.wait_for(there(".promised .notice.good"))
    page.click_at("#models summary")
    page.fill("#m-0-k", "0")
    page.wait_for(there(".promised .notice.bad"))
    assert page.evaluate("document.querySelector('#next').disabled")
    page.click_at("#undo")
    page.wait_for(there(".promised .notice.good"))
    looks_right(page)
    page.click_at("#next")
    page.wait_for(at("candidates"))
    only_mondrian(page)
    page.click_at("#try")
    page.wait_for("document.querySelectorAll('.point').length === 3 && !document.querySelector('.work')")
    looks_right(page)
    page.click_at(".point")
    page.wait_for(at("inspect") + " && " + there(".pair") + " && " + there("#attacks tbody tr"))
    assert "Nobody has these rows" in page.text("main")
    assert "removed" not in page.text(".pairs")
    page.click_at("#real")
    page.wait_for("document.querySelector('.pairs').innerText.includes('removed')")
    assert "These are real people" in page.text("main")
    looks_right(page)
    page.click_at("#next")
    page.wait_for(there(".verdict.holds"))
    assert "--order sort" in page.text("#command")
    looks_right(page)
    page.wait_for(there("#get-report"))
    for file, name in (("table", "published.csv"), ("policy", "policy.toml"), ("report", "report.html")):
        page.click_at(f"#get-{file}")
        page.wait_for("true")
        wait_for_file(page, tmp_path / name)
    assert troubles(page) == []
    page.close()


def only_mondrian(page: Page) -> None:
    """Leave one quick algorithm among those that are tried."""
    page.evaluate(
        "[...document.querySelectorAll('.algorithms label')].forEach(label => {"
        " const box = label.querySelector('input');"
        " if (box.checked !== (label.querySelector('b').textContent === 'mondrian')) box.click(); })"
    )
    page.wait_for("document.querySelectorAll('.algorithms input:checked').length === 1")


def wait_for_file(page: Page, path: Path) -> None:
    for _ in range(100):
        if path.exists() and path.stat().st_size:
            return
        page.settle(0.1)
    raise AssertionError(f"{path.name} was never downloaded")


def test_every_step_by_keyboard_on_a_telephone_in_the_dark(
    browser: Browser, running: Running, people: Path
) -> None:
    page = browser.open(running.link, width=400, height=800, dark=True)
    looks_right(page)
    page.tab_to("#path")
    page.type(str(people))
    page.press("Enter")
    page.wait_for(at("columns") + " && " + there(".audit .big"))
    assert page.evaluate("document.activeElement.tagName") == "H1"
    page.tab_to("#c-2-role")
    page.press("ArrowDown")
    page.wait_for("document.querySelector('#c-2-role').value === 'sensitive'")
    page.press("z", control=True)
    page.wait_for("document.querySelector('#c-2-role').value === 'quasi'")
    page.tab_to("#redo")
    page.press("Enter")
    page.wait_for("document.querySelector('#c-2-role').value === 'sensitive'")
    page.tab_to("#undo", most=200)
    page.press("Space")
    page.wait_for("document.querySelector('#c-2-role').value === 'quasi'")
    looks_right(page)
    page.tab_to("#next")
    page.press("Enter")
    page.wait_for(at("promise"))
    page.tab_to("input[name=preset]")
    page.press("Space")
    page.wait_for(there(".preset.on") + " && " + there(".promised .notice.good"))
    page.press("ArrowDown")
    page.wait_for("document.querySelectorAll('.preset')[1].classList.contains('on')")
    page.wait_for(there(".promised .notice.good"))
    looks_right(page)
    page.tab_to("#next")
    page.press("Enter")
    page.wait_for(at("candidates"))
    only_mondrian(page)
    page.tab_to("#try")
    page.press("Enter")
    page.wait_for("document.querySelectorAll('.point').length === 3 && !document.querySelector('.work')")
    looks_right(page)
    page.tab_to(".point", most=200)
    page.press("ArrowRight")
    page.press("Enter")
    page.wait_for(at("inspect") + " && " + there(".pair") + " && " + there("#attacks tbody tr"))
    looks_right(page)
    page.tab_to("#next")
    page.press("Enter")
    page.wait_for(there(".verdict.holds"))
    looks_right(page)
    page.tab_to("#step-columns", most=200)
    page.press("Enter")
    page.wait_for(at("columns"))
    page.close()


def test_a_wrong_link_shows_nothing(browser: Browser, running: Running) -> None:
    page = browser.open(f"{running.origin}/#token=wrong", width=400)
    assert "Open the link from the terminal" in page.text()
    assert troubles(page) == [
        "Failed to load resource: the server responded with a status of 401 (Unauthorized)"
    ]
    page.close()
    page = browser.open(f"{running.origin}/")
    assert "Open the link from the terminal" in page.text()
    assert troubles(page) == []
    page.close()


def test_a_page_from_elsewhere_gets_nothing(browser: Browser, running: Running, tmp_path: Path) -> None:
    (tmp_path / "evil.html").write_text("<!DOCTYPE html><title>evil</title><iframe id=f></iframe>")
    page = browser.open((tmp_path / "evil.html").as_uri())
    token = running.link.partition("token=")[2]
    asking = f"fetch('{running.origin}/api/spaces', {{headers: {{Authorization: 'Bearer {token}'}}}})"
    assert page.evaluate(f"{asking}.then(() => 'answered', () => 'refused')") == "refused"
    page.evaluate(f"document.querySelector('#f').src = '{running.origin}/'")
    page.settle(0.3)
    assert any("frame-ancestors" in complaint or "X-Frame" in complaint for complaint in page.complaints)
    page.close()


def test_a_large_file_is_sent_to_its_path(browser: Browser, running: Running, tmp_path: Path) -> None:
    with (tmp_path / "large.csv").open("wb") as large:
        large.truncate(200 << 20)
    page = browser.open(running.link, width=400)
    page.choose_files("#file", tmp_path / "large.csv")
    page.wait_for(there(".notice.bad"))
    assert "This file has 200 MB; at most 100 MB can be uploaded" in page.text(".notice.bad")
    assert "Give its path" in page.text(".notice.bad")
    looks_right(page)
    page.close()


def test_a_file_that_is_no_table_says_so(browser: Browser, running: Running, tmp_path: Path) -> None:
    (tmp_path / "photo.csv").write_bytes(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 40)
    page = browser.open(running.link)
    page.choose_files("#file", tmp_path / "photo.csv")
    page.wait_for(there(".opening .notice.bad"))
    assert "photo" in page.text(".opening") or "text" in page.text(".opening")
    page.click_at("#other-file")
    page.wait_for(there("#choose"))
    assert troubles(page) == []
    page.close()


def test_a_reload_in_the_middle_of_a_job_finds_it_again(
    browser: Browser, running: Running, opened: str
) -> None:
    page = open_at(browser, running, f"{opened}/candidates")
    page.wait_for(there("#ks"))
    page.fill("#ks", ", ".join(map(str, range(2, 60))))
    page.click("#try")
    page.wait_for(there(".work") + " && " + there(".point"))
    page.call("Page.reload")
    page.wait_for(at("candidates") + " && " + there(".work") + " && " + there(".point"))
    page.click("#stop-trying")
    page.wait_for("!document.querySelector('.work')")
    assert "was stopped" in page.text("main")
    found = page.evaluate("document.querySelectorAll('.results tbody tr').length")
    page.settle(0.5)
    assert page.evaluate("document.querySelectorAll('.results tbody tr').length") == found
    page.close()


def test_two_tabs_at_once(browser: Browser, running: Running, opened: str) -> None:
    one = open_at(browser, running, f"{opened}/columns")
    two = open_at(browser, running, f"{opened}/columns")
    for page in (one, two):
        page.wait_for(there(".audit .big"))
    one.fill("#c-2-role", "other")
    one.wait_for("document.querySelector('.audit').innerText.includes('this column')")
    two.fill("#c-1-role", "sensitive")
    two.wait_for(there(".notice.bad"))
    assert "Another tab changed these decisions" in two.text(".notice.bad")
    two.wait_for("document.querySelector('#c-2-role')?.value === 'other'")
    assert two.evaluate("document.querySelector('#c-1-role').value") == "quasi"
    one.close()
    two.close()


def test_the_end_of_the_program_is_said(browser: Browser, tmp_path: Path) -> None:
    started = Running(tmp_path)
    page = browser.open(started.link)
    page.wait_for(there("#demo"))
    started.end()
    page.click("#demo")
    page.wait_for(there(".notice.bad"))
    assert "Start it again in the terminal" in page.text(".notice.bad")
    page.close()
