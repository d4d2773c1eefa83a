"""A real browser for tests: headless Chromium, spoken to over a pipe (Chrome DevTools Protocol).

Everything the page complains about is collected, and so is every request it makes. Tests ask for the fixture
``browser`` and carry the mark of the same name::

    @pytest.mark.browser
    def test_the_page(browser: Browser) -> None:
        page = browser.open("file:///tmp/report.html", width=390, dark=True)
        assert page.complaints == []
        assert page.requests == []
        page.screenshot("report.png")
"""

from __future__ import annotations

import base64
import contextlib
import itertools
import json
import os
import select
import shutil
import subprocess
import tempfile
import time
from pathlib import Path
from types import TracebackType
from typing import Any

EXECUTABLE = shutil.which("chromium") or shutil.which("chromium-browser") or shutil.which("google-chrome")
_FLAGS = (
    "--headless=new",
    "--no-sandbox",  # containers run tests as root, for whom Chromium has no sandbox
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-background-networking",
    "--disable-component-update",
    "--no-first-run",
    "--hide-scrollbars",
    "--remote-debugging-pipe",
)
_PATIENCE = 60.0  # seconds for any answer: two cores may be busy with other tests


# Key -> its code, its number, the text it types.
_KEYS = {
    "Tab": ("Tab", 9, ""),
    "Enter": ("Enter", 13, "\r"),
    "Space": ("Space", 32, " "),
    "Escape": ("Escape", 27, ""),
    "ArrowLeft": ("ArrowLeft", 37, ""),
    "ArrowUp": ("ArrowUp", 38, ""),
    "ArrowRight": ("ArrowRight", 39, ""),
    "ArrowDown": ("ArrowDown", 40, ""),
    "Home": ("Home", 36, ""),
    "End": ("End", 35, ""),
}


class BrowserError(AssertionError):
    """The browser did not do what was asked."""


class Browser:
    """One running Chromium; closed, with its folder removed, when the ``with`` block ends."""

    def __init__(self) -> None:
        if EXECUTABLE is None:
            raise BrowserError("no Chromium: apt-get install chromium")
        self._folder = tempfile.mkdtemp(prefix="shoal-browser-")
        down_read, self._write = os.pipe()
        self._read, up_write = os.pipe()
        shell = f'exec "$0" "$@" 3<&{down_read} 4>&{up_write}'
        self._process = subprocess.Popen(
            ["bash", "-c", shell, EXECUTABLE, *_FLAGS, f"--user-data-dir={self._folder}", "about:blank"],
            pass_fds=(down_read, up_write),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        )
        os.close(down_read)
        os.close(up_write)
        self._numbers = itertools.count(1)
        self._waiting = b""
        self.events: list[dict[str, Any]] = []

    def __enter__(self) -> Browser:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with contextlib.suppress(BrowserError, OSError):
            self.call("Browser.close")
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(timeout=10)
        if self._process.poll() is None:
            self._process.kill()
            self._process.wait()
        os.close(self._write)
        os.close(self._read)
        shutil.rmtree(self._folder, ignore_errors=True)

    def call(self, method: str, session: str | None = None, **parameters: Any) -> dict[str, Any]:
        """Return the answer to one command of the protocol; events met meanwhile are kept."""
        number = next(self._numbers)
        message: dict[str, Any] = {"id": number, "method": method, "params": parameters}
        if session is not None:
            message["sessionId"] = session
        content = json.dumps(message).encode() + b"\0"
        while content:
            content = content[os.write(self._write, content) :]
        until = time.monotonic() + _PATIENCE
        while True:
            answer = self._next(until, method)
            if answer.get("id") != number:
                self.events.append(answer)
            elif "error" in answer:
                raise BrowserError(f"{method}: {answer['error'].get('message')}")
            else:
                return dict(answer["result"])

    def listen(self, until: float) -> bool:
        """Keep one event that arrives before `until` (a time.monotonic()), and return whether one did."""
        try:
            self.events.append(self._next(until, ""))
        except BrowserError:
            return False
        return True

    def _next(self, until: float, method: str) -> dict[str, Any]:
        while b"\0" not in self._waiting:
            ready, _, _ = select.select([self._read], [], [], max(until - time.monotonic(), 0))
            if not ready:
                raise BrowserError(f"no answer to {method}")
            arrived = os.read(self._read, 1 << 16)
            if not arrived:
                raise BrowserError("the browser has ended")
            self._waiting += arrived
        message, _, self._waiting = self._waiting.partition(b"\0")
        return dict(json.loads(message))

    def open(
        self, url: str, *, width: int = 1280, height: int = 1600, dark: bool = False, settle: float = 0.5
    ) -> Page:
        """Return a new page at `url`, loaded, and quiet for `settle` seconds."""
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, target, session, url)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.resize(width, height)
        theme = {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}
        page.call("Emulation.setEmulatedMedia", features=[theme])
        page.call("Page.navigate", url=url)
        page.wait_for("document.readyState === 'complete' && location.href !== 'about:blank'")
        page.settle(settle)
        return page


