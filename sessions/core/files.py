"""Files that are always whole: written beside their place and renamed, changed by one process at a time."""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import stat
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

_NEW = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC
PRIVATE = 0o600
AS_IT_IS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC
"""How a file is opened that somebody else may have put there."""


class BrokenFile(ValueError):
    """A file holds no JSON object; the text names file and line."""


def replace_file(path: Path, content: bytes, mode: int | None = None) -> None:
    """Write atomically, and to the disk; an existing file keeps its mode unless one is given, and its owner,
    group and extended attributes as far as it may; parents are made. Other hard links to it keep the content
    of before: what a package manager shares between projects is not changed in all of them.

    Raises OSError (disk full, no permission, a folder in the way) with the old file untouched.
    """
    path.parent.mkdir(parents=True, exist_ok=True)
    if mode is None and path.exists():
        mode = path.stat().st_mode
    with _written(path, content, mode) as temporary:
        os.replace(temporary, path)


def create_file(path: Path, content: bytes, mode: int) -> bool:
    """The same for a file that is not there yet; False where there is one, which stays as it is."""
    with _written(path, content, mode) as temporary:
        try:
            os.link(temporary, path)
        except FileExistsError:
            return False
        return True


def remove_leftovers(path: Path) -> int:
    """Remove what writes of a file left beside it whose process was killed; returns how many files went. Only
    while nobody writes it."""
    gone = 0
    with suppress(OSError):
        for name in os.listdir(path.parent):
            if re.fullmatch(re.escape(_beginning(path)) + "[0-9a-f]{16}", name):
                (path.parent / name).unlink(missing_ok=True)
                gone += 1
    return gone


def _beginning(path: Path) -> str:
    return f".{path.name[:40]}.opencode-web-"


def sync_folder(folder: Path) -> None:
    """Have the disk keep the names that are in a folder. Raises OSError."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _attributes(descriptor: int) -> list[str]:
    try:
        return os.listxattr(descriptor)
    except OSError:  # the file system has none
        return []


def inherit(new: int, path: str | Path, folder: int | None = None) -> None:
    """Give an open file the owner, group and extended attributes (access control lists are among them) of the
    one at `path`, if there is one, as far as this process may. Before its mode is given: a change of the
    owner takes bits of that."""
    try:
        old = os.open(path, AS_IT_IS, dir_fd=folder)
    except OSError:
        return
    try:
        found = os.fstat(old)
        with suppress(OSError):
            os.fchown(new, -1, found.st_gid)
        with suppress(OSError):
            os.fchown(new, found.st_uid, -1)
        if sys.platform == "linux":
            for name in _attributes(old):
                with suppress(OSError):
                    os.setxattr(new, name, os.getxattr(old, name))
    finally:
        os.close(old)


@contextmanager
def _written(path: Path, content: bytes, mode: int | None) -> Iterator[Path]:
    """A neighbour of `path` with this content, which is gone afterwards."""
    temporary = path.parent / f"{_beginning(path)}{secrets.token_hex(8)}"
    # A mode that is known is given at the end; a new file gets the one that the umask and the folder's
    # default rules leave, which the system alone knows.
    descriptor = os.open(temporary, _NEW, 0o666 if mode is None else PRIVATE)
    try:
        with open(descriptor, "wb") as file:
            file.write(content)
            file.flush()
            inherit(descriptor, path)
            if mode is not None:
                os.fchmod(descriptor, stat.S_IMODE(mode))
            os.fsync(descriptor)
        yield temporary
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def locked(path: Path, *, wait: bool = True, folder: bool = False) -> Iterator[None]:
    """Only one thread of all processes is in here at a time for this lock file, which is made and
    stays, or for a folder.

    Raises BlockingIOError at once if another is, unless it is to wait.
    """
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    flags = os.O_RDONLY if folder else os.O_RDWR | os.O_CREAT
    descriptor = os.open(path, flags | os.O_CLOEXEC, PRIVATE)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX if wait else fcntl.LOCK_EX | fcntl.LOCK_NB)
        yield
    finally:
        os.close(descriptor)


class JsonFile:
    """A private file (mode 600) with one JSON object; other processes change it too, so nothing is kept."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def read(self) -> dict[str, Any]:
        """What it holds; nothing where there is no file. Raises BrokenFile, OSError."""
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
        except FileNotFoundError:
            return {}
        except json.JSONDecodeError as error:
            raise BrokenFile(f"{self.path}, line {error.lineno}: {error.msg}") from error
        except (UnicodeDecodeError, RecursionError) as error:
            raise BrokenFile(f"{self.path}, line 1: no JSON text") from error
        if not isinstance(content, dict):
            raise BrokenFile(f"{self.path}, line 1: no JSON object")
        return content

    @contextmanager
    def changing(self, *, broken_is_empty: bool = False) -> Iterator[dict[str, Any]]:
        """What it holds, to be changed in place by one at a time; written at the end if it differs then.

        Raises BrokenFile rather than overwrite what cannot be read, unless that counts as nothing; OSError.
        """
        self.path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with locked(self.path.parent, folder=True):
            try:
                content = self.read()
            except BrokenFile:
                if not broken_is_empty:
                    raise
                content = {}
            before = json.dumps(content)
            yield content
            if json.dumps(content) != before:
                replace_file(self.path, json.dumps(content, indent=2).encode(), PRIVATE)
