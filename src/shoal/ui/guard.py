"""Who may speak to the server, and what a page of it may do.

Other pages in the same browser, other people on the same machine and names that resolve to 127.0.0.1 are all
outside. Every request must name this very address (DNS rebinding), come from this origin if it says where it
comes from (foreign pages), and, unless it asks for the page itself, carry the secret of the link.
"""

from __future__ import annotations

import secrets
import time
from dataclasses import dataclass, field

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

_CONTENT_POLICY = (
    "default-src 'none'; script-src 'self'; style-src 'self'; font-src 'self'; img-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
_HEADERS = {
    "content-security-policy": _CONTENT_POLICY,
    "x-content-type-options": "nosniff",
    "x-frame-options": "DENY",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "permissions-policy": "camera=(), geolocation=(), microphone=()",
    "cache-control": "no-store",
}
_TICKET_LIFE = 60.0  # seconds


@dataclass(slots=True)
class Keys:
    """The secrets of one server: of its link, of the browser it opens itself, and of single downloads.

    The link's token stands behind the ``#`` of the address, so no server, log or referrer ever sees it in an
    address; the page sends it as a header. Cookies are not used: they would be sent to every other port of
    this machine, too.
    """

    token: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _entry: str = field(default_factory=lambda: secrets.token_urlsafe(32))
    _tickets: dict[str, tuple[str, float]] = field(default_factory=dict)

    def admits(self, header: str) -> bool:
        """Return whether an ``Authorization`` header carries the token."""
        return secrets.compare_digest(header.encode(), f"Bearer {self.token}".encode())

    def entry(self) -> str:
        """Return the word that the browser we start exchanges for the token.

        Other people on this machine can read the arguments of a started browser; the word in them has been
        used by then.
        """
        return self._entry

    def enter(self, word: str) -> str | None:
        """Return the token for the entry word, which is good for one use."""
        if not self._entry or not secrets.compare_digest(word.encode(), self._entry.encode()):
            return None
        self._entry = ""
        return self.token

    def ticket(self, what: str) -> str:
        """Return a word good for one download within a minute: a link cannot carry a header."""
        now = time.monotonic()
        self._tickets = {key: kept for key, kept in self._tickets.items() if kept[1] > now}
        word = secrets.token_urlsafe(32)
        self._tickets[word] = (what, now + _TICKET_LIFE)
        return word

    def redeem(self, word: str) -> str | None:
        """Return what a ticket is for, once."""
        what, until = self._tickets.pop(word, ("", 0.0))
        return what if until > time.monotonic() else None


class Guard:
    """Wraps the application; what it does not let through never reaches a route."""

    def __init__(self, app: ASGIApp, keys: Keys, port: int) -> None:
        self._app = app
        self._keys = keys
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}
        self._origins = {f"http://{host}" for host in self._hosts}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] == "lifespan":
            await self._app(scope, receive, send)
            return
        if scope["type"] != "http":
            return  # no web sockets

        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in _HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        refusal = self._refusal(scope)
        await (refusal or self._app)(scope, receive, send_with_headers)

    def _refusal(self, scope: Scope) -> JSONResponse | None:
        headers, path = Headers(scope=scope), scope["path"]
        if headers.getlist("host") not in [[host] for host in self._hosts]:
            return refused(421, "This server answers under its own address only.")
        origin = headers.get("origin")
        if origin is not None and origin not in self._origins:
            return refused(403, "Another page asked for this; only this server's own may.")
        if path.startswith("/api/"):
            if headers.get("sec-fetch-site", "same-origin") not in ("same-origin", "none"):
                return refused(403, "Another page asked for this; only this server's own may.")
            if path != "/api/enter" and not self._keys.admits(headers.get("authorization", "")):
                return refused(401, "The link is not this server's.", "Open the link shown in the terminal.")
        return None


def refused(status: int, message: str, hint: str = "", code: str = "S501") -> JSONResponse:
    """Return the answer to a request that is not granted."""
    error = {"code": code, "message": message, "hint": hint}
    return JSONResponse({"error": error}, status_code=status)
