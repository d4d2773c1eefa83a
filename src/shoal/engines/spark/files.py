"""Putting a Spark table in its place: written beside it, verified there, and only then renamed."""

from __future__ import annotations

import json
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from ...errors import ParameterError, WriteError

if TYPE_CHECKING:
    from pyspark.sql import DataFrame


class Files:
    """The file system of the cluster, through the driver's JVM."""

    def __init__(self, table: DataFrame) -> None:
        session: Any = table.sparkSession
        jvm = getattr(session, "_jvm", None)
        if jvm is None:
            raise ParameterError(
                "writing needs a session with a driver of its own, not Spark Connect",
                hint="Run it with spark-submit, or write release.table yourself and verify it.",
            )
        self._jvm, self._settings = jvm, session._jsc.hadoopConfiguration()

    def _at(self, path: str) -> tuple[Any, Any]:
        place = self._jvm.org.apache.hadoop.fs.Path(path)
        return place.getFileSystem(self._settings), place

    def exists(self, path: str) -> bool:
        """Return whether there is a file or folder."""
        system, place = self._at(path)
        return bool(system.exists(place))

    def check_free(self, path: str, *, replace: bool) -> None:
        """Refuse a path where something stands, unless it may be replaced."""
        if not replace and self.exists(path):
            raise WriteError("the output exists", hint="Give another name, or replace=True (--force).")

    @contextmanager
    def staging(self, path: str) -> Iterator[str]:
        """Give a path beside another where nobody looks, gone afterwards unless it was put in place."""
        place = f"{path.rstrip('/')}.staging-{uuid.uuid4().hex}"
        try:
            yield place
        finally:
            self.delete(place)

    def install(self, staging: str, path: str, manifest: dict[str, Any]) -> None:
        """Put a verified table in its place, and its manifest beside it."""
        self.rename(staging, path)
        self.write_text(f"{path.rstrip('/')}.manifest.json", json.dumps(manifest, indent=2) + "\n")

    def rename(self, source: str, target: str) -> None:
        """Put a folder in another's place; the old one goes only when the new one stands."""
        system, new = self._at(source)
        _, old = self._at(target)
        kept = None
        if system.exists(old):
            kept = self._at(f"{target.rstrip('/')}.replaced-{uuid.uuid4().hex}")[1]
            if not system.rename(old, kept):
                raise WriteError("the old release cannot be moved away", hint="Nothing was changed.")
        if not system.rename(new, old):
            if kept is not None:
                system.rename(kept, old)
            raise WriteError("the release cannot be put in its place", hint="Nothing was changed.")
        if kept is not None:
            system.delete(kept, True)

    def delete(self, path: str) -> None:
        """Remove a folder if it is there."""
        system, place = self._at(path)
        if system.exists(place):
            system.delete(place, True)

    def write_text(self, path: str, text: str) -> None:
        """Write a small file."""
        system, place = self._at(path)
        stream = system.create(place, True)
        try:
            stream.write(bytearray(text.encode("utf-8")))
        finally:
            stream.close()
