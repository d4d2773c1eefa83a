"""Public data sets by name: from a folder of yours, from the cache, or from their publishers.

A set is looked for in the folder named by the environment variable ``SHOAL_DATA``, then in the user's cache
(``XDG_CACHE_HOME/shoal``, else ``~/.cache/shoal``). What is in neither is downloaded from its publisher,
cleaned and kept in the cache. Whatever is found must have the checksum that is known for it.

>>> "adult" in names()
True
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import tarfile
import tempfile
import zipfile
from pathlib import Path
from typing import TYPE_CHECKING

import pyarrow as pa

from .dataset_sources import HIERARCHIES, SOURCES, Raw, Source
from .errors import DataError, MissingExtra, UnknownName

if TYPE_CHECKING:
    from .hierarchies import Hierarchy

_FOLDER = "SHOAL_DATA"


def names() -> list[str]:
    """Return the names of all data sets.

    Examples
    --------
    >>> names()[:3]
    ['adult', 'adult-test', 'bank-full']
    """
    return list(SOURCES)


def load(name: str) -> pa.Table:
    """Return a data set as a table.

    Parameters
    ----------
    name : str
        One of `names`.

    Raises
    ------
    UnknownName
        When there is no such set.
    DataError
        When the set is nowhere to be found and cannot be downloaded, or has the wrong checksum.
    """
    from . import io

    return io.read(path(name), delimiter=",")


def path(name: str) -> Path:
    """Return the file of a data set, downloading it when it is not here yet."""
    if name not in SOURCES:
        raise UnknownName.nearest("data set", name, names())
    return _present(SOURCES[name])


def hierarchies(name: str) -> dict[str, Hierarchy]:
    """Return the generalization hierarchies that belong to a data set, by column; none for most.

    Those of "adult" are ARX's. Their age labels are off by one: ``0-4`` covers the ages 1 to 5.
    """
    from .hierarchies import Hierarchy

    if name not in SOURCES:
        raise UnknownName.nearest("data set", name, names())
    sources = HIERARCHIES.get(name, {})
    return {column: Hierarchy.read(str(_present(source))) for column, source in sources.items()}


def _present(source: Source) -> Path:
    """Return where a cleaned file lies, after making sure that it is the right one."""
    given = os.environ.get(_FOLDER)
    if given and (Path(given) / source.file).is_file():
        return _checked(Path(given) / source.file, source)
    cached = _cache() / source.file
    if not cached.is_file():
        _make(source, cached)
    return _checked(cached, source)


def _cache() -> Path:
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "shoal"


def _checked(file: Path, source: Source) -> Path:
    if _sha256(file.read_bytes()) != source.sha256:
        raise DataError(
            f"the file {str(file)!r} is not the data set it is named after: its checksum differs",
            hint=f"Its sha256 must be {source.sha256}. Remove it to have it fetched again.",
        )
    return file


def _make(source: Source, target: Path) -> None:
    """Download what a file is made of, clean it and put it at `target`, whole or not at all."""
    if source.clean is None:
        raise DataError(
            f"the data set {source.file!r} is not here, and its publisher has no address to fetch it from",
            hint=f"Put {source.file} into the folder named by {_FOLDER}; its sha256 is {source.sha256}.",
        )
    texts = [text for raw in source.raw for text in _parts(raw)]
    cleaned = source.clean(texts).encode()
    if _sha256(cleaned) != source.sha256:
        raise DataError(
            f"the data set {source.file!r} has the wrong checksum after cleaning",
            hint=f"Put {source.file} with sha256 {source.sha256} into the folder named by {_FOLDER}.",
        )
    target.parent.mkdir(parents=True, exist_ok=True)
    handle, partial = tempfile.mkstemp(dir=target.parent, prefix=target.name)
    with os.fdopen(handle, "wb") as stream:
        stream.write(cleaned)
    os.replace(partial, target)


def _parts(raw: Raw) -> list[str]:
    """Return the texts of a publisher's file or archive, each checked."""
    content = _fetched(raw)
    parts: list[tuple[bytes, str | None]] | None = None
    with contextlib.suppress(zipfile.BadZipFile, tarfile.TarError, KeyError, OSError):
        parts = raw.parts(content)
    if parts is None or any(expected not in (None, _sha256(part)) for part, expected in parts):
        raise DataError(
            f"what {raw.url} sends is not the file that is known",
            hint=f"Remove {str(_cache() / 'raw')!r} to fetch it again; its publisher may have changed it.",
        )
    return [part.decode("utf-8") for part, _ in parts]


def _fetched(raw: Raw) -> bytes:
    """Return a publisher's file as it is sent."""
    try:
        import pooch
    except ImportError:
        raise MissingExtra.of("downloading a data set", "data") from None
    reason = ""
    try:
        known = None if raw.sha256 is None else f"sha256:{raw.sha256}"
        return Path(pooch.retrieve(raw.url, known, path=_cache() / "raw")).read_bytes()
    except (OSError, ValueError) as error:  # no network, or another file than the known one
        reason = type(error).__name__
    raise DataError(
        f"{raw.url} cannot be downloaded ({reason})",
        hint=f"Check the network, or put the files into the folder named by {_FOLDER}.",
    )


def _sha256(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
