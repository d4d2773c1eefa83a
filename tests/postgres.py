"""A real PostgreSQL for tests: a cluster of its own in a temporary folder, reached over a socket there."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from pathlib import Path
from types import TracebackType
from urllib.parse import quote


def _programs() -> Path | None:
    """Return the folder of initdb and postgres, which Debian keeps off the path."""
    found = sorted(Path("/usr/lib/postgresql").glob("*/bin/initdb"))
    on_path = shutil.which("initdb")
    return found[-1].parent if found else Path(on_path).parent if on_path else None


PROGRAMS = _programs()
_USER = "postgres"  # the server refuses to run as root


class Postgres:
    """A running server; stopped, with its folder removed, when the ``with`` block ends."""

    def __init__(self) -> None:
        assert PROGRAMS is not None, "no PostgreSQL: apt-get install postgresql"
        self.folder = Path(tempfile.mkdtemp(prefix="shoal-pg-"))
        self._as: list[str] = []
        if os.geteuid() == 0:
            account = pwd.getpwnam(_USER)
            os.chown(self.folder, account.pw_uid, account.pw_gid)
            self._as = ["runuser", "-u", _USER, "--"]
        data = self.folder / "data"
        self._run("initdb", "-D", str(data), "-U", "shoal", "-A", "trust", "-E", "UTF8", "--no-sync")
        settings = f"-c listen_addresses='' -c unix_socket_directories='{self.folder}' -c fsync=off"
        self._run("pg_ctl", "-D", str(data), "-w", "-o", settings, "-l", str(self.folder / "log"), "start")
        self.address = f"postgresql:///postgres?host={quote(str(self.folder), safe='')}&user=shoal"

    def __enter__(self) -> Postgres:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._run("pg_ctl", "-D", str(self.folder / "data"), "-m", "immediate", "stop")
        shutil.rmtree(self.folder, ignore_errors=True)

    def table(self, name: str) -> str:
        """Return the address of a table."""
        return self.address.replace("/postgres?", f"/postgres/{name}?")

    def _run(self, program: str, *arguments: str) -> None:
        assert PROGRAMS is not None
        command = [*self._as, str(PROGRAMS / program), *arguments]
        subprocess.run(command, check=True, cwd=self.folder, stdout=subprocess.DEVNULL)
