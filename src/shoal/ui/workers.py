"""Child processes: every piece of work runs in one, so that it can be told to stop at any moment.

A `Worker` is a Python process that answers requests one after another (`worker`); a `Job` is one request with
everything that has been heard about it, kept so that a page that was reloaded learns it again.
"""

from __future__ import annotations

import asyncio
import contextlib
import json
import os
import secrets
import sys
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass, field
from typing import Any

from ..errors import ShoalError

_LINE = 1 << 28  # bytes; an answer is one line
_MESSAGE = "the work ended unexpectedly"


class Worker:
    """One child process."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        self._busy = asyncio.Lock()

    @classmethod
    async def start(cls) -> Worker:
        """Return a new process, which loads what it needs while it waits for work."""
        debugging = os.environ.get("SHOAL_DEBUG") == "1"
        process = await asyncio.create_subprocess_exec(
            sys.executable,
            "-m",
            "shoal.ui.worker",
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
            stderr=None if debugging else asyncio.subprocess.DEVNULL,  # a traceback may quote cells
            limit=_LINE,
            start_new_session=True,  # Ctrl-C is for the server, which ends its children itself
        )
        return cls(process)

    async def run(self, request: dict[str, Any], job: Job) -> None:
        """Send a request and tell the job everything that comes back, until it has ended."""
        async with self._busy:
            try:
                await self._converse(request, job)
            except (BrokenPipeError, ConnectionResetError, ValueError):
                job.tell({"error": _as_error(_MESSAGE)})

    async def _converse(self, request: dict[str, Any], job: Job) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(json.dumps(request).encode() + b"\n")
        await self._process.stdin.drain()
        while not job.over:
            line = await self._process.stdout.readline()
            if not line:
                hint = "It may have run out of memory. Try a smaller table, or a faster algorithm."
                job.tell({"error": _as_error(_MESSAGE, hint)})
                return
            job.tell(json.loads(line))

    @property
    def alive(self) -> bool:
        """Whether the process is there to be asked."""
        return self._process.returncode is None

    async def stop(self) -> None:
        """End the process now."""
        with contextlib.suppress(ProcessLookupError):
            self._process.kill()
        await self._process.wait()


def _as_error(message: str, hint: str = "") -> dict[str, str]:
    error = ShoalError(message, code="S502", hint=hint)
    return {"code": error.code, "message": error.message, "hint": error.hint}


class Pool:
    """Keeps one process ready, so that work begins at once."""

    def __init__(self) -> None:
        self._spare: asyncio.Task[Worker] | None = None

    def prepare(self) -> None:
        """Begin to start the next process."""
        if self._spare is None:
            self._spare = asyncio.create_task(Worker.start())

    async def take(self) -> Worker:
        """Return a process, and begin to start the next."""
        self.prepare()
        assert self._spare is not None
        spare, self._spare = self._spare, None
        worker = await spare
        self.prepare()
        return worker if worker.alive else await Worker.start()

    async def close(self) -> None:
        """End the process that waits."""
        spare, self._spare = self._spare, None
        if spare is not None:
            await (await spare).stop()


@dataclass(slots=True, eq=False)
class Job:
    """One piece of work and what has been heard about it.

    Attributes
    ----------
    task : str
        What is being done.
    about : dict
        What the page wants to know of it again after a reload.
    state : dict
        ``status`` ("running", "done", "failed", "cancelled"), ``stages``, ``rows``, ``made``, ``result``,
        ``error``.
    heard : callable
        Called after every change.
    """

    task: str
    about: dict[str, Any] = field(default_factory=dict)
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    state: dict[str, Any] = field(default_factory=lambda: {"status": "running", "stages": []})
    version: int = 0
    heard: Callable[[Job], None] = lambda job: None
    _changed: asyncio.Event = field(default_factory=asyncio.Event)

    @property
    def over(self) -> bool:
        """Whether nothing more will be heard."""
        return bool(self.state["status"] != "running")

    def tell(self, news: dict[str, Any]) -> None:
        """Keep what is new, and wake up who waits for it."""
        if self.over:
            return
        status = "done" if "result" in news else "failed" if "error" in news else "running"
        self.state = {**self.state, **news, "status": status}
        self._wake()

    def cancel(self) -> None:
        """Say that nothing more will come because someone wanted it so."""
        if not self.over:
            self.state = {**self.state, "status": "cancelled"}
            self._wake()

    def _wake(self) -> None:
        self.version += 1
        self.heard(self)
        self._changed.set()
        self._changed = asyncio.Event()

    async def watch(self, patience: float) -> AsyncIterator[dict[str, Any] | None]:
        """Yield the state now and after every change until it is over; None when nothing came for so long."""
        seen = -1
        while True:
            changed = self._changed
            if self.version != seen:
                seen = self.version
                yield self.state
                continue
            if self.over:
                return
            try:
                await asyncio.wait_for(changed.wait(), patience)
            except TimeoutError:
                yield None

    async def ended(self) -> dict[str, Any]:
        """Return the last state."""
        while not self.over:
            await self._changed.wait()
        return self.state
