"""Which paths of a worktree may have changed since the last look, without looking at them.

All folders are watched but those git ignores and `.git`. inotify puts an event into the queue
before the system call that changed a file returns, so what ended before `changed` is called is told.
Not told: a write through a shared memory map after its file was closed, and a write through a hard link that
lies elsewhere (docs/decisions/0013).
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from pathlib import Path

from sessions.core.platform.inotify import (
    APPEARED,
    ATTRIBUTES,
    DELETE_SELF,
    FOLDER,
    IGNORED,
    MOVE_SELF,
    MOVED_FROM,
    OVERFLOW,
    UNMOUNT,
    Event,
    Inotify,
)
from sessions.core.platform.mounts import tells_all

MOST_FOLDERS = 32_768
"""More are not watched: the kernel keeps about a kilobyte for each, and a user has a limited number."""
_RULES = (".git", ".gitignore")

Ignored = Callable[[list[str]], set[str]]
"""The folders git ignores below folders, all relative to the worktree; the folders themselves included."""


class Unwatchable(Exception):
    """The worktree cannot be watched, now or ever; the text says why."""


class Lost(Exception):
    """What changed is no longer known: the queue ran over, the root moved, the rules of git changed, or git
    did not say what it ignores."""


class Watcher:
    """The folders of one worktree, watched from the moment this is made. Raises Unwatchable."""

    def __init__(self, worktree: Path, ignored: Ignored) -> None:
        if not tells_all(worktree):
            raise Unwatchable("its file system does not tell of all changes")
        self._root = os.fspath(worktree)
        self._ignored = ignored
        self.made: set[str] = set()
        self._paths: dict[int, str] = {}
        self._numbers: dict[str, int] = {}
        try:
            self._inotify = Inotify()
            self._enter([""])
        except OSError as error:
            raise Unwatchable(error.strerror or str(error)) from error

    def changed(self) -> set[str]:
        """The paths that may have changed since the last call, relative to the worktree; for a folder that
        appeared, its path alone, and `made` has it too. Raises Lost, Unwatchable."""
        changed: set[str] = set()
        appeared: list[str] = []
        for event in self._inotify.read():
            path = self._path(event)
            if path is None:
                continue
            changed.add(path)
            if not event.mask & FOLDER:
                continue
            if event.mask & MOVED_FROM:
                self._leave(path)
            elif event.mask & APPEARED or (event.mask & ATTRIBUTES and path not in self._numbers):
                appeared.append(path)
                self.made.add(path)
        if appeared:
            try:
                self._enter(appeared)
            except OSError as error:
                raise Unwatchable(error.strerror or str(error)) from error
            except Exception as error:  # what git ignores there is not known, and so not what to watch
                raise Lost from error
        return changed

    def watches(self, folder: str) -> bool:
        """Whether it is told what happens in a folder, relative to the worktree."""
        return folder in self._numbers

    def _path(self, event: Event) -> str | None:
        """What an event is about; None when it tells nothing about a path. Raises Lost."""
        if event.mask & (OVERFLOW | UNMOUNT) or event.name in _RULES:
            raise Lost
        folder = self._paths.get(event.watch)
        if folder is None:
            return None
        if event.mask & IGNORED:
            self._forget(event.watch)
            return None
        if event.mask & (DELETE_SELF | MOVE_SELF):
            if not folder:
                raise Lost
            return None
        return _join(folder, event.name) if event.name else folder or None

    def _enter(self, folders: Iterable[str]) -> None:
        """Watch folders and what is below them. Each is watched before it is read: what comes into it
        later is told, what was there is found here."""
        waiting = list(folders)
        ignored = self._ignored(waiting)
        while waiting:
            folder = waiting.pop()
            if folder in ignored:
                continue
            try:
                self._remember(folder, self._inotify.add(_join(self._root, folder)))
                waiting += self._folders_in(folder)
            except (FileNotFoundError, NotADirectoryError, PermissionError):
                continue

    def _folders_in(self, folder: str) -> list[str]:
        with os.scandir(_join(self._root, folder)) as entries:
            found = [entry.name for entry in entries if entry.is_dir(follow_symlinks=False)]
        return [_join(folder, name) for name in found if name != ".git"]

    def _remember(self, folder: str, number: int) -> None:
        self._paths[number] = folder
        self._numbers[folder] = number
        if len(self._paths) > MOST_FOLDERS:
            raise Unwatchable(f"it has more than {MOST_FOLDERS} folders")

    def _forget(self, number: int) -> None:
        folder = self._paths.pop(number, None)
        if folder is not None and self._numbers.get(folder) == number:
            del self._numbers[folder]

    def _leave(self, folder: str) -> None:
        """A folder was moved away: what happens in it has another path now, or none."""
        below = f"{folder}/"
        for path in [path for path in self._numbers if path == folder or path.startswith(below)]:
            number = self._numbers[path]
            self._inotify.remove(number)
            self._forget(number)


def _join(folder: str, name: str) -> str:
    return f"{folder}/{name}" if folder and name else folder or name
