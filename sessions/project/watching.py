"""What changes on the disk below a folder, as it happens, for as long as somebody listens."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator
from dataclasses import dataclass, field
from pathlib import Path

from sessions.changes.snapshots.project import find_project_git
from sessions.changes.snapshots.watching.recall import Mark, mark
from sessions.changes.snapshots.watching.watcher import Lost, Unwatchable, Watcher
from sessions.core.opened import holds_home
from sessions.project.search.ignoring import ignored_folders

LOOK_SECONDS = 0.4
"""How long after each other it is asked what changed: what comes in between is one change."""
ALL = ""
"""A path for: anything may have changed."""
GIT = ".git"
"""A path for: what git says of files may have changed, though no file did."""


@dataclass(slots=True)
class _Watch:
    """Not for several threads at once."""

    directory: Path
    _watcher: Watcher | None = None
    _git: tuple[Path, ...] = ()
    _seen: tuple[Mark, ...] = field(default=())

    def begin(self) -> None:
        """Raises Unwatchable."""
        index = find_project_git(self.directory).index
        self._git = (index, index.with_name("HEAD")) if index else ()
        self._seen = self._marks()
        self._watcher = Watcher(self.directory, lambda below: ignored_folders(self.directory, below))

    def look(self) -> set[str]:
        """What changed since the last look. Raises Unwatchable."""
        assert self._watcher is not None
        try:
            found = self._watcher.changed()
        except Lost:
            self.begin()
            return {ALL}
        before, self._seen = self._seen, self._marks()
        return found | {GIT} if self._seen != before else found

    def _marks(self) -> tuple[Mark, ...]:
        return tuple(map(mark, self._git))


async def changes(directory: Path) -> AsyncGenerator[set[str], None]:
    """Paths relative to a folder at which something happened, in what git does not ignore. Ends where that
    cannot be known: the system does not tell, or it is the home folder."""
    watch = _Watch(directory)
    try:
        if holds_home(directory):
            return
        await asyncio.to_thread(watch.begin)
        while True:
            await asyncio.sleep(LOOK_SECONDS)
            if found := await asyncio.to_thread(watch.look):
                yield found
    except Unwatchable:
        return
