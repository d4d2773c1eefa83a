"""Nobody but the holder of the link is answered, and no page may do more than it has to."""

from __future__ import annotations

import os
import signal
import socket
import stat
import subprocess
from pathlib import Path

import pytest
from click.testing import CliRunner

from shoal.cli import main
from shoal.ui.guard import Keys
from shoal.ui.serve import remove_left_behind
from ui_servers import Running, Server

API = "/api/spaces"


@pytest.mark.parametrize("token", ["", "Bearer ", "Bearer wrong", "Basic dXNlcjpwYXNz"])
def test_without_the_token_nothing_is_said(server: Server, token: str) -> None:
    headers = {"authorization": token} if token else {}
    answer = server.client.get(API, headers=headers)
    assert answer.status_code == 401
    assert "spaces" not in answer.text


def test_the_token_is_no_word_of_an_address(server: Server) -> None:
    assert server.client.get(API, params={"token": server.keys.token}).status_code == 401


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8000", "127.0.0.1", "127.0.0.1:8001", ""])
def test_another_name_for_this_machine_is_refused(server: Server, host: str) -> None:
    headers = {"authorization": f"Bearer {server.keys.token}", "host": host}
    assert server.client.get(API, headers=headers).status_code == 421
    assert server.client.get("/", headers={"host": host}).status_code == 421


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "http://127.0.0.1:8001", "https://127.0.0.1:8000"]
)
def test_a_foreign_origin_is_refused_even_with_the_token(server: Server, origin: str) -> None:
    headers = {"authorization": f"Bearer {server.keys.token}", "origin": origin}
    answer = server.client.post(API, headers=headers, json={"demo": True})
    assert answer.status_code == 403
    assert "access-control-allow-origin" not in answer.headers


def test_a_foreign_page_gets_no_preflight(server: Server) -> None:
    asking = {"origin": "http://evil.example", "access-control-request-method": "POST"}
    answer = server.client.options(API, headers=asking)
    assert answer.status_code == 403
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("site", ["cross-site", "same-site"])
def test_a_request_that_another_site_began_is_refused(server: Server, site: str) -> None:
    headers = {"authorization": f"Bearer {server.keys.token}", "sec-fetch-site": site}
    assert server.client.get(API, headers=headers).status_code == 403


def test_our_own_origin_is_answered(server: Server) -> None:
    headers = {"authorization": f"Bearer {server.keys.token}", "origin": "http://localhost:8000"}
    assert server.client.get(API, headers=headers).status_code == 200


@pytest.mark.parametrize("path", ["/", "/static/main.js", API, "/download/guess", "/nothing"])
def test_every_answer_forbids_what_a_page_does_not_need(server: Server, path: str) -> None:
    headers = server.client.get(path).headers
    policy = headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert "unsafe" not in policy
    assert "frame-ancestors 'none'" in policy
    assert (headers["x-content-type-options"], headers["referrer-policy"]) == ("nosniff", "no-referrer")
    assert (headers["cache-control"], "server" in headers, "set-cookie" in headers) == (
        "no-store",
        False,
        False,
    )


def test_files_beside_the_page_cannot_be_reached(server: Server) -> None:
    for path in ("/static/../app.py", "/static/%2e%2e/app.py", "/static/..%2fapp.py", "/static//etc/passwd"):
        assert server.client.get(path).status_code in (404, 405)


def test_the_word_for_the_opened_browser_works_once(server: Server) -> None:
    word = server.keys.entry()
    assert server.client.post("/api/enter", json={"word": "guess"}).status_code == 401
    assert server.client.post("/api/enter", json={"word": word}).json() == {"token": server.keys.token}
    assert server.client.post("/api/enter", json={"word": word}).status_code == 401
    assert server.client.post("/api/enter", json={"word": ""}).status_code == 401


def test_a_ticket_is_good_for_one_download(monkeypatch: pytest.MonkeyPatch) -> None:
    keys = Keys()
    word = keys.ticket("a file")
    assert (keys.redeem("guess"), keys.redeem(word), keys.redeem(word)) == (None, "a file", None)
    late = keys.ticket("a file")
    monkeypatch.setattr("shoal.ui.guard.time.monotonic", lambda: 1e12)
    assert keys.redeem(late) is None


def test_it_listens_on_this_machine_only(running: Running) -> None:
    port = int(running.origin.rpartition(":")[2])
    others = {info[4][0] for info in socket.getaddrinfo(socket.gethostname(), None, socket.AF_INET)}
    for address in others - {"127.0.0.1", "127.0.1.1"}:
        with pytest.raises(OSError, match=r"refused|unreachable|timed out"):
            socket.create_connection((str(address), port), timeout=2)
    socket.create_connection(("127.0.0.1", port), timeout=2).close()


@pytest.mark.parametrize("sign", [signal.SIGINT, signal.SIGTERM])
def test_nothing_is_left_when_it_ends(tmp_path: Path, sign: signal.Signals) -> None:
    started = Running(tmp_path)
    folders = list(tmp_path.glob("shoal-ui-*"))
    assert [stat.S_IMODE(folder.stat().st_mode) for folder in folders] == [0o700]
    children = subprocess.run(
        ["ps", "-o", "pid=", "--ppid", str(started.process.pid)], capture_output=True, text=True, check=True
    ).stdout.split()
    started.process.send_signal(sign)
    rest, _ = started.process.communicate(timeout=30)
    assert "Traceback" not in rest
    assert list(tmp_path.iterdir()) == []
    for child in map(int, children):
        assert not Path(f"/proc/{child}").exists()


def test_folders_of_killed_servers_are_removed(tmp_path: Path) -> None:
    gone = subprocess.Popen(["true"])
    gone.wait()
    (tmp_path / f"shoal-ui-{gone.pid}-x").mkdir()
    (tmp_path / f"shoal-ui-{os.getpid()}-x").mkdir()
    (tmp_path / "shoal-ui-notes").mkdir()
    remove_left_behind(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {f"shoal-ui-{os.getpid()}-x", "shoal-ui-notes"}


def test_a_taken_port_is_one_clear_line() -> None:
    with socket.socket() as other:
        other.bind(("127.0.0.1", 0))
        other.listen()
        found = CliRunner().invoke(main, ["ui", "--no-open", "--port", str(other.getsockname()[1])])
    assert found.exit_code == 2
    assert "ParameterError[S103]: port" in found.output
