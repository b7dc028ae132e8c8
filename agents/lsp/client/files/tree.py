"""Which files of a folder came, changed and went, as the kernel tells (`sessions.snapshots.watching`)."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from sessions.search.ignoring import ignored_folders
from sessions.snapshots.watching.watcher import Lost, Unwatchable, Watcher

Stamp = tuple[int, int] | None
"""Modification time in nanoseconds and size; None for what cannot be read."""
Kind = Literal[1, 2, 3]
CREATED: Kind = 1
CHANGED: Kind = 2
DELETED: Kind = 3


@dataclass(frozen=True, slots=True)
class Change:
    """`kind` is the number of the protocol's FileChangeType."""

    path: Path
    kind: Kind


class Tree:
    """The files below a folder, but for what git ignores. It blocks; not for several threads at once. Raises
    Unwatchable, as does `changes`."""

    def __init__(self, root: Path) -> None:
        self._root = root
        self._real = Path(os.path.realpath(root))
        self._look()

    def changes(self) -> list[Change]:
        """Since the last call."""
        try:
            paths = self._watcher.changed()
        except Lost:
            before = self._files
            self._look()
            return self._differing(before)
        self._watcher.made.clear()
        return [change for path in sorted(paths) for change in self._change(path)]

    def _differing(self, before: dict[str, Stamp]) -> list[Change]:
        came, went = self._files.keys() - before.keys(), before.keys() - self._files.keys()
        kept = self._files.keys() & before.keys()
        changed = (path for path in kept if self._files[path] != before[path])
        return [
            *self._said(sorted(came), CREATED),
            *self._said(sorted(changed), CHANGED),
            *self._said(sorted(went), DELETED),
        ]

    def _look(self) -> None:
        self._watcher = Watcher(self._real, lambda below: ignored_folders(self._real, below))
        self._folders: set[str] = set()
        self._files = self._stamped(self._walk(""))

    def _stamped(self, paths: Iterable[str]) -> dict[str, Stamp]:
        return {path: self._stamp(path) for path in paths}

    def _stamp(self, path: str) -> Stamp:
        with suppress(OSError):
            found = os.lstat(self._real / path)
            return found.st_mtime_ns, found.st_size
        return None

    def _walk(self, folder: str) -> Iterator[str]:
        """The files below a folder, which is noted with those below it; all relative to the root."""
        waiting = [folder]
        while waiting:
            folder = waiting.pop()
            if not self._watcher.watches(folder):
                continue
            self._folders.add(folder)
            try:
                with os.scandir(self._real / folder) as entries:
                    for entry in entries:
                        path = f"{folder}/{entry.name}" if folder else entry.name
                        if entry.is_dir(follow_symlinks=False):
                            waiting.append(path)
                        else:
                            yield path
            except OSError:
                continue

    def _change(self, path: str) -> Iterator[Change]:
        """What has become of a path at which something happened."""
        try:
            mode = os.lstat(self._real / path).st_mode
        except OSError:
            yield from self._gone(path)
            return
        if stat.S_ISDIR(mode):
            came = [path for path in self._walk(path) if path not in self._files]
            self._files |= self._stamped(came)
            yield from self._said(came, CREATED)
        else:
            yield from self._said([path], CHANGED if path in self._files else CREATED)
            self._files[path] = self._stamp(path)

    def _gone(self, path: str) -> Iterator[Change]:
        went = {path} & self._files.keys()
        if path in self._folders:
            below = f"{path}/"
            went = {file for file in self._files if file.startswith(below)}
            self._folders -= {folder for folder in self._folders if f"{folder}/".startswith(below)}
        for file in went:
            del self._files[file]
        yield from self._said(sorted(went), DELETED)

    def _said(self, paths: list[str], kind: Kind) -> Iterator[Change]:
        return (Change(self._root / path, kind) for path in paths)


__all__ = ["CHANGED", "CREATED", "DELETED", "Change", "Tree", "Unwatchable"]
