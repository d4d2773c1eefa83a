"""What a child process runs: ``python -m shoal.ui.worker`` reads requests and writes news, one JSON a line.

It ends when its standard input does, so nothing is left when the server is gone. Whatever else is printed
goes to standard error: standard output belongs to the conversation.
"""

from __future__ import annotations

import inspect
import json
import os
import queue
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, BinaryIO

from ..errors import InternalError, ParameterError, ShoalError
from ..progress import Progress, Stage

_PACE = 0.1  # seconds between two reports of a stage


class Speaker:
    """Writes news to the server."""

    def __init__(self, stream: BinaryIO) -> None:
        self._stream = stream

    def say(self, **news: Any) -> None:
        """Write one piece of news."""
        self._stream.write(json.dumps(_finite(news), default=str).encode() + b"\n")
        self._stream.flush()


class SpokenProgress(Progress):
    """Reports stages as they begin, advance and end."""

    def __init__(self, speaker: Speaker) -> None:
        self._speaker = speaker
        self._stages: list[dict[str, Any]] = []
        self._depth = 0
        self._told = 0.0

    @contextmanager
    def stage(self, name: str, total: int | None = None) -> Iterator[Stage]:
        """Announce a stage."""
        line: dict[str, Any] = {"name": name, "total": total, "done": 0, "depth": self._depth, "ended": False}
        # A stage that repeats inside another takes the place of its predecessor: the list stays short.
        self._stages = [s for s in self._stages if not (s["ended"] and s["depth"] >= max(self._depth, 1))]
        self._stages.append(line)
        self._depth += 1
        self.tell(now=True)
        began = time.monotonic()
        try:
            yield _SpokenStage(self, line)
        finally:
            self._depth -= 1
            line.update(ended=True, seconds=round(time.monotonic() - began, 2))
            self.tell(now=True)

    def tell(self, *, now: bool = False) -> None:
        """Report, unless that was done a moment ago."""
        if now or time.monotonic() - self._told > _PACE:
            self._told = time.monotonic()
            self._speaker.say(stages=self._stages)


class _SpokenStage:
    def __init__(self, progress: SpokenProgress, line: dict[str, Any]) -> None:
        self._progress = progress
        self._line = line

    def advance(self, steps: int = 1) -> None:
        self._line["done"] += steps
        self._progress.tell()


def answer(request: dict[str, Any], speaker: Speaker) -> None:
    """Do what a request asks, and say how it went."""
    from .tasks import TASKS, Context

    try:
        task, context = TASKS[request["task"]], Context(SpokenProgress(speaker), speaker.say)
        try:
            inspect.signature(task).bind(context, **request["given"])
        except TypeError:
            raise ParameterError(f"{request['task']!r} was asked with other things than it needs") from None
        speaker.say(result=task(context, **request["given"]))
    except ShoalError as error:
        speaker.say(error=_as_error(error))
    except MemoryError:
        speaker.say(error=_as_error(ShoalError("there is not enough memory for this table", code="S502")))
    except Exception as error:
        if os.environ.get("SHOAL_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        speaker.say(error=_as_error(InternalError.of(error)))


def _as_error(error: ShoalError) -> dict[str, Any]:
    return {"code": error.code, "message": error.message, "hint": error.hint}


def _finite(value: Any) -> Any:
    if isinstance(value, float) and value - value != 0.0:  # not a number, or infinite: JSON has neither
        return None
    if isinstance(value, dict):
        return {str(key): _finite(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_finite(item) for item in value]
    if hasattr(value, "item") and getattr(value, "ndim", 1) == 0:
        return _finite(value.item())
    return value


def main() -> None:
    """Answer requests until there are no more."""
    speaker = Speaker(os.fdopen(os.dup(1), "wb", buffering=0))
    os.dup2(2, 1)
    requests: queue.SimpleQueue[dict[str, Any]] = queue.SimpleQueue()

    def listen() -> None:
        for line in sys.stdin.buffer:
            requests.put(json.loads(line))
        os._exit(0)  # the server is gone, and a kernel may be running

    threading.Thread(target=listen, daemon=True).start()
    from . import tasks

    tasks.warm_up()
    while True:
        answer(requests.get(), speaker)


if __name__ == "__main__":
    main()
