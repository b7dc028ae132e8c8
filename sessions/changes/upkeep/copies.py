"""Copies of the database, one a day, for the day on which it is damaged (docs/decisions/0021).

They are made while the server runs, page by page as SQLite's backup does, so that each is whole. Other
databases have means of their own.
"""

from __future__ import annotations

import os
import sqlite3
from contextlib import closing, suppress
from datetime import UTC, datetime, timedelta
from pathlib import Path

from django.conf import settings

KEPT = 7
DAY = timedelta(days=1)


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


def copy_daily(moment: datetime | None = None) -> Path | None:
    """Make a copy unless there is one of the last 24 hours, and drop the oldest; the new copy. Blocks.
    Raises OSError and sqlite3.Error."""
    moment = moment or datetime.now(UTC)
    if any(_name(moment - DAY) < path.name <= _name(moment) for path in copies()):
        return None
    return copy_now(moment)


def copy_now(moment: datetime | None = None) -> Path | None:
    """The same at once; None where the database is no file."""
    file = database()
    if file is None or not file.exists():
        return None
    folder().mkdir(mode=0o700, exist_ok=True)
    for leftover in folder().glob("*.partial"):
        leftover.unlink(missing_ok=True)
    moment = moment or datetime.now(UTC)
    made = folder() / _name(moment)
    copy_to(file, made)
    _rotate(moment)
    return made


def _rotate(moment: datetime) -> None:
    """Drop the oldest: those over KEPT, and of large ones more, so that contents have most of the quota."""
    taken = 0
    for number, path in enumerate(copies(moment)):
        taken += path.stat().st_size
        if number >= KEPT or (number >= 2 and taken > settings.STORE_QUOTA / 5):
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
