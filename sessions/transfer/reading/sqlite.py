"""Open somebody else's SQLite database without writing a byte beside or into it."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from urllib.parse import quote

from .records import Unreadable

WAIT = 10.0
"""Seconds to wait for a writer that holds the database."""
PATIENCE = 60.0
"""Seconds that one reading may take."""
_STEPS = 10_000
"""Of SQLite's machine between two looks at the clock: some tenths of a millisecond."""


@contextmanager
def opened(path: Path) -> Iterator[sqlite3.Connection]:
    """A connection that can only read, also beside a program that writes. Raises Unreadable.

    Without a write-ahead log the file is read as it lies there. With one and its index, some program has the
    database open: we join it. With a log that nobody has open (after a crash), SQLite would make a new index
    beside it, so a copy is read instead (SQLite, "Write-Ahead Logging", Read-Only Databases).
    """
    with tempfile.TemporaryDirectory(prefix="opencode-web-import-") as folder:
        try:
            uri = _uri(path, Path(folder))
            with closing(_connected(uri)) as connection:
                connection.row_factory = sqlite3.Row
                connection.text_factory = lambda data: data.decode("utf-8", "replace")
                connection.execute("PRAGMA trusted_schema=OFF")
                bounded(connection)
                connection.execute("SELECT count(*) FROM sqlite_master")
                yield connection
        except (sqlite3.DatabaseError, OSError) as error:
            raise Unreadable(f"{path} cannot be read: {error}") from error


def _connected(uri: str) -> sqlite3.Connection:
    """For any thread, one at a time; transactions are the caller's."""
    return sqlite3.connect(uri, uri=True, timeout=WAIT, isolation_level=None, check_same_thread=False)


def bounded(connection: sqlite3.Connection) -> None:
    """From now on the connection has PATIENCE for what it is asked; then it raises OperationalError: what is
    in the database may have been made to be read for ever."""
    end = time.monotonic() + PATIENCE
    connection.set_progress_handler(lambda: time.monotonic() > end, _STEPS)


def is_plain(connection: sqlite3.Connection, name: str) -> bool:
    """Whether it only holds rows, if there is such a thing: a view, a table of a module and a computed column
    run what the database says."""
    found = connection.execute(
        "SELECT type, rootpage FROM sqlite_master WHERE name = ? COLLATE NOCASE", (name,)
    ).fetchall()
    if any(row["type"] != "table" or not row["rootpage"] for row in found):
        return False
    return all(column["hidden"] == 0 for column in connection.execute(f"PRAGMA table_xinfo({name})"))


def _uri(path: Path, scratch: Path) -> str:
    with path.open("rb") as file:
        if file.read(16) not in (b"", b"SQLite format 3\0"):
            raise Unreadable(f"{path} is no SQLite database")
    log, index = (path.with_name(path.name + suffix) for suffix in ("-wal", "-shm"))
    if not log.exists() or log.stat().st_size == 0:
        return f"file:{quote(str(path))}?mode=ro&immutable=1"
    if index.exists():
        return f"file:{quote(str(path))}?mode=ro"
    copy = scratch / path.name
    for part in (path, log):
        shutil.copyfile(part, scratch / part.name)
    return f"file:{quote(str(copy))}"


def bytes_of(path: Path) -> int:
    """Of the database with its log."""
    log = path.with_name(path.name + "-wal")
    return sum(os.stat(part).st_size for part in (path, log) if part.exists())