class Page:
    """One tab. `complaints` and `requests` hold what went wrong and what was fetched since it was opened."""

    def __init__(self, browser: Browser, target: str, session: str, url: str) -> None:
        self._browser = browser
        self._target = target
        self._session = session
        self._url = url

    def call(self, method: str, **parameters: Any) -> dict[str, Any]:
        """Return the answer to a command of the protocol that speaks to this page."""
        return self._browser.call(method, self._session, **parameters)

    def resize(self, width: int, height: int = 1600) -> None:
        """Give the page another size."""
        self.call(
            "Emulation.setDeviceMetricsOverride",
            width=width,
            height=height,
            deviceScaleFactor=1,
            mobile=width < 600,
        )

    def settle(self, seconds: float) -> None:
        """Wait until nothing was reported for so long."""
        until = time.monotonic() + _PATIENCE
        while time.monotonic() < until and self._browser.listen(time.monotonic() + seconds):
            pass

    def evaluate(self, expression: str) -> Any:
        """Return the value of a JavaScript expression; a promise is awaited."""
        found = self.call(
            "Runtime.evaluate", expression=expression, returnByValue=True, awaitPromise=True, userGesture=True
        )
        if "exceptionDetails" in found:
            details = found["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description") or details.get("text"))
        return found["result"].get("value")

    def wait_for(self, expression: str, seconds: float = _PATIENCE) -> Any:
        """Wait until a JavaScript expression is truthy, and return it."""
        until = time.monotonic() + seconds
        while True:
            found = self.evaluate(expression)
            if found:
                return found
            if time.monotonic() > until:
                raise BrowserError(f"never true: {expression}")
            time.sleep(0.05)

    def click(self, selector: str) -> None:
        """Click the first element that a CSS selector finds, once it is there."""
        self.wait_for(f"document.querySelector({json.dumps(selector)}) !== null")
        self.evaluate(f"document.querySelector({json.dumps(selector)}).click()")

    def fill(self, selector: str, text: str) -> None:
        """Put a text into a field, as if typed: the page's own listeners hear of it."""
        self.wait_for(f"document.querySelector({json.dumps(selector)}) !== null")
        self.evaluate(
            f"(() => {{ const field = document.querySelector({json.dumps(selector)});"
            f" field.value = {json.dumps(text)};"
            " for (const name of ['input', 'change'])"
            " field.dispatchEvent(new Event(name, {bubbles: true})); })()"
        )

    def click_at(self, selector: str) -> None:
        """Click the middle of an element with the mouse, scrolled into view: whatever lies there gets it."""
        self.wait_for(f"document.querySelector({json.dumps(selector)}) !== null")
        x, y = self.evaluate(
            f"(() => {{ const element = document.querySelector({json.dumps(selector)});"
            " element.scrollIntoView({block: 'center', behavior: 'instant'});"
            " const box = element.getBoundingClientRect();"
            " return [box.x + box.width / 2, box.y + box.height / 2]; })()"
        )
        for kind, buttons in (("mouseMoved", 0), ("mousePressed", 1), ("mouseReleased", 0)):
            button = "none" if kind == "mouseMoved" else "left"
            self.call(
                "Input.dispatchMouseEvent", type=kind, x=x, y=y, button=button, buttons=buttons, clickCount=1
            )

    def press(self, key: str, *, times: int = 1, shift: bool = False, control: bool = False) -> None:
        """Press a key that is no letter ("Tab", "Enter", "Space", ...), or a letter with control."""
        code, number, text = _KEYS.get(key, (f"Key{key.upper()}", ord(key.upper()[0]), ""))
        name = " " if key == "Space" else key
        held = {"key": name, "code": code, "windowsVirtualKeyCode": number}
        held["modifiers"] = 2 * control + 8 * shift
        for _ in range(times):
            down = {**held, "text": text} if text and not control else held
            self.call("Input.dispatchKeyEvent", type="keyDown", **down)
            self.call("Input.dispatchKeyEvent", type="keyUp", **held)

    def type(self, text: str) -> None:
        """Type a text into what has the focus."""
        self.call("Input.insertText", text=text)

    def tab_to(self, selector: str, *, most: int = 120) -> None:
        """Press Tab until an element has the focus, as someone without a mouse has to."""
        has_it = f"document.activeElement?.matches({json.dumps(selector)})"
        self.wait_for(f"document.querySelector({json.dumps(selector)}) !== null")
        for _ in range(most):
            if self.evaluate(has_it):
                return
            self.press("Tab")
        raise BrowserError(f"Tab never reaches {selector}")

    def choose_files(self, selector: str, *paths: str | Path) -> None:
        """Choose files in a file input."""
        root = self.call("DOM.getDocument")["root"]["nodeId"]
        node = self.call("DOM.querySelector", nodeId=root, selector=selector)["nodeId"]
        self.call("DOM.setFileInputFiles", nodeId=node, files=[str(path) for path in paths])

    def text(self, selector: str = "body") -> str:
        """Return the visible text of an element."""
        return str(self.evaluate(f"document.querySelector({json.dumps(selector)}).innerText"))

    def overflow(self) -> int:
        """Return by how many pixels the page is wider than its window: 0, unless it scrolls sideways."""
        root = "document.documentElement"
        return int(self.evaluate(f"Math.max(0, {root}.scrollWidth - {root}.clientWidth)"))

    def screenshot(self, path: str | Path, *, whole: bool = True) -> Path:
        """Write a PNG of the page, all of it unless `whole` is False."""
        taken = self.call("Page.captureScreenshot", format="png", captureBeyondViewport=whole)
        path = Path(path)
        path.write_bytes(base64.b64decode(taken["data"]))
        return path

    def close(self) -> None:
        """Close the tab."""
        self._browser.call("Target.closeTarget", targetId=self._target)

    @property
    def complaints(self) -> list[str]:
        """Errors and warnings of the console, uncaught exceptions, and everything the browser refused."""
        found = []
        for event in self._own_events():
            method, details = event["method"], event["params"]
            if method == "Runtime.exceptionThrown":
                thrown = details["exceptionDetails"]
                found.append(thrown.get("exception", {}).get("description") or thrown["text"])
            elif method == "Runtime.consoleAPICalled" and details["type"] in ("error", "warning", "assert"):
                found.append(" ".join(str(a.get("value", a.get("description"))) for a in details["args"]))
            elif method == "Log.entryAdded" and details["entry"]["level"] in ("error", "warning"):
                found.append(details["entry"]["text"])
            elif method == "Network.loadingFailed":
                found.append(f"not loaded: {details.get('blockedReason') or details['errorText']}")
        return found

    @property
    def requests(self) -> list[str]:
        """The addresses of everything fetched besides the page itself; what the page holds (data:) is not."""
        asked = [e["params"]["request"]["url"] for e in self._own_events("Network.requestWillBeSent")]
        return [url for url in asked if url != self._url and not url.startswith(("data:", "blob:"))]

    def _own_events(self, method: str | None = None) -> list[dict[str, Any]]:
        return [
            event
            for event in self._browser.events
            if event.get("sessionId") == self._session and method in (None, event["method"])
        ]
