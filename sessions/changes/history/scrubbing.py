"""What a session had made of the files at a point of its timeline, without touching anything."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import lru_cache

from django.utils.translation import gettext
from django.utils.translation.trans_null import gettext_noop

from sessions.changes.review.filediffs import count_change
from sessions.changes.roots import Roots, roots_of
from sessions.changes.snapshots.changes import Change
from sessions.changes.snapshots.objects import ObjectStore
from sessions.changes.undo.plan import net_steps
from sessions.core.db import in_db
from sessions.core.models import FileChange, Session
from sessions.core.models.ledger import pack_path, shown

from .entries import of_session
from .moments import Moment
from .timeline import moment_at

_COLUMNS = ("project", "path", "before", "after", "mode_before", "mode_after", "skipped", "new_folders")
_WORDS = {"A": gettext_noop("New file"), "D": gettext_noop("Deleted"), "M": gettext_noop("Changed")}


@dataclass(frozen=True, slots=True)
class PointFile:
    """One file that differs from how the session found it. `steps` are normally one; several where others'
    lines in between could not be told apart. `newest` says that the entry looked at wrote it."""

    name: str
    key: str
    letter: str
    steps: tuple[Change, ...]
    newest: bool
    additions: int = 0
    deletions: int = 0

    @property
    def word(self) -> str:
        return gettext(_WORDS[self.letter])


@dataclass(frozen=True, slots=True)
class Point:
    """The files as they were right after the ledger's entry `change`, and what had brought them there."""

    change: int
    moment: Moment | None
    files: Sequence[PointFile]
    roots: Roots

    @property
    def additions(self) -> int:
        return sum(file.additions for file in self.files)

    @property
    def deletions(self) -> int:
        return sum(file.deletions for file in self.files)

    def file(self, key: str) -> PointFile | None:
        return next((file for file in self.files if file.key == key), None)


async def point(session: Session, change: int) -> Point:
    """The net of the session's entries up to one of the ledger, verdicts and undos included."""
    rows, moment, roots = await in_db(_rows, session, change)
    files = await asyncio.to_thread(_files, rows, moment, roots)
    return Point(change, moment, files, roots)


def _rows(session: Session, change: int) -> tuple[list[FileChange], Moment | None, Roots]:
    rows = list(of_session(session.id).filter(id__lte=change).only(*_COLUMNS))
    return rows, moment_at(session, change), roots_of(session.project, rows)


def _files(rows: Sequence[FileChange], moment: Moment | None, roots: Roots) -> list[PointFile]:
    by_path: dict[str, list[Change]] = {}
    for row in rows:
        by_path.setdefault(roots.path(row), []).append(roots.change(row))
    newest = {file.path for file in moment.files} if moment else set()
    found = []
    for path in sorted(by_path):
        objects = roots.of(path).objects
        steps = _net(tuple(by_path[path]), objects)
        if steps:
            found.append(_file(path, steps, shown(path) in newest, objects))
    return found


@lru_cache(maxsize=4096)
def _net(changes: tuple[Change, ...], objects: ObjectStore) -> tuple[Change, ...]:
    """Addresses name contents, so an answer holds for ever."""
    return net_steps(changes, objects)


def _file(path: str, steps: tuple[Change, ...], newest: bool, objects: ObjectStore) -> PointFile:
    first, last = steps[0], steps[-1]
    letter = "M"
    if not any(step.skipped for step in steps):
        letter = "A" if first.before is None else "D" if last.after is None else "M"
    file = PointFile(shown(path), pack_path(path), letter, steps, newest)
    counted = [count_change(step, objects) for step in steps]
    return replace(
        file, additions=sum(plus for plus, _ in counted), deletions=sum(minus for _, minus in counted)
    )
