"""Is it for want of room that something could not be written?"""

from __future__ import annotations

import errno
import shutil
import sqlite3

from django.conf import settings

FULL = "The disk is full: nothing can be saved until there is room again."
_ROOM = 1024 * 1024
"""Bytes that SQLite may want at once, for its log and the index of that."""


def is_full(error: BaseException | None) -> bool:
    """Whether this error, or one that it came from, is that of a full disk or quota."""
    while error is not None:
        if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT):
            return True
        if isinstance(error, sqlite3.Error) and _says_full(error):
            return True
        if getattr(error, "sqlstate", "") == "53100":  # PostgreSQL, appendix A: disk_full
            return True
        error = error.__cause__ or error.__context__
    return False


def _says_full(error: sqlite3.Error) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_FULL:
        return True
    # SQLite says no more than "I/O error" where the index of its log could not grow.
    return code & 0xFF == sqlite3.SQLITE_IOERR and shutil.disk_usage(settings.DATA_DIR).free < _ROOM
