"""The files of a folder for people and their clients: what is in it, and nothing outside of it."""

from __future__ import annotations

import os
import stat
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from django.utils.translation import gettext

from sessions.core.models.ledger import shown

MAX_CONTENT = 10 * 1024 * 1024
"""Bytes of a file that is read in one piece."""


class Unreadable(Exception):
    """A path that is not read; the text says why."""


class Outside(Unreadable):
    """It leads out of the folder, by `..`, as an absolute path or by a symbolic link."""


class Missing(Unreadable):
    """There is no such file or folder."""


class TooLarge(Unreadable):
    """The file has more than MAX_CONTENT bytes."""


@dataclass(frozen=True, slots=True)
class Entry:
    """A file or a folder of `directory`; links count as what they lead to."""

    directory: Path
    path: Path
    is_folder: bool

    @property
    def name(self) -> str:
        return shown(self.path.name)

    @property
    def absolute(self) -> str:
        return shown(str(self.path))

    @property
    def relative(self) -> str:
        """As the wire has it: a folder's ends with a slash."""
        return shown(str(self.path.relative_to(self.directory))) + ("/" if self.is_folder else "")

    @property
    def kind(self) -> str:
        return "directory" if self.is_folder else "file"


def inside(directory: Path, path: str) -> Path:
    """The real path. Raises Unreadable, Outside."""
    root = directory.resolve()
    try:
        found = (root / path).resolve()
        found.exists()  # fails here for a name that the system cannot hold
    except (OSError, ValueError, RuntimeError) as error:
        raise Unreadable(str(error)) from error
    if not found.is_relative_to(root):
        raise Outside(gettext("%(path)s is outside of the project") % {"path": repr(path)})
    return found


def entries(directory: Path, path: str) -> list[Entry]:
    """What is in a folder, folders first, less `.git`, devices and links that lead out. Raises Unreadable."""
    root, folder = directory.resolve(), inside(directory, path)
    try:
        with os.scandir(folder) as found:
            names = [entry.name for entry in found if entry.name != ".git"]
    except (FileNotFoundError, NotADirectoryError) as error:
        raise Missing(gettext("There is no folder %(path)s.") % {"path": repr(path)}) from error
    except OSError as error:
        raise Unreadable(
            gettext("%(path)s cannot be read: %(error)s") % {"path": repr(path), "error": error.strerror}
        ) from error
    listed = (_entry(root, folder / name) for name in names)
    return sorted((entry for entry in listed if entry), key=lambda entry: (not entry.is_folder, entry.path))


def _entry(root: Path, path: Path) -> Entry | None:
    try:
        if path.is_symlink() and not path.resolve().is_relative_to(root):
            return None
        mode = path.stat().st_mode
    except (OSError, RuntimeError):  # it is gone, or links lead in a circle
        return None
    if stat.S_ISDIR(mode) or stat.S_ISREG(mode):
        return Entry(root, path, stat.S_ISDIR(mode))
    return None


def content(directory: Path, path: str) -> bytes:
    """What is in a file. Raises Unreadable, Outside, Missing, TooLarge."""
    try:
        with opened(directory, path) as file:
            data = file.read(MAX_CONTENT + 1)
    except OSError as error:
        raise Missing(
            gettext("%(path)s cannot be read: %(error)s") % {"path": repr(path), "error": error.strerror}
        ) from error
    if len(data) > MAX_CONTENT:
        raise TooLarge(
            gettext("%(path)s is larger than %(most)s MB")
            % {"path": repr(path), "most": MAX_CONTENT // 1024 // 1024}
        )
    return data


def opened(directory: Path, path: str) -> BinaryIO:
    """A file, to be read. Raises Unreadable, Outside, Missing."""
    found = inside(directory, path)
    if not found.is_file():  # reading a pipe or a device would never end
        raise Missing(gettext("There is no file %(path)s.") % {"path": repr(path)})
    try:
        # The path was resolved: a link that took its place since then is not followed.
        descriptor = os.open(found, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC)
        return open(descriptor, "rb")
    except OSError as error:
        raise Missing(
            gettext("%(path)s cannot be read: %(error)s") % {"path": repr(path), "error": error.strerror}
        ) from error
