"""Whether a file is still what it was, told from outside."""

from __future__ import annotations

import os

Stamp = tuple[int, ...] | None
"""Of one state of a file or folder, device and number first; None where nothing is, or nothing that may be
looked at. Whoever writes a file can give it back its size and the time of its content (utime(2)), but not the
time of its inode."""


def stamp(path: str | os.PathLike[str], *, follow: bool = True) -> Stamp:
    """Without `follow` a link has its own."""
    try:
        return stamp_of(os.stat(path, follow_symlinks=follow))
    except (OSError, ValueError):  # no path has a NUL in it
        return None


def stamp_of(found: os.stat_result) -> tuple[int, ...]:
    """Of what was looked at already."""
    where, times = (found.st_dev, found.st_ino), (found.st_mtime_ns, found.st_ctime_ns)
    return *where, found.st_mode, found.st_size, *times
