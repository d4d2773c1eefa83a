"""Starting and ending the server: a private folder, a port on 127.0.0.1, a link, and nothing left behind."""

from __future__ import annotations

import contextlib
import os
import shutil
import signal
import socket
import sys
import tempfile
import webbrowser
from collections.abc import Callable, Iterator
from pathlib import Path

import uvicorn

from ..errors import ParameterError
from .app import make_app
from .guard import Keys

_PREFIX = "shoal-ui-"


def serve(port: int = 0, *, opens: bool = True, tell: Callable[[str], None] = print) -> None:
    """Serve the page until interrupted.

    Parameters
    ----------
    port : int
        On 127.0.0.1; 0 is any free one.
    opens : bool
        Whether the browser is opened.
    tell : callable
        Gets the lines for the terminal.
    """
    with _bound(port) as listening, private_folder() as folder:
        keys, at = Keys(), f"http://127.0.0.1:{listening.getsockname()[1]}/"
        app = make_app(folder, keys, listening.getsockname()[1])
        config = uvicorn.Config(
            app,
            access_log=False,
            log_level="critical",
            lifespan="on",
            ws="none",
            proxy_headers=False,
            server_header=False,
            timeout_graceful_shutdown=1,  # streams of news would keep it open for ever
        )
        tell(f"shoal is at {at}#token={keys.token}")
        tell("This link is for you alone; it ends with this program: Ctrl-C.")
        if opens:
            webbrowser.open(f"{at}#entry={keys.entry()}")
        # The server answers a signal by stopping, and then raises it again: it must not skip the clean-up.
        signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
        with contextlib.suppress(KeyboardInterrupt):
            uvicorn.Server(config).run(sockets=[listening])


@contextlib.contextmanager
def _bound(port: int) -> Iterator[socket.socket]:
    """Give a socket that only this machine can reach."""
    reason = ""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as listening:
        listening.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            listening.bind(("127.0.0.1", port))
            listening.listen(128)  # before the link is told: a browser is quick
        except OSError as error:
            reason = error.strerror or "it cannot be used"
        if not reason:
            yield listening
            return
    raise ParameterError(f"port {port} of 127.0.0.1: {reason}", hint="Leave out --port for a free one.")


@contextlib.contextmanager
def private_folder() -> Iterator[Path]:
    """Give a folder that only this user can read, and that is gone afterwards."""
    remove_left_behind(Path(tempfile.gettempdir()))
    folder = Path(tempfile.mkdtemp(prefix=f"{_PREFIX}{os.getpid()}-"))
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def remove_left_behind(parent: Path) -> None:
    """Remove the folders of servers that were killed before they could."""
    for folder in parent.glob(f"{_PREFIX}*"):
        number = folder.name.removeprefix(_PREFIX).partition("-")[0]
        with contextlib.suppress(OSError):
            ours = folder.is_dir() and not folder.is_symlink() and folder.stat().st_uid == os.getuid()
            if ours and number.isdecimal() and not _runs(int(number)):
                shutil.rmtree(folder, ignore_errors=True)


def _runs(number: int) -> bool:
    try:
        os.kill(number, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
