"""Opening a file that somebody else has named, perhaps by a link: only where its real path may be."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path
from typing import BinaryIO

from sessions.core.sentences import Sentence

MACHINE = ("/proc", "/sys", "/dev")
"""Of the system and not of any project: the environment of this process is a file there."""

_STEP = getattr(os, "O_PATH", os.O_RDONLY) | os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC
_FILE = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC


class LeadsOut(OSError):
    """The file is not below the folder that it should be in. `real` is where it is."""

    def __init__(self, path: Path, real: Path) -> None:
        words = Sentence("%(path)s leads out of the project, to %(real)s", path=path, real=real)
        super().__init__(errno.EXDEV, words)
        self.real = real


def is_machine(path: Path) -> bool:
    """Whether a real path is the kernel's or a device's."""
    return any(path.is_relative_to(folder) for folder in MACHINE)


def real_path(path: Path) -> Path:
    """Links followed. Raises OSError for what no system can hold."""
    try:
        return Path(os.path.realpath(path))
    except ValueError as error:
        raise OSError(errno.EINVAL, f"{str(path)!r} is no path") from error


def opened(path: Path, within: Path | None) -> BinaryIO:
    """A regular file whose real path is `within` or below it, a real path itself; None for the user's own,
    which may be anywhere but in MACHINE.

    No link is followed once the path was looked at: one that takes the place of a file or a folder
    meanwhile is an OSError. Raises LeadsOut.
    """
    real = real_path(path)
    if is_machine(real) or real == Path("/") or not (within is None or real.is_relative_to(within)):
        raise LeadsOut(path, real)
    root = real.parent if within is None or real == within else within
    return _regular(root, real.relative_to(root).parts, path)


def read(path: Path, within: Path | None, limit: int) -> bytes:
    """At most `limit` bytes from its beginning. Raises as `opened`."""
    with opened(path, within) as file:
        return file.read(limit)


def read_whole(path: Path, within: Path | None, limit: int) -> bytes:
    """All of a file that has at most `limit` bytes. Raises OSError for a longer one, and as `opened`."""
    data = read(path, within, limit + 1)
    if len(data) > limit:
        raise OSError(errno.EFBIG, f"not a file of at most {limit / 1024**2:g} MiB")
    return data


def _regular(root: Path, segments: tuple[str, ...], path: Path) -> BinaryIO:
    folder = os.open(root, _STEP & ~os.O_NOFOLLOW)
    try:
        for segment in segments[:-1]:
            deeper = os.open(segment, _STEP, dir_fd=folder)
            os.close(folder)
            folder = deeper
        descriptor = os.open(segments[-1], _FILE, dir_fd=folder)
    finally:
        os.close(folder)
    # Reading a pipe or a device would never end.
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, "it is no regular file")
    return os.fdopen(descriptor, "rb")
