"""A session goes to another project: it and those below it, with all that was noted of their changes."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from django.db.models import F, Q

from sessions.core.ids import now
from sessions.core.models import FileChange, Operation, Project, Session, StagedFile

from . import events, family, projects
from . import sessions as session_store
from .rows import project_of


def whole(session: Session) -> list[Session]:
    """A session and those below it, deleted ones as well: these can be restored."""
    return [session, *family.below(session.id)]


def paths(rows: Sequence[Session]) -> set[str]:
    """The files of their project that the tools of these sessions changed, and no undo took back."""
    made = FileChange.objects.filter(session__in=rows, operation=None, undone_by=None)
    made = made.filter(project_id=F("session__project_id"))
    return set(made.values_list("path", flat=True).distinct())


def named(rows: Sequence[Session]) -> list[tuple[object, ...]]:
    """All columns of these sessions' history in which an address of the object store may be."""
    changes = FileChange.objects.filter(_theirs(rows) | Q(session__in=rows))
    staged = StagedFile.objects.filter(session__in=rows, project_id=F("session__project_id"))
    operations = Operation.objects.filter(session__in=rows)
    return [
        *changes.values_list("before", "after"),
        *staged.values_list("base", "content"),
        *operations.values_list("outcome", "hunks", "scope"),
    ]


def move(rows: Sequence[Session], source: Project, target: Project) -> None:
    """To a project that is not saved yet, each to the same folder below its worktree. What a verdict of
    another session did to their changes stays where it was given. Call it inside `events.together`."""
    projects.add_worktree(target)
    FileChange.objects.filter(_theirs(rows), project=source).update(project=target)
    StagedFile.objects.filter(session__in=rows, project=source).update(project=target)
    Operation.objects.filter(session__in=rows, project=source).update(project=target)
    for row in rows:
        row.directory = str(Path(target.worktree) / below(row, source))
        row.project, row.time_updated, row.session_folder = target, now(), None
        row.save(update_fields=["project", "directory", "time_updated", "session_folder"])
        events.moved(row.id, row.directory)
        _announce(row, source)
    project_of.cache_clear()


def below(row: Session, project: Project) -> Path:
    """Where in its project a session works."""
    directory = Path(row.directory)
    return directory.relative_to(project.worktree) if directory.is_relative_to(project.worktree) else Path()


def _theirs(rows: Sequence[Session]) -> Q:
    """Their operations, and what their tools wrote."""
    return Q(operation__session__in=rows) | Q(operation=None, session__in=rows)


def _announce(row: Session, source: Project) -> None:
    """To those who watch the project it left, too."""
    if row.time_deleted is None:
        session_store.announce("session.updated", row)
        session_store.announce("session.updated", row, project=source.id)
