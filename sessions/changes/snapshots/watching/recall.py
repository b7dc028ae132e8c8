"""The last look at a worktree, and whether it still holds."""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path

from sessions.changes.snapshots.changes import Skipped, Tree
from sessions.changes.snapshots.modes import under
from sessions.changes.snapshots.watching.watcher import Ignored, Lost, Unwatchable, Watcher
from sessions.core.platform import births
from sessions.core.platform.stamps import stamp

logger = logging.getLogger(__name__)

TRUSTED_SECONDS = 300.0
"""How long events alone are believed: then one look at everything finds what they cannot tell."""
RETRY_SECONDS = 300.0
"""After a worktree could not be watched: other programs may have given back what was lacking."""
MOST_PATHS = 200
"""Of more changed paths than these git is not told: it looks at everything."""

Mark = tuple[object, ...]


@dataclass(frozen=True, slots=True)
class Known:
    """The tree of the last look, and the paths (in the worktree) that may have changed since. Folders that
    came are among them, and in `made`."""

    tree: Tree
    changed: frozenset[str]
    made: frozenset[str]


@dataclass(slots=True)
class Recall:
    """Not for several threads at once; the store's lock sees to that."""

    worktree: Path
    _watcher: Watcher | None = None
    _tree: Tree | None = None
    _rules: Mark = ()
    _index: Mark = ()
    _until: float = 0.0
    _refused_until: float = 0.0
    _pending: set[str] = field(default_factory=set)
    _asked: int = 0
    _seconds: range = range(0)
    """In which the last look was taken."""

    def ask(self, rules: Mark, index: Mark) -> Known | None:
        """What is known without a look; None when anything may have changed. `rules` and `index` are marks
        of what a tree hangs on besides the files: git's rules of what to see, and the store's index."""
        self._asked = births.now() // 1_000_000_000
        if self._watcher is None or self._tree is None or (rules, index) != (self._rules, self._index):
            return None
        if time.monotonic() > self._until or not self._read():
            return None
        if len(self._pending) > MOST_PATHS:
            return None
        return Known(self._tree, frozenset(self._pending), frozenset(self._watcher.made))

    def begin(self, rules: Mark, ignored: Ignored) -> None:
        """Everything is about to be looked at: from here on events count."""
        self._tree = None
        known = self._watcher is not None and rules == self._rules and self._read()
        if not known and time.monotonic() >= self._refused_until:
            self._watch(ignored)
        self._rules = rules
        self._pending.clear()

    def keep(self, tree: Tree, index: Mark, *, whole: bool) -> None:
        """`tree` is what the look found; `whole` when it was one at everything."""
        self._tree, self._index = tree, index
        self._seconds = range(self._asked, int(time.time()) + 1)
        self._pending.clear()
        if self._watcher is not None:
            self._watcher.made.clear()
        if whole:
            self._until = time.monotonic() + TRUSTED_SECONDS

    def alike(self, paths: Iterable[str]) -> list[str]:
        """Files that git may take for those of the last look though they were written since, as long as they
        were: it compares times in whole seconds, and that of the content can be set."""
        found = []
        for path in paths if self._seconds else ():
            with suppress(OSError):
                seen = os.lstat(self.worktree / path)
                if int(seen.st_ctime) in self._seconds and int(seen.st_mtime) < self._seconds[-1]:
                    found.append(path)
        return found

    def unwatch(self) -> None:
        """More folders are to be watched than are."""
        self._watcher = None

    def forget(self) -> None:
        """A look failed: what was known before it may be known no longer."""
        self._tree = None

    def _read(self) -> bool:
        """Take in what happened; False when that is not known."""
        assert self._watcher is not None
        try:
            self._pending |= self._watcher.changed()
        except Lost:
            self._watcher = None
        except Unwatchable as error:
            self._refuse(error)
        return self._watcher is not None

    def _watch(self, ignored: Ignored) -> None:
        self._watcher = None  # frees its watches before new ones are taken
        try:
            self._watcher = Watcher(self.worktree, ignored)
        except Unwatchable as error:
            self._refuse(error)

    def _refuse(self, error: Unwatchable) -> None:
        logger.info("%s is not watched: %s", self.worktree, error)
        self._watcher, self._refused_until = None, time.monotonic() + RETRY_SECONDS


def mark(path: Path | None) -> Mark:
    """Of a file, or of the link that is there; empty for none."""
    return (path and stamp(path, follow=False)) or ()


def identity(path: Path) -> Mark:
    """Which file or folder is at a path, whatever is in it."""
    return mark(path)[:2]


def merged(known: Known | None, found: Iterable[Skipped]) -> tuple[Skipped, ...]:
    """What is left out, by path: as found where something was looked at, elsewhere as it was known."""
    before = known.tree.skipped if known else ()
    looked = known.changed if known else frozenset()
    kept = {skipped.path: skipped for skipped in before if not under(skipped.path, looked)}
    kept |= {skipped.path: skipped for skipped in found}
    return tuple(kept[path] for path in sorted(kept))
