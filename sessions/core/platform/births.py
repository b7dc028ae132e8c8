"""When a file was made, by statx(2), and the clock that the kernel stamps files with."""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import time
from functools import cache
from typing import Any

_HERE, _NO_LINKS = -100, 0x100  # AT_FDCWD, AT_SYMLINK_NOFOLLOW
_BIRTH = 0x800  # STATX_BTIME
_SIZE = 256
_COARSE = 5  # CLOCK_REALTIME_COARSE, which `time` does not name
_MASK = struct.Struct("=I")
_TIME = struct.Struct("=qI")
_BIRTH_AT = 80


def now() -> int:
    """Nanoseconds of the clock that files are stamped with, less a tick: no file made after this is older."""
    clock = _COARSE if sys.platform == "linux" else time.CLOCK_REALTIME
    return time.clock_gettime_ns(clock) - int(time.clock_getres(clock) * 1e9)


def born(path: str | os.PathLike[str]) -> int | None:
    """When the file or link at `path` was made, in nanoseconds since 1970; None where its file system, or
    this machine, does not keep that. A file that is moved keeps it, one that is copied does not. Raises
    OSError."""
    if sys.platform == "darwin":
        return int(os.lstat(path).st_birthtime * 1e9)
    statx = _statx()
    if statx is None:
        return None
    found = ctypes.create_string_buffer(_SIZE)
    if statx(_HERE, os.fsencode(path), _NO_LINKS, _BIRTH, found):
        number = ctypes.get_errno()
        raise OSError(number, os.strerror(number), os.fspath(path))
    if not _MASK.unpack_from(found)[0] & _BIRTH:
        return None
    seconds, nanoseconds = _TIME.unpack_from(found, _BIRTH_AT)
    return int(seconds * 1_000_000_000 + nanoseconds)


@cache
def _statx() -> Any:
    """The function of the C library; None where there is none."""
    try:
        return ctypes.CDLL(None, use_errno=True).statx
    except (OSError, AttributeError):
        return None
