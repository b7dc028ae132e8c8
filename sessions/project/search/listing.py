"""The names of a folder's files: listed once, and kept while nothing came or went.

inotify tells of it (`changes.snapshots.watching`); where it cannot, names are listed for each search.
"""

from __future__ import annotations

import asyncio
import os
import stat
import threading
import time
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path, PurePosixPath

from sessions.changes.snapshots.project import find_project_git
from sessions.changes.snapshots.watching.recall import RETRY_SECONDS, Mark, identity, mark
from sessions.changes.snapshots.watching.watcher import Lost, Unwatchable, Watcher
from sessions.core.bounded import Bounded
from sessions.core.models.ledger import shown
from sessions.project.search import ripgrep
from sessions.project.search.ignoring import ignored_folders
from sessions.project.search.ranking import Names

MOST_FILES = 200_000
MOST_KEPT = 4
"""Folders whose names are kept; the one that was asked for longest ago goes first."""

_RULES = (".gitignore", ".ignore", ".rgignore")
_MOST_PASSED = 10_000


class Listing:
    """The files of a folder that no rule ignores, and the folders they are in, relative to it."""

    def __init__(self, directory: Path) -> None:
        """Raises SearchFailed."""
        output = ripgrep.names(directory, ["--files", "--hidden", "--glob=!.git", "--null"])
        names = os.fsdecode(output).split("\0")[:-1][:MOST_FILES]
        self.files = frozenset(names)
        self.folders = frozenset(_folders(names))

    @cached_property
    def of_files(self) -> Names:
        return Names(self.files)

    @cached_property
    def of_folders(self) -> Names:
        return Names(f"{folder}/" for folder in self.folders)

    @cached_property
    def of_all(self) -> Names:
        return Names([*self.files, *(f"{folder}/" for folder in self.folders)])


def _folders(names: Iterable[str]) -> set[str]:
    found = {name.rpartition("/")[0] for name in names}
    for folder in list(found):
        while folder := folder.rpartition("/")[0]:
            found.add(folder)
    return found - {""}


@dataclass(slots=True)
class Kept:
    """The listing of one folder; for several threads."""

    directory: Path
    _listing: Listing | None = None
    _watcher: Watcher | None = None
    _rules: Mark = ()
    _above: tuple[Path, ...] = ()
    _passed: set[str] = field(default_factory=set)
    _refused_until: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def listing(self) -> Listing:
        """Of this moment. Raises SearchFailed."""
        with self._lock:
            came = self._changed()
            if self._listing is None or came is None or any(map(self._counts, came)):
                self._list(came or set())
            assert self._listing is not None
            return self._listing

    def _changed(self) -> set[str] | None:
        """Paths at which something happened since the last call; None when that is not known."""
        if self._watcher is None or self._rules != self._marks():
            self._watcher = None
            return None
        try:
            return self._watcher.changed()
        except (Lost, Unwatchable):
            self._watcher = None
            return None

    def _counts(self, path: str) -> bool:
        """Whether something that happened at a path may have changed which names there are."""
        assert self._listing is not None
        if PurePosixPath(path).name in _RULES:
            return True
        try:
            mode = os.lstat(self.directory / path).st_mode
        except OSError:
            return path in self._listing.files or path in self._listing.folders
        if path in self._listing.files:
            return not stat.S_ISREG(mode)
        return stat.S_ISDIR(mode) or (stat.S_ISREG(mode) and path not in self._passed)

    def _list(self, came: set[str]) -> None:
        """List anew. What came, stays and is not among the names is ignored by a rule, also the next time."""
        self._listing = None
        seen = {path: mark(self.directory / path) for path in came}
        if self._watcher is None and time.monotonic() >= self._refused_until:
            self._watch()
        self._listing = Listing(self.directory)
        if self._watcher and not all(map(self._watcher.watches, self._listing.folders)):
            self._refuse()  # e.g. a repository in the repository
        if len(self._passed) > _MOST_PASSED:
            self._passed.clear()
        left_out = seen.keys() - self._listing.files
        self._passed |= {
            path for path in left_out if seen[path] and seen[path] == mark(self.directory / path)
        }

    def _watch(self) -> None:
        """From here on it is told what happens."""
        project = find_project_git(self.directory)
        self._above = tuple(path for path in (project.exclude, project.global_excludes) if path)
        self._rules = self._marks()
        self._passed.clear()
        try:
            self._watcher = Watcher(self.directory, lambda below: ignored_folders(self.directory, below))
        except Unwatchable:
            self._refuse()

    def _refuse(self) -> None:
        self._watcher, self._refused_until = None, time.monotonic() + RETRY_SECONDS

    def _marks(self) -> Mark:
        """What tells one state from another of all that decides which names there are, but for the rules in
        the folder itself."""
        above = [mark(folder / name) for folder in self.directory.parents for name in _RULES]
        tops = [identity(folder / ".git") for folder in (self.directory, *self.directory.parents)]
        return (identity(self.directory), *tops, *above, *map(mark, self._above))


_kept: Bounded[Path, Kept] = Bounded(MOST_KEPT)
_lock = threading.Lock()


def listing(directory: Path) -> Listing:
    """The names in a folder as they are now. Raises SearchFailed."""
    directory = Path(os.path.realpath(directory))
    with _lock:
        known = _kept.get(directory) or Kept(directory)
        _kept[directory] = known
    return known.listing()


def ending_with(directory: Path, paths: Iterable[str]) -> dict[str, str]:
    """Of paths those with which the path of one file alone ends, by whole names, and that one. Raises
    SearchFailed."""
    wanted: dict[str, list[str]] = {}
    for path in paths:
        wanted.setdefault(path.rpartition("/")[2], []).append(path)
    found: dict[str, list[str]] = {}
    for file in listing(directory).files:
        for path in wanted.get(file.rpartition("/")[2], ()):
            if f"/{file}".endswith(f"/{path}"):
                found.setdefault(path, []).append(file)
    return {path: files[0] for path, files in found.items() if len(files) == 1}


async def find_files(
    directory: Path, query: str, *, limit: int = 10, files: bool = True, folders: bool = False
) -> list[str]:
    """Paths relative to the folder whose letters contain those of `query` in order, the best first; a
    folder's path ends with a slash. Raises SearchFailed."""
    return await asyncio.to_thread(_find_files, directory, query, limit, files, folders)


def _find_files(directory: Path, query: str, limit: int, files: bool, folders: bool) -> list[str]:
    found = listing(directory)
    names = found.of_all if files and folders else found.of_folders if folders else found.of_files
    return [shown(path) for path in names.best(query, limit)]
