"""A real PostgreSQL as a subprocess on a socket of its own; it can be stopped and started again.

It sorts as people of a language do, which what is written here must not depend on, and does not wait for
the disk.
"""

from __future__ import annotations

import getpass
import os
import shutil
import signal
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from psycopg import connect

ACCOUNT = "postgres"
"""Whom its package makes. PostgreSQL does not run as root."""
PATIENCE = 30
_OPTIONS = {
    "listen_addresses": "",
    "fsync": "off",
    "synchronous_commit": "off",
    "full_page_writes": "off",
    "max_connections": "60",
}
_CLUSTER = ["--auth=trust", "--encoding=UTF8", "--locale=C.UTF-8", "--locale-provider=icu", "--icu-locale=en"]


def programs() -> Path | None:
    """The folder of `initdb` and the others, of the newest version; None where it is not installed."""
    if found := shutil.which("initdb"):
        return Path(found).resolve().parent
    folders = [path.parent for path in Path("/usr/lib/postgresql").glob("*/bin/initdb")]
    return max(folders, key=lambda folder: int(folder.parent.name), default=None)


@dataclass(frozen=True)
class PostgresServer:
    """`programs` is as above. What it writes is in a folder of its own, which `remove` takes away. `settings`
    are of the server, over those of tests."""

    programs: Path
    folder: Path = field(default_factory=lambda: Path(tempfile.mkdtemp(prefix="opencode-web-postgres-")))
    settings: tuple[tuple[str, str], ...] = ()

    def url(self, name: str = "postgres") -> str:
        """The address of a database of this name."""
        return f"postgres://{ACCOUNT}@/{name}?host={self.folder}"

    def create(self) -> None:
        """Make what it keeps its databases in, and start it."""
        if os.getuid() == 0:
            shutil.chown(self.folder, ACCOUNT)
        self._run("initdb", "--pgdata", str(self._data), "--username", ACCOUNT, "--no-sync", *_CLUSTER)
        self.start()

    def start(self) -> None:
        """Return when it answers."""
        options = " ".join(f"-c {name}={value}" for name, value in (_OPTIONS | dict(self.settings)).items())
        self._control("start", "--log", str(self.folder / "log"), "--options", f"-k {self.folder} {options}")

    def stop(self) -> None:
        """End it, and with it all connections."""
        self._control("stop", "--mode", "fast")

    def remove(self) -> None:
        if (self._data / "postmaster.pid").exists():
            self._control("stop", "--mode", "immediate")
        shutil.rmtree(self.folder)

    def make(self, name: str, template: str = "template0") -> None:
        """A database, as the other one is, which nobody may use meanwhile."""
        self.query(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')

    def has(self, name: str) -> bool:
        return bool(self.query(f"SELECT 1 FROM pg_database WHERE datname = '{name}'"))  # noqa: S608

    def end_connections(self, name: str) -> None:
        """Those to a database, as an administrator does."""
        ended = "SELECT pg_terminate_backend(pid) FROM pg_stat_activity"
        self.query(f"{ended} WHERE datname = '{name}'")

    def query(self, statement: str, database: str = "postgres") -> list[tuple[Any, ...]]:
        with connect(host=str(self.folder), user=ACCOUNT, dbname=database, autocommit=True) as connection:
            cursor = connection.execute(statement)
            return cursor.fetchall() if cursor.description else []

    @contextmanager
    def standing_still(self) -> Iterator[None]:
        """Connections stay, but no new one is accepted."""
        os.kill(self.pid, signal.SIGSTOP)
        try:
            yield
        finally:
            os.kill(self.pid, signal.SIGCONT)

    @property
    def pid(self) -> int:
        """Of the process whose children serve the connections."""
        return int((self._data / "postmaster.pid").read_text().split()[0])

    @property
    def _data(self) -> Path:
        return self.folder / "data"

    def _control(self, verb: str, *arguments: str) -> None:
        self._run(
            "pg_ctl", verb, "--wait", "--timeout", str(PATIENCE), "--pgdata", str(self._data), *arguments
        )

    def _run(self, program: str, *arguments: str) -> None:
        command = [str(self.programs / program), *arguments]
        if os.getuid() == 0:
            command = ["runuser", "-u", ACCOUNT, "--", *command]
        done = subprocess.run(
            command,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
        )
        if done.returncode:
            raise RuntimeError(f"{program} as {getpass.getuser()}: {done.stdout.decode(errors='replace')}")
