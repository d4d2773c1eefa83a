"""A private folder beside a target for everything that is not finished, gone when the work is.

A process that was killed cannot clean up. Its folder holds a lock that died with it, so the next run that
writes to the same target takes the folder away.
"""

from __future__ import annotations

import contextlib
import shutil
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

_ENDING = ".shoal-unfinished"
_LOCK = "lock"
_GRACE = 60.0  # seconds in which a new folder need not be locked yet


@contextlib.contextmanager
def workspace(target: Path) -> Iterator[Path]:
    """Give a folder beside `target` that only this user can read, and remove it afterwards.

    Examples
    --------
    >>> target = Path(tempfile.mkdtemp()) / "out.parquet"
    >>> with workspace(target) as folder:
    ...     folder.parent == target.parent
    True
    >>> list(target.parent.iterdir())
    []
    """
    remove_leftovers(target)
    folder = Path(tempfile.mkdtemp(prefix=f".{target.name}.", suffix=_ENDING, dir=target.parent))
    try:
        with (folder / _LOCK).open("w") as lock:
            _locked(lock.fileno())
            yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_leftovers(target: Path) -> None:
    """Remove what runs that were killed left beside `target`."""
    for folder in target.parent.glob(f".{_escaped(target.name)}.*{_ENDING}"):
        with contextlib.suppress(OSError):
            if _abandoned(folder):
                shutil.rmtree(folder, ignore_errors=True)


def _abandoned(folder: Path) -> bool:
    lock = folder / _LOCK
    if not lock.exists():
        return time.time() - folder.stat().st_mtime > _GRACE
    with lock.open("r+") as stream:
        return _locked(stream.fileno())


def _locked(handle: int) -> bool:
    """Return whether this process now holds a lock; never where the system has none of this kind."""
    try:
        import fcntl
    except ImportError:
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _escaped(name: str) -> str:
    return "".join(f"[{letter}]" if letter in "*?[" else letter for letter in name)
