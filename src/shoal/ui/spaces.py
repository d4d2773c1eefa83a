"""Spaces: one for every opened table, with the decisions made about it and the work done on it.

Two tabs have two spaces, unless one shows the other's; then whoever saves second is told, and nothing is lost
silently. Everything lives in one private folder and goes with it.
"""

from __future__ import annotations

import asyncio
import contextlib
import re
import secrets
import shutil
from collections.abc import AsyncIterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import ParameterError, ShoalError, UnknownName
from .workers import Job, Pool, Worker

_MOST_SPACES = 8
QUESTIONS = ("audit", "values", "levels", "check", "rows")
LABOURS = ("compare", "release")
DEMO = "patients.csv"
_DEMO_RECORDS = 10_000


class OtherTabError(ShoalError):
    """Someone else has saved in the meantime."""

    default_code = "S503"


@dataclass(slots=True, eq=False)
class Space:
    """An opened table.

    Attributes
    ----------
    name : str
        What the table is called: its file's name, without folders.
    source : dict
        Its path and how it is read.
    document : dict
        The decisions, as the page keeps them.
    version : int
        Counts the times it was saved.
    """

    name: str
    folder: Path
    source: dict[str, Any]
    pool: Pool
    kind: str
    id: str = field(default_factory=lambda: secrets.token_urlsafe(9))
    document: dict[str, Any] = field(default_factory=dict)
    version: int = 0
    opening: Job = field(default_factory=lambda: Job("open"))
    jobs: dict[str, Job] = field(default_factory=dict)
    _listeners: set[asyncio.Queue[Job]] = field(default_factory=set)
    _desk: Worker | None = None
    _working: dict[str, Worker] = field(default_factory=dict)
    _running: set[asyncio.Task[None]] = field(default_factory=set)

    def open(self) -> None:
        """Begin to read the table."""
        self.opening.heard = self._tell
        self._in_background(self._open())

    async def _open(self) -> None:
        desk = await self._at_desk()
        if self.kind == "demo":
            making = Job("demo")
            await desk.run(
                {"task": "demo", "given": {"path": self.source["path"], "records": _DEMO_RECORDS}}, making
            )
            if "error" in making.state:
                self.opening.tell({"error": making.state["error"]})
                return
        await desk.run({"task": "open", "given": {"source": self.source}}, self.opening)

    async def _at_desk(self) -> Worker:
        """Return the process that holds the table for short questions."""
        if self._desk is None or not self._desk.alive:
            self._desk = await self.pool.take()
        return self._desk

    async def ask(self, task: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return the last state of a short question."""
        if task not in QUESTIONS:
            raise UnknownName.nearest("question", task, list(QUESTIONS))
        if task == "rows":
            folder = self.job_folder(str(given.get("job", "")))
            given = {**{key: value for key, value in given.items() if key != "job"}, "folder": str(folder)}
        return await self.put(task, {**given, "source": self.source})

    async def put(self, task: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return the last state of any task done at the desk."""
        job = Job(task)
        await (await self._at_desk()).run({"task": task, "given": given}, job)
        return job.state

    def start(self, task: str, given: dict[str, Any]) -> Job:
        """Begin a long piece of work in a process of its own; an older one of its sort ends."""
        if task not in LABOURS:
            raise UnknownName.nearest("work", task, list(LABOURS))
        for job in self.jobs.values():
            if job.task == task and not job.over:
                self._in_background(self.cancel(job.id))
        job = Job(task, about=given, heard=self._tell)
        self.jobs[job.id] = job
        request = {**given, "source": self.source}
        if task == "release":
            request = {**request, "folder": str(self.folder / job.id), "name": self.name}
        self._in_background(self._labour(job, request))
        return job

    def _tell(self, job: Job) -> None:
        for listener in self._listeners:
            listener.put_nowait(job)

    async def watch(self, patience: float) -> AsyncIterator[dict[str, Any] | None]:
        """Yield every job's name and state, now and whenever one changes; None when nothing came for so long.

        One stream for all of them: a browser opens six connections to a server, and no more.
        """
        news: asyncio.Queue[Job] = asyncio.Queue()
        self._listeners.add(news)
        try:
            waiting = {"open": self.opening, **self.jobs}
            while True:
                for name, job in waiting.items():
                    yield {"job": name, "state": job.state}
                waiting = {}
                try:
                    changed = [await asyncio.wait_for(news.get(), patience)]
                except TimeoutError:
                    yield None
                    continue
                while not news.empty():
                    changed.append(news.get_nowait())
                waiting = {"open" if job is self.opening else job.id: job for job in changed}
        finally:
            self._listeners.discard(news)

    async def _labour(self, job: Job, given: dict[str, Any]) -> None:
        worker = self._working[job.id] = await self.pool.take()
        try:
            if not job.over:
                await worker.run({"task": job.task, "given": given}, job)
        finally:
            await worker.stop()
            self._working.pop(job.id, None)

    async def cancel(self, job_id: str) -> None:
        """End a piece of work now."""
        self.job(job_id).cancel()
        worker = self._working.get(job_id)
        if worker is not None:
            await worker.stop()
        if "made" not in self.job(job_id).state:  # a release that was finished stays without its report
            shutil.rmtree(self.folder / job_id, ignore_errors=True)

    def job(self, job_id: str) -> Job:
        """Return a job of this space; ``open`` is the reading of the table."""
        if job_id == "open":
            return self.opening
        if job_id not in self.jobs:
            raise UnknownName("there is no such job", hint="Start it again.")
        return self.jobs[job_id]

    def job_folder(self, job_id: str) -> Path:
        """Return the folder of a job that exists."""
        return self.folder / self.job(job_id).id

    def file(self, job_id: str, word: str) -> Path:
        """Return a file that a job has made, by the word its result has for it."""
        state = self.job(job_id).state
        files = (state.get("result") or state.get("made") or {}).get("files", {})
        if word not in files:
            raise UnknownName("there is no such file", hint="Make the release again.")
        return self.folder / job_id / str(files[word])

    def save(self, version: int, document: dict[str, Any]) -> int:
        """Keep the decisions, unless someone else has saved others since `version`."""
        if version != self.version:
            raise OtherTabError("another tab has changed these decisions", hint="They have been loaded.")
        self.document, self.version = document, self.version + 1
        return self.version

    def to_dict(self) -> dict[str, Any]:
        """Return what the page knows of it."""
        return {
            "id": self.id,
            "name": self.name,
            "kind": self.kind,
            "reading": {key: value for key, value in self.source.items() if key != "path"},
            "document": self.document,
            "version": self.version,
            "status": self.opening.state["status"],
            "records": (self.opening.state.get("result") or {}).get("records"),
            "jobs": [
                {"id": job.id, "task": job.task, "about": job.about, "status": job.state["status"]}
                for job in self.jobs.values()
            ],
        }

    def _in_background(self, work: Any) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)

    async def close(self) -> None:
        """End all work and remove all files."""
        for job in [*self.jobs.values(), self.opening]:
            job.cancel()
        for worker in [*self._working.values(), *([self._desk] if self._desk else [])]:
            await worker.stop()
        for task in list(self._running):
            task.cancel()
            with contextlib.suppress(asyncio.CancelledError, Exception):
                await task
        shutil.rmtree(self.folder, ignore_errors=True)


