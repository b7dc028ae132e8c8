"""What commands did to the files of a project: snapshots around them, attributed once, into the ledger.

Between a command's start and end anything may write: an edit tool (which writes the ledger itself), another
command, the person. One tracker a project keeps the tree of "all that is accounted for", so that no change
is recorded twice and nothing that happened before the command is blamed on it. What a look found is in the
ledger before anybody else looks or writes: its entries of a file stand in the order in which things happened.
"""

from __future__ import annotations

import logging
import os
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from types import MappingProxyType
from typing import TypeVar

from django.conf import settings

from sessions.changes.snapshots.changes import Change, Skipped, SnapshotError, Tree
from sessions.changes.snapshots.objects import ObjectStore
from sessions.changes.snapshots.snapshot import SnapshotStore, refusal
from sessions.changes.undo.plan import mode_equals
from sessions.core.models import FileChange, Project
from sessions.core.platform import births
from sessions.core.sentences import sentence_of

logger = logging.getLogger(__name__)

T = TypeVar("T")

_Written = Mapping[str, tuple[str | None, int | None]]
"""By path the content that a tool left, and its mode."""
_NOTHING: _Written = MappingProxyType({})

Record = Callable[[list[FileChange]], None]
"""Puts changes that are not attributed to a session yet into the ledger."""


@dataclass(slots=True)
class _Command:
    """One that runs. `found` is what it changed, until it is recorded."""

    record: Record
    found: list[FileChange] = field(default_factory=list)


class Tracker:
    """Synchronous; call it from a worker thread, never from an event loop or the ORM's thread, for which it
    waits. To make one looks at no file, so that it may be asked where files are from anywhere.
    """

    def __init__(self, project_id: str, worktree: Path) -> None:
        self.project_id = project_id
        self.worktree = worktree
        self._lock = threading.Lock()
        self._commands: dict[int, _Command] = {}
        self._begun = 0
        self._room = 0
        self._accounted: Tree | None = None
        self._since = 0
        """By `births.now`: what is older was there at the last look, seen or not."""
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
        """The tree as it is now; what commands that run have done so far is recorded. None where no snapshot
        can be taken."""
        with self._lock:
            if self._commands:
                self._catch_up()
            else:
                self._look()
            return self._accounted

    def catch_up(self) -> None:
        """Record what commands that run have done so far: what is recorded next comes after it."""
        with self._lock:
            self._catch_up()

    def writing(self, writes: Mapping[str, str | None], write: Callable[[], T]) -> T:
        """Let an edit tool or a verdict write files, by path and content after; no look comes in between, and
        what commands did before is recorded. What `write` puts into the ledger is in its place there. Gives
        what it gives."""
        with self._lock:
            self._catch_up()
            result = write()
            if self._commands:
                self._catch_up({path: (after, self._mode(path)) for path, after in writes.items()})
            return result

    def _mode(self, path: str) -> int | None:
        found = self.worktree / path
        return found.lstat().st_mode if os.path.lexists(found) else None

    def keep_ignored(self, megabytes: int) -> None:
        """How much is kept of files that git ignores, from the next command on."""
        self._room = megabytes * 1024 * 1024

    def begin(self, record: Record) -> int:
        """A command is about to run: what changed since the last look is not its doing, but that of those
        that run already. Returns its number; what it changes is given to `record`, also before its end."""
        with self._lock:
            if self._commands:
                self._catch_up()
            else:
                self.store.room = self._room
                self._look()
                self._since = births.now()
            self._begun += 1
            self._commands[self._begun] = _Command(record)
            return self._begun

    def end(self, command: int) -> None:
        """The command of this number ended: what it changed is recorded."""
        with self._lock:
            try:
                self._record(self._commands[command])
            finally:
                del self._commands[command]

    def _catch_up(self, written: _Written = _NOTHING) -> None:
        """Where several commands run, it is for the last that began. What cannot be recorded now is recorded
        with the next: who asks has no part in it."""
        if self._commands:
            try:
                self._record(next(reversed(self._commands.values())), written)
            except Exception:
                logger.exception("what a command changed is not recorded yet")

    def _record(self, command: _Command, written: _Written = _NOTHING) -> None:
        """What changed since the last look, as a command's, but for what a tool just wrote. Where others
        run, `origin` says that it may be theirs."""
        found = self._changes(written)
        for change in found:
            change.origin = FileChange.Origin.OVERLAP if len(self._commands) > 1 else ""
        command.found += found
        if command.found:
            command.record(command.found)
            command.found = []

    def _changes(self, written: _Written) -> list[FileChange]:
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
        own = (_own(change, written) for change in found)
        return [_entry(change) for change in own if change is not None]

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


def _own(change: Change, written: _Written) -> Change | None:
    """The part of a change that is the command's: what came after what a tool wrote to the file."""
    if change.path not in written:
        return change
    content, mode = written[change.path]
    if change.after == content and mode_equals(mode, change.mode_after):
        return None
    return replace(change, before=content, mode_before=mode)


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
