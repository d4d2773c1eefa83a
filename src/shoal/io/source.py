"""Where bytes come from: a file, gzipped or not, or standard input; opened as often as needed."""

from __future__ import annotations

import gzip
import io
import os
import sys
from dataclasses import dataclass
from typing import BinaryIO

import pyarrow as pa

from ..errors import DataError

STANDARD = "-"
_GZIP = b"\x1f\x8b"
_MAGIC = ((b"PAR1", "parquet"), (b"ARROW1", "arrow"), (b"\xff\xff\xff\xff", "arrow"))


@dataclass(frozen=True, slots=True, repr=False)
class Source:
    """Something to read a table from.

    Attributes
    ----------
    name : str
        The path, or "-".
    content : bytes or None
        What standard input held; None for a file.
    zipped : bool
        Whether it is gzipped.
    """

    name: str
    content: bytes | None
    zipped: bool

    @classmethod
    def open(cls, source: str | os.PathLike[str]) -> Source:
        """Return the source of this path, or of standard input for "-"."""
        name = os.fspath(source)
        content = sys.stdin.buffer.read() if name == STANDARD else None
        opened = cls(name, content, False)
        start = opened.head(len(_GZIP))
        if not start:
            raise DataError(f"{opened.label} is empty", hint="Give it a header line and at least one record.")
        return cls(name, content, start == _GZIP)

    @property
    def label(self) -> str:
        """How messages call it."""
        return "standard input" if self.content is not None else repr(self.name)

    def stream(self) -> BinaryIO:
        """Return its bytes as a Python stream, unzipped."""
        if self.zipped and self.content is None:
            return gzip.GzipFile(self.name)  # type: ignore[return-value]
        raw = self._raw()
        return gzip.GzipFile(fileobj=raw) if self.zipped else raw  # type: ignore[return-value]

    def _raw(self) -> BinaryIO:
        if self.content is not None:
            return io.BytesIO(self.content)
        reason = ""
        try:
            return open(self.name, "rb")
        except OSError as error:
            reason = error.strerror or "it cannot be opened"
        if os.path.isdir(self.name):
            raise DataError(f"{self.label} is a directory", hint="Name one file in it.")
        if not os.path.exists(self.name):
            raise DataError(f"there is no file {self.label}", hint="Check the path.")
        raise DataError(f"{self.label} cannot be read: {reason}", hint="Check its permissions.")

    def arrow(self) -> pa.NativeFile:
        """Return its bytes as an Arrow stream, unzipped."""
        # Not a memory map: the table would die with its file when that is written over.
        raw = pa.OSFile(self.name) if self.content is None else pa.BufferReader(self.content)
        return pa.CompressedInputStream(raw, "gzip") if self.zipped else raw

    def head(self, size: int) -> bytes:
        """Return its first bytes, unzipped."""
        try:
            with self.stream() as stream:
                return stream.read(size)
        except (OSError, EOFError):
            pass
        raise DataError(f"{self.label} is damaged: it cannot be unzipped", hint="Fetch it once more.")

    def magic(self) -> str | None:
        """Return the format its first bytes show, None where they show none."""
        start = self.head(8)
        return next((name for magic, name in _MAGIC if start.startswith(magic)), None)