class Spaces:
    """All opened tables of one server."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.pool = Pool()
        self._open: dict[str, Space] = {}
        self._forms: dict[str, Any] | None = None

    async def forms(self) -> dict[str, Any]:
        """Return what the page draws its forms from; a child process looks it up once."""
        if self._forms is None:
            worker, job = await self.pool.take(), Job("describe")
            await worker.run({"task": "describe", "given": {}}, job)
            await worker.stop()
            self._forms = job.state.get("result")
        return self._forms or {}

    def new(self, kind: str, name: str, source: dict[str, Any]) -> Space:
        """Return a new space whose table has not been read yet."""
        space = Space(name, self.new_folder(), source, self.pool, kind)
        if kind == "demo":
            space.source = {**source, "path": str(space.folder / DEMO)}
        self._open[space.id] = space
        return space

    def new_folder(self) -> Path:
        """Return a new private folder."""
        if len(self._open) >= _MOST_SPACES:
            raise ParameterError(
                f"{_MOST_SPACES} tables are open already", hint="Close one of them on the first page."
            )
        made = self.folder / secrets.token_hex(8)
        made.mkdir(mode=0o700)
        return made

    def get(self, space_id: str) -> Space:
        """Return a space by its id."""
        if space_id not in self._open:
            raise UnknownName("this table is not open any more", hint="Open it again.", code="S504")
        return self._open[space_id]

    def all(self) -> list[Space]:
        """Return the open spaces, oldest first."""
        return list(self._open.values())

    async def close(self, space_id: str) -> None:
        """Close one table."""
        await self._open.pop(space_id).close()

    async def close_all(self) -> None:
        """Close everything."""
        for space_id in list(self._open):
            await self.close(space_id)
        await self.pool.close()


def plain_name(given: str) -> str:
    """Return a file name without folders and without what file systems dislike.

    Examples
    --------
    >>> plain_name("../../etc/pass wd?.csv")
    'pass wd_.csv'
    """
    last = re.split(r"[/\\]", given)[-1]
    return re.sub(r"[^\w.\- ()]", "_", last).lstrip(".")[-100:] or "table.csv"
