"""The page while it runs: the application alone for tests of the server, the command for the browser."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import urllib.request
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from shoal.ui.guard import Keys


class Server:
    """A client that holds the link's token."""

    def __init__(self, client: TestClient, keys: Keys) -> None:
        self.client = client
        self.keys = keys

    def send(self, method: str, path: str, **options: Any) -> Any:
        return self.client.request(
            method, path, headers={"authorization": f"Bearer {self.keys.token}"}, **options
        )

    def states(self, space: str, job: str) -> list[dict[str, Any]]:
        """Return everything a stream of news says, to its end."""
        answer = self.send("GET", f"/api/spaces/{space}/jobs/{job}/events")
        assert answer.headers["content-type"].startswith("text/event-stream")
        return [json.loads(line[6:]) for line in answer.text.splitlines() if line.startswith("data: ")]

    def opened(self, answer: Any) -> tuple[str, dict[str, Any]]:
        """Return the id of a new space, and how opening it ended."""
        assert answer.status_code == 200, answer.text
        space = answer.json()["id"]
        return space, self.states(space, "open")[-1]

    def upload(self, content: bytes, name: str = "people.csv", **words: str) -> Any:
        return self.send("POST", "/api/upload", params={"name": name, **words}, content=content)

    def ask(self, space: str, task: str, **given: Any) -> dict[str, Any]:
        answer = self.send("POST", f"/api/spaces/{space}/ask", json={"task": task, "given": given})
        return dict(answer.json())

    def run(self, space: str, task: str, **given: Any) -> tuple[str, dict[str, Any]]:
        """Return a job's id and its last state."""
        answer = self.send("POST", f"/api/spaces/{space}/jobs", json={"task": task, "given": given})
        job = answer.json()["id"]
        return job, self.states(space, job)[-1]

    def fetch(self, space: str, job: str, file: str) -> bytes:
        href = self.send("POST", f"/api/spaces/{space}/jobs/{job}/files", json={"file": file}).json()["href"]
        return bytes(self.client.get(href).content)


class Running:
    """``shoal ui`` as a process of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.process = subprocess.Popen(
            [sys.executable, "-m", "shoal.cli", "ui", "--no-open"],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env={**os.environ, "TMPDIR": str(folder)},
        )
        assert self.process.stdout is not None
        self.link = self.process.stdout.readline().split()[-1]
        self.origin = self.link.partition("/#")[0]
        urllib.request.urlopen(self.origin, timeout=30).close()

    def end(self) -> str:
        """Stop it as Ctrl-C does, and return whatever else it printed."""
        self.process.send_signal(signal.SIGINT)
        rest, _ = self.process.communicate(timeout=30)
        return rest
