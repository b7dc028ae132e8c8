"""Why something could not be written: for want of room, or as the database went away."""

from __future__ import annotations

import errno
import shutil
import sqlite3

from django.conf import settings
from django.db import InterfaceError, OperationalError
from django.utils.translation.trans_null import gettext_noop

FULL = gettext_noop("The disk is full: nothing can be saved until there is room again.")
AWAY = gettext_noop("The database does not answer: nothing can be read or saved until it is back.")
_GONE = frozenset({None, "08000", "08003", "08006", "53300", "57P01", "57P02", "57P03"})
"""PostgreSQL, appendix A: no connection, or one that a server which ends or begins does not give. None: it
said nothing."""
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


def is_away(error: BaseException | None) -> bool:
    """Whether this error is that of a database server which cannot be reached."""
    cause = error.__cause__ if isinstance(error, OperationalError | InterfaceError) else None
    return cause is not None and getattr(cause, "sqlstate", "") in _GONE


def _says_full(error: sqlite3.Error) -> bool:
    code: int = getattr(error, "sqlite_errorcode", 0)
    if code == sqlite3.SQLITE_FULL:
        return True
    # SQLite says no more than "I/O error" where the index of its log could not grow.
    return code & 0xFF == sqlite3.SQLITE_IOERR and shutil.disk_usage(settings.DATA_DIR).free < _ROOM
