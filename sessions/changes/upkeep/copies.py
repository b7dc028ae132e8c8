"""Copies of the database, of the last hours and days, for when it is damaged (docs/decisions/0021).

They are made while the server runs, page by page as SQLite's backup does, so that each is whole. Other
databases have means of their own.
"""

from __future__ import annotations

import asyncio
import fcntl
import logging
import os
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from datetime import UTC, datetime
from pathlib import Path

from django.conf import settings

logger = logging.getLogger(__name__)

NEWEST = 3
DAYS = 7
_EVENTS = "opencode_sessions_event"


def _name(moment: datetime) -> str:
    return f"db-{moment:%Y%m%dT%H%M%S%fZ}.sqlite3"


def database() -> Path | None:
    """The file of the database; None where it is no file."""
    configured = settings.DATABASES["default"]
    name = str(configured["NAME"])
    is_file = (
        str(configured["ENGINE"]).endswith("sqlite3") and ":memory:" not in name and "mode=memory" not in name
    )
    return Path(name) if is_file else None


def folder() -> Path:
    return Path(settings.COPY_DIR)


def copies(moment: datetime | None = None) -> list[Path]:
    """The newest first; those of a clock that was ahead last."""
    until = _name(moment or datetime.now(UTC))
    return sorted(
        folder().glob("db-*.sqlite3"), key=lambda path: (path.name <= until, path.name), reverse=True
    )


def size() -> int:
    """Bytes that all copies take."""
    return sum(path.stat().st_size for path in copies())


def copy_new_work(moment: datetime | None = None) -> Path | None:
    """Make a copy if anything was told since the newest, and drop those that are over; the new copy. Blocks.
    Raises OSError and sqlite3.Error."""
    file, newest = database(), next(iter(copies(moment)), None)
    if file is None or not file.exists() or (newest and _last_event(newest) == _last_event(file)):
        return None
    return copy_now(moment)


def copy_now(moment: datetime | None = None) -> Path | None:
    """The same whatever was told; None where the database is no file, or while another process does it."""
    file = database()
    if file is None or not file.exists():
        return None
    folder().mkdir(mode=0o700, exist_ok=True)
    with _alone() as alone:
        if not alone:
            return None
        for leftover in folder().glob("*.partial"):
            leftover.unlink(missing_ok=True)
        moment = moment or datetime.now(UTC)
        made = folder() / _name(moment)
        copy_to(file, made)
        _rotate(moment)
    return made


@contextmanager
def _alone() -> Iterator[bool]:
    """Whether no other process makes a copy."""
    with (folder() / "copy.lock").open("w") as handle:
        try:
            fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            yield False
        else:
            yield True


def _last_event(file: Path) -> int | None:
    """The number of the last event, which stays when events are pruned; None for a file that has none."""
    query = "SELECT seq FROM sqlite_sequence WHERE name = ?"
    with suppress(sqlite3.Error), closing(sqlite3.connect(file, timeout=20)) as db:
        for (number,) in db.execute(query, (_EVENTS,)):
            return int(number)
    return None


def _rotate(moment: datetime) -> None:
    """Keep the newest ones, and the last of each of the last days that have one; of large ones fewer, so that
    contents have most of the quota."""
    found = copies(moment)
    last_of_day: dict[str, Path] = {}
    for path in found:
        last_of_day.setdefault(path.name[: len("db-YYYYMMDD")], path)
    kept = {*found[:NEWEST], *list(last_of_day.values())[:DAYS]}
    taken = 0
    for number, path in enumerate(found):
        taken += path.stat().st_size if path in kept else 0
        if path not in kept or (number >= 2 and taken > settings.STORE_QUOTA / 5):
            path.unlink(missing_ok=True)


def set_mode(copy: Path, mode: int) -> None:
    """Of a file that was just written; nothing where the file system has no modes, such as vfat."""
    with suppress(PermissionError):
        copy.chmod(mode)


def copy_to(file: Path, target: Path) -> None:
    """A copy of a database that others may write meanwhile, whole or not at all and on the disk when this
    returns. Raises OSError and sqlite3.Error."""
    partial = target.with_name(f"{target.name}.partial")
    try:
        with closing(sqlite3.connect(file, timeout=20)) as source, closing(sqlite3.connect(partial)) as copy:
            source.backup(copy)
        set_mode(partial, 0o600)
        with partial.open("rb") as written:
            os.fsync(written.fileno())
        partial.replace(target)
    finally:
        partial.unlink(missing_ok=True)


HOUR_SECONDS = 3600.0
QUIET_SECONDS = 60.0
"""So long no turn was at work before a copy is made: it wants the disk."""
PATIENCE_SECONDS = 900.0
"""How long a copy is put off by turns."""
_LOOK_SECONDS = 10.0


class Copier:
    """One a process. `busy` says whether a turn is at work, `clock` counts seconds and is never put back."""

    def __init__(self, busy: Callable[[], bool], clock: Callable[[], float] = time.monotonic) -> None:
        self._busy = busy
        self._clock = clock
        self._busy_at = self._due = clock()

    async def run(self) -> None:
        """For as long as the process lives."""
        while True:
            await self.look()
            await asyncio.sleep(_LOOK_SECONDS)

    async def look(self) -> Path | None:
        """Make a copy, in a thread, if it is time and there is new work; the new one. To be asked often."""
        if not self._is_time():
            return None
        made = None
        try:
            made = await asyncio.to_thread(copy_new_work)
        except (OSError, sqlite3.Error) as error:
            logger.warning("the database was not copied: %s", error)
        self._due = self._clock() + HOUR_SECONDS
        return made

    def _is_time(self) -> bool:
        now = self._clock()
        if self._busy():
            self._busy_at = now
        is_quiet = now - self._busy_at >= QUIET_SECONDS
        return now >= self._due and (is_quiet or now - self._due >= PATIENCE_SECONDS)
