"""The browser that page tests use notices what they rely on it to notice."""

from __future__ import annotations

from pathlib import Path

import pytest

from browser import Browser, BrowserError

VIEWPORT = "<meta name='viewport' content='width=device-width'>"
QUIET = f"<!DOCTYPE html>{VIEWPORT}<title>quiet</title><p id='word'>hello</p><button id='b'>go</button>"
LOUD = """<!DOCTYPE html><title>loud</title><img src="http://localhost:9/pixel.png">
<p style="width: 2000px">wide</p>
<script>console.error("as it should not"); setTimeout(() => { throw new Error("unseen"); }, 0);</script>"""


def page_of(folder: Path, html: str) -> str:
    """Return the address of a page with this content."""
    path = folder / "page.html"
    path.write_text(html, encoding="utf-8")
    return path.as_uri()


@pytest.mark.browser
def test_a_quiet_page_has_nothing_to_complain_about(browser: Browser, tmp_path: Path) -> None:
    page = browser.open(page_of(tmp_path, QUIET), width=390, dark=True)
    assert (page.complaints, page.requests, page.overflow()) == ([], [], 0)
    assert page.text("#word") == "hello"
    assert page.evaluate("matchMedia('(prefers-color-scheme: dark)').matches") is True
    assert page.evaluate("window.innerWidth") == 390
    assert page.screenshot(tmp_path / "page.png").read_bytes()[:4] == b"\x89PNG"
    page.close()


@pytest.mark.browser
def test_errors_requests_and_overflow_are_noticed(browser: Browser, tmp_path: Path) -> None:
    page = browser.open(page_of(tmp_path, LOUD), width=390)
    assert any("as it should not" in complaint for complaint in page.complaints)
    assert any("unseen" in complaint for complaint in page.complaints)
    assert page.requests == ["http://localhost:9/pixel.png"]
    assert page.overflow() > 1000
    page.close()


@pytest.mark.browser
def test_it_clicks_types_and_refuses_what_is_not_there(browser: Browser, tmp_path: Path) -> None:
    html = QUIET + "<input id='name'>"
    page = browser.open(page_of(tmp_path, html))
    page.evaluate("document.querySelector('#b').addEventListener('click', () => document.title = 'went')")
    page.click("#b")
    page.fill("#name", 'a "quoted" name')
    assert page.evaluate("[document.title, document.querySelector('#name').value]") == [
        "went",
        'a "quoted" name',
    ]
    with pytest.raises(BrowserError, match="never true"):
        page.wait_for("document.querySelector('#missing')", seconds=0.2)
    with pytest.raises(BrowserError, match="nothing"):
        page.evaluate("(() => { throw new Error('nothing'); })()")
    page.close()
