"""The one import at a time: a lock that all processes see, its progress, and the wish to stop it."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from django.conf import settings

from .progress import Progress


class Busy(Exception):
    """Another import runs."""


class CannotWrite(Exception):
    """The data folder cannot be written; the text says why."""


class Job:
    """Three small files in the data folder. The lock falls when its process ends, however it ends."""

    def __init__(self, folder: Path | None = None) -> None:
        self._folder = folder or Path(settings.DATA_DIR)

    @contextmanager
    def alone(self) -> Iterator[None]:
        """Be the one import. Raises Busy, CannotWrite."""
        try:
            file = self._path("lock").open("a")
        except OSError as error:
            raise CannotWrite(f"{self._folder} cannot be written: {error.strerror or error}") from error
        with file:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise Busy("another import runs; wait until it has ended") from error
            self._path("cancel").unlink(missing_ok=True)
            yield

    def runs(self) -> bool:
        try:
            with self._path("lock").open() as file:
                fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
        except FileNotFoundError:
            return False
        except BlockingIOError:
            return True
        return False

    def write(self, progress: Progress) -> None:
        """Whole or not at all. What cannot be written is not shown, and nothing else."""
        temporary = self._path("json.new")
        with suppress(OSError):
            temporary.write_text(progress.dumps())
            os.replace(temporary, self._path("json"))

    def progress(self) -> Progress | None:
        """Of the import that runs, or of the last one; None before the first."""
        try:
            return Progress.loads(self._path("json").read_text())
        except (OSError, ValueError, TypeError, KeyError):
            return None

    def forget(self) -> None:
        """Nothing more to say of the last one."""
        self._path("json").unlink(missing_ok=True)

    def cancel(self) -> None:
        self._path("cancel").touch()

    def cancelled(self) -> bool:
        return self._path("cancel").exists()

    def _path(self, kind: str) -> Path:
        return self._folder / f"import.{kind}"
