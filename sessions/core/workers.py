"""Who holds leases: a random name for each process, and a file of that name that the kernel keeps locked.

The lock ends with the process, however that ends, and no number is ever taken for another's: that a process
lives is neither guessed from its pid nor from the time (docs/decisions/0019).
"""

from __future__ import annotations

import fcntl
import os
import secrets
from functools import cache, cached_property
from pathlib import Path

from django.conf import settings
from django.db import connection

from sessions.core.platform.processes import boot


class Worker:
    """One that holds leases."""

    def __init__(self) -> None:
        self._file: int | None = None

    @cached_property
    def name(self) -> str:
        """It begins with what tells one start of the machine from another."""
        return f"{boot()}.{secrets.token_hex(8)}"

    def register(self) -> None:
        """Live from here on, for others to see; the file says the pid, for people."""
        file = os.open(_place(self.name), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        fcntl.flock(file, fcntl.LOCK_EX)
        os.ftruncate(file, 0)
        os.write(file, f"{os.getpid()}\n".encode())
        self._file = file

    def close(self) -> None:
        """Its leases are given back."""
        if self._file is not None:
            _place(self.name).unlink(missing_ok=True)
            os.close(self._file)
            self._file = None


@cache
def this_process() -> Worker:
    """The process itself, where it takes a lease for a moment and is no worker."""
    worker = Worker()
    worker.register()
    return worker


def is_dead(name: str) -> bool:
    """Whether a worker is known to be gone. Of one on another machine only its lease can tell; but a database
    that is a file is of this one, so who has no file or is of another boot has ended. On the ORM's thread."""
    alone = connection.vendor == "sqlite"
    if name.partition(".")[0] != boot():
        return alone
    try:
        file = os.open(_place(name), os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return alone
    except OSError:
        return False
    try:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    finally:
        os.close(file)
    return True


def forget_dead(holders: set[str]) -> None:
    """Remove the files of the dead that hold no lease any more."""
    for file in Path(settings.WORKER_DIR).iterdir():
        if file.name not in holders and is_dead(file.name):
            file.unlink(missing_ok=True)


def _place(name: str) -> Path:
    return Path(settings.WORKER_DIR) / name
