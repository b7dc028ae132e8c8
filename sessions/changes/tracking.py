"""What commands did to the files of a project: snapshots around them, attributed once, into the ledger.

Between a command's start and end anything may write: an edit tool (which writes the ledger itself), another
command, the person. One tracker a project keeps the tree of "all that is accounted for", so that no change
is recorded twice and nothing that happened before the command is blamed on it.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path

from django.conf import settings

from sessions.changes.snapshots.changes import Change, Skipped, SnapshotError, Tree
from sessions.changes.snapshots.objects import ObjectStore
from sessions.changes.snapshots.snapshot import SnapshotStore, refusal
from sessions.changes.undo.plan import mode_equals
from sessions.core import fence
from sessions.core.models import FileChange, Project
from sessions.core.platform import births
from sessions.core.sentences import sentence_of

logger = logging.getLogger(__name__)


class Tracker:
    """Synchronous; call it from a worker thread, never from an event loop. To make one looks at no file, so
    that it may be asked where files are from anywhere.
    """

    def __init__(self, project_id: str, worktree: Path) -> None:
        self.project_id = project_id
        self.worktree = worktree
        self._lock = threading.Lock()
        self._commands: dict[int, list[FileChange]] = {}
        self._begun = 0
        self._room = 0
        self._accounted: Tree | None = None
        self._since = 0
        """By `births.now`: what is older was there at the last look, seen or not."""
        self._written: dict[str, tuple[str | None, int | None]] = {}
        self._opening = threading.Lock()
        self._store: SnapshotStore | None = None
        self._problem: str | None = None

    @property
    def store(self) -> SnapshotStore:
        with self._opening:
            if self._store is None:
                self._problem = refusal(self.worktree)
                self._store = SnapshotStore(Path(settings.SNAPSHOT_DIR) / self.project_id, self.worktree)
            return self._store

    @property
    def problem(self) -> str | None:
        """Why commands cannot be tracked here, for people; None when they are."""
        return self._problem if self.store else None

    @property
    def objects(self) -> ObjectStore:
        return self.store.objects

    @property
    def tree(self) -> str:
        """The hash of the last tree seen, for the wire's `snapshot` fields; empty before the first."""
        return self._accounted.hash if self._accounted else ""

    @property
    def left_out(self) -> tuple[Skipped, ...]:
        """What the last look left out."""
        return self._accounted.skipped if self._accounted else ()

    def warm(self) -> None:
        """Take the first snapshot of a project, which is the slow one."""
        with self._lock:
            if self._accounted is None:
                self._look()

    def look(self) -> Tree | None:
        """The tree as it is now; while commands run, as it was at the last look, for what they do is found by
        theirs. None where no snapshot can be taken."""
        with self._lock:
            return self._accounted if self._commands and self._accounted else self._look()

    def writing(self, writes: Mapping[str, str | None], write: Callable[[], None]) -> None:
        """Let an edit tool or a verdict write files, by path and content after; no look comes in between."""
        with self._lock:
            fence.require()
            write()
            for path, after in writes.items():
                self._note(path, after)

    def _note(self, path: str, after: str | None) -> None:
        if self._commands:
            found = self.worktree / path
            self._written[path] = after, found.lstat().st_mode if os.path.lexists(found) else None

    def keep_ignored(self, megabytes: int) -> None:
        """How much is kept of files that git ignores, from the next command on."""
        self._room = megabytes * 1024 * 1024

    def begin(self) -> int:
        """A command is about to run: what changed since the last look is not its doing. Where one other runs,
        it is that one's; of several nobody's, until the first of them ends. Returns its number."""
        with self._lock:
            if not self._commands:
                self.store.room = self._room
                self._look()
                self._since = births.now()
                self._written.clear()
            elif len(self._commands) == 1:
                next(iter(self._commands.values())).extend(self._changes())
            self._begun += 1
            self._commands[self._begun] = []
            return self._begun

    def end(self, command: int) -> list[FileChange]:
        """The command of this number ended: what it changed, not yet attributed to a session. Where others
        still run, `origin` says that it may be theirs."""
        with self._lock:
            known, last = self._commands.pop(command), self._changes()
            for change in last:
                change.origin = FileChange.Origin.OVERLAP if self._commands else ""
            return known + last

    def _changes(self) -> list[FileChange]:
        """What changed since the last look, but for what tools wrote."""
        before, since = self._accounted, self._since
        self._since = births.now()
        after = self._look()
        if before is None or after is None or before == after:
            return []
        try:
            found = self.store.changes(before, after, since)
        except SnapshotError as error:
            logger.warning("what a command changed is not known: %s", error)
            return []
        return [_entry(change) for change in map(self._own, found) if change is not None]

    def _own(self, change: Change) -> Change | None:
        """The part of a change that is the command's: what came after what a tool wrote to the file."""
        if change.path not in self._written:
            return change
        written, mode = self._written.pop(change.path)
        if change.after == written and mode_equals(mode, change.mode_after):
            return None
        return replace(change, before=written, mode_before=mode)

    def _look(self) -> Tree | None:
        """The tree as it is now, which is accounted for from here on; None where no snapshot can be taken."""
        try:
            self._accounted = self.store.track()
            self._problem = None
        except SnapshotError as error:
            problem = sentence_of(error)
            if problem != self._problem:
                logger.warning("no undo for what commands change: %s", error)
            self._accounted, self._problem = None, problem
        return self._accounted


def _entry(change: Change) -> FileChange:
    return FileChange(
        path=change.path,
        before=change.before or "",
        after=change.after or "",
        mode_before=change.mode_before,
        mode_after=change.mode_after,
        skipped=change.skipped or "",
        new_folders=change.new_folders,
    )


def as_change(row: FileChange, path: str = "") -> Change:
    """What an entry of the ledger says; under another `path`, if one is given."""
    return Change(
        path=path or row.path,
        before=row.before or None,
        after=row.after or None,
        mode_before=row.mode_before,
        mode_after=row.mode_after,
        skipped=row.skipped or None,
        new_folders=row.new_folders,
    )


_trackers: dict[tuple[str, str], Tracker] = {}
_lock = threading.Lock()


def tracker(project: Project) -> Tracker:
    """The one tracker of a project in this process."""
    with _lock:
        key = (project.id, project.worktree)
        if key not in _trackers:
            _trackers[key] = Tracker(project.id, Path(project.worktree))
        return _trackers[key]
