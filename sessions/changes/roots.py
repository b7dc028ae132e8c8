"""The roots that changes of a session lie in: its project, and folders beside it that may be written, each
a project of its own.

Seen from a session a path is relative to the worktree of its project; one in another root is absolute. So one
name stands for a file wherever it lies, and who forgets to ask for its root opens nothing.
"""

from __future__ import annotations

import os
from collections.abc import Collection, Iterable, Sequence
from pathlib import Path

from django.utils.translation import gettext

from sessions.changes.snapshots.changes import Change
from sessions.changes.tracking import Tracker, as_change, tracker
from sessions.core.above import agents
from sessions.core.db import in_db, in_db_sync
from sessions.core.models import FileChange, Project, Session, StagedFile
from sessions.core.models.ledger import shown
from sessions.core.store import ledger, projects
from sessions.core.text import error_text, visible


class Roots:
    """Those of a session in the project `home`. All of it may be asked from any thread."""

    def __init__(self, home: Tracker, others: Iterable[Tracker] = ()) -> None:
        self.home = home
        self._by_id = {root.project_id: root for root in (*others, home)}

    @property
    def every(self) -> Sequence[Tracker]:
        """In the order in which they are locked and written."""
        return [self._by_id[key] for key in sorted(self._by_id)]

    def by_id(self, project_id: str) -> Tracker:
        """The one that is this project. Raises KeyError."""
        return self._by_id[project_id]

    def root(self, row: FileChange | StagedFile) -> Tracker:
        """Where an entry of the ledger, or what waits in review mode, lies."""
        return self.by_id(row.project_id)

    def path(self, row: FileChange | StagedFile) -> str:
        """The same as seen from the session."""
        return self.seen(self.root(row), row.path)

    def seen(self, root: Tracker, path: str) -> str:
        """A path in a root, as seen from the session."""
        return path if root is self.home else os.path.join(root.worktree, path)

    def change(self, row: FileChange) -> Change:
        """What an entry of the ledger says, with its path as seen from the session."""
        return as_change(row, self.path(row))

    def of(self, path: str) -> Tracker:
        """The root that a path as seen from the session lies in. Raises KeyError where there is none."""
        return self.at(path)[0]

    def at(self, path: str) -> tuple[Tracker, str]:
        """The same, and the path from there."""
        if not os.path.isabs(path):
            return self.home, path
        root = self.holding(Path(path))
        if root is self.home:
            raise KeyError(path)
        return root, os.path.relpath(path, root.worktree)

    def holding(self, file: Path) -> Tracker:
        """The root that a file on the disk is in; what lies in none is noted with the project."""
        beside = (root for root in self._by_id.values() if root is not self.home)
        return next((root for root in beside if file.is_relative_to(root.worktree)), self.home)


def own_first(path: str) -> tuple[bool, str]:
    """By what paths as seen from a session are ordered: those of its project come before others."""
    return os.path.isabs(path), path


class NoRoot(Exception):
    """A folder that cannot be written as a root; the text says why."""


async def root_in(folder: Path) -> Tracker:
    """A folder beside a project as a root: it is a project of its own, which is opened if it is new. Raises
    NoRoot."""
    name = visible(shown(str(folder)))
    try:
        project = await in_db(projects.project_of, folder)
    except OSError as error:
        raise NoRoot(
            gettext("%(name)s cannot be written: %(error)s") % {"name": name, "error": error_text(error)}
        ) from error
    if Path(project.worktree) != folder:
        raise NoRoot(
            gettext("%(name)s is not written: it is in a larger repository by now.") % {"name": name}
        )
    return tracker(project)


def roots_in_reach(session: Session) -> Roots:
    """Those that a session may write in, each opened if it is new; what is no root any more is left out.
    Blocks."""
    folders = agents().folders(session.project, session)
    paths = [folder.path for folder in folders if folder.write]
    return Roots(tracker(session.project), in_db_sync(lambda: [*filter(None, map(_opened, paths))]))


def _opened(folder: Path) -> Tracker | None:
    try:
        project = projects.project_of(folder)
    except OSError:
        return None
    return tracker(project) if Path(project.worktree) == folder else None


def roots_of(home: Project, rows: Iterable[FileChange | StagedFile]) -> Roots:
    """Those that entries of the ledger, or what waits in review mode, lie in, seen from a session of a
    project. Runs on the ORM's thread; asks nothing where they all lie in it."""
    return roots_among(home, {row.project_id for row in rows})


def roots_among(home: Project, project_ids: Collection[str]) -> Roots:
    """The same by the ids of projects."""
    others = set(project_ids) - {home.id}
    return Roots(tracker(home), map(tracker, Project.objects.filter(id__in=others) if others else ()))


def beside(session: Session) -> list[str]:
    """The paths of the folders beside its project that tools of a session have changed files in. Runs on the
    ORM's thread."""
    rows = ledger.by_tools(session.id).exclude(project_id=session.project_id).order_by()
    return sorted(rows.values_list("project__worktree", flat=True).distinct())
